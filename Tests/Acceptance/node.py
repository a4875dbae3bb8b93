"""Daemons of the acceptance checks, and the API as a client without a library sees it."""
import http.client, json, os, shutil, signal, socket, subprocess, tempfile, time

BIN = os.environ.get("SILLOK_BIN", os.path.join(os.path.dirname(__file__), "../../.build/release"))
ROOT = tempfile.mkdtemp(prefix="sillok-acceptance-")


class Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout=60):
        super().__init__("syncd", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Gone(Exception):
    """The node does not answer."""


class Client:
    """One connection to a node, made anew where it broke."""

    def __init__(self, node):
        self.node, self.connection = node, None

    def ask(self, method, path, body=None, headers={}):
        data = None if body is None else body if isinstance(body, (bytes, str)) else json.dumps(body)
        try:
            self.connection = self.connection or Connection(self.node.socket)
            self.connection.request(method, path, data, headers)
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
    def __init__(self, name, listen=False):
        self.name = name
        self.folder = os.path.join(ROOT, name)
        self.socket = self.folder + ".sock"
        self.port = None
        self.listen = listen
        self.process = None
        self.start()

    def start(self):
        arguments = [BIN + "/syncd", "--data-dir", self.folder, "--socket", self.socket, "--node-name", self.name]
        if self.listen:
            if self.port is None:
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", 0))
                    self.port = probe.getsockname()[1]
            arguments += ["--peer-listen", f"127.0.0.1:{self.port}"]
        self.log = open(self.folder + ".log", "a")
        self.process = subprocess.Popen(arguments, stdout=self.log, stderr=self.log)
        deadline = time.time() + 30
        while time.time() < deadline:
            try:
                if Client(self).ask("GET", "/readyz")[0] == 200:
                    return
            except Gone:
                pass
            time.sleep(0.05)
        raise SystemExit(f"{self.name} does not start: see {self.folder}.log")

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


def clean():
    shutil.rmtree(ROOT, ignore_errors=True)
