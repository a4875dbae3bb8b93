#!/usr/bin/env python3
"""Acceptance of sight, beyond what the list of routes asks: ids used twice, rooms that are taken over, the past, the end of tokens."""
import base64, json, os, subprocess, time, uuid
from node import ROOT, Client, Node, event, until
from access import Follower, quoted
from subscriptions import CHECKS, check, main

CHECKS.clear()
REFUSED = (401, 403, 429)  # 429: too many that did not count, from here


def seen(client, *paths):
    return b"\n".join(client.ask("GET", path)[1] for path in paths)


@check("17b one id at two nodes")
def twice():
    """Two users use one id at nodes that do not hear of each other; afterwards each gets their own, and no other's."""
    one, other = Node("k17", listen=True), Node("l17", listen=True)
    same = str(uuid.uuid4())
    hers = event("message.posted", "boram", "her-room", id=same, text="HERS")
    mine = event("message.posted", "alice", "my-room", id=same, text="MINE")
    Client(one).append([hers])
    Client(other).append([mine])
    other.join(one)
    boram, alice = one.token("u/boram", "user:boram"), one.token("u/alice", "user:alice")
    for at in (one, other):
        until(20, lambda: Client(at, alice).ask("GET", "/v1/me")[0] == 200 and Client(at).ask("GET", "/v1/conversations/my-room")[0] == 200
              and Client(at).ask("GET", "/v1/conversations/her-room")[0] == 200, "the nodes do not meet")
        for token, own, strange in ((alice, b"MINE", b"HERS"), (boram, b"HERS", b"MINE")):
            got = seen(Client(at, token), "/v1/events/" + same, "/v1/conversations/her-room/rows", "/v1/conversations/my-room/rows",
                       "/v1/users/alice/history", "/v1/users/boram/history", "/v1/changes?after=first&limit=100")
            assert strange not in got, (at.name, strange, got)
            assert own in got, (at.name, own, got)
            # Both events count, for they are no twins: who is shown one of them is shown their own.
            status, got = Client(at, token).ask("GET", "/v1/events/" + same)
            assert status == 200 and own in got, f"{at.name}: the own event is {status} under an id that another uses, too: {got[:200]}"
    one.stop(), other.stop()
    return "each reads their own at both nodes"


@check("17c rooms are not taken over")
def taken():
    node = Node("k17c")
    alice = node.token("u/alice", "user:alice")
    bot = node.token("b/own", "bot:own")
    Client(node).append([event("message.posted", "boram", "implicit", text="HERS"), event("bot.replied", "boram", "implicit", "medibot", text="HERS too"),
                         event("conversation.started", "boram", "listed", participants=["boram"]),
                         event("message.posted", "boram", "listed", text="HERS")])
    tries = 0
    for token, who, kind in ((alice, "alice", "message.posted"), (bot, "own", "bot.replied")):
        for room in ("implicit", "listed"):
            for line in (event("conversation.started", who, room, participants=[who], moderators=[who], history="all"),
                         event("participant.joined", who, room), event("participant.joined", who, room, user=who), event(kind, who, room, text="in"),
                         event("participant.joined", "boram", room, who, user=who), event("conversation.renamed", who, room, title="mine"),
                         event("survey.answered", who, room, survey="s", question="q", choice="a"), event("bot.replied", who, room, who, text="in"),
                         event("what.ever", who, room)):
                for query in ("", "?ids=derived", "?atomicity=each"):
                    # Together with a room of their own, too: the first line must not open the door for the second.
                    for body in (json.dumps(line), json.dumps(event(kind, who, "own-" + who, text="x")) + "\n" + json.dumps(line)):
                        status, got = Client(node, token).ask("POST", "/v1/events" + query, body)
                        refused = status == 403 or status == 207 and got.count(b'"E_AUTHOR"') == 1
                        assert refused and b"HERS" not in got, (who, room, line["type"], query, status, got)
                        tries += 1
        got = seen(Client(node, token), *[f"/v1/conversations/{room}/rows?limit=500" for room in ("implicit", "listed")], "/v1/changes?after=first&limit=1000")
        assert b"HERS" not in got, got
    # Nor by those who are in it: what says who moderates and who takes part comes first, or from a program.
    every = node.token("b/every", "bot:every", scope="all")
    for token, who in ((node.token("u/boram", "user:boram"), "boram"), (node.token("b/medibot", "bot:medibot"), "medibot"), (every, "every")):
        for query in ("", "?ids=derived", "?atomicity=each", "?expect=implicit:2"):
            line = event("conversation.started", who, "implicit", participants=[who, "alice"], moderators=[who], history="all")
            status, got = Client(node, token).ask("POST", "/v1/events" + query, line)
            assert status == 409 and b"E_BEGUN" in got, (who, query, status, got)
            tries += 1
    Client(node, node.token("b/medibot", "bot:medibot")).append([event("participant.joined", "medibot", "implicit", user="helper")])
    assert b"HERS" in seen(Client(node, node.token("u/boram", "user:boram")), "/v1/conversations/implicit/rows"), "who was there is out"
    assert Client(node, alice).ask("GET", "/v1/conversations/implicit/rows")[0] == 404
    # A retraction or edit in an own room of what stands in hers, and a room of one name in another form of Unicode.
    Client(node).append([event("message.posted", "boram", "카페", text="HERS")])
    status, got = Client(node, alice).ask("GET", "/v1/conversations/" + quoted("\u110f\u1161\u1111\u1166") + "/rows")
    assert b"HERS" not in got and status == 404, (status, got)
    rows = Client(node).json("GET", "/v1/conversations/implicit/rows?limit=500")[1]
    assert len(rows) == 4, rows
    node.stop()
    return f"{tries} tries by strangers and by those in it, all refused"


