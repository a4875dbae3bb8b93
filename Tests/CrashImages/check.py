"""What must be true of every image."""

import os
import random
import shutil
import sqlite3
import time
import uuid

import disk
from programs import Client, Daemon, Ended, Event

VERIFIED, NOT_COVERED, CONTRADICTED = 0, 2, 3
COUNTS = ("lost", "doubled", "half", "not started", "verify", "digest", "other")


class Findings:
    def __init__(self):
        self.problems = []  # (one of COUNTS, text)
        self.new_origins = 0
        self.not_covered = 0

    def problem(self, kind, text):
        self.problems.append((kind, text))


def rows(store):
    """[(position, id, payload)] and the count of this node's origins, read with SQLite from the published columns."""
    database = sqlite3.connect(f"file:{os.path.join(store, 'log.db')}?mode=ro", uri=True)
    try:
        events = database.execute("SELECT position, id, payload FROM event ORDER BY position").fetchall()
        origins = database.execute("SELECT count(*) FROM event e JOIN name n ON n.ref = e.type WHERE n.text = 'origin.started'").fetchone()[0]
        return events, origins
    finally:
        database.close()


def check_image(recording, image, acknowledged, folder, seed, told=(), at_rest=None, running=None, erased=frozenset()):
    """Starts the programs on an image; returns what is wrong with it. `acknowledged`: ids whose answer was sent; `told`: what else was.
    `folder` is for what is not part of the image. `at_rest` and `running` look at what a scenario promises; `erased` may lack payloads."""
    chance = random.Random(seed)
    findings = Findings()
    programs = recording.programs
    root, store = recording.root, recording.store
    inodes = disk.materialise(image, recording.root, root, chance)
    boot_id = os.path.join(folder, "boot_id")
    with open(boot_id, "w") as file:
        file.write(recording.boot_after + "\n")
    environment = programs.preloaded(
        root, inodes=",".join(f"{real}:{recording.shown_inode(was)}" for real, was in inodes), boot_id=boot_id
    )
    if at_rest:
        at_rest()
    verified = lambda when, allowed, besides=None: _verify(findings, programs, store, environment, when, allowed, besides)
    if os.path.exists(os.path.join(store, "log.db")) and chance.random() < 0.33:
        verified("at rest", (VERIFIED, NOT_COVERED))
    daemon = Daemon(programs, store, os.path.join(folder, "run"), environment, **recording.settings)
    added = Event(chance, 40)
    try:
        daemon.ready()
        with Client(daemon) as client:
            _append(client, added, findings)
            if running:
                running(client, environment, findings)
        code = daemon.stop()
        if code:
            findings.problem("other", f"SIGTERM ended with {code}: {daemon.log().strip()[-4000:]}")
    except (Ended, OSError) as error:
        findings.problem("not started", str(error))
        return findings
    finally:
        daemon.kill()
    contents(findings, recording, store, acknowledged | {added.id: added.payload}, recording.origins_before, erased)
    # What an origin of a peer has signed besides comes when the peer is there again.
    verified("after an append", (VERIFIED,), besides="its node has signed")
    _digests(findings, programs, store, environment)
    return findings


def _append(client, event, findings):
    for _ in range(6000):
        status, ids = client.append([event])
        if status != 503:
            break
        time.sleep(0.01)
    if event.id not in ids:
        findings.problem("other", f"an append was not accepted: status {status}")


def _verify(findings, programs, store, environment, when, allowed, besides=None):
    """`besides`: what alone may be lacking where the answer is "not all covered"."""
    code, text, error = programs.control(store, "verify", environment=environment)
    findings.not_covered += code == NOT_COVERED
    lacking = [line for line in text.splitlines() if line.startswith("  not covered") and "compare the roots" not in line]
    if code == NOT_COVERED and besides and lacking and all(besides in line for line in lacking):
        return
    if code not in allowed:
        findings.problem("verify", f"{when}: exit {code}: {(text + error).strip()[-1200:]}")


def contents(findings, recording, store, acknowledged, origins_before, erased=frozenset()):
    try:
        events, origins = rows(store)
    except sqlite3.Error as error:
        findings.problem("other", f"log.db: {error}")
        return
    findings.new_origins = max(0, origins - origins_before)
    if [position for position, _, _ in events] != list(range(1, len(events) + 1)):
        findings.problem("other", "positions are not gapless from 1")
    stored = {}
    for _, identifier, payload in events:
        stored.setdefault(str(uuid.UUID(bytes=bytes(identifier))), []).append(payload)
    missing = [i for i in acknowledged if i not in stored]
    if missing:
        findings.problem("lost", f"{len(missing)} of {len(acknowledged)} acknowledged events, such as {missing[0]}")
    twice = [i for i, found in stored.items() if len(found) > 1]
    if twice:
        findings.problem("doubled", f"{len(twice)} ids, such as {twice[0]}")
    expected = {i: e.payload for i, e in recording.events.items()} | acknowledged
    expected |= {i: None for i in erased}
    changed = [i for i, found in stored.items() if i in expected and any(text != expected[i] for text in found)]
    if changed:
        findings.problem("other", f"{len(changed)} payloads are others, such as that of {changed[0]}")


def _digests(findings, programs, store, environment):
    first = programs.control(store, "digest", "--search", environment=environment)
    for name in os.listdir(store):
        if name.startswith("views."):
            path = os.path.join(store, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    second = programs.control(store, "digest", "--search", environment=environment)
    if first[0] or second[0]:
        findings.problem("digest", f"exit {first[0]} and {second[0]}: {(first[2] + second[2]).strip()[-400:]}")
    elif first[1] != second[1]:
        findings.problem("digest", f"views differ from rebuilt ones:\n{first[1]}{second[1]}")
