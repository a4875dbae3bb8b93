#!/usr/bin/env python3
"""Acceptance of the API: bad appends, pages under load, the past, many connections. Run by `make acceptance`."""
import json, os, random, re, socket, subprocess, threading, time, urllib.parse, uuid
from node import BIN, Client, Node, event, until
from schema import DOCUMENT
from subscriptions import CHECKS, check, main

CHECKS.clear()
ROWS = int(os.environ.get("ROWS", "100000"))
POINTS = int(os.environ.get("POINTS", "200"))


def line(**members):
    """A line that would be stored, but for what is said."""
    whole = {"id": str(uuid.uuid4()), "type": "message.posted", "user": "u", "subject": "conversation/c", "data": {"text": "x"}, **members}
    return json.dumps({name: value for name, value in whole.items() if value != "-"}, ensure_ascii=False)


def nested(depth):
    return '{"a":' * depth + "1" + "}" * depth


@check("26 bad appends")
def bad():
    node = Node("p26")
    client = Client(node)
    taken = event("message.posted", "boram", "c", text="first")
    client.append([taken])
    bot = node.token("bot/b", "bot:b")
    same, good = str(uuid.uuid4()), line()
    reserved = ["origin.started", "user.erased", "conversation.erased", "access.granted", "access.revoked", "access.read", "subscription.created",
                "subscription.parked", "finding.settled", "origin.x"]
    cases = [("", 400, "E_EMPTY", None), ("\n \r\n\t\n", 400, "E_EMPTY", None), ("\ufeff", 400, "E_EMPTY", None)]
    cases += [(line(type=name), 422, "E_RESERVED", 1) for name in reserved]
    cases += [
        (line(id=taken["id"]), 409, "E_ID_REUSED", 1), (line(id=same) + "\n" + line(id=same, user="other"), 409, "E_ID_REUSED", 2),
        (line(type=""), 422, "E_TYPE", 1), (line(type="t" * 129), 422, "E_TYPE", 1), (line(type="a\u0001"), 422, "E_TYPE", 1),
        (line(user=""), 422, "E_IDENTIFIER", 1), (line(user="u" * 257), 422, "E_IDENTIFIER", 1), (line(author="a\u0000"), 422, "E_IDENTIFIER", 1),
        (line(subject="conversation/" + "가" * 86), 422, "E_IDENTIFIER", 1), (line(subject="room/c"), 422, "E_LINE_VALUE", 1),
        (line(time="10000-01-01T00:00:00Z"), 422, "E_LINE_TIME", 1), (line(time="0000-12-31T23:59:59Z"), 422, "E_LINE_TIME", 1),
        (line(time="yesterday"), 422, "E_LINE_TIME", 1), (line(time="2026-02-30T00:00:00Z"), 422, "E_LINE_TIME", 1),
        (line(dataversion=0), 422, "E_VERSION_ZERO", 1), (line(data={"text": "x" * 262144}), 422, "E_PAYLOAD_SIZE", 1),
        (line(data=[1]), 422, "E_LINE_TYPE", 1), (line(data="-").replace("}", ',"data":' + nested(65) + "}"), 422, "E_LINE_JSON", 1),
        (line(data="-").replace("}", ',"data":{"a":1,"a":2}}'), 422, "E_LINE_JSON", 1), ("{", 422, "E_LINE_JSON", 1), ("[]", 422, "E_LINE_JSON", 1),
        (b"\xff" + good.encode(), 422, "E_LINE_JSON", 1), (good + good, 422, "E_LINE_JSON", 1), (line(type="-"), 422, "E_LINE_MISSING", 1),
        (line(user="-"), 422, "E_LINE_MISSING", 1), (line(data="-"), 422, "E_LINE_MISSING", 1), (line()[:-1] + ',"user":"u"}', 422, "E_LINE_DUPLICATE", 1),
        (line(room="c"), 422, "E_LINE_UNKNOWN", 1), (line(user=7), 422, "E_LINE_TYPE", 1), (line(dataversion="1"), 422, "E_LINE_TYPE", 1),
        (line(user="\ud800").encode("utf-8", "surrogatepass"), 422, "E_LINE_JSON", 1), (line(user="S").replace('"S"', '"\\ud800"'), 422, "E_LINE_VALUE", 1),
        (line(specversion="0.3"), 422, "E_LINE_VALUE", 1), (line(id="7"), 422, "E_LINE_UUID", 1), (line(cause="x"), 422, "E_LINE_UUID", 1),
        (line(data="-", erased=True), 422, "E_LINE_ERASED", 1), (line(data="-", data_base64="AA=="), 422, "E_LINE_UNREADABLE", 1),
        (line(data="-", headerbytes="AA=="), 422, "E_LINE_UNREADABLE", 1), ("\n".join([good, "", line(user="")]), 422, "E_IDENTIFIER", 3),
        ("\n".join([line() for _ in range(99)] + [line(type="access.read")]), 422, "E_RESERVED", 100),
        ("\n".join([line() for _ in range(4097)]), 413, "E_BATCH_SIZE", None), (good + " " * (9 << 20), 413, "E_BODY_SIZE", None),
        (line(data={"text": "x" * 1048576}), 422, None, 1), (line(type="message.edited", data={"message": taken["id"], "text": "y"}), 403, "E_NOT_AUTHOR", 1),
        (line(type="message.retracted", cause=taken["id"], data={}), 403, "E_NOT_AUTHOR", 1)]
    stored = client.ask("GET", "/v1/events?limit=500")[1]

    def refused(asker, body, query, status, code, place):
        told, got = asker.ask("POST", "/v1/events" + query, body.encode() if isinstance(body, str) else body)
        where = (body[:120], query, told, got[-400:])
        assert told == status, (status, code) + where
        lines = [json.loads(one) for one in got.splitlines()]
        if place is None:
            assert len(lines) == 1 and lines[0]["code"] == code and lines[0]["status"] == status, (code,) + where
        else:
            own = [one for one in lines[:-1] if one["code"] != "E_BATCH"]
            assert [(one["type"], one["line"]) for one in own] == [("rejected", place)] and code in (None, own[0]["code"]), (code, place) + where
            end = lines[-1]
            assert end["type"] == "end" and end["appended"] == end["already"] == 0 and end["rejected"] == end["count"] == len(lines) - 1, where
        assert client.ask("GET", "/v1/events?limit=500")[1] == stored, ("something was stored",) + where

    wrong = []
    for body, status, code, place in cases:
        for query in ("", "?ids=derived") if "NOT_AUTHOR" not in (code or "") else ("",):
            if query and code == "E_LINE_MISSING":
                continue
            try:
                refused(client, body, query, status, code, place)
            except AssertionError as error:
                wrong.append(str(error))
    more = [(client, good, "?expect=c:7", 409, "E_VERSION", 1), (client, good, "?expect=c", 400, "E_PARAMETER", None), (client, good, "?expect=c:-1", 400, "E_PARAMETER", None),
            (client, good, "?atomicity=some", 400, "E_PARAMETER", None), (client, good, "?unknown=1", 400, "E_PARAMETER", None),
            (client, good, "?ids=derived&ids=derived", 400, "E_PARAMETER", None), (Client(node, bot), line(user="b", author="ceo"), "", 403, "E_AUTHOR", 1),
            (Client(node, bot), line(user="ceo", subject="-"), "", 403, "E_AUTHOR", 1), (Client(node, bot), line(user="b"), "", 403, "E_AUTHOR", 1)]
    for one in more:
        try:
            refused(*one)
        except AssertionError as error:
            wrong.append(str(error))
    assert not wrong, f"{len(wrong)} are otherwise:\n      " + "\n      ".join(wrong)
    status, lines = client.json("POST", "/v1/events?atomicity=each", "\n".join([line(), line(user=""), line(), line(type="access.read")]).encode())
    assert status == 207 and [one["type"] for one in lines] == ["appended", "rejected", "appended", "rejected", "end"], (status, lines)
    assert [one["line"] for one in lines[:-1]] == [1, 2, 3, 4], lines
    node.stop()
    return f"{len(cases) * 2 + len(more) - 5} requests: none is 2xx, nothing stored, code and line right; each for itself 207"