@check("18b the past of a room, for who came late and who left")
def late():
    node = Node("k18")
    alice, chul = node.token("u/alice", "user:alice"), node.token("u/chul", "user:chul")
    client = Client(node)
    old = [event("conversation.started", "boram", "c", participants=["boram", "alice"]), event("message.posted", "boram", "c", text="BEFORE")]
    client.append(old)
    time.sleep(1.2)
    between = client.json("GET", "/v1/events?limit=500")[1][-1]["position"]
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time()))
    time.sleep(1.2)
    client.append([event("participant.joined", "boram", "c", user="chul"), event("participant.left", "alice", "c"),
                   event("message.edited", "boram", "c", message=old[1]["id"], text="BEFORE, EDITED"),
                   # Told now, and said to have happened when he was not there, and when she still was.
                   event("message.posted", "boram", "c", text="BACKDATED") | {"time": moment},
                   event("message.posted", "boram", "c", text="AFTER")])
    at = [f"known_at={between}", f"known_at={moment}", f"as_of={moment}", f"as_of={moment}&known_at={between}", "since=2020-01-01T00:00:00Z",
          "until=2100-01-01T00:00:00Z", "order=oldest", "role=all", "type=message.posted&type=message.edited", "author=boram", "known_at=1", "known_at=100000"]
    for query in at:
        got = Client(node, chul).ask("GET", "/v1/conversations/c/rows?" + query)[1]
        # The edit came when he was there; what it edits did not.
        assert b'"BEFORE"' not in got, (query, got[-800:])
        got = Client(node, alice).ask("GET", "/v1/conversations/c/rows?" + query)[1]
        assert b"AFTER" not in got and b"EDITED" not in got and b"BACKDATED" not in got, (query, got[-800:])
    got = seen(Client(node, chul), "/v1/conversations/c/rows", "/v1/changes?after=first&limit=100")
    assert b"BACKDATED" in got and b"AFTER" in got, "what was recorded while he was there is his to read"
    for path in ("/v1/changes?after=first&limit=100", "/v1/events/" + old[1]["id"], "/v1/users/boram/history"):
        assert b'BEFORE"' not in Client(node, chul).ask("GET", path)[1], path
    node.stop()
    return f"{len(at)} ways to ask for the past: the recorded order decides"


def jwk(path):
    """The public half of an RSA key, as a key set has it."""
    text = subprocess.run(["openssl", "rsa", "-in", path, "-noout", "-modulus"], check=True, capture_output=True, text=True).stdout
    number = bytes.fromhex(text.strip().split("=")[1])
    return {"kty": "RSA", "kid": "r", "e": "AQAB", "n": base64.urlsafe_b64encode(number).rstrip(b"=").decode()}


def signed(path, **claims):
    part = lambda value: base64.urlsafe_b64encode(value).rstrip(b"=")
    message = part(json.dumps({"alg": "RS256", "kid": "r"}).encode()) + b"." + part(json.dumps({
        "iss": "https://id.example", "aud": "sillok", **claims}).encode())
    sign = subprocess.run(["openssl", "dgst", "-sha256", "-sign", path], input=message, check=True, capture_output=True).stdout
    return (message + b"." + part(sign)).decode()


