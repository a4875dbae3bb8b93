#!/usr/bin/env python3
"""Acceptance of access: what is another's is not there, rooms that were left, tokens. Run by `make acceptance`."""
import base64, http.client, json, os, re, secrets, socket, subprocess, sys, threading, time, urllib.parse, uuid
from node import BIN, ROOT, Client, Connection, Node, event, until
from subscriptions import CHECKS, check, main

CHECKS.clear()
HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = json.load(open(os.path.join(HERE, "../../docs/openapi.json")))
FORMS = ["application/json", "application/x-ndjson", "text/event-stream"]


def raw(node, method, path, token, body=None, headers={}, seconds=0.6):
    """Status and all bytes of an answer, its head too; of a stream those of some time."""
    connection = Connection(node.socket, timeout=seconds)
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, data, {"Authorization": "Bearer " + token, **headers})
    connection.sock.settimeout(30)
    answer = connection.getresponse()
    got = str(answer.headers).encode()
    connection.sock and connection.sock.settimeout(seconds)
    endless = answer.getheader("Transfer-Encoding") == "chunked" or answer.getheader("Content-Length") is None
    end = time.time() + seconds
    try:
        while chunk := (answer.read1(65536) if endless else answer.read()):
            got += chunk
            if endless and time.time() > end:
                break
    except (TimeoutError, OSError, http.client.HTTPException):
        pass
    connection.close()
    return answer.status, got


def quoted(text):
    return urllib.parse.quote(text, safe="")


class Household:
    """What boram has, and no other may learn of: each text and each id has a mark of its own."""

    def __init__(self, node):
        mark = self.mark = secrets.token_hex(8)
        self.user, self.bot = "boram-" + mark, "bot-" + mark
        self.rooms = [f"room-{mark}", f"방/{mark}"]
        self.survey, self.subscription = "survey-" + mark, "sub-" + secrets.token_hex(8)
        client = Client(node)
        lines = []
        for room in self.rooms:
            lines.append(event("conversation.started", self.user, room, title="title " + mark, participants=[self.user, self.bot]))
            lines += [event("message.posted", self.user, room, text=f"비밀 {mark} {n}") for n in range(5)]
            lines.append(event("bot.replied", self.user, room, self.bot, cause=lines[-1]["id"], text="답 " + mark))
        lines.append(event("conversation.started", self.user, "solo-" + mark))
        lines.append(event("message.posted", self.user, "solo-" + mark, text="혼자 " + mark))
        lines.append(event("message.posted", self.user, text="방 없이 " + mark))
        lines.append(event("message.edited", self.user, self.rooms[0], message=lines[1]["id"], text="고침 " + mark))
        lines.append(event("survey.answered", self.user, self.rooms[0], survey=self.survey, question="q-" + mark, choice="a-" + mark))
        lines.append(event("profile.changed", self.user, fields={"name": "n-" + mark}))
        picture = f"사진 {mark} ".encode() * 50
        status, kept = client.json("POST", "/v1/attachments", picture, {"Content-Type": "text/plain"})
        assert status in (200, 201), (status, kept)
        self.picture = kept["sha256"]
        lines.append(event("message.posted", self.user, self.rooms[0], text="사진 " + mark, attachments=[{
            "sha256": self.picture, "bytes": len(picture), "mediaType": "text/plain"}]))
        client.append(lines)
        self.rooms.append("solo-" + mark)
        self.ids = [line["id"] for line in lines]
        self.token = node.token("user/" + self.user, "user:" + self.user)
        bot = node.token("bot/" + self.bot, "bot:" + self.bot, scope="all")
        self.credentials = [self.token.split("_")[1], bot.split("_")[1]]
        status, made = Client(node, bot).sub(self.subscription, "", {"start": "first", "filter": {"user": [self.user]}}, "PUT")
        assert status == 201, made
        status, pulled = Client(node, bot).sub(self.subscription, "pull", {"max": 1, "wait_ms": 5000})
        assert pulled["deliveries"], pulled
        self.delivery = pulled["deliveries"][0]["delivery"]
        self.ids.append(made["id"])
        status, page = Client(node, self.token).json("GET", "/v1/changes?after=first&limit=3")
        assert status == 200 and page["items"], page
        self.cursor = page["cursor"]
        self.marks = [text.encode() for text in [mark, self.subscription, self.delivery, self.picture] + self.ids + self.credentials]

    def leak(self, got, sent=""):
        """What of hers stands in an answer and not in the question."""
        for text in sorted(re.findall(r"[^/?&=: \"]+", urllib.parse.unquote(sent) + " " + sent), key=len, reverse=True):
            got = got.replace(text.encode(), b"")
        return [mark for mark in self.marks if mark in got]

    def fills(self, path):
        """Her ids for the parameter of a path, each with one of the same form that is no one's."""
        other = secrets.token_hex(8)
        pairs = []
        for name in re.findall(r"\{(\w+)\}", path):
            if name == "conversation":
                mine = self.rooms
            elif name == "user":
                mine = [self.user, self.bot]
            elif name == "survey":
                mine = [self.survey]
            elif name == "id":
                mine = self.credentials if "credentials" in path else self.ids
            elif name == "sha256":
                mine = [self.picture]
            else:
                mine = [self.subscription]
            pairs += [(name, one, secrets.token_hex(32) if one == self.picture else str(uuid.uuid4()) if len(one) == 36 else secrets.token_hex(8) if one in self.credentials
                       else "sub-" + other if one == self.subscription else one.replace(self.mark, other)) for one in mine]
        return pairs or [(None, None, None)]


