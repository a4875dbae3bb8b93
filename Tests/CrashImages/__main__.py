"""Power-cut images: records a daemon at work, computes what a power cut may leave on the disk, and starts on it.

    python3 Tests/CrashImages --programs .build/release --images 1000 [--seed n] [--only single,batches] [--jobs 2] [--keep DIR]
    python3 Tests/CrashImages --programs .build/release --again DIR      # the images that were kept, once more
    python3 Tests/CrashImages --programs .build/release --kills 20       # `kill -9` at so many moments of each change

What came of it is written to .build/reliability, too (Tests/Reliability).
"""

import argparse
import os
import sys
import time

from kills import run_kills
from run import again, report, run, table

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Reliability"))
import results  # noqa: E402


def killed(options, seed):
    started = time.monotonic()
    found = run_kills(options.programs, seed, options.kills, options.only.split(",") if options.only else None)
    for each in found:
        print(f"{each.name:28}{each.moments:5} moments{each.passed:5} passed")
        for at, kind, text in each.failures:
            print(f"    before change {at}: {kind}: {text}")
    failed = sum(len(each.failures) for each in found)
    rows = [[each.name, each.moments, each.passed] for each in found]
    seconds = time.monotonic() - started
    results.write("kills", ["what is killed", "moments", "passed"], rows, failed, seconds, results.build_of(options.programs), seed=seed)
    return 1 if failed or any(each.moments < options.kills for each in found) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=".build/release", help="the folder of syncd and syncctl")
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", help="scenarios, separated by commas")
    parser.add_argument("--keep", help="a folder for recordings of which an image failed")
    parser.add_argument("--again", help="a kept recording")
    parser.add_argument("--kills", type=int, help="kills processes at so many moments of each change")
    options = parser.parse_args()
    if options.again:
        sys.exit(again(options.programs, options.again))
    seed = options.seed if options.seed is not None else int(time.time())
    if options.kills:
        sys.exit(killed(options, seed))
    started = time.monotonic()
    found = run(options.programs, options.images, seed, options.jobs, options.only.split(",") if options.only else None, options.keep)
    seconds = time.monotonic() - started
    code = report(found, seed, seconds)
    if not options.only:
        columns, rows = table(found)
        results.write("crash-images", columns, rows, code, seconds, results.build_of(options.programs), seed=seed)
    sys.exit(code)


main()
