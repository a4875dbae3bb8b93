"""What the stores hold: events whose owners are skewed as those of a chat service are, and some that are the same fifty at every size."""

import bisect
import itertools
import json
import os
import random
import uuid

from comparison.processes import run
from peers.postgres.server import Postgres

EPOCH = 1_767_225_600_000
"""Unix milliseconds of the first event: 2026-01-01. One event a second."""
USERS, CONVERSATIONS = 10_000, 50_000
HEAVY_SHARE, BIG_SHARE = 0.075, 0.064
FIFTY = 50
SYLLABLES = [chr(code) for code in range(0xAC00, 0xAC00 + 11_172, 37)]

SCHEMA = """
CREATE TABLE event(
  position bigint PRIMARY KEY, origin smallint NOT NULL, id uuid NOT NULL, type text NOT NULL, "user" text NOT NULL,
  conversation text NOT NULL, author text NOT NULL, time bigint NOT NULL, payload text NOT NULL
);
"""
INDEXES = """
CREATE UNIQUE INDEX event_dot ON event(origin, position);
CREATE UNIQUE INDEX event_id ON event(id);
CREATE INDEX event_user ON event("user", time, position);
CREATE INDEX event_conversation ON event(conversation, time, position);
VACUUM ANALYZE event;
"""


def zipf(count):
    """Cumulative weights of Zipf's law with s = 1."""
    return list(itertools.accumulate(1 / rank for rank in range(1, count + 1)))


class Events:
    """`count` events; the same for the same count."""

    def __init__(self, count):
        self.count, self.random = count, random.Random(count)
        self.users, self.conversations = zipf(USERS), zipf(CONVERSATIONS)
        words = random.Random(1)
        self.words = ["".join(words.choices(SYLLABLES, k=words.randint(1, 4))) for _ in range(2_000)]

    def pick(self, weights):
        return bisect.bisect(weights, self.random.random() * weights[-1])

    def __iter__(self):
        """(id, type, user, conversation, author, Unix milliseconds, payload)"""
        rarely, posted = self.count // FIFTY, []
        for number in range(self.count):
            event = bytearray(self.random.randbytes(16))
            event[6], event[8] = event[6] & 0x0F | 0x40, event[8] & 0x3F | 0x80
            id = str(uuid.UUID(bytes=bytes(event)))
            share = self.random.random()
            user = "u-heavy" if share < HEAVY_SHARE else f"u-{self.pick(self.users):05}"
            conversation = "c-big" if self.random.random() < BIG_SHARE else f"c-{self.pick(self.conversations):05}"
            kind, author, payload = "message.posted", user, {"text": " ".join(self.random.choices(self.words, k=28))}
            place = number % rarely
            if place == 1:
                user = author = "u-fifty"
                conversation = "c-fifty"
            elif place == 2:
                kind, user, author, payload = "profile.changed", "u-heavy", "u-heavy", {"fields": {"name": f"이름 {number}"}}
            elif place == 3:
                kind, payload = "survey.answered", {"survey": "s", "question": "q", "rating": number % 5 + 1}
                user = author = "u-heavy"
            elif place == 4:
                user, author, conversation = "u-heavy", "bot-rare", "c-big"
            elif posted and share > 0.94:
                target, user, conversation = posted[int(self.random.random() * len(posted))]
                author = user
                kind = "message.edited" if share < 0.98 else "message.retracted"
                payload = {"message": target} | ({"text": payload["text"]} if share < 0.98 else {})
            else:
                posted.append((id, user, conversation))
                del posted[:-10_000]
            yield id, kind, user, conversation, author, EPOCH + number * 1_000, json.dumps(payload, ensure_ascii=False)


def rfc3339(milliseconds):
    import datetime

    return datetime.datetime.fromtimestamp(milliseconds / 1_000, datetime.timezone.utc).isoformat().replace("+00:00", "Z")


def write_lines(path, events):
    """A file for `syncctl import`; events without an id get one there."""
    with open(path, "w", encoding="utf-8") as file:
        for id, kind, user, conversation, author, time, payload in events:
            name = f'"id":"{id}",' if id else ""
            file.write(f'{{{name}"type":"{kind}","user":"{user}","subject":"conversation/{conversation}","author":"{author}",'
                       f'"time":"{rfc3339(time)}","data":{payload}}}\n')


def fill_sillok(syncctl, folder, count):
    """A store at rest, made by `syncctl import`."""
    run(syncctl, "--store", folder, "init", "--name", "bench")
    lines = folder + ".ndjson"
    write_lines(lines, Events(count))
    try:
        run(syncctl, "--store", folder, "import", lines, "--quiet")
    finally:
        os.unlink(lines)


def fill_postgres(folder, count):
    Postgres.create(folder)
    rows = folder + ".tsv"
    with open(rows, "w", encoding="utf-8") as file:
        for number, (id, kind, user, conversation, author, time, payload) in enumerate(Events(count), 1):
            text = payload.replace("\\", "\\\\")
            file.write(f"{number}\t1\t{id}\t{kind}\t{user}\t{conversation}\t{author}\t{time}\t{text}\n")
    os.chmod(rows, 0o644)
    try:
        with Postgres(folder) as server:
            server.query("DROP TABLE event")
            server.query(SCHEMA)
            run("psql", "-Xq", "-d", server.where, "-v", "ON_ERROR_STOP=1", "-c", f"\\copy event FROM '{rows}'")
            for line in INDEXES.strip().splitlines():
                server.query(line)
            server.query("CHECKPOINT")
    finally:
        os.unlink(rows)
