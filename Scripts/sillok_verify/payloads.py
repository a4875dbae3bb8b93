"""JSON objects: payloads (FORMATS.md, section 2, "Limits" and "Payload") and files (section 1)."""

import json
import re

MOST_BYTES = 262144
DEEPEST = 64
# Escapes are found first, so that a quotation mark that is escaped ends no text.
MARKS = re.compile(rb'\\.|["\[\]{}]', re.S)
# Python makes no integer of more digits than it was told to; no integer here has so many.
MOST_DIGITS = 19


def members(data):
    """The members of a JSON object, or None.

    None is: no object, one over 262,144 bytes or nested deeper than 64, or a name that occurs
    twice. Numbers may have any number of digits.
    """
    if is_too_deep(data) or len(data) > MOST_BYTES:
        return None
    try:
        found = json.loads(
            data.decode(),
            object_pairs_hook=tuple,
            parse_int=parsed_integer,
            parse_constant=refused_constant,
        )
    except ValueError:
        return None
    return distinct_members(found)


def is_too_deep(data):
    depth = 0
    is_in_text = False
    for mark in MARKS.findall(data):
        if mark == b'"':
            is_in_text = not is_in_text
        elif is_in_text:
            continue
        elif mark in (b'[', b'{'):
            depth += 1
            if depth > DEEPEST:
                return True
        elif mark in (b']', b'}'):
            depth -= 1
    return False


def parsed_integer(digits):
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


def refused_constant(name):
    """Python reads NaN and Infinity, which are no JSON (RFC 8259)."""
    raise ValueError(f'{name} is no number')


def distinct_members(found):
    """The members of an object that `members` has read: a tuple of pairs, where lists are lists.

    None where it is no object, or a name occurs twice. Halves of surrogate pairs have no UTF-8:
    names that differ in them alone are equal.
    """
    if not isinstance(found, tuple):
        return None
    names = {re.sub('[\ud800-\udfff]', '\ufffd', name) for name, _ in found}
    return dict(found) if len(names) == len(found) else None


def text_of(found, name, otherwise=None):
    """A member that is a text, in UTF-8: `otherwise` where there is none, None where it has
    another form, or there are no members at all."""
    if found is None:
        return None
    if name not in found:
        return otherwise
    try:
        return found[name].encode()
    except (AttributeError, ValueError):  # no string, or half of a surrogate pair in it
        return None
