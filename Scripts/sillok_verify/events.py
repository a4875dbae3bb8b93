"""The walk over the log (FORMATS.md, sections 2 and 3): every event, in the order of the log."""

import itertools

from .erasures import TYPES as ERASURES
from .erasures import Erasure
from .forms import Forms
from .heads import head_text
from .known import MARK, REACH, WITNESS_OF_ORIGINAL
from .payloads import members, text_of
from .rows import Row, dependencies_of, header_of, wrong_columns
from .signatures import is_signed
from .starts import Starts
from .trees import is_consistent, leaf_hash, sha256
from .values import MOST_EVENTS, WRONG_FORM

ALL_ROWS = 'SELECT * FROM event NOT INDEXED ORDER BY position'
# Section 2: an event names at most so many origins; those left over follow with the next ones.
MOST_DEPENDENCIES = 2000
# Section 3: table `node` has the subtrees of levels 8, 16 …, table `tile` those of level 4 in one
# of level 8.
LEVELS_OF_NODES = 8
LEVEL_IN_TILE = 4
IN_TILE = 16


class Event:
    """A row, its origin, and what was read of it."""

    __slots__ = ('row', 'origin', 'type', 'user', 'said', 'header', 'payload_digest')


class Walk:
    def __init__(self, store, known, erasures):
        self.store = store
        self.report = store.report
        self.known = known
        self.erasures = erasures
        self.forms = Forms(store)
        self.starts = Starts(store, known)
        # The seal of the last own event.
        self.seal = None
        # Refs of the origins that advanced since the last own event; None before the first one.
        self.since_own = None

    def run(self):
        rows = self.store.log.execute(ALL_ROWS)
        for count, row in enumerate(itertools.starmap(Row, rows), 1):
            self.store.events = count
            if row.position != count:
                self.report.finds('positions', f'position {count} is missing', count)
            wrong = wrong_columns(row)
            if wrong:
                self.report.finds(
                    'events', f'of another kind or length: column {", ".join(wrong)}', row.position
                )
            try:
                self.event(self.in_order(row, wrong), wrong)
            except WRONG_FORM as error:
                if not wrong:
                    self.report.finds(
                        'events',
                        f'its row cannot be read: {type(error).__name__} {error}',
                        row.position,
                    )

    def in_order(self, row, wrong):
        """The row. A seq that is no number is told already: its place says what it should be."""
        if 'seq' not in wrong:
            return row
        return row._replace(seq=self.store.origins[row.origin].seq + 1)

    def event(self, row, wrong):
        origin = self.store.origins[row.origin]
        if row.seq != origin.seq + 1:
            self.report.finds('order', f'seq {row.seq} follows {origin.seq}', row.position)
        origin.seq = row.seq
        if row.origin == self.store.home:
            self.seal = row.seal
        if 'hlc' in wrong:
            return
        event = self.read(row, origin)
        self.forms.check(event)
        leaf = leaf_hash(event.header, event.payload_digest)
        if int.from_bytes(leaf[:4], 'big', signed=True) != row.leaf:
            self.report.finds('events', 'it has not the hash it was stored with', row.position)
        self.gather(event)
        self.check_dependencies(event)
        if row.seq == 1:
            self.starts.check(event)
        self.grow(row, origin.tree, leaf)
        self.compare(row, origin)
        self.check_heads(event)

    def read(self, row, origin):
        """The payload, its digest and the header of a row."""
        event = Event()
        event.row = row
        event.origin = origin
        is_erased = row.digest is not None
        is_whole = (row.salt is None) == is_erased == (row.payload is None)
        if not is_whole:
            self.report.finds(
                'events',
                'salt, digest and payload are neither of a stored nor of an erased payload',
                row.position,
            )
        event.type = self.store.names[row.type]
        event.user = self.store.names[row.user]
        event.said = None if is_erased else members(row.payload)
        if row.time == row.hlc >> 16 or row.author == row.user or row.version in (0, 1):
            self.report.finds('events', 'a column repeats NULL', row.position)
        event.payload_digest = row.digest if is_erased else sha256(row.salt, row.payload)
        event.header = header_of(row, self.store.names, self.store.ids)
        return event

    def gather(self, event):
        """What the events say of other events: erasures, and what the own node has settled."""
        row, node = event.row, event.origin.node
        is_erasure = event.type in ERASURES
        if is_erasure:
            self.erasures.nodes[row.position] = node
        if row.digest is not None:
            erased = (row.position, row.hlc, self.erasures.ways(row))
            self.erasures.erased.append(erased)
        elif is_erasure:
            self.erasures.add(
                Erasure(
                    node=node,
                    type=event.type,
                    said=event.said,
                    hlc=row.hlc,
                    user=event.user,
                    conversation=self.store.names.get(row.conversation),
                    position=row.position,
                )
            )
        elif event.type == b'finding.settled' and node == self.store.own_node:
            self.settle(event)

    def settle(self, event):
        """Section 5: of a cut or a lost witness a settlement of the store's own node counts."""
        if event.user != b'node/' + event.origin.node.hex().encode():
            return
        what = text_of(event.said, 'code'), text_of(event.said, 'subject')
        settlement = event.row.hlc >> 16, text_of(event.said, 'of')
        self.known.settled.setdefault(what, []).append(settlement)

    # --- Dependencies -----------------------------------------------------------------------------

    def check_dependencies(self, event):
        """They ascend by origin, without its own, and stand before the event."""
        row = event.row
        dependencies = dependencies_of(row.dependencies)
        is_before = True
        named = []
        for ref, seq in dependencies:
            origin = self.store.origins[ref]
            named.append(origin.id)
            if origin.seq < seq and origin.id not in self.known.forks:
                is_before = False
        self.check_own_dependencies(event, dict(dependencies))
        if not is_before or named != sorted(set(named) - {event.origin.id}):
            self.report.finds(
                'order',
                'its dependencies do not ascend by origin, or do not stand before it',
                row.position,
            )

    def check_own_dependencies(self, event, named):
        """An own event names all that came since the one before."""
        row = event.row
        if row.origin != self.store.home:
            if self.since_own is not None:
                self.since_own.add(row.origin)
            return
        came = {ref: self.store.origins[ref].seq for ref in self.since_own or ()}
        is_part = len(named) == MOST_DEPENDENCIES and named.items() <= came.items()
        is_first = self.since_own is None
        is_right = is_first or is_part or named == came or event.origin.id in self.known.forks
        if not is_right:
            self.report.finds(
                'order',
                'its dependencies are not the events that arrived since the one before',
                row.position,
            )
        self.since_own = came.keys() - named.keys() if is_part else set()

    # --- The tree, and what is known of it --------------------------------------------------------

    def grow(self, row, tree, leaf):
        """The subtrees that an event completes are those of tables `node` and `tile`."""
        for level, number, root in tree.add(leaf):
            if level == LEVEL_IN_TILE:
                tree.tile = tree.tile[1 - IN_TILE :] + [root]
            if level % LEVELS_OF_NODES:
                continue
            if level == LEVELS_OF_NODES:
                tile = b''.join(tree.tile)
                if self.store.tiles.pop(row.position, tile) != tile:
                    self.report.finds('tree', 'its tile is not of these events', row.position)
            if self.store.nodes.pop((row.origin, level, number), None) != root:
                self.report.finds(
                    'tree', f'row {level}/{number} is not of these events', row.position
                )

    def compare(self, row, origin):
        """What is known beside the log of so many events of the origin has this root."""
        heads = self.known.heads.pop((row.origin, row.seq), None)
        if not heads:
            return
        root = origin.tree.root()
        agreed = set()
        for name, known_root in dict.fromkeys(heads):
            if known_root == root:
                agreed.add(name)
            elif name not in self.known.cut_files and name != WITNESS_OF_ORIGINAL:
                self.report.finds(
                    'heads',
                    f'{origin.name}: {name} knows another history'
                    f' of the events from seq {origin.agreed + 1} to {row.seq}',
                    row.position,
                )
        self.known.reached |= agreed
        if agreed - {MARK}:
            origin.agreed = row.seq

    def check_heads(self, event):
        """Section 3: a head is of the events up to its size. One of table `reach` is a later one,
        to which the proof leads from that size."""
        row, origin = event.row, event.origin
        for head in self.store.heads.pop((row.origin, row.seq), ()):
            what = f'the head of {head.size} events is not'
            text = head_text(origin.id, head.size, head.root, head.hlc)
            if not self.is_of_these(event, head):
                self.report.finds(
                    'heads',
                    f'{what} of these, or reach does not lead to it:'
                    f' look from seq {origin.proven + 1} on',
                    row.position,
                )
            elif not is_signed(origin.key, head.signature, text):
                self.report.finds('heads', f"{what} signed by the origin's key", row.position)
            else:
                self.take_head(event, head)

    def is_of_these(self, event, head):
        tree = event.origin.tree
        now = tree.root()
        if head.proof is None:
            # The hlc of an opaque event is not compared.
            return head.root == now and (head.hlc == event.row.hlc or event.type == b'')
        if not tree.size < head.size <= MOST_EVENTS:
            return False
        path = [head.proof[start : start + 32] for start in range(0, len(head.proof), 32)]
        return bool(path) and is_consistent(tree.size, head.size, now, head.root, path)

    def take_head(self, event, head):
        origin = event.origin
        origin.proven = event.row.seq
        origin.signed = max(head.size, origin.signed)
        if head.proof is not None and origin.id not in self.known.forks:
            self.known.expects(REACH, origin.id, head.size, head.root)
