"""A hostile and an honest Sillok peer, written from docs/FORMATS.md and docs/sync.proto alone.

    make hostile [ONLY=name]        or      Tests/Hostile/run [--list] [--only NAME] [--syncd PATH --syncctl PATH]

One line for each case: passed or failed, its name, how many tries, what came of them, figures. Exit code 1 when one failed.
"""
import argparse
import subprocess
import sys
import time
import traceback

import lab
import wire

import api
import attacks
import conformance
import extremes
import floods

SUITES = [conformance, attacks, extremes, floods, api]


def run(case, syncd, syncctl, keep=False):
    """(passed, line)"""
    name = case.__name__
    began = time.monotonic()
    with lab.Lab(syncd, syncctl, keep) as here:
        try:
            outcome = case(here) or ''
            passed = True
        except lab.Failed as problem:
            outcome, passed = str(problem), False
        except Exception as problem:  # noqa: BLE001 - a case that breaks is a case that failed
            at = traceback.extract_tb(problem.__traceback__)
            where = next((f for f in reversed(at) if '/Hostile/' in f.filename), at[-1])
            died = ', '.join(f'{d.name} died: exit {d.process.returncode}; ' for d in here.daemons if not d.alive())
            outcome, passed = f'{died}{type(problem).__name__}: {problem} ({where.name}:{where.lineno})', False
        try:
            here.aftermath()
        except (lab.Failed, OSError, subprocess.SubprocessError) as problem:
            outcome, passed = f'{outcome}; then: {problem}', False
    figures = ' '.join(f'{key}={value}' for key, value in here.figures.items())
    outcome = outcome.replace('\n', ' ')[:600]
    return passed, f'{"ok    " if passed else "FAILED"} {name:<34} {time.monotonic() - began:5.1f}s  {outcome}  {figures}'


def cases():
    return [case for suite in SUITES for case in suite.CASES]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--only', metavar='NAME', help='cases whose name contains NAME')
    options.add_argument('--suite', help='conformance, attacks, extremes, floods or api')
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
