"""Messages through Prosody: sent by s0, s1, … to r0, r1, …, who are online and read what they get.

    driver.py PORT DATA FROM COUNT CLIENTS

Each message is followed by a request for an acknowledgement (XEP-0198); the clock of a message stops when that came. At a few
hundred messages a second Python is idle most of the time; `driver_busy` says how much.
"""

import base64
import json
import socket
import sys
import threading
import time
from xml.sax.saxutils import escape

LINE, PAYLOAD = 352, 55


class Client:
    def __init__(self, port, name):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(60)
        self.buffer = b""
        self.open_stream()
        secret = base64.b64encode(f"\0{name}\0secret".encode()).decode()
        self.ask(f"<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{secret}</auth>", b"<success")
        self.open_stream()
        self.ask("<iq type='set' id='b'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>bench</resource></bind></iq>",
                 b"</iq>")

    def open_stream(self):
        self.ask("<?xml version='1.0'?><stream:stream to='localhost' version='1.0' xmlns='jabber:client'"
                 " xmlns:stream='http://etherx.jabber.org/streams'>", b"</stream:features>")

    def ask(self, text, until):
        """Sends and reads up to and with `until`."""
        self.socket.sendall(text.encode())
        while until not in self.buffer:
            part = self.socket.recv(65536)
            if not part:
                raise SystemExit(f"prosody hung up: {self.buffer[-300:]!r}")
            self.buffer += part
            if b"<failure" in self.buffer or b"<stream:error" in self.buffer:
                raise SystemExit(f"prosody: {self.buffer[-300:]!r}")
        answer, _, self.buffer = self.buffer.partition(until)
        return answer

    def drain(self):
        try:
            while self.socket.recv(65536):
                pass
        except OSError:
            pass


def main():
    port, data, first, count, clients = int(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:6])
    with open(data, "rb") as file:
        file.seek(first * LINE)
        bodies = [json.loads(file.read(LINE)[PAYLOAD:-1]).get("text", "…") for _ in range(count)]
    receivers = [Client(port, f"r{number}") for number in range(clients)]
    for receiver in receivers:
        receiver.ask("<presence/>", b"/>")
        threading.Thread(target=receiver.drain, daemon=True).start()
    senders = [Client(port, f"s{number}") for number in range(clients)]
    for sender in senders:
        sender.ask("<enable xmlns='urn:xmpp:sm:3'/>", b"<enabled")
        sender.ask("<r xmlns='urn:xmpp:sm:3'/>", b"<a ")
    latencies = []
    each = count // clients

    def send(number):
        sender = senders[number]
        for at in range(number * each, (number + 1) * each):
            text = (f"<message to='r{number}@localhost' type='chat' id='m{at}'><body>{escape(bodies[at])}</body></message>"
                    "<r xmlns='urn:xmpp:sm:3'/>")
            start = time.perf_counter()
            sender.ask(text, b"<a ")
            latencies.append(time.perf_counter() - start)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(clients)]
    start, cpu = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elapsed, used = time.perf_counter() - start, time.process_time() - cpu
    if len(latencies) != each * clients:
        raise SystemExit("not every message was acknowledged")
    latencies.sort()
    print(f"rate\t{len(latencies) / elapsed}\ndriver_busy\t{used / elapsed}")
    print(f"p50_us\t{latencies[(len(latencies) - 1) // 2] * 1e6}")
    print(f"p99_us\t{latencies[(len(latencies) - 1) * 99 // 100] * 1e6}\nmax_us\t{latencies[-1] * 1e6}")


main()
