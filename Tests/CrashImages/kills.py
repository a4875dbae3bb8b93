"""`kill -9` at chosen moments of an erasure, an upgrade, a backup and a restore: before the n-th change of a file.

What is left is what processes see, not what a power cut leaves; then the same must be true as of an image.
"""

import os
import random
import shutil
import tempfile
import traceback

import disk
from changes import CHANGES, before_upgrade, golden_versions
from programs import INODE_OFFSET, Ended, Programs, recorder, temporary_folder
from scenarios import Recording

MOMENTS = 20
BOOT = "00000001-0000-4000-8000-000000000000"


def kinds():
    """What is killed, by name: what it begins with, what it does, and what must be true then."""
    found = {}
    for name, (before, change, check) in CHANGES.items():
        if name != "upgrade":
            found[name] = before, change, check
            continue
        for version in golden_versions():
            found[f"upgrade from version {version}"] = (lambda r, version=version: before_upgrade(r, version)), change, check
    return found


class Killed:
    """What came of the moments of one kind."""

    def __init__(self, name):
        self.name, self.moments, self.passed, self.failures = name, 0, 0, []


def kill_everywhere(name, programs, seed, moments=MOMENTS):
    before, change, check = kinds()[name]
    result, folder = Killed(name), temporary_folder()
    try:
        recording = Recording(programs, folder, seed, sync_us=0)
        recording.boot_after = BOOT
        before(recording)
        recording.prefix = _read(recording.path)
        whole = _changes(recording, change)
        chance = random.Random(seed)
        for number in range(4 * moments):
            if result.moments == moments:
                break
            at = 1 + whole * (number % moments) // moments + chance.randrange(max(1, whole // moments))
            findings = _killed(recording, change, check, at, seed + number)
            if findings is None:
                continue  # it had ended before
            result.moments += 1
            result.passed += not findings.problems
            result.failures += [(at, kind, text) for kind, text in findings.problems]
    except Exception:
        result.failures.append((0, "did not run", traceback.format_exc()))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return result


def _again(recording, kill):
    """The files as they were before, with the inodes that the store knows."""
    shutil.rmtree(recording.root, ignore_errors=True)
    for path in (recording.path, recording.counter):
        if os.path.exists(path):
            os.unlink(path)
    with open(recording.path, "wb") as file:
        file.write(recording.prefix)
    state = disk.Disk(recording.root)
    state.begin_with(recording.snapshot)
    made = disk.materialise(state.whole(), recording.root, recording.root, random.Random(0))
    recording.shown, recording.kill = {real: was + INODE_OFFSET for real, was in made}, kill


def _changes(recording, change):
    """How many changes of files it makes when nothing happens to it."""
    before = dict(recording.events)
    _again(recording, 1 << 60)
    change(recording)
    recording.end()
    recording.events = before
    return int.from_bytes(_read(recording.counter)[:8], "little")


def _read(path):
    if not os.path.exists(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def _killed(recording, change, check, at, seed):
    """Findings after a kill before the at-th change; `None` where it had ended before."""
    _again(recording, at)
    before = dict(recording.events)
    try:
        change(recording)
        recording.events = before
        return None
    except (Ended, OSError):
        pass
    finally:
        recording.end()
    data = disk.records(recording.path)
    acknowledged = {i: recording.events[i].payload for _, i in recording.acknowledgements(data)}
    told = [text for _, text in recording.told(data)]
    state = disk.Disk(recording.root)
    state.begin_with(disk.snapshot(recording.root))
    where = tempfile.mkdtemp(dir=recording.folder)
    recording.origins_before = 0
    try:
        return check(recording, state.whole(), acknowledged, where, seed, told)
    finally:
        shutil.rmtree(where, ignore_errors=True)
        recording.events = before


def run_kills(folder, seed, moments=MOMENTS, only=None):
    compiled = tempfile.mkdtemp(prefix="crash-recorder-")
    try:
        programs = Programs(os.path.abspath(folder), recorder(compiled))
        return [kill_everywhere(name, programs, seed, moments) for name in only or kinds()]
    finally:
        shutil.rmtree(compiled, ignore_errors=True)
