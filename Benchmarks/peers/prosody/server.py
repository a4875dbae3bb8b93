"""Prosody as a chat server that keeps what is said: message archive (XEP-0313) in SQLite, each message stored before the stream
acknowledges it (XEP-0198). Two archives get every message, the sender's and the receiver's."""

import os
import shutil

from comparison.processes import Server, free_port

CONFIGURATION = """
pidfile = "{sockets}/pid"
run_as_root = false
data_path = "{folder}"
plugin_paths = {{}}
log = {{ {{ levels = {{ min = "warn" }}, to = "console" }} }}
modules_enabled = {{ "saslauth", "mam", "smacks" }}
modules_disabled = {{ "s2s", "offline", "tls" }}
authentication = "internal_plain"
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
c2s_ports = {{ {port} }}
c2s_interfaces = {{ "127.0.0.1" }}
default_archive_policy = true
archive_expires_after = "never"
storage = {{ archive = "sql" }}
sql = {{ driver = "SQLite3", database = "archive.sqlite" }}
VirtualHost "localhost"
"""


def is_installed():
    return shutil.which("prosody") is not None and os.path.exists("/usr/lib/prosody/modules/mod_smacks.lua")


class Prosody(Server):
    def __init__(self, folder, clients):
        super().__init__(folder)
        self.port = free_port()
        accounts = os.path.join(self.folder, "localhost", "accounts")
        os.makedirs(accounts)
        for number in range(clients):
            for role in ("s", "r"):
                with open(os.path.join(accounts, f"{role}{number}.dat"), "w") as file:
                    file.write('return { ["password"] = "secret"; };\n')
        if os.geteuid() == 0:
            for path, folders, files in os.walk(self.folder):
                for name in [path, *(os.path.join(path, file) for file in files)]:
                    shutil.chown(name, "prosody", "prosody")

    def command(self):
        path = os.path.join(self.sockets, "prosody.cfg.lua")
        with open(path, "w") as file:
            file.write(CONFIGURATION.format(sockets=self.sockets, folder=self.folder, port=self.port))
        owner = []
        if os.geteuid() == 0:
            shutil.chown(self.sockets, "prosody", "prosody")
            owner = ["setpriv", "--reuid=prosody", "--regid=prosody", "--init-groups"]
        return [*owner, "prosody", "-F", "--config", path]

    def is_ready(self):
        import socket

        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False
