"""Scripts/verify.py against planted lies: a wrong value in every column, what others have cosigned, a file that is missing.

SILLOK_BIN names the folder of syncd and syncctl; default: .build/debug.
"""
import base64
import contextlib
import functools
import hashlib
import io
import itertools
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import uuid
from unittest import mock

try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    import record
    import verify
    from sillok_verify.headers import read_varint
    from sillok_verify.heads import head_text, node_id
    from sillok_verify.rows import Row, header_of
    from sillok_verify.trees import Tree, leaf_hash, node_hash, sha256, split
    from sillok_verify.values import Text
    from sillok_verify.verifier import Verifier
    import wire
    import lab as place
    sys.path.append(str(wire.ROOT / 'Tests' / 'Reliability'))
    from rewriting import rewritten
except ImportError as missing:
    raise unittest.SkipTest(f'the hostile peer needs {missing.name}: make hostile-venv') from None

BIN = pathlib.Path(os.environ.get('SILLOK_BIN', wire.ROOT / '.build' / 'debug'))
HAVE = unittest.skipUnless((BIN / 'syncd').exists(), f'no {BIN}/syncd')
VALUES = ('abc', '', b'', b'\xff', bytes(16), bytes(32), None, 1.5, float('inf'), -1, 2**44, 2**63 - 1, -2**63)
TYPES = {'INTEGER': 'integer', 'BLOB': 'blob', 'TEXT': 'text'}


def verified(*arguments):
    """Exit code and report of verify.py in this process: nothing may be raised."""
    out = io.StringIO()
    with mock.patch.object(sys, 'argv', ['verify.py', '--json', *map(str, arguments)]), contextlib.redirect_stdout(out), \
            contextlib.redirect_stderr(out):
        code = verify.main()
    text = out.getvalue()
    return code, json.loads(text) if text.startswith('{') else {'findings': [], 'notes': [text]}


def told(report):
    return [f'position {one["position"]}: {one["what"]}' for one in report['findings']] + report['notes']


def values(store):
    """cosigned.db, opened for writing."""
    return contextlib.closing(sqlite3.connect(store / 'cosigned.db', isolation_level=None))


