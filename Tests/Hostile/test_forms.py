"""Files beside a log, an origin's start and a schema in forms that FORMATS.md does not have: `syncctl verify` and Scripts/verify.py say the same.

A row has the exit code of both; where a release of `syncctl` before the rule said another, that follows.
SILLOK_BIN names the folder of syncd and syncctl; default: .build/debug.
"""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import uuid

import test_verdict as verdict  # it skips where something is missing
from sillok_verify.headers import bytes_field, dot_of
from sillok_verify.heads import head_text
from sillok_verify.marks import MARK_TEXT
from sillok_verify.trees import leaf_hash, sha256

BIN, PLACE = verdict.BIN, verdict.place.VERIFY
CUT, OTHER = 'cut-0123456789abcdef', '01a219a6-8642-7000-8000-0123456789ab'


def compact(found):
    return json.dumps(found, separators=(',', ':'), ensure_ascii=False)


@unittest.skipUnless((BIN / 'syncctl').exists(), f'no {BIN}/syncctl')
class Forms(unittest.TestCase):
    ctl, ours = staticmethod(verdict.Verdicts.ctl), staticmethod(verdict.Verdicts.ours)
    copied, both = verdict.Verdicts.copied, verdict.Verdicts.both

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix='sillok-forms-'))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        cls.store = cls.folder / 'store'
        cls.ctl('init', '--store', cls.store, '--name', 'one', '--cluster', 'lab')
        cls.ctl('--store', cls.store, 'import', '-', data=b'\n'.join(b'{"type":"note.taken","user":"u","data":{"n":%d}}' % n for n in range(3)))
        cls.key = verdict.own_key(cls.store)
        log = sqlite3.connect(f'file:{cls.store}/log.db?mode=ro', uri=True)
        (origin,), (cls.top,) = log.execute('SELECT id FROM origin').fetchone(), log.execute('SELECT max(position) FROM event').fetchone()
        log.close()
        cls.origin = str(uuid.UUID(bytes=origin))

    def same(self, store, name, wanted, before=None):
        with self.subTest(name):
            theirs, ours, text = self.both(store)
            self.assertEqual(ours, wanted, text)
            self.assertEqual(theirs, wanted, text)

    def test_options(self):
        """What does not apply to a proof is refused, and not passed over."""
        path = self.folder / 'a.receipt'
        path.write_bytes(self.ctl('--store', self.store, 'receipt', '--json').stdout)
        self.assertEqual(self.ours('--proof', path).returncode, 0)
        for option in ('--since', '--evidence'):
            for file in (path, '/no/such/file'):
                done = self.ours('--proof', path, option, file)
                self.assertEqual((done.returncode, done.stdout), (64, b''))
                self.assertIn(option.encode(), done.stderr)

    def test_name_of_the_store(self):
        for name in (b'a\xff', '기록'.encode(), b'a b%41?x=1#y', b'a\x1b[2J'):
            store = os.path.join(os.fsencode(self.folder), name)
            shutil.copytree(os.fsencode(self.store), store, ignore=lambda _, names: [name for name in names if name.startswith(b'views')])
            self.assertEqual(self.ours(store).returncode, 0, name)

    def marked(self, written=None, **changes):
        """A copy whose mark says this, signed by its node; `written` is what then stands there."""
        store = self.copied()
        mark = json.loads((store / 'mark.json').read_text()) | changes
        mark['signature'] = base64.b64encode(self.key.sign(MARK_TEXT.format(**mark).encode())).decode()
        (store / 'mark.json').write_text(compact(mark | (written(mark) if written else {})))
        return store

    def test_marks(self):
        """A mark in another form is none (FORMATS §1), though it is signed: nothing says how far the log went."""
        mark = json.loads((self.store / 'mark.json').read_text())
        self.same(self.marked(), 'as it is', 0)
        self.same(self.marked(position=str(self.top + 1)), 'a position beyond the log', 3)
        self.same(self.marked(boot=''), 'another boot', 0)
        for name, (changes, *before) in {
                'a position that is none': ({'position': 'x'},), 'one below 0': ({'position': '-1'},), 'an empty one': ({'position': ''},), 'one with a point': ({'position': '1.0'},),
                'one with a zero before it': ({'position': f'0{self.top}'},), 'one with a sign': ({'position': f'+{self.top}'},), 'one with digits of another script': ({'position': '४'},),
                'one over its bound': ({'position': str(2**44)}, 3), 'one of 5,000 digits': ({'position': '9' * 5_000},), 'a size of 0': ({'size': '0'}, 3), 'a size over its bound': ({'size': str(2**44)}, 3),
                'a durability that is none': ({'durability': 'x'},), 'a state that is none': ({'state': 'x'},), 'no state and another size': ({'state': 'x', 'size': '99'},),
                'an incarnation of 17 digits': ({'incarnation': '0' + mark['incarnation']},), 'one with a prefix': ({'incarnation': '0x' + mark['incarnation']},),
                'settings that are none': ({'settings': 'x'},), 'settings in capitals': ({'settings': mark['settings'].upper()},), 'a state with a line end': ({'state': 'stopped\n'},)}.items():
            self.same(self.marked(**changes), name, 2, *before)
        for name, (written, *before) in {  # signed as it should be, and written otherwise
                'a position as a number': (lambda mark: {'position': int(mark['position'])},), 'a size as a number': (lambda mark: {'size': int(mark['size'])},),
                'a position with a zero': (lambda mark: {'position': '0' + mark['position']}, 0), 'an origin in capitals': (lambda mark: {'origin': mark['origin'].upper()}, 0),
                'a signature with a blank': (lambda mark: {'signature': mark['signature'] + ' '},), 'a signature without padding': (lambda mark: {'signature': mark['signature'].rstrip('=')},),
                'boot as a number': (lambda mark: {'boot': 5},), 'a state that is null': (lambda mark: {'state': None},)}.items():
            self.same(self.marked(written), name, 2, *before)

    def test_log_end(self):
        """Of the events up to its position as many are of its origin as it says; the seal, which this leaves as it was, only the node can check."""
        end = (self.store / 'log.end').read_bytes()
        self.assertEqual((int.from_bytes(end[16:24], 'big'), int.from_bytes(end[40:48], 'big')), (self.top, self.top))
        for name, (position, size, origin, wanted, *before) in {
                'as it is': (self.top, self.top, None, 0), 'too many': (self.top - 1, self.top, None, 2), 'too few': (self.top, self.top - 1, None, 2), 'nothing yet': (0, 0, None, 0),
                'more than there are': (self.top, self.top + 5, None, 2, 0), 'most': (self.top, 2**64 - 1, None, 2, 0), 'of a strange origin': (self.top, self.top, bytes(16), 2, 0),
                'of events that are not here': (self.top + 1, self.top + 1, None, 3), 'of the last position': (2**64 - 1, self.top, None, 3)}.items():
            store = self.copied()
            data = end[:16] + position.to_bytes(8, 'big') + (origin or end[24:40]) + size.to_bytes(8, 'big') + end[48:64]
            (store / 'log.end').write_bytes(data + hashlib.sha256(data).digest()[:16])
            self.same(store, name, wanted, *before)

    def test_evidence(self):
        """No one has signed what is found there: in another form than FORMATS §1 has, it says nothing."""
        sound = {'kind': 'cut', 'text': 'the WAL was cut', 'origin': self.origin, 'had': '2', 'position': '9', 'at': '1795700000000',
                 'known': f'sillok/{self.origin}\n9\n{base64.b64encode(bytes(32)).decode()}\nhlc 01a219a68642-0000\n'}
        bound = str(2**44)
        for name, (changes, wanted, *before) in {
                'as it is': ({}, 3), 'had 0': ({'had': '0'}, 3), 'the latest': ({'at': '253402300799999'}, 3), 'a member of later': ({'more': 5}, 3), 'settled': ({'settled': '5'}, 3),
                'had as a number': ({'had': 2}, 0), 'had in hexadecimal': ({'had': '0x5'}, 0), 'had below 0': ({'had': '-1'}, 0), 'had over its bound': ({'had': bound}, 0, 3),
                'had with a zero': ({'had': '02'}, 0, 3), 'had with a sign': ({'had': '+2'}, 0, 3), 'had with a blank': ({'had': ' 2'}, 0), 'no had': ({'had': None}, 0),
                'at as a number': ({'at': 5}, 0), 'at below 0': ({'at': '-1'}, 0, 3), 'at over its bound': ({'at': '253402300800000'}, 0, 3), 'at far over it': ({'at': str(2**60)}, 0, 3),
                'a position below 0': ({'position': '-1'}, 0), 'a position over its bound': ({'position': bound}, 0, 3), 'a text that is none': ({'text': 5}, 0),
                'an empty known': ({'known': ''}, 0, 3), 'a known that is no text': ({'known': 5}, 0, 3), 'a known without its end': ({'known': sound['known'][:-1]}, 0, 3),
                'a known over its bound': ({'known': sound['known'].replace('\n9\n', f'\n{bound}\n')}, 0, 3), 'settled by nothing': ({'settled': 'x'}, 0, 3),
                'an origin in braces': ({'origin': '{' + self.origin + '}'}, 0), 'an origin in capitals': ({'origin': self.origin.upper()}, 0, 3),
                'an origin without dashes': ({'origin': self.origin.replace('-', '')}, 0), 'another kind': ({'kind': 'witness'}, 0), 'no kind': ({'kind': None}, 0)}.items():
            store = self.copied()
            (store / 'evidence').mkdir(exist_ok=True)
            (store / 'evidence' / f'{CUT}.json').write_text(compact(sound | changes))
            self.same(store, name, wanted, *before)
        for name, data, wanted in (('cut-0123456789abcdefXjson', compact(sound), 0), (f'{CUT}.json', '[]', 0), (f'{CUT}.json', '', 0), (f'{CUT}.json', compact(sound)[:-1] + ',"at":"5"}', 0)):
            store = self.copied()
            (store / 'evidence').mkdir(exist_ok=True)
            (store / 'evidence' / name).write_text(data)
            self.same(store, f'{name} {data:.2}', wanted)

    def test_forks(self):
        """A proof that does not hold contradicts; what is no proof says nothing."""
        origin = uuid.UUID(self.origin).bytes
        header = bytes_field(1, origin) + b'\x10\x01' + bytes_field(5, bytes(16)) + bytes_field(6, b'origin.started') + bytes_field(8, b'u')

        def branch(digest, more=b''):
            leaf = leaf_hash(header + more, digest)
            head = head_text(origin, 1, leaf, 0)
            return {'head': head.decode(), 'signature': base64.b64encode(self.key.sign(head)).decode(), 'header': base64.b64encode(header + more).decode(), 'payload_digest': digest.hex(), 'proof': []}

        one, other = branch(bytes(32)), branch(bytes([255]) * 32)
        sound = {'kind': 'fork', 'origin': self.origin, 'seq': '1', 'branches': [one, other]}
        lie = sound | {'branches': [one, one]}
        long, longest = (bytes_field(13, bytes(65_536 - len(header) - 4 + more)) for more in (1, 0))
        for name, (found, wanted, *before) in {
                'as it is': (sound, 0), 'the longest header': (sound | {'branches': [one, branch(bytes(32), longest)]}, 0), 'one that is longer': (sound | {'branches': [one, branch(bytes(32), long)]}, 3),
                'the same history twice': (lie, 3), 'two proofs of nothing': (lie | {'branches': [one | {'more': {'a': 1}}, one | {'seq': 5}]}, 3), 'another kind': (lie | {'kind': 'x'}, 0), 'seq as a number': (lie | {'seq': 1}, 0),
                'seq with a zero': (lie | {'seq': '01'}, 0, 3), 'seq over its bound': (lie | {'seq': str(2**44)}, 0), 'an origin in braces': (lie | {'origin': '{' + self.origin + '}'}, 0),
                'an origin in capitals': (lie | {'origin': self.origin.upper()}, 0, 3), 'one branch': (lie | {'branches': [one]}, 0), 'three': (lie | {'branches': [one, one, one]}, 0),
                'a header with a line end': (lie | {'branches': [one, one | {'header': one['header'] + '\n'}]}, 0), 'a signature with none': (lie | {'branches': [one, one | {'signature': 5}]}, 0),
                'a digest with a blank': (lie | {'branches': [one, one | {'payload_digest': '00 ' * 32}]}, 0), 'a short digest': (lie | {'branches': [one, one | {'payload_digest': '00'}]}, 0),
                'a digest in capitals': (lie | {'branches': [one, one | {'payload_digest': 'AA' * 32}]}, 0, 3), 'a short step': (lie | {'branches': [one, one | {'proof': ['00']}]}, 0),
                'a proof that is none': (lie | {'branches': [one, one | {'proof': 5}]}, 0), 'a step that is none': (lie | {'branches': [one, one | {'proof': [5]}]}, 0, 3)}.items():
            store = self.copied()
            (store / 'evidence').mkdir(exist_ok=True)
            (store / 'evidence' / f'fork-{self.origin}-1-00000000-ffffffff.json').write_text(compact(found))
            self.same(store, name, wanted, *before)
        text, name = compact(lie), f'fork-{self.origin}-1-00000000-ffffffff.json'
        for what, (changed, wanted, *before) in {  # a file is JSON, in any form of it
                'a blank in a branch': (text.replace('{"head":', '{ "head":'), 3, 0), 'line ends and tabs': (json.dumps(lie, indent='\t'), 3, 0), 'an escape': (text.replace('sillok/', 'sillok\\/'), 3, 0),
                'an escaped name': (text.replace('"header"', '"he\\u0061der"'), 3, 0), 'a member more in a branch': (text.replace('"proof":', '"note":[{}],"proof":'), 3, 0),
                'a member more': (compact(lie | {'note': 'x'}), 3), 'branches in another order': (compact(lie | {'branches': [dict(reversed(one.items()))] * 2}), 3, 0),
                'members in another order': (compact(dict(reversed(lie.items()))), 3), 'a name twice in a branch': (text.replace('"proof":[]', '"proof":[],"proof":[]', 1), 0),
                'a name twice, once as an escape': (text.replace('"proof":[]', '"proof":[],"pr\\u006fof":[]', 1), 0), 'a name twice': (text.replace('"seq":"1"', '"seq":"1","seq":"1"'), 0),
                'a name twice in another member': (text.replace('"proof":', '"note":{"a":1,"a":1},"proof":'), 3, 0),
                'branches as lists of pairs': (compact(lie | {'branches': [list(map(list, one.items()))] * 2}), 0), 'one of them as such': (compact(lie | {'branches': [one, list(map(list, one.items()))]}), 0),
                'branches as an object': (compact(lie | {'branches': {'a': one, 'b': one}}), 0), 'a blank in a head': (text.replace('sillok/', 'sillok/ ', 1), 0),
                'a digest in capitals': (compact(lie | {'branches': [one | {'payload_digest': 'AA' * 32}] * 2}), 0), 'a proof in capitals': (compact(lie | {'branches': [one | {'proof': ['AA' * 32]}] * 2}), 0)}.items():
            self.assertNotEqual(changed, text, what)
            store = self.copied()
            (store / 'evidence').mkdir(exist_ok=True)
            (store / 'evidence' / name).write_text(changed)
            self.same(store, what, wanted, *before)
            if not wanted:  # the same of a proof that holds: what is read of it is told
                continue
            sound_text = compact(sound)
            (store / 'evidence' / name).write_text(sound_text.replace('{"head":', '{ "head":'))
            self.assertIn(b'two histories', self.ours(store).stdout)
            self.assertIn('two histories', self.both(store)[2])

    def test_given_evidence(self):
        """`verify.py --evidence`: of an origin that is not here nothing can be told (2), and what is no proof at all is not passed over (66)."""
        origin, path = uuid.UUID(OTHER).bytes, self.folder / 'given'
        header = bytes_field(1, origin) + b'\x10\x01' + bytes_field(5, bytes(16)) + bytes_field(6, b'origin.started') + bytes_field(8, b'u')

        def branch(digest):
            head = head_text(origin, 1, leaf_hash(header, digest), 0)
            return {'head': head.decode(), 'signature': base64.b64encode(self.key.sign(head)).decode(), 'header': base64.b64encode(header).decode(), 'payload_digest': digest.hex(), 'proof': []}
        proof = {'kind': 'fork', 'origin': OTHER, 'seq': '1', 'branches': [branch(bytes(32)), branch(bytes([255]) * 32)]}
        for name, text, wanted in (('nothing', '', 66), ('an empty object', '{}', 66), ('no object', '[]', 66), ('a blank', ' ', 66), ('of an origin that is not here', compact(proof), 2)):
            with self.subTest(name):
                path.write_text(text)
                done = self.ours(self.store, '--evidence', path)
                self.assertEqual(done.returncode, wanted, done.stdout + done.stderr)
                self.assertIn(b'given', done.stdout + done.stderr)
        store = self.copied()  # beside the store no one has asked: a log that was put back may have it again
        (store / 'evidence').mkdir(exist_ok=True)
        (store / 'evidence' / f'fork-{OTHER}-1-00000000-ffffffff.json').write_text(compact(proof))
        self.same(store, 'beside the store', 0)

    def test_starts(self):
        """What the start of an origin says of the one before counts in its form alone (FORMATS §2); a count that is none is 0."""
        sound = {'previous': OTHER, 'reason': 'cut', 'had': 5, 'known': 307}
        for name, (more, wanted) in {
                'as it is': (sound, 2), 'no previous': ({'reason': 'cut', 'had': 5, 'known': 307}, 0), 'a previous that is none': (sound | {'previous': 'x'}, 0),
                'one without dashes': (sound | {'previous': OTHER.replace('-', '')}, 0), 'one in braces': (sound | {'previous': '{' + OTHER + '}'}, 0), 'one in capitals': (sound | {'previous': OTHER.upper()}, 2),
                'another reason': (sound | {'reason': 'x'}, 0), 'no reason': (sound | {'reason': None}, 0), 'had as a text': (sound | {'had': '5'}, 2), 'known as a text': (sound | {'known': '307'}, 0),
                'had over known': (sound | {'had': 400}, 0), 'had below 0': (sound | {'had': -5, 'known': 1}, 2), 'known below 0': (sound | {'known': -5}, 0), 'true': (sound | {'had': 0, 'known': True}, 0),
                'known with a point': (sound | {'known': 307.0}, 0), 'known of 64 bits': (sound | {'known': 2**63}, 0), 'the largest known': (sound | {'had': 2**63 - 2, 'known': 2**63 - 1}, 2),
                'known of 5,000 digits': (sound | {'known': int('9' * 4_000)}, 0), 'beyond what a double tells apart': (sound | {'had': 2**53, 'known': 2**53 + 1}, 2),
                'with evidence': (sound | {'evidence': CUT}, 3), 'and had as a text': (sound | {'had': '5', 'evidence': CUT}, 3), 'and known null': (sound | {'known': None, 'evidence': CUT}, 3),
                'and no previous': ({'reason': 'cut', 'had': '3', 'known': 6, 'evidence': CUT}, 0), 'neither previous nor known': ({'reason': 'cut', 'had': 3, 'known': None, 'evidence': CUT}, 0),
                'evidence in capitals': (sound | {'evidence': CUT.upper()}, 2), 'of a witness': (sound | {'evidence': 'witness-0123456789abcdef'}, 2), 'evidence 5': (sound | {'evidence': 5}, 2),
                'no name': ({'name': None}, 3), 'another name': ({'name': 'two'}, 3)}.items():
            store = self.copied()
            log = sqlite3.connect(store / 'log.db')
            payload = json.loads(log.execute('SELECT payload FROM event WHERE position = 1').fetchone()[0])
            log.close()
            verdict.resigned(store, ('UPDATE event SET payload = ? WHERE position = 1', (compact(payload | more),)))
            self.same(store, name, wanted)
            text = self.ours(store).stdout
            self.assertFalse(b'is not of these' in text or b'cannot be read' in text, text)

    def test_schema(self):
        """Every row of the schema is a table or an index, as FORMATS §3 has it; bytes that are no text in it are no sound database."""
        def stated(*statements):
            store = self.copied()
            log = sqlite3.connect(store / 'log.db', isolation_level=None)
            for statement in ('PRAGMA journal_mode = DELETE', 'CREATE TABLE later(x)', 'PRAGMA writable_schema = ON', *statements):
                log.execute(statement).fetchall()
            log.close()
            return store
        self.same(stated(), 'a table of a later release', 2)
        for name in ('sqlite_autoindex_origin_1', 'event_dot', 'arrival', 'later'):
            for kind in ("'x'", "'INDEX'", "'TABLE'", "''", 'NULL', '5', "CAST(x'696e6465fc' AS TEXT)", "'table' || char(0)", "'table x'"):
                self.same(stated(f"UPDATE sqlite_schema SET type = {kind} WHERE name = '{name}'"), f'{name}: {kind}', 3)
        self.same(stated("UPDATE sqlite_schema SET tbl_name = 'node' WHERE name = 'sqlite_autoindex_origin_1'"), 'an index of another table', 3)
        data = (stated() / 'log.db').read_bytes()
        for at in ('CREATE TABLE origin', 'CREATE TABLE later', 'CREATE UNIQUE INDEX event_dot', 'CREATE TABLE meta'):
            for byte in (0x80, 0x9b, 0xff):
                store, changed = self.copied(), bytearray(data)
                changed[data.index(at.encode()) + 4] = byte
                (store / 'log.db').write_bytes(changed)
                self.same(store, f'{at}: {byte:x}', 3)
                done = self.ours(store, '--json')
                self.assertEqual((done.returncode, json.loads(done.stdout)['answer']), (3, 'contradicted'))

    def test_erasures(self):
        """A line of erasures.ndjson is, byte for byte, as the manifest has it (FORMATS §11); any other contradicts."""
        old, backups, plan = self.folder / 'erasing', self.folder / 'backups', self.folder / 'plan'
        self.ctl('init', '--store', old, '--name', 'one', '--cluster', 'lab')
        self.ctl('--store', old, 'append', '--user', 'victim', '--conversation', 'c', '--text', '비밀')
        self.ctl('--store', old, 'backup', 'create', backups)
        log = sqlite3.connect(f'file:{old}/log.db?mode=ro', uri=True)
        at, salt, payload = log.execute("SELECT position, salt, payload FROM event WHERE payload LIKE '%비밀%'").fetchone()
        log.close()
        self.ctl('--store', old, 'erase', 'user', 'victim', '--plan', plan, '--authored', 'erase', '--replies', 'erase', '--reason', 'r', '--who', 'w')
        self.ctl('--store', old, 'erase', 'user', 'victim', '--confirm', plan)
        self.ctl('--store', old, 'backup', 'create', backups)
        first = min((backups / 'backups').glob('*.manifest')).name.split('.')[0]
        store = self.folder / 'restored'
        self.ctl('backup', 'restore', backups, '--backup', first, '--into', store, '--without-key')
        path = store / 'erasures.ndjson'
        data = path.read_bytes()
        line, member = data[:-1], verdict.member
        for name, (changed, wanted, *before) in {
                'as it is': (data, 0), 'another type': (member('type', '"x"')(line), 3), 'no type': (line.replace(b'"type":"erasure",', b''), 3), 'the type of another line': (member('type', '"event"')(line), 3),
                'an origin in braces': (member('origin', verdict.quoted(lambda text: '{' + text + '}'))(line), 3), 'an origin in capitals': (member('origin', verdict.quoted(str.upper))(line), 3, 0),
                'seq with a point': (member('seq', lambda seq: f'{seq}.0')(line), 3), 'seq as a text': (member('seq', lambda seq: f'"{seq}"')(line), 3), 'a byte order mark': (b'\xef\xbb\xbf' + line, 3),
                'UTF-16': (line.decode().encode('utf-16'), 3), 'a blank': (line.replace(b',', b', ', 1), 3, 0), 'a blank behind it': (line + b' ', 3, 0), 'CR': (line + b'\r', 3, 0),
                'another order': (compact(dict(reversed(json.loads(line).items()))).encode(), 3, 0), 'one member more': (line[:-1] + b',"more":1}', 3, 0), 'a member twice': (line[:-1] + b',"seq":1}', 3),
                'a salt in capitals': (member('salt', lambda text: '"' + text.upper() + '"')(line), 3, 0), 'a proof in capitals': (member('proof', lambda steps: compact([step.upper() for step in steps]))(line), 3, 0),
                'an escape': (line.replace(b'"type"', b'"typ\\u0065"', 1), 3, 0), 'a key with a blank': (member('key', verdict.quoted(lambda text: text + ' '))(line), 3),
                'a payload without padding': (member('payload', verdict.quoted(lambda text: text.rstrip('=') + ' '))(line), 3), 'an empty line': (data + b'\n', 3), 'no line': (b'', 3)}.items():
            self.assertTrue(changed != data[:-1] or name == 'as it is', name)
            path.write_bytes(changed)
            self.same(store, name, wanted, *before)
        path.write_bytes(data)
        self.same(self.changed(('UPDATE event SET salt = ?, payload = ?, digest = NULL WHERE position = ?', (salt, payload, at)), of=store), 'put back', 2)

    def changed(self, *statements, of=None):
        """A copy of a store in whose log another hand, without the key, has run these."""
        store = self.folder / 'changed'
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(of or self.store, store, ignore=shutil.ignore_patterns('*-shm', '*-wal', 'views.*'))
        log = sqlite3.connect(store / 'log.db', isolation_level=None)
        for statement in statements:
            log.execute(*statement) if isinstance(statement, tuple) else log.execute(statement)
        log.execute('PRAGMA wal_checkpoint(TRUNCATE)')
        log.close()
        return store

    def test_fields_in_unknown(self):
        """What has a column stands in that (FORMATS §3): the bytes of the header are the same, and the row would say another author or version."""
        old = self.folder / 'columns'
        self.ctl('init', '--store', old, '--name', 'one', '--cluster', 'lab')
        self.ctl('--store', old, 'import', '-', data=b'{"type":"note.taken","user":"u","author":"medibot","dataversion":5,"data":{}}')
        author, version, where = b'\x4a\x07medibot', b'\x60\x05', " WHERE type = (SELECT ref FROM name WHERE text = 'note.taken')"
        for name, statement in {'author and version': 'unknown = ?, author = NULL, version = NULL', 'version': 'unknown = ?, version = NULL'}.items():
            data = version if name == 'version' else author + version
            for reads in ((), ("DELETE FROM meta WHERE key = 'reads'",)):
                store = self.changed((f'UPDATE event SET {statement}{where}', (data,)), *reads, of=old)
                self.same(store, f'{name}, {len(reads)}', 3)
                self.assertNotIn(b'has not the hash', self.ours(store).stdout)

    def erased(self):
        """A store that has erased a payload, and that payload as it was: position, salt, bytes."""
        old, plan = self.folder / f'erased-{self.id()}', self.folder / 'plan'
        self.ctl('init', '--store', old, '--name', 'one', '--cluster', 'lab')
        self.ctl('--store', old, 'append', '--user', 'victim', '--conversation', 'c', '--text', '비밀')
        self.ctl('--store', old, 'append', '--user', 'other', '--conversation', 'c', '--text', 'stays')
        log = sqlite3.connect(f'file:{old}/log.db?mode=ro', uri=True)
        found = log.execute("SELECT position, salt, payload FROM event WHERE payload LIKE '%비밀%'").fetchone()
        log.close()
        self.ctl('--store', old, 'erase', 'user', 'victim', '--plan', plan, '--authored', 'erase', '--replies', 'erase', '--reason', 'r', '--who', 'w')
        self.ctl('--store', old, 'erase', 'user', 'victim', '--confirm', plan)
        return old, found

    def test_put_back(self):
        """A payload that an erasure covers is never proven: contradicted where the erasure is applied by the store's word, else not told (INV-11)."""
        old, (at, salt, payload) = self.erased()
        back = ('UPDATE event SET salt = ?, payload = ?, digest = NULL WHERE position = ?', (salt, payload, at))
        sealed = "UPDATE meta SET value = '1 00000000000000000000000000000000' WHERE key = 'erasures'"
        for name, (statements, wanted) in {
                'as it is': ((), 0), 'put back': ((back,), 3), 'put back beside its digest': (((back[0].replace(', digest = NULL', ''), back[1]),), 3), 'put back, and not said to be applied': ((back, "DELETE FROM meta WHERE key = 'erased'"), 2),
                'and under way': ((back, "DELETE FROM meta WHERE key = 'erased'", "INSERT OR REPLACE INTO meta VALUES('erasing', '9 0 log')"), 2),
                'and no word of erasures at all': ((back, "DELETE FROM meta WHERE key LIKE 'eras%'"), 2), 'and that of an earlier release': ((back, "DELETE FROM meta WHERE key = 'erased'", "UPDATE meta SET value = '1' WHERE key = 'erasures'"), 2),
                'applied, and no word of the others': ((back, "DELETE FROM meta WHERE key = 'erasures'"), 3), 'no word of erasures': (("DELETE FROM meta WHERE key LIKE 'eras%'",), 2),
                'said to be applied where none stands': ((back, f"UPDATE meta SET value = '{at}' WHERE key = 'erased'"), 3)}.items():
            store = self.changed(*statements, of=old)
            self.same(store, name, wanted)
            if back in statements and wanted == 2:
                self.assertIn(f'at position {at}'.encode(), self.ours(store).stdout)
        for name, statement in {'another seal': sealed, 'a sealed row taken away': "DELETE FROM meta WHERE key = 'erased'"}.items():  # the node alone can check a seal
            with self.subTest(name):
                store = self.changed(statement, of=old)
                self.assertEqual(self.both(store)[:2], (2, 0))
                (store / 'node.key').unlink()
                self.assertEqual(self.both(store)[:2], (0, 0))

    def test_dots(self):
        """A dot in an erasure has one form (FORMATS §2); another names nothing."""
        log = sqlite3.connect(f'file:{self.store}/log.db?mode=ro', uri=True)
        salt, payload = log.execute('SELECT salt, CAST(payload AS BLOB) FROM event WHERE position = 2').fetchone()
        log.close()
        for name, (dot, is_one) in {
                'as it is': (f'{self.origin}/2', True), 'capitals': (f'{self.origin.upper()}/2', False), 'a zero': (f'{self.origin}/02', False), 'a sign': (f'{self.origin}/+2', False),
                'a blank': (f'{self.origin}/2 ', False), 'no dashes': (self.origin.replace('-', '') + '/2', False), 'other digits': (f'{self.origin}/２', False)}.items():
            for is_gone in (False, True):
                store = self.copied()
                gone = [('UPDATE event SET salt = NULL, payload = NULL, digest = ? WHERE position = 2', (sha256(salt, payload),))] if is_gone else []
                verdict.resigned(store, *gone, "INSERT INTO name(text) VALUES('user.erased')", (
                    "UPDATE event SET type = (SELECT ref FROM name WHERE text = 'user.erased'), payload = ? WHERE position = ?", (compact({'user': None, 'events': [dot]}), self.top)),
                    f"INSERT INTO meta VALUES('erasure {self.top}', ''), ('erasures', '1'), ('erased', '{self.top}')")
                self.same(store, f'{name}, {"erased" if is_gone else "here"}', 0 if is_gone == is_one else 3)

    def test_files(self):
        """What each file of a store may be (the table of FORMATS §3): both say the same, and wait for no pipe."""
        missing, cut = {'mark.json': 2}, 'evidence/cut-0123456789abcdef.json'
        names = {'mark.json': 2, 'log.end': 2, 'node.key': 2, 'cosigned.db': 2, 'erasures.ndjson': 2, 'evidence': 2, 'evidence/fork-a.json': 0, cut: 0}
        outside = self.folder / 'outside'
        for name, odd in names.items():
            for form, make in {
                    'missing': lambda path: None, 'a link to nothing': lambda path: path.symlink_to('/nowhere/at/all'), 'a link': lambda path: outside.exists() and path.symlink_to(outside),
                    'a link in a circle': lambda path: path.symlink_to(path.name), 'a folder': lambda path: name != 'evidence' and path.mkdir(), 'a pipe': os.mkfifo}.items():
                store = self.copied()
                (store / 'evidence').mkdir(exist_ok=True)
                shutil.rmtree(outside, ignore_errors=True) if outside.is_dir() else outside.unlink(missing_ok=True)
                if (path := store / name).exists():
                    path.rename(outside)
                make(path)
                wanted = 0 if form == 'a link' or form == 'a folder' and name == 'evidence' else missing.get(name, 0) if form in ('missing', 'a link to nothing') else odd
                self.same(store, f'{name}: {form}', 0 if name == 'node.key' else wanted)
        for form, make in {'a link in a circle': lambda path: path.symlink_to(path.name), 'a folder': pathlib.Path.mkdir, 'a pipe': os.mkfifo}.items():
            store = self.copied()  # without key and mark, as a copy is
            for gone in ('mark.json', 'node.key', 'log.end'):
                (store / gone).unlink(missing_ok=True)
            make(store / 'log.end')
            self.same(store, f'log.end of a copy: {form}', 2)
        for name in ('log.db', 'log.db-wal', 'log.db-shm', 'log.db-journal'):  # without them no verdict can be trusted: none is given
            for form, make in {'a link to nothing': lambda path: path.symlink_to('/nowhere/at/all'), 'a link in a circle': lambda path: path.symlink_to(path.name), 'a folder': pathlib.Path.mkdir, 'a pipe': os.mkfifo}.items():
                with self.subTest(f'{name}: {form}'):
                    store = self.copied()
                    (store / name).unlink(missing_ok=True)
                    make(store / name)
                    theirs, ours, text = self.both(store)
                    if name != 'log.db' and form == 'a link to nothing':
                        self.assertEqual((theirs, ours), (0, 0), text)
                    else:
                        self.assertIn(theirs, (66, 77), text)
                        self.assertEqual(ours, 66, text)

    def test_no_receipt(self):
        """What is neither a receipt nor an answer by its first line is 65, and 66 by verify.py (receipts.md); a receipt that does not cover its log is 2."""
        for name, made in {'answer': self.ctl('--store', self.store, 'history', 'u', '--proof'), 'receipt': self.ctl('--store', self.store, '--json', 'receipt')}.items():
            lines = made.stdout.splitlines(True)
            first = json.loads(lines[0])
            for what, data in {
                    'no first line': lines[1:], 'the last line alone': lines[-1:], 'the first two swapped': [lines[1], lines[0], *lines[2:]], 'a short key': [compact(first | {'key': 'AAAA'}).encode() + b'\n', *lines[1:]],
                    'another node': [compact(first | {'node': 64 * '0'}).encode() + b'\n', *lines[1:]], 'zeros': [bytes(3 << 20)], 'a long line': [b'a' * (3 << 20)]}.items():
                self.checked(f'{name}: {what}', b''.join(data), 65, 66)
        store = self.changed('DELETE FROM head')
        self.checked('no head', self.ctl('--store', store, '--json', 'receipt', expect=2).stdout, 2, 2)

    def checked(self, name, data, wanted, ours):
        path = self.folder / 'checked'
        path.write_bytes(data)
        with self.subTest(name):
            self.assertEqual(subprocess.run([BIN / 'syncctl', 'check-proof', path], capture_output=True).returncode, wanted)
            self.assertEqual(subprocess.run([sys.executable, '-B', PLACE, '--proof', path], capture_output=True).returncode, ours)

    def test_field_of_number_0(self):
        """It is none of Protocol Buffers: what stands behind it in a header that cannot be read is not read (FORMATS §2)."""
        header = bytes_field(1, bytes(16)) + b'\x10\x02' + bytes_field(6, b'a') + bytes_field(6, b'b')
        self.assertEqual(dot_of(header), (bytes(16), 2))
        self.assertEqual(dot_of(b'\x02\x00' + header), (None, 0))
        self.assertEqual(dot_of(header + b'\x02\x00'), (bytes(16), 2))

    def test_incarnation(self):
        for value, wanted in (('abcdef0123456789', 0), ('ABCDEF0123456789', 3), ('abcdef012345678', 3), ('abcdef012345678９', 3)):
            store = self.changed(('UPDATE meta SET value = ? WHERE key = ?', (value, 'incarnation')))
            for name in ('mark.json', 'node.key'):
                (store / name).unlink()
            self.same(store, value, wanted)

    def test_seal_of_the_end(self):
        """The node alone can check the seal of log.end: where its key can be read syncctl does, and Scripts/verify.py reads no key."""
        store = self.copied()
        data = bytearray((store / 'log.end').read_bytes()[:64])
        data[50] ^= 1
        (store / 'log.end').write_bytes(bytes(data) + hashlib.sha256(data).digest()[:16])
        self.assertEqual(self.both(store)[:2], (2, 0))
        (store / 'node.key').unlink()
        self.assertEqual(self.both(store)[:2], (0, 0))

    def test_payloads_in_base64(self):
        """In a proven answer a payload stands as text, and bytes that are none in base64 (FORMATS §8, §9)."""
        lines = self.ctl('--store', self.store, 'history', 'u', '--proof').stdout.split(b'\n')[:-2]

        def other(line):
            found = json.loads(line)
            return compact({'payload_base64' if name == 'payload' else name: base64.b64encode(value.encode()).decode() if name == 'payload' else value for name, value in found.items()}).encode()
        store = self.copied()
        verdict.resigned(store, 'UPDATE event SET payload = CAST(\'[]\' AS BLOB) WHERE position = 2')
        self.same(store, 'a payload that is none', 0)
        strange = self.ctl('--store', store, 'history', 'u', '--proof').stdout.split(b'\n')[:-2]
        self.assertEqual(sum(b'"payload_base64":"W10="' in line for line in strange), 1)
        for name, made, wanted in (('as it is', lines, 0), ('in base64', [other(line) if line.startswith(b'{"type":"event"') else line for line in lines], 3), ('bytes that are none', strange, 0),
                                   ('bytes that are none, as text', [line.replace(b'"payload_base64":"W10="', b'"payload":"[]"') for line in strange], 3)):
            with self.subTest(name):
                theirs, ours = verdict.Verdicts.checked(self, verdict.put_together(made, self.key, 'answer'))
                self.assertEqual((theirs, ours.returncode), (wanted, wanted), ours.stdout)


if __name__ == '__main__':
    unittest.main()
