"""`syncctl verify` and Scripts/verify.py say the same of forms that FORMATS.md does not have, though the node's own key has signed them (INV-4):
events with all that proves them made right, receipts and proven answers.

SILLOK_BIN names the folder of syncd and syncctl; default: .build/debug.
"""
import base64
import hashlib
import json
import os
import pathlib
import runpy
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

try:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    import record
    from sillok_verify.headers import bytes_field, dot_of, opaque_id, varint
    from sillok_verify.heads import head_text
    from sillok_verify.marks import MARK_TEXT
    from sillok_verify.rows import Row, header_of
    from sillok_verify.trees import Tree, leaf_hash, sha256
    from sillok_verify.values import Text
    import wire
    import lab as place
except ImportError as missing:
    raise unittest.SkipTest(f'the hostile peer needs {missing.name}: make hostile-venv') from None

BIN = pathlib.Path(os.environ.get('SILLOK_BIN', wire.ROOT / '.build' / 'debug'))
AT = 5  # the event that is changed: one with all that an event may have
WHERE = f' WHERE position = {AT}'


def own_key(store):
    return load_pem_private_key((store / 'node.key').read_bytes(), None)


def resigned(store, *statements):
    """Changes the log, and makes right all that the holder of the node's key can: leaves, tree, heads, mark."""
    log, key = sqlite3.connect(store / 'log.db', isolation_level=None), own_key(store)
    for statement in statements:
        log.execute(*statement) if isinstance(statement, tuple) else log.execute(statement)
    log.text_factory = Text
    names, (ref,) = dict(log.execute('SELECT * FROM name')), log.execute("SELECT value FROM meta WHERE key = 'origin'").fetchone()
    origins = {ref: origin for ref, origin, *_ in log.execute('SELECT * FROM origin')}
    tree, roots = Tree(), {}
    for row in map(lambda values: Row(*values), log.execute('SELECT * FROM event WHERE origin = ? ORDER BY seq', (ref,)).fetchall()):
        leaf = leaf_hash(header_of(row, names, origins), row.digest or sha256(row.salt, row.payload))
        log.execute('UPDATE event SET leaf = ? WHERE position = ?', (int.from_bytes(leaf[:4], 'big', signed=True), row.position))
        for level, number, root in tree.add(leaf):
            log.execute('UPDATE node SET hash = ? WHERE origin = ? AND level = ? AND number = ?', (root, ref, level, number))
        roots[tree.size] = tree.root(), row.hlc
    for (size,) in log.execute('SELECT size FROM head WHERE origin = ?', (ref,)).fetchall():
        root, hlc = roots[size]
        log.execute('UPDATE head SET root = ?, hlc = ?, signature = ? WHERE origin = ? AND size = ?',
                    (root, hlc, key.sign(head_text(origins[ref], size, root, hlc)), ref, size))
    log.close()
    mark = json.loads((store / 'mark.json').read_text())
    mark['root'] = base64.b64encode(roots[int(mark['size'])][0]).decode()
    mark['hlc'] = str(head_text(bytes(16), 1, bytes(32), roots[int(mark['size'])][1])[-18:-1], 'ascii')
    mark['signature'] = base64.b64encode(key.sign(MARK_TEXT.format(**mark).encode())).decode()
    (store / 'mark.json').write_text(json.dumps(mark, separators=(',', ':')))
    (store / 'log.end').unlink()  # sealed for other events; nothing misses it after an orderly end


def named(column, text):
    """The column names this text."""
    return [('INSERT OR IGNORE INTO name(text) VALUES(?)', (text,)), (f'UPDATE event SET {column} = (SELECT ref FROM name WHERE text = ?)' + WHERE, (text,))]


def unknown(data):
    return [('UPDATE event SET actor = NULL, unknown = ?' + WHERE, (data,))]


