"""The programs under test, as processes: the daemon with its socket, and syncctl."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))
# Far from real inodes, so that a recorded one never meets another file's.
INODE_OFFSET = 1 << 40


def temporary_folder():
    """In memory where there is room: the disk under test is computed, not used."""
    memory = "/dev/shm"
    try:
        roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 4 << 30
    except OSError:
        roomy = False
    return tempfile.mkdtemp(prefix="crash-", dir=memory if roomy else None)


def recorder(folder):
    """Compiles the recorder into the folder."""
    library = os.path.join(folder, "recorder.so")
    command = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"]
    subprocess.run([*command, "-o", library, os.path.join(HERE, "recorder.c")], check=True)
    return library


class Programs:
    """Where the programs and the recorder are."""

    def __init__(self, folder, library):
        self.syncd, self.syncctl = os.path.join(folder, "syncd"), os.path.join(folder, "syncctl")
        self.library = library

    def preloaded(self, root, **variables):
        named = {f"CRASH_{name.upper()}": str(value) for name, value in variables.items() if value is not None}
        return dict(os.environ, LD_PRELOAD=self.library, CRASH_ROOT=root, **named)

    def control(self, store, *arguments, environment=None, stdin=b"", timeout=300):
        """Runs syncctl; returns its exit code and both outputs."""
        done = subprocess.run(
            [self.syncctl, "--store", store, *arguments], input=stdin, capture_output=True, env=environment, timeout=timeout
        )
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=120):
        super().__init__("syncd", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Ended(Exception):
    """The daemon ended, or did not become ready."""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Daemon:
    def __init__(self, programs, store, run, environment=None, **settings):
        """`run` is a folder for socket, configuration and log; settings are storage's and peers' keys."""
        self.socket = os.path.join(run, "api.sock")
        self.log_path = os.path.join(run, "log")
        os.makedirs(run, exist_ok=True)
        peers = {key: settings[key] for key in ("listen", "snapshot_after") if key in settings}
        storage = {key: settings[key] for key in ("durability", "witness") if key in settings}
        configuration = {
            "node": {"name": settings.get("name", "seoul"), **{key: settings[key] for key in ("cluster",) if key in settings}},
            "storage": {"dir": store, "min_free": settings.get("min_free", "1MiB"), **storage},
            "api": {"socket": {"path": self.socket, "mode": "0600", "group": None}},
            "peers": peers,
            "log": {"level": "info"},
        }
        file = os.path.join(run, "syncd.json5")
        with open(file, "w") as out:
            json.dump(configuration, out)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([programs.syncd, "--config", file], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()

    def ready(self, timeout=120):
        end = time.monotonic() + timeout
        while True:
            try:
                with Client(self) as client:
                    if client.request("GET", "/readyz")[0] == 200:
                        return self
            except OSError:
                pass
            if self.process.poll() is not None:
                raise Ended(f"syncd ended with {self.process.returncode}: {self.log().strip()[-600:]}")
            if time.monotonic() > end:
                self.kill()
                raise Ended(f"syncd is not ready after {timeout} s: {self.log().strip()[-600:]}")
            time.sleep(0.003)

    def stop(self, timeout=180):
        """SIGTERM; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Ended(f"SIGTERM did not end syncd within {timeout} s") from None

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Client:
    """One connection to a daemon's socket."""

    def __init__(self, daemon, timeout=120):
        self.daemon = daemon
        self.connection = UnixConnection(daemon.socket, timeout)
        self.vector = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def request(self, method, path, body=None):
        """The status and the text. OSError where the daemon has gone."""
        try:
            self.connection.request(method, path, body)
            answer = self.connection.getresponse()
            return answer.status, answer.read().decode(errors="replace")
        except http.client.HTTPException as error:
            self.connection.close()
            raise ConnectionResetError(str(error)) from error
        except OSError:
            self.connection.close()
            raise

    def append(self, events):
        """The status, and the ids that were acknowledged."""
        body = "".join(event.line() + "\n" for event in events).encode()
        status, text = self.request("POST", "/v1/events", body)
        for origin, sequence in PLACED.findall(text):
            self.vector[origin] = max(int(sequence), self.vector.get(origin, 0))
        return status, set(acknowledged_ids(text))

    def wait(self, nodes, timeout_ms=20000):
        """Whether all that this client has appended is durable on so many nodes."""
        vector = " ".join(f"{origin}/{sequence}" for origin, sequence in self.vector.items())
        status, text = self.request("POST", f"/v1/wait?nodes={nodes}&timeout_ms={timeout_ms}", vector.encode())
        return status == 200 and '"reached":true' in text


ACKNOWLEDGED = re.compile(r'^\{"type":"(?:appended|already)".*?"id":"([0-9a-f-]{36})"')

PLACED = re.compile(r'"origin":"([0-9a-f-]{36})","sequence":"?([0-9]+)')


def acknowledged_ids(text):
    return [found.group(1) for line in text.split("\n") if (found := ACKNOWLEDGED.match(line))]


class Event:
    """An event to append: its id and its payload, byte for byte."""

    def __init__(self, chance, size=None):
        self.id = str(uuid.UUID(bytes=chance.randbytes(16), version=4))
        if size is None:
            size = chance.choice([10, 10, 40, 200, 200, 1500, 6000])
        words = chance.randbytes((size + 1) // 2).hex()
        self.payload = '{"text":"%s %s"}' % (self.id, words)
        self.user = f"u-{chance.randrange(40)}"
        self.conversation = f"c-{chance.randrange(20)}"

    def line(self):
        return (
            f'{{"id":"{self.id}","type":"message.posted","subject":"conversation/{self.conversation}",'
            f'"user":"{self.user}","data":{self.payload}}}'
        )
