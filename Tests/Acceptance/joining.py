#!/usr/bin/env python3
"""Acceptance of work at two nodes that are cut off and joined: what was delayed comes, what is done is known, a webhook waits. Run by
`make acceptance`.

CUT=7200 keeps the node of check 11 cut off for two hours, DOWN=600 the target of check 34 away for ten minutes; seconds, 4 unless said.
"""
import base64, collections, hashlib, hmac, http.server, json, os, subprocess, sys, threading, time
from node import ROOT, Client, Gone, Node, atexit, event, free_port, until
from subscriptions import CHECKS, check, done_set, main, make, message, post, pulled, settle

CHECKS.clear()
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "../../clients/python"))
from sillok import reply_id  # noqa: E402

CUT, DOWN = float(os.environ.get("CUT", "4")), float(os.environ.get("DOWN", "4"))


def peers(name):
    home, other = Node("s" + name, listen=True), Node("b" + name)
    other.join(home)
    return home, other


def known(node, name):
    until(20, lambda: Client(node).sub(name, "", None, "GET")[0] == 200, f"{node.name} does not hear of {name}")


def taken(node, name, count, seconds=30):
    """So many deliveries, acked, each with the moment at which it came."""
    client, found, deadline = Client(node), [], time.time() + seconds
    while len(found) < count:
        given = client.sub(name, "pull", {"max": 100, "wait_ms": 1000})[1].get("deliveries", [])
        found += [(time.time(), one) for one in given]
        if given:
            assert client.sub(name, "ack", {"deliveries": [one["delivery"] for one in given]})[0] == 200
        assert time.time() < deadline, f"{len(found)} of {count} came"
    return found


@check("11 a node that was cut off for long")
def cut_off():
    home, other = peers("11")
    make(home, "bot", late_ms=1000)
    known(other, "bot")
    other.ctl("peers", "pause", home.name)  # who dials: it does so again at once
    sent = {}
    for number in range(100):
        line = message(number, number % 10)
        Client(other).append([line])
        sent[line["id"]] = time.time()
    time.sleep(CUT)
    assert pulled(home, "bot") == (200, {}), "the link is not cut"
    other.ctl("peers", "resume", home.name)
    found = taken(home, "bot", 100, max(30, CUT / 60))
    assert {one["event"]["id"] for _, one in found} == set(sent) and len(found) == 100, len(found)
    # Delayed is not late: what counts for `late_ms` is when it was recorded.
    off = [one["age_ms"] / 1000 - (moment - sent[one["event"]["id"]]) for moment, one in found]
    assert -0.5 <= min(off) and max(off) <= 0.5, (min(off), max(off))
    ages = [one["age_ms"] for _, one in found]
    assert min(ages) >= CUT * 1000, min(ages)
    numbers = collections.defaultdict(list)
    for _, one in found:
        numbers[one["event"]["subject"]].append(one["event"]["data"]["n"])
    assert all(part == sorted(part) for part in numbers.values()), "order"
    home.stop(), other.stop()
    return f"cut off for {CUT:.0f} s: 100 of 100 came, in order, {min(ages)} to {max(ages)} ms old, right within {max(map(abs, off)) * 1000:.0f} ms"


class Worker(threading.Thread):
    """Answers at one node, with ids that follow from the message, and acks with the answer."""

    def __init__(self, node, name):
        super().__init__(daemon=True)
        self.node, self.name_, self.done, self.over = node, name, [], threading.Event()
        self.start()

    def run(self):
        client = Client(self.node)
        while not self.over.is_set():
            for one in client.sub(self.name_, "pull", {"max": 10, "wait_ms": 500})[1].get("deliveries", []):
                asked = one["event"]
                reply = event("bot.replied", asked["user"], asked["subject"].split("/", 1)[1], self.name_, reply_id(asked["id"], self.name_), asked["id"],
                              text="답 " + str(asked["data"]["n"]), inReplyTo=asked["id"])
                status, told = client.json("POST", "/v1/events?ack=" + one["delivery"], reply)
                assert status == 200, (status, told)
                self.done.append(asked["id"])

    def stop(self):
        self.over.set()
        self.join(5)


@check("12 a home at each node, cut off and joined")
def local():
    home, other = peers("12")
    make(home, "bot", home="local", ack_wait_ms=30000)
    known(other, "bot")
    there = Worker(other, "bot")
    rooms = []

    def said(node, count):
        """Messages in conversations of this node's people: one of two nodes would wait for the other."""
        rooms.extend(f"{node.name}-{len(rooms) + at}" for at in range(5))
        lines = [message(n, rooms[-1 - n % 5]) for n in range(count)]
        Client(node).append(lines)
        return [line["id"] for line in lines]
    # Ten that no worker of their node has done; then the link is cut, and each node has twenty of its own.
    undone = said(home, 10)
    home.ctl("wait", "--nodes", "2", "--timeout", "20s")
    other.ctl("peers", "pause", home.name)  # who dials: it does so again at once
    cut = time.time()
    own = {home: said(home, 20), other: said(other, 20)}
    until(15, lambda: len(there.done) >= 20, "the cut-off node does not do its own")
    soon = time.time() - cut
    assert set(there.done) == set(own[other]), "before 30 s are over it did another's"
    until(60, lambda: len(there.done) >= 30, "no one does what the other node leaves undone")
    over = time.time() - cut
    assert set(there.done[20:]) == set(undone), "another's that it does not have"
    here = Worker(home, "bot")
    until(20, lambda: len(here.done) >= 30, "the home does not do its own")
    assert set(here.done) == set(undone + own[home]), len(here.done)
    other.ctl("peers", "resume", home.name)
    asked = undone + own[home] + own[other]

    def shown(node):
        found = collections.Counter()
        for room in rooms:
            status, rows = Client(node).json("GET", f"/v1/conversations/c{room}/rows?limit=500")
            if status == 200 and isinstance(rows, list):
                found.update(row["event"]["cause"] for row in rows[:-1] if row["event"]["type"] == "bot.replied")
        return found
    until(20, lambda: all(set(shown(node)) == set(asked) for node in (home, other)), "an answer is missing")
    for node in (home, other):
        settle(node, "bot", 40)
        assert set(shown(node).values()) == {1}, shown(node).most_common(3)
        status, line = Client(node).sub("bot", "", None, "GET")
        assert line["parked"] == 0, line
    until(20, lambda: home.ctl("digest") == other.ctl("digest"), "digests differ")
    twice = len(here.done) + len(there.done) - len(asked)
    for worker in (here, there):
        worker.stop()
    home.stop(), other.stop()
    return f"each did its own within {soon:.1f} s, what was left undone after {over:.0f} s; {twice} done twice; one reply shown for each of {len(asked)}"


