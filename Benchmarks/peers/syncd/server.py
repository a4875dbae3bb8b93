"""The daemon of this project. Ready is what it tells systemd (sd_notify(3))."""

import os
import socket

from comparison.processes import Server


class Syncd(Server):
    pause = 0  # is_ready waits by itself

    def __init__(self, folder, program):
        super().__init__(folder)
        self.program = program
        self.notices = None
        self.told = b""

    @property
    def where(self):
        return os.path.join(self.sockets, "api")

    def command(self):
        return [
            self.program, "--dev", self.folder, "--node-name", "bench", "--socket", self.where, "--log-level", "warning"]

    def environment(self):
        path = os.path.join(self.sockets, f"notify-{os.urandom(4).hex()}")
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notices.bind(path)
        self.notices.settimeout(0.005)
        self.told = b""
        return dict(os.environ, NOTIFY_SOCKET=path)

    def is_ready(self):
        try:
            self.told += self.notices.recv(4096)
        except TimeoutError:
            pass
        return b"READY=1" in self.told
