#!/usr/bin/env python3
"""Clients of a gateway, all at once: thousand.py PORT [CLIENTS] [--silent N] [--slow N] [--floods N]. Answers end with a line feed.

Each of CLIENTS asks three questions, one after the other. Beside them N send half a request and say no more, N ask and never read, and N
send what is no request as fast as they can. Prints what came of the CLIENTS; ends with 1 where one of them got a wrong answer or none.
"""
import json, multiprocessing, resource, select, socket, sys, time

TRIP = [("1@대구;", "1@1호선@2호선@3호선"), ("2@대구@1호선;", "2@설화명곡@"), ("3@대구@1호선@설화명곡@안심;", "3@반야월@47")]
QUESTIONS = [(asked.encode(), expected.encode()) for asked, expected in TRIP]


def opened(port):
    line = socket.create_connection(("127.0.0.1", port), 30)
    line.setblocking(False)
    return line


def flood(port, stop):
    """What is no request: bytes that are no text, requests without end, connections that are dropped in the middle."""
    kinds = [b"\xff\xfe;" * 500, b"a" * 5000, "3@대구@1호".encode()[:-1]]
    number = 0
    while not stop.is_set():
        try:
            with socket.create_connection(("127.0.0.1", port), 5) as line:
                line.sendall(kinds[number % 3])
                if number % 3 == 0:
                    line.settimeout(1)
                    line.recv(65536)
        except OSError:
            pass
        number += 1
        time.sleep(0.002)


class Client:
    def __init__(self, port):
        self.line, self.step, self.got, self.times, self.error = opened(port), 0, b"", [], None

    def ask(self):
        self.began = time.monotonic()
        self.line.sendall(QUESTIONS[self.step][0])

    def readable(self):
        """Whether it is through."""
        try:
            piece = self.line.recv(65536)
        except BlockingIOError:
            return False
        except OSError as error:
            self.error = str(error)
            return True
        self.got += piece
        if not piece:
            self.error = f"closed after {self.got!r}"
            return True
        if not self.got.endswith(b"\n"):
            return False
        self.times.append(time.monotonic() - self.began)
        if not self.got.startswith(QUESTIONS[self.step][1]):
            self.error = self.got.decode(errors="replace")
            return True
        self.step, self.got = self.step + 1, b""
        if self.step == len(QUESTIONS):
            return True
        self.ask()
        return False


def run(port, clients=1000, silent=0, slow=0, floods=0, seconds=60):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))
    stop = multiprocessing.Event()
    crowd = [multiprocessing.Process(target=flood, args=(port, stop), daemon=True) for _ in range(floods)]
    for one in crowd:
        one.start()
    beside = [opened(port) for _ in range(silent + slow)]
    for line in beside[:silent]:
        line.sendall("3@대구@1호선@설화".encode())
    for line in beside[silent:]:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        line.sendall(QUESTIONS[1][0] * 8)
    team = [Client(port) for _ in range(clients)]
    poll, by_number = select.epoll(), {}
    for one in team:
        poll.register(one.line, select.EPOLLIN)
        by_number[one.line.fileno()] = one
    began = time.monotonic()
    for one in team:
        one.ask()
    while by_number and time.monotonic() - began < seconds:
        for number, _ in poll.poll(1):
            if by_number[number].readable():
                poll.unregister(number)
                del by_number[number]
    took = time.monotonic() - began
    for one in by_number.values():
        one.error = f"no answer to question {one.step + 1}"
    stop.set()
    for one in crowd:
        one.join(10)
    for line in beside + [one.line for one in team]:
        line.close()
    times = sorted(spent * 1000 for one in team for spent in one.times)
    errors = [one.error for one in team if one.error]
    part = lambda share: round(times[min(len(times) - 1, int(len(times) * share))], 1) if times else None
    return {"clients": clients, "answers": len(times), "errors": len(errors), "first_error": errors[0] if errors else None,
            "seconds": round(took, 2), "per_second": round(len(times) / took), "p50_ms": part(0.5), "p99_ms": part(0.99), "max_ms": part(1)}


def option(name):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else 0


if __name__ == "__main__":
    words = [word for at, word in enumerate(sys.argv[1:], 1) if word.isdigit() and not sys.argv[at - 1].startswith("--")]
    told = run(int(words[0]), int(words[1]) if len(words) > 1 else 1000, option("--silent"), option("--slow"), option("--floods"))
    print(json.dumps(told, ensure_ascii=False))
    sys.exit(1 if told["errors"] else 0)