def body_of(operation, path, hers, own):
    content = operation.get("requestBody", {}).get("content", {})
    if not content or "events" in path and "subscriptions" not in path:
        return None
    if "deliveries" in json.dumps(content):
        return {"deliveries": [hers.delivery]}
    if path.endswith("/live"):
        return {"kind": "typing", "author": own}
    if path.endswith("/retry"):
        return {"events": hers.ids[:1]}
    example = next(iter(content.values()))["example"]
    return example.encode() if isinstance(example, str) else example


def strange(node, hers, token, role, own, of=""):
    """Every route with every id of hers, and with one that is no one's: the answers are the same, and none has a byte of hers."""
    count, wrong = 0, []
    for path, operations in DOCUMENT["paths"].items():
        if path == "/v1/direct/{user}" and role == "user":
            continue  # a conversation of two begins with anyone, be they here or not: direct()
        for method, operation in operations.items() if path.startswith(of) else ():
            barred = role not in operation["x-roles"]
            body = body_of(operation, path, hers, own)
            for method in [method.upper()] + (["HEAD"] if method == "get" else []):
                for name, one, none in hers.fills(path):
                    for headers in ([{"Accept": form} for form in FORMS] if "changes" in path else [{}, {"Range": "bytes=0-40"}]):
                        here = path.replace("{%s}" % name, quoted(one)) if name else path
                        there = path.replace("{%s}" % name, quoted(none)) if name else path
                        status, got = raw(node, method, here, token, body, headers)
                        count += 1
                        found = hers.leak(got, here)
                        if found:
                            wrong.append(f"{role} {method} {here} {status} has {found[0].decode()}")
                        # A live item and a definition are something that is written: there no room is told from another, either.
                        # So it is with what a user does with what is theirs.
                        writes = method == "PUT" or path.endswith("/live") or path.startswith("/v1/users/") and method not in ("GET", "HEAD")
                        want = 403 if barred or writes else 404 if name else None
                        if want and status != want:
                            wrong.append(f"{role} {method} {here} is {status}, not {want}")
                        if name and not path.endswith("/live"):
                            again, same = raw(node, method, there, token, body, headers)
                            strip = lambda data, text: re.sub(rb"Date: .*|Content-Length: .*", b"", data).replace(
                                quoted(text).encode(), b"").replace(text.encode(), b"")
                            if (status, strip(got, one)) != (again, strip(same, none)):
                                wrong.append(f"{role} {method} {here} differs from one that is no one's: {got[-200:]} {same[-200:]}")
    return count, wrong


