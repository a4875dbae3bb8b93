"""What earlier versions have written is opened, verified and gone on with; what a later one has written is refused, and left as it is."""

import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.join(HERE, "..", "CrashImages"))

from programs import Client, Daemon, Ended, Event  # noqa: E402

VERIFY = os.path.join(PROJECT, "Scripts", "verify.py")
STORES = os.path.join(PROJECT, "Tests", "EventStoreTests", "Log", "Golden")
BACKUPS = os.path.join(PROJECT, "Tests", "BackupsTests", "Golden")
BESIDE = ("digests.txt", "export.ndjson", "evidence.ndjson", "today.receipt", "u-1.proof")
LOG_VERSION = 3
# The key of the sealed repositories is the bytes 00, 01 … 1f (FORMATS.md, section 11).
KEY = bytes(range(32)).hex()


class Refused(Exception):
    """A program did not do what it must."""


class Bench:
    """Programs, and a folder for copies."""

    def __init__(self, programs, folder, chance):
        self.programs, self.folder, self.chance, self.number = programs, folder, chance, 0

    def place(self, name):
        self.number += 1
        return os.path.join(self.folder, f"{name}-{self.number}")

    def store(self, version):
        """A copy of a kept store; what was kept beside it stays where it is."""
        source, copy = os.path.join(STORES, f"version-{version}"), self.place("store")
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*BESIDE))
        os.chmod(copy, 0o700)
        os.chmod(os.path.join(copy, "node.key"), 0o600)
        return copy

    def run(self, *command, stdin=None):
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def control(self, store, *arguments, allowed=(0,)):
        code, out, error = self.run(self.programs.syncctl, "--store", store, *arguments)
        if code not in allowed:
            raise Refused(f"syncctl {' '.join(map(str, arguments))}: exit {code}: {(error or out).strip()[-300:]}")
        return out

    def verify_py(self, *arguments, allowed=(0,)):
        code, out, error = self.run(sys.executable, "-B", VERIFY, *arguments)
        if code not in allowed:
            raise Refused(f"verify.py {' '.join(arguments)}: exit {code}: {(out + error).strip()[-300:]}")
        return out

    def daemon(self, store, name, cluster):
        return Daemon(self.programs, store, self.place("run"), name=name, cluster=cluster, witness=None)


