#!/usr/bin/env python3
"""Plants faults in a copy of the sources and asks whether the tests notice (make mutants).

All faults of faults.py go into one build, each behind a number: `isPlanted(7)` is true where the environment has
SILLOK_MUTANT=7, and child processes inherit it. A fault is caught when the suites that guard what it breaks fail by
themselves; a fault whose suites pass has survived, and one whose suites hang wants a time limit. Both fail the run.

A text to be replaced that is not found exactly once is an error: the sources have moved on, and so must the fault.
`--check` finds these errors in a moment, without a build: make lint asks for it.
"""

import argparse
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from faults import FAULTS, Fault

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests" / "Reliability"))
import results  # noqa: E402
TREE = ROOT / ".build" / "mutants" / "tree"
SWITCH = """\
internal import Glibc

/// Which fault is planted: the number in SILLOK_MUTANT.
private let planted: Int = getenv("SILLOK_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

/// Whether this fault is planted.
package func isPlanted(_ number: Int) -> Bool { planted == number }
"""

# A target that does not see EventStore has a switch of its own.
APART = "Sources/CommandLineKit/"

# Tests that run programs with an environment of their own pass the number on.
PASSED_ON = Fault(0, "the number is passed on", "", [], [
    ("Tests/EndToEndTests/Tool.swift", "process.environment = environment\n",
     "process.environment = environment.merging(\n"
     "            ProcessInfo.processInfo.environment.filter { $0.key == \"SILLOK_MUTANT\" }\n        ) { $1 }\n")])


def missing_suites():
    """Suites that faults name and the tests do not have: a filter that meets nothing passes."""
    text = "\n".join(path.read_text() for path in (ROOT / "Tests").rglob("*.swift"))
    there = set(re.findall(r"\b(?:struct|class|enum) (\w+)", text))
    return sorted({f"fault {fault.number}: no suite {suite}" for fault in FAULTS for suite in fault.suites if suite not in there})


def write(path, data):
    """Files that have not changed keep their times, so that they are not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def apply_edits():
    """The texts with all faults in them, by path, and what could not be applied."""
    texts, problems = {}, []
    for fault in [PASSED_ON] + FAULTS:
        for path, old, new in fault.edits:
            if not (ROOT / path).is_file():
                problems.append(f"fault {fault.number}: no file {path}")
                continue
            text = texts.get(path) or (ROOT / path).read_text()
            if text.count(old) != 1:
                problems.append(f"fault {fault.number}: {path} has this {text.count(old)} times: {old.strip()[:90]!r}")
                continue
            texts[path] = text.replace(old, new)
    return texts, problems


def unplanted(texts):
    """Faults whose number no edit asks for, and numbers that no fault has: either would plant nothing."""
    asked = {int(number) for text in texts.values() for number in re.findall(r"\bisPlanted\((\d+)\)", text)}
    known = [fault.number for fault in FAULTS]
    return (
        [f"fault {number}: two faults have this number" for number in sorted({n for n in known if known.count(n) > 1})]
        + [f"fault {number}: no edit asks for it" for number in sorted(set(known) - asked)]
        + [f"fault {number}: an edit asks for it, but no fault has this number" for number in sorted(asked - set(known))])


def check():
    """The texts with all faults in them, and why the faults cannot be planted as they stand."""
    texts, problems = apply_edits()
    return texts, problems + (unplanted(texts) if not problems else []) + missing_suites()


def plant(texts):
    """Makes a copy of the sources with these texts in it."""
    texts = dict(texts)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True)
    names = {name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()}
    for path, text in texts.items():
        if path.startswith("Sources/") and not path.startswith(("Sources/EventStore/", APART)) and "import EventStore" not in text:
            texts[path] = "internal import EventStore\n" + text
    texts["Sources/EventStore/Basics/Planted.swift"] = SWITCH
    texts[APART + "Planted.swift"] = SWITCH.replace("package func", "func")
    for name in names | set(texts):
        write(TREE / name, texts[name].encode() if name in texts else (ROOT / name).read_bytes())
    for top in ("Sources", "Tests", "Benchmarks"):
        for path in (TREE / top).rglob("*"):
            name = str(path.relative_to(TREE))
            if path.is_file() and name not in names and name not in texts and "__pycache__" not in name:
                path.unlink()
    shared = TREE.parent / "shared"
    if not shared.exists() and (ROOT.parent / "shared").exists():
        shared.symlink_to(ROOT.parent / "shared")


# What is given a moment more when a test has failed: the line that says which.
AFTERWARDS = 1


def has_failed(log):
    return "recorded an issue" in log.read_text(errors="replace")


def wait(process, log, seconds):
    """The exit code; None when it takes too long, or when a test has failed: then no more need be known."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            return process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            if has_failed(log):
                time.sleep(AFTERWARDS)
                return None
    return None


