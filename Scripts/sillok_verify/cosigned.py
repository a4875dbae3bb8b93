"""`cosigned.db` (FORMATS.md, sections 1 and 9): what this node has cosigned, and what its peers
have told."""

import os
import re
import sqlite3
import struct
import typing
import uuid

from .files import open_database, stands
from .heads import head_text
from .notes import is_cosigned
from .signatures import is_signed
from .values import MOST_EVENTS, MOST_SECONDS, TEXT, WRONG_FORM, kind_of

FILE = 'cosigned.db'
IS_TABLE = "SELECT type FROM sqlite_master WHERE name = 'value'"
# A list has at most 1,024 entries. One that is longer is read as NULL.
LISTS = 'SELECT name, CASE WHEN length(bytes) <= 204816 THEN bytes END FROM value ORDER BY name'
LONGEST_LIST = 204816
NAME_FORM = re.compile('(?:mine/([0-9a-f-]{36})|node/([0-9a-f]{64}))')
HAS_EVENT = 'SELECT 1 FROM event WHERE origin = ? AND seq = ?'
# Version and count; then of each entry origin, size, root, hlc, signature, time, cosignature.
BEGINNING = struct.Struct('>QQ')
ENTRY = struct.Struct('>16sQ32sQ64sQ64s')


class Entry(typing.NamedTuple):
    origin: bytes
    size: int
    root: bytes
    hlc: int
    signature: bytes
    time: int
    cosignature: bytes


def read_lists(store):
    """Name and bytes of each list. They are read before the log: what a running node commits
    meanwhile is no contradiction."""
    path = store.folder.path_of(FILE)
    is_empty = os.path.isfile(path) and not os.path.getsize(path)
    if not stands(path) or is_empty:
        return []
    try:
        database = open_database(path)
        if database.execute('PRAGMA schema_version').fetchone() == (0,):
            database.close()  # a power cut ended its making
            return []
        if database.execute(IS_TABLE).fetchall() != [(b'table',)]:
            raise OSError('it has no table value')
        lists = database.execute(LISTS).fetchall()
        database.close()
        return lists
    except (OSError, sqlite3.Error) as error:
        store.report.doubts(
            f'{FILE} cannot be read: the log is not compared with what was cosigned ({error})'
        )
        return []


def entries_of(data):
    """The entries of a list. Raises ValueError where it has another form."""
    count = len(data) // ENTRY.size
    is_long = len(data) > LONGEST_LIST or len(data) % ENTRY.size != BEGINNING.size
    if is_long or data[: BEGINNING.size] != BEGINNING.pack(1, count):
        raise ValueError('no list')
    entries = [Entry(*values) for values in ENTRY.iter_unpack(data[BEGINNING.size :])]
    origins = [entry.origin for entry in entries]
    if origins != sorted(set(origins)) or not all(map(is_within_bounds, entries)):
        raise ValueError('no entry of a list')
    return entries


def is_within_bounds(entry):
    is_size = 0 < entry.size <= MOST_EVENTS
    return is_size and entry.time <= MOST_SECONDS and entry.hlc < 2**63


def compare(store, known, lists):
    for name, data in lists:
        is_text = kind_of(name) == TEXT
        shown_name = name.decode(errors='replace') if is_text else repr(name)
        try:
            if not is_text or type(data) is not bytes:
                raise TypeError('another kind')
            node, entries = read_list(store, shown_name, data)
        except WRONG_FORM:
            store.report.doubts(
                f'{FILE}: {shown_name:.90} is no list of cosignatures:'
                ' nothing can be compared with it'
            )
            continue
        compare_list(store, known, node, entries)


def read_list(store, name, data):
    """Whose list it is, and its entries. `mine/…` has one, of that origin."""
    origin, node = NAME_FORM.fullmatch(name).groups()
    entries = entries_of(data)
    if node:
        return bytes.fromhex(node), entries
    if [entry.origin for entry in entries] != [uuid.UUID(origin).bytes]:
        raise ValueError('no cosignature of that origin')
    return store.own_node, entries


def compare_list(store, known, node, entries):
    """What this node has cosigned, and what peers have told of its own origins, it has had. What
    they tell of others may come yet."""
    key = key_of_node(store, node)
    is_own = node == store.own_node
    who = 'what this node has cosigned' if is_own else f'node {node.hex():.12}'
    for entry in entries:
        head = entry.origin, entry.size, entry.root
        text = head_text(*head, entry.hlc)
        # Of another form it is no word of that node, and says nothing of this log.
        if not is_cosigned(key, entry.cosignature, entry.time, text):
            continue
        if not is_signed(store.key_of(entry.origin), entry.signature, text):
            continue
        if not is_usual(store, known, node, entry):
            known.expects(who, *head)


def key_of_node(store, node):
    return next((origin.key for origin in store.origins.values() if origin.node == node), b'')


def is_usual(store, known, node, entry):
    """Peers may be ahead in origins of others, and of two histories that are proven hold the other
    one."""
    ref = store.ref_of(entry.origin)
    if store.log.execute(HAS_EVENT, (ref, entry.size)).fetchone():
        return entry.origin in known.forks
    origin = store.origins.get(ref)
    return store.own_node not in (node, origin.node if origin else b'')