@check("17 what is another's is not there")
def another():
    node = Node("a17")
    hers = Household(node)
    alice = node.token("user/alice", "user:alice")
    Client(node, alice).append([event("message.posted", "alice", "alices", text="mine")])
    count, wrong = strange(node, hers, alice, "user", "alice")
    bot = node.token("bot/other", "bot:other")
    more, worse = strange(node, hers, bot, "bot", "other")
    count, wrong = count + more, wrong + worse
    # A bot of all conversations has its own subscriptions alone.
    more, worse = strange(node, hers, node.token("bot/every", "bot:every", scope="all"), "bot", "every", "/v1/subscriptions")
    count, wrong = count + more, wrong + [one for one in worse if " PUT " not in one]
    assert Client(node).sub(hers.subscription, "", None, "GET")[0] == 200, "another bot's DELETE counts"
    # She finds all that, so it could be found.
    status, got = raw(node, "GET", f"/v1/attachments/{hers.picture}", hers.token, None, {"Range": "bytes=0-40"})
    assert status == 206 and hers.mark.encode() in got, (status, got)
    for word in ("비밀", hers.mark):
        assert hers.leak(raw(node, "GET", "/v1/search?q=" + quoted(word), hers.token)[1]), word
    # Lists, with each parameter that could narrow them to her; her cursor.
    rooms = "&".join("conversation=" + quoted(room) for room in hers.rooms)
    lists = ["/v1/changes?after=first&limit=1000", "/v1/changes?after=first&type=*&limit=1000", "/v1/changes?after=first&" + rooms,
             "/v1/changes?after=first&user=" + hers.user, "/v1/changes?after=first&author=" + hers.bot, "/v1/changes?after=first&live=1",
             "/v1/changes?after=first&type=subscription.*&type=access.*", "/v1/changes?after=" + quoted(hers.cursor),
             "/v1/users/alice/history?" + rooms, "/v1/users/alice/history?author=" + hers.user, "/v1/users/alice/history?limit=500",
             "/v1/users/alice", "/v1/users/alice/readers", "/v1/conversations", "/v1/surveys", "/v1/subscriptions", "/v1/me", "/v1/access",
             "/v1/credentials", "/v1/status", "/v1/peers", "/v1/openapi.json", "/livez", "/readyz", "/metrics", "/", "/v1",
             "/v1/conversations?user=" + hers.user, "/v1/users/alice/history?cursor=" + quoted(hers.cursor), "/v1/attachments",
             "/v1/attachments?user=" + hers.user, "/v1/users?match=boram", "/v1/search?q=" + quoted("비밀"),
             "/v1/search?limit=100&q=" + hers.mark, f"/v1/search?q={quoted('답')}&user={hers.user}", f"/v1/search?q={quoted('답')}&{rooms}",
             "/v1/search?q=" + quoted("고침") + "&author=" + hers.user]
    stop = threading.Event()

    def goes_on():
        client = Client(node, hers.token)
        while not stop.wait(0.05):
            client.append([event("message.posted", hers.user, hers.rooms[0], text="계속 " + hers.mark)])
            client.ask("POST", f"/v1/conversations/{hers.rooms[0]}/live", {"kind": "typing", "text": hers.mark})
    writer = threading.Thread(target=goes_on, daemon=True)
    writer.start()
    for token in (alice, bot):
        for path in lists:
            for form in FORMS:
                status, got = raw(node, "GET", path, token, None, {"Accept": form})
                count += 1
                # Figures have names of subscriptions, as of peers: whose they are, and what is in them, they do not say.
                found = hers.leak(got, path + " " + hers.subscription if path == "/metrics" else path)
                if found or status >= 500:
                    wrong.append(f"GET {path} as {form}: {status}, {found}")
    stop.set()
    writer.join()
    # What she may not append, and what the refusals tell.
    room, first = hers.rooms[0], hers.ids[1]
    none = str(uuid.uuid4())
    bad = [("E_AUTHOR", event("message.posted", "alice", room, text="x")), ("E_AUTHOR", event("message.posted", hers.user, text="x")),
           ("E_AUTHOR", event("message.posted", "alice", author=hers.user, text="x")),
           ("E_AUTHOR", event("message.edited", "alice", room, message=first, text="x")),
           ("E_AUTHOR", event("participant.joined", "alice", room, user="alice")),
           ("E_AUTHOR", event("participant.left", "alice", room, user=hers.user)),
           ("E_AUTHOR", event("profile.changed", hers.user, author="alice", fields={"name": "x"})),
           ("E_AUTHOR", event("conversation.renamed", "alice", room, title="x"))]
    for code, line in bad:
        status, got = raw(node, "POST", "/v1/events", alice, line)
        count += 1
        if status != 403 or json.dumps(code).encode() not in got or hers.leak(got, json.dumps(line)):
            wrong.append(f"append {line} is {status} {got[-200:]}")
    for query in ("", f"?expect={room}:1", f"?expect={room}:8", "?expect=never:1"):
        for cause in (first, none):
            line = event("message.edited", "alice", "alices", message=cause, text="x")
            status, got = raw(node, "POST", "/v1/events" + query, alice, line)
            count += 1
            if status == 200 and query or hers.leak(got, query + json.dumps(line)):
                wrong.append(f"append {query} {line} is {status} {got[-200:]}")
    rows = Client(node).json("GET", f"/v1/conversations/{room}/rows?limit=500")[1]
    texts = [row["event"]["data"].get("text", "") for row in rows[:-1]]
    if "x" in texts or any(edit["author"] == "alice" for row in rows[:-1] for edit in row.get("edits", [])):
        wrong.append("a refused append was stored")
    node.stop()
    if hers.mark.encode() in open(node.log.name, "rb").read():
        wrong.append("the daemon's log has something of hers")
    assert not wrong, f"{len(wrong)} of {count}:\n      " + "\n      ".join(wrong[:int(os.environ.get('SHOWN', '12'))])
    return f"{count} requests of a user and a bot: 404 or 403, the same as for what is no one's, 0 bytes of hers"