@check("27 retries after a cut connection")
def retries():
    node = Node("p27")
    dice, client, sent, codes = random.Random(27), Client(node), [], {}
    for number in range(int(os.environ.get("RETRIES", "1000"))):
        lines = [event("message.posted", f"u{number % 7}", "c", text=f"once {number}-{at}") for at in range(dice.choice([1, 1, 3, 40]))]
        body = "\n".join(map(json.dumps, lines)).encode()
        whole = b"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        for _ in range(dice.choice([1, 1, 2])):
            cut = socket.socket(socket.AF_UNIX)
            cut.connect(node.socket)
            part = dice.choice([len(whole), len(whole), dice.randrange(len(whole))])
            cut.sendall(whole[:part])
            time.sleep(dice.choice([0, 0, 0.0005, 0.003]))  # gone before, while or after it is stored
            cut.close()
        status, got = client.json("POST", "/v1/events", body)
        assert status == 200 and got[-1]["appended"] + got[-1]["already"] == len(lines), (status, got)
        kind = "already" if got[-1]["already"] else "appended"
        assert len({one["type"] for one in got[:-1]}) == 1, f"part of a request was stored: {got}"
        codes[kind] = codes.get(kind, 0) + 1
        sent += [one["id"] for one in lines]
    log = [json.loads(one)["id"] for one in node.ctl("export").splitlines() if '"message.posted"' in one]
    assert sorted(log) == sorted(sent), (len(log), len(sent))
    node.stop()
    return f"{len(sent)} events of {sum(codes.values())} requests, each once; {codes}"


