"""All cases, and how one of them is run."""
import subprocess
import time
import traceback

import lab

import access
import api
import attacks
import conformance
import extremes
import files
import floods
import lies
import snapshots

SUITES = [conformance, snapshots, attacks, lies, extremes, floods, api, access, files]


def run(case, syncd, syncctl, keep=False, again=True):
    """(passed, line)"""
    late = False
    name = case.__name__
    began = time.monotonic()
    with lab.Lab(syncd, syncctl, keep) as here:
        try:
            outcome = case(here) or ''
            passed = True
        except lab.Failed as problem:
            outcome, passed, late = str(problem), False, isinstance(problem, lab.Late)
        except Exception as problem:  # noqa: BLE001 - a case that breaks is a case that failed
            at = traceback.extract_tb(problem.__traceback__)
            where = next((f for f in reversed(at) if '/Hostile/' in f.filename), at[-1])
            died = ', '.join(f'{d.name} died: exit {d.process.returncode}; ' for d in here.daemons if not d.alive())
            outcome, passed = f'{died}{type(problem).__name__}: {problem} ({where.name}:{where.lineno})', False
        try:
            here.aftermath()
        except (lab.Failed, OSError, subprocess.SubprocessError) as problem:
            late = isinstance(problem, lab.Late) and (passed or late)
            outcome, passed = f'{outcome}; then: {problem}', False
    if late and again:
        passed, line = run(case, syncd, syncctl, keep, again=False)
        return passed, f'{line}  (second run; first: {outcome})'
    figures = ' '.join(f'{key}={value}' for key, value in here.figures.items())
    outcome = outcome.replace('\n', ' ')[:600]
    return passed, f'{"ok    " if passed else "FAILED"} {name:<34} {time.monotonic() - began:5.1f}s  {outcome}  {figures}'


def cases():
    return [case for suite in SUITES for case in suite.CASES]
