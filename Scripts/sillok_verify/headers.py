"""Headers (FORMATS.md, section 2, "Canonical header" and what follows; sync.proto,
`message EventHeader`), as Protocol Buffers write them."""

import re

from .values import LEAST_MILLISECONDS, MOST_EVENTS, MOST_MILLISECONDS, is_utf8

# The numbers of the fields.
ORIGIN, SEQ, HLC, TIME, ID, TYPE, CONVERSATION, USER, AUTHOR, CAUSE, DEPS, VERSION = range(1, 13)
ACTOR = 32
FIRST_UNKNOWN, FIRST_ANCILLARY = 13, 32

# Wire types: a varint, eight bytes, bytes with their length before them, four bytes.
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
LENGTHS = {FIXED64: 8, FIXED32: 4}
# Seven bits a byte, the lowest first; all bytes but the last have the highest bit.
VARINT_FORM = re.compile(rb'[\x80-\xff]{0,9}[\x00-\x7f]')
WIRE_TYPES = {
    ORIGIN: BYTES,
    SEQ: VARINT,
    HLC: FIXED64,
    TIME: VARINT,
    ID: BYTES,
    TYPE: BYTES,
    CONVERSATION: BYTES,
    USER: BYTES,
    AUTHOR: BYTES,
    CAUSE: BYTES,
    DEPS: BYTES,
    VERSION: VARINT,
}

# Section 2, "Limits", in bytes.
LONGEST_TEXTS = {TYPE: 128, CONVERSATION: 256, USER: 256, AUTHOR: 256}
LONGEST_HEADER = 65536
LONGEST_ANCILLARY = 4096
LONGEST_PAYLOAD = 917504  # also of one that cannot be read
NO_CONTROL_CHARACTERS = re.compile(rb'[^\0-\x1f\x7f]*')
ACTOR_FORM = re.compile(
    rb'(?:socket|file|node):[^\0-\x1f\x7f]{1,256}'
    rb'|(?:token|JWT|certificate):[^\0-\x1f\x7f]{1,256}:[^\0-\x1f\x7f:]{1,64}'
)


def tag_of(field, wire_type):
    return field << 3 | wire_type


def varint(number):
    """A number as a varint in its shortest form."""
    if number < 128:
        return bytes([number])
    return bytes([number & 127 | 128]) + varint(number >> 7)


def bytes_field(field, body):
    return varint(tag_of(field, BYTES)) + varint(len(body)) + body


def number_field(field, number):
    return varint(tag_of(field, VARINT)) + varint(number)


def dependency_body(origin, seq):
    """`message Dot`: what a field 11 has in it."""
    return bytes_field(1, origin) + number_field(2, seq)


def read_varint(data, at):
    """The varint at `at`, of at most 64 bits and in its shortest form, and where it ends."""
    if at < len(data) and data[at] < 128:  # most are
        return data[at], at + 1
    found = VARINT_FORM.match(data, at)
    if not found:
        raise IndexError
    value = 0
    for place, byte in enumerate(found[0]):
        value |= (byte & 127) << 7 * place
    if value >> 64 or found[0] != varint(value):
        raise IndexError
    return value, found.end()


def read_fields(data):
    """Of each field its tag, its number or length, and where its bytes begin and end.

    Raises IndexError or KeyError where no field can be read. The last one may end behind `data`.
    """
    at = 0
    size = len(data)
    while at < size:
        tag, at = read_varint(data, at)
        wire_type = tag & 7
        if tag < 8:  # no field has the number 0
            raise KeyError(False)
        if wire_type == VARINT:
            value, start = read_varint(data, at)
            at = start
        elif wire_type == BYTES:
            value, start = read_varint(data, at)
            at = start + value
        else:
            value, start = LENGTHS[wire_type], at
            at = start + value
        yield tag, value, start, at


def read_dependency(body):
    """The origin and seq that a field 11 names: of each the last one counts."""
    found = {}
    for tag, value, start, end in read_fields(body):
        is_origin = tag == tag_of(1, BYTES) and value == 16 and end <= len(body)
        found[tag] = body[start:end] if is_origin else value
    if found.keys() != {tag_of(1, BYTES), tag_of(2, VARINT)}:
        raise IndexError
    origin, seq = found[tag_of(1, BYTES)], found[tag_of(2, VARINT)]
    if type(origin) is not bytes or not 0 < seq <= MOST_EVENTS:
        raise IndexError
    return origin, seq


class NotCanonical(ValueError):
    """The header cannot be read: it has not the one form that a node writes."""


class Header:
    """A canonical header. `fields`: of each number the bytes or the number; of one that occurs
    several times the last. `actors`: the bytes of each field 32 that has bytes."""

    __slots__ = ('fields', 'dependencies', 'actors', 'ancillary')

    def __init__(self):
        self.fields = {}
        self.dependencies = []
        self.actors = []
        self.ancillary = None  # where the first ancillary field begins

    def actor(self):
        """The actor, or None: more than one field 32, or one of another form, is none."""
        if len(self.actors) != 1:
            return None
        text = self.actors[0]
        return text if ACTOR_FORM.fullmatch(text) and is_utf8(text) else None


