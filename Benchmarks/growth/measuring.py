"""What one answer costs: time, processor time, and bytes read, which do not jitter."""

import math
import os
import socket
import statistics
import subprocess
import time

from comparison.processes import Failed


class Cost:
    def __init__(self, wall, processor, read, rows, memory):
        self.wall, self.processor, self.read, self.rows, self.memory = wall, processor, read, rows, memory


def process(*words, accepted=(0,)):
    """Runs a program to its end: milliseconds, milliseconds of processor, bytes it read, lines it wrote, and its most bytes of memory."""
    words = [str(word) for word in words]
    reading, writing = os.pipe()
    actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, writing, 1),
               (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_CLOSE, reading)]
    start = time.perf_counter()
    child = os.posix_spawnp(words[0], words, os.environ, file_actions=actions)
    os.close(writing)
    lines = 0
    while chunk := os.read(reading, 1 << 20):
        lines += chunk.count(b"\n")
    os.close(reading)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    wall = time.perf_counter() - start
    # Until it is waited for, /proc still has what it did.
    with open(f"/proc/{child}/io") as file:
        read = int(next(line for line in file if line.startswith("rchar")).split()[1])
    _, status, used = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) not in accepted:
        raise Failed(f"{' '.join(words[:6])} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(wall * 1e3, (used.ru_utime + used.ru_stime) * 1e3, read, lines, used.ru_maxrss * 1024)


class Caller:
    """One kept connection to a daemon's socket."""

    def __init__(self, path):
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.settimeout(60)
        self.connection.connect(path)
        self.file = self.connection.makefile("rb")

    def close(self):
        self.file.close()
        self.connection.close()

    def ask(self, path):
        """Milliseconds, and lines of the answer without its end."""
        start = time.perf_counter()
        self.connection.sendall(f"GET {path} HTTP/1.1\r\nHost: syncd\r\n\r\n".encode())
        status = self.file.readline().split()
        headers = {}
        while (line := self.file.readline().strip()):
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
        if headers.get(b"transfer-encoding") == b"chunked":
            body = b""
            while size := int(self.file.readline(), 16):
                body += self.file.read(size)
                self.file.readline()
            self.file.readline()
        else:
            body = self.file.read(int(headers.get(b"content-length", 0)))
        wall = time.perf_counter() - start
        if status[1] != b"200":
            raise Failed(f"{path}: {status[1].decode()} {body[:300]!r}")
        return wall * 1e3, body.count(b"\n")


class KeptPsql:
    """One kept connection of psql."""

    def __init__(self, where):
        self.child = subprocess.Popen(["psql", "-XAtq", "-d", where], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask("SELECT 1")

    def close(self):
        self.child.stdin.close()
        self.child.wait()

    def ask(self, sql):
        """Milliseconds, and lines of the answer."""
        start, lines = time.perf_counter(), 0
        self.child.stdin.write(f"{sql};\n\\echo 'no more rows'\n".encode())
        self.child.stdin.flush()
        while (line := self.child.stdout.readline()) != b"no more rows\n":
            if not line:
                raise Failed(f"psql ended at: {sql}")
            lines += 1
        return (time.perf_counter() - start) * 1e3, lines


def processor_of(pid):
    """Milliseconds that a process has used."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1e3 / os.sysconf("SC_CLK_TCK")


def exponent(sizes, costs, floor):
    """Slope of log cost over log size by least squares; what is below `floor` counts as that."""
    points = [(math.log(size), math.log(max(cost, floor))) for size, cost in zip(sizes, costs) if cost is not None]
    if len(points) < 2:
        return None
    x, y = statistics.mean(a for a, _ in points), statistics.mean(b for _, b in points)
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
