"""Erasures (FORMATS.md, section 2, "Erasure"): what may be without payload, and what must be.

A way is one of the terms in which an erasure can cover an event: the node that erases, what it
names (`user`, `author`, `conversation` or `event`), and that thing's text. `user alone` and
`author alone` are those of an erasure that leaves what holds for others (`shared`).
"""

import re
import typing

from .heads import hlc_of
from .payloads import text_of
from .report import places
from .rows import Row
from .values import WRONG_FORM

TYPES = (b'user.erased', b'conversation.erased')
# Section 2, "Reserved types": events of these types are never covered.
KEPT_TYPES = re.compile(
    rb'(?s:(origin|access|subscription|finding)\..*|(user|conversation)\.erased)'
)
# Section 2, "Erasure", `shared`: events by which a user sets what holds for others.
SHARED_TYPES = (
    b'conversation.started',
    b'participant.joined',
    b'participant.left',
    b'message.edited',
    b'message.retracted',
)
HLC_FORM = re.compile(b'[0-9a-f]{12}-[0-9a-f]{4}')
LATEST = b'ffffffffffff-ffff'
# An erasure that names an event by its dot covers it whatever its hlc.
ANY_HLC = 1 << 64
BEHIND_ALL = 1 << 64
KEY = re.compile(rb'erasure [0-9]{1,18}')
# The empty text is the type of opaque events.
EMPTY_NAMES = (
    "SELECT ref FROM name WHERE text = ''"
    ' AND NOT EXISTS (SELECT 1 FROM event WHERE type = name.ref AND unknown IS NOT NULL)'
)
ROWS_WITH_PAYLOAD = 'SELECT * FROM event NOT INDEXED WHERE digest IS NULL ORDER BY position'


class Erasure(typing.NamedTuple):
    """An event of one of those types, or a line of `erasures.ndjson`, which stands behind all."""

    node: bytes
    type: bytes
    said: typing.Optional[dict]  # its payload
    hlc: int
    user: bytes
    conversation: typing.Optional[bytes]
    position: int = BEHIND_ALL

    def kind(self):
        """What it covers the events of: `user` or `conversation`."""
        return self.type.decode().removesuffix('.erased')

    def thing(self):
        """Whose events: by its payload, or else by its own header."""
        own = self.user if self.kind() == 'user' else self.conversation
        return text_of(self.said, self.kind(), own)

    def before(self):
        return text_of(self.said, 'before', LATEST) or b''

    def is_one(self):
        """Whether it has its form. Where a member has another one, it covers nothing."""
        if self.said is None or not HLC_FORM.fullmatch(self.before()):
            return False
        return self.thing() is not None or self.said.get(self.kind()) is None

    def ways(self):
        kind, thing = self.kind(), self.thing()
        if thing is None:
            return []
        if kind == 'conversation':
            return [(self.node, kind, thing)]
        kinds = ['user']
        if self.said.get('authored') is True:
            kinds.append('author')
        alone = ' alone' if self.said.get('shared') is False else ''
        return [(self.node, kind + alone, thing) for kind in kinds]

    def events(self):
        """The dots in member `events`, as ways."""
        dots = self.said.get('events')
        if not isinstance(dots, list):
            return []
        texts = [dot.encode('utf-8', 'replace') for dot in dots if isinstance(dot, str)]
        return [(self.node, 'event', text) for text in texts]


class Erasures:
    """What the erasures cover that the walk has found: of each way the hlc below which."""

    def __init__(self, store):
        self.store = store
        self.report = store.report
        self.covered = {}
        # Of the log's own node: those that table `meta` says are applied, and the others.
        self.applied = {}
        self.pending = {}
        # The node of each erasure in the log, by its position.
        self.nodes = {}
        # Position, hlc and ways of each event without payload.
        self.erased = []

    def ways(self, row):
        """The ways in which an erasure may cover this row."""
        names = self.store.names
        origin = self.store.origins[row.origin]
        user = names[row.user]
        author = names.get(row.author) or user
        if KEPT_TYPES.fullmatch(names[row.type]):
            return []
        things = [
            ('user', user),
            ('author', author),
            ('conversation', names.get(row.conversation)),
            ('event', f'{origin.name}/{row.seq}'.encode()),
        ]
        if names[row.type] not in SHARED_TYPES:
            things += [('user alone', user), ('author alone', author)]
        nodes = (origin.node, self.store.own_node)
        return [(node, kind, thing) for node in nodes for kind, thing in things]

    def add(self, erasure):
        """Whether it is one, and takes it in then."""
        if not erasure.is_one():
            return False
        limit = min(erasure.hlc, hlc_of(erasure.before().decode()))
        for covered in self.tables_of(erasure):
            for way in erasure.ways():
                covered[way] = max(limit, covered.get(way, 0))
            for way in erasure.events():
                covered[way] = ANY_HLC
        return True

    def tables_of(self, erasure):
        if erasure.node != self.store.own_node:
            return [self.covered]
        is_applied = erasure.position <= self.store.applied_up_to
        return [self.covered, self.applied if is_applied else self.pending]

    def check_meta(self):
        """Section 3: what table `meta` says of erasures is so."""
        store, report = self.store, self.report
        named = {int(key[8:]) for key in store.meta if KEY.fullmatch(key)}
        wrong = named - self.nodes.keys()
        if b'erasures' in store.meta:
            wrong |= self.nodes.keys() - named
        for position in sorted(wrong)[:9]:
            report.finds(
                'erased',
                'table meta names an erasure where none stands, or does not name one',
                position,
            )
        is_own = self.nodes.get(store.applied_up_to) == store.own_node
        if b'erased' in store.meta and not is_own:
            report.finds(
                'erased',
                'table meta says how far erasures are applied,'
                ' and none of this node stands there',
            )
        for (ref,) in store.log.execute(EMPTY_NAMES):
            report.finds(
                'tables',
                f'table name, row {ref}:'
                ' the empty text is that of opaque events alone: column text',
            )

    def check_progress(self, is_marked):
        own = self.store.own_node
        positions = [position for position, node in self.nodes.items() if node == own]
        if any(position > self.store.applied_up_to for position in positions):
            self.report.remarks('an erasure is under way: what it covers may be here still')
        if is_marked and b'erasures' not in self.store.meta and positions:
            self.report.doubts(
                'table meta does not say that the log was looked through for erasures,'
                ' and this node has erased'
            )

    def check_payloads(self):
        """What the own node's erasures cover has no payload here."""
        waiting = []
        rows = ()
        if self.applied or self.pending:
            rows = self.store.log.execute(ROWS_WITH_PAYLOAD)
        for values in rows:
            row = Row(*values)
            try:
                ways = self.ways(row)
                is_gone = is_covered(self.applied, row.hlc, ways)
                is_going = is_covered(self.pending, row.hlc, ways)
            except WRONG_FORM:
                continue  # told by the walk
            if is_gone:
                self.report.finds(
                    'erased',
                    'its payload is here, and an erasure that is applied covers it',
                    row.position,
                )
            elif is_going:
                waiting.append(row.position)
        if waiting:
            self.report.doubts(
                'not proven: an erasure is not applied yet that covers payloads which are here: '
                + places(waiting)
            )

    def check_erased(self):
        """What has no payload must have been erased by an event."""
        for position, hlc, ways in self.erased:
            if not is_covered(self.covered, hlc, ways):
                self.report.finds('erased', 'no erasure covers it', position)


def is_covered(table, hlc, ways):
    return any(hlc < table.get(way, 0) for way in ways)
