"""Makes the kept set of today's formats, for ever to be read: a store with what lies beside it, exports, evidence, a receipt, a proven answer.

    python3 Tests/Reliability/golden.py --programs .build/release --into Tests/EventStoreTests/Log/Golden/version-N

A set is made once, by the release whose formats it keeps, and never changed. Versions 1 and 2 were made by the builds of those versions.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "CrashImages"))

from programs import Client, Daemon, Ended, Programs, free_port  # noqa: E402

KINDS = [("message.posted", "말 {}"), ("message.posted", "두통이 있어요 👩‍⚕️ {}"), ("bot.replied", "답 {}")]


def identifier(number):
    return f"0198e2c4-77aa-7c01-8b1e-{number:012x}"


def lines():
    """NDJSON with an event of each kind that views read."""

    def line(number, kind, user, data, **more):
        head = {"id": identifier(number), "type": kind, "time": f"2026-08-01T02:{number:02}:00Z", "subject": f"conversation/c-{number % 3 if number < 23 else 0}"}
        return json.dumps({**head, "user": user, **more, "data": data}, ensure_ascii=False)

    for number in range(1, 21):
        kind, text = KINDS[number % 3]
        more = {"author": "bot"} if kind == "bot.replied" else {}
        yield line(number, kind, f"u-{number % 2}", {"text": text.format(number)}, **more)
    yield line(21, "survey.answered", "u-1", {"survey": "s", "question": "q", "choice": "네"})
    yield line(22, "profile.changed", "u-1", {"fields": {"name": "김"}})
    yield line(23, "message.edited", "u-0", {"text": "고친 말"}, cause=identifier(6))
    yield line(24, "message.retracted", "u-1", {}, cause=identifier(3))
    yield line(25, "note.kept", "u-0", {"deep": [1, 2.5e10, {"ㄱ": None}], "n": 12345678901234567890}, dataversion=3)


def make(programs, into):
    folder = tempfile.mkdtemp(prefix="golden-")
    try:
        _make(programs, folder, into)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _make(programs, folder, into):
    store, other = os.path.join(folder, "store"), os.path.join(folder, "other")
    start = lambda name, at: Daemon(
        programs, at, os.path.join(folder, name), name=name, cluster="golden", witness=None, listen=f"127.0.0.1:{free_port()}"
    ).ready()
    daemons = [start("golden", store), start("golden-2", other)]

    def control(*arguments, of=store, stdin=b"", allowed=(0,)):
        code, out, error = programs.control(of, *arguments, stdin=stdin)
        if code not in allowed:
            raise Ended(f"syncctl {' '.join(arguments)}: {code} {error}")
        return out

    def request(method, path, body):
        with Client(daemons[0]) as client:
            status, text = client.request(method, path, json.dumps(body).encode())
        if status not in (200, 201):
            raise Ended(f"{method} {path}: {status} {text}")
        return text

    try:
        control("append", "-", stdin="".join(line + "\n" for line in lines()).encode())
        picture = os.path.join(folder, "picture.png")
        with open(picture, "wb") as file:
            file.write(b"\x89PNG\r\n\x1a\n" + bytes(range(200)))
        digest = re.search("[0-9a-f]{64}", control("attachment", "put", picture, "--json"))[0]
        item = {"sha256": digest, "bytes": 208, "mediaType": "image/png", "alt": "고양이"}
        control("append", "--user", "u-1", "--conversation", "c-1", "--type", "message.posted", "--data",
                json.dumps({"text": "사진", "attachments": [item]}, ensure_ascii=False))
        request("PUT", "/v1/subscriptions/golden", {"start": "first", "filter": {"type": ["message.posted"]}})
        taken = json.loads(request("POST", "/v1/subscriptions/golden/pull", {"max": 3}))["deliveries"]
        request("POST", "/v1/subscriptions/golden/ack", {"deliveries": [one["delivery"] for one in taken[:2]]})
        control("peers", "join", control("peers", "invite", of=other).strip())
        control("append", "--user", "u-2", "--conversation", "c-1", "--text", "부산", of=other)
        plan = os.path.join(folder, "plan")
        control("erase", "events", identifier(7), "--reason", "request 1", "--who", "kim", "--plan", plan)
        control("erase", "events", identifier(7), "--confirm", plan)
        control("receipt", "--wait", "1", "--timeout", "60s", "--out", os.path.join(folder, "today.receipt"))
        kept = {
            "u-1.proof": control("history", "u-1", "--proof"),
            "export.ndjson": control("export"),
            "digests.txt": control("digest", "--search"),
        }
    finally:
        for daemon in daemons:
            daemon.stop()
    kept["evidence.ndjson"] = control("export", "--evidence")
    os.makedirs(into)
    for name in ("log.db", "log.end", "mark.json", "node.key", "peers.json", "subs.db", "cosigned.db"):
        if os.path.exists(wal := os.path.join(store, name + "-wal")) and os.path.getsize(wal):
            raise Ended(f"{wal} is not empty")
        shutil.copy(os.path.join(store, name), into)
    shutil.copytree(os.path.join(store, "attachments"), os.path.join(into, "attachments"), ignore=shutil.ignore_patterns("index.db*", "incoming"))
    shutil.copy(os.path.join(folder, "today.receipt"), into)
    for name, text in kept.items():
        with open(os.path.join(into, name), "w") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=".build/release")
    parser.add_argument("--into", required=True)
    options = parser.parse_args()
    make(Programs(os.path.abspath(options.programs), None), options.into)


if __name__ == "__main__":
    main()
