#!/usr/bin/env python3
"""Requests that no client sends, from docs/openapi.json; each answer is held to the document. Run by `make acceptance`.

REQUESTS=100000, SEED=n for the same ones again, ONLY=i for one of them.
SCHEMATHESIS names the program of that name (it is no dependency: `pip install schemathesis` in a virtual environment); it then asks for MINUTES=3,
which all roles share.
"""
import collections, http.client, json, os, random, re, socket, subprocess, sys, threading, time, urllib.parse, uuid
from node import BIN, ROOT, Client, Node, event, until
from schema import DOCUMENT, OPERATIONS, judge, resolve
from subscriptions import CHECKS, check, main

CHECKS.clear()
HERE = os.path.dirname(os.path.abspath(__file__))
REQUESTS = int(os.environ.get("REQUESTS", "100000"))
SEED = os.environ.get("SEED") or str(random.randrange(10**9))
ROLES = ["user:alice", "bot:medibot", "app", "reader", "auditor", "operator", "admin"]
ODD = ["", " ", "%", "%zz", "%00", "a%00b", "%C0%AF", "%ED%A0%80", "%FF%FE", "%2F..%2F", "..", ".", "%2e%2e", "a b", "+", "한글", "e%CC%81", "👩‍👩‍👧", "%E2%80%AE",
       "' OR 1=1 --", "%0d%0aX: y", "a%0Ab", "%7F", "null", "NaN", "-0", "\\", "a;b", "a,b", "*", "{id}", "A" * 256, "A" * 257, "가" * 86, "x" * 5000]
NUMBERS = ["0", "1", "-1", "2", "500", "501", "1000", "1001", "25000", "25001", "2147483648", "9007199254740993", "9223372036854775807",
           "9223372036854775808", "18446744073709551616", "1e3", "1.0", "+1", " 1", "01", "０", "", "NaN", "-0", "9" * 400, "0x10", "true"]
TIMES = ["2026-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:60Z", "0000-01-01T00:00:00Z", "2026-02-30T00:00:00Z",
         "2026-01-01T00:00:00+23:59", "2026-01-01T00:00:00.123456789123Z", "10000-01-01T00:00:00Z", "2026-01-01", "@1785542400", "now", "-1"]
HEADERS = [("Content-Type", "text/plain"), ("Content-Type", "application/xml"), ("Content-Type", ""), ("Content-Type", "application/json; charset=utf-16"),
           ("Accept", "text/html"), ("Accept", "*/*;q=0"), ("Accept", "application/json, text/event-stream"), ("Accept", "," * 300), ("Accept-Encoding", "zstd, gzip"),
           ("Range", "bytes=0-0"), ("Range", "bytes=-1"), ("If-None-Match", "*"), ("If-Match", '"x"'), ("Expect", "100-continue"), ("Expect", "gold"),
           ("Last-Event-ID", "x"), ("Last-Event-ID", ""), ("X-Odd", "\x80\xff"), ("X-Long", "y" * 9000), ("X-Huge", "z" * 70000), ("Upgrade", "h2c"),
           ("Cookie", "a=b"), ("Host", "other"), ("Content-Length", "0"), ("Content-Length", "7"), ("Content-Length", "-1"), ("Content-Length", "9" * 30),
           ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "gzip"), ("Authorization", "Basic YTpi"), ("Authorization", "Bearer"), ("Bad Name", "x"),
           ("Sillok-Reason", ""), ("Sillok-Reason", "\x01"), ("Sillok-Reason", "\xec\x99\x9c"), ("Sillok-Reason", "w" * 2000), ("", "x"), ("X-Nul", "a\x00b"),
           ("X-HTTP-Method-Override", "DELETE"), ("Connection", "close"), (" X-Fold", "x"), ("Accept", "application/x-ndjson"), ("Accept", "text/event-stream")]
TREASURE = collections.defaultdict(lambda: collections.deque(maxlen=200))  # ids, cursors and tokens that answers had


def deep(dice):
    depth = dice.choice([10, 63, 64, 65, 1000, 100000])
    return b'{"type":"message.posted","user":"alice","data":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"


