"""What makes an SQLite file a log (FORMATS.md, section 3): its numbers and its statements."""

from .trees import sha256

APPLICATION_ID = 0x53696C6C
VERSIONS = (1, 2, 3)

# Of each statement the first 16 digits of SHA-256 over its table's name, a blank and it. Table
# `event` has one for each version, the first without columns `seal` and `actor`.
STATEMENTS = {
    'table meta': ['12f48f1de9c12437'],
    'table name': ['21031a068642586d'],
    'table origin': ['e8f3c1edf2917aa7'],
    'table node': ['6bd8fd25a4d8f62e'],
    'table event': ['ac17444e8f7e0988', '4cfd5e39d1919d15', 'f4af50de62d9f03b'],
    'table head': ['b27a3062f466658b'],
    'table reach': ['fce2356c5e5f66a0'],
    'table arrival': ['1549908135e1c879'],
    'table tile': ['2fe22fd33ef1181d'],
    'index event_dot': ['f4182c83fc7a8a5c'],
    'index event_id': ['b1f2e7d1f95ba7f8'],
    'index event_twin': ['a06299b3ca6be990'],
}
# A store of an earlier release has not these.
MAY_BE_MISSING = ('table reach', 'table arrival', 'table tile')
OF_SQLITE = 'table sqlite_stat'


class Schema:
    """The version of a log, and the digest of each statement in it."""

    def __init__(self, database):
        self.application_id = pragma(database, 'application_id')
        self.version = pragma(database, 'user_version')
        self.digests = {}
        self.odd = set()
        if not self.is_log() or not self.is_of_known_version():
            return
        rows = database.execute('SELECT type, name, tbl_name, sql FROM sqlite_master')
        for row in rows:
            # No text is as odd as an empty one.
            kind, name, table, sql = (value if isinstance(value, bytes) else b'' for value in row)
            what = (kind + b' ' + name).decode('utf-8', 'replace')
            self.digests[what] = sha256(table, b' ', sql).hex()[:16]
            if is_odd(kind, name, table, sql):
                self.odd.add(what)

    def is_log(self):
        return self.application_id == APPLICATION_ID

    def is_of_known_version(self):
        return self.version in VERSIONS

    def is_of_later_release(self):
        return self.is_log() and self.version > max(VERSIONS)

    def has(self, what):
        return what in self.digests

    def wrong(self):
        """What is missing, or made by another statement."""
        return [what for what, digests in STATEMENTS.items() if not self.is_right(what, digests)]

    def is_right(self, what, digests):
        if what not in self.digests:
            return what in MAY_BE_MISSING
        return self.digests[what] == digests[: self.version][-1]

    def unknown_tables(self):
        return [
            what
            for what in sorted(self.digests.keys() - STATEMENTS.keys())
            if what.startswith('table ') and not what.startswith(OF_SQLITE)
        ]


def pragma(database, name):
    return database.execute('PRAGMA ' + name).fetchone()[0]


def is_odd(kind, name, table, sql):
    """A row that is no table and no index, or an index of SQLite's own that has a statement or is
    of another table."""
    if kind not in (b'table', b'index'):
        return True
    if not name.startswith(b'sqlite_autoindex_'):
        return False
    named = name[len(b'sqlite_autoindex_') :].rpartition(b'_')[0]
    return sql != b'' or table != named