@check("21b the end of a token by itself, and where it counts")
def ends():
    key, keys = os.path.join(ROOT, "idp.pem"), os.path.join(ROOT, "idp.json")
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    with open(keys, "w") as file:
        json.dump({"keys": [jwk(key)]}, file)
    provider = {"name": "idp", "issuer": "https://id.example", "audience": "sillok", "jwks_file": keys, "uid": "{sub}"}
    node = Node("k21", listen=True, settings={"api": {"jwt": [provider]}})
    other = Node("l21", listen=True, settings={"api": {"trust_grants": False}})
    third = Node("m21", listen=True)
    other.join(node), third.join(node)
    # Over after three seconds; a JWT that ends within its leeway of 60 seconds.
    short = node.token("u/short", "user:short", valid_s=3)
    jwt, over = signed(key, sub="kim", exp=int(time.time()) - 56), signed(key, sub="kim", exp=int(time.time()) - 62)
    status, got = Client(node, over).json("GET", "/v1/me")
    assert status == 401 and got["code"] == "E_TOKEN_EXPIRED", got
    start, told = time.time(), []
    until(2, lambda: Client(third, short).ask("GET", "/v1/me")[0] == 200, "the grant does not count at the third node")
    streams = [Follower(node, "/v1/changes", short), Follower(third, "/v1/changes", short), Follower(node, "/v1/changes", jwt, "text/event-stream")]
    until(12, lambda: all(one.ended for one in streams), f"{[bool(one.ended) for one in streams]} ended")
    told = [one.ended - start for one in streams]
    assert 1.5 <= told[0] <= 4.5 and 1.5 <= told[1] <= 4.5 and 2.5 <= told[2] <= 6, told
    assert [Client(at, short).ask("GET", "/v1/me")[0] for at in (node, third)] == [401, 401]
    status, got = Client(node, jwt).json("GET", "/v1/me")
    assert status == 401 and got["code"] == "E_TOKEN_EXPIRED", got
    # Where grants of others are not believed, and roles that count at one node alone: they stand in tokens of their own.
    status, got = Client(node).ask("POST", "/v1/credentials", {"principal": "a/both", "roles": ["operator", "reader"]})
    assert status == 400 and b"E_PARAMETER" in got, (status, got)
    app, admin, both = node.token("a/app", "app"), node.token("a/admin", "admin"), node.token("a/operator", "operator")
    until(5, lambda: Client(third, app).ask("GET", "/v1/me")[0] == 200, "a grant does not come")
    time.sleep(1)
    assert Client(other, app).ask("GET", "/v1/me")[0] in REFUSED, "trust_grants: false"
    assert Client(third, admin).ask("GET", "/v1/me")[0] in REFUSED, "admin counts elsewhere"
    status, me = Client(third, both).json("GET", "/v1/me")
    assert status in REFUSED or "operator" not in me["roles"], me
    for path in ("/v1/status", "/v1/peers", "/v1/credentials", "/v1/access"):
        for token in (admin, both):
            status, got = Client(third, token).ask("GET", path)
            assert status in REFUSED, (path, status, got)
    assert Client(node, admin).ask("GET", "/v1/credentials")[0] == 200
    # Only who may give tokens gives them, and no one gives more than a role has.
    for token in (app, node.token("a/op", "operator"), node.token("a/reader", "reader")):
        status, got = Client(node, token).ask("POST", "/v1/credentials", {"principal": "x", "roles": ["admin"]})
        assert status == 403, got
    local = other.token("a/local", "reader")
    assert Client(other, local).ask("GET", "/v1/me")[0] == 200
    name = local.split("_")[1]
    # What an administrator of another node takes back is over everywhere.
    status, got = Client(node).ask("DELETE", "/v1/credentials/" + app.split("_")[1])
    assert status == 204
    until(2, lambda: Client(third, app).ask("GET", "/v1/me")[0] in REFUSED, "counts at the third node")
    for at in (node, other, third):
        at.kill(), at.start()
        assert Client(at, app).ask("GET", "/v1/me")[0] in REFUSED, "counts again after a crash"
    assert Client(other, local).ask("GET", "/v1/me")[0] == 200, name
    for at in (node, other, third):
        at.stop()
    return f"streams end {told[0]:.1f} and {told[1]:.1f} s after a token of 3 s was given, {told[2]:.1f} s with a JWT of 4 s; grants count where they should"


if __name__ == "__main__":
    main()
