"""`erasures.ndjson` (FORMATS.md, section 11): erasures that a restored store keeps, and that its
log does not have. Each proves itself, and lets go what the node's own would."""

import uuid

from .erasures import TYPES, Erasure
from .files import file_bytes, is_file_within, stands
from .headers import CONVERSATION, HLC, TYPE, USER, dot_of, read_header
from .heads import node_id, parsed_head
from .lines import Lie, digests, parsed_line
from .payloads import members
from .signatures import is_signed
from .trees import is_included, leaf_hash, sha256
from .values import WRONG_FORM, base64_bytes

FILE = 'erasures.ndjson'


def compare(store, erasures):
    for number, data in enumerate(lines_of(store), 1):
        try:
            take(store, erasures, parsed_line(data))
        except (*WRONG_FORM, Lie):
            store.report.finds(
                'erased', f'{FILE}, line {number}: no erasure that this node has signed'
            )


def lines_of(store):
    path = store.folder.path_of(FILE)
    if is_file_within(path):
        data = file_bytes(path)
        return data.removesuffix(b'\n').split(b'\n') if data else []
    if stands(path):
        store.report.doubts(f'{FILE} cannot be read: it is no file, or has more than 64 MiB')
    return []


def take(store, erasures, line):
    """A line is an erasure of the log's node where its key is that node's, the head is signed, and
    the path leads from the event to it."""
    if line['type'] != 'erasure':
        raise Lie('no erasure')
    key = base64_bytes(line['key'])
    header = base64_bytes(line['header'])
    payload = base64_bytes(line['payload'])
    salt = bytes.fromhex(line['salt'])
    head = parsed_head(line['head'])
    dot = uuid.UUID(line['origin']).bytes, line['seq']
    leaf = leaf_hash(header, sha256(salt, payload))
    is_there = dot_of(header) == dot and 0 < line['seq'] <= head.size and head.origin == dot[0]
    path = digests(line['proof'])
    if not is_there or not is_included(leaf, line['seq'] - 1, head.size, path, head.root):
        raise Lie('not of this origin')
    signature = base64_bytes(line['signature'])
    is_own = node_id(key) == store.own_node
    if not is_own or not is_signed(key, signature, line['head'].encode()):
        raise Lie('not signed')
    fields = read_header(header).fields
    if fields[TYPE] not in TYPES:
        raise Lie('no erasure')
    erasure = Erasure(
        node=store.own_node,
        type=fields[TYPE],
        said=members(payload),
        hlc=int.from_bytes(fields.get(HLC, b''), 'little'),
        user=fields[USER],
        conversation=fields.get(CONVERSATION),
    )
    if not erasures.add(erasure):
        raise Lie('no erasure')
