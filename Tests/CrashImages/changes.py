"""A store that is changed as a whole: an erasure, the upgrade of an earlier version's store, backups and a restore.

Each has a part before (what is durable when it begins), the change itself, and what must be true wherever it ended.
"""

import glob
import json
import os
import shutil
import sqlite3
import time
import types
import uuid

import disk
from check import Findings, check_image
from programs import PROJECT, Client, Daemon, Ended, Event

GOLDEN = os.path.join(PROJECT, "Tests", "EventStoreTests", "Log", "Golden")
# The version that today's programs write; of the earlier ones a store was kept.
LOG_VERSION = 3


def golden_versions():
    """The versions of kept stores that today's programs upgrade, oldest first."""
    found = [int(path.rsplit("-", 1)[1]) for path in glob.glob(os.path.join(GOLDEN, "version-*"))]
    return sorted(version for version in found if version < LOG_VERSION)


def succeeded(r, *arguments, stdin=b""):
    """What syncctl prints, recorded."""
    code, out, error = r.programs.control(r.store, *arguments, environment=r.environment(), stdin=stdin)
    if code:
        raise Ended(f"syncctl {' '.join(arguments)}: {code} {error}")
    return out


# Erasure


class Secret(Event):
    """An event that is erased: its payload has bytes that stand nowhere else."""

    def __init__(self, chance, sentinel, kind):
        super().__init__(chance, 40)
        self.user, self.kind = "u-gone", kind
        words = f"{sentinel} {chance.randbytes(12).hex()}"
        self.payload = '{"fields":{"about":"%s"}}' % words if kind == "profile.changed" else '{"text":"%s"}' % words

    def line(self):
        return super().line().replace('"message.posted"', f'"{self.kind}"')


def before_erasure(r):
    """A store in which a user's words stand in log, profile and search, and a plan for their erasure."""
    r.make_store()
    sentinel = r.chance.randbytes(12).hex()
    daemon = r.unrecorded("before")
    with Client(daemon) as client:
        for _ in range(4):
            r.append(client, count=25)
            secrets = [Secret(r.chance, sentinel, kind) for kind in ("message.posted", "message.posted", "profile.changed")]
            r.events.update({event.id: event for event in secrets})
            r.append_again(client, secrets)
    daemon.stop()
    plan = os.path.join(r.folder, "plan")
    who = ("--authored", "erase", "--replies", "keep", "--reason", "request 88", "--who", "kim", "--plan", plan)
    code, _, error = r.programs.control(r.store, "erase", "user", "u-gone", *who, environment=r.quiet_environment())
    if code:
        raise Ended(f"erase --plan: {code} {error}")
    with open(plan) as file:
        r.kept = {"sentinel": sentinel, "plan": file.read(), "through_daemon": r.chance.random() < 0.5}
    r.begin()
    r.mark_acknowledged(list(r.events.values()))


def erase(r):
    """The plan is confirmed, through a daemon or without one."""
    daemon = r.daemon() if r.kept["through_daemon"] else None
    if daemon:
        r.start = r.records_so_far()
    succeeded(r, "erase", "user", "u-gone", "--confirm", os.path.join(r.folder, "plan"))
    disk.mark(r.path, b"erased")
    daemon = daemon or r.daemon()
    with Client(daemon) as client:
        for _ in range(6):
            r.append(client)
    daemon.kill() if r.chance.random() < 0.5 else daemon.stop()


def bytes_in(folder, text):
    """The names of files below a folder that have these bytes."""
    found = []
    for at, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(at, name)
            if os.path.isfile(path) and not name.endswith("-shm"):
                with open(path, "rb") as file:
                    if text.encode() in file.read():
                        found.append(os.path.relpath(path, folder))
    return sorted(found)


def check_erasure(r, image, acknowledged, folder, seed, told=()):
    """It is erased, or can be confirmed again; when it is told as done no byte is left (INV-11)."""
    sentinel, is_told = r.kept["sentinel"], "erased" in told
    erased = {i for i, event in r.events.items() if sentinel in event.payload}
    early = Findings()

    def at_rest():
        left = bytes_in(r.root, sentinel) if is_told else []
        if left:
            early.problem("half", f"told as erased, and its bytes are in {', '.join(left)}")

    def running(client, environment, findings):
        plan = os.path.join(folder, "plan")
        with open(plan, "w") as file:
            file.write(r.kept["plan"])
        states = lambda: [line["state"] for line in _lines(r, "erase", "status", environment=environment) if line["type"] == "erasure"]
        if not states():
            if is_told:
                findings.problem("lost", "the erasure that was told as done")
            code, out, error = r.programs.control(r.store, "erase", "user", "u-gone", "--confirm", plan, environment=environment)
            if code:
                return findings.problem("half", f"the plan cannot be confirmed again: {code} {(out + error).strip()[-400:]}")
        end = time.monotonic() + 60
        while states() != ["applied"]:
            if time.monotonic() > end:
                return findings.problem("half", f"it does not go on: {states()}")
            time.sleep(0.02)

    findings = check_image(r, image, acknowledged, folder, seed, told, at_rest=at_rest, running=running, erased=erased)
    findings.problems += early.problems
    left = bytes_in(r.root, sentinel)
    if left and not findings.problems:
        findings.problem("half", f"erased, and its bytes are in {', '.join(left)}")
    return findings


