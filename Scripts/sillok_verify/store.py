"""A store: its folder (FORMATS.md, section 1), and the tables of its log but for `event` (section
3)."""

import os
import re
import typing

from .files import Folder, open_database
from .heads import node_id
from .schema import Schema
from .trees import Tree
from .values import (
    BLOB,
    BLOB_OF_16,
    BLOB_OF_32,
    EMPTY_BLOB,
    INTEGER,
    MOST_MILLISECONDS,
    NULL,
    REAL,
    TEXT,
    Text,
    kind_of,
    origin_name,
)

ANY_KIND = {INTEGER, REAL, TEXT, NULL, BLOB, EMPTY_BLOB, BLOB_OF_16, BLOB_OF_32}

# Of each table the kinds of its columns.
NAME = ({INTEGER}, {TEXT})
NODE = ({INTEGER}, {INTEGER}, {INTEGER}, {BLOB_OF_32})
TILE = ({INTEGER}, {BLOB})
ORIGIN = ({INTEGER}, {BLOB_OF_16}, {BLOB_OF_32}, {BLOB_OF_32})
ARRIVAL = ({INTEGER}, {INTEGER})
META = ({TEXT}, ANY_KIND)
HEAD_OR_REACH = (
    {INTEGER},
    {INTEGER},
    {INTEGER},
    {BLOB_OF_32},
    {INTEGER},
    {BLOB},
    {BLOB, BLOB_OF_32, NULL},
)

# Table `meta`: what must be there, what else is known, and what is an integer and no text.
NAME_FORM = rb'[^\0-\x20/\x7f]{1,64}'
REQUIRED = {b'name': NAME_FORM, b'cluster': NAME_FORM, b'incarnation': b'[0-9a-f]{16}'}
INTEGERS = (b'origin', b'reads', b'rereads')
KNOWN_KEYS = re.compile(
    b'name|cluster|incarnation|origin|reads|rereads|file|machine|witness|skew .*'
    b'|erasures|erasure [0-9]{1,18}|erased|erasing|confirmed',
    re.S,
)
SKEW = re.compile(b'(0|[1-9][0-9]{0,14}) (0|[1-9][0-9]{0,14})')
POSITION = re.compile(b'[0-9]{1,18}')
# `reads` of a release that reads what FORMATS.md has.
READS = 2


class Origin:
    """A row of table `origin`, and how far the walk over its events has come."""

    def __init__(self, id, node, key):
        self.id = id
        self.node = node
        self.key = key
        self.name = origin_name(id)
        self.tree = Tree()
        self.seq = 0  # of its last event so far
        self.hlc = None  # of that event, where its header can be read
        self.proven = 0  # up to which seq heads cover it
        self.agreed = 0  # up to which seq something beside the log knows the same history
        self.signed = 0  # of how many events the largest signed head is


class StoredHead(typing.NamedTuple):
    """A row of table `head`, or one of table `reach`, which has a proof: it leads from the first
    `size` events of that table to the head."""

    size: int
    root: bytes
    hlc: int
    signature: bytes
    proof: typing.Optional[bytes]


