"""Node ids and heads (FORMATS.md, section 1, "Node id", and section 2, "Head")."""

import base64
import re
import typing
import uuid

from .trees import sha256
from .values import is_decimal, origin_name

# The body of a C2SP checkpoint (c2sp.org/tlog-checkpoint).
HEAD = 'sillok/{origin}\n{size}\n{root}\nhlc {hlc}\n'
HEAD_FORM = re.compile(
    'sillok/([0-9a-f]{8}(?:-[0-9a-f]{4}){4}[0-9a-f]{8})\n'
    '(0|[1-9][0-9]*)\n'
    '([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)\n'
    'hlc ([0-9a-f]{12}-[0-9a-f]{4})\n'
)
# RFC 8410: what stands before the 32 bytes of a key in its DER SubjectPublicKeyInfo.
BEFORE_KEY = bytes.fromhex('302a300506032b6570032100')


class Head(typing.NamedTuple):
    origin: bytes
    size: int
    root: bytes


def node_id(key):
    """Section 1: SHA-256 over the DER SubjectPublicKeyInfo of a key."""
    return sha256(BEFORE_KEY, key)


def hlc_text(hlc):
    return f'{hlc >> 16:012x}-{hlc & 0xFFFF:04x}'


def hlc_of(text):
    return int(text.replace('-', ''), 16)


def head_text(origin, size, root, hlc):
    root_text = base64.b64encode(root).decode()
    return HEAD.format(
        origin=origin_name(origin), size=size, root=root_text, hlc=hlc_text(hlc)
    ).encode()


def parsed_head(text):
    """The head of a checkpoint's text. Raises ValueError where it is none."""
    found = HEAD_FORM.fullmatch(text)
    if not found or not is_decimal(found[2]):
        raise ValueError('not the text of a head')
    return Head(uuid.UUID(found[1]).bytes, int(found[2]), base64.b64decode(found[3]))


def is_head(text):
    return parsed_head(text) is not None


def hlc_of_head(text):
    """The hlc in a text that `parsed_head` has read."""
    return hlc_of(HEAD_FORM.fullmatch(text)[4])