def pages(client, path, limit=500):
    """All lines of a list, and its ends."""
    lines, ends, cursor = [], [], ""
    while True:
        status, got = client.json("GET", f"{path}{'&' if '?' in path else '?'}limit={limit}{cursor}")
        assert status == 200, (path, cursor, status, got)
        got = got if isinstance(got, list) else [got]
        assert got[-1]["type"] == "end", got[-1]
        lines, ends = lines + got[:-1], ends + got[-1:]
        if not got[-1]["more"]:
            return lines, ends
        cursor = "&cursor=" + urllib.parse.quote(got[-1]["next"])


@check("28 pages under load")
def paging():
    node = Node("p28")
    client = Client(node)
    ids = []
    for at in range(0, ROWS, 1000):
        part = [event("message.posted", "boram", "c", text=f"m {n}") for n in range(at, min(at + 1000, ROWS))]
        client.append(part)
        ids += [one["id"] for one in part]
    stop, sent, late, lock = threading.Event(), [0], [], threading.Lock()

    def load():
        writer, start, dice = Client(node), time.time(), random.Random(7)
        while not stop.is_set():
            batch = [event("message.posted", "boram", "c", text="under way") for _ in range(20)]
            batch += [event("message.edited", "boram", "c", message=dice.choice(ids), text="edited later") for _ in range(4)]
            batch += [event("message.retracted", "boram", "c", message=dice.choice(ids))]
            began = time.time()
            writer.append(batch)
            with lock:
                late.append(time.time() - began)
            sent[0] += len(batch)
            time.sleep(max(0, start + sent[0] / 500 - time.time()))
    writing = threading.Thread(target=load, daemon=True)
    writing.start()
    told = []
    try:
        for path in ("/v1/conversations/c/rows?order=newest", "/v1/users/boram/history?order=oldest", "/v1/conversations/c/rows?order=oldest&role=user"):
            before, start = sent[0], time.time()
            lines, ends = pages(client, path)
            took, load = time.time() - start, sent[0] - before
            # All that was there for the first page, and nothing that came later.
            position = ends[0]["position"]
            run = subprocess.run([BIN + "/syncctl", "--store", node.folder, "replay", "--conversation", "c", "--known-at", str(position), "--json"],
                                 capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
            whole = [json.loads(one) for one in run.stdout.splitlines()][:-1]
            if "role" in path:
                whole = [one for one in whole if one["type"] == "message.posted"]
            want = [one["id"] for one in whole]
            got = [row["event"]["id"] for row in lines]
            assert len(set(got)) == len(got), f"{len(got) - len(set(got))} rows come twice"
            assert (got if "oldest" in path else got[::-1]) == want, (path, len(got), len(want), position)
            again, _ = pages(client, path + f"&known_at={position}")
            strip = lambda rows: [(row["event"]["id"], row.get("text"), "retracted" in row, len(row.get("edits", []))) for row in rows]
            differ = [pair for pair in zip(strip(lines), strip(again)) if pair[0] != pair[1]]
            assert not differ and len(lines) == len(again), f"{len(differ)} rows differ from those of known_at={position}: {differ[:2]}"
            told.append(f"{len(got)} rows in {took:.1f} s, {load / took:.0f} appended/s")
            assert load / took > 400, told
    finally:
        stop.set()
        writing.join()
    late.sort()
    node.stop()
    return "; ".join(told) + f"; append p99 {late[len(late) * 99 // 100] * 1000:.0f} ms"


def story(count, dice):
    """What people, a bot and two who meddle do, much of it told late."""
    base, users, rooms, said = time.time() - 90000, ["boram", "alice", "chul", "방/ol"], [f"c{n}" for n in range(5)], []
    lines = [event("conversation.started", "boram", room, title="t " + room, participants=["boram", "alice"], moderators=["chul"]) for room in rooms]
    for one in lines:
        one["time"] = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(base)) + ".000Z"
    for number in range(count):
        room, user = dice.choice(rooms), dice.choice(users)
        at = base + dice.randrange(1, 80000)
        kind = dice.choices(["post", "reply", "edit", "meddle", "retract", "profile", "survey", "join", "rename"], [40, 15, 15, 5, 6, 6, 6, 4, 3])[0]
        target = dice.choice(said) if said else None
        if kind == "post" or not target:
            one = event("message.posted", user, room, text=f"글 {number}")
            said.append(one)
        elif kind == "reply":
            one = event("bot.replied", user, room, "medibot", cause=target["id"], text=f"답 {number}")
            said.append(one)
        elif kind in ("edit", "meddle", "retract"):
            author = target.get("author", target["user"])
            room = target["subject"].split("/", 1)[1]
            if kind == "edit":
                one = event("message.edited", target["user"], room, author, message=target["id"], text=f"고침 {number}")
            elif kind == "meddle":
                one = event("message.edited", "mallory", dice.choice([room, "c0"]), message=target["id"], text=f"FORGED {number}")
            else:
                one = event("message.retracted", dice.choice([author, "chul", "mallory"]), room, message=target["id"])
        elif kind == "profile":
            one = event("profile.changed", user, fields={dice.choice("abc"): number})
        elif kind == "survey":
            one = event("survey.answered", user, room, survey=dice.choice(["sat", "pain"]), question="q", rating=dice.randrange(5))
        elif kind == "join":
            one = event(dice.choice(["participant.joined", "participant.left"]), user, room)
        else:
            one = event("conversation.renamed", user, room, title=f"t {number}")
        if dice.random() < 0.7:
            one["time"] = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{dice.randrange(1000):03}Z"
        lines.append(one)
    return lines


