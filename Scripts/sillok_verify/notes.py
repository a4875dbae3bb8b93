"""Signed notes (c2sp.org/signed-note; FORMATS.md, section 2, "Head"), and cosignatures (section
9)."""

import re
import typing

from .heads import node_id
from .lines import Lie
from .signatures import is_signed
from .trees import sha256
from .values import base64_bytes

FORM = re.compile(r'(— [0-9a-f]{64} \S+\n)+')
LINE = re.compile('— (\\S+) (\\S+)\n')
# What a line signs, as the key hash has it.
OF_HEAD, OF_COSIGNATURE = b'\x01', b'\x04'


class NoteLine(typing.NamedTuple):
    """A signature under a note. `data` is the signature; of a cosignature the time and that."""

    node: str
    key_hash: bytes
    data: bytes


def parsed_note(text):
    """The text of the head, and the signatures under it."""
    end = text.index('\n\n') + 1
    head = text[:end]
    lines = text[end + 1 :]
    if not FORM.fullmatch(lines):
        raise Lie('not the form of a signed note')
    found = []
    for node, code in LINE.findall(lines):
        data = base64_bytes(code)
        found.append(NoteLine(node, data[:4], data[4:]))
    return head, found


def is_line_of(line, key, what):
    """Whether a line names the node of a key, and has its key hash."""
    node = node_id(key).hex()
    return line.node == node and line.key_hash == sha256(node.encode(), b'\n', what, key)[:4]


def is_head_signed(key, line, text):
    return is_line_of(line, key, OF_HEAD) and is_signed(key, line.data, text.encode())


def is_cosigned(key, signature, time, text):
    """Whether a head's text has this cosignature: C2SP tlog-cosignature, `cosignature/v1`."""
    return is_signed(key, signature, f'cosignature/v1\ntime {time}\n'.encode() + text)
