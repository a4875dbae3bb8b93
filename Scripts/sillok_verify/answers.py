"""The events of proven answers (FORMATS.md, section 10)."""

import typing
import uuid

from .headers import (
    CONVERSATION,
    HLC,
    ID,
    USER,
    NotCanonical,
    dot_of,
    is_too_long,
    opaque_id,
    read_header,
)
from .lines import Lie, digests
from .payloads import members
from .trees import is_included, leaf_hash, sha256
from .values import base64_bytes

WITHOUT_PAYLOAD = ['digest']
WITH_PAYLOAD = (['salt', 'payload'], ['salt', 'payload_base64'])
# Below all others: that of an event whose header cannot be read.
NO_HLC = -1
CONTENT = ('salt', 'payload', 'payload_base64', 'digest')


class Scope(typing.NamedTuple):
    """What a proven answer is about: a member of its first line, and the field of each header that
    must be equal to it."""

    member: str
    field: int
    bytes_of: typing.Callable


SCOPES = (
    Scope('user', USER, str.encode),
    Scope('conversation', CONVERSATION, str.encode),
    Scope('event', ID, lambda text: uuid.UUID(text).bytes),
)


class Events:
    """Lines `event`: strictly ascending, each in its origin's tree, and of what the answer is
    about. `answer` is the first line of the file, `heads` has those of its origins."""

    def __init__(self, answer, heads):
        self.answer = answer
        self.heads = heads
        self.count = 0
        self.erased = 0
        self.origins = set()
        self.last_dot = None
        self.last_hlc = NO_HLC

    def read(self, line):
        dot = uuid.UUID(line['origin']).bytes, line['seq']
        header = base64_bytes(line['header'])
        name = f'event {line["origin"]}/{line["seq"]}'
        if self.last_dot and dot <= self.last_dot:
            raise Lie(f'{name} is out of order')
        if dot[0] not in self.heads:
            raise Lie(f'{name} is of an origin that has no head here')
        before = self.last_dot
        self.last_dot = dot
        found = self.heads[dot[0]]
        leaf = leaf_hash(header, payload_digest_of(line, header, name))
        self.check_history(line, header, leaf, found, name)
        fields = fields_of(header)
        scope = next(scope for scope in SCOPES if scope.member in self.answer)
        wanted = scope.bytes_of(self.answer[scope.member])
        here = {ID: opaque_id(*dot)} if fields is None else fields
        if here.get(scope.field) != wanted:
            raise Lie(f'{name} is not of what the answer is about')
        follows = before == (dot[0], dot[1] - 1)
        self.check_hlc(fields, found, line['seq'], follows, name)
        self.count += 1
        self.origins.add(dot[0])
        self.erased += 'digest' in line

    def check_history(self, line, header, leaf, found, name):
        index = line['seq'] - 1
        is_there = dot_of(header) == (found.origin, line['seq']) and 0 <= index < found.size
        path = digests(line['proof'])
        if not is_there or not is_included(leaf, index, found.size, path, found.root):
            raise Lie(f'{name} is not part of the history that was signed')

    def check_hlc(self, fields, found, seq, follows, name):
        """Section 2, of headers that can be read: the head has the hlc of its last event, and of
        two in a row the later one has the larger."""
        before = self.last_hlc if follows else NO_HLC
        self.last_hlc = NO_HLC
        if fields is None:
            return
        hlc = int.from_bytes(fields.get(HLC, b''), 'little')
        if seq == found.size and hlc != found.hlc or hlc <= before:
            raise Lie(
                f'{name} has not the hlc of the head over it, or none after that of the event'
                ' before it'
            )
        self.last_hlc = hlc


def payload_digest_of(line, header, name):
    """The payload digest (section 2) of an event's line."""
    content = [member for member in CONTENT if member in line]
    is_erased = content == WITHOUT_PAYLOAD
    if not is_erased and content not in WITH_PAYLOAD:
        raise Lie(f'{name} has not its form')
    is_text = 'payload' in line
    code = line.get('payload_base64', '')
    payload = line['payload'].encode() if is_text else base64_bytes(code)
    if not is_erased and is_text == (members(payload) is None):
        raise Lie(f'{name}: a payload stands as text, and other bytes in base64')
    salt = bytes.fromhex(line.get('salt', ''))
    # Else bytes could wander between salt and payload, and the hash would stay.
    if not is_erased and len(salt) != 16:
        raise Lie(f'{name} has no salt of 16 bytes')
    if is_too_long(header, payload):
        raise Lie(f'{name} is longer than an event can be')
    return bytes.fromhex(line['digest']) if is_erased else sha256(salt, payload)


def fields_of(header):
    """The fields of a header, or None where it is opaque: that belongs to no one."""
    try:
        return read_header(header).fields
    except NotCanonical:
        return None