F, NUMBER = bytes_field, lambda place: varint(place << 3) + b'\x05'
# What FORMATS.md has in no header that can be read, or not in this form: contradicted by both (3).
EVENTS = {
    'an author of ref 0': [f'UPDATE event SET author = 0{WHERE}'], 'one of ref -1': [f'UPDATE event SET author = -1{WHERE}'],
    'a conversation that names nothing': [f'UPDATE event SET conversation = 99{WHERE}'], 'an actor that names nothing': [f'UPDATE event SET actor = 99{WHERE}'],
    'an actor of ref 0': [f'UPDATE event SET actor = 0{WHERE}'], 'an actor that is none': named('actor', 'socket'),
    'an actor with a control character': named('actor', 'socket:uid:\x01'),
    'a type of 129 bytes': named('type', 't' * 129), 'a type with a control character': named('type', 'a\x1bb'), 'a type with DEL': named('type', 'a\x7f'),
    'a user of 257 bytes': named('user', 'u' * 257), 'an empty user': named('user', ''), 'an empty author': named('author', ''),
    'a user with a line end': named('user', 'u\n'), 'an empty conversation': named('conversation', ''), 'an author of 257 bytes': named('author', 'ü' * 128 + 'x'),
    'year 10000': [f'UPDATE event SET time = 253402300800000{WHERE}'], 'year 0': [f'UPDATE event SET time = -62135596800001{WHERE}'],
    'a time that is the hlc\'s': [f'UPDATE event SET time = hlc >> 16{WHERE}'], 'version 0': [f'UPDATE event SET version = 0{WHERE}'],
    'version 1': [f'UPDATE event SET version = 1{WHERE}'], 'version 2^32': [f'UPDATE event SET version = 4294967296{WHERE}'],
    'the hlc of the event before': [f'UPDATE event SET hlc = (SELECT hlc FROM event WHERE position = {AT - 1}){WHERE}'],
    'an earlier hlc': [f'UPDATE event SET hlc = (SELECT hlc - 1 FROM event WHERE position = {AT - 1}){WHERE}'],
    'a second user': unknown(F(8, b'somebody')), 'field 12 again': unknown(NUMBER(12)), 'critical fields out of order': unknown(F(14, b'a') + F(13, b'b')),
    'ancillary fields of 4,097 bytes': unknown(F(40, bytes(4_093))),
    'a header over 65,536 bytes': unknown(F(13, bytes(65_536))), 'a field of no wire type': unknown(b'\x6b'), 'field 13 cut off': unknown(b'\x6a\x05a'),
    'an overlong number': unknown(b'\x68\x85\x00'), 'an actor in unknown': unknown(F(32, b'socket:uid:5')),
    'a payload marked as none': [f'UPDATE event SET payload = CAST(payload AS blob){WHERE}'],
    'a payload that is none, as text': [f"UPDATE event SET payload = '[]'{WHERE}"]}
# What it has: proven by both.
SOUND = {
    'an hlc of 0': ['UPDATE event SET hlc = 0, time = NULL WHERE position = 1'], 'field 13': unknown(NUMBER(13)), 'field 13 twice': unknown(NUMBER(13) * 2),
    'ancillary fields of 4,096 bytes': unknown(F(40, bytes(4_092))), 'a type of 128 bytes': named('type', 't' * 128),
    'year 9999': [f'UPDATE event SET time = 253402300799999{WHERE}'], 'year 1': [f'UPDATE event SET time = -62135596800000{WHERE}'],
    'two actors': unknown(F(32, b'socket:uid:5') * 2),
    'an actor that is none': unknown(F(32, b'socket'))}


def swapped(old, new):
    return lambda line: line.replace(old, new, 1)


def member(name, to):
    """The member's value with another that is written as JSON text `to`; a function gets the old one."""
    def change(line):
        found = json.loads(line)
        if name not in found:
            return line
        old = json.dumps(found[name], ensure_ascii=False, separators=(',', ':'))
        new = to(found[name]) if callable(to) else to
        return line.replace(f'"{name}":{old}'.encode(), f'"{name}":{new}'.encode())
    return change


def quoted(of):
    return lambda value: json.dumps(of(value), ensure_ascii=False)


