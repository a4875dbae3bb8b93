"""The one form of an event (FORMATS.md, sections 2 and 3): nothing is written in another way, and
nothing is kept as unreadable that can be read."""

from .headers import (
    FIRST_UNKNOWN,
    NotCanonical,
    is_too_long,
    opaque_id,
    place_of,
    read_fields,
    read_header,
)
from .rows import dependencies_of
from .values import Text

NAMES = ('conversation', 'author', 'actor')
# These are NULL in the row of an opaque event.
NOT_OF_OPAQUE = ('conversation', 'time', 'author', 'cause', 'version', 'actor')
# What a row may keep as unreadable.
PAYLOAD, HEADER, ACTOR = 'its payload', 'its header', 'its actor'


class Forms:
    def __init__(self, store):
        self.store = store
        self.report = store.report
        # Positions of what can be read, and no start has looked through the log.
        self.unread = []

    def check(self, event):
        row = event.row
        names = self.store.names
        nameless = [
            name
            for name in NAMES
            if getattr(row, name) is not None and getattr(row, name) not in names
        ]
        if nameless:
            self.finds(event, f'column {", ".join(nameless)} names no text')
        if is_too_long(event.header, row.payload):
            self.finds(event, 'it is longer than an event can be')
        is_text = isinstance(row.payload, Text)
        kept = None
        if row.digest is None and event.said is not None and not is_text:
            kept = PAYLOAD
        is_opaque = event.type == b'' and event.user == b''
        check_header = self.check_opaque if is_opaque else self.check_readable
        kept = check_header(event, kept)
        if row.digest is None and event.said is None and is_text:
            self.finds(event, 'column payload is of another kind: it is no payload')
        if kept:
            self.keeps(event, kept)
        self.check_hlc(event, is_opaque)

    def finds(self, event, what):
        self.report.finds('events', what, event.row.position)

    def check_opaque(self, event, kept):
        """The row of a header that cannot be read has the whole of it, and what it says."""
        row = event.row
        try:
            read_header(event.header)
        except NotCanonical:
            pass
        else:
            kept = HEADER
        origin, seq, hlc, dependencies = place_of(event.header)
        origins = self.store.origins
        stored = [(origins[ref].id, seq) for ref, seq in dependencies_of(row.dependencies)]
        said = (origin, seq, hlc, dependencies, opaque_id(origin, seq))
        is_right = said == (event.origin.id, row.seq, row.hlc, stored, row.id)
        is_alone = all(getattr(row, name) is None for name in NOT_OF_OPAQUE)
        if not is_right or not is_alone:
            self.finds(event, 'its header is of another event, or does not stand alone')
        return kept

    def check_readable(self, event, kept):
        """A header that is read is canonical, and each of its fields stands in its own column."""
        row = event.row
        try:
            header = read_header(event.header)
        except NotCanonical as fault:
            self.finds(event, f'its header is none: {fault}')
            return kept
        if row.unknown and has_known_field(row.unknown):
            self.finds(event, 'column unknown has a field that has a column of its own')
            return kept
        actor = header.actor()
        if actor is not None and row.actor is None:
            return ACTOR
        if actor is None and row.actor is not None:
            self.finds(event, 'column actor has no actor')
            return None
        return kept

    def keeps(self, event, kept):
        """What can be read is kept as what could not be. Section 2 forbids it."""
        if not self.store.was_looked_through:
            self.unread.append(event.row.position)
            return
        column = 'payload' if kept == PAYLOAD else 'unknown'
        self.finds(event, f'{kept} is marked unreadable, but can be read: column {column}')

    def check_hlc(self, event, is_opaque):
        """Of two events in a row whose headers can be read the later one has the larger hlc."""
        row, origin = event.row, event.origin
        before = origin.hlc
        origin.hlc = None if is_opaque else row.hlc
        if before is not None and not is_opaque and row.hlc <= before:
            self.report.finds(
                'order', f'its hlc does not ascend: {origin.name}/{row.seq}', row.position
            )


def has_known_field(unknown):
    return any(tag >> 3 < FIRST_UNKNOWN for tag, *_ in read_fields(unknown))