def read_header(header):
    """Reads a header, or raises NotCanonical with what keeps it from being read."""
    found = Header()
    try:
        read_in_order(header, found)
    except (IndexError, KeyError):
        raise NotCanonical('it is not the message it should be') from None
    field = field_over_limit(found.fields, found.dependencies)
    if field:
        raise NotCanonical(
            f'field {field} is missing, is not left out where it must be, or breaks a limit'
        )
    is_long = found.ancillary is not None and len(header) - found.ancillary > LONGEST_ANCILLARY
    if is_long or len(header) > LONGEST_HEADER:
        raise NotCanonical('it is too long')
    return found


def read_in_order(header, found):
    """The fields of a header, ascending, each at most once where its number is below 13, but for
    dependencies."""
    before = 0
    last_end = 0
    fields = found.fields
    for tag, value, start, end in read_fields(header):
        field = tag >> 3
        wire_type = tag & 7
        body = header[start:end] if wire_type else value
        if end > len(header) or WIRE_TYPES.get(field, wire_type) != wire_type:
            raise NotCanonical(f'field {field} has not its form')
        if field < before or field == before and field < FIRST_UNKNOWN and field != DEPS:
            raise NotCanonical(f'field {field} is out of order')
        if field == DEPS:
            dependency = read_dependency(body)
            found.dependencies.append(dependency)
            if body != dependency_body(*dependency):
                raise NotCanonical('field 11 has not its form')
        elif field == ACTOR:
            found.actors.append(body if wire_type == BYTES else b'')
        if field >= FIRST_ANCILLARY and found.ancillary is None:
            found.ancillary = last_end
        fields[field] = body
        before = field
        last_end = end


def field_over_limit(fields, dependencies):
    """The first field that is missing, is not left out where it must be, or breaks a limit."""
    for field, longest in LONGEST_TEXTS.items():
        if field in fields and not is_text_within(fields[field], longest):
            return field
    for field in (ORIGIN, ID, CAUSE):
        if field in fields and len(fields[field]) != 16:
            return field
    for field in (ORIGIN, SEQ, ID, TYPE, USER):
        if field not in fields:
            return field
    hlc = int.from_bytes(fields.get(HLC, b''), 'little')
    if not 0 < fields[SEQ] <= MOST_EVENTS:
        return SEQ
    if HLC in fields and not 0 < hlc < 2**63:
        return HLC
    if VERSION in fields and not 1 < fields[VERSION] < 2**32:
        return VERSION
    if TIME in fields and not is_time_beside(signed_of(fields[TIME]), hlc):
        return TIME
    if AUTHOR in fields and fields[AUTHOR] == fields[USER]:
        return AUTHOR
    if dependencies and not do_ascend(dependencies, fields[ORIGIN]):
        return DEPS
    return None


def is_text_within(text, longest):
    is_short = 0 < len(text) <= longest
    return is_short and bool(NO_CONTROL_CHARACTERS.fullmatch(text)) and is_utf8(text)


def is_time_beside(time, hlc):
    """A time is left out where it equals the milliseconds of the hlc."""
    return LEAST_MILLISECONDS <= time <= MOST_MILLISECONDS and time != hlc >> 16


def do_ascend(dependencies, own_origin):
    """Dependencies ascend by origin, each origin once, without the event's own."""
    origins = [origin for origin, _ in dependencies]
    return origins == sorted(set(origins) - {own_origin})


def zigzag(value):
    """A signed number as sint64 has it."""
    return (value << 1 ^ value >> 63) & (2**64 - 1)


def signed_of(value):
    return value >> 1 ^ -(value & 1)


def place_of(header):
    """Origin, seq, hlc and dependencies of a header that may be opaque (section 2, "What cannot be
    read is kept"): read up to the first byte that breaks it, of each the last one that has the
    right form. Dependencies count where the whole header has been read, and all have their form."""
    origin, seq, hlc, dependencies = None, 0, 0, []
    try:
        for tag, value, start, end in read_fields(header):
            if end > len(header):
                raise IndexError
            if tag == tag_of(ORIGIN, BYTES) and value == 16:
                origin = header[start:end]
            elif tag == tag_of(SEQ, VARINT):
                seq = value
            elif tag == tag_of(HLC, FIXED64):
                hlc = int.from_bytes(header[start:end], 'little')
            elif tag == tag_of(DEPS, BYTES):
                dependencies.append(read_dependency(header[start:end]))
            elif tag >> 3 == DEPS:
                raise IndexError
    except (IndexError, KeyError):
        dependencies = []
    if not do_ascend(dependencies, origin):
        dependencies = []
    return origin, seq, hlc if hlc < 2**63 else 0, dependencies


def dot_of(header):
    """Origin and seq of a header."""
    return place_of(header)[:2]


def is_too_long(header, payload):
    """Section 2: no node takes such an event, whether it can be read or not."""
    return len(header) > LONGEST_HEADER or len(payload or b'') > LONGEST_PAYLOAD


def opaque_id(origin, seq):
    """The id of an opaque event (section 3, `unknown`): a UUIDv8 made of its origin and seq."""
    bits = int.from_bytes(origin, 'big') ^ seq
    bits = bits & ~(0xF << 76) & ~(3 << 62) | 8 << 76 | 2 << 62
    return bits.to_bytes(16, 'big')
