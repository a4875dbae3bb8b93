"""Opens files and databases (FORMATS.md, section 1, and the table of section 3 that says what a
missing file, a folder or a pipe means). Reads only."""

import os
import sqlite3

from .values import Text

# More bytes of a small file than any valid one has.
MOST_OF_SMALL_FILE = 262145
LARGEST_FILE = 64 << 20
PRAGMAS = ('trusted_schema=OFF', 'cell_size_check=ON', 'query_only=ON')


def stands(path):
    """Whether something stands there. A link to nothing is nothing, and so is a name with a NUL;
    a link that leads in a circle stands there, and is no file."""
    return '\0' not in path and os.path.lexists(os.path.realpath(path))


def is_file_within(path, limit=LARGEST_FILE):
    return os.path.isfile(path) and os.path.getsize(path) <= limit


def file_bytes(path, most=-1):
    with open(path, 'rb') as file:
        return file.read(most)


def named_file(path):
    """All bytes of a file that the command line names. A pipe would be waited for."""
    if os.path.lexists(path) and not os.path.isfile(path):
        raise OSError(f'{path} is no file')
    return file_bytes(path)


def open_database(path):
    """A connection that reads only. Of a database without WAL nothing is touched, nor are its
    neighbours."""
    neighbours = [path + name for name in ('-wal', '-shm', '-journal')]
    # SQLite would wait for a pipe.
    is_odd = any(stands(name) and not os.path.isfile(name) for name in neighbours)
    if is_odd or not os.path.isfile(path) or not is_named_or_database(path):
        raise OSError(f'{path}: no log, or what stands beside it is no file')
    has_wal = os.path.exists(path + '-wal') and os.path.getsize(path + '-wal')
    escaped = path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')
    uri = f'file:{escaped}?' + ('mode=ro' if has_wal else 'immutable=1')
    database = sqlite3.connect(uri, uri=True, isolation_level=None)
    for pragma in PRAGMAS:
        database.execute('PRAGMA ' + pragma)
    database.text_factory = Text
    return database


def is_named_or_database(path):
    """A log.db that is no database is damaged. Another file that is none was named in error."""
    return os.path.basename(path) == 'log.db' or file_bytes(path, 16) == b'SQLite format 3\0'


class Folder:
    """The folder of a store. What cannot be read there is a doubt."""

    def __init__(self, path, report):
        self.path = path
        self.report = report

    def path_of(self, name):
        return os.path.join(self.path, name)

    def small_file(self, name):
        """The bytes of a small file, or None. What stands there and is no file is told."""
        path = self.path_of(name)
        if not stands(path):
            return None
        return self._read(path, os.access(path, os.R_OK) and is_file_within(path))

    def one_of_many(self, name):
        """Likewise of a file of `evidence`, where what is no file is as if it were missing."""
        path = self.path_of(name)
        if not os.path.exists(path):
            return None
        may_read = os.access(path, os.R_OK)
        if may_read and not is_file_within(path):
            return None
        return self._read(path, may_read)

    def _read(self, path, can_be_read):
        if can_be_read:
            return file_bytes(path, MOST_OF_SMALL_FILE)
        self.report.doubts(f'{path} cannot be read: nothing can be compared with it')
        return None