class Store:
    """What is read before the events. Mark and `log.end` come first: a running node goes on."""

    def __init__(self, path, report):
        self.report = report
        is_folder = os.path.isdir(path)
        folder = path if is_folder else os.path.dirname(path) or '.'
        log = os.path.join(path, 'log.db') if is_folder else path
        self.folder = Folder(folder, report)
        self.mark = self.folder.small_file('mark.json')
        self.end = self.folder.small_file('log.end') or b''
        self.has_wal = os.path.exists(log + '-wal')
        self.log = open_database(log)
        self.file = str(os.stat(log).st_ino).encode()
        self.origins = {}
        self.events = 0

    def label(self, ref):
        return self.origins[ref].name if ref in self.origins else f'origin {ref}'

    def ref_of(self, origin):
        """The ref of an origin, or 0."""
        return next((ref for ref, known in self.origins.items() if known.id == origin), 0)

    def key_of(self, origin):
        """The key of an origin, or no bytes."""
        return self.keys.get(origin, b'')

    def own_origin(self):
        """The origin that the node appends to, or None."""
        return self.origins.get(self.home)

    # --- The database -----------------------------------------------------------------------------

    def is_log(self):
        """Whether the tables are those of section 3. What a later release has added is told."""
        report = self.report
        self.schema = Schema(self.log)
        self.version = self.schema.version
        if self.schema.is_of_later_release():
            raise OSError(
                f'log.db has format {self.version}, this program knows 1 to 3:'
                ' take the one of that release'
            )
        if not self.schema.is_log() or not self.schema.is_of_known_version():
            report.finds('database', 'no Sillok log of a known version')
            return False
        wrong = self.schema.wrong()
        for what in wrong + sorted(self.schema.odd):
            report.finds('database', f'{what} is not as §3 has it')
        for what in self.schema.unknown_tables():
            report.doubts(f'{what} is not known to this page: nothing is said of what it holds')
        for (line,) in self.log.execute('PRAGMA integrity_check(20)'):
            if line != b'ok':
                report.finds('database', line.decode('utf-8', 'replace'))
        return not any(what.startswith('table') for what in wrong)

    def rows(self, table, columns):
        """The rows of a table whose columns have these kinds. Others are findings."""
        found = self.log.execute(f'SELECT * FROM {table} ORDER BY 1')
        names = [description[0] for description in found.description]
        for row in found:
            wrong = [
                name
                for name, value, kinds in zip(names, row, columns)
                if kind_of(value) not in kinds
            ]
            if wrong:
                self.report.finds(
                    'tables',
                    f'table {table.split()[-1]}, row {row[0]!r:.40}:'
                    f' of another kind or length: column {", ".join(wrong)}',
                )
            else:
                yield row

    # --- The tables -------------------------------------------------------------------------------

    def read_tables(self):
        self.names = dict(self.rows('name', NAME))
        self.nodes = {row[:3]: row[3] for row in self.rows('node', NODE)}
        self.tiles = {}
        if self.schema.has('table tile'):
            self.tiles = dict(self.rows('tile', TILE))
        self.read_origins()
        self.read_heads()
        self.meta = dict(self.rows('meta', META))
        query = 'SELECT coalesce(max(position), 0) FROM event'
        (self.top,) = self.log.execute(query).fetchone()
        self.check_kinds_of_meta()
        self.check_arrivals()
        self.check_meta()
        self.read_meta()

    def read_origins(self):
        self.keys = {}
        for ref, id, node, key in self.rows('origin', ORIGIN):
            if ref != len(self.origins) + 1 or node_id(key) != node:
                self.report.finds(
                    'origins', f"{id.hex()}: refs have a gap, or its key is not its node's"
                )
            self.origins[ref] = Origin(id, node, key)
            self.keys[id] = key
        self.ids = {ref: origin.id for ref, origin in self.origins.items()}

    def read_heads(self):
        """By ref and size."""
        reach = ' UNION ALL SELECT * FROM reach' if self.schema.has('table reach') else ''
        table = (
            '(SELECT origin, size, size AS head, root, hlc, signature, NULL AS proof'
            f' FROM head{reach}) AS head_or_reach'
        )
        self.heads = {}
        for ref, size, *head in self.rows(table, HEAD_OR_REACH):
            self.heads.setdefault((ref, size), []).append(StoredHead(*head))

    def check_kinds_of_meta(self):
        for key, value in self.meta.items():
            wanted = INTEGER if key in INTEGERS else TEXT
            if KNOWN_KEYS.fullmatch(key) and kind_of(value) != wanted:
                self.report.finds(
                    'meta', f'table meta, row {key!r:.60}: of another kind: column value'
                )

    def check_arrivals(self):
        if not self.schema.has('table arrival'):
            return
        for position, time in self.rows('arrival', ARRIVAL):
            if not 0 < position <= self.top:
                self.report.finds(
                    'arrival',
                    'table arrival has a position beyond the log,' f' which ends at {self.top}',
                    position,
                )
            elif abs(time) > MOST_MILLISECONDS:
                self.report.finds('arrival', 'table arrival has a time that cannot be', position)

    def check_meta(self):
        for key, form in REQUIRED.items():
            value = self.meta.get(key)
            if not isinstance(value, Text) or not re.fullmatch(form, value):
                self.report.finds('meta', f'table meta has no sound {key.decode()}')
        skews = {b'skew ' + origin.name.encode() for origin in self.origins.values()}
        strange = []
        for key, value in self.meta.items():
            is_skew = key.startswith(b'skew ')
            is_sound = key in skews and isinstance(value, Text) and SKEW.fullmatch(value)
            if not KNOWN_KEYS.fullmatch(key) or is_skew and not is_sound:
                strange.append(key)
        if strange:
            self.report.doubts(f'table meta has {strange}')

    def read_meta(self):
        erased = self.meta.get(b'erased')
        is_position = isinstance(erased, bytes) and POSITION.fullmatch(erased)
        # Up to where this node's own erasures are applied.
        self.applied_up_to = int(erased) if is_position else 0
        reads = self.meta.get(b'reads')
        # Whether a release that reads FORMATS.md has looked through the log.
        self.was_looked_through = kind_of(reads) == INTEGER and reads >= READS
        home = self.meta.get(b'origin')
        self.home = home if isinstance(home, int) else 0
        own = self.own_origin()
        self.own_node = own.node if own else None
        if not own:
            self.report.finds('origins', "table meta does not name the store's own origin")
