"""Frames and messages of sync.proto. The schema is read from that file, so that a field added there is attacked here."""
import pathlib
import re
import struct

import zstandard

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTO = ROOT / 'docs' / 'reference' / 'sync.proto'

# The table in section 2 of sync.proto.
TYPES = {name: int(number) for number, name in re.findall(r'(\d+) +([A-Z]\w+) +(?:max_body|4 KiB)', PROTO.read_text())}
NAMES = {number: name for name, number in TYPES.items()}
VARINTS = {'uint32', 'uint64', 'int64', 'sint64', 'bool'}


def _schema(text):
    """{message: {field: (number, type, repeated)}}"""
    text = re.sub(r'//[^\n]*', '', text)
    return {message[1]: {field[3]: (int(field[4]), field[2], field[1] == 'repeated')
                         for field in re.finditer(r'(repeated|optional)?\s*(\w+) (\w+) = (\d+);', message[2])}
            for message in re.finditer(r'message (\w+) \{(.*?)\}', text, re.S)}


SCHEMA = _schema(PROTO.read_text())


class Raw(bytes):
    """Bytes that take the place of a field with its tag."""


def varint(number):
    """Numbers below zero as 64 bits of two's complement, those of more than 64 bits as they are."""
    number = number + 2**64 if number < 0 else number
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def tagged(number, wire, body):
    return varint(number << 3 | wire) + (varint(len(body)) if wire == 2 else b'') + body


def encode(message, values):
    """The fields in the order of their numbers; a name beginning with `+` gives Raw bytes for the end."""
    schema, out = SCHEMA[message], b''
    for name in sorted((n for n in values if not n.startswith('+')), key=lambda n: schema[n][0]):
        number, kind, repeated = schema[name]
        for value in values[name] if repeated else [values[name]]:
            if isinstance(value, Raw):
                out += value
            elif kind == 'sint64':
                out += tagged(number, 0, varint((value << 1 ^ value >> 63) & (2**64 - 1)))
            elif kind in VARINTS:
                out += tagged(number, 0, varint(int(value)))
            elif kind == 'fixed64':
                out += tagged(number, 1, struct.pack('<Q', value & (2**64 - 1)))
            elif kind == 'string':
                out += tagged(number, 2, value if isinstance(value, bytes) else value.encode())
            elif kind == 'bytes':
                out += tagged(number, 2, value)
            else:
                out += tagged(number, 2, encode(kind, value))
    return out + b''.join(values[name] for name in values if name.startswith('+'))


def fields(body):
    """(number, wire type, value) of each field; ValueError where the rules of sync.proto §4 are broken."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = body[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                if shift > 7 and byte == 0 or value >= 2**64:
                    raise ValueError('not the shortest varint, or too long')
                return value

    try:
        while at < len(body):
            tag = number()
            wire = tag & 7
            if wire == 0:
                yield tag >> 3, 0, number()
                continue
            if wire not in (1, 2, 5):
                raise ValueError('a group')
            length = {1: 8, 5: 4}.get(wire)
            length = number() if length is None else length
            if at + length > len(body):
                raise ValueError('cut off')
            yield tag >> 3, wire, body[at:at + length]
            at += length
    except IndexError:
        raise ValueError('cut off') from None


class Message(dict):
    """Absent fields read as their defaults."""
    name = ''

    def __missing__(self, field):
        _, kind, repeated = SCHEMA[self.name][field]
        return [] if repeated else 0 if kind in VARINTS or kind == 'fixed64' else '' if kind == 'string' else \
            b'' if kind == 'bytes' else decode(kind, b'')


def decode(message, body):
    out = Message()
    out.name = message
    by_number = {number: (name, kind, repeated) for name, (number, kind, repeated) in SCHEMA[message].items()}
    for number, wire, value in fields(body):
        if number not in by_number:
            continue
        name, kind, repeated = by_number[number]
        if kind == 'sint64':
            value = value >> 1 ^ -(value & 1)
        elif kind == 'int64':
            value = value - 2**64 if value >= 2**63 else value
        elif kind == 'bool':
            value = bool(value)
        elif kind == 'fixed64':
            value = struct.unpack('<Q', value)[0]
        elif kind == 'string':
            value = value.decode()
        elif kind in SCHEMA:
            value = decode(kind, value)
        if repeated:
            out.setdefault(name, []).append(value)
        else:
            out[name] = value
    return out


def frame(kind, body, flags=0, length=None, reserved=0):
    return struct.pack('>IBBH', len(body) if length is None else length, kind, flags, reserved) + body


def message(name, values=None, compress=False):
    body = values if isinstance(values, bytes) else encode(name, values or {})
    if compress:
        return frame(TYPES[name], struct.pack('>I', len(body)) + zstandard.compress(body, 3), flags=1)
    return frame(TYPES[name], body)


def inflate(body):
    (size,) = struct.unpack('>I', body[:4])
    out = zstandard.ZstdDecompressor().decompress(body[4:], max_output_size=size)
    if len(out) != size:
        raise ValueError('another length than announced')
    return out