# Members in another form than FORMATS.md §9 and §10 have a writer write; of receipts and of answers.
FORMS = {
    'v that is true': member('v', 'true'), 'v that is 1.0': member('v', '1.0'), 'v that is 2': member('v', '2'), 'origins 1.0': member('origins', '1.0'),
    'events as a text': member('events', '"5"'), 'position -1': member('position', '-1'), 'position as a text': member('position', '"5"'),
    'position over its bound': member('position', str(2**44)), 'name a number': member('name', '5'), 'cluster null': member('cluster', 'null'),
    'a time that is none': member('time', '"9999-99-99T00:00:00.000Z"'), 'a time with a blank': member('time', quoted(lambda text: text.replace('T', ' '))),
    'arrived "soon"': member('arrived', '"soon"'), 'filtered "no"': member('filtered', '"no"'), 'filtered 0': member('filtered', '0'),
    'an origin in capitals': member('origin', quoted(str.upper)), 'an origin in braces': member('origin', quoted(lambda text: '{' + text + '}')),
    'an origin without dashes': member('origin', quoted(lambda text: text.replace('-', ''))), 'a node in capitals': member('node', quoted(str.upper)),
    'seq 1.0': member('seq', lambda seq: f'{seq}.0'), 'seq as a text': member('seq', '"\\u001b[2J5"'), 'seq 0': member('seq', '0'),
    'a salt in capitals': member('salt', quoted(str.upper)), 'a salt with blanks': member('salt', quoted(lambda text: text[:2] + ' ' + text[2:])),
    'a proof in capitals': member('proof', lambda proof: json.dumps([step.upper() for step in proof], separators=(',', ':')) if proof else '[""]'),
    'a proof that is a text': member('proof', '"00"'), 'a header with a blank': member('header', quoted(lambda text: text + ' ')),
    'a key without padding': member('key', quoted(lambda text: text.rstrip('='))), 'a user that is a number': member('user', '5'),
    'a payload that is an object': member('payload', lambda text: text), 'a note that is a list': member('note', '[]')}


def put_together(lines, key, kind):
    """A file of these lines, signed as a whole."""
    data = b''.join(line + b'\n' for line in lines)
    digest, count = hashlib.sha256(data).hexdigest(), sum(json.loads(line)['type'] == ('event' if kind == 'answer' else 'head') for line in lines)
    signature = base64.b64encode(key.sign(f'sillok {kind} v1\n{digest}\n'.encode())).decode()
    return data + f'{{"type":"end","v":1,"count":{count},"sha256":"{digest}","signature":"{signature}"}}\n'.encode()


