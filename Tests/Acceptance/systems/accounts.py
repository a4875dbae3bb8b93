#!/usr/bin/env python3
"""Accounts of Dr.Bot and LMessenger, at an identity provider (issuer.py): sign up, sign in, reset, sign out; a node believes its tokens alone.

Sillok keeps no password. The provider is a process of this test with a file of keys; both nodes know it by that file.
"""
import statistics, urllib.error, urllib.request
from issuer import Issuer, TEXTS, part
from system import *

IS_TIMED = os.environ.get("P50") != "0"
ADDRESS, PASSWORD, OTHER = "Boram.Kim@drbot.example", "열려라 참깨 1234", "닫혀라 참깨 5678"


def asked(issuer, path, language="ko", **body):
    request = urllib.request.Request(issuer.issuer + path, json.dumps(body).encode(), {"Accept-Language": language, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            status, data = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, data = error.code, error.read()
    return status, json.loads(data) if data else {}


def told(issuer, path, what, **body):
    """Status, code and text in both languages."""
    status, korean, english = TEXTS[what]
    code = {"code": what} if what.startswith("E_") else {}
    for language, text in (("ko", korean), ("en-GB", english)):
        yield asked(issuer, path, language, **body), (status, {"text": text, **code})


def texts(row, issuer, path, what, **body):
    for got, wanted in told(issuer, path, what, **body):
        check(f"{row}: {wanted[0]} {wanted[1]['text']}", got, wanted)


def me(node, token, place="127.0.0.1"):
    """Who a node takes the holder for, or the code of its refusal. `place`: too many wrong tokens of one place are not looked at."""
    status, line = Client(node, token, place).json("GET", "/v1/me")
    return line["actor"] if status == 200 else (status, line["code"])


def main():
    issuer = Issuer(os.path.join(ROOT, "issuer")).serve()
    a, b = Node("a", listen=True, tcp=True, settings=issuer.settings()), Node("b", tcp=True, settings=issuer.settings())
    NODES.extend((a, b))
    b.join(a)
    settle(a, b)

    # Sign up
    for address in ("", "boram", "boram@", "@drbot.example", "bo ram@drbot.example", "boram@drbot"):
        check(f"S0-20: {address!r} is no address", asked(issuer, "/sign-up", address=address, password=PASSWORD)[1].get("code"), "E_EMAIL_INVALID")
    texts("S0-20", issuer, "/sign-up", "E_EMAIL_INVALID", address="boram", password=PASSWORD)
    texts("S0-20", issuer, "/sign-up", "E_PASSWORD_WEAK", address=ADDRESS, password="12345")
    check("S0-19: the account is made, and the notice says so", asked(issuer, "/sign-up", address=ADDRESS, password=PASSWORD),
          (201, {"text": "회원가입이 완료되었습니다."}))
    texts("S0-20", issuer, "/sign-up", "E_EMAIL_USED", address=" boram.kim@DRBOT.example", password=OTHER)

    # Sign in
    texts("S0-21", issuer, "/sign-in", "E_CREDENTIALS", address=ADDRESS, password=OTHER)
    texts("S0-21", issuer, "/sign-in", "E_CREDENTIALS", address="none@drbot.example", password=PASSWORD)
    took = {"known": [], "unknown": []}
    for turn in range(100 if IS_TIMED else 5):
        for name, address in sorted({"known": ADDRESS, "unknown": "none@drbot.example"}.items(), reverse=turn % 2):
            began = time.monotonic()
            asked(issuer, "/sign-in", address=address, password=OTHER)
            took[name].append((time.monotonic() - began) * 1000)
    apart = abs(statistics.median(took["known"]) - statistics.median(took["unknown"]))
    check(f"S0-21: neither answer tells who has an account by its time: medians {apart:.1f} ms apart", not IS_TIMED or apart < 10 or apart)
    status, first = asked(issuer, "/sign-in", address=ADDRESS, password=PASSWORD)
    check("BE-001b: id and password let in", (status, sorted(first)), (200, ["expires_in", "id_token", "refresh_token", "token_type"]))
    user = next(iter(issuer.accounts.values()))["subject"]

    # What a node makes of it
    for node in (a, b):
        check(f"S2-1: {node.name} takes the holder for the provider's user", me(node, first["id_token"]), f"JWT:{user}:idp")
    line = event("message.posted", user, "room", text="로그인했어요")
    Client(a, first["id_token"], "127.0.0.1").append([line])
    settle(a, b)
    seen = wait("the message is read at the other node", 10, lambda: Client(b, first["id_token"], "127.0.0.1").json("GET", f"/v1/users/{user}/history"),
                lambda got: got[0] == 200 and isinstance(got[1], list))[1]
    check("S2-1: what is written says who signed in", (seen[0]["event"]["id"], seen[0]["event"]["actor"]), (line["id"], f"JWT:{user}:idp"))
    status, got = Client(a, first["id_token"], "127.0.0.1").json("POST", "/v1/events", event("message.posted", "u-other", text="x"))
    check("S2-1: and may not write as another", (status, got[0]["code"]), (403, "E_AUTHOR"))
    stranger = Issuer(os.path.join(ROOT, "stranger"))
    none = part(b'{"alg":"none"}') + "." + part(json.dumps({"iss": issuer.issuer, "aud": "sillok", "sub": user, "exp": int(time.time()) + 300}).encode()) + "."
    bad = {"for another audience": issuer.token(user, aud="other"), "of another issuer": issuer.token(user, iss="http://other"),
           "signed with another's key": issuer.token(user, key=stranger.key), "without a signature": none,
           "that was changed": first["id_token"][:-8] + "AAAAAAAA", "that no one signed in for": ""}
    for at, (name, token) in enumerate(bad.items()):
        check(f"S2-1: a token {name} is refused", me(a, token or "x", f"127.0.3.{at + 1}"), (401, "E_UNAUTHENTICATED"))
    check("S2-1: a token that is over is refused", me(a, issuer.token(user, exp=int(time.time()) - 61), "127.0.3.9"), (401, "E_TOKEN_EXPIRED"))

    # The sign-in outlives a start of the node and of the provider
    issuer.stop()
    again = Issuer(os.path.join(ROOT, "issuer")).serve(int(issuer.issuer.rsplit(":", 1)[1]))
    a.stop(), a.start()
    status, second = asked(again, "/token", refresh_token=first["refresh_token"])
    check("S2-1: after a start of node and provider the old token counts, and a new one is had without a password",
          (status, me(a, first["id_token"]), me(a, second["id_token"])), (200, f"JWT:{user}:idp", f"JWT:{user}:idp"))

    # Reset
    texts("S0-22", again, "/reset", "mailed", address="none@drbot.example")
    check("S0-22: whose address it is not gets no mail", again.mail, [])
    asked(again, "/reset", address=ADDRESS)
    [(address, code)] = again.mail
    texts("S0-22", again, "/reset/" + code, "E_PASSWORD_WEAK", password="123")
    texts("S0-22", again, "/reset/" + code + "x", "E_CODE", password=OTHER)
    check("S0-22: the code of the mail sets a new password", asked(again, "/reset/" + code, password=OTHER), (200, {"text": "비밀번호가 변경되었습니다."}))
    texts("S0-22", again, "/reset/" + code, "E_CODE", password=PASSWORD)
    asked(again, "/reset", address=ADDRESS)
    again.now = lambda: time.time() + 901
    texts("S0-22", again, "/reset/" + again.mail[-1][1], "E_CODE", password=PASSWORD)
    again.now = time.time
    check("S0-22: the old password counts no more", asked(again, "/sign-in", address=ADDRESS, password=PASSWORD)[0], 401)
    check("S0-22: nor does what was signed in with it", asked(again, "/token", refresh_token=first["refresh_token"])[0], 401)

    # Sign out. Tokens are short: what was given before it is over by itself.
    again.life = -53  # and 60 s for clocks that are apart: seven seconds
    status, third = asked(again, "/sign-in", address=ADDRESS, password=OTHER)
    check("S2-1: signed in with the new password, as the same user", (status, me(a, third["id_token"])), (200, f"JWT:{user}:idp"))
    follower = Connection(a.socket, timeout=20)
    follower.request("GET", "/v1/changes", headers={"Accept": "application/x-ndjson", "Authorization": "Bearer " + third["id_token"]})
    stream = follower.getresponse()
    session = Client(a, third["id_token"], "127.0.0.1")
    session.connection = Connection(a.api)
    session.connection.request("POST", "/v1/sessions", headers={"Authorization": "Bearer " + third["id_token"]})
    answer = session.connection.getresponse()
    answer.read()
    cookie = {"Cookie": answer.getheader("Set-Cookie").split(";")[0], "Sec-Fetch-Site": "same-origin"}
    check("S2-1: a browser has it as a session", Client(a).json("GET", "/v1/me", headers=cookie)[1]["actor"], f"JWT:{user}:idp")
    check("S2-1: signing out ends the session at once", (Client(a).ask("DELETE", "/v1/sessions", headers=cookie)[0],
                                                        Client(a).ask("GET", "/v1/me", headers=cookie)[0]), (204, 401))
    check("S2-1: and gives no further token", (asked(again, "/sign-out", refresh_token=third["refresh_token"])[0],
                                              *asked(again, "/token", "en", refresh_token=third["refresh_token"])),
          (204, 401, {"text": "Please sign in again.", "code": "E_SESSION"}))
    ended = wait("the token ends by itself", 20, lambda: me(a, third["id_token"], "127.0.4.1"), lambda got: got != f"JWT:{user}:idp")
    check("S2-1: the token that was out is refused soon", ended, (401, "E_TOKEN_EXPIRED"))
    began = time.monotonic()
    last = [json.loads(one) for one in stream.read().splitlines() if one.strip()][-1]
    check("S2-1: and its stream has ended", (last["control"], time.monotonic() - began < 5), ("closing", True))

    proven(a, b)
    words = [word.encode() for word in (PASSWORD, OTHER, ADDRESS, ADDRESS.lower(), first["refresh_token"], first["id_token"].rsplit(".", 1)[1])]
    own = os.path.join(ROOT, "issuer")
    leaks = [(path, word) for path, data in files(ROOT) for word in words if word in data and not (path.startswith(own) and word == words[3])]
    check("BE-001b: neither password, address nor token is in a store, a log or, but for the address, in the provider's files", leaks, [])
    again.stop()


run(main)
