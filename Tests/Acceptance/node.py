"""Daemons of the acceptance checks, and the API as a client without a library sees it."""
import atexit, http.client, json, os, shutil, signal, socket, subprocess, tempfile, time, uuid

BIN = os.environ.get("SILLOK_BIN", os.path.join(os.path.dirname(__file__), "../../.build/release"))
ROOT = tempfile.mkdtemp(prefix="sillok-acceptance-")


class Connection(http.client.HTTPConnection):
    """Over the Unix socket; or to a port of this machine, from an address of it."""

    def __init__(self, path, timeout=60, source="127.0.0.1"):
        super().__init__("syncd", timeout=timeout)
        self.path, self.source = path, source

    def connect(self):
        if isinstance(self.path, int):
            self.sock = socket.create_connection(("127.0.0.1", self.path), self.timeout, (self.source, 0))
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Gone(Exception):
    """The node does not answer."""


class Client:
    """One connection to a node, made anew where it broke. With a token it is its holder, over TCP from the address `source`."""

    def __init__(self, node, token=None, source=None):
        self.node, self.token, self.source, self.connection = node, token, source, None

    def ask(self, method, path, body=None, headers={}):
        data = None if body is None else body if isinstance(body, (bytes, str)) else json.dumps(body)
        if self.token:
            headers = {"Authorization": "Bearer " + self.token, **headers}
        try:
            self.connection = self.connection or (
                Connection(self.node.api, source=self.source) if self.source else Connection(self.node.socket))
            try:
                self.connection.request(method, path, data, headers)
            except BrokenPipeError:
                pass  # it was answered before all was sent
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            if self.connection:
                self.connection.close()
            self.connection = None
            raise Gone(str(error))

    def json(self, method, path, body=None, headers={}):
        status, data = self.ask(method, path, body, headers)
        lines = [json.loads(line) for line in data.splitlines() if line.strip()]
        return status, lines[0] if len(lines) == 1 else lines

    def sub(self, name, action, body=None, method="POST"):
        return self.json(method, f"/v1/subscriptions/{name}" + (f"/{action}" if action else ""), body)

    def append(self, events, **query):
        lines = "\n".join(json.dumps(event, ensure_ascii=False) for event in events).encode()
        text = "&".join(f"{key}={value}" for key, value in query.items())
        status, answer = self.json("POST", "/v1/events" + (f"?{text}" if text else ""), lines)
        assert status == 200, (status, answer)
        return answer


class Node:
    """A daemon. `api` is a port of its API over TCP, `settings` what its configuration says beyond that."""

    def __init__(self, name, listen=False, tcp=False, settings={}, folder=None, program=None):
        self.name = name
        self.folder = folder or os.path.join(ROOT, name)
        self.socket = os.path.join(ROOT, name) + ".sock"
        self.port = free_port() if listen else None
        self.api = free_port() if tcp else None
        self.settings = settings
        self.program = program or BIN + "/syncd"
        self.process = None
        self.start()

    def start(self):
        arguments = [self.program, "--data-dir", self.folder, "--socket", self.socket, "--node-name", self.name]
        if self.api or self.settings:
            written = {name: dict(value) for name, value in self.settings.items()}
            if self.api:
                written.setdefault("api", {})["listen"] = f"127.0.0.1:{self.api}"
            with open(os.path.join(ROOT, self.name) + ".json5", "w") as file:
                json.dump(written, file)
            arguments += ["--config", file.name]
        if self.port:
            arguments += ["--peer-listen", f"127.0.0.1:{self.port}"]
        self.log = open(os.path.join(ROOT, self.name) + ".log", "a")
        self.process = subprocess.Popen(arguments, stdout=self.log, stderr=self.log)
        atexit.register(self.process.kill)  # a check that fails leaves no daemon behind
        deadline = time.time() + 30
        while time.time() < deadline:
            try:
                if Client(self).ask("GET", "/readyz")[0] == 200:
                    return
            except Gone:
                pass
            time.sleep(0.05)
        raise SystemExit(f"{self.name} does not start: see {self.log.name}")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def ctl(self, *arguments):
        run = subprocess.run([BIN + "/syncctl", "--store", self.folder, *arguments], capture_output=True, text=True)
        assert run.returncode == 0, (arguments, run.stderr)
        return run.stdout

    def join(self, other):
        line = other.ctl("peers", "invite").split()[0]
        self.ctl("peers", "join", line)

    def token(self, principal, *roles, scope="own", **more):
        status, given = Client(self).json("POST", "/v1/credentials", {
            "principal": principal, "roles": list(roles), "scope": scope, **more})
        assert status == 201, (status, given)
        return given["token"]


def event(kind, user, conversation=None, /, author=None, id=None, cause=None, **data):
    line = {"id": id or str(uuid.uuid4()), "type": kind, "user": user, "data": data}
    for name, value in (("subject", conversation and "conversation/" + conversation), ("author", author), ("cause", cause)):
        if value:
            line[name] = value
    return line


def until(seconds, holds, told="it does not come about"):
    """Waits for what comes about by itself."""
    deadline = time.time() + seconds
    while not holds():
        assert time.time() < deadline, told
        time.sleep(0.02)


def clean():
    shutil.rmtree(ROOT, ignore_errors=True)
