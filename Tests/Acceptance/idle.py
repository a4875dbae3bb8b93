#!/usr/bin/env python3
"""Acceptance of many connections: idle ones, slow readers, endless headers; memory stays bounded, others are served. Run by `make acceptance`."""
import json, os, random, resource, socket, statistics, sys, threading, time
from node import Client, Connection, Node, event
from subscriptions import CHECKS, check, main

CHECKS.clear()
IDLE, SLOW, SECONDS = int(os.environ.get("IDLE", "2000")), int(os.environ.get("SLOW", "50")), int(os.environ.get("SECONDS", "30"))


def opened(node):
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(5)
    deadline = time.time() + 10
    while True:
        try:
            line.connect(node.socket)
            return line
        except BlockingIOError:  # so many wait to be let in
            assert time.time() < deadline, "no one is let in"
            time.sleep(0.01)


@check("31b idle connections, slow readers, floods of headers")
def crowd():
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
    node = Node("i31", settings={"api": {"max_connections": 4096, "idle_timeout": "600s"}})
    rss = lambda: int(open(f"/proc/{node.process.pid}/statm").read().split()[1]) * 4096 / (1 << 20)
    for at in range(20):
        Client(node).append([event("message.posted", "u", "c", text="가" * 20000) for _ in range(50)])
    time.sleep(3)
    stop, times, codes, lock = threading.Event(), {"read": [], "append": []}, {}, threading.Lock()

    def served(kind):
        client = Client(node)
        while not stop.is_set():
            began = time.time()
            if kind == "read":
                status, _ = client.ask("GET", "/v1/conversations/other/rows?limit=20")
            else:
                status, _ = client.ask("POST", "/v1/events", event("message.posted", "v", "other", text="안녕"))
            with lock:
                times[kind].append(time.time() - began)
                codes[status] = codes.get(status, 0) + 1
            time.sleep(0.02)

    def p99(kind, start=0):
        part = sorted(times[kind][start:])
        return part[len(part) * 99 // 100] * 1000
    others = [threading.Thread(target=served, args=(kind,), daemon=True) for kind in ("read", "append", "read", "append")]
    Client(node).append([event("message.posted", "v", "other", text=f"m {n}") for n in range(100)])
    for thread in others:
        thread.start()
    time.sleep(5)
    alone = {kind: p99(kind) for kind in times}
    before, marks = rss(), {kind: len(times[kind]) for kind in times}
    idle = [opened(node) for _ in range(IDLE)]
    for line in idle[::2]:
        line.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")  # half have asked once and say nothing more; the others never ask
    slow = []
    for number in range(SLOW):
        line = opened(node)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        path = ["/v1/changes?after=first", "/v1/events?limit=500", "/v1/conversations/c/rows?limit=500"][number % 3]
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: application/x-ndjson\r\n\r\n".encode())
        slow.append(line)
    top, floods, answered = [before], [0], [0]

    def flood():
        dice = random.Random(5)
        while not stop.is_set():
            try:
                line = opened(node)
                line.settimeout(1)
                kind = dice.randrange(4)
                line.sendall(b"GET /v1/me HTTP/1.1\r\nHost: x\r\n")
                if kind == 0:
                    for number in range(5000):
                        line.sendall(b"X-%d: %s\r\n" % (number, b"y" * 200))  # headers without end
                elif kind == 1:
                    line.sendall(b"X: " + b"z" * 8_000_000)  # one without end
                elif kind == 2:
                    line.sendall(b"Content-Length: 8000000\r\n\r\n" + b" " * 4_000_000)  # a body that stops coming
                else:
                    line.sendall(b"".join(b"A%d: b\r\n" % number for number in range(3000)) + b"\r\n")
                got = line.recv(4096)
                answered[0] += got.startswith(b"HTTP/1.1 4")
            except OSError:
                pass
            floods[0] += 1
            line.close()
    flooders = [threading.Thread(target=flood, daemon=True) for _ in range(4)]
    for thread in flooders:
        thread.start()
    # A new connection has 30 s for its first request, one that has asked idle_timeout (operating/configuration.md).
    end = time.time() + max(SECONDS, 35)
    while time.time() < end:
        top.append(rss())
        for line in slow[::5]:
            try:
                line.setblocking(False)
                line.recv(100)
            except OSError:
                pass
        time.sleep(0.2)
    alive = closed = 0
    for number, line in enumerate(idle):
        line.settimeout(5)
        try:
            asked = number % 2 == 0
            line.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
            got = b""
            while (more := line.recv(1000)) and got.count(b"HTTP/1.1 200") < 1 + asked:
                got += more
                if got.count(b"HTTP/1.1 200") == 1 + asked:
                    break
            alive += asked and got.count(b"HTTP/1.1 200") == 2
            closed += not asked and not got
        except OSError:
            closed += not asked
    stop.set()
    under = {kind: p99(kind, marks[kind]) for kind in times}
    for line in idle + slow:
        line.close()
    time.sleep(5)
    after = rss()
    for thread in others:
        thread.join(10)
    told = (f"{IDLE} idle ({alive} of {IDLE // 2} that have asked are served, {closed} that have not are closed), {SLOW} slow readers, {floods[0]} floods ({answered[0]} told 4xx): "
            f"{before:.0f} MiB before, {max(top):.0f} at most, {after:.0f} after; p99 of others: reads {alone['read']:.0f} to {under['read']:.0f} ms, "
            f"appends {alone['append']:.0f} to {under['append']:.0f} ms; statuses {codes}")
    assert set(codes) == {200}, told
    assert alive == closed == IDLE // 2, told
    assert under["read"] < 100 and under["append"] < 100, told
    assert max(top) <= before + 192, told
    node.stop()
    return told


if __name__ == "__main__":
    main()