class Follower(threading.Thread):
    """Reads a stream to its end; knows when that came."""

    def __init__(self, node, path, token, accept="application/x-ndjson"):
        super().__init__(daemon=True)
        self.connection = Connection(node.socket, timeout=60)
        self.connection.request("GET", path, headers={"Accept": accept, "Authorization": "Bearer " + token})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, (path, self.answer.status, self.answer.read())
        self.got, self.ended = b"", None
        self.start()

    def run(self):
        try:
            while chunk := self.answer.read1(65536):
                self.got += chunk
        except (OSError, http.client.HTTPException):
            pass
        self.ended = time.time()


@check("17d a conversation of two does not tell who is here")
def direct():
    node = Node("d17")
    hers = Household(node)
    alice = node.token("user/alice", "user:alice")
    for again in (201, 200):
        answers = [raw(node, "POST", "/v1/direct/" + quoted(one), alice) for one in (hers.user, hers.user.replace(hers.mark, "0" * 16))]
        told = [(status, re.sub(rb"Date: .*|dm-[a-z2-7]{26}|[0-9a-f]{16}", b"", got)) for status, got in answers]
        assert told[0] == told[1] and told[0][0] == again, answers
    node.stop()
    return "201, then 200, for who is here and for who is not; the answers differ in names alone"


