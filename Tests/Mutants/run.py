#!/usr/bin/env python3
"""Plants faults in a copy of the sources and asks whether the tests notice (make mutants).

All faults of faults.py go into one build, each behind a number: `isPlanted(7)` is true where the environment has
SILLOK_MUTANT=7, and child processes inherit it. A fault is caught when the suites that guard what it breaks fail by
themselves; a fault whose suites pass has survived, and one whose suites hang wants a time limit. Both fail the run.

A text to be replaced that is not found exactly once is an error: the sources have moved on, and so must the fault.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

from faults import FAULTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = ROOT / ".build" / "mutants" / "tree"
SWITCH = """\
internal import Glibc

/// Which fault is planted: the number in SILLOK_MUTANT.
private let planted: Int = getenv("SILLOK_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

/// Whether this fault is planted.
package func isPlanted(_ number: Int) -> Bool { planted == number }
"""


def write(path, data):
    """Files that have not changed keep their times, so that they are not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)


def plant():
    """Makes a copy of the sources with all faults in it. Returns what could not be applied."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True)
    names = {name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()}
    texts, problems = {}, []
    for fault in FAULTS:
        for path, old, new in fault.edits:
            text = texts.get(path) or (ROOT / path).read_text()
            if text.count(old) != 1:
                problems.append(f"fault {fault.number}: {path} has this {text.count(old)} times: {old.strip()[:90]!r}")
                continue
            texts[path] = text.replace(old, new)
    for path, text in texts.items():
        if not path.startswith("Sources/EventStore/") and "import EventStore" not in text:
            texts[path] = "internal import EventStore\n" + text
    texts["Sources/EventStore/Basics/Planted.swift"] = SWITCH
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
    return problems


def run_tests(number, suites, seconds):
    """How the suites end with a fault planted (0: none): passed, failed or hung."""
    program = TREE / ".build/debug/sillokPackageTests.xctest"
    command = [program, "--testing-library", "swift-testing", "--no-parallel"]
    for suite in suites:
        command += ["--filter", suite]
    environment = dict(os.environ, SILLOK_MUTANT=str(number))
    log = TREE.parent / "logs" / f"{number}.txt"
    log.parent.mkdir(exist_ok=True)
    with open(log, "w") as output:
        process = subprocess.Popen(
            command, cwd=TREE, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return "hung", log
    if code == 0 and "with 0 tests" in log.read_text(errors="replace")[-400:]:
        return "without tests", log
    return ("passed" if code == 0 else "failed"), log


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("numbers", nargs="*", type=int, help="only these faults")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--seconds", type=int, default=240, help="longest run of one fault's suites")
    parser.add_argument("--no-build", action="store_true", help="use what is built")
    options = parser.parse_args()
    chosen = [fault for fault in FAULTS if not options.numbers or fault.number in options.numbers]
    if options.list:
        for fault in chosen:
            print(f"{fault.number:3} {fault.invariant or '-':7} {fault.name}  ({', '.join(fault.suites)})")
        return 0
    numbers = [fault.number for fault in FAULTS]
    if len(numbers) != len(set(numbers)):
        sys.exit("two faults have one number")
    if not options.no_build:
        problems = plant()
        for problem in problems:
            print(problem)
        if problems:
            return 1
        built = subprocess.run(["swift", "build", "--build-tests"], cwd=TREE, capture_output=True, text=True)
        if built.returncode != 0:
            print(built.stdout[-6000:])
            return 1
    passed = failed = 0
    suites = sorted({suite for fault in chosen for suite in fault.suites})
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
        verdict = "caught" if is_caught else f"SURVIVED ({outcome})"
        print(f"{fault.number:3} {verdict:20} {time.monotonic() - start:5.1f} s  {fault.name}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
