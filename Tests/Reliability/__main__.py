"""Reliability: runs the rigs whose results are missing, and writes the tables of docs/reference/RELIABILITY.md from what they wrote.

    python3 Tests/Reliability [--full] [--only rollback,kills] [--again]    # make reliability [FULL=1] [ONLY=…] [AGAIN=1]
    python3 Tests/Reliability --report                                      # the page alone, from the results that are there

Each rig leaves .build/reliability/RIG.json: what was tried, what came of it, seed, commit, machine. One that is there, of this commit and
long enough, is not run again.
"""

import argparse
import os
import sys
import time

sys.dont_write_bytecode = True

import page
import results
from rigs import RIGS, Setting


def is_done(name, is_full):
    """Whether there is a result of this tree. A quick one is not enough where a long one is asked for."""
    found = results.read(name)
    return found is not None and found["commit"] == results.commit() and (found.get("full", False) or not is_full)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=".build/release", help="the folder of syncd, syncctl and sillok-sim")
    parser.add_argument("--tests", default=".build/debug/sillokPackageTests.xctest")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int)
    parser.add_argument("--full", action="store_true", help="long runs, some hours, with planted faults")
    parser.add_argument("--only", help="rigs, separated by commas: " + ", ".join(rig.name for rig in RIGS))
    parser.add_argument("--again", action="store_true", help="also those whose results are there")
    parser.add_argument("--report", action="store_true", help="only writes the page")
    options = parser.parse_args()
    failed = []
    if not options.report:
        os.chdir(results.PROJECT)
        chosen = options.only.split(",") if options.only else [rig.name for rig in RIGS if rig.is_quick or options.full]
        if strange := set(chosen) - {rig.name for rig in RIGS}:
            parser.error(f"there is no rig {', '.join(sorted(strange))}")
        seed = options.seed if options.seed is not None else int(time.time())
        setting = Setting(options.programs, os.path.abspath(options.tests), options.jobs, seed, options.full)
        for rig in RIGS:
            if rig.name not in chosen or not options.again and is_done(rig.name, options.full):
                continue
            print(f"== {rig.name}", flush=True)
            began = time.monotonic()
            if rig.run(setting):
                failed.append(rig.name)
            results.note(rig.name, full=options.full)
            print(f"== {rig.name}: {time.monotonic() - began:.0f} s{', FAILED' if rig.name in failed else ''}", flush=True)
    page.write()
    if failed:
        sys.exit(f"did not hold: {', '.join(failed)}")


main()