def session(leader):
    """The processes of a session: those that tests have started are in groups of their own."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == leader and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def end_session(process):
    """Ends what is left of a run: the tests, and daemons that they have not ended."""
    for _ in range(20):
        left = session(process.pid)
        if not left:
            break
        for number in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        time.sleep(0.05)
    process.wait()


def run_tests(number, suites, seconds):
    """How the suites end with a fault planted (0: none): passed, failed or hung."""
    program = TREE / ".build/debug/sillokPackageTests.xctest"
    command = [program, "--testing-library", "swift-testing", "--no-parallel"]
    for suite in suites:
        command += ["--filter", suite]
    log = TREE.parent / "logs" / f"{number}.txt"
    log.parent.mkdir(exist_ok=True)
    # A run that is ended early leaves its folders behind. Other users must get through: some tests run programs as one.
    with open(log, "w") as output, tempfile.TemporaryDirectory(prefix="m-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)
        environment = dict(os.environ, SILLOK_MUTANT=str(number), TMPDIR=folder)
        process = subprocess.Popen(
            command, cwd=TREE, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = wait(process, log, seconds)
        finally:
            end_session(process)
        if code is None:
            return ("failed" if has_failed(log) else "hung"), log
    if code == 0 and "with 0 tests" in log.read_text(errors="replace")[-400:]:
        return "without tests", log
    return ("passed" if code == 0 else "failed"), log


def first_to_fail(log):
    """The test that noticed, for whoever wants to know whether it was the fault: a busy machine fails tests, too."""
    for line in log.read_text(errors="replace").splitlines():
        found = re.search(r'Test "(.*)" recorded an issue|Test (\S+\(.*?\)) recorded an issue', line)
        if found:
            return (found.group(1) or found.group(2))[:80]
    return "it crashed, or could not run"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("numbers", nargs="*", type=int, help="only these faults")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true", help="whether all faults can be planted, without a build")
    parser.add_argument("--seconds", type=int, default=240, help="longest run of one fault's suites")
    parser.add_argument("--no-build", action="store_true", help="use what is built")
    parser.add_argument("--passed", action="store_true", help="do not run the suites without a fault first: they have passed")
    options = parser.parse_args()
    chosen = [fault for fault in FAULTS if not options.numbers or fault.number in options.numbers]
    if options.list:
        for fault in chosen:
            print(f"{fault.number:3} {fault.invariant or '-':7} {fault.name}  ({', '.join(fault.suites)})")
        return 0
    texts, problems = check()
    for problem in problems:
        print(problem)
    if problems or options.check:
        print(f"{len(FAULTS)} faults, {len(problems)} problems")
        return 1 if problems else 0
    if not options.no_build:
        plant(texts)
        built = subprocess.run(["swift", "build", "--build-tests"], cwd=TREE, capture_output=True, text=True)
        if built.returncode != 0:
            errors = {line for line in (built.stdout + built.stderr).splitlines() if "error:" in line}
            print("\n".join(sorted(errors)) or built.stdout[-6000:])
            return 1
    passed = failed = 0
    began, missed = time.monotonic(), []
    suites = sorted({suite for fault in chosen for suite in fault.suites})
    if not options.passed:
        outcome, log = run_tests(0, suites, 20 * options.seconds)
        print(f"without a fault: {outcome}", flush=True)
        if outcome != "passed":
            print(f"the suites must pass first: {log}")
            return 1
    for fault in chosen:
        start = time.monotonic()
        outcome, log = run_tests(fault.number, fault.suites, options.seconds)
        is_caught = outcome == "failed"
        passed, failed = passed + is_caught, failed + (not is_caught)
        missed += [] if is_caught else [[f"{fault.number}: {fault.name}", outcome]]
        verdict = "caught" if is_caught else f"SURVIVED ({outcome})"
        by = f"  [{first_to_fail(log)}]" if is_caught else ""
        print(f"{fault.number:3} {verdict:20} {time.monotonic() - start:5.1f} s  {fault.name}{by}", flush=True)
    print(f"{passed} passed, {failed} failed")
    if not options.numbers:
        rows = [["planted", passed + failed], ["caught", passed], *missed]
        results.write("mutants", ["faults", "how many"], rows, failed, time.monotonic() - began, "debug")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