def plain(value):
    """Without what a copy has otherwise: places, clocks, who appended it there."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items() if name not in (
            "position", "hlc", "sequence", "source", "leaf", "actor", "next", "more", "known_at", "approximate") and not (
                name == "event" and isinstance(one, str))}  # <origin>/<seq>
    return [plain(one) for one in value] if isinstance(value, list) else value


def views(parameter):
    """Every GET of the document that has the parameter, with all that it may be asked of."""
    fills = {"conversation": [f"c{n}" for n in range(5)], "user": ["boram", "alice", "chul", "방/ol", "mallory"], "survey": ["sat", "pain"]}
    out = []
    for path, operations in DOCUMENT["paths"].items():
        names = [one["name"] for one in operations.get("get", {}).get("parameters", [])]
        if parameter in names and not path.endswith("/proof"):  # its pages are linked by a header
            keys = re.findall(r"\{(\w+)\}", path)
            out += [path.replace("{%s}" % keys[0], urllib.parse.quote(one, safe="")) for one in fills.get(keys[0], [])] if keys else [path]
    return out


def compare(node, copy, path, query, told):
    def read(at, path):
        status, got = at.json("GET", path)
        if status == 404:
            return 404
        lines = [plain(one) for one in pages(at, path)[0]]
        # The order of a list is that of the latest activity, which a copy that was made in another order has otherwise.
        for one in lines if "as_of" in query else ():
            # Which writes knew of which is a matter of the order in which they were recorded.
            one.pop("conflict", None), one.pop("concurrent", None)
        listed = "as_of" in query and lines and lines[0]["type"] in ("conversation", "survey")
        return sorted(lines, key=json.dumps) if listed else lines
    here, there = read(node, path + "?" + query), read(copy, path)
    # What has nothing yet is 404 or an empty list.
    if (here or 404) != (there or 404):
        first = next((pair for pair in zip(here, there) if pair[0] != pair[1]), None) if 404 not in (here, there) else (here, there)
        told.append(f"{path}?{query}: {len(here) if here != 404 else 404} lines, the copy has {len(there) if there != 404 else 404}; first: {str(first)[:500]}")


@check("29 the past")
def past():
    node, later, then = Node("p29"), Node("q29"), Node("r29")
    dice, client = random.Random(int(os.environ.get("SEED", "29"))), Client(node)
    lines = story(int(os.environ.get("EVENTS29", "3000")), dice)
    for one in lines:
        client.append([one], ids="derived")
    run = subprocess.run([BIN + "/syncctl", "--store", node.folder, "export"], capture_output=True, text=True)
    log = [one for one in map(json.loads, run.stdout.splitlines()) if not one["type"].startswith("origin.")]
    assert len(log) == len(lines)
    stamp = lambda one: (one["time"], one["hlc"])
    asked, missing = 0, {}
    wrong = []
    for parameter, copy, order in (("known_at", Client(later), log), ("as_of", Client(then), sorted(log, key=stamp))):
        paths = views(parameter)
        missing[parameter] = sorted(path for path, operations in DOCUMENT["paths"].items() if re.match(
            r"/v1/(conversations|users|surveys)", path) and "get" in operations and "readers" not in path and parameter not in [
                one["name"] for one in operations["get"].get("parameters", [])])
        given, points = 0, sorted(dice.sample(range(1, len(order)), POINTS))
        for point in points:
            if parameter == "as_of":
                while point < len(order) and order[point]["time"] == order[point - 1]["time"]:
                    point += 1
            if point > given:
                copy.append([{name: value for name, value in one.items() if name not in ("position", "sequence", "hlc", "leaf", "source")}
                             for one in order[given:point]], ids="derived")
                given = max(given, point)
            moment = order[given - 1]["position"] if parameter == "known_at" else order[given - 1]["time"]
            for path in dice.sample(paths, min(4, len(paths))):
                compare(client, copy, path, f"{parameter}={moment}", wrong)
                asked += 1
    # A time of the log's own: the position that the answer names gives the same, and lies where it must.
    for _ in range(20):
        moment = dice.choice(log)
        text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(moment["hlc"].split("-")[0], 16) / 1000 + 2))
        status, got = client.json("GET", f"/v1/conversations/c0/rows?known_at={text}&limit=500")
        assert status == 200 and isinstance(got[-1].get("known_at"), int), got[-1]
        assert got[-1]["known_at"] >= int(moment["position"]) or got[-1].get("approximate"), (text, moment, got[-1])
        same = client.json("GET", f"/v1/conversations/c0/rows?known_at={got[-1]['known_at']}&limit=500")[1]
        if plain(got[:-1]) != plain(same[:-1]):
            wrong.append(f"known_at={text} and {got[-1]['known_at']} differ")
    for at in (node, later, then):
        at.stop()
    assert not wrong, f"{len(wrong)} of {asked} answers are otherwise:\n      " + "\n      ".join(wrong[:int(os.environ.get('SHOWN', '8'))])
    left = "; ".join(f"without {name}: {', '.join(paths)}" for name, paths in missing.items() if paths)
    return f"{POINTS} points each, {asked} answers as of a store that ends there" + (f"; {left}" if left else "")


if __name__ == "__main__":
    main()
