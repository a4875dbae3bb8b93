"""Mark, `log.end` and witness (FORMATS.md, section 1): how far the log went."""

import os
import re

from .heads import HEAD, parsed_head
from .known import MARK, WITNESS, WITNESS_OF_ORIGINAL, NamedEvidence
from .payloads import members
from .signatures import is_signed
from .trees import sha256
from .values import WRONG_FORM, base64_bytes, is_decimal, origin_name

# What the signature of a mark is over.
MARK_TEXT = (
    'sillok mark v1\n{node}\n{incarnation}\n{state}\n{position}\n{origin}\n{size}\n{root}\n{hlc}\n'
    '{boot}\n{durability}\n{settings}\n'
)
BOOT_ID = '/proc/sys/kernel/random/boot_id'
OWN_WITNESS = (
    'SELECT CAST(value AS TEXT), CAST(node AS BLOB) FROM meta, origin'
    " WHERE meta.key = 'witness' AND value <> ''"
    " AND ref = (SELECT value FROM meta WHERE key = 'origin')"
)
EVENTS_UP_TO = (
    'SELECT count(*) FROM event, origin'
    ' WHERE event.origin = ref AND origin.id = ? AND position <= ?'
)


def matches(form):
    return re.compile(form, re.S).fullmatch


def is_size(text):
    return is_decimal(text) and text != '0'


# The one form of each member that is not compared with something else.
MARK_FORMS = {
    'incarnation': matches('[0-9a-f]{16}'),
    'state': matches('running|stopped'),
    'durability': matches('full|normal'),
    'settings': matches('[0-9a-f]{64}'),
    'boot': matches('.*'),
    'position': is_decimal,
    'size': is_size,
}
WITNESS_FORMS = {'incarnation': matches('[0-9A-Fa-f]+')}


def witness_file(store):
    """The bytes of the witness that table `meta` names: none where it is missing or cannot be
    read, None where `meta` names no witness."""
    data = None
    for folder, node in store.log.execute(OWN_WITNESS).fetchall():
        path = os.path.join(os.fsdecode(folder), node.hex() + '.json')
        data = store.folder.small_file(path) or b''
    return data


def compare(store, known, witness):
    mark, head = statement(store, store.mark, MARK_TEXT, MARK_FORMS)
    if mark:
        compare_mark(store, known, mark, head)
    elif store.version > 1 and os.path.isfile(store.folder.path_of('node.key')):
        store.report.doubts('no mark of this store says how far its log went')
    compare_witness(store, known, witness)


def statement(store, data, text, forms):
    """The members of a file that the store's node has signed, and the head in it. None and None
    where it is not of this node and this incarnation, or has another form."""
    try:
        said = members(data)
        incarnation = int(store.meta[b'incarnation'], 16)
        is_own = said['node'] == store.own_node.hex()
        if not is_own or int(said['incarnation'], 16) != incarnation:
            return None, None
        if not all(is_right(said[name]) for name, is_right in forms.items()):
            return None, None
        signature = base64_bytes(said['signature'])
        if not is_signed(store.own_origin().key, signature, text.format(**said).encode()):
            return None, None
        return said, parsed_head(HEAD.format(**said))
    except WRONG_FORM:
        return None, None


def compare_mark(store, known, mark, head):
    known.position = int(mark['position'])
    known.marked = known.expects(MARK, *head)
    known.is_running = mark['state'] == 'running'
    if settings_of(store.meta) != mark['settings']:
        store.report.doubts('table meta has another name, cluster or witness than mark.json')
    is_end = is_log_end(store.end, mark['incarnation'])
    if is_end:
        compare_log_end(store, known, mark)
    if known.is_running and not is_end:
        store.report.doubts(
            'log.end is missing, of another log or cannot be read:'
            ' nothing says how far the last run went'
        )
    if known.is_running and not store.has_wal:
        store.report.doubts('the last run did not end in order, and its log.db-wal is not there')


def settings_of(meta):
    """The `settings` that a mark should have."""
    words = [meta.get(key) or b'' for key in (b'name', b'cluster', b'witness')]
    texts = [word if isinstance(word, bytes) else b'' for word in words]
    return sha256(b'\0'.join(texts)).hex()


def is_log_end(data, incarnation):
    """Whether these are the 80 bytes of `log.end`, of this incarnation. The node alone can check
    the seal in them."""
    return (
        len(data) == 80
        and data[:8] == b'SilEnd1\n'
        and data[8:16].hex() == incarnation
        and sha256(data[:64])[:16] == data[64:]
    )


def compare_log_end(store, known, mark):
    position = int.from_bytes(store.end[16:24], 'big')
    origin = store.end[24:40]
    size = int.from_bytes(store.end[40:48], 'big')
    # Where commits are not synced, a power cut may have taken them: another boot.
    if mark['durability'] == 'full' or mark['boot'] == this_boot(store):
        known.position = max(known.position, position)
        known.size_at_end = origin, size
    query = (origin, min(position, store.top))
    (here,) = store.log.execute(EVENTS_UP_TO, query).fetchone()
    if position <= store.top and here != size:
        store.report.doubts(
            f'log.end counts {size} events of origin {origin_name(origin)}'
            f' up to position {position}, and {here} are here'
        )


def this_boot(store):
    return (store.folder.small_file(BOOT_ID) or b'').strip().decode()


def compare_witness(store, known, data):
    witness, head = statement(store, data, HEAD, WITNESS_FORMS)
    if not witness:
        if data is not None:
            store.report.doubts('the log cannot be compared with its witness')
        return
    if is_copy(store):
        known.witness_of_original = witness
        known.expects(WITNESS_OF_ORIGINAL, *head)
        return
    known.expects(WITNESS, *head)
    since = str(witness.get('since'))
    if re.fullmatch('witness-[0-9a-f]{16}', since):
        known.named_evidence.append(NamedEvidence(since, at=0))


def is_copy(store):
    """Whether `file` says that the store stood elsewhere, and its witness lies in no folder that is
    named after this store's."""
    beside = os.fsencode(os.path.realpath(store.folder.path)) + b'-witness'
    return not {store.meta.get(b'file'), store.meta.get(b'witness')} & {store.file, beside}