@check("18 a room that was left")
def left():
    node, other = Node("a18", listen=True), Node("b18", listen=True)
    other.join(node)
    boram, alice, chul = [node.token("user/" + name, "user:" + name) for name in ("boram", "alice", "chul")]
    told, wrong = [], []
    for room, leaver, history in (("left", "alice", None), ("put-out", "boram", None), ("open", "alice", "all")):
        her = Client(node, boram)
        more = {"history": history} if history else {}
        start = event("conversation.started", "boram", room, participants=["boram", "alice"], title="as it was", **more)
        lines = [start] + [event("message.posted", "boram", room, text=f"before {n}") for n in range(10)]
        her.append(lines)
        before = [line["id"] for line in lines]
        mine = event("message.posted", "alice", room, text="I am here")
        Client(node, alice).append([mine])
        before.append(mine["id"])
        follower = Follower(node, "/v1/changes?after=first&conversation=" + room, alice)
        feed = Client(node, alice).json("GET", f"/v1/changes?after=first&limit=1000&conversation={room}")[1]["cursor"]
        out = event("participant.left", leaver, room, user="alice")
        Client(node, alice if leaver == "alice" else boram).append([out])
        later = [event("message.posted", "boram", room, text=f"LATER {n}") for n in range(10)]
        later.append(event("message.edited", "boram", room, message=before[1], text="LATER edit"))
        later.append(event("message.retracted", "boram", room, message=before[2]))
        later.append(event("conversation.renamed", "boram", room, title="LATER title"))
        later.append(event("participant.joined", "boram", room, user="chul"))
        end = her.append(later)[-2]["position"]
        her.ask("POST", f"/v1/conversations/{room}/live", {"kind": "typing", "text": "LATER live"})
        time.sleep(0.3)
        client = Client(node, alice)
        pages = {}
        for path in (f"/v1/conversations/{room}/rows?limit=500&order=oldest", f"/v1/conversations/{room}",
                     f"/v1/changes?after=first&limit=1000&conversation={room}", f"/v1/changes?after={quoted(feed)}&limit=1000",
                     "/v1/users/alice/history?limit=500", f"/v1/conversations/{room}/rows?known_at={end}", f"/v1/changes?after=first&user=boram&limit=1000"):
            status, got = client.ask("GET", path)
            pages[path] = got
            # The conversation itself is of today, and for those who are in it.
            if status != (404 if path == f"/v1/conversations/{room}" else 200):
                wrong.append(f"{room}: {path} is {status}")
            assert b"LATER" not in got and not any(line["id"].encode() in got for line in later), (room, path, got[-1500:])
        rows = [json.loads(line) for line in pages[f"/v1/conversations/{room}/rows?limit=500&order=oldest"].splitlines()][:-1]
        seen = {row["event"]["id"] for row in rows}
        assert set(before) <= seen, (room, len(set(before) - seen), "of before are missing")
        assert not any("edits" in row or "retracted" in row for row in rows), "an edit of later"
        feeds = {item["id"] for item in json.loads(pages[f"/v1/changes?after=first&limit=1000&conversation={room}"])["items"]}
        assert set(before) <= feeds, len(set(before) - feeds)
        for line in before:
            assert client.ask("GET", "/v1/events/" + line)[0] == 200, (room, line)
        for line in later:
            status, got = client.ask("GET", "/v1/events/" + line["id"])
            assert status == 404, (room, line["type"], status)
        assert b"LATER" not in follower.got and before[5].encode() in follower.got, follower.got[-500:]
        told.append(len(before))
        status, got = client.ask("POST", "/v1/events", event("message.posted", "alice", room, text="still here?"))
        assert status == 403, (status, got)
        # Who came later does not see what was before, but where the conversation says so.
        joined = Client(node, chul)
        her.append([event("message.posted", "boram", room, text="for chul")])
        got = b"".join(joined.ask("GET", path)[1] for path in (f"/v1/conversations/{room}/rows?limit=500", "/v1/changes?after=first&limit=1000"))
        assert b"for chul" in got and (b"before 1" in got) == (history == "all"), (room, got[-800:])
        assert joined.ask("GET", "/v1/events/" + before[3])[0] == (200 if history else 404)
        # The other node shows each of them the same.
        node.ctl("wait", "--nodes", "2", "--timeout", "20s")
        for token in (boram, alice, chul):
            shown = lambda at: [row["event"]["id"] for row in Client(at, token).json("GET", f"/v1/conversations/{room}/rows?limit=500")[1][:-1]]
            until(10, lambda: shown(node) == shown(other), f"{room}: the other node shows other events")
    assert not wrong, wrong
    # Who comes back sees what comes from then on.
    Client(node, boram).append([event("participant.joined", "boram", "left", user="alice"),
                                event("message.posted", "boram", "left", text="welcome back")])
    got = Client(node, alice).ask("GET", "/v1/conversations/left/rows?limit=500")[1]
    assert b"welcome back" in got and b"LATER" not in got.replace(b"LATER title", b""), got[-800:]
    node.stop(), other.stop()
    return f"all {sum(told)} events of before, none of later, by rows, feed, stream, event; joining; coming back"