def word(dice, name):
    """A text for a parameter or member: mostly one that means something here."""
    calm = getattr(dice, "calm", False)
    known = {"conversation": ["c0", "c1", "방/1", "nowhere"], "user": ["alice", "boram", "medibot", "nobody"], "name": ["s0", "s1", "busan", "none"],
             "survey": ["sat", "none"], "question": ["q", "none"], "id": list(TREASURE["id"]) or ["x"], "cursor": list(TREASURE["cursor"]) or ["x"],
             "after": ["now", "first"] + list(TREASURE["cursor"]), "type": ["message.posted", "message.*", "*", "origin.*", "access.*"],
             "author": ["alice", "medibot"], "origin": ["local"] + list(TREASURE["origin"]), "expect": ["c0:1", "c0:", ":1", "c0:-1", "c0:99999999999999999999"],
             "address": ["127.0.0.1:1", "127.0.0.1:0", "[::1]:1", "127.0.0.1:99999"], "start": ["now", "first", "2026-01-01T00:00:00Z", "x/1"],
             "kind": ["typing", "delta"], "event": list(TREASURE["id"]), "principal": ["bot/x", "x"], "code": ["CLOCK", "FORK"], "node": ["ab" * 32, "cd" * 32], "deliveries": list(TREASURE["delivery"]) or ["x"],
             "events": list(TREASURE["id"]) or [str(uuid.UUID(int=7))]}.get(name)
    if known and (calm or dice.random() < 0.75):
        text = dice.choice(known)
        if name in ("cursor", "after", "deliveries") and text and not calm and dice.random() < 0.3:
            at = dice.randrange(len(text))
            text = text[:at] + dice.choice("0fZ-_.%é") + text[at + dice.randrange(2):]
        return urllib.parse.quote(text, safe="") if calm or dice.random() < 0.9 else text
    if name == "address":
        return dice.choice(["127.0.0.1:1", "", ":", "x", "127.0.0.1", "[", "가:1", "127.0.0.1:-1", "a" * 300])  # never out of this machine
    return dice.choice(ODD)


def value(dice, schema, name):
    schema, calm = resolve(schema), dice.calm
    if "enum" in schema and (calm or dice.random() < 0.8):
        return str(dice.choice(schema["enum"]))
    if schema.get("type") == "integer" or name == "known_at" and dice.random() < 0.6:
        if name in ("wait_ms", "timeout_ms"):
            return dice.choice(["0", "1", "20"] if calm else ["0", "1", "20", "-1", "25001", "x", "9" * 30])
        return str(dice.randint(schema.get("minimum", 0), min(schema.get("maximum", 50), 50))) if calm or dice.random() < 0.4 else dice.choice(NUMBERS)
    if schema.get("format") == "date-time" or name == "known_at":
        return urllib.parse.quote(dice.choice(TIMES[:4] if calm else TIMES), safe=":-.TZ")
    return word(dice, name)


def member(dice, schema, name, depth=0):
    """A JSON value, near what the schema says."""
    schema = resolve(schema)
    if not dice.calm and dice.random() < 0.04:
        return dice.choice([None, True, -1, 2**63, 1.5, "", "x" * 300, "\ud800", "a\x00b", [], {}, [[]], {"a": {"b": 1}}])
    if "anyOf" in schema:
        return member(dice, dice.choice(schema["anyOf"]), name, depth)
    if "enum" in schema:
        return dice.choice(schema["enum"])
    kind = schema.get("type")
    if kind == "object":
        out = {one: member(dice, inner, one, depth + 1) for one, inner in schema.get("properties", {}).items()
               if one in schema.get("required", []) and dice.random() < 0.97 or dice.random() < 0.3}
        if name == "data" or name == "filter" or dice.random() < 0.03:
            out[dice.choice(["text", "fields", "type", "user", "survey", "message", "안"])] = dice.choice(["x", ["message.posted"], 5, {"a": 1}, None])
        return out
    if kind == "array":
        return [member(dice, schema.get("items", {}), name, depth + 1) for _ in range(dice.choice([0, 1, 1, 1, 2, 3, 40, 1001]))]
    if kind == "integer":
        return dice.choice([1, 5, 20, 1000] if dice.calm else [0, 1, 5, 20, 1000, 86400000, -1, 10**6, 2**53 + 1, 2**63, 2**64, 10**30]) if name != "wait_ms" else dice.choice([0, 1, 20, -1, 25001])
    if kind == "boolean":
        return dice.random() < 0.5
    if schema.get("format") == "date-time":
        return dice.choice(TIMES[:4] if dice.calm else TIMES)
    if schema.get("format") == "uuid":
        return str(uuid.UUID(int=dice.getrandbits(128))) if dice.random() < 0.7 else word(dice, "id")
    if name == "specversion":
        return "1.0"
    if name == "roles":
        return dice.choice(ROLES + ["admin", "king", "user:", ":", "bot:x:y"])
    if name == "subject":
        return "conversation/" + dice.choice(["c0", "c1"] if dice.calm else ["c0", "c1", "", "x" * 300])
    return urllib.parse.unquote(word(dice, name), errors="surrogateescape")


