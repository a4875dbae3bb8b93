"""Receipts (FORMATS.md, section 9) and proven answers (section 10): whole files that prove
themselves."""

import typing
import uuid

from .answers import Events
from .files import named_file
from .heads import hlc_of_head, parsed_head
from .lines import Lie, digests, key_of, parsed_line
from .notes import OF_COSIGNATURE, is_cosigned, is_head_signed, is_line_of, parsed_note
from .signatures import is_signed
from .trees import is_consistent, sha256
from .values import MOST_SECONDS, WRONG_FORM, base64_bytes, origin_name


class NoReceipt(OSError):
    """The file is neither a receipt nor a proven answer."""


class Cosignature(typing.NamedTuple):
    node: str
    time: int  # Unix seconds
    size: int
    root: bytes


class SignedHead:
    """A line `head`: what the file says of an origin."""

    def __init__(self, line, key, text, head):
        self.node = line['node']
        self.key = key
        self.events = line['events']
        self.text = text
        self.origin = head.origin
        self.size = head.size
        self.root = head.root
        self.hlc = hlc_of_head(text)
        self.cosigned = []


class Receipt:
    """A file that was checked.

    `heads`: by their origins. `answer`: of a proven answer its first line, else None. `events`:
    those of an answer. `is_signed`: whether its maker has signed the whole. Raises NoReceipt, or
    Lie with what is wrong.
    """

    def __init__(self, path):
        data = named_file(path)
        self.heads = {}
        self.keys = {}  # of the witnesses
        self.maker = self.first_line(data)
        if self.maker is None:
            raise NoReceipt(
                f'{path} is neither a receipt nor a proven answer, or of a later release'
            )
        self.answer = self.maker if self.maker['type'] == 'answer' else None
        self.events = Events(self.answer, self.heads)
        try:
            self.read(data)
        except WRONG_FORM as error:
            raise Lie(f'a line has not its form: {type(error).__name__} {error}') from error

    def first_line(self, data):
        try:
            line = parsed_line(data.split(b'\n', 1)[0])
            self.key = key_of(line)
        except (*WRONG_FORM, Lie):
            return None
        return line if line['type'] in ('receipt', 'answer') else None

    def read(self, data):
        last_line = data.rfind(b'\n', 0, -1) + 1
        if data[-1:] != b'\n' or last_line == 0:
            raise Lie('the last line is missing')
        lines = [parsed_line(line) for line in data[:-1].split(b'\n')]
        end = lines.pop()
        if end['type'] != 'end':
            raise Lie('the last line is missing: something was cut off')
        readers = {
            'witness': self.read_witness,
            'head': self.read_head,
            'cosigned': self.read_cosigned,
            'event': self.events.read,
        }
        for line in lines[1:]:
            readers[line['type']](line)
        self.check_end(end, sha256(data[:last_line]))

    def check_end(self, end, digest):
        if digest.hex() != end['sha256']:
            raise Lie('the SHA-256 is another: the file is not as it was written')
        cosigners = {one.node for head in self.heads.values() for one in head.cosigned}
        if cosigners != set(self.keys):
            raise Lie('a witness has cosigned nothing here')
        if self.answer and self.events.origins != set(self.heads):
            raise Lie('an origin has no events here')
        self.check_counts(end)
        self.is_signed = 'signature' in end
        text = f'sillok {self.maker["type"]} v1\n{digest.hex()}\n'.encode()
        if self.is_signed and not is_signed(self.key, base64_bytes(end['signature']), text):
            raise Lie('the last line is not signed by the node that the first one names')

    def check_counts(self, end):
        count = len(self.heads) if self.answer is None else self.events.count
        is_right = end['count'] == count and self.maker['origins'] == len(self.heads)
        if not is_right or self.answer and self.answer['events'] != count:
            raise Lie('the counts are not those of the lines')
        # A log has each event of an origin at a position of its own.
        if sum(head.events for head in self.heads.values()) > self.maker['position']:
            raise Lie('its heads count more events than its position has')

    # --- Lines `witness`, `head` and `cosigned` ---------------------------------------------------

    def read_witness(self, line):
        if self.heads or self.keys and line['node'] <= max(self.keys):
            raise Lie('a witness is out of order')
        self.keys[line['node']] = key_of(line)

    def read_head(self, line):
        key = key_of(line)
        text, signatures = parsed_note(line['note'])
        head = parsed_head(text)
        is_behind = self.heads and head.origin <= max(self.heads)
        if self.events.count or is_behind or origin_name(head.origin) != line['origin']:
            raise Lie('an origin is out of order')
        is_of_size = 0 < head.size == line['size'] <= line['events']
        if not is_of_size or not is_head_signed(key, signatures[0], text):
            raise Lie(f'the head of origin {line["origin"]} is not signed by its node')
        found = SignedHead(line, key, text, head)
        self.heads[head.origin] = found
        for signature in signatures[1:]:
            self.take_cosignature(found, text, signature, [])

    def read_cosigned(self, line):
        text, signatures = parsed_note(line['note'])
        found = self.heads[max(self.heads)]
        if not self.is_in_place(line, text, signatures, found):
            raise Lie('a cosignature is out of place')
        if line['size'] > found.events:
            raise Lie('a cosigned head is of more events than its origin has here')
        if not is_head_signed(found.key, signatures[0], text):
            raise Lie(f'a cosigned head of origin {line["origin"]} is not signed by its node')
        self.take_cosignature(found, text, signatures[1], digests(line['proof']))

    def is_in_place(self, line, text, signatures, found):
        """Behind the head of its origin, of another size, with two signatures."""
        return (
            len(signatures) == 2
            and parsed_head(text)[:2] == (found.origin, line['size'])
            and not self.events.count
            and line['size'] not in (0, found.size)
            and uuid.UUID(line['origin']).bytes == found.origin
        )

    def take_cosignature(self, found, text, line, proof):
        head = parsed_head(text)
        time = int.from_bytes(line.data[:8], 'big')
        is_said = self.is_said_by_witness(found, text, line, time)
        is_same = is_same_history(found, text, head, proof)
        if not is_said or not is_same or time > MOST_SECONDS or not is_next(found, line, head):
            raise Lie(
                f'the cosignature of node {line.node:.12} under origin'
                f" {origin_name(found.origin)} is not that node's, or not of this history"
            )
        found.cosigned.append(Cosignature(line.node, time, head.size, head.root))

    def is_said_by_witness(self, found, text, line, time):
        key = self.keys.get(line.node, b'')
        is_witness = key and line.node != found.node and is_line_of(line, key, OF_COSIGNATURE)
        return is_witness and is_cosigned(key, line.data[8:], time, text.encode())


def is_same_history(found, text, head, proof):
    """The smaller of the two trees is the beginning of the larger one."""
    if head.size == found.size:
        return text == found.text and not proof
    (old, old_root), (new, new_root) = sorted([head[1:], (found.size, found.root)])
    return is_consistent(old, new, old_root, new_root, proof)


def is_next(found, line, head):
    """Those under the head come first, each by node, and each node once."""
    order = [(one.size != found.size, one.node) for one in found.cosigned]
    order.append((head.size != found.size, line.node))
    return order == sorted(order) and line.node not in [one.node for one in found.cosigned]