def _lines(r, *arguments, environment=None):
    code, out, error = r.programs.control(r.store, *arguments, "--json", environment=environment)
    if code not in (0, 1, 2):
        raise Ended(f"{arguments}: {code} {error}")
    return [json.loads(line) for line in out.splitlines()]


# Upgrade


def before_upgrade(r, version=None):
    """A store that a release of an earlier version has left."""
    version = version or r.chance.choice(golden_versions())
    shutil.copytree(os.path.join(GOLDEN, f"version-{version}"), r.store)
    for name in os.listdir(r.store):
        if name.endswith((".txt", ".ndjson", ".receipt", ".proof")):
            os.unlink(os.path.join(r.store, name))
    os.chmod(r.store, 0o700)
    log = sqlite3.connect(f"file:{r.store}/log.db?mode=ro&immutable=1", uri=True)
    for identifier, payload in log.execute("SELECT id, payload FROM event"):
        r.events[str(uuid.UUID(bytes=identifier))] = types.SimpleNamespace(id=str(uuid.UUID(bytes=identifier)), payload=payload)
    r.settings["name"] = log.execute("SELECT value FROM meta WHERE key = 'name'").fetchone()[0]
    r.settings["cluster"] = log.execute("SELECT value FROM meta WHERE key = 'cluster'").fetchone()[0]
    log.close()
    r.begin()
    r.mark_acknowledged(list(r.events.values()))


def upgrade(r):
    """A daemon is started on it, and some is appended."""
    daemon = r.daemon()
    with Client(daemon) as client:
        for _ in range(4):
            r.append(client)
    daemon.kill() if r.chance.random() < 0.5 else daemon.stop()


def check_upgrade(r, image, acknowledged, folder, seed, told=()):
    findings = check_image(r, image, acknowledged, folder, seed, told)
    log = sqlite3.connect(f"file:{r.store}/log.db?mode=ro", uri=True)
    version = log.execute("PRAGMA user_version").fetchone()[0]
    log.close()
    if version != LOG_VERSION and not findings.problems:
        findings.problem("half", f"the log is of version {version}")
    return findings


# Backups


def before_backups(r):
    r.make_store()


def backups(r):
    """Three backups of a growing store, a pruning and a restore; after each it is marked that it was told."""
    repository, restored = _places(r)
    for _ in range(3):
        lines = "".join(Event(r.chance).line() + "\n" for _ in range(300)).encode()
        succeeded(r, "append", "-", stdin=lines)
        made = json.loads(succeeded(r, "backup", "create", repository, "--json").splitlines()[0])["id"]
        disk.mark(r.path, b"made " + made.encode())
    succeeded(r, "backup", "prune", repository, "--keep", "2")
    disk.mark(r.path, b"pruned")
    succeeded(r, "backup", "restore", repository, "--into", restored)
    disk.mark(r.path, b"restored")


def _places(r):
    return os.path.join(r.root, "repository"), os.path.join(r.root, "restored")


def check_backups(r, image, _, folder, seed, told=()):
    """What was told as made is whole, and nothing half is taken for one (INV-1)."""
    findings, (repository, restored) = Findings(), _places(r)
    control = lambda store, *arguments: r.programs.control(store, *arguments)
    disk.materialise(image, r.root, r.root, r.chance)
    made = [text.split()[1] for text in told if text.startswith("made ")]
    is_there = os.path.exists(repository + "/repository.json")
    if is_there or made:
        code, out, error = control(r.store, "backup", "verify", repository, "--json")
        lines = [json.loads(line) for line in out.splitlines()]
        proven = {line["id"] for line in lines if line["type"] == "proven"}
        # The first may be on its way out.
        missing = set(made[1:] if len(made) == 3 else made) - proven
        if missing:
            findings.problem("lost", f"{len(missing)} of {len(made)} backups: {out} {error}")
        # Of a run that was broken off there may be segments that no backup names yet.
        is_unnamed = code == 2 and lines and lines[-1]["findings"] == 0 and lines[-1]["unnamed"] > 0
        if code not in (0, 1) and not is_unnamed:
            findings.problem("verify", f"exit {code}: {out} {error}")
    if "restored" in told and not os.path.exists(restored):
        findings.problem("lost", "the restored store")
    if os.path.exists(restored):
        code, out, error = control(restored, "verify")
        if code not in (0, 2):
            findings.problem("half", f"the restored store: exit {code}: {out} {error}")
    # And both go on.
    if seed % 5 == 0 and is_there:
        shutil.rmtree(restored, ignore_errors=True)
        for arguments in [("restore", repository, "--into", restored)] * bool(made) + [("prune", repository)]:
            code, out, error = control(r.store, "backup", *arguments)
            if code:
                findings.problem("other", f"backup {arguments[0]}: exit {code}: {out} {error}")
    return findings


def changed(before, change):
    """A scenario of both."""

    def run(r):
        before(r)
        change(r)

    run.__doc__ = change.__doc__
    return run


CHANGES = {
    "erasure": (before_erasure, erase, check_erasure),
    "upgrade": (before_upgrade, upgrade, check_upgrade),
    "backups": (before_backups, backups, check_backups),
}