@HAVE
class Lies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = place.Lab(BIN / 'syncd', BIN / 'syncctl').__enter__()
        cls.addClassCleanup(lambda: cls.lab.__exit__(None, None, None))
        victim, third = cls.lab.pair()
        third.append('from the third')
        line = b'{"type":"message.posted","user":"u-%d","author":"bot","dataversion":2,"subject":"conversation/c","data":{"text":"x%d"}}'
        assert victim.post('/v1/events', b'\n'.join(line % (n % 3, n) for n in range(258)))[0] == 200
        victim.eventually(lambda: 'from the third' in victim.ctl('history', 'u-honest', expect=None).stdout, 'nothing has come')
        victim.append('after the third')
        cls.waits(victim)
        victim.stop()
        cls.earlier = cls.lab.folder / 'earlier'
        cls.copied(victim.store, cls.earlier)
        victim.start()
        victim.append('later')
        cls.waits(victim)
        victim.stop()
        third.stop()
        cls.store, cls.third = victim.store, third.store
        cls.folder = cls.lab.folder

    @staticmethod
    def waits(daemon):
        """Until the peer has cosigned all of the daemon's own events."""
        def is_known():
            log = sqlite3.connect(f'file:{daemon.store}/log.db?mode=ro', uri=True)
            (origin, count), = log.execute("SELECT id, (SELECT max(seq) FROM event WHERE origin = ref) FROM origin, meta WHERE meta.key = 'origin' AND ref = value")
            log.close()
            file = sqlite3.connect(f'file:{daemon.store}/cosigned.db?mode=ro', uri=True)
            lists = [data for (data,) in file.execute("SELECT bytes FROM value WHERE name LIKE 'node/%'")]
            file.close()
            return any(origin + count.to_bytes(8, 'big') in data for data in lists)
        daemon.eventually(is_known, 'the peer cosigns nothing')

    @staticmethod
    def copied(store, other):
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(store, other, ignore=shutil.ignore_patterns('api.sock', '*-shm', 'views.*', 'attachments'))
        return other

    def changed(self, *statements, of=None):
        store = self.copied(of or self.store, self.folder / 'changed')
        log = sqlite3.connect(store / 'log.db', isolation_level=None)
        for statement in statements:
            log.execute(*statement) if isinstance(statement, tuple) else log.execute(statement)
        log.close()
        return store

    def both(self, store):
        """Exit codes of both programs."""
        theirs = subprocess.run([self.lab.syncctl, '--store', store, 'verify', '--json'], capture_output=True, text=True, timeout=60)
        ours = subprocess.run([sys.executable, '-B', place.VERIFY, store], capture_output=True, text=True, timeout=60)
        self.assertEqual(ours.stderr, '')
        return theirs.returncode, ours.returncode, theirs.stdout + ours.stdout

    def test_whole(self):
        for store in (self.store, self.third, self.earlier):
            self.assertEqual(self.both(self.copied(store, self.folder / 'whole'))[:2], (0, 0))

    def same(self, store, *, has=(0, 2, 3)):
        """What verify.py reports, whose exit code must be that of `syncctl verify`: both are written from FORMATS.md."""
        with subprocess.Popen([self.lab.syncctl, '--store', store, 'verify'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as other:
            code, report = verified(store)
            text = other.communicate(timeout=60)[0]
        self.assertEqual((code, other.returncode), (code, code), told(report)[:5] + text.splitlines()[-9:])
        self.assertIn(code, has, told(report))
        return code, report

    def test_every_column(self):
        """Every value of every kind in every column: both checkers say the same, verify.py names the column, and there is no traceback. A sample
        of them where SILLOK_EVERY is not set."""
        more = {'reach': self.reach()}
        rows = {'event': 'position = (SELECT max(position) FROM event WHERE dependencies IS NOT NULL)'}
        tried = 0
        for table in ('meta', 'name', 'origin', 'event', 'node', 'head', 'reach', 'arrival', 'tile'):
            base = self.changed('PRAGMA journal_mode = DELETE', more.get(table, ''))
            shutil.copy(base / 'log.db', self.folder / 'whole.db')
            log = sqlite3.connect(base / 'log.db')
            names = [(name, kind) for _, name, kind, *_ in log.execute(f'PRAGMA table_info({table})')]
            places = [(rows.get(table, f'{names[0][0]} = (SELECT min({names[0][0]}) FROM {table})'), TYPES)]
            if table == 'meta':
                places = [(f"key = '{key}'", TYPES | {'': 'integer' if key in ('origin', 'reads', 'rereads') else 'text'}) for (key,) in log.execute('SELECT key FROM meta')]
            self.assertTrue(log.execute(f'SELECT 1 FROM {table}').fetchone(), f'{table} is empty')
            self.same(base, has=(0,))
            log.close()
            cases = list(itertools.product(places, names, VALUES))
            for ((where, types), (column, declared), value) in cases if os.environ.get('SILLOK_EVERY') else cases[len(table) % 3::3]:
                log = sqlite3.connect(base / 'log.db', isolation_level=None)
                try:
                    log.execute(f'UPDATE {table} SET "{column}" = ? WHERE {where}', (value,))
                except sqlite3.IntegrityError:
                    continue  # SQLite itself refuses it
                finally:
                    kinds = {kind for (kind,) in log.execute(f'SELECT typeof("{column}") FROM {table}' + (f' WHERE {where}' if column == 'value' else ''))}
                    log.close()
                with self.subTest(table=table, column=column, value=value, where=where):
                    tried += 1
                    code, report = self.same(base)
                    if kinds - {types[declared], 'null'}:
                        words = told(report)
                        self.assertEqual(code, 3, words)
                        # Bytes may stand for a payload that is none: then it is the hash that differs.
                        names_it = any(f'column {column}' in one or f', {column}' in one for one in words)
                        self.assertTrue(names_it or column == 'payload', words[:5])
                shutil.copy(self.folder / 'whole.db', base / 'log.db')
        self.assertGreater(tried, 200)

    def reach(self):
        """No reach is left in a store that has all: a statement for a right one, which is behind."""
        found = Verifier(str(self.store))
        found.run()
        home = found.store.home
        tree = found.store.origins[home].tree
        self.assertLess(256, tree.size)
        self.assertLess(tree.size, 512)
        rest = functools.reduce(lambda root, left: node_hash(left, root), reversed(tree.stack[1:]))
        return ('INSERT INTO reach SELECT origin, 256, size, root, hlc, signature, ? FROM head WHERE origin = ? AND size = ?', (rest, home, tree.size))

    def test_reach(self):
        """A row of reach that leads nowhere, at every size, and one of more than the log has."""
        base = self.copied(self.changed(self.reach()), self.folder / 'reach')
        self.same(base, has=(0,))
        for size in (1, 2, 100, 255, 257, 258):
            with self.subTest(size):
                self.same(self.changed(f'UPDATE reach SET size = {size}', of=base), has=(3,))
        for statement in ('UPDATE reach SET proof = zeroblob(32)', 'UPDATE reach SET size = head', 'UPDATE reach SET size = head + 1', "UPDATE reach SET proof = x''",
                          'UPDATE reach SET proof = CAST(proof || proof AS BLOB)', 'UPDATE reach SET signature = zeroblob(64)', 'UPDATE reach SET origin = 99'):
            with self.subTest(statement):
                self.same(self.changed(statement, of=base), has=(3,))

    def test_heard(self):
        """A signed head of another history, heard of before so many events were here: it contradicts, until the proof that both are signed lies beside the log (INV-3)."""
        log = sqlite3.connect(self.store / 'log.db')
        log.text_factory = Text
        names, origins = dict(log.execute('SELECT * FROM name')), {ref: origin for ref, origin, *_ in log.execute('SELECT * FROM origin')}
        (home,), = log.execute("SELECT value FROM meta WHERE key = 'origin'")
        rows = [Row(*values) for values in log.execute('SELECT * FROM event WHERE origin = ? ORDER BY seq', (home,))]
        top, root, hlc, signature = log.execute('SELECT size, root, hlc, signature FROM head WHERE origin = ? ORDER BY size DESC', (home,)).fetchone()
        log.close()
        leaves = [leaf_hash(header_of(row, names, origins), row.digest or sha256(row.salt, row.payload)) for row in rows]
        origin, key = origins[home], load_pem_private_key((self.store / 'node.key').read_bytes(), None)

        def root_of(some):
            tree = Tree()
            for leaf in some:
                tree.add(leaf)
            return tree.root()

        def path(old, some, whole=True):  # RFC 6962, 2.1.2
            if old == len(some):
                return [] if whole else [root_of(some)]
            k = split(len(some))
            return path(old, some[:k], whole) + [root_of(some[k:])] if old <= k else path(old - k, some[k:], False) + [root_of(some[:k])]

        def signed(size, root):
            text = head_text(origin, size, root, hlc)
            return {'head': text.decode(), 'signature': base64.b64encode(key.sign(text)).decode()}

        for have, size in ((5, 10), (4, 8), (5, top), (5, top + 1), (255, 257)):
            for is_other in (True, False):
                some = leaves[:have] + [sha256(bytes([is_other]), leaf) if is_other else leaf for leaf in leaves[have:size]] + [bytes(32)] * (size - top)
                heard, proof = signed(size, root_of(some)), b''.join(path(have, some))
                row = ('INSERT INTO reach VALUES (?, ?, ?, ?, ?, ?, ?)', (home, have, size, root_of(some), hlc, base64.b64decode(heard['signature']), proof))
                with self.subTest(have=have, size=size, is_other=is_other):
                    is_lie = is_other and size <= top
                    code, report = self.same(self.changed(row), has=((3,) if is_lie else (2,) if size > top else (0,)))
                    if not is_lie:
                        continue
                    self.assertTrue(any('table reach knows another history' in one for one in told(report)), told(report))
                    here = {'head': head_text(origin, top, root, hlc).decode(), 'signature': base64.b64encode(signature).decode()}
                    one = heard | {'root': root_of(some).hex(), 'proof': []}
                    other = here | {'root': root_of(leaves[:size]).hex(), 'proof': [step.hex() for step in path(size, leaves[:top])]}
                    fork = {'kind': 'fork', 'origin': str(uuid.UUID(bytes=origin)), 'seq': str(size), 'branches': [one, other]}
                    for what, branches, has in (
                            ('both', [one, other], (0,)), ('one twice', [one, one], (3,)), ('a root that is not signed', [one, other | {'root': '00' * 32}], (3,)),
                            ('a step too many', [one | {'proof': ['00' * 32]}, other], (3,)), ('capitals', [one | {'root': one['root'].upper()}, other], (3,)),
                            ('no root', [one, other | {'root': None}], (3,)), ('another signature', [one, other | {'signature': one['signature']}], (3,))):
                        store = self.changed(row)
                        (store / 'evidence').mkdir(exist_ok=True)
                        file = store / 'evidence' / f'fork-{fork["origin"]}-{size}-00000000-ffffffff.json'
                        file.write_text(json.dumps(fork | {'branches': branches}))
                        self.same(store, has=has)
                        if what == 'both':
                            code, report = verified(self.store, '--evidence', file)
                            self.assertEqual(code, 0, told(report))
                            self.assertTrue(any(f'signed two histories of the first {size} events' in one for one in told(report)), told(report))

    def test_erasures(self):
        """What table meta says of erasures, and payloads that were put back where an applied erasure covers them (FORMATS §2, §3)."""
        store, plan = self.copied(self.store, self.folder / 'erased'), self.folder / 'plan'
        log = sqlite3.connect(f'file:{store}/log.db?mode=ro', uri=True)
        position, salt, payload = log.execute("SELECT position, salt, payload FROM event WHERE user = (SELECT ref FROM name WHERE text = 'u-0')").fetchone()
        log.close()
        for more in (['--authored', 'keep', '--replies', 'keep', '--reason', 'r', '--who', 'w', '--plan', plan], ['--confirm', plan]):
            done = subprocess.run([self.lab.syncctl, '--store', store, 'erase', 'user', 'u-0', *more], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.same(self.copied(store, self.folder / 'whole'), has=(0,))
        (store / 'node.key').unlink()  # with it syncctl alone checks the seal: test_forms.py
        back = ('UPDATE event SET digest = NULL, salt = ?, payload = ? WHERE position = ?', (salt, payload, position))
        for statements, wanted in {
                ("INSERT OR REPLACE INTO meta VALUES('erased', '4000')",): 3, ("UPDATE meta SET value = '2' WHERE key = 'erased'",): 3,
                ("UPDATE meta SET value = '+' || value WHERE key = 'erased'",): 3, ("UPDATE meta SET value = '' WHERE key = 'erased'",): 3,
                ("DELETE FROM meta WHERE key = 'erased'",): 0, ("DELETE FROM meta WHERE key GLOB 'erasure [0-9]*'",): 3, ("DELETE FROM meta WHERE key GLOB 'erasure*'",): 2,
                ("INSERT INTO meta VALUES('erasure 5', '')",): 3, ("INSERT INTO meta VALUES('erasure 99999999999999999999', '')",): 2,
                ("INSERT INTO meta VALUES('erasure +5', '')",): 2, (back,): 3, (back, "DELETE FROM meta WHERE key = 'erased'"): 2}.items():
            with self.subTest(statements):
                self.same(self.changed(*statements, of=store), has=(wanted,))
        for key, value in itertools.product(('erased', 'erasing', 'erasures', 'confirmed'), VALUES):
            with self.subTest(key=key, value=value):
                self.same(self.changed(('INSERT OR REPLACE INTO meta VALUES(?, ?)', (key, value)), of=store), has=(0, 3))

    def test_what_holds_for_others(self):
        """An erasure with `shared: false` covers what a user has set for others only by name (FORMATS §2): no one blanks it behind such an erasure."""
        lines = [{'type': 'conversation.started', 'user': 'u-0', 'subject': 'conversation/c-shared', 'data': {'participants': ['u-0', 'u-x', 'troll']}},
                 {'type': 'message.posted', 'user': 'u-x', 'subject': 'conversation/c-shared', 'data': {'text': 'hello'}},
                 {'type': 'participant.left', 'user': 'u-0', 'subject': 'conversation/c-shared', 'data': {'user': 'troll'}}]
        blank = 'UPDATE event SET payload = NULL, salt = NULL, digest = ? WHERE position = ?'
        for shared in ('keep', 'erase'):
            store, plan = self.copied(self.store, self.folder / f'shared-{shared}'), self.folder / f'plan-{shared}'
            for arguments, data in ((['append', '-'], '\n'.join(map(json.dumps, lines))),
                                    (['erase', 'user', 'u-0', '--authored', 'keep', '--replies', 'keep', '--shared', shared, '--reason', 'r', '--who', 'w', '--plan', plan], ''),
                                    (['erase', 'user', 'u-0', '--confirm', plan], '')):
                done = subprocess.run([self.lab.syncctl, '--store', store, *arguments], input=data, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
            log = sqlite3.connect(f'file:{store}/log.db?mode=ro', uri=True)
            rows = log.execute("SELECT position, salt, payload FROM event WHERE type IN (SELECT ref FROM name WHERE text IN ('conversation.started', 'participant.left'))"
                               " AND user = (SELECT ref FROM name WHERE text = 'u-0')").fetchall()
            log.close()
            kept = [row for row in rows if row[2] is not None]
            self.assertEqual(len(kept), 2 if shared == 'keep' else 0, rows)
            self.same(self.copied(store, self.folder / f'whole-{shared}'), has=(0,))
            for position, salt, payload in kept:
                with self.subTest(position=position):
                    digest = hashlib.sha256(salt + (payload if isinstance(payload, bytes) else payload.encode())).digest()
                    self.same(self.changed((blank, (digest, position)), of=store), has=(3,))

    def test_every_value_beside(self):
        """The same for cosigned.db, whose rows no release has put otherwise: nothing can be compared with them."""
        base = self.copied(self.store, self.folder / 'beside')
        with values(base) as file:
            rows = file.execute('SELECT name, bytes FROM value').fetchall()
            file.executescript('DROP TABLE value; CREATE TABLE value (name, bytes); PRAGMA journal_mode = DELETE')
        for index, column, value in itertools.product(range(len(rows)), ('name', 'bytes'), VALUES):
            with values(base) as file:
                file.execute('DELETE FROM value')
                file.executemany('INSERT INTO value VALUES (?, ?)', rows)
                file.execute(f'UPDATE value SET {column} = ? WHERE name = ?', (value, rows[index][0]))
            with self.subTest(name=rows[index][0], column=column, value=value):
                self.same(base, has=(2,))
        with values(base) as file:
            file.execute('DELETE FROM value')
            file.executemany('INSERT INTO value VALUES (?, ?)', rows)
        self.same(base, has=(0,))

    def test_more_rows(self):
        """Rows that belong to nothing, tables and keys that no release has written, and the ends of what numbers may be. A text that no event
        uses is none of these: a draft that was refused leaves one (FORMATS §3)."""
        log = sqlite3.connect(f'file:{self.store}/log.db?mode=ro', uri=True)
        (flagged,) = log.execute('SELECT id FROM origin LIMIT 1').fetchone()
        log.close()
        flagged = str(uuid.UUID(bytes=flagged))
        for statement, wanted in {
                "INSERT INTO meta VALUES(x'6f64', 'x')": 3, "INSERT INTO meta VALUES('later', 5)": 2, "INSERT INTO meta VALUES('later', NULL)": 2,
                "INSERT INTO meta VALUES('skew x', 5)": 3, "INSERT INTO meta VALUES('skew x', '70000 5')": 2, "INSERT INTO meta VALUES('skew ', '70000 5')": 2,
                f"INSERT INTO meta VALUES('skew {flagged}', '70000 1795700000000')": 0, f"INSERT INTO meta VALUES('skew {flagged}', 5)": 3,
                f"INSERT INTO meta VALUES('skew {flagged.upper()}', '70000 5')": 2, f"INSERT INTO meta VALUES('skew {uuid.uuid4()}', '70000 5')": 2,
                **{f"INSERT INTO meta VALUES('skew {flagged}', '{value}')": 2 for value in ('', 'secret', '70000', '70000 5 6', '070000 5', '70000  5', '-5 5', '+5 5', '70000 ' + 16 * '9')},
                'CREATE TABLE later(x)': 2, "CREATE TABLE later AS SELECT 'of someone who was erased'": 2, 'CREATE INDEX later ON event(user)': 0, 'ANALYZE': 0,
                "INSERT INTO meta VALUES('erasure 5', 5)": 3, "INSERT INTO meta VALUES('erased', x'35')": 3,
                "INSERT INTO name VALUES(9999, '')": 3, "INSERT INTO name VALUES(9999, 'of nothing')": 0, "INSERT INTO name VALUES(0, 'of nothing')": 0,
                "INSERT INTO meta VALUES('SKEW x', '5')": 2, "INSERT INTO meta VALUES('erasure x', '5')": 2,
                'INSERT OR REPLACE INTO arrival VALUES((SELECT max(position) FROM event), 5)': 0, 'INSERT INTO arrival VALUES((SELECT max(position) + 1 FROM event), 5)': 3,
                f'INSERT INTO arrival VALUES({2**44 - 1}, 5)': 3, 'INSERT INTO tile VALUES(1, zeroblob(512))': 3, 'INSERT INTO tile VALUES(99999, zeroblob(512))': 3,
                'INSERT INTO tile VALUES(-1, zeroblob(512))': 3, 'UPDATE tile SET position = position + 1': 3, 'DELETE FROM tile': 0, 'DROP TABLE tile': 0,
                'UPDATE tile SET hashes = substr(hashes, 1, 511)': 3, 'UPDATE tile SET hashes = zeroblob(512)': 3, 'UPDATE tile SET hashes = CAST(hashes AS TEXT)': 3,
                'INSERT INTO node VALUES(1, 4, 0, zeroblob(32))': 3, 'INSERT INTO node VALUES(99, 8, 0, zeroblob(32))': 3,
                "UPDATE event SET seal = 'abcdefghijklmnop' WHERE position = 9": 3, 'UPDATE event SET seal = zeroblob(15) WHERE position = 9': 3}.items():
            with self.subTest(statement):
                self.same(self.changed(statement), has=(wanted,))

    def test_dependencies(self):
        """Cut, odd and overlong varints, which leave the hash as it is where one reads over them (FORMATS §3)."""
        log = sqlite3.connect(f'file:{self.store}/log.db?mode=ro', uri=True)
        at, data = log.execute('SELECT position, dependencies FROM event WHERE dependencies IS NOT NULL ORDER BY position DESC').fetchone()
        log.close()
        ref, seq = read_varint(data, 0)[0], data[read_varint(data, 0)[1]:]
        for name, lie in {'alone': b'\xff', 'cut': data + b'\xff', 'odd': data + b'\x05', 'over 64 bits': b'\xff' * 10 + b'\x01', 'overlong ref': bytes([ref | 128, 0]) + seq,
                          'overlong seq': data[:-1] + bytes([data[-1] | 128, 0]), 'a zero': data + b'\x80', 'twice': data * 2,
                          '65 bits': bytes([ref]) + b'\xff' * 9 + b'\x7f', 'of a row without': b'\xff'}.items():
            with self.subTest(name):
                where = 'position = 50' if name == 'of a row without' else f'position = {at}'
                store = self.changed((f'UPDATE event SET dependencies = ? WHERE {where}', (lie,)))
                theirs, ours, text = self.both(store)
                self.assertEqual((theirs, ours), (3, 3), text)
                self.assertIn(where.replace(' =', ''), text)

    def test_moved(self):
        """A peer's event that is moved before an own one, which then would have named it (FORMATS §2)."""
        log = sqlite3.connect(f'file:{self.third}/log.db?mode=ro', uri=True)
        own = "(SELECT value FROM meta WHERE key = 'origin')"
        (at,), *_ = log.execute(f'SELECT e.position FROM event e JOIN event b ON b.position = e.position - 1 WHERE e.origin != {own} AND b.origin = {own} ORDER BY 1 DESC')
        log.close()
        steps = [(at, -1), (at - 1, at), (-1, at - 1)]
        theirs, ours, text = self.both(self.changed(*((f'UPDATE event SET position = {to} WHERE position = {of}') for of, to in steps), of=self.third))
        self.assertEqual((theirs, ours), (3, 3), text)
        self.assertEqual(text.count('not the events that arrived since the one before'), 2, text)

    def test_arrivals(self):
        """Times of arrival are proven by nothing, and bounded (FORMATS §2, Numbers)."""
        for name, (statement, wanted) in {
                'a time too late': ('UPDATE arrival SET time = 253402300800000', (3, 3)), 'a time too early': ('UPDATE arrival SET time = -253402300800000', (3, 3)),
                'the latest': ('UPDATE arrival SET time = 253402300799999', (0, 0)), 'a text': ("UPDATE arrival SET time = 'x'", (3, 3)),
                'a position below 1': ('INSERT INTO arrival VALUES(0, 5)', (3, 3)), 'one over its bound': (f'INSERT INTO arrival VALUES({2**44}, 5)', (3, 3)),
                'one beyond the log': ('INSERT INTO arrival VALUES(9999, 5)', (3, 3)), 'none': ('DELETE FROM arrival', (0, 0))}.items():
            with self.subTest(name):
                theirs, ours, text = self.both(self.changed(statement))
                self.assertEqual((wanted[0] and theirs, ours), wanted, text)
                self.assertTrue(wanted[1] == 0 or 'arrival' in text, text)

    def test_rewritten_by_the_keys_holder(self):
        """What a peer has cosigned lies beside the log: it convicts who rewrites that with the node's own key (FORMATS §9)."""
        third = node_id(load_pem_private_key((self.third / 'node.key').read_bytes(), None).public_key().public_bytes_raw()).hex()
        store = self.copied(self.store, self.folder / 'rewritten')
        rewritten(store, 50, '{"text":"never said"}')
        theirs, ours, text = self.both(store)
        self.assertEqual((theirs, ours), (3, 3), text)
        self.assertIn(f'node {third:.12} knows', text)
        (store / 'cosigned.db').unlink()
        self.assertEqual(self.both(store)[:2], (2, 0), 'with the key alone can be seen that log.end is sealed for other events')
        (store / 'log.end').unlink()
        self.assertEqual(self.both(store)[:2], (0, 0), 'nothing else knows of it')

    def test_put_back(self):
        """A store of yesterday beside which a peer has told of today, and one that has cosigned what it has no more."""
        store = self.copied(self.earlier, self.folder / 'back')
        self.assertEqual(self.both(store)[:2], (0, 0))
        shutil.copy(self.store / 'cosigned.db', store / 'cosigned.db')
        theirs, ours, text = self.both(store)
        self.assertEqual((theirs, ours), (3, 3), text)
        self.assertRegex(text, 'which node [0-9a-f]{12} knows, is of events the log does not have')

    def test_what_peers_may_say(self):
        """A peer's word of a head that its origin has not signed, of more of another's origin, of a strange node: nothing of it contradicts."""
        other = record.Identity()
        log = sqlite3.connect(f'file:{self.store}/log.db?mode=ro', uri=True)
        own, theirs = [row for row in log.execute("SELECT id FROM origin ORDER BY ref = (SELECT value FROM meta WHERE key = 'origin') DESC")][:2]
        log.close()
        third = load_pem_private_key((self.third / 'node.key').read_bytes(), None)
        node = node_id(third.public_key().public_bytes_raw()).hex()

        def listed(origin, size, signer, cosigner):
            text = head_text(origin, size, bytes(32), 5)
            entry = (origin + size.to_bytes(8, 'big') + bytes(32) + (5).to_bytes(8, 'big') + signer.sign(text) + (9).to_bytes(8, 'big')
                     + cosigner.sign(b'cosignature/v1\ntime 9\n' + text))
            return (1).to_bytes(8, 'big') * 2 + entry

        mine = load_pem_private_key((self.store / 'node.key').read_bytes(), None)
        for name, (row, data, wanted) in {
                'a head that its origin has not signed': ('node/' + node, listed(own[0], 5, third, third), 0),
                'one that the node has not cosigned': ('node/' + node, listed(own[0], 5, mine, mine), 0),
                'a strange node': ('node/' + other.node.hex(), listed(own[0], 5, mine, other.private), 0),
                'more of its own origin': ('node/' + node, listed(theirs[0], 99999, third, third), 0),
                'another history of its own origin': ('node/' + node, listed(theirs[0], 1, third, third), 3),
                'more of this origin': ('node/' + node, listed(own[0], 99999, mine, third), 3),
                'this node, of more than there is': ('mine/' + str(uuid.UUID(bytes=theirs[0])), listed(theirs[0], 99999, third, mine), 3)}.items():
            with self.subTest(name):
                store = self.copied(self.store, self.folder / 'words')
                with values(store) as file:
                    file.execute('DELETE FROM value')
                    file.execute('INSERT INTO value VALUES(?, ?)', (row, data))
                theirs_, ours, text = self.both(store)
                self.assertEqual((theirs_, ours), (wanted, wanted), text)

    def test_damaged_cosignatures(self):
        """What cannot be read of cosigned.db is told, and keeps the log from being proven; nothing waits for a pipe."""
        def pipe(path):
            path.unlink()
            os.mkfifo(path)

        def stated(*statements):
            def change(path):
                with values(path.parent) as file:
                    for statement in statements:
                        file.execute(statement)
            return change
        cases = {
            'random bytes': lambda path: path.write_bytes(os.urandom(20_000)), '10 bytes': lambda path: os.truncate(path, 10), 'a pipe': pipe,
            'a folder': lambda path: (path.unlink(), path.mkdir()), 'no table': stated('DROP TABLE value'),
            'a view': stated('ALTER TABLE value RENAME TO other', 'CREATE VIEW value AS SELECT name, bytes FROM other'),
            'a list that is cut': stated('UPDATE value SET bytes = substr(bytes, 1, length(bytes) - 1)'),
            'a list of another version': stated("UPDATE value SET bytes = CAST(x'00' || bytes AS blob) WHERE name LIKE 'node/%'"),
            'an empty list': stated("UPDATE value SET bytes = x''"), 'a name of nothing': stated("UPDATE value SET name = 'x' || name WHERE name LIKE 'node/%'"),
            'the name of another origin': stated("UPDATE value SET name = 'mine/00000000-0000-0000-0000-000000000000' WHERE name LIKE 'mine/%'")}
        for name, change in cases.items():
            with self.subTest(name):
                store = self.copied(self.store, self.folder / 'damaged')
                for suffix in ('-wal', '-shm'):
                    (store / ('cosigned.db' + suffix)).unlink(missing_ok=True)
                change(store / 'cosigned.db')
                theirs, ours, text = self.both(store)
                self.assertEqual((theirs, ours), (2, 2), text)
                self.assertEqual(text.count('cosigned.db') > 1, True, text)
        with self.subTest('none'):
            (store / 'cosigned.db').unlink()
            self.assertEqual(self.both(store)[:2], (0, 0))
        with self.subTest('a power cut ended its making'):
            with values(store) as file:
                file.execute('PRAGMA journal_mode = WAL')
            self.assertEqual(self.both(store)[:2], (0, 0))
            (store / 'cosigned.db').write_bytes(b'')
            self.assertEqual(self.both(store)[:2], (0, 0))

    def test_every_column_of_cosignatures(self):
        """As test_every_column, in a table that takes any value."""
        store = self.copied(self.store, self.folder / 'loose')
        with values(store) as file:
            rows = file.execute('SELECT * FROM value').fetchall()
        for column in ('name', 'bytes'):
            for value in VALUES:
                with self.subTest(column=column, value=value):
                    for path in store.glob('cosigned.db*'):
                        path.unlink()
                    with values(store) as file:
                        file.execute('CREATE TABLE value(name, bytes)')
                        file.executemany('INSERT INTO value VALUES(?, ?)', rows)
                        file.execute(f'UPDATE value SET {column} = ?', (value,))
                    code, report = verified(store)
                    self.assertEqual(code, 2, told(report))
                    self.assertTrue(any('cosigned.db' in note for note in report['notes']))

    def test_files_that_are_none(self):
        """A pipe where a small file should be is told, and nothing waits for it."""
        for name in ('mark.json', 'log.end', 'erasures.ndjson', 'evidence'):
            with self.subTest(name):
                store = self.copied(self.store, self.folder / 'pipes')
                (store / name).unlink(missing_ok=True)
                os.mkfifo(store / name)
                done = subprocess.run([sys.executable, '-B', place.VERIFY, store], capture_output=True, text=True, timeout=20)
                self.assertEqual((done.returncode, done.stderr), (2, ''), done.stdout)
                self.assertIn(name, done.stdout)

    def test_incomplete(self):
        """verify.py without its package, or without any module of it: one sentence that says what is missing and where it is, and nothing half checked."""
        package = place.VERIFY.with_name('sillok_verify')
        modules = sorted(path.name for path in package.glob('*.py'))
        self.assertGreater(len(modules), 20)
        for missing in (None, *modules):
            with self.subTest(missing), tempfile.TemporaryDirectory() as folder:
                alone = pathlib.Path(shutil.copy(place.VERIFY, folder))
                if missing:
                    shutil.copytree(package, alone.with_name(package.name), ignore=shutil.ignore_patterns('__pycache__', missing))
                some = ([self.store], ['--proof', alone], [self.store, '--since', alone], ['--nonsense']) if missing in (None, 'receipts.py') else ([self.store],)
                for arguments in some if missing != '__init__.py' else ():
                    done = subprocess.run([sys.executable, '-B', alone, *arguments], capture_output=True, text=True, timeout=20)
                    self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (66, '', 1), done.stderr)
                    self.assertRegex(done.stderr, '^verify: the folder sillok_verify, .*/usr/share/doc/syncd/examples')

    def test_package_is_brought(self):
        """What installs, or tells people to take, verify.py has its package beside it."""
        for path in ('Makefile', 'Scripts/deb.sh', 'Sources/syncctl/Commands/SubjectReadme.swift', 'docs/operating/install.md', 'docs/operating/auditing.md',
                     'docs/operating/receipts.md', 'docs/operating/watching.md', 'docs/README.md', 'README.md', 'README.ko.md'):
            text = (wire.ROOT / path).read_text()
            self.assertIn('verify.py', text, path)
            self.assertIn('sillok_verify', text, path)

    def counting(self, store, more):
        """A receipt of a store that counts so many events more of each origin, beyond its heads, signed by its node."""
        made = subprocess.run([self.lab.syncctl, '--store', store, 'receipt', '--json'], capture_output=True, timeout=30).stdout
        lines = [json.loads(line) for line in made.splitlines()]
        for line in lines:
            if line['type'] == 'head':
                line['events'] += more
                lines[0]['position'] += more
        body = b''.join(json.dumps(line, ensure_ascii=False, separators=(',', ':')).encode() + b'\n' for line in lines[:-1])
        digest = hashlib.sha256(body).hexdigest()
        key = load_pem_private_key((store / 'node.key').read_bytes(), None)
        end = {**lines[-1], 'sha256': digest, 'signature': base64.b64encode(key.sign(f'sillok receipt v1\n{digest}\n'.encode())).decode()}
        path = self.folder / f'{store.name}-{more}.receipt'
        path.write_bytes(body + json.dumps(end, separators=(',', ':')).encode() + b'\n')
        return path

    def test_counted_beyond_heads(self):
        """What a receipt counts beyond its heads, and is not here: of the node itself a contradiction, of another what may come yet, for both verifiers."""
        for store, more, code in ((self.store, 0, 0), (self.store, 1, 3), (self.third, 0, 0), (self.third, 1, 2)):
            receipt = self.counting(store, more)
            theirs = subprocess.run([self.lab.syncctl, '--store', self.store, 'verify', '--since', receipt], capture_output=True, text=True, timeout=60)
            ours, report = verified(self.store, '--since', receipt)
            with self.subTest(receipt.name):
                self.assertEqual((theirs.returncode, ours), (code, code), theirs.stdout + str(told(report)))
                for text in (theirs.stdout, str(told(report))): self.assertEqual('counts' in text, more > 0, text)

    def test_receipt_against_a_changed_log(self):
        """A receipt that proves itself is not blamed for what was changed in the log it is held against: both say 3, and what differs (INV-18)."""
        other = self.folder / 'elsewhere'
        subprocess.run([self.lab.syncctl, '--store', other, 'init', '--name', 'x', '--cluster', 'elsewhere'], check=True, capture_output=True, timeout=60)
        key = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
        cluster, key_of = "UPDATE meta SET value = 'other' WHERE key = 'cluster'", 'UPDATE origin SET node = ?, key = ? WHERE ref = ?'
        own, peer = (self.counting(store, 0) for store in (self.store, self.third))
        for receipt in (own, peer):
            for name, of, change, code, text in [
                    ('node of the own origin', None, 'UPDATE origin SET node = zeroblob(32) WHERE ref = 1', 3, ''), ('node of another', None, 'UPDATE origin SET node = zeroblob(32) WHERE ref = 2', 3, ''),
                    ('no cluster', None, "DELETE FROM meta WHERE key = 'cluster'", 3, ''), ('another cluster', None, cluster, 3, 'made in cluster'), ('rolled back', self.earlier, cluster, 3, 'knows'),
                    *((f'key of origin {ref}', None, (key_of, (node_id(key), key, ref)), 3, 'has the key of node') for ref in (1, 2)), ('as it is', None, 'SELECT 1', 0, '')]:
                with self.subTest(f'{receipt.name}: {name}'):
                    store = self.changed(change, of=of)
                    theirs = subprocess.run([self.lab.syncctl, '--store', store, 'verify', '--since', receipt], capture_output=True, text=True, timeout=60)
                    ours, report = verified(store, '--since', receipt)
                    self.assertEqual((theirs.returncode, ours), (code, code), theirs.stdout + theirs.stderr + str(told(report)))
                    for said in (theirs.stdout, str(told(report))): self.assertIn(text, said)
            theirs = subprocess.run([self.lab.syncctl, '--store', other, 'verify', '--since', receipt], capture_output=True, text=True, timeout=60)
            self.assertEqual((theirs.returncode, verified(other, '--since', receipt)[0]), (65, 66), theirs.stdout)

    def test_receipt_where_no_one_is_at_home(self):
        """A receipt held against a store whose own origin cannot be told: findings, no traceback."""
        receipt = self.folder / 'a.receipt'
        made = subprocess.run([self.lab.syncctl, '--store', self.store, 'receipt', '--json'], capture_output=True, timeout=30)
        receipt.write_bytes(made.stdout)
        self.assertEqual(verified(self.store, '--since', receipt)[0], 0, made.stderr)
        for value in ("'x'", '99', 'NULL', "x'01'"):
            store = self.changed(f"UPDATE meta SET value = {value} WHERE key = 'origin'")
            self.assertEqual(verified(store, '--since', receipt)[0], 3)


if __name__ == '__main__':
    unittest.main()
