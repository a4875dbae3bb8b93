"""NATS JetStream with file storage. Debian's release (2.9) has no way to sync before it acknowledges: what it says is stored
survives the end of the process, not a power cut. From 2.10 on there is `sync_interval: always`, which is used where the
server knows it."""

import os
import shutil
import subprocess

from comparison.processes import Server, free_port, run


def is_installed():
    return shutil.which("nats-server") is not None


def is_durable():
    """Whether this release can sync before it acknowledges."""
    version = subprocess.run(["nats-server", "--version"], capture_output=True, text=True).stdout.rpartition("v")[2]
    return tuple(int(part) for part in version.split(".")[:2]) >= (2, 10)


class Nats(Server):
    def __init__(self, folder, driver):
        super().__init__(folder)
        self.port = free_port()
        self.driver = driver

    @staticmethod
    def create(folder, driver):
        os.makedirs(folder)
        with Nats(folder, driver) as server:
            run(driver, "create", server.where)

    @property
    def where(self):
        return f"nats://127.0.0.1:{self.port}"

    def command(self):
        path = os.path.join(self.sockets, "server.conf")
        with open(path, "w") as file:
            sync = "\n  sync_interval: always" if is_durable() else ""
            file.write(f'jetstream {{\n  store_dir: "{self.folder}"{sync}\n}}\n')
        return ["nats-server", "-a", "127.0.0.1", "-p", str(self.port), "-c", path]

    def is_ready(self):
        import socket

        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                return connection.recv(4) == b"INFO"
        except OSError:
            return False
