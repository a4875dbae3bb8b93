"""A hostile and an honest Sillok peer, written from docs/reference/FORMATS.md and docs/reference/sync.proto alone.

    make hostile [ONLY=name]        or      Tests/Hostile/run [--list] [--only NAME] [--syncd PATH --syncctl PATH]

One line for each case: passed or failed, its name, how many tries, what came of them, figures. Exit code 1 when one failed.
"""
import argparse
import sys

import wire
from suite import cases, run


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--only', metavar='NAME', help='cases whose name contains NAME')
    options.add_argument('--suite', help='conformance, snapshots, attacks, lies, extremes, floods, api, access or files')
    options.add_argument('--list', action='store_true')
    options.add_argument('--keep', action='store_true', help='keep the stores in /tmp')
    options.add_argument('--syncd', default=wire.ROOT / '.build/release/syncd')
    options.add_argument('--syncctl', default=wire.ROOT / '.build/release/syncctl')
    asked = options.parse_args()
    chosen = [case for case in cases() if not asked.only or asked.only in case.__name__]
    chosen = [case for case in chosen if asked.suite in (None, case.__module__)]
    if asked.list:
        for case in chosen:
            print(f'{case.__name__:<34} {(case.__doc__ or "").strip().splitlines()[0]}')
        return 0
    failed = 0
    for case in chosen:
        passed, line = run(case, asked.syncd, asked.syncctl, asked.keep)
        failed += not passed
        print(line, flush=True)
    print(f'{len(chosen) - failed} passed, {failed} failed')
    return 1 if failed or not chosen else 0


if __name__ == '__main__':
    sys.exit(main())
