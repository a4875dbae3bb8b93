"""The C floor as a server. Ready is when it can be called."""

import os
import socket

from comparison.processes import Server


class FloorServer(Server):
    def __init__(self, folder, program, records, first, count, work):
        super().__init__(folder)
        self.program = program
        self.data = [records, str(first), str(count)]
        self.work = str(work)

    @property
    def where(self):
        return os.path.join(self.sockets, "floor")

    def command(self):
        return [self.program, "serve", self.folder, *self.data, self.where, self.work]

    def is_ready(self):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.where) == 0
