"""Long readers beside a client that appends: how long an append waits for any of them, and what becomes of the two WALs."""

import os
import shutil
import sqlite3
import subprocess
import threading
import time

from comparison.processes import run, wait_until
from comparison.programs import status
from growth.measuring import Caller
from peers.syncd.server import Syncd

BATCH, HELD_SECONDS, REST_SECONDS, QUIET_SECONDS = 100, 15, 4, 8
FILES = ("log.db-wal", "views.db-wal")
WAL_BYTES = 430
"""That an event of these adds to the WAL of the log (Benchmarks/gates/thresholds/append-batches.tsv)."""


class Load:
    """A client that appends so many events a second in batches, and one that appends a single event every 20 ms."""

    def __init__(self, path, rate):
        self.path, self.rate = path, rate
        self.done = threading.Event()
        self.waits, self.events, self.refused = [], 0, 0
        """(monotonic seconds at the end, milliseconds) of each request."""
        self.threads = [threading.Thread(target=self.append, args=(BATCH, BATCH / rate)), threading.Thread(target=self.append, args=(1, 0.02))]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        for thread in self.threads:
            thread.join()

    def append(self, batch, pause):
        caller, number, text = Caller(self.path), 0, "말씀하신 대로 어제부터 두통이 심해졌습니다 " * 4
        due = time.monotonic()
        while not self.done.is_set():
            lines = "".join(
                f'{{"type":"message.posted","user":"u-{(number + i) * 7919 % 9000:05}","subject":"conversation/c-{(number + i) * 104729 % 40000:05}",'
                f'"data":{{"text":"{number + i} {text}"}}}}\n' for i in range(batch)).encode()
            number += batch
            start = time.monotonic()
            caller.connection.sendall(
                f"POST /v1/events?atomicity=each HTTP/1.1\r\nHost: syncd\r\nContent-Length: {len(lines)}\r\n\r\n".encode() + lines)
            answer, length = caller.file.readline(), 0
            while (line := caller.file.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            caller.file.read(length)
            end = time.monotonic()
            self.waits.append((end, (end - start) * 1e3))
            if answer.split()[1] in (b"200", b"201"):
                self.events += batch
            else:
                self.refused += 1
            due = max(due + pause, end - 1)
            self.done.wait(max(0, due - end))
        caller.close()


class Sizes:
    """How long the WALs are, looked at every 20 ms."""

    def __init__(self, folder):
        self.folder, self.seen = folder, []
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def now(self):
        sizes = []
        for name in FILES:
            try:
                sizes.append(os.stat(os.path.join(self.folder, name)).st_size)
            except FileNotFoundError:
                sizes.append(0)
        return sizes

    def watch(self):
        while not self.done.wait(0.02):
            self.seen.append((time.monotonic(), self.now()))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


class Beside:
    """What the disk and the machine give anyone meanwhile (beside.c): when, and how many milliseconds, a sync of the same bytes took, and a
    wake-up came late."""

    def __init__(self, folder, bytes):
        self.program, self.file, self.bytes = folder + ".beside", folder + ".bare", bytes
        run("gcc", "-std=c17", "-O2", "-Wall", "-pthread", "-o", self.program, os.path.join(os.path.dirname(__file__), "beside.c"))
        self.seen = {"sync": [], "wake": []}

    def __enter__(self):
        self.child = subprocess.Popen([self.program, self.file, str(self.bytes)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.thread = threading.Thread(target=self.read)
        self.thread.start()
        return self

    def read(self):
        for line in self.child.stdout:
            what, end, took = line.split()
            self.seen[what].append((float(end), float(took)))

    def __exit__(self, *_):
        self.child.stdin.close()
        self.child.wait()
        self.thread.join()
        os.unlink(self.program)

    def longest(self, what, begin):
        return max((took for end, took in self.seen[what] if end >= begin), default=0)

    def explains(self, end, wait):
        """Whether a bare program waited for half as long at the same time."""
        return any(took >= wait / 2 and at >= end - wait / 1e3 and at - took / 1e3 <= end
                   for of in self.seen.values() for at, took in of)


def hold(path):
    """What a forgotten shell does."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    time.sleep(HELD_SECONDS)
    connection.close()


def guests(syncctl, folder):
    """Name to what is to be run."""
    def command(*words):
        return lambda: subprocess.run(
            [syncctl, "--store", folder, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    def backup():
        shutil.rmtree(folder + ".backup", ignore_errors=True)
        command("backup", "create", folder + ".backup")()
        shutil.rmtree(folder + ".backup", ignore_errors=True)

    def copy():
        shutil.rmtree(folder + ".copy", ignore_errors=True)
        command("backup", "copy", folder + ".copy")()
        shutil.rmtree(folder + ".copy", ignore_errors=True)

    yield "no one", lambda: time.sleep(20)
    yield "digest", command("digest")
    yield "history of the heaviest, all", command("history", "u-heavy", "--last", "100000", "--json")
    yield "export", command("export")
    yield "backup create", backup
    yield "backup copy", copy
    yield "verify", command("verify")
    yield f"a transaction of {HELD_SECONDS} s on the log", lambda: hold(os.path.join(folder, "log.db"))
    yield f"a transaction of {HELD_SECONDS} s on the views", lambda: hold(os.path.join(folder, "views.db"))


def measure(store, programs, folder, rate, only=""):
    """Lines of a table."""
    shutil.rmtree(folder, ignore_errors=True)
    run("cp", "-a", "--reflink=auto", store, folder)
    yield (f"| beside {rate:,} events/s | s | longest append ms | p99 ms | above 20 ms | of these not the machine's | bare sync, longest ms |"
           " bare wake-up, latest ms | longest log.db-wal MB | views.db-wal MB |")
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    try:
        with Syncd(folder, os.path.join(programs, "syncd")) as server:
            wait_until(lambda: len(set(status(server))) == 1, "fresh views", patience=600)
            with Sizes(folder) as sizes, Beside(folder, BATCH * WAL_BYTES) as beside:
                with Load(server.where, rate) as load:
                    time.sleep(3)
                    for name, run_guest in guests(os.path.join(programs, "syncctl"), folder):
                        if only and not any(word in name for word in only.split(",")):
                            continue
                        begin, events = time.monotonic(), load.events
                        run_guest()
                        seconds = time.monotonic() - begin
                        time.sleep(REST_SECONDS)
                        waits = sorted(wait for at, wait in load.waits if at >= begin)
                        seen = [of for at, of in sizes.seen if at >= begin]
                        above = [(at, wait) for at, wait in load.waits if at >= begin and wait > 20]
                        time.sleep(0.2)
                        ours = [wait for at, wait in above if not beside.explains(at, wait)]
                        yield (f"| {name} | {seconds:.1f} | {waits[-1]:.0f} | {waits[len(waits) * 99 // 100]:.1f} | {len(above)} of {len(waits)} |"
                               f" {len(ours)}{f', longest {max(ours):.0f} ms' if ours else ''} |"
                               f" {beside.longest('sync', begin):.0f} | {beside.longest('wake', begin):.0f} |"
                               f" {max(of[0] for of in seen) / 1e6:.0f} | {max(of[1] for of in seen) / 1e6:.0f} |"
                               f" <!-- {(load.events - events) / (time.monotonic() - begin):,.0f}/s, refused {load.refused}; now {[round(of / 1e6) for of in sizes.now()]} -->")
                for second in range(QUIET_SECONDS):
                    time.sleep(1)
                    yield f"<!-- {second + 1} s of quiet: {[round(of / 1e6, 1) for of in sizes.now()]} MB -->"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
