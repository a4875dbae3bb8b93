"""The first event of an origin (FORMATS.md, section 2): it binds the origin to its key, and may say
what became of the one before."""

import base64
import re
import typing

from .known import Loss, NamedEvidence
from .payloads import text_of

ORIGIN_FORM = re.compile(rb'(?i)[0-9a-f]{8}(-[0-9a-f]{4}){4}[0-9a-f]{8}')
EVIDENCE_FORM = re.compile(b'cut-[0-9a-f]{16}')
REASONS = (b'machine', b'copied', b'witness', b'behind', b'forked', b'cut', b'boot', b'clock')


class Succession(typing.NamedTuple):
    """What a start says of the origin that it takes over from."""

    previous: bytes  # its text
    reason: str
    had: int
    known: int
    evidence: typing.Optional[str]


def succession(said):
    """None where the payload has not this form: then it says nothing of an origin before."""
    previous = text_of(said, 'previous') or b''
    reason = text_of(said, 'reason') or b''
    evidence = text_of(said, 'evidence') or b''
    if not ORIGIN_FORM.fullmatch(previous) or reason not in REASONS:
        return None
    had = count(said, 'had')
    return Succession(
        previous.lower(),
        reason.decode(),
        had,
        known=max(had, count(said, 'known')),
        evidence=evidence.decode() if EVIDENCE_FORM.fullmatch(evidence) else None,
    )


def count(said, name):
    """A count that is no integer within its bound is 0."""
    value = said.get(name)
    return value if type(value) is int and 0 <= value < 2**63 else 0


class Starts:
    def __init__(self, store, known):
        self.store = store
        self.report = store.report
        self.known = known

    def check(self, event):
        row, node = event.row, event.origin.node
        is_start = self.is_start(event)
        if not is_start:
            self.report.finds('origins', 'it does not bind the key', row.position)
        if row.origin == self.store.home and event.said:
            name = text_of(event.said, 'name') or node.hex()[:12].encode()
            if name != self.store.meta.get(b'name'):
                self.report.finds('meta', 'meta names the node otherwise', row.position)
        before = succession(event.said) if is_start else None
        if before:
            self.follow(event, before)

    def is_start(self, event):
        """Of a start whose payload was erased the key is not asked for."""
        origin = event.origin
        node = origin.node.hex().encode()
        binding = text_of(event.said, 'node'), text_of(event.said, 'key')
        if not event.row.digest and binding != (node, base64.b64encode(origin.key)):
            return False
        return event.type == b'origin.started' and event.user == b'node/' + node

    def follow(self, event, before):
        """Section 3: evidence that an own start names counts, and so does a loss without any."""
        origin = event.origin
        is_own = origin.node == self.store.own_node
        is_lost = before.known > before.had
        if is_lost:
            self.known.lost_origins.add(before.previous)
        if before.evidence and is_own:
            at = event.row.hlc >> 16
            self.known.named_evidence.append(
                NamedEvidence(before.evidence, at, before.previous, before.had, before.known)
            )
        if is_lost and not before.evidence:
            what = f'its node went on as {origin.name} ({before.reason})'
            self.known.losses.append(Loss(is_own, before.previous, before.known, what))
