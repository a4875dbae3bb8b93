"""The rigs of this tree: how each is run, quickly or at length, and what of its output is kept."""

import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Callable

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "CrashImages")]

import results  # noqa: E402
import rollback  # noqa: E402
import versions  # noqa: E402
from programs import Programs, temporary_folder  # noqa: E402
from results import PROJECT  # noqa: E402

PYTHON = [sys.executable, "-B", "-W", "ignore"]


@dataclass
class Setting:
    """Where the programs are, how many may work at a time, and whether there is time."""

    programs: str
    tests: str
    jobs: int
    seed: int
    is_full: bool

    def size(self, quick, full):
        return str(full if self.is_full else quick)


@dataclass
class Rig:
    """`run` writes the result itself. `is_quick`: also run where there is little time."""

    name: str
    title: str
    run: Callable
    is_quick: bool = True


def command(words, environment=None):
    """Runs it, shows what it prints, and returns its exit code and that text."""
    print("+", shlex.join(map(str, words)), flush=True)
    process = subprocess.Popen(
        list(map(str, words)), cwd=PROJECT, env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace")
    lines = []
    for line in process.stdout:
        # Where the terminal shows colours, swift-testing writes them into pipes, too.
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        lines.append(line)
        if not line.startswith(("◇", "✔")):
            print(line, end="", flush=True)
    return process.wait(), "".join(lines)


def writes_itself(*words):
    """A rig that writes its result."""
    return lambda setting: command([word(setting) if callable(word) else word for word in words])[0]


# Rigs that print: what is read off.


def tamper_rows(text):
    """[[file, bits, tried, contradicted, not all covered, unreadable, at the start, nothing, unnoticed]]"""
    pattern = (r"^TAMPER (\S.*): (\d+) bits: (\d+) contradicted, (\d+) not covered, (\d+) unreadable, (\d+) at the next start, "
               r"(\d+) carry nothing, (\d+) unnoticed")
    return [[name, int(bits), sum(map(int, counts)), *map(int, counts)] for name, bits, *counts in re.findall(pattern, text, re.M)]


def soak_rows(text):
    """[[what, how many]]"""
    found = re.search(r"^soak seed (\d+): (\d+) nodes, (.*); (\d+) appends acknowledged; equal ([\d.]+) s after the last fault; at most (\d+) MiB", text, re.M)
    if not found:
        return []
    seed, nodes, faults, acknowledged, seconds, memory = found.groups()
    counts = [[name, int(count)] for count, name in (fault.split(" ", 1) for fault in faults.split(", "))]
    return [["nodes", int(nodes)], *counts, ["appends acknowledged, all there", int(acknowledged)],
            ["seconds until all nodes were equal", float(seconds)], ["MiB of a daemon at most", int(memory)], ["seed", int(seed)]]


def picture_rows(text):
    """[[what, how many]]"""
    found = re.search(r"^pictures: (\d+) put at (\d+) nodes, (\d+) kills amid them; (\d+) files equal (\d+) s after the last kill", text, re.M)
    names = ["pictures", "nodes", "kill -9", "files that are there and equal, byte for byte", "seconds until all was compared"]
    return [[name, int(count)] for name, count in zip(names, found.groups())] if found else []


def sim_rows(text):
    """[[what, how many, failed]]"""
    found = re.search(r"^(\d+) seeds, (\d+) virtual seconds, (\d+) failed", text, re.M)
    return [["clusters in virtual time", int(found[1]), int(found[3])], ["virtual seconds", int(found[2]), 0]] if found else []


def suite_rows(text):
    """[[test, passed or failed]] of swift-testing's output: those that failed by name, the others of each suite together."""
    tests = re.findall(r'^✔ Test (?:"(.*?)"|(\S+\(.*?\)))(?: with \d+ test cases?)? passed after', text, re.M)
    broken = re.findall(r'^✘ Test (?:"(.*?)"|(\S+\(.*?\)))(?: with \d+ test cases?)? failed after', text, re.M)
    return [[quoted or plain, "holds"] for quoted, plain in tests] + [[quoted or plain, "FAILED"] for quoted, plain in broken]


def unit_rows(text):
    """[[test, passed or failed]] of unittest -v."""
    found = re.findall(r"^test_(\w+) \(.*?\)(?:\n(.*?))? \.\.\. (ok|FAIL|ERROR)$", text, re.M)
    return [[(told or name.replace("_", " ")).rstrip("."), "holds" if how == "ok" else "FAILED"] for name, told, how in found]


def printed(name, columns, words, rows_of, *, environment=None, build="release", failed_of=lambda rows: 0):
    """A rig whose output is read. One that ends with an exit code, or says nothing, has failed."""

    def run(setting):
        started = time.monotonic()
        code, text = command(words(setting), environment(setting) if environment else None)
        rows = rows_of(text)
        failed = max(failed_of(rows), int(code != 0 or not rows))
        results.write(name, columns, rows, failed, time.monotonic() - started, build)
        return failed

    return run


def swift_tests(suites):
    return lambda setting: [setting.tests, "--testing-library", "swift-testing", "--no-parallel", "--filter", suites]


# Rigs of this folder.


def roll_back(setting):
    """What each program says of a log that was put back."""
    started, folder, chance = time.monotonic(), temporary_folder(), random.Random(setting.seed)
    try:
        found = rollback.matrix(Programs(os.path.abspath(setting.programs), None), folder, chance)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    problems = rollback.problems(found)
    for problem in problems:
        print(problem)
    build = results.build_of(setting.programs)
    results.write("rollback", rollback.COLUMNS, rollback.rows(found), len(problems), time.monotonic() - started, build)
    return int(bool(problems))


def try_versions(setting):
    """What of other versions is read, and what is refused."""
    started, programs, chance = time.monotonic(), Programs(os.path.abspath(setting.programs), None), random.Random(setting.seed)
    kept, later = versions.try_kept(programs, chance), versions.try_later(programs, chance)
    seconds, build = time.monotonic() - started, results.build_of(setting.programs)
    problems = [f"{what}: {question}: {why}" for what, question, why in kept if why] + versions.problems(later)
    for problem in problems:
        print(problem)
    rows = [[what, question, "FAILED" if why else "holds"] for what, question, why in kept]
    results.write("versions", ["what is kept", "what is asked", "answer"], rows, sum(why is not None for _, _, why in kept), seconds, build)
    results.write("later", versions.COLUMNS, versions.rows(later), len(versions.problems(later)), seconds, build)
    return int(bool(problems))


SEED = lambda setting: str(setting.seed)
PROGRAMS = lambda setting: setting.programs

RIGS = [
    Rig("crash-images", "Power cuts", writes_itself(
        *PYTHON, "Tests/CrashImages", "--programs", PROGRAMS, "--images", lambda s: s.size(170, 10_000), "--seed", SEED,
        "--jobs", lambda s: str(s.jobs), "--keep", ".build/crash-images")),
    Rig("kills", "kill -9", writes_itself(
        *PYTHON, "Tests/CrashImages", "--programs", PROGRAMS, "--kills", lambda s: s.size(20, 100), "--seed", SEED)),
    Rig("failing-disk", "A failing disk", printed(
        "failing-disk", ["what fails", "what must hold"],
        lambda s: [*PYTHON, "-m", "unittest", "discover", "-v", "-s", "Tests/CrashImages", "-t", "Tests/CrashImages", "-p", "test_failing_disk.py"],
        unit_rows, environment=lambda s: {"CRASH_PROGRAMS": os.path.abspath(s.programs)})),
    Rig("rollback", "Logs that were put back", roll_back),
    Rig("versions", "Earlier and later versions", try_versions),
    Rig("backups", "Backups", printed(
        "backups", ["what is tried", "what must hold"],
        swift_tests(r"^(BackupsTests\.(TamperTests|ErasedBackupTests)|EndToEndTests\.BackupProgramTests)/"), suite_rows, build="debug",
        failed_of=lambda rows: sum(how != "holds" for _, how in rows))),
    Rig("tamper", "Flipped bits", printed(
        "tamper", ["file", "bits", "tried", "contradicted", "not all covered", "cannot be read", "at the next start", "carries nothing", "unnoticed"],
        swift_tests("TamperMatrixTests"), tamper_rows, build="debug", failed_of=lambda rows: sum(row[-1] for row in rows),
        environment=lambda s: {"SILLOK_TAMPER_STEP": s.size(4001, 101)})),
    Rig("hostile", "Hostile peers and hands", writes_itself(
        "Tests/Hostile/run", "--syncd", lambda s: s.programs + "/syncd", "--syncctl", lambda s: s.programs + "/syncctl",
        "--suite", lambda s: s.size("lies,files,access", "all"))),
    Rig("sim", "Clusters in virtual time", printed(
        "sim", ["what", "how many", "failed"],
        lambda s: [s.programs + "/sillok-sim", "run", s.size(100, 20_000), "--jobs", s.jobs], sim_rows,
        failed_of=lambda rows: sum(row[-1] for row in rows))),
    Rig("soak", "Daemons under everything", printed(
        "soak", ["what", "how many"], swift_tests("SoakTests"), soak_rows, build="debug",
        environment=lambda s: {"SILLOK_SOAK_SECONDS": s.size(30, 600), "SILLOK_SOAK_SEED": str(s.seed)})),
    Rig("pictures", "Pictures at nodes that die", printed(
        "pictures", ["what", "how many"], swift_tests("AttachmentProgramTests/pictures"), picture_rows, build="debug",
        environment=lambda s: {"SILLOK_PICTURE_ROUNDS": s.size(5, 50)})),
    Rig("mutants", "Planted faults", writes_itself(*PYTHON, "Tests/Mutants/run.py"), is_quick=False),
]
