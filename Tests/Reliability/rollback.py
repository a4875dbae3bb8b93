"""A log that was cut, written anew or put back, against what others know of it: what each program says (INV-3, INV-4, INV-18).

Written from the documents alone: FORMATS.md, docs/operating/receipts.md, backup.md and trouble.md.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(PROJECT, "Tests", "CrashImages")]

from programs import Client, Daemon, Ended, Event, free_port  # noqa: E402
from rewriting import own_origin, rewritten, shortened  # noqa: E402

VERIFY = os.path.join(PROJECT, "Scripts", "verify.py")
REWRITTEN_AT = 4  # the position of the event that is written anew; of the node's own origin its seq, too


class World:
    """Two nodes that witness each other; the first is put back. What each file was at an earlier moment and at the last one."""

    def __init__(self, programs, folder, chance, has_witness):
        self.programs, self.folder, self.chance = programs, folder, chance
        self.store, self.witness = os.path.join(folder, "a", "store"), os.path.join(folder, "a", "store-witness")
        self.peer_store, self.peer_now = os.path.join(folder, "b", "store"), os.path.join(folder, "peer-now")
        self.settings = {} if has_witness else {"witness": None}
        self.then, self.now = os.path.join(folder, "then"), os.path.join(folder, "now")
        self.repository = os.path.join(folder, "repository")
        self.receipts = {name: os.path.join(folder, f"{name}.receipt") for name in ("early", "late")}
        self.runs, self.daemons = 0, []
        self.ports = free_port(), free_port()
        os.makedirs(os.path.dirname(self.store))
        os.makedirs(os.path.dirname(self.peer_store))
        self._make()

    def daemon(self, store=None, name="seoul"):
        """Of the first node, or of the store that is named."""
        self.runs += 1
        settings = self.settings if store is None else {"witness": None}
        port = self.ports[0 if store is None else 1]
        run = os.path.join(self.folder, f"run{self.runs}")
        daemon = Daemon(self.programs, store or self.store, run, name=name, listen=f"127.0.0.1:{port}", **settings)
        self.daemons.append(daemon)
        return daemon

    def control(self, store, *arguments):
        code, out, error = self.programs.control(store, *arguments)
        if code:
            raise Ended(f"syncctl {' '.join(arguments)}: exit {code}: {(error or out).strip()[-400:]}")
        return out

    def _make(self):
        a, b = self.daemon().ready(), self.daemon(self.peer_store, "busan").ready()
        # Before the nodes meet: at this position stands an event of the node's own.
        self._append(a, REWRITTEN_AT, holders=1)
        line = self.control(self.peer_store, "peers", "invite").strip()
        self.control(self.store, "peers", "join", line)
        self._append(a, 9 - REWRITTEN_AT)
        self._append(b, 2)
        self._append(a, 3)
        self.control(self.store, "receipt", "--wait", "1", "--timeout", "60s", "--out", self.receipts["early"])
        self.end()
        shutil.copytree(self.store, self.then, ignore=shutil.ignore_patterns("*.sock", "lock"))
        self.control(self.store, "backup", "create", self.repository)
        a, b = self.daemon().ready(), self.daemon(self.peer_store, "busan").ready()
        self._append(a, 8)
        self.control(self.store, "receipt", "--wait", "1", "--timeout", "60s", "--out", self.receipts["late"])
        self.end()
        for here, kept in ((os.path.dirname(self.store), self.now), (self.peer_store, self.peer_now)):
            shutil.copytree(here, kept, ignore=shutil.ignore_patterns("*.sock", "lock"))
        _, self.origin, self.size = own_origin(self.store)
        self.size_then = own_origin(self.then)[2]

    def _append(self, daemon, count, holders=2):
        with Client(daemon) as client:
            for _ in range(count):
                status, ids = client.append([Event(self.chance, 40)])
                if status != 200 or not ids:
                    raise Ended(f"an append was refused: {status}")
            if not client.wait(holders):
                raise Ended("the peer has not what was appended")

    def end(self):
        """SIGTERM to all; what must not go on is killed."""
        for daemon in self.daemons:
            daemon.stop()
        self.daemons = []

    def kill(self):
        for daemon in self.daemons:
            daemon.kill()
        self.daemons = []

    def reset(self):
        """Both nodes as they were at the last moment; files keep their inodes, so none is a copy."""
        self.kill()
        written_over(self.now, os.path.dirname(self.store))
        written_over(self.peer_now, self.peer_store)


def written_over(source, target):
    """Gives a folder the files of another one; those that are there keep their inodes, as on a disk that was rewound."""
    os.makedirs(target, exist_ok=True)
    wanted = {os.path.relpath(os.path.join(at, name), source) for at, _, names in os.walk(source) for name in names}
    for at, _, names in os.walk(target, topdown=False):
        for name in names:
            if os.path.relpath(os.path.join(at, name), target) not in wanted:
                os.unlink(os.path.join(at, name))
    for name in wanted:
        there = os.path.join(target, name)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        with open(os.path.join(source, name), "rb") as old, open(there, "r+b" if os.path.exists(there) else "wb") as new:
            new.write(old.read())
            new.truncate()
        shutil.copymode(os.path.join(source, name), there)


# What becomes of the log. Each takes the world after a reset.


def unchanged(_):
    """the control"""


def cut_without_key(world):
    """newest events deleted in SQLite; mark and log.end stay"""
    mark = _read(world, "mark.json")
    shortened(world.store, world.size_then)
    _write(world, "mark.json", mark)


def put_back_by_parts(world):
    """log and mark of before, everything else of now"""
    for name in ("log.db", "mark.json"):
        with open(os.path.join(world.then, name), "rb") as file:
            _write(world, name, file.read())


def cut_with_key(world):
    """newest events deleted, the mark signed anew with the node's key, log.end taken away"""
    shortened(world.store, world.size_then)
    os.unlink(os.path.join(world.store, "log.end"))


