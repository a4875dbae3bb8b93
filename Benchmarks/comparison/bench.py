"""What all sections share: programs, records, stores that are filled once and copied, and turns that alternate."""

import contextlib
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import time

from comparison import machine
from comparison.processes import Failed, measure, run, size_of
from comparison.sizes import bytes_needed

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def say(text):
    print(f"compare: {text}", file=sys.stderr, flush=True)


def code(*patterns):
    """A hash of what is in these files, so that nothing made by other code is taken for made by this."""
    digest = hashlib.sha256()
    for pattern in patterns:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    digest.update(path[len(ROOT):].encode() + b"\0" + file.read())
    return digest.hexdigest()[:12]


GENERATOR = ("Benchmarks/sillok-bench/Records.swift", "Benchmarks/sillok-bench/Vocabulary.swift")
MAKERS = {
    "sillok": ("Sources/EventStore/**/*.swift",), "floor": ("Benchmarks/floors/*", "Benchmarks/common/*"),
    "projected": ("Benchmarks/peers/postgres/*",),
}


class Bench:
    def __init__(self, work, size, results):
        self.work, self.size, self.results = os.path.abspath(work), size, results
        self.swift = os.path.join(ROOT, ".build", "release")
        self.native = os.path.join(self.work, "programs")
        self.records = os.path.join(self.work, f"records-{code(*GENERATOR)}")
        self.code = code("Sources/**/*", "Benchmarks/sillok-bench/*", "Benchmarks/floors/*", "Benchmarks/common/*",
                         "Benchmarks/peers/**/*")
        self.makers = {}
        for kind in ("sillok", "floor", "postgres", "projected", "redis", "nats", "eventsourcing"):
            self.maker(kind)
        self.venv = os.path.join(ROOT, ".build", "peers", "venv")
        os.makedirs(self.native, exist_ok=True)

    # ---- programs ----

    def sillok(self, *words, **options):
        return measure(os.path.join(self.swift, "sillok-bench"), *words, **options)

    def sillok_usage(self):
        """What sillok-bench can do, in its own words."""
        program = os.path.join(self.swift, "sillok-bench")
        return subprocess.run([program], capture_output=True, text=True).stderr

    def floor(self, *words):
        return measure(os.path.join(self.native, "floor"), *words)

    def driver(self, peer, *words):
        return measure(os.path.join(self.native, peer), *words)

    def has(self, peer):
        return os.path.exists(os.path.join(self.native, peer))

    def prepare(self):
        """Makes the records, if there are too few. Refuses when the stores would fill the disk."""
        free = shutil.disk_usage(self.work).free + size_of(self.work)
        if free < bytes_needed(self.size):
            raise Failed(f"{self.work} has {free / 1e9:.0f} GB, about {bytes_needed(self.size) / 1e9:.0f} GB are needed")
        line = 352
        for old in set(glob.glob(os.path.join(self.work, "records-*"))) - {self.records}:
            os.unlink(old)
        wanted = self.size.records()
        have = os.path.getsize(self.records) // line if os.path.exists(self.records) else 0
        if have >= wanted:
            return
        say(f"{wanted:,} records")
        with open(self.records + ".new", "wb") as file:
            run_to(file, os.path.join(self.swift, "sillok-bench"), "records", "--count", wanted)
        if os.path.getsize(self.records + ".new") != wanted * line:
            raise Failed("records are not as long as they are thought to be")
        os.replace(self.records + ".new", self.records)

    # ---- stores ----

    def maker(self, kind):
        """What the contents of a store of this kind depend on, as it was when the programs were built."""
        if kind not in self.makers:
            self.makers[kind] = code(*GENERATOR, *MAKERS.get(kind, (f"Benchmarks/peers/{kind}/*",)))
        return self.makers[kind]

    def template(self, kind, maker, count):
        """A store of this kind with `count` events, made once."""
        folder = os.path.join(self.work, "templates", f"{kind}-{count}-{self.maker(kind)}")
        if not os.path.exists(folder):
            for old in glob.glob(os.path.join(self.work, "templates", f"{kind}-*")):
                shutil.rmtree(old)
            say(f"filling {kind} with {count:,} events")
            new = folder + ".new"
            shutil.rmtree(new, ignore_errors=True)
            os.makedirs(os.path.dirname(folder), exist_ok=True)
            maker(new, 0, count)
            os.rename(new, folder)
        return folder

    @contextlib.contextmanager
    def folder(self, name):
        """An empty place that is removed afterwards."""
        path = os.path.join(self.work, "turns", name)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    @contextlib.contextmanager
    def copy(self, kind, maker, count=None):
        """A copy of a filled store, for one turn. The disk has it before that begins: whoever syncs a file first would wait for
        what the copy left to be written."""
        template = self.template(kind, maker, self.size.preload if count is None else count)
        with self.folder(kind) as path:
            run("cp", "-a", template, path)
            if kind == "sillok" and "sillok-bench settle " in self.sillok_usage():
                self.sillok("settle", path)
            os.sync()
            yield path

    def growing(self, kind, maker, count):
        """A large store that is not copied: each turn makes it larger."""
        return Growing(os.path.join(self.work, "large", f"{kind}-{self.maker(kind)}"), maker, count, kind)

    # ---- turns ----

    def take_turns(self, section, contestants, *, rounds=None, preload=None):
        """Runs all contestants once, then all again: what changes on the machine meanwhile changes for all. Each value is a
        function that returns metrics; one that fails is left out from then on, and the results say why."""
        results = {name: {} for name in contestants}
        failures = {}
        before, started = machine.load(), time.time()
        for turn in range(rounds or self.size.rounds):
            for name, contestant in contestants.items():
                if name in failures:
                    continue
                os.sync()
                try:
                    metrics = contestant()
                except (Failed, OSError) as error:
                    failures[name] = str(error)
                    say(f"{section}: {name} failed: {error}")
                    continue
                for metric, value in metrics.items():
                    results[name].setdefault(metric, []).append(value)
                say(f"{section} {turn + 1}: {name}: " + ", ".join(f"{m} {v:,.4g}" for m, v in metrics.items()))
        self.results.sections[section] = {
            "size": self.size.name, "preload": preload or self.size.preload, "rounds": rounds or self.size.rounds,
            "code": self.code,
            "load": [before, machine.load()], "seconds": round(time.time() - started), "machine": machine.describe(self.work),
            "results": {name: metrics for name, metrics in results.items() if metrics}, "failures": failures}
        self.results.save()


class Growing:
    """A store with at least `count` events; `take` says which records come next."""

    def __init__(self, path, maker, count, kind):
        self.folder, self.note = os.path.join(path, "store"), os.path.join(path, "count")
        have = self.read()
        if have is None or have > 1.5 * count:
            for old in glob.glob(os.path.join(os.path.dirname(path), f"{kind}-*")):
                shutil.rmtree(old)
            os.makedirs(path)
            have = 0
        if have < count:
            say(f"filling {kind} from {have:,} to {count:,} events")
            self.next = have
            with self.take(count - have) as first:
                maker(self.folder, first, count - have)
        self.next = max(have, count)

    def read(self):
        if not os.path.exists(self.note):
            return None
        with open(self.note) as file:
            return int(file.read())

    @contextlib.contextmanager
    def take(self, count):
        """The number of the first of `count` records. If the block fails nobody knows what the store holds: it is made anew
        next time."""
        first = self.next
        if os.path.exists(self.note):
            os.unlink(self.note)
        yield first
        self.next = first + count
        with open(self.note, "w") as file:
            file.write(str(self.next))


def run_to(file, *words):
    if subprocess.run([str(word) for word in words], stdout=file).returncode != 0:
        raise Failed(f"{words[0]} failed")