def body_of(dice, operation):
    content = operation.get("requestBody", {}).get("content")
    if not content or not dice.calm and dice.random() < 0.02:
        return None if dice.calm else dice.choice([None, None, b"", b"{}", b"x"])
    form, one = next(iter(content.items()))
    roll = 0.2 - dice.random() * 0.05 if dice.calm and dice.random() < 0.2 else dice.random()
    if roll < 0.12 and not dice.calm:
        return dice.choice([b"", b"{", b"[]", b"null", b'"x"', b"\xef\xbb\xbf{}", b"\xff\xfe", b"{}{}", b"\x00", b"\n" * 1000, b"9" * 5000, b"[" * 100000, b'{"a":1,"a":2}',
                            b'{"type":"x","type":"y","user":"u","data":{}}', b'{"n":' + b"9" * 100000 + b"}", deep(dice), b" " * 2_000_000, b'{"x":"' + b"a" * 900_000 + b'"}'])
    if form == "text/plain":
        if dice.calm:
            return " ".join(f"{origin}/1" for origin in TREASURE["origin"]).encode() or b"x"
        return dice.choice([" ".join(f"{origin}/{dice.choice(NUMBERS)}" for origin in TREASURE["origin"]), "x", "", "a/1 a/1", "/" * 999]).encode()
    if roll < 0.2 and isinstance(one.get("example"), (dict, str)):
        return (one["example"] if isinstance(one["example"], str) else json.dumps(one["example"])).encode()
    lines = [json.dumps(member(dice, one["schema"], "", 0), ensure_ascii=dice.random() < 0.5) for _ in range(dice.choice([1, 1, 1, 2, 5, 60]) if "ndjson" in form else 1)]
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    if not dice.calm and dice.random() < 0.06:
        at = dice.randrange(len(data) + 1)
        data = data[:at] + dice.choice([b"\x00", b"\xff", b"}", b'"', b",", b"\\u0000", b"\\ud800", b"1"]) + data[at + dice.randrange(3):]
    return data