def rows(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def events_of(text):
    """Of each line of an export what must never change: by position."""
    found = {}
    for line in text.splitlines():
        event = json.loads(line)
        if "specversion" in event:
            found[event["position"]] = {key: event.get(key) for key in ("id", "type", "time", "subject", "user", "author", "data", "leaf", "hlc")}
    return found


def meta(store, key):
    log = sqlite3.connect(f"file:{store}/log.db?mode=ro&immutable=1", uri=True)
    try:
        return log.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()[0]
    finally:
        log.close()


def user_version(path):
    file = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return file.execute("PRAGMA user_version").fetchone()[0]
    finally:
        file.close()


# What is asked of each kept thing. Each returns nothing, or raises Refused.


def store_reads(bench, version):
    """read and proven as it is"""
    store, kept = bench.store(version), os.path.join(STORES, f"version-{version}")
    bench.control(store, "verify")
    bench.verify_py(store)
    digests = set(bench.control(store, "digest", "--search").splitlines())
    with open(os.path.join(kept, "digests.txt")) as file:
        missing = [line for line in file.read().splitlines() if line not in digests]
    if missing:
        raise Refused(f"digests are others: {missing[:3]}")
    if os.path.exists(export := os.path.join(kept, "export.ndjson")):
        with open(export) as file:
            wanted = events_of(file.read())
        if events_of(bench.control(store, "export")) != wanted:
            raise Refused("the export has other events than then")
    if user_version(store + "/log.db") != version:
        raise Refused("reading has changed it")


def store_goes_on(bench, version):
    """upgraded, and gone on with"""
    store = bench.store(version)
    before = events_of(bench.control(store, "export"))
    daemon = bench.daemon(store, meta(store, "name"), meta(store, "cluster"))
    try:
        daemon.ready()
        with Client(daemon) as client:
            status, ids = client.append([Event(bench.chance, 40)])
        if status != 200 or not ids:
            raise Refused(f"an append was answered with {status}")
        if daemon.stop():
            raise Refused(f"SIGTERM: {daemon.log()[-300:]}")
    finally:
        daemon.kill()
    if user_version(store + "/log.db") != LOG_VERSION:
        raise Refused("it was not upgraded")
    after = events_of(bench.control(store, "export"))
    if {position: event for position, event in after.items() if position in before} != before or len(after) <= len(before):
        raise Refused("its events are others")
    bench.control(store, "verify")
    bench.verify_py(store)


def export_imports(bench, version):
    """taken in by an empty store"""
    path, store = os.path.join(STORES, f"version-{version}", "export.ndjson"), bench.place("imported")
    bench.control(store, "init", "--name", "new")
    # Events that nodes write for themselves are left out, which is exit 4.
    bench.control(store, "import", path, allowed=(0, 4))
    with open(path) as file:
        wanted = {event["id"]: event["data"] for event in events_of(file.read()).values() if event["type"].split(".")[0] in ("message", "note", "bot")}
    found = {event["id"]: event["data"] for event in events_of(bench.control(store, "export")).values()}
    lacking = [key for key, data in wanted.items() if found.get(key) != data and data is not None]
    if lacking:
        raise Refused(f"{len(lacking)} events are missing or others, such as {lacking[0]}")
    bench.control(store, "verify")


def evidence_imports(bench, version):
    """taken in by an empty store"""
    path, store = os.path.join(STORES, f"version-{version}", "evidence.ndjson"), bench.place("imported")
    bench.control(store, "init", "--name", "archive", "--cluster", "golden")
    bench.control(store, "import", "--evidence", path)
    bench.control(store, "verify")


def receipt_holds(bench, version):
    """proven, and the store goes on from it"""
    path, store = os.path.join(STORES, f"version-{version}", "today.receipt"), bench.store(version)
    bench.control(store, "check-proof", path)
    bench.verify_py("--proof", path)
    bench.control(store, "verify", "--since", path)
    bench.verify_py(store, "--since", path)


def answer_holds(bench, version):
    """proven"""
    path = os.path.join(STORES, f"version-{version}", "u-1.proof")
    bench.control(bench.place("nowhere"), "check-proof", path)
    bench.verify_py("--proof", path)


def backup_restores(bench, name):
    """proven and restored"""
    repository, store, key = bench.place("repository"), bench.place("restored"), []
    shutil.copytree(os.path.join(BACKUPS, name), repository)
    if name.startswith("sealed"):
        path = bench.place("key")
        with open(path, "w") as file:
            file.write(KEY)
        os.chmod(path, 0o600)
        key = ["--key-file", path]
    bench.control(store, "backup", "verify", repository, *key)
    bench.control(store, "backup", "restore", repository, "--into", store, *key)
    bench.control(store, "verify", allowed=(0, 2))
    bench.verify_py(store, allowed=(0, 2))
    if not events_of(bench.control(store, "export")):
        raise Refused("nothing came back")


def kept():
    """[(what is kept, question, function, argument)]"""
    found = []
    for version in sorted(int(path.rsplit("-", 1)[1]) for path in glob.glob(os.path.join(STORES, "version-*"))):
        there = lambda name: os.path.exists(os.path.join(STORES, f"version-{version}", name))
        questions = [("store", store_reads, True), ("store", store_goes_on, True), ("native NDJSON", export_imports, there("export.ndjson"))]
        questions += [("evidence", evidence_imports, there("evidence.ndjson")), ("receipt", receipt_holds, there("today.receipt"))]
        questions += [("proven answer", answer_holds, there("u-1.proof"))]
        found += [(f"{what} of version {version}", function, version) for what, function, is_there in questions if is_there]
    for path in sorted(glob.glob(os.path.join(BACKUPS, "*"))):
        kind, _, version = os.path.basename(path).partition("-")
        found.append((f"backups of version {version or 1}, {'encrypted' if kind == 'sealed' else 'plain'}", backup_restores, os.path.basename(path)))
    return found


# What a later version has written.


LATER = 99


def _later_log(store):
    log = sqlite3.connect(store + "/log.db", isolation_level=None)
    log.execute(f"PRAGMA user_version = {LATER}")
    log.close()


def _changed(path, old, new):
    with open(path) as file:
        text = file.read()
    if old not in text:
        raise Refused(f"{path} has no {old}")
    with open(path, "w") as file:
        file.write(text.replace(old, new, 1))


def _start(bench, store):
    name, cluster = "golden", "golden"
    daemon = bench.daemon(store, name, cluster)
    try:
        daemon.ready()
        return 0, daemon.log(), ""
    except Ended:
        return daemon.process.returncode, "", daemon.log()
    finally:
        daemon.kill()


def later_store(bench):
    """[(program, exit code, what it says)] of a store that a later version has written"""
    newest = max(int(path.rsplit("-", 1)[1]) for path in glob.glob(os.path.join(STORES, "version-*")))
    store = bench.store(newest)
    _later_log(store)
    with open(store + "/log.db", "rb") as file:
        before = file.read()
    said = [("syncd", *_start(bench, store))]
    ctl = lambda *words: bench.run(bench.programs.syncctl, "--store", store, *words)
    for words in (["verify"], ["history", "u-1"], ["export"], ["doctor"], ["digest"], ["append", "--user", "u", "--text", "x"]):
        said.append((f"syncctl {words[0]}", *ctl(*words)))
    said.append(("syncctl backup create", *ctl("backup", "create", bench.place("repository"))))
    said.append(("syncctl backup copy", *ctl("backup", "copy", bench.place("copy"))))
    said.append(("verify.py", *bench.run(sys.executable, "-B", VERIFY, store)))
    with open(store + "/log.db", "rb") as file:
        if file.read() != before:
            said.append(("left as it is", 1, "", "the log was changed"))
    return said


def later_backup(bench):
    """The same of a repository, and of one manifest in it."""
    said = []
    for what, name, old in (("repository.json", "repository.json", '"v":1'), ("a manifest", None, '"v":2')):
        repository, nowhere = bench.place("repository"), bench.place("nowhere")
        shutil.copytree(os.path.join(BACKUPS, "plain-2"), repository)
        _changed(os.path.join(repository, name or sorted(glob.glob(repository + "/backups/*.manifest"))[-1]), old, f'"v":{LATER}')
        for words in (["verify", repository], ["restore", repository, "--into", nowhere], ["list", repository], ["prune", repository, "--keep", "1"]):
            found = bench.run(bench.programs.syncctl, "--store", nowhere, "backup", *words)
            said.append((f"backup {words[0]}, {what}", *found))
        if os.path.exists(nowhere):
            said.append((f"backup restore, {what}: nothing made", 1, "", "a store was made"))
    return said


def later_papers(bench):
    """Receipts and proven answers."""
    newest = max(int(path.rsplit("-", 1)[1]) for path in glob.glob(os.path.join(STORES, "version-*")))
    said = []
    for name in ("today.receipt", "u-1.proof"):
        path = bench.place(name)
        shutil.copy(os.path.join(STORES, f"version-{newest}", name), path)
        _changed(path, '"v":1', f'"v":{LATER}')
        said.append((f"check-proof, {name}", *bench.run(bench.programs.syncctl, "check-proof", path)))
        said.append((f"verify.py --proof, {name}", *bench.run(sys.executable, "-B", VERIFY, "--proof", path)))
    return said


def later_beside(bench):
    """What can be made anew, or is told by peers again: the node starts."""
    newest = max(int(path.rsplit("-", 1)[1]) for path in glob.glob(os.path.join(STORES, "version-*")))
    said = []
    for what in ("subs.db", "cosigned.db"):
        store = bench.store(newest)
        file = sqlite3.connect(f"{store}/{what}", isolation_level=None)
        rows = file.execute("SELECT name, bytes FROM value").fetchall()
        for name, data in rows:
            file.execute("UPDATE value SET bytes = ? WHERE name = ?", (LATER.to_bytes(8, "big") + data[8:], name))
        file.close()
        said.append((f"syncd, {what}", *_start(bench, store)))
        said.append((f"syncctl verify, {what}", *bench.run(bench.programs.syncctl, "--store", store, "verify")))
    return said


LATERS = {"a store": later_store, "backups": later_backup, "receipts and answers": later_papers, "what lies beside the log": later_beside}


def try_kept(programs, chance):
    """[(what, question, None or why not)]"""
    folder = tempfile.mkdtemp(prefix="versions-")
    try:
        bench, found = Bench(programs, folder, chance), []
        for what, function, argument in kept():
            try:
                function(bench, argument)
                found.append((what, function.__doc__, None))
            except (Refused, Ended, OSError, sqlite3.Error, subprocess.SubprocessError) as error:
                found.append((what, function.__doc__, str(error)))
        return found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def try_later(programs, chance):
    """[(what, program, exit code, what it says)]"""
    folder = tempfile.mkdtemp(prefix="versions-")
    try:
        bench = Bench(programs, folder, chance)
        return [(what, name, code, (error or out).strip()) for what, function in LATERS.items() for name, code, out, error in function(bench)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


COLUMNS = ["what a later version wrote", "program", "exit code", "what it says"]


def problems(later):
    """A line for each answer that does not refuse, or not clearly."""
    found = []
    for what, program, code, text in later:
        is_refused = code != 0 and not re.search("Traceback|Fatal error", text)
        if what == "what lies beside the log":
            # It is made anew, or told by peers again.
            is_refused = code == 0 if program.startswith("syncd") else code in (0, 2)
        if not is_refused:
            found.append(f"{what}: {program}: {code}: {text[-300:]}")
    return found


def rows(later):
    """The code of the error, or the first words."""
    return [[what, program, code, _short(text)] for what, program, code, text in later]


def _short(text):
    code = re.search(r"E_[A-Z_]+", text)
    return f"`{code[0]}`" if code else re.sub(r"\S*/\S*", "…", text.splitlines()[-1] if text else "")[:60]
