"""Redis with its log of commands synced before each answer (`appendfsync always`)."""

import os
import shutil
import socket

from comparison.processes import Failed, Server, free_port


def is_installed():
    return shutil.which("redis-server") is not None


class Redis(Server):
    """The log is not rewritten while it is measured: that would only cost Redis time."""

    def __init__(self, folder, *, port=False):
        super().__init__(folder)
        self.port = free_port() if port else 0
        os.makedirs(folder, exist_ok=True)

    @property
    def where(self):
        return os.path.join(self.sockets, "redis")

    def command(self):
        return [
            "redis-server", "--dir", self.folder, "--port", str(self.port), "--unixsocket", self.where, "--bind", "127.0.0.1",
            "--appendonly", "yes", "--appendfsync", "always", "--no-appendfsync-on-rewrite", "no",
            "--auto-aof-rewrite-percentage", "0", "--save", "", "--repl-diskless-sync-delay", "0",
            "--client-output-buffer-limit", "replica 0 0 0"]

    def is_ready(self):
        try:
            return self.call("PING") == "PONG"
        except (OSError, Failed):
            return False

    def call(self, *words):
        """One command; its answer if that is a line or a string, or a whole number."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(30)
            connection.connect(self.where)
            parts = [str(word).encode() for word in words]
            connection.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
            with connection.makefile("rb") as answers:
                line = answers.readline().rstrip(b"\r\n")
                kind, rest = line[:1], line[1:].decode()
                if kind == b"$" and int(rest) >= 0:
                    return answers.read(int(rest)).decode(errors="replace")
                if kind in (b"-", b""):
                    raise Failed(f"redis: {rest}")
                return int(rest) if kind == b":" else rest

    def info(self, section):
        return dict(line.split(":", 1) for line in self.call("INFO", section).splitlines() if ":" in line)

    def count(self):
        return self.call("XLEN", "events")

    def bytes(self):
        from comparison.processes import size_of
        return size_of(self.folder)
