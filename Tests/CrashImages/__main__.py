"""Power-cut images: records a daemon at work, computes what a power cut may leave on the disk, and starts on it.

    python3 Tests/CrashImages --programs .build/release --images 1000 [--seed n] [--only single,batches] [--jobs 2] [--keep DIR]
    python3 Tests/CrashImages --programs .build/release --again DIR      # the images that were kept, once more
"""

import argparse
import os
import sys
import time

from run import again, report, run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=".build/release", help="the folder of syncd and syncctl")
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", help="scenarios, separated by commas")
    parser.add_argument("--keep", help="a folder for recordings of which an image failed")
    parser.add_argument("--again", help="a kept recording")
    options = parser.parse_args()
    if options.again:
        sys.exit(again(options.programs, options.again))
    seed = options.seed if options.seed is not None else int(time.time())
    started = time.monotonic()
    results = run(options.programs, options.images, seed, options.jobs, options.only.split(",") if options.only else None, options.keep)
    sys.exit(report(results, seed, time.monotonic() - started))


main()
