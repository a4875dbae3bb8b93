"""What lies in `evidence` (FORMATS.md, section 1): proofs of forks (section 2, "Evidence"), and
what starts have found of a log that was cut (section 3)."""

import os
import re
import typing
import uuid

from .files import named_file
from .headers import dot_of, is_too_long
from .heads import is_head, parsed_head
from .known import CutFile
from .lines import digests
from .payloads import distinct_members, members
from .signatures import is_signed
from .trees import is_consistent, is_included, leaf_hash
from .values import (
    MOST_MILLISECONDS,
    WRONG_FORM,
    base64_bytes,
    is_decimal,
    is_digest,
    is_digests,
    is_string,
    is_uuid,
    origin_name,
)

FOLDER = 'evidence'
CUT_NAME = re.compile(r'(cut|witness)-[0-9a-f]{16}\.json')
MOST_BYTES = 262145


def is_moment(text):
    return is_decimal(text, MOST_MILLISECONDS)


# The one form of each member of a file of a cut. The last two may be missing.
CUT_FORMS = {
    'kind': is_string,
    'text': is_string,
    'origin': is_uuid,
    'had': is_decimal,
    'position': is_decimal,
    'at': is_moment,
    'known': is_head,
    'settled': is_moment,
}
MAY_BE_MISSING = ('known', 'settled')


class Fork(typing.NamedTuple):
    origin: bytes
    seq: int
    is_proven: bool
    is_of_roots: bool


def proof_of_fork(said, keys):
    """What a proof of two histories shows with these keys. Raises where it has another form."""
    is_fork = said['kind'] == 'fork' and is_uuid(said['origin']) and is_decimal(said['seq'])
    if not is_fork:
        raise ValueError('not the form of a proof')
    origin = uuid.UUID(said['origin']).bytes
    seq = int(said['seq'])
    # Objects, no lists of pairs, and no name twice.
    one, other = map(distinct_members, said['branches'])
    proven = set()
    for branch in (one, other):
        mark = proven_mark(branch, origin, seq, keys.get(origin, b''))
        if mark:
            proven.add(mark)
    kinds = {kind for kind, _ in proven}
    return Fork(origin, seq, len(proven) == 2 and len(kinds) == 1, 'root' in one)


def proven_mark(branch, origin, seq, key):
    """What a branch proves of the first `seq` events: its kind, and the root or the leaf of the
    last. None where it proves nothing."""
    kind = 'root' if 'root' in branch else 'payload_digest'
    digest = branch[kind]
    if not is_digest(digest) or not is_digests(branch['proof']):
        raise ValueError('not the form of a branch')
    head = parsed_head(branch['head'])
    path = digests(branch['proof'])
    mark = bytes.fromhex(digest)
    is_there = 0 < seq <= head.size
    if kind == 'root':
        is_there = is_there and is_consistent(seq, head.size, mark, head.root, path)
    else:
        header = base64_bytes(branch['header'])
        mark = leaf_hash(header, mark)
        is_there = is_there and dot_of(header) == (origin, seq) and not is_too_long(header, None)
        is_there = is_there and is_included(mark, seq - 1, head.size, path, head.root)
    signature = base64_bytes(branch['signature'])
    is_proven = is_signed(key, signature, branch['head'].encode())
    return (kind, mark) if is_proven and head.origin == origin and is_there else None


def named_evidence(path):
    """The file that the command line names with `--evidence`."""
    return named_file(path)[:MOST_BYTES]


def gather(store, known, asked):
    """Takes in what lies in the folder, and what was asked for: `asked` has name and bytes."""
    for name in file_names(store):
        try:
            take(store, known, name, members(store.folder.one_of_many(f'{FOLDER}/{name}') or b''))
        except WRONG_FORM:
            pass  # no one has signed it: what has not its form says nothing
    for name, data in asked:
        try:
            said = members(data)
            if said is None:
                raise ValueError('it is empty, or no JSON object')
            take_fork(store, known, name, said, is_asked=True)
        except WRONG_FORM as error:
            raise OSError(f'{name} is no proof of a fork: {error!r}') from error


def file_names(store):
    try:
        return sorted(os.listdir(store.folder.path_of(FOLDER)))
    except FileNotFoundError:
        return []
    except OSError as error:
        store.report.doubts(f'what is in evidence cannot be told: {error}')
        return []


def take(store, known, name, said):
    if name.startswith('fork-') and name.endswith('.json'):
        take_fork(store, known, name, said, is_asked=False)
    elif CUT_NAME.fullmatch(name) and said['kind'] == name.split('-')[0]:
        take_cut(known, name.removesuffix('.json'), said)


def take_fork(store, known, name, said, is_asked):
    fork = proof_of_fork(said, store.keys)
    if fork.is_proven:
        known.forks.add(fork.origin)
        first = f'of the first {fork.seq} events' if fork.is_of_roots else f'from seq {fork.seq} on'
        store.report.remarks(
            f'{name}: the key of {said["origin"]} has signed two histories {first}'
        )
    elif fork.origin in store.keys:
        store.report.finds('beside', f'{name}: does not prove two histories of {said["origin"]}')
    elif is_asked:
        store.report.doubts(
            f'{name}: it is of origin {said["origin"]}, of which nothing is here:'
            ' whether it proves two histories cannot be told'
        )


def take_cut(known, name, said):
    for member, is_right in CUT_FORMS.items():
        may_be_passed = member in MAY_BE_MISSING and member not in said
        if not may_be_passed and not is_right(said[member]):
            return
    text = said['text']
    if 'known' in said:
        head = parsed_head(said['known'])
        known.expects(name, *head)
        if int(said['had']) < head.size:
            text += (
                f': origin {origin_name(head.origin)} had {head.size} events,'
                f' up to seq {said["had"]} they were here'
            )
    known.cut_files[name] = CutFile(text, int(said['at']), int(said['position']))
