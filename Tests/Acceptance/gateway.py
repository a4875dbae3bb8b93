#!/usr/bin/env python3
"""Acceptance of the subway alarm (docs/reference/GATEWAY.md): the protocol, the record, a thousand riders, kill -9. Run by `make acceptance`."""
import json, os, signal, socket, subprocess, sys, threading, time, urllib.request
from node import BIN, Client, Gone, Node, ROOT, atexit, free_port, until
from subscriptions import CHECKS, check, main
import thousand

CHECKS.clear()
DATA = os.path.join(os.path.dirname(__file__), "../../Examples/arrive/transit.json5")
# On two cores, with every question recorded before its answer leaves. P99=0: only printed.
P99 = float(os.environ.get("P99", "250"))


class Gateway:
    """The program, beside a node. `kill` is kill -9."""

    def __init__(self, node, name="arrive", **settings):
        self.node, self.name, self.settings = node, name, settings
        self.port, self.web = free_port(), free_port()
        self.figures = os.path.join(ROOT, name + ".prom")
        self.start()

    def start(self):
        written = {"listen": f"127.0.0.1:{self.port}", "web": f"127.0.0.1:{self.web}", "api": {"url": "unix:" + self.node.socket},
                   "data": os.path.abspath(DATA), "reply_end": "\n", "metrics_file": self.figures, **self.settings}
        with open(os.path.join(ROOT, self.name) + ".json5", "w") as file:
            json.dump(written, file)
        self.log = open(os.path.join(ROOT, self.name) + ".log", "a")
        self.process = subprocess.Popen([BIN + "/sillok-gateway", "run", "--config", file.name], stdout=self.log, stderr=self.log)
        atexit.register(self.process.kill)

        def answers():
            try:
                return urllib.request.urlopen(f"http://127.0.0.1:{self.web}/livez", timeout=5).status == 200
            except OSError:
                return False
        until(20, answers, "the gateway does not start: " + self.log.name)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(15)

    def ask(self, *pieces, count=1, pause=0.0):
        """The answers to what is sent; then our side is shut down, as `nc` does."""
        with socket.create_connection(("127.0.0.1", self.port), 20) as line:
            for piece in pieces:
                line.sendall(piece if isinstance(piece, bytes) else piece.encode())
                time.sleep(pause)
            line.shutdown(socket.SHUT_WR)
            got = b""
            while piece := line.recv(65536):
                got += piece
        return got.decode().splitlines()


def paired(node):
    """The questions of the record by trip, and that each has its answer, with the right cause, directly behind it (S3-20)."""
    lines = [json.loads(line) for line in node.ctl("export").splitlines()]
    events = {line["id"]: line for line in lines}
    asked = {id: line for id, line in events.items() if line["type"] == "message.posted"}
    said = {line["cause"]: line for line in lines if line["type"] == "bot.replied"}
    assert set(said) == set(asked), (len(asked), len(said), len(set(said) ^ set(asked)))
    for id, answer in said.items():
        assert answer["author"] == "arrive" and answer["subject"] == asked[id]["subject"]
        assert answer["data"]["inReplyTo"] == id and int(answer["position"]) == int(asked[id]["position"]) + 1
    rings = {line["cause"]: line for line in lines if line["type"] == "alarm.set"}
    wanted = {line["id"] for line in said.values() if line["data"]["code"] == 3}
    assert set(rings) == wanted, "alarms and answers of code 3 differ"
    trips = {}
    for line in asked.values():
        trips.setdefault(line["subject"], []).append(line)
    return trips, lines


def position(node):
    lines = [json.loads(line) for line in node.ctl("tail", "-n", "1", "--json").splitlines()]
    found = [line["event"]["position"] for line in lines if line.get("event")]
    return int(found[0]) if found else 0


@check("g1 the protocol as its page has it")
def protocol():
    node = Node("g1")
    gateway = Gateway(node, "g1-arrive")
    run = subprocess.run([BIN + "/sillok-gateway", "check", DATA], capture_output=True, text=True)
    assert run.returncode == 0 and "5 cities" in run.stdout, run
    vectors = {"1@ 대구;": "1@1호선@2호선@3호선", "3@대구@1호선@설화명곡@안심;": "3@반야월@47", "3@대구@1호선@설화명곡@대곡;": "0@",
               "3@대구@1호선@안지랑@설화명곡;": "3@대곡@14", "7@x;": "9@unknown_code", "1@평양;": "9@unknown_city"}
    for asked, answer in vectors.items():
        assert gateway.ask(asked) == [answer], (asked, gateway.ask(asked))
    assert gateway.ask("3@대구@1호선@설화명곡@안심;1@대구;") == ["3@반야월@47", "1@1호선@2호선@3호선"]  # back to an earlier step
    every = "3@대구@1호선@설화명곡@안심;".encode()
    assert gateway.ask(*[bytes([byte]) for byte in every]) == ["3@반야월@47"]
    trips, lines = paired(node)
    assert gateway.stop() == 0
    node.stop()
    node.ctl("verify")  # all is covered by a head from an orderly end on
    return f"{len(vectors)} vectors, {len(lines)} events, {len(trips)} trips"


