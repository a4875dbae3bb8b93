"""A hostile and an honest Sillok peer, written from docs/reference/FORMATS.md and docs/reference/sync.proto alone.

    make hostile [ONLY=name]        or      Tests/Hostile/run [--list] [--only NAME] [--syncd PATH --syncctl PATH]

One line for each case: passed or failed, its name, how many tries, what came of them, figures. Exit code 1 when one failed.
"""
import argparse
import pathlib
import sys
import time

import wire
from suite import SUITES, cases, run

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / 'Reliability'))
import results  # noqa: E402


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--only', metavar='NAME', help='cases whose name contains NAME')
    options.add_argument('--suite', help='conformance, snapshots, attacks, lies, extremes, floods, api, access, files; several between commas, or all')
    options.add_argument('--list', action='store_true')
    options.add_argument('--keep', action='store_true', help='keep the stores in /tmp')
    options.add_argument('--syncd', default=wire.ROOT / '.build/release/syncd')
    options.add_argument('--syncctl', default=wire.ROOT / '.build/release/syncctl')
    asked = options.parse_args()
    chosen = [case for case in cases() if not asked.only or asked.only in case.__name__]
    suites = None if asked.suite in (None, 'all') else asked.suite.split(',')
    chosen = [case for case in chosen if suites is None or case.__module__ in suites]
    if asked.list:
        for case in chosen:
            print(f'{case.__name__:<34} {(case.__doc__ or "").strip().splitlines()[0]}')
        return 0
    failed, began, held = 0, time.monotonic(), {}
    for case in chosen:
        start = time.monotonic()
        passed, line = run(case, asked.syncd, asked.syncctl, asked.keep)
        failed += not passed
        tried, good, seconds = held.get(case.__module__, (0, 0, 0))
        held[case.__module__] = tried + 1, good + passed, seconds + time.monotonic() - start
        print(line, flush=True)
    if not asked.only:
        rows = [[suite.__name__, *held[suite.__name__][:2], round(held[suite.__name__][2])] for suite in SUITES if suite.__name__ in held]
        build = results.build_of(pathlib.Path(asked.syncd).parent)
        results.write('hostile', ['suite', 'cases', 'passed', 'seconds'], rows, failed, time.monotonic() - began, build)
    print(f'{len(chosen) - failed} passed, {failed} failed')
    return 1 if failed or not chosen else 0


if __name__ == '__main__':
    sys.exit(main())
