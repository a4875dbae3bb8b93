"""Recordings and their images, side by side, and the table of what came of them."""

import collections
import multiprocessing
import os
import pickle
import random
import shutil
import tempfile
import time
import traceback
import zlib

import disk
from changes import CHANGES
from check import COUNTS, check_image, rows
from programs import Ended, Programs, recorder, temporary_folder
from scenarios import CONTROL, SCENARIOS, Recording

IMAGES_OF_A_RECORDING = 25


class Result:
    """What came of one recording's images."""

    def __init__(self, scenario, seed):
        self.scenario, self.seed = scenario, seed
        self.images = self.passed = self.new_origins = self.not_covered = 0
        self.counts = collections.Counter()
        self.failures = []  # (image, seed, how it was chosen, kind, text)
        self.error = None  # the scenario itself did not run, or the recorder has missed something
        self.remarks = []


def replay(recording, base, data, chosen, visit):
    """Goes through the records once; calls visit(disk, record number, seed) wherever the power goes."""
    state = disk.Disk(recording.root)
    state.begin_with(base)
    done = 0
    for at, seed in chosen:
        while done < at:
            state.apply(data[done])
            done += 1
        visit(state, at, seed)
    for record in data[done:]:
        state.apply(record)
    return state


def missed_by_recorder(recording, state):
    """The names of files whose content is not what was recorded: then the model is worth nothing."""
    real = {os.path.join(recording.root, name): content for name, _, _, content in recording.left if name}
    seen = {path: disk.FOLDER if what is disk.FOLDER else bytes(what[1]) for path, what in state.whole().items() if path != recording.root}
    for path in list(seen):
        if path not in real and path.endswith(".sock"):
            del seen[path]
    return sorted(path for path in set(real) | set(seen) if real.get(path, "") != seen.get(path, ""))


def record(scenario, seed, programs, folder):
    recording = Recording(programs, folder, seed)
    try:
        SCENARIOS[scenario](recording)
    finally:
        recording.end()
    recording.left = disk.snapshot(recording.root)
    recording.origins_before = _origins(recording)
    return recording


def try_images(recording, result, folder, count, keep=None, only=None):
    data = disk.records(recording.path)
    acknowledgements, marks = recording.acknowledgements(data), recording.told(data)
    check = CHANGES[result.scenario][2] if result.scenario in CHANGES else check_image
    chosen = only if only is not None else disk.cuts(data, count, recording.chance.randrange(1 << 30), recording.start)

    def visit(state, at, seed):
        acknowledged = {i: recording.events[i].payload for number, i in acknowledgements if number <= at}
        image, how = state.image(random.Random(seed))
        # Where it was recorded, for a store knows places outside of itself.
        shutil.rmtree(recording.root, ignore_errors=True)
        where = tempfile.mkdtemp(dir=folder)
        try:
            findings = check(recording, image, acknowledged, where, seed, [text for number, text in marks if number <= at])
        finally:
            shutil.rmtree(where, ignore_errors=True)
            shutil.rmtree(recording.root, ignore_errors=True)
        result.images += 1
        result.new_origins += findings.new_origins > 0
        result.not_covered += findings.not_covered
        result.passed += not findings.problems
        result.counts.update({kind for kind, _ in findings.problems})
        for kind, text in findings.problems:
            result.failures.append((at, seed, how, kind, text))

    state = replay(recording, recording.snapshot, data, chosen, visit)
    missed = missed_by_recorder(recording, state) if only is None else []
    if missed:
        result.error = MISSED + ", ".join(missed)
    if keep and (result.failures or missed):
        _keep(recording, result, keep)


def _origins(recording):
    """How many origins the log had at the end of the recording, or 0."""
    try:
        return rows(recording.store)[1]
    except Exception:
        return 0


def _keep(recording, result, keep):
    there = os.path.join(keep, f"{result.scenario}-{result.seed}")
    shutil.rmtree(there, ignore_errors=True)
    os.makedirs(there)
    shutil.copy(recording.path, os.path.join(there, "recording"))
    with open(os.path.join(there, "images"), "wb") as file:
        pickle.dump(
            {
                "scenario": result.scenario,
                "seed": result.seed,
                "root": recording.root,
                "settings": recording.settings,
                "shown": recording.shown,
                "events": recording.events,
                "snapshot": recording.snapshot,
                "origins_before": recording.origins_before,
                "kept": recording.kept,
                "images": sorted({(at, seed) for at, seed, _, _, _ in result.failures}),
            },
            file,
        )
    with open(os.path.join(there, "failures.txt"), "w") as file:
        for at, seed, how, kind, text in result.failures:
            file.write(f"record {at} image seed {seed}: {how}\n{kind}: {text}\n\n")


MISSED = "the recorder has missed changes of "