def haystack(*places):
    """All bytes of all files below."""
    for place in places:
        for folder, _, names in os.walk(place):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path):
                    yield path, open(path, "rb").read()
        if os.path.isfile(place):
            yield place, open(place, "rb").read()


@check("20 the secret of a token is nowhere")
def secret():
    node = Node("a20", listen=True, tcp=True, settings={"log": {"level": "debug"}})
    other = Node("b20", listen=True, tcp=True, settings={"log": {"level": "debug"}})
    other.join(node)
    printed = []
    out = os.path.join(ROOT, "out.token")
    node.ctl("tokens", "create", "bot/medibot", "--role", "bot:medibot", "--all", "--out", out)
    tokens = {role: node.token("x/" + role.replace(":", "-"), role) for role in (
        "user:alice", "app", "reader", "auditor", "operator", "admin")}
    tokens["bot:medibot"] = open(out).read().strip()
    gone = node.token("x/gone", "reader")
    node.ctl("wait", "--nodes", "2", "--timeout", "20s")
    until(10, lambda: Client(other, tokens["app"]).ask("GET", "/v1/me")[0] == 200, "the grant does not count at the other node")
    for at in (node, other):
        for token in list(tokens.values()) + [gone]:
            for source in (None, "127.0.0.9"):
                client = Client(at, token, source)
                for method, path, body in (("GET", "/v1/me", None), ("GET", "/v1/status", None), ("GET", "/v1/conversations", None),
                                           ("POST", "/v1/events", event("message.posted", "alice", "c", text="x")),
                                           ("GET", "/v1/nowhere", None), ("PUT", "/v1/subscriptions/s", {"start": "now"}),
                                           ("GET", "/v1/events?limit=%00", None), ("POST", "/v1/events", b"\xff{")):
                    printed.append(client.ask(method, path, body, {"Sillok-Reason": "why"})[1])
            # Where no token belongs: in a path, as a wrong scheme, in a request that is none.
            printed.append(raw(at, "GET", "/v1/me", token[:-1])[1])
            printed.append(raw(at, "GET", "/v1/me", token, None, {"Authorization": "Basic " + token})[1])
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(2)
                line.connect(at.socket)
                line.sendall(f"GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nBad header\r\n\r\n".encode())
                printed.append(line.recv(65536))
    Client(node).ask("DELETE", "/v1/credentials/" + gone.split("_")[1])
    folder = os.path.join(ROOT, "backup20")
    for arguments in (["tokens"], ["tokens", "--json"], ["status", "--json"], ["access", "--json"], ["export"], ["export", "--evidence"],
                      ["replay", "--all", "--json"], ["backup", "copy", folder], ["peers", "--json"]):
        run = subprocess.run([BIN + "/syncctl", "--store", node.folder, *arguments], capture_output=True)
        printed += [run.stdout, run.stderr]
    for at in (node, other):
        printed += [Client(at).ask("GET", path)[1] for path in ("/metrics", "/v1/status", "/v1/credentials", "/v1/access", "/v1/events?limit=500",
                                                                  "/v1/changes?after=first&limit=1000&type=access.*")]
    files = list(haystack(node.folder, other.folder, node.folder + "-witness", other.folder + "-witness", folder))
    node.stop(), other.stop()
    files += list(haystack(node.folder, other.folder, folder, node.log.name, other.log.name))
    files += [("what was printed", b"\n".join(printed))]
    assert any(path.endswith("log.db") and folder in path for path, _ in files), "no backup"
    for token in list(tokens.values()) + [gone]:
        name, text = token.split("_", 2)[1:]
        known = base64.urlsafe_b64decode(text + "=")
        assert len(known) == 32
        for form in (text.encode(), known, known.hex().encode(), base64.b64encode(known).rstrip(b"="), known.hex().upper().encode()):
            for path, data in files:
                assert form not in data, f"{path} has the secret of {name}"
        assert any(name.encode() in data for _, data in files), "the search finds nothing at all"
    size = sum(len(data) for _, data in files)
    return f"{len(tokens) + 1} tokens at two nodes: in none of {len(files)} files and answers, {size >> 20} MiB"