def request(number):
    """The bytes of a request, who sends it, and which of the document's routes it is."""
    dice = random.Random(f"{SEED}-{number}")
    dice.calm = dice.random() < 0.5  # half of them are what a client might send
    method, path, operation = dice.choice(OPERATIONS)
    role = dice.choice(ROLES + ["none", "wrong"] if dice.random() < 0.5 else operation["x-roles"])
    role = {"user": "user:alice", "bot": "bot:medibot"}.get(role, role)
    target, route = path, path
    for one in operation.get("parameters", []):
        if one["in"] == "path":
            filled = word(dice, "id" if "credentials" in path else one["name"])
            target = target.replace("{%s}" % one["name"], filled)
            if "/" in filled or filled in ("", ".", "..") or "?" in filled:
                route = None
    query = []
    for one in operation.get("parameters", []):
        if one["in"] == "query" and dice.random() < 0.35:
            for _ in range(1 if dice.calm or dice.random() < 0.9 else 2):
                query.append(one["name"] + "=" + value(dice, one["schema"], one["name"]))
    if not dice.calm and dice.random() < 0.06:
        query.append(dice.choice(["unknown=1", "", "=", "limit", "&", "a=b=c", "%6Cimit=1", "limit=1;x=2", "wait_ms=%30", "token=slk1_x", "é=1", "x" * 9000]))
    if query:
        target += "?" + "&".join(query)
    if dice.random() < 0.02:
        method, route = dice.choice(["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", "FOO", "CONNECT", ""]), route
    if dice.random() < 0.02:
        target, route = dice.choice(["/", "/v1", "/v2/events", "/v1//events", "/v1/events/", "*", "http://syncd/v1/me", "v1/me", "/v1/%65vents", "/" + "a" * 9000,
                                     "/v1/events#x", "/v1/users", "/v1/conversations/%2F", "/livez", "/readyz", "/metrics"]), None
    body = body_of(dice, operation)
    headers = [("Host", "syncd")]
    if operation.get("requestBody") and dice.random() < 0.9:
        headers.append(("Content-Type", next(iter(operation["requestBody"]["content"]))))
    if dice.random() < 0.9:
        headers.append(("Sillok-Reason", "fuzz"))
    whole = True
    for _ in range(0 if dice.calm else dice.choice([0] * 6 + [1, 2, 3])):
        headers.insert(dice.randrange(len(headers) + 1), dice.choice(HEADERS))
        whole = False
    if dice.random() < 0.01:
        headers += [("X-%d" % n, "v") for n in range(dice.choice([50, 101, 500]))]
        whole = False
    if dice.random() < 0.01:
        headers = [one for one in headers if one[0] != "Host"]
        whole = False
    if body is not None and not any(name in ("Content-Length", "Transfer-Encoding") for name, _ in headers):
        if dice.random() < 0.05:
            headers.append(("Transfer-Encoding", "chunked"))
            cut = dice.randrange(len(body) + 1)
            body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:cut], body[cut:]) if part) + b"0\r\n\r\n"
        else:
            headers.append(("Content-Length", str(len(body))))
    version = "HTTP/1.1" if dice.random() < 0.99 else dice.choice(["HTTP/1.0", "HTTP/2.0", "HTTP/9", "HTCPCP/1.0", ""])
    end = "\r\n" if dice.random() < 0.995 else "\n"
    if version != "HTTP/1.1" or end != "\r\n":
        whole = False
    start = f"{method} {target} {version}".encode("utf-8", "surrogateescape")
    lines = b"".join(f"{name}: {text}".encode("latin-1", "replace") + end.encode() for name, text in headers)
    if dice.random() < 0.03:  # bytes that are changed, lost or doubled
        both = bytearray(start + b"\0\0" + lines)
        for _ in range(dice.choice([1, 1, 2, 8])):
            at = dice.randrange(len(both))
            both[at:at + dice.choice([0, 1, 1, 5])] = bytes(dice.randrange(256) for _ in range(dice.choice([0, 1, 1, 3])))
        start, _, lines = bytes(both).partition(b"\0\0")
        route, whole = None, False
    return start, lines, body or b"", role, method, route, whole, end.encode()


