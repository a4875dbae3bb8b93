"""The quick part, for `make test`: the documents' own vectors, verify.py against changed stores, and a few cases of the wire.

SILLOK_BIN names the folder of syncd and syncctl; default: .build/debug.
"""
import ast
import collections
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import uuid

try:
    import zstandard  # noqa: F401
    from OpenSSL import SSL  # noqa: F401
    import record
    import suite
    from sillok_verify.headers import dot_of
    from sillok_verify.heads import head_text
    from sillok_verify.payloads import members, text_of
    from sillok_verify.rows import Row, header_of
    from sillok_verify.schema import STATEMENTS
    from sillok_verify.signatures import is_signed
    from sillok_verify.trees import Tree, leaf_hash, sha256
    import wire
    import lab as place
except ImportError as missing:
    raise unittest.SkipTest(f'the hostile peer needs {missing.name}: make hostile-venv') from None

BIN = pathlib.Path(os.environ.get('SILLOK_BIN', wire.ROOT / '.build' / 'debug'))
HAVE = unittest.skipUnless((BIN / 'syncd').exists(), f'no {BIN}/syncd')


class Vectors(unittest.TestCase):
    """FORMATS §6."""

    def setUp(self):
        text = (wire.ROOT / 'docs' / 'reference' / 'FORMATS.md').read_text()
        self.named = {name: value for name, value in re.findall(r'^(\w+): *([0-9a-f]+)$', text, re.M)}

    def bytes(self, name):
        return bytes.fromhex(self.named[name])

    def test_header_and_leaf(self):
        header = self.bytes('header')
        self.assertEqual(wire.encode('EventHeader', wire.decode('EventHeader', header)), header)
        self.assertEqual(dot_of(header), (bytes.fromhex('1b4e28ba2fa111d2883f0016d3cca427'), 2))
        self.assertEqual(sha256(self.bytes('salt'), self.bytes('payload')), self.bytes('payload_digest'))
        self.assertEqual(leaf_hash(header, self.bytes('payload_digest')), self.bytes('leaf'))
        self.assertEqual(leaf_hash(self.bytes('opaque_header'), self.bytes('payload_digest')), self.bytes('opaque_leaf'))

    def test_tree_and_signature(self):
        tree = Tree()
        for name in ('leaf1', 'leaf2', 'leaf3'):
            tree.add(self.bytes(name))
        self.assertEqual(tree.root(), self.bytes('root3'))
        who = record.Identity(self.bytes('seed'))
        self.assertEqual((who.key, who.node), (self.bytes('public_key'), self.bytes('node_id')))
        text = head_text(bytes.fromhex('1b4e28ba2fa111d2883f0016d3cca427'), 3, tree.root(), 1785549735120 << 16 | 3)
        self.assertEqual(text, self.bytes('checkpoint'))
        self.assertTrue(is_signed(who.key, self.bytes('signature'), text))
        self.assertFalse(is_signed(who.key, self.bytes('signature'), text + b'x'))

    def test_tile(self):
        tree, tile = Tree(), []
        for entry in range(256):
            tile += [root for level, _, root in tree.add(sha256(b'\x00', bytes([entry]))) if level == 4]
        self.assertEqual((tile[0], tile[-1], sha256(*tile), tree.root()), tuple(map(self.bytes, ('tile_first', 'tile_last', 'tile_sha256', 'root256'))))

    def test_mark(self):
        if 'mark' not in self.named:
            self.skipTest('FORMATS has no mark')
        self.assertTrue(is_signed(self.bytes('public_key'), self.bytes('mark_signature'), self.bytes('mark')))
        self.assertEqual(self.bytes('mark').split(b'\n')[0], b'sillok mark v1')

    def test_statements(self):
        """What verify.py knows of the tables are the digests of FORMATS §3."""
        formats = (wire.ROOT / 'docs' / 'reference' / 'FORMATS.md').read_text()
        statements = re.findall(r'^CREATE .*?(?=\n(?:CREATE|```))', formats, re.M | re.S)
        made = {}
        for statement in statements:
            kind, name, table = re.match(r'CREATE (?:UNIQUE )?(TABLE|INDEX) (\w+)(?: ON (\w+))?', statement).groups()
            made[f'{kind.lower()} {name}'] = sha256(f'{table or name} {statement}'.encode()).hex()[:16]
        self.assertEqual(made, {name: digests[-1] for name, digests in STATEMENTS.items()})
        third = next(one for one in statements if one.startswith('CREATE TABLE event'))
        versions = (third.replace(', seal BLOB, actor INTEGER', ''), third.replace(', actor INTEGER', ''), third)
        self.assertEqual([sha256(b'event ', one.encode()).hex()[:16] for one in versions], STATEMENTS['table event'])

    def test_actor_and_later_fields(self):
        """A row whose unknown fields stand on both sides of the actor's."""
        head = wire.decode('EventHeader', self.bytes('header'))
        names = dict(enumerate((head['type'].encode(), head['conversation'].encode(), head['user'].encode(), head['author'].encode(),
                                b'socket:uid:1000', b'token:bot/medibot:9f3c51d20b7e6a84'), 1))
        row = Row(1, 3, 2, head['time'], head['hlc'], 1, head['seq'], 1, 4, head['id'], head['cause'], b'\x02\x07', head['version'],
                         bytes.fromhex('f801018a02020102980605'), None, 0, None, None, None, None, 5)
        origins = {1: head['origin'], 2: head['deps'][0]['origin']}
        self.assertEqual(header_of(row, names, origins), self.bytes('later_header'))
        self.assertEqual(header_of(row._replace(unknown=None, actor=6), names, origins), self.bytes('actor_header'))
        self.assertEqual(header_of(row._replace(unknown=None, actor=None), names, origins), self.bytes('header'))
        for name in ('actor', 'later'):
            self.assertEqual(leaf_hash(self.bytes(name + '_header'), self.bytes('payload_digest')), self.bytes(name + '_leaf'))

    def test_weak_keys(self):
        """A key or R of a small order fits messages that nobody has signed (FORMATS §2)."""
        for key in (bytes([1]) + bytes(31), bytes(32), bytes.fromhex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a')):
            self.assertFalse(is_signed(key, bytes([1]) + bytes(63), b'anything'))

    def test_proofs(self):
        """Every proof between small trees leads, and none to another root."""
        leaves = [sha256(bytes([n])) for n in range(20)]
        for size in range(1, 20):
            for first in range(1, size + 1):
                path = record.consistency(first, leaves[:size])
                old, new = record.root_over(leaves[:first]), record.root_over(leaves[:size])
                self.assertTrue(record.follows(first, size, old, new, path))
                self.assertFalse(record.follows(first, size, old, new, path + [old]))
                if path:
                    self.assertFalse(record.follows(first, size, old, new, path[:-1]))
                    self.assertFalse(record.follows(first, size, old, new, [new] + path[1:]))


# What a hand without the key changes, and what verify.py must answer: (statements, exit code, words it must say).
CHANGES = {
    'payload': (["UPDATE event SET payload = replace(payload, 'x7', 'y7') WHERE payload LIKE '%\"x7\"%'"], 3, 'position 9'),
    'salt': (["UPDATE event SET salt = zeroblob(16) WHERE position = 40"], 3, 'position 40'),
    'user': (["UPDATE event SET user = (SELECT user FROM event WHERE position = 41) WHERE position = 40"], 3, 'position 40'),
    'a name': (["UPDATE name SET text = 'u-other' WHERE text = 'u-3'"], 3, 'events'),
    'time': (["UPDATE event SET time = 5 WHERE position = 50"], 3, 'position 50'),
    'hlc': (["UPDATE event SET hlc = hlc + 1 WHERE position = 50"], 3, 'position 50'),
    'id': (["UPDATE event SET id = zeroblob(16) WHERE position = 50"], 3, 'position 50'),
    'erased': (["UPDATE event SET digest = zeroblob(32), salt = NULL, payload = NULL WHERE position = 50"], 3, 'no erasure covers'),
    'half erased': (["UPDATE event SET payload = NULL WHERE position = 50"], 3, 'position 50'),
    'leaf': (["UPDATE event SET leaf = leaf + 1 WHERE position = 50"], 3, 'position 50'),
    'a row gone': (["DELETE FROM event WHERE position = 50"], 3, 'position 50'),
    'the last row gone': (["DELETE FROM event WHERE position = (SELECT max(position) FROM event)"], 3, 'does not have'),
    'two rows swapped': (["UPDATE event SET position = 9999 WHERE position = 50", "UPDATE event SET position = 50 WHERE position = 51",
                          "UPDATE event SET position = 51 WHERE position = 9999"], 3, 'position 50'),
    'a seq': (["UPDATE event SET seq = 9999 WHERE position = 50"], 3, 'position 50'),
    'a dependency': (["UPDATE event SET dependencies = x'0101' WHERE position = 50"], 3, 'position 50'),
    'a twin': (["UPDATE event SET twin = 3 WHERE position = 50"], 3, 'position 50'),
    'the last head gone': (["DELETE FROM head"], 2, ''),
    'a signature': (["UPDATE head SET signature = zeroblob(64)"], 3, 'not signed'),
    'a root': (["UPDATE head SET root = zeroblob(32)"], 3, 'not of these'),
    'a head of more': (["UPDATE head SET size = size + 1"], 3, 'does not have'),
    'a key': (["UPDATE origin SET key = zeroblob(32)"], 3, 'origins'),
    'a node': (["UPDATE origin SET node = zeroblob(32)"], 3, 'origins'),
    'a tree row': (["UPDATE node SET hash = zeroblob(32) WHERE number = 0"], 3, 'tree'),
    'a tree row gone': (["DELETE FROM node WHERE number = 0"], 3, 'tree'),
    'a table gone': (["DROP TABLE head"], 3, 'head'),
    'another kind of file': (["PRAGMA application_id = 1"], 3, 'no Sillok log'),
    'a view for a table': (["ALTER TABLE node RENAME TO other", "CREATE VIEW node AS SELECT * FROM other"], 3, 'table node'),
    'a trigger': (["CREATE TRIGGER later AFTER INSERT ON event BEGIN SELECT 1; END"], 3, 'trigger later'),
    'a view more': (["CREATE VIEW later AS SELECT * FROM event"], 3, 'view later'),
    # Nothing that changes what a hash is made of: another kind of value, or a second form of the same.
    'a payload as a blob': (["UPDATE event SET payload = CAST(payload AS blob) WHERE position = 50"], 3, 'position 50'),
    'a text as a payload': (["UPDATE event SET payload = CAST(x'5b' AS text) WHERE position = 50"], 3, 'position 50'),
    'unknown empty': (["UPDATE event SET unknown = x'' WHERE position = 50"], 3, 'position 50'),
    'unknown an empty text': (["UPDATE event SET unknown = '' WHERE position = 50"], 3, 'position 50'),
    'dependencies empty': (["UPDATE event SET dependencies = x'' WHERE position = 50"], 3, 'position 50'),
    'an id as text': (["UPDATE event SET id = CAST(id AS text) WHERE position = 50"], 3, 'position 50'),
    'a salt as text': (["UPDATE event SET salt = CAST(salt AS text) WHERE position = 50"], 3, 'position 50'),
    'a time that is the hlc\'s': (["UPDATE event SET time = hlc >> 16 WHERE position = 50"], 3, 'position 50'),
    'a time as a number with a point': (["UPDATE event SET time = 1.5 WHERE position = 50"], 3, 'position 50'),
    'an author that is the user': (["UPDATE event SET author = user WHERE position = 50"], 3, 'position 50'),
    'a version of 1': (["UPDATE event SET version = 1 WHERE position = 50"], 3, 'position 50'),
    'a conversation twice': (["INSERT INTO name VALUES(900, CAST('c' AS blob))", "UPDATE event SET conversation = 900 WHERE position = 50"], 3, 'name'),
    'a user twice': (["INSERT INTO name VALUES(900, CAST('u-3' AS blob))", "UPDATE event SET user = 900 WHERE user = (SELECT ref FROM name WHERE text = 'u-3')"], 3, 'name'),
    'a name as a blob': (["UPDATE name SET text = CAST(text AS blob) WHERE text = 'c'"], 3, 'name'),
    'a key as text': (["UPDATE origin SET key = CAST(key AS text)"], 3, 'origin'),
    'an origin more, its id a text': (["INSERT INTO origin SELECT 2, CAST(id AS text), node, key FROM origin"], 3, 'origin'),
    'the own origin unknown': (["UPDATE meta SET value = 2 WHERE key = 'origin'"], 3, 'own origin'),
    'a signature as text': (["UPDATE head SET signature = CAST(signature AS text)"], 3, 'head'),
    'a reach that goes nowhere': (["INSERT INTO reach SELECT origin, size, size, root, hlc, signature, x'' FROM head", "DELETE FROM head"], 3, 'reach'),
    'a tree row as text': (["UPDATE node SET hash = CAST(hash AS text) WHERE number = 0"], 3, 'node'),
    'another actor': (["UPDATE event SET actor = user WHERE position = 50"], 3, 'position 50'),
    'no actor': (["UPDATE event SET actor = NULL WHERE position = 50"], 3, 'position 50'),
    'an actor as text': (["UPDATE event SET actor = 'socket:uid:0' WHERE position = 50"], 3, 'position 50'),
    'an actor renamed': (["UPDATE name SET text = 'token:ceo:1' WHERE ref = (SELECT actor FROM event WHERE position = 50)"], 3, 'position 50'),
    'a column more': (["ALTER TABLE event ADD COLUMN later"], 3, 'table event'),
    'another version': (["PRAGMA user_version = 1"], 3, 'table event'),
    'an index gone': (["DROP INDEX event_twin"], 3, 'index'),
    'a table and an index of a later release': (["CREATE TABLE later(a)", "CREATE INDEX later_user ON event(user)"], 2, ''),
}


@HAVE
class Verify(unittest.TestCase):
    """Scripts/verify.py on a real store, whole and changed."""

    @classmethod
    def setUpClass(cls):
        cls.lab = place.Lab(BIN / 'syncd', BIN / 'syncctl').__enter__()
        cls.addClassCleanup(lambda: cls.lab.__exit__(None, None, None))
        daemon = cls.lab.daemon()
        lines = b'\n'.join(b'{"type":"message.posted","user":"u-%d","subject":"conversation/c","data":{"text":"x%d"}}' % (n % 7, n) for n in range(600))
        assert daemon.post('/v1/events', lines)[0] == 200
        cls.running = cls.verify(daemon.store)
        daemon.stop()
        cls.store = daemon.store

    @staticmethod
    def verify(store, *more):
        done = subprocess.run([sys.executable, '-B', place.VERIFY, '--json', store, *more], capture_output=True, text=True)
        return done.returncode, json.loads(done.stdout) if done.stdout.startswith('{') else {}, done.stdout + done.stderr

    def test_whole(self):
        code, answer, text = self.verify(self.store)
        self.assertEqual((code, answer['answer'], answer['events'], answer['findings']), (0, 'proven', 601, []), text)
        self.assertIn(self.running[0], (0, 2), 'beside a running daemon')
        before = {path: path.stat().st_mtime_ns for path in self.store.iterdir()}
        self.verify(self.store)
        self.assertEqual(before, {path: path.stat().st_mtime_ns for path in self.store.iterdir()}, 'the verifier has written')

    def test_changed(self):
        for name, (statements, wanted, words) in CHANGES.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                for file in self.store.glob('log.db*'):
                    shutil.copy(file, folder)
                log = sqlite3.connect(folder + '/log.db', isolation_level=None)
                for statement in statements:
                    log.execute(statement)
                log.close()
                code, answer, _ = self.verify(folder)
                found = [f'{one["check"]}: position {one["position"]}: {one["what"]}' for one in answer['findings']]
                self.assertEqual(code, wanted, found[:3])
                self.assertTrue(not words or any(words in one for one in found), found[:3])

    def test_beside(self):
        """What lies beside the log, changed by somebody without the key (FORMATS §1, §5)."""
        cut = json.dumps({'kind': 'cut', 'text': 'cut \ud800', 'origin': str(uuid.uuid4()), 'had': '5', 'position': '9', 'at': '5', 'settled': '6'})
        changes = {
            'the mark gone': (lambda store: (store / 'mark.json').unlink(), 2, 'mark'),
            'the mark of another store': (lambda store: changed(store / 'mark.json', b'"incarnation":"', b'"incarnation":"0'), 2, 'mark'),
            'a signature of the mark': (lambda store: changed(store / 'mark.json', b'"signature":"', b'"signature":"AA'), 2, 'mark'),
            'a log that ends before log.end': (lambda store: later(store), 3, 'left it at 999'),
            'a mark that nests': (lambda store: (store / 'mark.json').write_bytes(b'[' * 200000), 2, 'mark'),
            'the last heads gone': (lambda store: forgotten(store), 3, 'mark.json knows'),
            'a cut, settled by its file alone': (lambda store: evidence(store, 'cut-0123456789abcdef', cut), 3, 'cut'),
            'a lost witness, settled by its file alone': (lambda store: evidence(store, 'witness-0123456789abcdef', cut.replace('"cut"', '"witness"')), 2, 'witness-'),
            'a cut that is no text': (lambda store: evidence(store, 'cut-0123456789abcdef', '\xff'), 0, ''),
            'a cut that nests': (lambda store: evidence(store, 'cut-0123456789abcdef', '[' * 200000), 0, ''),
            'a fork of nothing': (lambda store: evidence(store, 'fork-x', '{"origin":5,"seq":"1"}'), 0, ''),
        }

        def changed(file, old, new):
            file.write_bytes(file.read_bytes().replace(old, new))

        def later(store):
            end = (store / 'log.end').read_bytes()
            end = end[:16] + (999).to_bytes(8, 'big') + end[24:64]
            (store / 'log.end').write_bytes(end + sha256(end)[:16])

        def forgotten(store):
            log = sqlite3.connect(store / 'log.db', isolation_level=None)
            log.execute('DELETE FROM head')
            log.close()

        def evidence(store, name, text):
            (store / 'evidence').mkdir(exist_ok=True)
            (store / 'evidence' / (name + '.json')).write_bytes(text.encode('latin-1'))

        for name, (change, wanted, words) in changes.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                store = pathlib.Path(folder) / 'store'
                shutil.copytree(self.store, store, ignore=shutil.ignore_patterns('api.sock'))
                change(store)
                code, answer, text = self.verify(store)
                told = [one['check'] + ': ' + one['what'] for one in answer.get('findings', [])] + answer.get('notes', [])
                self.assertEqual(code, wanted, text[:300])
                self.assertTrue(not words or any(words in one for one in told), told)
                done = subprocess.run([sys.executable, '-B', place.VERIFY, store], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (wanted, ''))

    def test_members(self):
        """What a payload is, as the node has it (FORMATS §2): nothing raises."""
        deep = b'{"a":' * 64 + b'1' + b'}' * 64
        for data, user in {
                b'{}': b'own', b'{"user":"u"}': b'u', b'{"user":""}': b'', b'{"user":5}': None, b'{"user":null}': None, b'{"user":["u"]}': None,
                b'{"user":"\\ud800"}': None, b'{"user":"\\ud83d\\ude00"}': '😀'.encode(), b'{"user":' + b'9' * 5000 + b'}': None, b'[1,\xff]': None,
                b'{"user":"\xff"}': None, b'{"user":"u","user":"u"}': None, b'{"a":1,"a":2}': None, b'{"a":NaN}': None, b'\xef\xbb\xbf{}': None,
                b'["user"]': None, b'5': None, b'': None, b'[' * 200000: None, deep: b'own', b'[' + deep + b']': None, b'{"a":' + deep + b'}': None,
                b'{"a":"' + b'[' * 99 + b'\\"' + b'[' * 99 + b'"}': b'own', b'{"a":1e999999999}': b'own', b'{"a":"' + b'x' * 262144 + b'"}': None}.items():
            with self.subTest(data[:40]):
                self.assertEqual(text_of(members(data), 'user', b'own'), user)

    def test_not_a_store(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.verify(folder)[0], 66)
            self.assertEqual(self.verify(folder, '--nonsense')[0], 64)
            (pathlib.Path(folder) / 'log.db').write_bytes(b'no database at all' * 99)
            self.assertEqual(self.verify(folder)[0], 3)
            (pathlib.Path(folder) / 'a.evidence').write_bytes(b'{"type":"evidence","v":1,"origins":0,"events":0}\n')
            self.assertEqual(self.verify(pathlib.Path(folder) / 'a.evidence')[0], 66)
            self.assertEqual(self.verify(self.store, '--evidence', pathlib.Path(folder) / 'a.evidence')[0], 66)

    def test_form(self):
        """An auditor reads the verifier like a page: small modules, short functions and lines, one statement a line, none for its effect alone."""
        total = 0
        for path in (place.VERIFY, *place.VERIFY.with_name('sillok_verify').glob('*.py')):
            with self.subTest(path.name):
                lines = path.read_text().splitlines()
                total += len(lines)
                self.assertLessEqual(len(lines), 300)
                self.assertLessEqual(max(map(len, lines)), 100)
                nodes = list(ast.walk(ast.parse(path.read_text())))
                statements = [node for node in nodes if isinstance(node, ast.stmt)]
                begun = collections.Counter(node.lineno for node in statements)
                self.assertEqual([line for line, count in begun.items() if count > 1], [], 'lines with several statements')
                effects = [node.value for node in statements if isinstance(node, ast.Expr)]
                self.assertEqual([node.lineno for node in effects if not isinstance(node, (ast.Call, ast.Constant, ast.Yield))], [])
                functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
                self.assertEqual([node.name for node in functions if node.end_lineno - node.lineno >= 40], [], 'long functions')
                self.assertEqual([node.lineno for node in nodes if isinstance(node, ast.NamedExpr)], [], 'assignments in expressions')
        self.assertLessEqual(total, 3800)

    def test_arrows(self):
        """A module of the verifier uses only those that the list in its `__init__.py` has above it."""
        package = place.VERIFY.with_name('sillok_verify')
        listed = re.findall(r'^    (\w+)  ', (package / '__init__.py').read_text(), re.M)
        self.assertEqual(sorted(listed), sorted(path.stem for path in package.glob('*.py') if path.stem != '__init__'))
        for at, module in enumerate(listed):
            nodes = [node for node in ast.walk(ast.parse((package / f'{module}.py').read_text())) if isinstance(node, ast.ImportFrom) and node.level]
            used = {name for node in nodes for name in ([node.module] if node.module else [one.name for one in node.names])}
            self.assertEqual(used - set(listed[:at]), set(), f'{module} uses what is not above it')


def written(name, data):
    return lambda store: (store / name).write_bytes(data)


def gone(*names):
    return lambda store: [(store / name).unlink() for name in names]


def folder(name):
    return lambda store: ((store / name).unlink(), (store / name).mkdir())


def kept(name, text):
    """A file of evidence."""
    return lambda store: ((store / 'evidence').mkdir(exist_ok=True), (store / 'evidence' / name).write_text(text))


def marked(**members):
    """Members of the mark replaced, or taken away."""
    def change(store):
        mark = {**json.loads((store / 'mark.json').read_text()), **members}
        (store / 'mark.json').write_text(json.dumps({name: value for name, value in mark.items() if value is not None}))
    return change


def ended(place, data):
    """Bytes of log.end replaced, and its digest made anew."""
    def change(store):
        end = (store / 'log.end').read_bytes()
        end = end[:place] + data + end[place + len(data):64]
        (store / 'log.end').write_bytes(end + sha256(end)[:16])
    return change


def sparse(name):
    return lambda store: os.truncate(store / name, 64 << 30)


def run(*statements):
    def change(store):
        log = sqlite3.connect(store / 'log.db', isolation_level=None)
        for statement in statements:
            log.execute(statement)
        log.close()
    return change


PLANTED = json.dumps({'kind': 'cut', 'text': 'x', 'origin': str(uuid.uuid4()), 'had': '1', 'position': '1', 'at': '1'})
# What is done to a store, and what both provers must answer, by the state of the store: stopped in order, killed, and killed where
# commits are not synced. Nothing is left unsigned in any of them.
ANSWERS = {
    'stopped': {
        'nothing': (lambda store: None, 0),
        'index event_id not unique': (run('DROP INDEX event_id', 'CREATE INDEX event_id ON event(id)'), 3),
        'index event_id of nothing': (run('DROP INDEX event_id', 'CREATE UNIQUE INDEX event_id ON event(id) WHERE position < 0'), 3),
        'index event_dot of another column': (run('DROP INDEX event_dot', 'CREATE INDEX event_dot ON event(seq)'), 3),
        'table meta without a key': (run('CREATE TABLE more AS SELECT * FROM meta', 'DROP TABLE meta', 'ALTER TABLE more RENAME TO meta'), 3),
        'an index of a later release': (run('CREATE INDEX later ON event(abs(hlc))'), 0),
        'a setting of a later release': (run("INSERT INTO meta VALUES('later', 1)"), 2),
        'another name': (run("UPDATE meta SET value = 'other' WHERE key = 'name'"), 3),
        'another cluster': (run("UPDATE meta SET value = 'other' WHERE key = 'cluster'"), 2),
        'a witness that is not there': (run("INSERT OR REPLACE INTO meta VALUES('witness', '/nowhere')"), 2),
        'a witness whose name no file can have': (run("INSERT OR REPLACE INTO meta VALUES('witness', 'a' || char(0) || 'b')"), 2),
        'an origin without events': (run('INSERT INTO origin SELECT 2, zeroblob(16), node, key FROM origin'), 3),
        'table reach missing': (run('DROP TABLE reach'), 0),
        'the heads gone': (run('DELETE FROM head'), 3),
        'a mark whose signature is changed': (marked(signature='A' * 86 + '=='), 2),
        'a mark with another position': (marked(position='0'), 2),
        'a mark without a root': (marked(root=None), 2),
        'a mark with a number for a text': (marked(settings=5), 2),
        'an empty mark': (written('mark.json', b''), 2),
        'a mark that is no JSON': (written('mark.json', b'{'), 2),
        'a mark that nests': (written('mark.json', b'[' * 200000), 2),
        'no mark': (gone('mark.json'), 2),
        'no mark and no key': (gone('mark.json', 'node.key'), 0),
        'a folder for a mark': (folder('mark.json'), 2),
        'no log.end': (gone('log.end'), 0),
        'log.end of 64 GiB': (sparse('log.end'), 2),
        'a cut': (kept('cut-0000000000000001.json', PLANTED), 3),
        'a cut of another kind': (kept('cut-0000000000000001.json', PLANTED.replace('cut', 'witness')), 0),
        'a cut that is no JSON': (kept('cut-0000000000000001.json', 'x'), 0),
        'a cut under another name': (kept('cut-x.json', PLANTED), 0),
        'a lost witness': (kept('witness-0000000000000001.json', PLANTED.replace('cut', 'witness')), 2),
        'a fork that is none': (kept('fork-x.json', '{}'), 0),
    },
    'killed': {
        'nothing': (lambda store: None, 0),
        'no log.end': (gone('log.end'), 2),
        'a folder for log.end': (folder('log.end'), 2),
        'a garbled log.end': (written('log.end', b'x' * 80), 2),
        'log.end of another store': (ended(8, b'12345678'), 2),
        'log.end ahead': (ended(16, (99).to_bytes(8, 'big')), 3),
        'log.end of 64 GiB': (sparse('log.end'), 2),
        'no WAL': (gone('log.db-wal'), 3),
        'an empty WAL': (written('log.db-wal', b''), 3),
        'no WAL and no log.end': (gone('log.db-wal', 'log.end'), 2),
        'no WAL and log.end of another store': (lambda store: (gone('log.db-wal')(store), ended(8, b'12345678')(store)), 2),
        'a mark that says stopped': (marked(state='stopped'), 2),
    },
    'not synced': {
        'nothing': (lambda store: None, 0),
        'no WAL': (gone('log.db-wal'), 3),
        'an empty WAL': (written('log.db-wal', b''), 3),
        'no log.end': (gone('log.end'), 2),
        'log.end ahead': (ended(16, (99).to_bytes(8, 'big')), 3),
    },
}


@HAVE
class Agreement(unittest.TestCase):
    """`syncctl verify` and Scripts/verify.py answer the same, with the same exit code."""

    @staticmethod
    def made(lab, state):
        """A store that was stopped, and then had events more, all of them signed."""
        daemon = lab.daemon(state.replace(' ', '-'), env={'SYNCD_STORAGE__DURABILITY': 'normal'} if state == 'not synced' else None)
        daemon.append('before')
        daemon.stop()
        daemon.start()
        for number in range(3):
            daemon.append(f'after {number}')
        covered = 'SELECT (SELECT max(size) FROM head) = (SELECT count(*) FROM event)'

        def is_covered():
            log = sqlite3.connect(f'file:{daemon.store}/log.db?mode=ro', uri=True)
            try:
                return log.execute(covered).fetchone() == (1,)
            finally:
                log.close()
        daemon.eventually(is_covered, 'the last events are not signed')
        time.sleep(0.2)
        daemon.stop() if state == 'stopped' else daemon.kill()
        return daemon.store

    def test_answers(self):
        with place.Lab(BIN / 'syncd', BIN / 'syncctl') as lab:
            for state, changes in ANSWERS.items():
                whole = self.made(lab, state)
                for name, (change, wanted) in changes.items():
                    with self.subTest(f'{state}: {name}'):
                        store = lab.folder / 'changed'
                        shutil.rmtree(store, ignore_errors=True)
                        shutil.copytree(whole, store, ignore=shutil.ignore_patterns('api.sock', '*-shm', 'views.*'))
                        change(store)
                        ours = [lab.syncctl, '--store', store, 'verify'], [sys.executable, '-B', place.VERIFY, store]
                        both = [subprocess.Popen(one, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for one in ours]
                        told = [one.communicate(timeout=60)[0] for one in both]
                        self.assertEqual([one.returncode for one in both], [wanted, wanted], told)


@HAVE
class Wire(unittest.TestCase):
    """A few cases of `make hostile`."""


def _add(case):
    def test(self):
        passed, line = suite.run(case, BIN / 'syncd', BIN / 'syncctl')
        self.assertTrue(passed, line)
    test.__doc__ = case.__doc__
    setattr(Wire, 'test_' + case.__name__, test)


QUICK = ('golden_bytes', 'hello_and_refusals', 'events_are_proven', 'events_both_ways', 'standing_is_a_difference', 'wants_choose', 'guests_join',
         'forks_are_proven', 'snapshot_is_fetched', 'snapshot_is_taken', 'first_frames', 'clocks_at_the_edge', 'sums_of_sequences', 'heads_too_large', 'lies_about_memory',
         'strangers_and_a_guest', 'smuggling', 'reserved_types_of_another_form')
for one in suite.cases():
    if one.__name__ in QUICK:
        _add(one)

if __name__ == '__main__':
    unittest.main()
