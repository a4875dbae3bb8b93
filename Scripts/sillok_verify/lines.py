"""Lines of NDJSON (FORMATS.md, sections 9, 10 and 11): of receipts, of proven answers and of
erasures that were put back. A reader takes no other members and no other form."""

import datetime
import json
import re

from .heads import node_id
from .values import (
    base64_bytes,
    is_base64,
    is_count,
    is_digest,
    is_digests,
    is_hexadecimal,
    is_string,
    is_uuid,
)


class Lie(Exception):
    """What a file says is not what was signed."""


# The members of each line, in order.
MAKER = 'type v node name cluster key time position '
MEMBERS = {
    'receipt': MAKER + 'origins',
    'answer': MAKER + '(user|conversation|event) filtered events origins',
    'witness': 'type node key',
    'head': 'type origin node key events size( arrived)? note',
    'cosigned': 'type origin size note proof',
    'event': 'type origin seq header (digest|salt (payload|payload_base64)) proof',
    'end': 'type v count sha256( signature)?',
    'erasure': 'type origin seq key head signature header salt payload proof',
}
TIME = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z')


def is_version(value):
    return is_count(value) and value == 1


def is_boolean(value):
    return isinstance(value, bool)


def is_time(value):
    """RFC 3339 with milliseconds, a time of the calendar."""
    return bool(TIME.fullmatch(value) and datetime.datetime.fromisoformat(value[:-1]))


def is_salt(value):
    return is_hexadecimal(value, 32)


# The one form of each member.
FORMS = {
    'type': is_string,
    'v': is_version,
    'name': is_string,
    'cluster': is_string,
    'node': is_digest,
    'key': is_base64,
    'time': is_time,
    'position': is_count,
    'origins': is_count,
    'user': is_string,
    'conversation': is_string,
    'event': is_uuid,
    'filtered': is_boolean,
    'events': is_count,
    'origin': is_uuid,
    'size': is_count,
    'arrived': is_time,
    'note': is_string,
    'proof': is_digests,
    'seq': is_count,
    'header': is_base64,
    'digest': is_digest,
    'salt': is_salt,
    'payload': is_string,
    'payload_base64': is_base64,
    'count': is_count,
    'sha256': is_digest,
    'head': is_string,
    'signature': is_base64,
}


def distinct(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Lie('a member occurs twice')
    return found


def parsed_line(data):
    """The members of a line, which is, byte for byte, what FORMATS.md has a writer write."""
    line = json.loads(data, object_pairs_hook=distinct)
    is_known = re.fullmatch(MEMBERS[line['type']], ' '.join(line))
    if not is_known or written(line) != data:
        raise Lie(f'a line of type {line["type"]} is not written in the form of FORMATS.md')
    wrong = [name for name, value in line.items() if not FORMS[name](value)]
    if wrong:
        raise Lie(f'{wrong[0]}: not in the form of FORMATS.md')
    return line


def written(line):
    return json.dumps(line, ensure_ascii=False, separators=(',', ':')).encode()


def key_of(line):
    """The key of a line, which is that of its `node` (section 1)."""
    key = base64_bytes(line['key'])
    if len(key) != 32 or node_id(key).hex() != line['node']:
        raise Lie(f'node {line["node"]:.12} is not that of its key')
    return key


def digests(texts):
    return [bytes.fromhex(text) for text in texts]