def written_anew(world):
    """a payload changed, tree, heads and mark signed anew with the node's key, log.end taken away"""
    rewritten(world.store, REWRITTEN_AT, '{"text":"never said"}')
    os.unlink(os.path.join(world.store, "log.end"))


def rewound(world):
    """the disk is what it was before, inodes included"""
    written_over(world.then, world.store)


def older_copy(world):
    """an older copy of the folder in its place"""
    shutil.rmtree(world.store)
    shutil.copytree(world.then, world.store)


def backup_restored(world):
    """a backup restored in its place"""
    shutil.rmtree(world.store)
    world.control(world.store, "backup", "restore", world.repository, "--into", world.store)


STATES = {
    "unchanged": unchanged,
    "shorter, without the key": cut_without_key,
    "log and mark put back": put_back_by_parts,
    "shorter, with the key": cut_with_key,
    "rewritten, with the key": written_anew,
    "rolled back in place": rewound,
    "an older copy": older_copy,
    "restored from a backup": backup_restored,
}

# What knows of the log as it was. `peer` is told with both daemons running.
REFERENCES = ("nothing else", "receipt", "witness", "cosignatures", "peer")


def _read(world, name):
    with open(os.path.join(world.store, name), "rb") as file:
        return file.read()


def _write(world, name, data):
    with open(os.path.join(world.store, name), "wb") as file:
        file.write(data)


def prepare(world, state, reference):
    world.reset()
    STATES[state](world)
    for name in os.listdir(world.store):
        if name.startswith("cosigned.db"):
            os.unlink(os.path.join(world.store, name))
    if reference == "cosignatures":
        shutil.copy(os.path.join(world.now, "store", "cosigned.db"), world.store)


class Said:
    """What a program has said: its exit code, and whether it names the origin and the first seq of which both do not say the same."""

    def __init__(self, code, text, world, first):
        self.code, self.text = code, text
        # A log that ends at seq 13 lacks the 14th.
        seqs = {int(found) for found in re.findall(r"(?:seqs? |/)(\d+)", text)}
        self.names = world.origin in text and bool(seqs & {first, first - 1})

    def cell(self):
        return f"{self.code}, named" if self.names else str(self.code)


def verify_py(store, *arguments):
    return subprocess.run([sys.executable, "-B", VERIFY, store, *arguments], capture_output=True, text=True, timeout=120)


def look(world, state, reference):
    """{program: what it says}, first of the files, then beside a daemon that was started on them."""
    prepare(world, state, reference)
    # Roots alone do not tell which of the events that a head covers is another.
    first = 1 if state == "rewritten, with the key" else world.size_then + 1
    if state == "rewritten, with the key" and reference == "peer":
        first = REWRITTEN_AT
    said = lambda code, *texts: Said(code, "\n".join(texts), world, first)
    since = ["--since", world.receipts["late"]] if reference == "receipt" else []
    found = {}

    def ask(name, store, *words):
        found[name] = said(*world.programs.control(store, *words))

    try:
        ask("verify", world.store, "verify", *since)
        done = verify_py(world.store, *since)
        found["verify.py"] = said(done.returncode, done.stdout, done.stderr)
        ask("doctor", world.store, "doctor")
        peer = world.daemon(world.peer_store, "busan").ready() if reference == "peer" else None
        daemon = world.daemon()
        try:
            daemon.ready()
        except Ended as error:
            found["start"] = said(daemon.process.returncode, str(error))
            return found
        if peer:
            _until_told(world, state == "rewritten, with the key")
        if reference == "witness":
            # It is written when the writer is idle; until then it speaks of the origin before.
            with Client(daemon) as client:
                client.append([Event(world.chance, 40)])
            time.sleep(1.5)
        ask("verify, running", world.store, "verify", *since)
        ask("doctor, running", world.store, "doctor")
        if peer:
            ask("doctor of the peer", world.peer_store, "doctor")
        found["start"] = said(0, daemon.log())
        found["start"].change = next((word for word in ("LOG_CUT", "AMNESIA", "FORK", "new origin") if word in daemon.log()), "goes on")
        return found
    finally:
        world.kill()


