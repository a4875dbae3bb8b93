"""The one form that each value has (FORMATS.md, sections 1, 2 and 9), and what SQLite has in a
column (section 3)."""

import base64
import re
import uuid

# What reading raises where data have not the form that they should have.
WRONG_FORM = (
    KeyError,
    TypeError,
    ValueError,
    OverflowError,
    AttributeError,
    IndexError,
    RecursionError,
)

# Section 2, "Numbers".
MOST_EVENTS = 2**44 - 1
MOST_MILLISECONDS = 253402300799999
LEAST_MILLISECONDS = -62135596800000  # the year 1
MOST_SECONDS = 253402300799


def base64_bytes(text):
    """The bytes of a base64 text, which is padded and has no bits that stand for nothing."""
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise ValueError('not base64 in its one form')
    return data


def is_base64(text):
    return base64_bytes(text) is not None


def is_decimal(text, most=MOST_EVENTS):
    """Section 1: a number as a text of decimal digits, without sign and leading zeros."""
    is_number = isinstance(text, str) and re.fullmatch('0|[1-9][0-9]{0,15}', text)
    return bool(is_number) and int(text) <= most


def is_count(value):
    """Section 9: a whole number without a point, within its bound."""
    return type(value) is int and 0 <= value <= MOST_EVENTS


def is_string(value):
    return isinstance(value, str)


def is_uuid(value):
    """A UUID as 8-4-4-4-12 lowercase digits."""
    return str(uuid.UUID(value)) == value


def is_hexadecimal(value, length):
    is_right = isinstance(value, str) and re.fullmatch('[0-9a-f]*', value)
    return bool(is_right) and len(value) == length


def is_digest(value):
    return is_hexadecimal(value, 64)


def is_digests(value):
    return isinstance(value, list) and all(map(is_digest, value))


def is_utf8(data):
    return data.decode(errors='ignore').encode() == data


def origin_name(origin):
    """An origin's 16 bytes as 8-4-4-4-12 digits."""
    return str(uuid.UUID(bytes=origin))


class Text(bytes):
    """What SQLite has as text. What it has as a blob is bytes."""


# Kinds of values in columns. A blob of 0, 16 or 32 bytes is of a kind of its own.
INTEGER, REAL, TEXT, NULL = 'integer', 'real', 'text', 'null'
BLOB, EMPTY_BLOB, BLOB_OF_16, BLOB_OF_32 = 'blob', 'empty blob', 'blob of 16', 'blob of 32'

KINDS_OF_LENGTHS = {0: EMPTY_BLOB, 16: BLOB_OF_16, 32: BLOB_OF_32}
KINDS_OF_TYPES = {int: INTEGER, float: REAL, Text: TEXT, type(None): NULL}


def kind_of(value):
    if type(value) is bytes:
        return KINDS_OF_LENGTHS.get(len(value), BLOB)
    return KINDS_OF_TYPES[type(value)]