def _unit(arguments):
    """One recording and its images, in a process of its own."""
    result = _attempt(arguments)
    if result.error and result.error.startswith(MISSED):
        # SIGKILL between a write and its record looks like this; twice it would be a coincidence.
        result = _attempt(arguments)
    return result


def _attempt(arguments):
    scenario, seed, count, programs, keep = arguments
    result = Result(scenario, seed)
    folder = temporary_folder()
    try:
        recording = record(scenario, seed, programs, folder)
        result.remarks = recording.remarks
        try_images(recording, result, folder, count, keep if scenario != CONTROL else None)
    except (Ended, OSError) as error:
        result.error = str(error)
    except Exception:
        result.error = traceback.format_exc()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return result


def run(programs, images, seed, jobs, only=None, keep=None, progress=True):
    """Tries so many images, spread over the scenarios, with a recording for every 25 of them."""
    folder = tempfile.mkdtemp(prefix="crash-recorder-")
    try:
        found = Programs(os.path.abspath(programs), recorder(folder))
        names = only or list(SCENARIOS)
        units, number = [], 0
        for index, name in enumerate(names):
            left = images // len(names) + (index < images % len(names))
            while left > 0:
                count = min(left, IMAGES_OF_A_RECORDING)
                units.append((name, zlib.crc32(f"{seed}/{name}/{number}".encode()), count, found, keep))
                left -= count
                number += 1
        random.Random(seed).shuffle(units)
        results = []
        with multiprocessing.get_context("fork").Pool(max(1, jobs), maxtasksperchild=4) as pool:
            for result in pool.imap_unordered(_unit, units):
                results.append(result)
                if progress and (result.error or (result.failures and result.scenario != CONTROL)):
                    _tell(result)
        return results
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _tell(result):
    if result.error:
        print(f"{result.scenario}-{result.seed}: {result.error}", flush=True)
    for at, seed, how, kind, text in result.failures[:3]:
        print(f"{result.scenario}-{result.seed}: record {at} image {seed}: {how}\n    {kind}: {text}", flush=True)


def table(results):
    """Columns and rows, one for each scenario."""
    rows = []
    for name in SCENARIOS:
        of = [r for r in results if r.scenario == name]
        if of:
            counts = [sum(r.counts[kind] for r in of) for kind in COUNTS]
            values = sum(r.images for r in of), sum(r.passed for r in of), *counts
            rows.append([name, *values, sum(r.new_origins for r in of), sum(r.not_covered for r in of)])
    return ["scenario", "images", "passed", *COUNTS, "new origin", "not covered"], rows


def report(results, seed, seconds=None):
    """Prints the table; returns the exit code: 0 when every image passed and the control has seen losses."""
    columns, rows = table(results)
    passed = failed = 0
    control_images = control_lost = 0
    errors = [r for r in results if r.error]
    for name, *values in [columns, *rows]:
        print(f"{name:16}" + "".join(f"{value:>12}" for value in values))
        if name == CONTROL:
            control_images, control_lost = values[0], values[2]
        elif name in SCENARIOS:
            passed, failed = passed + values[1], failed + values[0] - values[1]
    if control_images:
        print(f"control: with durability normal {control_lost} of {control_images} images have lost events, as they must")
    remarks = collections.Counter((r.scenario, text) for r in results for text in r.remarks)
    for (name, text), count in sorted(remarks.items()):
        print(f"{name}: {text} ({count} times)")
    for result in errors:
        print(f"{result.scenario}-{result.seed} did not run: {result.error}")
    rate = f", {(passed + failed + control_images) / seconds:.1f} images a second" if seconds else ""
    print(f"seed {seed}: {passed} passed, {failed} failed{rate}")
    blind = control_images >= 5 and not control_lost
    if blind:
        print("the control has lost nothing: the harness would not see a loss")
    return 1 if failed or errors or blind else 0


def again(programs, kept):
    """The failed images of a kept recording, once more."""
    with open(os.path.join(kept, "images"), "rb") as file:
        held = pickle.load(file)
    folder = temporary_folder()
    try:
        recording = Recording(Programs(os.path.abspath(programs), recorder(folder)), folder, held["seed"])
        recording.path, recording.root = os.path.join(kept, "recording"), held["root"]
        recording.store = os.path.join(recording.root, "store")
        os.makedirs(os.path.dirname(recording.root))
        for name in ("settings", "shown", "events", "snapshot", "origins_before", "kept"):
            setattr(recording, name, held[name])
        result = Result(held["scenario"], held["seed"])
        started = time.monotonic()
        try_images(recording, result, folder, 0, only=held["images"])
        _tell(result)
        shutil.rmtree(os.path.dirname(recording.root))
        return report([result], held["seed"], time.monotonic() - started)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