def _until_told(world, is_forked, seconds=20):
    """Until nothing is owed in either direction, or the peer tells of a fork: of that the proof comes after the vectors are equal."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        _, out, _ = world.programs.control(world.store, "peers", "--json")
        peers = [json.loads(line) for line in out.splitlines() if '"type":"peer"' in line]
        is_done = peers and all(p.get("owes") in (0, "0") and p.get("lacks") in (0, "0") for p in peers)
        if (is_done and not is_forked) or "FORK" in world.programs.control(world.peer_store, "doctor")[1]:
            return time.sleep(1.5)  # cosignatures are told within a second
        time.sleep(0.2)


# What must be so.

COLUMNS = ["the log", "against", "`verify`", "`verify.py`", "`doctor`", "a start", "`verify` beside it", "`doctor` beside it", "the peer's `doctor`"]
PROGRAMS = ("verify", "verify.py", "doctor", "start", "verify, running", "doctor, running", "doctor of the peer")


def expected(state, reference):
    """{program: the exit codes that it may have}, and of which programs the texts must name origin and seq. None: none is demanded."""
    if state == "unchanged":
        return dict.fromkeys(("verify", "verify.py", "doctor", "verify, running"), {0}), ()
    if state == "restored from a backup" and reference == "witness":
        # Until a daemon has run on it, it does not know that there is a witness.
        return {"verify": {2}, "verify.py": {2}, "verify, running": {2, 3}, "doctor, running": {2}}, ("verify, running",)
    is_told = reference in ("receipt", "witness", "cosignatures") or state in ("shorter, without the key", "log and mark put back")
    codes, named = {}, []
    if is_told:
        codes, named = {"verify": {3}, "verify.py": {3}}, ["verify", "verify.py"]
        if reference != "receipt":
            codes |= {"doctor": {3}, "doctor, running": {2, 3}}
        # The node has noticed, and its new origin says so: what is lost is open, another history stands against it.
        codes["verify, running"] = {2, 3} if reference == "witness" and state != "rewritten, with the key" else {3}
    if reference == "peer":
        # What was lost has come back; two histories are told at both. Of log.end alone there is no root: that is told until it is settled.
        back = {"verify, running": {3} if state == "log and mark put back" else {0}}
        codes |= {"doctor of the peer": {3}, "doctor, running": {3}} if state == "rewritten, with the key" else back
    return codes, named


def problems(found):
    """A line for each cell that is not as it must be."""
    lines = []
    for state, reference, said in found:
        codes, named = expected(state, reference)
        for program, allowed in codes.items():
            if program not in said or said[program].code not in allowed:
                what = said[program] if program in said else None
                lines.append(f"{state} / {reference}: {program}: {what and what.code}: {what and what.text.strip()[-600:]}")
        for program in named:
            if program in said and not said[program].names:
                lines.append(f"{state} / {reference}: {program} does not name the first that contradicts: {said[program].text.strip()[-900:]}")
    return lines


def rows(found):
    return [[state, reference, *(_cell(said, program) for program in PROGRAMS)] for state, reference, said in found]


def _cell(said, program):
    if program not in said:
        return ""
    return getattr(said[program], "change", None) or said[program].cell()


def matrix(programs, folder, chance, states=None, references=REFERENCES):
    """[(state, reference, {program: Said})]"""
    found, worlds = [], {}
    try:
        for has_witness in (True, False):
            place = os.path.join(folder, "witnessed" if has_witness else "plain")
            os.makedirs(place)
            worlds[has_witness] = World(programs, place, chance, has_witness)
        for state in states or STATES:
            for reference in references:
                found.append((state, reference, look(worlds[reference == "witness"], state, reference)))
        return found
    finally:
        for world in worlds.values():
            world.kill()