@unittest.skipUnless((BIN / 'syncctl').exists(), f'no {BIN}/syncctl')
class Verdicts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='sillok-verdict-'))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.store = cls.folder / 'store'
        cls.ctl('init', '--store', cls.store, '--name', 'one', '--cluster', 'lab')
        lines = b'\n'.join(b'{"type":"note.taken","user":"u-1","author":"bot","time":"2020-01-0%dT00:00:00Z","dataversion":2,"subject":"conversation/c","data":{"text":"x%d"}}'
                           % (n, n) for n in range(1, 9))
        cls.ctl('--store', cls.store, 'import', '-', data=lines)
        cls.key = own_key(cls.store)

    @staticmethod
    def ctl(*arguments, data=b'', expect=0):
        done = subprocess.run([BIN / 'syncctl', *arguments], input=data, capture_output=True, timeout=60)
        if expect is not None and done.returncode != expect:
            raise AssertionError(f'{arguments}: {done.returncode}: {done.stdout} {done.stderr}')
        return done

    @staticmethod
    def ours(*arguments):
        done = subprocess.run([sys.executable, '-B', place.VERIFY, *arguments], capture_output=True, timeout=60)
        if b'Traceback' in done.stderr:
            raise AssertionError(done.stderr)
        return done

    def copied(self):
        store = self.folder / 'changed'
        shutil.rmtree(store, ignore_errors=True)
        return shutil.copytree(self.store, store, ignore=shutil.ignore_patterns('*-shm', '*-wal', 'views.*'))

    def both(self, store):
        theirs, ours = self.ctl('--store', store, 'verify', expect=None), self.ours(store)
        return theirs.returncode, ours.returncode, (theirs.stdout + ours.stdout).decode()

    def test_events(self):
        for wanted, cases in ((3, EVENTS), (0, SOUND)):
            for name, statements in cases.items():
                with self.subTest(name):
                    store = self.copied()
                    resigned(store, *statements)
                    theirs, ours, text = self.both(store)
                    self.assertEqual((theirs, ours), (wanted, wanted), text)
                    if wanted:
                        self.assertGreaterEqual(text.count(f'position {AT}'), 2, text)

    def hidden(self, *more):
        """A hand without the key makes the event one that no one could read (FORMATS §3, `unknown`)."""
        store = self.copied()
        checked = record.tables(store)
        row = Row(*checked.log.execute('SELECT * FROM event' + WHERE).fetchone())
        header, (origin, seq) = header_of(row, checked.names, checked.ids), (checked.ids[row.origin], row.seq)
        checked.log.close()
        log = sqlite3.connect(store / 'log.db', isolation_level=None)
        log.execute("INSERT INTO name VALUES(999, '')")
        log.execute('UPDATE event SET type = 999, user = 999, id = ?, unknown = ?, conversation = NULL, time = NULL, author = NULL, cause = NULL, version = NULL, actor = NULL'
                    + WHERE, (opaque_id(origin, seq), header))
        for statement in more:
            log.execute(statement)
        log.close()
        return store

    def test_hidden(self):
        """An event that is readable does not pass for one that is not: its place is told, and the store is never proven."""
        for name, more, wanted in (
                ('looked through', [], 3), ('by no start', ["DELETE FROM meta WHERE key = 'reads'"], 2), ('by an earlier release', ["UPDATE meta SET value = 1 WHERE key = 'reads'"], 2),
                ('by a later one', ["UPDATE meta SET value = 9 WHERE key = 'reads'"], 3), ('with a conversation', ["DELETE FROM meta WHERE key = 'reads'", 'UPDATE event SET conversation = 1' + WHERE], 3),
                ('with another id', ["DELETE FROM meta WHERE key = 'reads'", 'UPDATE event SET id = zeroblob(16)' + WHERE], 3),
                ('with dependencies', ["DELETE FROM meta WHERE key = 'reads'", "UPDATE event SET dependencies = x'0101'" + WHERE], 3)):
            with self.subTest(name):
                theirs, ours, text = self.both(self.hidden(*more))
                self.assertEqual((theirs, ours), (wanted, wanted), text)
                self.assertGreaterEqual(text.count(f'position {AT}') + text.count(f'positions {AT}'), 2, text)
        with self.subTest('a payload'):
            store = self.copied()
            log = sqlite3.connect(store / 'log.db', isolation_level=None)
            log.execute(f'UPDATE event SET payload = CAST(payload AS blob){WHERE}')
            log.execute("DELETE FROM meta WHERE key = 'reads'")
            log.close()
            self.assertEqual(self.both(store)[:2], (2, 2))
        with self.subTest('a store made anew shows it'):
            copy = self.folder / 'anew'
            shutil.rmtree(copy, ignore_errors=True)
            done = self.ctl('--store', self.hidden(), 'replay', '--all', '--into', copy, expect=None)
            self.assertEqual(done.returncode, 3, done.stdout)
            self.assertIn(b'x4', self.ctl('--store', copy, 'history', 'u-1', '--json').stdout)
            self.assertEqual(self.both(copy)[1], 0)

    def unread(self, header):
        """The node itself has signed an event with a header that no one can read."""
        store = self.copied()
        origin, seq = dot_of(header)
        resigned(store, "INSERT INTO name VALUES(999, '')", (
            'UPDATE event SET type = 999, user = 999, id = ?, unknown = ?, conversation = NULL, time = NULL, author = NULL, cause = NULL, version = NULL, actor = NULL' + WHERE,
            (opaque_id(origin, seq), header)))
        return store

    def test_too_long(self):
        """What no node takes, readable or not, no verifier proves (FORMATS §2, INV-4): a header over 65,536 bytes, a payload over 917,504."""
        checked = record.tables(self.store)
        header = header_of(Row(*checked.log.execute('SELECT * FROM event' + WHERE).fetchone()), checked.names, checked.ids)
        checked.log.close()
        rest = 65_536 - len(header) - 4  # tag and length of one more type, which makes it unreadable
        for more, wanted in ((0, 0), (1, 3)):
            long = header + F(6, bytes(rest + more))
            self.assertEqual(len(long), 65_536 + more)
            payload = f'UPDATE event SET payload = zeroblob({917_504 + more}){WHERE}'
            for name in ('header', 'payload'):
                with self.subTest(name, more=more):
                    store = self.unread(long) if name == 'header' else self.copied()
                    if name == 'payload':
                        resigned(store, payload)
                    theirs, ours, text = self.both(store)
                    self.assertEqual((theirs, ours), (wanted, wanted), text)
                    self.assertEqual(text.count('longer than an event can be'), 2 if wanted else 0, text)

    def files(self):
        receipt = self.ctl('--store', self.store, 'receipt', '--json').stdout
        answer = self.ctl('--store', self.store, 'history', 'u-1', '--proof').stdout
        return [('receipt', receipt), ('answer', answer)]

    def checked(self, data):
        path = self.folder / 'a.proof'
        path.write_bytes(data)
        return self.ctl('check-proof', path, expect=None).returncode, self.ours('--proof', path)

    def test_forms(self):
        tried = set()
        for kind, data in self.files():
            lines = data.split(b'\n')[:-2]
            self.assertEqual(put_together(lines, self.key, kind), data)
            theirs, ours = self.checked(data)
            self.assertEqual((theirs, ours.returncode), (0, 0), ours.stdout)
            for name, change in FORMS.items():
                changed = [change(line) for line in lines]
                if changed == lines:
                    continue
                tried.add(name)
                with self.subTest(kind=kind, name=name):
                    theirs, ours = self.checked(put_together(changed, self.key, kind))
                    self.assertIn(theirs, (3, 65))
                    self.assertIn(ours.returncode, (3, 66))
                    self.assertNotIn(b'\x1b', ours.stdout + ours.stderr)
        self.assertEqual(tried | {'arrived "soon"'}, set(FORMS))

    def test_filtered(self):
        """A part that was asked for is called one, and whose it is is said."""
        data = self.ctl('--store', self.store, 'history', 'u-1', '--type', 'note.taken', '--proof').stdout
        ours = self.checked(data)[1]
        self.assertEqual(ours.returncode, 0, ours.stderr)
        self.assertIn(b'of user u-1: only a part of its events was asked for', ours.stdout)
        self.assertNotIn(b'no others', ours.stdout)
        found = json.loads(self.ours('--proof', self.folder / 'a.proof', '--json').stdout)
        self.assertEqual((found['user'], found['filtered']), ('u-1', True))
        whole = self.checked(dict(self.files())['answer'])[1].stdout
        self.assertIn(b'of user u-1\n', whole)
        self.assertIn(b'there are no others', whole)

    def test_counted(self):
        """A receipt of the own node, signed as a whole, says where the log ended: beyond its heads as well (INV-18)."""
        (kind, data), _ = self.files()
        lines, further = data.split(b'\n')[:-2], member('position', lambda at: str(at + 1))
        more = member('events', lambda count: str(count + 1))
        for name, change, wanted in (('one event more', lambda line: further(more(line)), 3), ('one position more', further, 3), ('as it is', lambda line: line, 0)):
            with self.subTest(name):
                path = self.folder / 'a.receipt'
                path.write_bytes(put_together(list(map(change, lines)), self.key, kind))
                theirs, ours = self.ctl('--store', self.store, 'verify', '--since', path, expect=None), self.ours(self.store, '--since', path)
                self.assertEqual((theirs.returncode, ours.returncode), (wanted, wanted), (theirs.stdout + ours.stdout).decode())
                for done in (theirs, ours) if wanted else ():
                    self.assertIn(b'a.receipt', done.stdout)

    def test_contradictions(self):
        """Numbers of a file that cannot all be so, though its maker has signed it (FORMATS §9, §10; INV-19)."""
        for kind, data in self.files():
            lines = data.split(b'\n')[:-2]
            for name, change, wanted in (('as it is', lambda line: line, 0), ('fewer positions than events', member('position', lambda at: str(at - 1)), 3), ('no position', member('position', '0'), 3),
                                         ('more events than positions', member('events', lambda count: str(count + 1)), 3)):
                with self.subTest(kind=kind, name=name):
                    theirs, ours = self.checked(put_together([change(line) for line in lines], self.key, kind))
                    self.assertEqual((theirs, ours.returncode), (wanted, wanted), ours.stdout)
        kind, data = self.files()[1]
        lines = data.split(b'\n')[:-2]

        def stamped(line):
            found = json.loads(line)
            if found['type'] != 'head':
                return line
            text, note = found['note'].split('\n\n')
            text = text[:-1] + ('1' if text[-1] == '0' else '0') + '\n'
            code = base64.b64decode(note.split(' ')[2])[:4] + self.key.sign(text.encode())
            found['note'] = f'{text}\n— {found["node"]} {base64.b64encode(code).decode()}\n'
            return json.dumps(found, ensure_ascii=False, separators=(',', ':')).encode()
        with self.subTest('a head with another hlc than its last event'):
            theirs, ours = self.checked(put_together(list(map(stamped, lines)), self.key, kind))
            self.assertEqual((theirs, ours.returncode), (3, 3), ours.stdout)
        for name in ('the hlc of the event before', 'an earlier hlc'):
            with self.subTest(name):
                store = self.copied()
                resigned(store, *EVENTS[name])
                theirs, ours = self.checked(self.ctl('--store', store, 'history', 'u-1', '--proof').stdout)
                self.assertEqual((theirs, ours.returncode), (3, 3), ours.stdout)

    def test_ways_out(self):
        """Where nothing contradicts and not all is proven, both say what to do; where a file is worthless, so does syncctl, and names a limit."""
        kind, data = self.files()[1]
        lines = data.split(b'\n')[:-2]
        body = b''.join(line + b'\n' for line in lines)
        path = self.folder / 'a.proof'
        path.write_bytes(body + f'{{"type":"end","v":1,"count":{len(lines) - 2},"sha256":"{hashlib.sha256(body).hexdigest()}"}}\n'.encode())
        theirs, ours = self.ctl('check-proof', path, expect=2), self.ours('--proof', path)
        self.assertEqual(ours.returncode, 2)
        for text in (theirs.stdout, ours.stdout):
            self.assertIn(b'made by a user who may read node.key', text)
        self.assertIn('node.key를'.encode(), self.ctl('--lang', 'ko', 'check-proof', path, expect=2).stdout)
        long = base64.b64encode(bytes(917_505)).decode()
        changed = [member('payload', lambda text: text)(line) for line in lines]
        event = json.loads(changed[-1])
        event = {('payload_base64' if name == 'payload' else name): long if name == 'payload' else value for name, value in event.items()}
        path.write_bytes(put_together([*lines[:-1], json.dumps(event, separators=(',', ':')).encode()], self.key, kind))
        done = self.ctl('check-proof', path, expect=3)
        self.assertIn(b'a payload 917504', done.stderr)
        self.assertIn(b'ask who made it', done.stderr)
        self.assertEqual(self.ours('--proof', path).returncode, 3)

    @unittest.skipUnless(shutil.which('openssl'), 'the vectors are made with openssl')
    def test_witnesses(self):
        """Cosignatures in another order or place than FORMATS.md §9 has them, and lines that say nothing, are in no file. The receipt is of 9 events; its heads cover 8."""
        vectors = wire.ROOT / 'docs' / 'reference' / 'vectors'
        for name in ('make-evidence.py', 'make-receipts.py'):
            shutil.copy(vectors / name, self.folder)
        made = runpy.run_path(str(self.folder / 'make-receipts.py'))
        one, two, third, sign, cosignature = (made[name] for name in ('one', 'two', 'third', 'sign', 'cosignature'))
        size, witnesses, inside, (_, smaller), two_head = made['size'], made['witnesses'], made['head'], made['heads'], made['head'](two, 3)
        by_node = [(node, 1785549738) for node in sorted((two, third), key=lambda node: node.node)]

        def over(node, count):
            text = made['checkpoint'](one, count)
            note = text + '\n' + made['note_line'](one, 1, sign(one, text.encode())) + cosignature(node, text, 1785549736)
            return smaller | {'size': count, 'note': note, 'proof': [step.hex() for step in made['consistency'](count, one.leaves)] if count < size else []}

        def unused(note):  # The last digit before the padding has bits that stand for nothing.
            return note[:-2].rstrip('=')[:-1] + chr(ord(note.rstrip('=\n')[-1]) + 1) + note[len(note.rstrip('=\n')):]

        first, second = (node for node, _ in by_node)
        sound = inside(one, size, [(two, 1785549738)])
        beyond = over(second, size) | {'proof': [step.hex() for step in made['consistency'](2, one.leaves)]}
        cases = {
            'as it is': (2, [*witnesses, sound, smaller, two_head]), 'both under the head': (2, [*witnesses, inside(one, size, by_node), two_head]),
            'both beside it': (2, [*witnesses, inside(one, size), over(first, 2), over(second, 3), two_head]),
            'out of order under it': (3, [*witnesses, inside(one, size, by_node[::-1]), two_head]),
            'out of order beside it': (3, [*witnesses, inside(one, size), over(second, 3), over(first, 2), two_head]),
            'over the same head beside it': (3, [*witnesses, inside(one, size, [(first, 1785549738)]), over(second, size), two_head]),
            'of another size than it says': (3, [*witnesses, sound, smaller | {'size': 3}, two_head]),
            'of another origin than it says': (3, [*witnesses, sound, smaller | {'origin': str(two.id)}, two_head]),
            'a larger head beside a smaller one': (2, [*witnesses, inside(one, 2, [(first, 1785549738)]), beyond, two_head]),
            'and beyond the events that were here': (3, [*witnesses, inside(one, 2, [(first, 1785549738)]) | {'events': size - 1}, beyond, two_head]),
            'a witness of nothing': (3, [*witnesses, sound, two_head]), 'bits that stand for nothing': (3, [*witnesses, sound | {'note': unused(sound['note'])}, smaller, two_head])}
        for name, (wanted, lines) in cases.items():
            with self.subTest(name):
                path = self.folder / 'made.ndjson'
                made['write'](path, [made['maker']('receipt', origins=2), *lines], 2)
                theirs, ours = self.checked(path.read_bytes())
                self.assertEqual((theirs, ours.returncode), (wanted, wanted), ours.stdout)
        with self.subTest('an origin without events'):
            answer = made['maker']('answer', user='u-1029', filtered=False, events=len(made['events']), origins=2)
            made['write'](path, [answer, *witnesses, sound, smaller, two_head, *made['events']], len(made['events']))
            theirs, ours = self.checked(path.read_bytes())
            self.assertEqual((theirs, ours.returncode), (3, 3), ours.stdout)

    def test_pipes(self):
        """What is no file is refused, and not waited for."""
        pipe = self.folder / 'pipe'
        os.mkfifo(pipe)
        self.assertEqual(self.ours('--proof', pipe).returncode, 66)
        self.assertEqual(self.ours(self.store, '--since', pipe).returncode, 66)
        self.assertEqual(self.ours(self.store, '--evidence', pipe).returncode, 66)
        self.assertNotEqual(self.ctl('check-proof', pipe, expect=None).returncode, 0)


if __name__ == '__main__':
    unittest.main()