@check("21 a token that is taken back")
def revoke():
    node, other = Node("a21", listen=True), Node("b21", listen=True)
    other.join(node)
    here, there = [], []
    for round in range(int(os.environ.get("ROUNDS", "5"))):
        token = node.token(f"bot/b{round}", "bot:b", "app", scope="all")
        name = token.split("_")[1]
        until(10, lambda: Client(other, token).ask("GET", "/v1/me")[0] == 200, "the grant does not count at the other node")
        sub = Client(node, token).sub(f"r{round}", "", {"start": "now", "filter": {"type": ["message.posted"]}}, "PUT")
        assert sub[0] == 201, sub
        at_home = [Follower(node, "/v1/changes", token, form) for form in FORMS[1:]]
        at_home.append(Follower(node, f"/v1/subscriptions/r{round}/deliveries", token))
        away = [Follower(other, "/v1/changes", token, form) for form in FORMS[1:]]
        polls = []
        for at, path in ((node, "/v1/changes?wait_ms=6000"), (other, "/v1/changes?wait_ms=6000")):
            poll = threading.Thread(target=lambda at=at, path=path: polls.append(raw(at, "GET", path, token, seconds=8)), daemon=True)
            poll.start()
        kept = Client(node, token)
        assert kept.ask("GET", "/v1/me")[0] == 200
        time.sleep(0.4)
        start = time.time()
        status, got = Client(node).ask("DELETE", "/v1/credentials/" + name)
        assert status == 204, got
        asked = time.time()
        assert kept.ask("GET", "/v1/me")[0] == 401, "counts on a connection that was open"
        Client(node).append([event("message.posted", "u", "c", text=f"AFTER {round}")])
        status, got = Client(node).json("POST", f"/v1/subscriptions/r{round}/pull", {"max": 1})
        until(5, lambda: all(f.ended for f in at_home + away), f"streams do not end: {[bool(f.ended) for f in at_home + away]}")
        here.append(max(f.ended for f in at_home) - start)
        there.append(max(f.ended for f in away) - start)
        until(2, lambda: Client(other, token).ask("GET", "/v1/me")[0] == 401, "counts at the other node")
        for f in at_home:
            assert b"AFTER" not in f.got, "told after it was taken back"
        until(10, lambda: len(polls) == 2, "a long poll does not end")
        assert b"AFTER" not in polls[0][1] + polls[1][1], f"a long poll of the token got what came after: {polls}"
    node.stop(), other.stop()
    assert max(here) <= 1 and max(there) <= 2, (here, there)
    return f"{len(here)} times: streams end after {max(here) * 1000:.0f} ms here, {max(there) * 1000:.0f} ms at the other node"


if __name__ == "__main__":
    main()