class Fuzz:
    def __init__(self, node):
        self.node, self.lock = node, threading.Lock()
        self.tokens = {role: node.token("x/" + role, role, scope="all" if role.startswith("bot") else "own") for role in ROLES}
        self.own = {token.split("_")[1] for token in self.tokens.values()}
        self.faults, self.statuses, self.times, self.largest, self.good = {}, collections.Counter(), [], 0, set()

    def note(self, number, told, start, role):
        with self.lock:
            key = told.split(": ", 1)[-1][:50]
            count, *first = self.faults.get(key, (0, number, told, start[:160], role))
            self.faults[key] = (count + 1, *first)

    def one(self, number, sock):
        """Sends a request; gives the connection that may take the next one."""
        start, lines, body, role, method, route, whole, end = request(number)
        if any(name.encode() in start for name in self.own) and start.startswith(b"DELETE"):
            return sock
        if role == "none" and sock is not None:
            sock.close()
            sock = None
        if sock is None:
            sock = socket.create_connection(("127.0.0.1", self.node.api)) if role == "none" else socket.socket(socket.AF_UNIX)
            sock.settimeout(20)
            role == "none" or sock.connect(self.node.socket)
        token = {"none": b"", "wrong": b"Authorization: Bearer slk1_0123456789abcdef_x\r\n"}.get(role)
        if token is None:
            token = b"Authorization: Bearer " + self.tokens[role].encode() + b"\r\n"
        began = time.time()
        try:
            sock.sendall(start + end + token + lines + end + body)
        except OSError:
            pass  # it has answered and closed
        if not whole:
            try:
                sock.shutdown(socket.SHUT_WR)  # what is not whole must not be waited for
            except OSError:
                pass
        try:
            answer = http.client.HTTPResponse(sock, method=method)
            answer.begin()
            got, streams = b"", answer.getheader("Content-Length") is None and answer.status == 200
            if streams:
                sock.settimeout(0.05)
                try:
                    got = answer.read1(1 << 20)
                except OSError:
                    pass
                got = got[:got.rfind(b"\n") + 1]
            else:
                got = answer.read()
        except (http.client.HTTPException, OSError) as error:
            sock.close()
            if whole and route:
                self.note(number, f"no answer: {type(error).__name__} {error} for {method} {route}", start, role)
            return None
        form = answer.getheader("Content-Type")
        with self.lock:
            code = re.search(rb'"code":"(E_\w+)"', got[:2000]) if answer.status >= 400 else None
            self.statuses[f"{answer.status} {code[1].decode()}" if code else str(answer.status)] += 1
            if answer.status < 300:
                self.good.add((method, route))
            if not streams:
                self.times.append(time.time() - began)
        found = judge(method, route if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE") else None, answer.status, form, got, whole=not streams)
        operation = DOCUMENT["paths"].get(route, {}).get("get" if method == "HEAD" else method.lower())
        if route is None or not operation:
            # Of what is not in the document only this is known: no fault of the daemon, and errors are problems.
            named = answer.status == 504 and (b"E_NO_PONG" in got or b"E_UNREACHABLE" in got)
            found = found if answer.status >= 400 and not named and form != "application/x-ndjson" else None
        elif not found and answer.status < 300 and role.split(":")[0] not in operation["x-roles"]:
            found = f"{answer.status} for a role that may not"
        if not whole and answer.status == 505 and (b"E_HTTP" in got or method == "HEAD"):
            found = None  # another version of HTTP
        if not whole and found and ("not among" in found or "which the document" in found):
            found = None  # faults of HTTP itself are not listed at each route
        if found:
            self.note(number, f"{method} {route}: {found}", start, role)
        if answer.status < 300 and form and "json" in form:
            try:
                for line in got.decode().split("\n")[:20]:
                    value = json.loads(line) if line else {}
                    for name, key in (("next", "cursor"), ("cursor", "cursor"), ("id", "id"), ("event", "id"), ("origin", "origin"), ("credential", "id")):
                        if isinstance(value.get(name), str):
                            TREASURE[key].append(value[name])
                    TREASURE["delivery"] += [one["delivery"] for one in value.get("deliveries", []) if "delivery" in one]
                    TREASURE["id"] += [one["event"]["id"] for one in value.get("deliveries", [])]
            except (ValueError, AttributeError, KeyError, TypeError):
                pass
        if streams or not whole or role == "none" or answer.will_close:
            sock.close()
            return None
        return sock


@check("31 requests that no client sends")
def fuzz():
    node, peer = Node("z31", listen=True, tcp=True), Node("y31", listen=True)
    peer.join(node)
    client = Client(node)
    client.append([event("message.posted", "alice", f"c{n % 2}", text=f"m {n}") for n in range(300)])
    client.append([event("survey.answered", "alice", "c0", survey="sat", question="q", choice="a"), event("profile.changed", "alice", fields={"n": 1}),
                   event("bot.replied", "alice", "c0", "medibot", text="hi"), event("message.posted", "boram", "방/1", text="x")])
    for name in ("s0", "s1"):
        client.sub(name, "", {"start": "first", "filter": {"type": ["message.posted"]}}, "PUT")
    run = Fuzz(node)
    only = os.environ.get("ONLY")
    rss = lambda: int(open(f"/proc/{node.process.pid}/statm").read().split()[1]) * 4096 >> 20
    before, count = rss(), [0]

    def work(at, step):
        sock = None
        for number in range(at, REQUESTS, step):
            try:
                sock = run.one(number, sock)
            except OSError as error:
                run.note(number, f"no connection: {error}", b"", "")
                sock = None
                time.sleep(0.05)
            count[0] += 1
            if node.process.poll() is not None:
                return
            if number % 64 == 0:
                run.largest = max(run.largest, rss())
    if only:
        print(request(int(only)))
        run.one(int(only), None)
    else:
        threads = [threading.Thread(target=work, args=(at, 8), daemon=True) for at in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert node.process.poll() is None, f"the daemon is gone ({node.process.returncode}), SEED={SEED}: see {node.log.name}"
    until(30, lambda: Client(node).ask("GET", "/readyz")[0] == 200, "not ready after all that")
    top, times = rss(), sorted(run.times)
    digests = lambda at: subprocess.run([BIN + "/syncctl", "--store", at.folder, "digest", "--search"], capture_output=True, text=True).stdout
    until(60, lambda: digests(node) == digests(peer) != "", f"a peer differs, SEED={SEED}")
    node.stop(), peer.stop()
    code = subprocess.run([BIN + "/syncctl", "--store", node.folder, "verify", "--views"], capture_output=True, text=True)
    listed = "\n".join(f"      {n} × #{number} as {role}: {told[:260]}\n          {start!r}" for n, number, told, start, role in sorted(
        run.faults.values(), key=lambda one: one[2])[:int(os.environ.get("SHOWN", "60"))])
    never = [f"{method} {path}" for method, path, _ in OPERATIONS if (method, path) not in run.good]
    told = f"{count[0]} requests, SEED={SEED}: {dict(sorted(run.statuses.items()))}; {before} MiB before, {run.largest} at most, {top} after; never 2xx: {', '.join(never) or 'none'}"
    assert code.returncode in (0, 2), f"{told}; verify: {code.stdout[-300:]}{code.stderr[-300:]}"
    assert run.largest <= before + 256, told
    assert not run.faults, f"{told}: {len(run.faults)} kinds of faults (SEED={SEED} ONLY=<number> for one):\n{listed}"
    return f"{told}; p99 {times[len(times) * 99 // 100] * 1000:.1f} ms; every answer as the document has it; the store verifies"


# Of its checks all but these. A value may fit its schema and be refused for what is in the log. What no event names is not there for its reader,
# though it was just put. After ten wrong tokens in a minute one gets 429; checks 19 and 21 look at wrong tokens.
# It reads answers to their end, and a stream of deliveries has none.
ENDLESS = "/v1/subscriptions/{name}/deliveries"
LEFT_OUT = "positive_data_acceptance,ensure_resource_availability,ignored_auth"


def faults_of(told):
    """What it found, one text each, but for members that are null: they count as left out, which the document does not say (ST201)."""
    found = re.split(r"(?m)^\d+\. Test Case ID: ", told.partition("= FAILURES =")[2].partition("= WARNINGS =")[0].partition("= SUMMARY =")[0])[1:]
    return [one for one in found if re.findall(r"(?m)^- (ST\d+)", one) != ["ST201"] or not re.search(r" -d '.*: null\b", one)], len(found)


@check("31c what schemathesis finds")
def schemathesis():
    program = os.environ.get("SCHEMATHESIS")
    if not program:
        return "not done: SCHEMATHESIS names no program"
    seconds, told, faults = int(float(os.environ.get("MINUTES", "3")) * 60 / len(ROLES)), [], []
    nulls = 0
    for at, role in enumerate(ROLES):
        node = Node(f"x31{at}", tcp=True)
        Client(node).append([event("message.posted", "alice", f"c{n % 2}", text=f"m {n}") for n in range(100)])
        token = node.token("x/" + role, role, scope="all" if role.startswith("bot") else "own")
        hooks = {**os.environ, "SCHEMATHESIS_HOOKS": "schemathesis_lines", "PYTHONPATH": HERE}
        run = subprocess.run([
            program, "run", os.path.join(HERE, "../../docs/openapi.json"), "-u", f"http://127.0.0.1:{node.api}", "-H", "Authorization: Bearer " + token,
            "-H", "Sillok-Reason: schemathesis", "--exclude-checks", LEFT_OUT, "--exclude-path", ENDLESS, "--max-time", str(seconds), "--request-timeout", "40", "--no-color",
            "--seed", str(at + 1)], capture_output=True, text=True, cwd=ROOT, env=hooks, timeout=seconds + 180)
        cases = re.search(r"(\d+) generated", run.stdout)
        told.append(f"{role} {cases[1] if cases else 0}")
        wrong, found = faults_of(run.stdout)
        nulls += found - len(wrong)
        faults += [f"{role}: {one}" for one in wrong]
        if not cases or run.returncode not in (0, 1) or run.returncode == 1 and not found or "= ERRORS =" in run.stdout:
            faults.append(f"{role} ends with {run.returncode}:\n{run.stdout[-6000:]}{run.stderr[-2000:]}")
        assert node.process.poll() is None, f"the daemon is gone, asked by {role}: see {node.log.name}"
        node.stop()
    assert not faults, "\n".join(faults)
    return f"{seconds} s for each role, all its checks but {LEFT_OUT}, and not {ENDLESS}; {nulls} × null taken for left out; cases: {', '.join(told)}"


if __name__ == "__main__":
    main()