@check("g2 a thousand riders at once, with half requests, slow readers and floods beside them")
def crowd():
    node = Node("g2")
    gateway = Gateway(node, "g2-arrive")
    before = position(node)
    told = thousand.run(gateway.port, 1000, silent=100, slow=50, floods=2)
    assert told["errors"] == 0, told
    trips, lines = paired(node)
    whole = [name for name, asked in trips.items() if [line["data"]["code"] for line in asked] == [1, 2, 3]]
    assert len(whole) == 1000, len(whole)
    # Three questions, three answers and an alarm each; slow readers have at most the eight that they asked.
    slow = sum(len(asked) for name, asked in trips.items() if name not in set(whole))
    events = position(node) - before
    assert events == 7000 + 2 * slow and slow <= 50 * 8, (events, slow)
    # No client of the crowd holds a descriptor any more.
    descriptors = lambda: len(os.listdir(f"/proc/{gateway.process.pid}/fd"))
    until(15, lambda: descriptors() < 40, "descriptors stay open")
    assert gateway.ask("1@대구;") == ["1@1호선@2호선@3호선"]
    memory = int(open(f"/proc/{gateway.process.pid}/statm").read().split()[1]) * 4096 / (1 << 20)
    assert memory < 120, f"{memory:.0f} MB"
    assert gateway.stop() == 0
    figures = dict(line.rsplit(" ", 1) for line in open(gateway.figures) if not line.startswith("#"))
    appends = int(figures["sillok_gateway_appends_total"])
    assert int(figures['sillok_gateway_answers_total{answer="3"}']) == 1000
    assert P99 == 0 or told["p99_ms"] < P99, told
    trip = whole[0].removeprefix("conversation/")
    shown = node.ctl("conversation", trip)
    assert "3@반야월@47" in shown and "1@대구;" in shown, shown
    node.ctl("replay", "--conversation", trip)
    history = [json.loads(line)["event"] for line in node.ctl("history", trip.replace("trip-", "rider-"), "--json").splitlines() if '"event":' in line]
    fields = [event["data"] for event in history if event["type"] == "alarm.set"][-1]
    assert {"city", "line", "from", "to", "alarmStation", "minutes", "at", "rings"} <= set(fields), fields
    node.stop()
    node.ctl("verify")  # all is covered by a head from an orderly end on
    return (f"p50 {told['p50_ms']} ms, p99 {told['p99_ms']} ms, {told['per_second']}/s, 0 errors, {appends} requests to the node, "
            f"{memory:.0f} MB")


@check("g3 kill -9 of the gateway and of the node: no question without its answer")
def deaths():
    node = Node("g3")
    gateway = Gateway(node, "g3-arrive", patience="20s")
    answered, stop = [0], threading.Event()

    def rider():
        while not stop.is_set():
            try:
                for line in gateway.ask("1@대구;", "3@대구@1호선@설화명곡@안심;"):
                    assert line in ("1@1호선@2호선@3호선", "3@반야월@47"), line
                    answered[0] += 1
            except OSError:
                time.sleep(0.01)
    riders = [threading.Thread(target=rider, daemon=True) for _ in range(16)]
    for one in riders:
        one.start()
    for round in range(6):
        time.sleep(0.7)
        victim = gateway if round % 2 == 0 else node
        victim.kill()
        victim.start()
    time.sleep(1)
    stop.set()
    for one in riders:
        one.join(30)
    trips, lines = paired(node)
    told = sum(len(asked) for asked in trips.values())
    assert answered[0] > 100 and told >= answered[0], (answered[0], told)  # an answer that left is recorded
    # Without a node nothing is pretended; when it is back, all is as before.
    gateway.stop()
    gateway = Gateway(node, "g3-short", patience="300ms")
    node.kill()
    began = time.time()
    assert gateway.ask("1@대구;") == ["9@busy"]
    waited = time.time() - began
    node.start()
    assert gateway.ask("1@대구;") == ["1@1호선@2호선@3호선"]
    paired(node)
    assert gateway.stop() == 0
    node.stop()
    node.ctl("verify")
    return f"{answered[0]} answers, {told} questions recorded, six deaths; 9@busy after {waited * 1000:.0f} ms"


@check("g4 a thousand connections that break off in the middle leave nothing behind")
def broken():
    node = Node("g4")
    gateway = Gateway(node, "g4-arrive")
    descriptors = lambda: len(os.listdir(f"/proc/{gateway.process.pid}/fd"))
    assert gateway.ask("1@대구;")
    before = descriptors()
    for number in range(1000):
        line = socket.create_connection(("127.0.0.1", gateway.port), 10)
        line.sendall("3@대구@1호선@설화명곡".encode()[: 5 + number % 20])
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0" if number % 2 else b"\0" * 8)
        line.close()
    until(10, lambda: descriptors() <= before + 2, "descriptors stay open")
    after = descriptors()
    assert gateway.ask("1@대구;") == ["1@1호선@2호선@3호선"]
    trips, _ = paired(node)
    assert sum(len(asked) for asked in trips.values()) == 2, trips
    gateway.stop()
    node.stop()
    return f"{before} descriptors before, {after} after"


if __name__ == "__main__":
    main()
