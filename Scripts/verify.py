#!/usr/bin/env python3
"""Proves a Sillok store from its files, without any of Sillok's code. Written from FORMATS.md.

    Scripts/verify.py STORE [--json] [--evidence FILE] [--since RECEIPT]
        a store's folder, or a log.db; with it the proof of a fork, or receipts it goes on from
    Scripts/verify.py --proof FILE [--json]
        a proven answer or a receipt, with no store

Needs the folder sillok_verify beside it, Python 3.9 and, for Ed25519, `cryptography` (Debian:
python3-cryptography). Reads only.

Exit code: 0 proven, 2 not all covered by signatures, or not to be told, 3 contradicted, 64 usage,
66 cannot be read.

Proven means: every event is, byte for byte, one its origin's key has signed, in the order it has
signed. What no one can see in one store: a newest part that was cut off together with its heads and
mark. Compare the roots with a peer's.
"""

import argparse
import json
import sqlite3
import sys

# Reads only: not even what Python would keep of the modules is written beside them.
sys.dont_write_bytecode = True

try:
    from sillok_verify.lines import Lie
    from sillok_verify.proofs import Proof
    from sillok_verify.receipts import Receipt
    from sillok_verify.report import shown
    from sillok_verify.verifier import Verifier
except ImportError as missing:
    if not (missing.name or '').startswith('sillok_verify'):
        raise
    print(
        'verify: the folder sillok_verify, of the same release, must lie whole beside verify.py:'
        f' take it from Scripts/ of the source or from /usr/share/doc/syncd/examples/ ({missing})',
        file=sys.stderr,
    )
    sys.exit(66)

PROVEN, NOT_ALL_COVERED, CONTRADICTED, USAGE, CANNOT_BE_READ = 0, 2, 3, 64, 66
WORDS = {PROVEN: 'proven', NOT_ALL_COVERED: 'not all covered', CONTRADICTED: 'contradicted'}
MOST_FINDINGS = 100  # that are printed; with --json all are


class Options(argparse.ArgumentParser):
    def error(self, message):
        print(f'verify: {message}', file=sys.stderr)
        sys.exit(USAGE)


def options():
    parser = Options(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('store', nargs='?')
    parser.add_argument('--json', action='store_true')
    parser.add_argument('--evidence', metavar='FILE')
    parser.add_argument('--since', metavar='RECEIPT', action='append')
    parser.add_argument('--proof', metavar='FILE')
    asked = parser.parse_args()
    is_store = asked.store is not None
    if is_store == bool(asked.proof) or asked.proof and (asked.since or asked.evidence):
        parser.error('a store, or --proof FILE: --since and --evidence are for a store alone')
    return asked


def check_proof(asked):
    try:
        proof = Proof(Receipt(asked.proof))
    except Lie as lie:
        if asked.json:
            print(json.dumps({'answer': WORDS[CONTRADICTED], 'what': str(lie)}))
        else:
            print(shown(f'CONTRADICTED  {lie}'))
        return CONTRADICTED
    if asked.json:
        print(proof.as_json())
    else:
        for line in proof.as_lines():
            print(line)
    return proof.code


def check_store(asked):
    receipts = []
    for path in asked.since or ():
        try:
            receipts.append((path, Receipt(path)))
        except Lie as lie:
            print(shown(f'CONTRADICTED  {path}: {lie}'))
            return CONTRADICTED
    verifier = Verifier(asked.store, asked.evidence, receipts)
    verifier.run()
    return tell_store(verifier, asked.json)


def tell_store(verifier, as_json):
    store, report = verifier.store, verifier.report
    findings = report.sorted_findings()
    origins = verifier.origins()
    uncovered = sum(origin['events'] - origin['proven'] for origin in origins)
    erased = len(verifier.erasures.erased)
    code = PROVEN
    if findings:
        code = CONTRADICTED
    elif uncovered or report.has_doubts:
        code = NOT_ALL_COVERED
    if as_json:
        answer = {
            'answer': WORDS[code],
            'events': store.events,
            'erased': erased,
            'uncovered': uncovered,
            'notes': report.notes,
            'origins': origins,
            'findings': [finding._asdict() for finding in findings],
        }
        print(json.dumps(answer))
        return code
    for origin in origins:
        print(
            'origin {origin}  node {node:.12}  {events} events,'
            ' proven to {proven}  root {root:.16}'.format(**origin)
        )
    for note in report.notes:
        print(f'{"note":<10} {shown(note)}')
    for finding in findings[:MOST_FINDINGS]:
        place = f'position {finding.position}: ' if finding.position else ''
        print(f'{finding.check:<10} {place}{shown(finding.what)}')
    print(
        f'{WORDS[code].upper()}  {store.events} events, {erased} erased,'
        f' {uncovered} that no signed head covers'
    )
    return code


def tell_damage(error):
    what = f'the file is no sound database: {error}'
    if '--json' in sys.argv:
        finding = {'check': 'database', 'position': None, 'what': what}
        print(json.dumps({'answer': 'contradicted', 'notes': [], 'findings': [finding]}))
    else:
        print(shown('CONTRADICTED  ' + what))
    return CONTRADICTED


def main():
    try:
        asked = options()
        return check_proof(asked) if asked.proof else check_store(asked)
    except (OSError, sqlite3.OperationalError) as error:
        print(shown(f'verify: {error}'), file=sys.stderr)
        return CANNOT_BE_READ
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        # The latter where a schema is no text.
        return tell_damage(error)


if __name__ == '__main__':
    sys.exit(main())