def done(node, name):
    """What is done of a subscription there, without what only says how often the rest was tried."""
    found = done_set(node, name)
    return found and (found[0], {part[0:2] for part in found[1]}, found[3])


@check("13 what is done, at both nodes and without their files")
def forgotten():
    home, other = peers("13")
    make(home, "bot", order="none")
    known(other, "bot")
    first = post(home, 60, 20)
    taken(home, "bot", 60)
    time.sleep(2)
    # Each node's own word, and what the other keeps of it.
    assert done(home, "bot") == done(other, "bot") is not None, (done(home, "bot"), done(other, "bot"))
    # Who hands it over puts what is done into the log: that is the floor.
    status, line = Client(other).sub("bot", "move")
    assert status == 200, line
    until(10, lambda: Client(home).sub("bot", "pull", {"max": 1})[0] == 409, "the old home does not hear of the new one")
    home.ctl("wait", "--nodes", "2", "--timeout", "20s")
    since = post(other, 40, 20, first=60)
    assert {one["event"]["id"] for _, one in taken(other, "bot", 40)} == set(since), "what was done before the move comes again"
    time.sleep(2)
    assert done(home, "bot") == done(other, "bot") is not None, (done(home, "bot"), done(other, "bot"))
    for node in (home, other):
        node.kill()
        for end in ("", "-wal", "-shm"):
            if os.path.exists(f"{node.folder}/subs.db{end}"):
                os.unlink(f"{node.folder}/subs.db{end}")
    for node in (home, other):
        node.start()
    again = taken(other, "bot", 40)
    assert {one["event"]["id"] for _, one in again} == set(since), len({one["event"]["id"] for _, one in again} & set(first))
    assert pulled(other, "bot", 100) == (200, {}), "more comes"
    new = post(home, 5, 5, first=100)
    assert {one["event"]["id"] for _, one in taken(other, "bot", 5)} == set(new)
    home.stop(), other.stop()
    return "equal after 2 s, before a move and after it; without both files 40 of 100 come again, those that were done since the floor"


class Target(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signed = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + body
        wanted = "v1," + base64.b64encode(hmac.new(self.server.key, signed, hashlib.sha256).digest()).decode()
        told, number = json.loads(body), json.loads(body)["data"]["n"]
        is_right = self.headers["webhook-signature"] == wanted and self.headers["webhook-id"] == told["id"]
        is_right = is_right and abs(int(self.headers["webhook-timestamp"]) - time.time()) < 60
        # Now and then it fails after it has taken it.
        fails = number >= 500 and number % 97 == 0 and told["id"] not in {id for _, _, id, _ in self.server.got}
        self.server.got.append((told["subject"], number, told["id"], is_right))
        self.send_response(500 if fails else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@check("34 a webhook whose target is away")
def webhook():
    node, port, key = Node("s34"), free_port(), os.urandom(32)
    secret = os.path.join(ROOT, "s34.secret")
    with open(os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        file.write("whsec_" + base64.b64encode(key).decode() + "\n")
    with open(os.path.join(ROOT, "s34-hook.log"), "w") as log:
        hook = subprocess.Popen([os.path.join(HERE, "../../clients/webhook/sillok-hook"), "hook", f"http://127.0.0.1:{port}/in", "--secret", secret,
                                 "--node", "unix:" + node.socket, "--start", "first", "--type", "message.posted"],
                                stdout=log, stderr=log, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    atexit.register(hook.kill)
    known(node, "hook")
    away = time.time()
    sent = post(node, 500, 50)
    time.sleep(max(0, away + DOWN / 2 - time.time()))
    sent += post(node, 500, 50, first=500)
    time.sleep(max(0, away + DOWN - time.time()))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Target)
    server.key, server.got = key, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    start = time.time()
    until(DOWN + 300, lambda: len({id for _, _, id, _ in server.got}) == 1000, "they do not come")
    took = time.time() - start
    settle(node, "hook", 60)
    status, line = Client(node).sub("hook", "", None, "GET")
    hook.terminate()
    assert hook.wait(20) == 0 and line["parked"] == 0, line
    assert all(is_right for *_, is_right in server.got), "a signature, an id or a time is wrong"
    assert {id for _, _, id, _ in server.got} == set(sent)
    last = {}
    for subject, number, _, _ in server.got:
        assert number >= last.get(subject, -1), f"{subject}: {number} after {last[subject]}"
        last[subject] = number
    server.shutdown()
    node.stop()
    return (f"away for {DOWN:.0f} s: 1,000 of 1,000 came within {took:.0f} s, in order of their conversations, {len(server.got) - 1000} again after a 500, "
            "each signature right")


if __name__ == "__main__":
    main()
