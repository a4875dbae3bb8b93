"""Rows of table `event` (FORMATS.md, section 3), and the header that such a row stands for."""

import collections

from .headers import (
    ACTOR,
    DEPS,
    FIXED64,
    HLC,
    ID,
    ORIGIN,
    SEQ,
    TIME,
    VARINT_FORM,
    VERSION,
    bytes_field,
    dependency_body,
    number_field,
    read_fields,
    read_varint,
    tag_of,
    varint,
    zigzag,
)
from .values import BLOB, BLOB_OF_16, BLOB_OF_32, EMPTY_BLOB, INTEGER, NULL, TEXT, kind_of

SOME_BYTES = {BLOB, BLOB_OF_16, BLOB_OF_32}

# Each column, in the order of the table, and the kinds of a sound value.
COLUMNS = {
    'position': {INTEGER},
    'user': {INTEGER},
    'conversation': {INTEGER, NULL},
    'time': {INTEGER, NULL},
    'hlc': {INTEGER},
    'origin': {INTEGER},
    'seq': {INTEGER},
    'type': {INTEGER},
    'author': {INTEGER, NULL},
    'id': {BLOB_OF_16},
    'cause': {BLOB_OF_16, NULL},
    'dependencies': SOME_BYTES | {NULL},
    'version': {INTEGER, NULL},
    'unknown': SOME_BYTES | {NULL},
    'twin': {INTEGER, NULL},
    'leaf': {INTEGER},
    'salt': {BLOB_OF_16, NULL},
    'digest': {BLOB_OF_32, NULL},
    'payload': {TEXT, EMPTY_BLOB, NULL} | SOME_BYTES,
    'seal': {BLOB_OF_16, NULL},
    'actor': {INTEGER, NULL},
}
# A log of version 1 has no column `seal`, and one of version 2 no column `actor`.
Row = collections.namedtuple('Row', COLUMNS, defaults=[None, None])


def wrong_columns(row):
    """The columns with a value of another kind or length."""
    return [
        name for (name, kinds), value in zip(COLUMNS.items(), row) if kind_of(value) not in kinds
    ]


def dependencies_of(blob):
    """Refs of origins and seqs: pairs of varints in their shortest form, and nothing else."""
    if not blob:
        return []
    found = [read_varint(part, 0)[0] for part in VARINT_FORM.findall(blob)]
    if b''.join(map(varint, found)) != blob or len(found) % 2:
        raise ValueError('column dependencies has no pairs of varints')
    return list(zip(found[::2], found[1::2]))


def is_opaque(row, names):
    """Whether type and user name the empty text: then the header could not be read."""
    return names[row.type] == b'' and names[row.user] == b''


def header_of(row, names, origins):
    """The canonical header of a row. `names` and `origins`: the texts and the origins' ids by
    their refs."""
    if is_opaque(row, names):
        return row.unknown
    parts = [bytes_field(ORIGIN, origins[row.origin]), number_field(SEQ, row.seq)]
    if row.hlc:
        parts.append(varint(tag_of(HLC, FIXED64)) + row.hlc.to_bytes(8, 'little'))
    if row.time is not None:
        parts.append(number_field(TIME, zigzag(row.time)))
    texts = (
        row.id,
        names[row.type],
        names.get(row.conversation),
        names[row.user],
        names.get(row.author),
        row.cause,
    )
    for field, text in enumerate(texts, ID):
        if text is not None:
            parts.append(bytes_field(field, text))
    for ref, seq in dependencies_of(row.dependencies):
        parts.append(bytes_field(DEPS, dependency_body(origins[ref], seq)))
    rest = later_fields(row.unknown or b'', names.get(row.actor))
    if row.version is not None:
        parts.append(number_field(VERSION, row.version))
    return b''.join(parts) + rest


def later_fields(unknown, actor):
    """The fields above 12: the actor stands behind those of `unknown` that are below it."""
    if not actor:
        return unknown
    at = 0
    for tag, _, _, end in read_fields(unknown):
        if tag >> 3 < ACTOR:
            at = max(at, end)
    return unknown[:at] + bytes_field(ACTOR, actor) + unknown[at:]
