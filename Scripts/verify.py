#!/usr/bin/env python3
"""Proves a Sillok store from its files, without any of Sillok's code. Written from FORMATS.md; § means a section there.

    Scripts/verify.py STORE [--json] [--evidence FILE]       a store's folder, or a log.db; a proof of a fork as well

Needs Python 3.9 and one package for Ed25519, `cryptography` (Debian: python3-cryptography). Reads only.
Exit code: 0 proven, 2 not all covered by signatures, 3 contradicted, 64 usage, 66 cannot be read.
Proven means: every event is, byte for byte, one its origin's key has signed, in the order it has signed. What nobody can
see in one store: a newest part that was cut off together with its heads and mark. Compare the roots with those of a peer.
"""
import argparse, base64, glob, hashlib, json, os, re, sqlite3, sys, uuid
from collections import namedtuple
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# ---- Ed25519 (§2, "A signature is valid"): RFC 8032 without the cofactor, and no key or R of a small order ------------------
PRIME, ORDER_8 = 2**255 - 19, 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
def usable(point):
    y = int.from_bytes(point, 'little') & (2**255 - 1)
    return len(point) == 32 and y < PRIME and y not in (0, 1, PRIME - 1, ORDER_8, PRIME - ORDER_8)
def signed(key, signature, text):
    if len(signature) != 64 or not usable(key) or not usable(signature[:32]): return False
    try: Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except (InvalidSignature, ValueError): return False
    return True

# ---- Hashes and trees (§2): RFC 6962 -----------------------------------------------------------------------------------------
def sha(*parts): return hashlib.sha256(b''.join(parts)).digest()
def join(left, right): return sha(b'\x01', left, right)
def leaf_of(header, digest): return sha(b'\x00', header, digest)
def half(size): return 1 << (size - 1).bit_length() - 1

class Tree:
    """Grows leaf by leaf; keeps the roots of its perfect subtrees, the largest first."""
    def __init__(self): self.size, self.stack = 0, []
    def add(self, leaf):
        """Returns the perfect subtrees this leaf completes: (level, number from 0, root)."""
        self.size, level, done = self.size + 1, 0, []
        self.stack.append(leaf)
        while not self.size >> level & 1:
            right, level = self.stack.pop(), level + 1
            self.stack[-1] = join(self.stack[-1], right)
            done.append((level, (self.size >> level) - 1, self.stack[-1]))
        return done
    def root(self):
        root = self.stack[-1] if self.stack else sha()
        for left in reversed(self.stack[:-1]): root = join(left, root)
        return root
def audited(leaf, index, size, path):
    """The root an audit path (RFC 6962, 2.1.1) leads to; uses `path` up from its end."""
    if size == 1: return leaf
    step, k = path.pop(), half(size)
    return join(audited(leaf, index, k, path), step) if index < k else join(step, audited(leaf, index - k, size - k, path))
def grown(first, second, root, path, whole=True):
    """The roots of `first` and `second` leaves a consistency proof (RFC 6962, 2.1.2) leads to; uses `path` up from its end."""
    if first == second: return (root, root) if whole else (path.pop(),) * 2
    step, k = path.pop(), half(second)
    if first <= k:
        old, new = grown(first, k, root, path, whole)
        return old, join(new, step)
    old, new = grown(first - k, second - k, root, path, False)
    return join(step, old), join(step, new)
def leads(function, path, wanted):
    try: return function(path) == wanted and not path
    except IndexError: return False

# ---- Headers and heads (§2, and EventHeader of sync.proto) ---------------------------------------------------------------------
def varint(number):
    out = b''
    while number > 127: out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])
VARINT = re.compile(rb'[\x80-\xff]{0,9}[\x00-\x7f]')
def number(data, at):
    """The varint at `at`, and where it ends."""
    found = VARINT.match(data, at)
    if not found: raise IndexError
    return sum((byte & 127) << 7 * place for place, byte in enumerate(found[0])), found.end()
def field(number, body): return varint(number << 3 | 2) + varint(len(body)) + body
def dot_of(header):
    """(origin, seq) of a header as it came: of each the last one that has the right form, or None."""
    at, origin, seq = 0, None, None
    try:
        while at < len(header):
            tag, at = number(header, at)
            if tag & 7 == 0:
                value, at = number(header, at)
                if tag == 2 << 3 and value: seq = value
            else:
                length, at = number(header, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
                if tag == 1 << 3 | 2 and length == 16 and at + 16 <= len(header): origin = header[at:at + 16]
                at += length
    except (IndexError, KeyError): pass  # an opaque header is read as far as it can be
    return origin, seq
Row = namedtuple('Row', 'position user conversation time hlc origin seq type author id cause dependencies version unknown twin '
                        'leaf salt digest payload')
def pairs(blob):
    """The dependencies of a row: ref of an origin, seq."""
    numbers = [number(part, 0)[0] for part in VARINT.findall(blob or b'')]
    return list(zip(numbers[::2], numbers[1::2]))
def header_of(row, names, origins):
    """The canonical header from the columns of §3. An opaque event has it whole in `unknown`."""
    if names[row.type] == b'' and names[row.user] == b'': return row.unknown
    out = field(1, origins[row.origin][0]) + b'\x10' + varint(row.seq) + b'\x19' + row.hlc.to_bytes(8, 'little')
    if row.time is not None: out += b'\x20' + varint((row.time << 1 ^ row.time >> 63) & (2**64 - 1))
    for at, body in ((5, row.id), (6, names[row.type]), (7, names.get(row.conversation)), (8, names[row.user]), (9, names.get(row.author)),
                     (10, row.cause)):
        if body is not None: out += field(at, body)
    for origin, seq in pairs(row.dependencies): out += field(11, field(1, origins[origin][0]) + b'\x10' + varint(seq))
    return out + (b'\x60' + varint(row.version) if row.version is not None else b'') + (row.unknown or b'')
def head_text(origin, size, root, hlc):
    stamp = f'{hlc & 2**64 - 1:016x}'
    return f'sillok/{uuid.UUID(bytes=origin)}\n{size}\n{base64.b64encode(root).decode()}\nhlc {stamp[:12]}-{stamp[12:]}\n'.encode()
def parsed(text):
    """(origin, size, root) of a head's text."""
    head = re.fullmatch(r'sillok/(\S{36})\n([1-9]\d*)\n(\S{44})\nhlc [0-9a-f]{12}-[0-9a-f]{4}\n', text)
    if not head: raise ValueError('not the text of a head')
    return uuid.UUID(head[1]).bytes, int(head[2]), base64.b64decode(head[3])
def node_of(key): return sha(bytes.fromhex('302a300506032b6570032100'), key)  # §1: over the DER SubjectPublicKeyInfo

# ---- Evidence of a fork (§1, §2) ----------------------------------------------------------------------------------------------
def fork(proof, keys):
    """(origin, seq) if the proof holds; raises ValueError with the reason if not."""
    origin, seq, leaves = uuid.UUID(proof['origin']).bytes, int(proof['seq']), set()
    if proof['kind'] != 'fork' or len(proof['branches']) != 2: raise ValueError('not two branches of a fork')
    for branch in proof['branches']:
        header, digest = base64.b64decode(branch['header'], validate=True), bytes.fromhex(branch['payload_digest'])
        of, size, root = parsed(branch['head'])
        if of != origin or dot_of(header) != (origin, seq): raise ValueError('a branch is not of that event')
        if not signed(keys[origin], base64.b64decode(branch['signature']), branch['head'].encode()): raise ValueError('a head is not signed by that key')
        leaf, path = leaf_of(header, digest), [bytes.fromhex(step) for step in branch['proof']]
        if size < seq or not leads(lambda path: audited(leaf, seq - 1, size, path), path, root): raise ValueError('a path does not lead to its head')
        leaves.add(leaf)
    if len(leaves) != 2: raise ValueError('both branches have the same event')
    return origin, seq

# ---- The store (§1, §3) -------------------------------------------------------------------------------------------------------
TABLES = {'meta', 'name', 'origin', 'event', 'node', 'head', 'reach'}
def opened(path):
    """A connection that reads only. A log without WAL is not touched at all, nor are its neighbours."""
    if not os.path.isfile(path): raise OSError(f'no log at {path}')
    still = not os.path.exists(path + '-wal') or os.path.getsize(path + '-wal') == 0
    name = 'file:' + path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')
    log = sqlite3.connect(name + ('?immutable=1' if still else '?mode=ro'), uri=True, isolation_level=None)
    log.text_factory = bytes
    for command in ('PRAGMA trusted_schema=OFF', 'PRAGMA cell_size_check=ON', 'PRAGMA query_only=ON', 'BEGIN'): log.execute(command)
    return log
class Verifier:
    def __init__(self, path, evidence):
        self.more, self.folder = evidence, path if os.path.isdir(path) else os.path.dirname(path) or '.'
        files = [file for name in ('mark.json', 'evidence/*.json') for file in sorted(glob.glob(os.path.join(glob.escape(self.folder), name))) if os.path.isfile(file)]
        self.files = [(file, open(file, encoding='utf-8').read()) for file in files + [evidence] * bool(evidence)]  # first: a running node goes on
        self.log = opened(os.path.join(path, 'log.db') if os.path.isdir(path) else path)
        self.findings, self.notes, self.open, self.events, self.left, self.erased, self.erasures, self.known = [], [], 0, 0, 0, [], {}, {}
        self.names, self.origins, self.trees, self.good, self.seqs, self.keys, self.forks = {}, {}, {}, {}, {}, {}, {}
    def finds(self, check, what, position=None): self.findings.append((check, position, what))
    def label(self, ref): return str(uuid.UUID(bytes=self.origins[ref][0])) if ref in self.origins else f'origin {ref}'
    def run(self):
        if self.database():
            for part in (self.names_and_origins, self.beside, self.every_event, self.ends, self.twins): part()
    def database(self):
        """§3: SQLite 3 with our application_id, a version this page describes, tables (not views) of the right names."""
        kind, version = (self.log.execute('PRAGMA ' + name).fetchone()[0] for name in ('application_id', 'user_version'))
        if kind != 0x53696C6C or version not in (1, 2): return self.finds('database', 'no Sillok log of a known version')
        missing = TABLES - {name.decode() for (name,) in self.log.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if missing: return self.finds('database', 'no table ' + ', '.join(sorted(missing)))
        for (code,) in self.log.execute("SELECT type || ' ' || name FROM sqlite_master WHERE type IN ('trigger', 'view')"): self.finds('database', f'{code.decode("utf-8", "replace")} does not belong here')
        for (line,) in self.log.execute('PRAGMA integrity_check(20)'): line == b'ok' or self.finds('database', line.decode('utf-8', 'replace'))
        return True
    def names_and_origins(self):
        self.names = dict(self.log.execute('SELECT ref, text FROM name NOT INDEXED'))
        for ref, origin, node, key in self.log.execute('SELECT ref, id, node, key FROM origin NOT INDEXED ORDER BY ref'):
            if ref != len(self.origins) + 1: self.finds('origins', f'origin refs have a gap before {ref}')
            if node_of(key) != node: self.finds('origins', f'{uuid.UUID(bytes=origin)}: its key is not its node\'s')
            self.origins[ref], self.trees[ref], self.keys[origin] = (origin, node, key), Tree(), key
            self.good[ref] = self.seqs[ref] = 0
        self.heads = {tuple(row[:2]): row[2:] for row in self.log.execute('SELECT origin, size, root, hlc, signature FROM head NOT INDEXED')}
        self.reaches = {tuple(row[:2]): row[2:] for row in self.log.execute('SELECT origin, size, head, root, hlc, signature, proof FROM reach')}
        self.nodes = {tuple(row[:3]): row[3] for row in self.log.execute('SELECT origin, level, number, hash FROM node')}
    def beside(self):
        """§1: mark.json says where the node left its log; evidence/ has proofs of forks, and what was found of a log that had been cut."""
        meta = dict(self.log.execute('SELECT key, value FROM meta'))
        for file, text in self.files:
            try:
                name, read = os.path.basename(file), json.loads(text)
                if name == 'mark.json':
                    lines = [read[part] for part in 'node incarnation state position origin size root hlc boot durability settings'.split()]
                    origin, lines = uuid.UUID(read['origin']).bytes, '\n'.join(['sillok mark v1', *lines, ''])
                    settings = sha(b'\0'.join(meta.get(key, b'') for key in (b'name', b'cluster', b'witness')))
                    if settings.hex() != read['settings']: raise ValueError('meta has another name, cluster or witness')
                    if origin in self.keys and not signed(self.keys[origin], base64.b64decode(read['signature']), lines.encode()): raise ValueError('not signed by the node')
                    self.expects(name, origin, int(read['size']), base64.b64decode(read['root']))
                    self.left = int(read['position'])
                elif name.startswith('witness-') or name.startswith('cut-') and 'settled' in read:
                    self.notes.append(f'{name}: {"settled: " * ("settled" in read)}{read["text"]}')
                    self.open += 'settled' not in read
                elif name.startswith('cut-'): self.expects(name, *parsed(read['known'])) if 'known' in read else self.finds('cut', f'{name}: {read["text"]}')
                elif name.startswith('fork-') or file == self.more:
                    origin, seq = fork(read, self.keys)
                    self.forks[origin] = seq
                    self.notes.append(f'{name}: the key of {uuid.UUID(bytes=origin)} has signed two histories from seq {seq} on')
            except (ValueError, KeyError, TypeError) as error: self.finds('beside', f'{name}: {type(error).__name__} {error}')
    def expects(self, name, origin, size, root):
        ref = next((ref for ref, (id, _, _) in self.origins.items() if id == origin), 0)
        if size: self.known.setdefault((ref, size), []).append((name, root))
    def every_event(self):
        for values in self.log.execute(f'SELECT {", ".join(Row._fields)} FROM event NOT INDEXED ORDER BY position'):
            row, self.events = Row(*values), self.events + 1
            if row.position != self.events: self.finds('positions', f'position {self.events} is missing', self.events)
            self.events = row.position
            try: self.event(row)
            except (KeyError, TypeError, ValueError, OverflowError, AttributeError, IndexError) as error:
                self.finds('events', f'its row cannot be read: {type(error).__name__} {error}', row.position)
    def event(self, row):
        """§2, §3: seqs without gaps, header, digest, leaf, tree, dependencies, the origin's first event, what heads say of it."""
        (origin, node, key), tree, at, type, user = self.origins[row.origin], self.trees[row.origin], row.position, self.names[row.type], self.names[row.user]
        if row.seq != self.seqs[row.origin] + 1: self.finds('order', f'seq {row.seq} follows {self.seqs[row.origin]}', at)
        self.seqs[row.origin] = row.seq
        if (row.digest is None) == (row.salt is None or row.payload is None): self.finds('events', 'neither whole nor erased', at)
        digest, header = row.digest if row.digest is not None else sha(row.salt, row.payload), header_of(row, self.names, self.origins)
        if type == b'' and dot_of(header) != (origin, row.seq): self.finds('events', 'its header is of another event', at)
        leaf, conversation = leaf_of(header, digest), self.names.get(row.conversation)
        if int.from_bytes(leaf[:4], 'big', signed=True) != row.leaf: self.finds('events', 'it has not the hash it was stored with', at)
        if row.digest is not None: self.erased.append((at, row.hlc, (node, b'user.erased', user), (node, b'conversation.erased', conversation)))
        elif type in (b'user.erased', b'conversation.erased'):  # §2, Erasure: what may be without payload
            whose = json.loads(row.payload).get(type.decode()[:-7])
            whose = whose.encode() if whose else user if type == b'user.erased' else conversation
            self.erasures[node, type, whose] = max(row.hlc, self.erasures.get((node, type, whose), 0))
        dependencies = pairs(row.dependencies)
        if [self.origins[d][0] for d, _ in dependencies] != sorted({self.origins[d][0] for d, _ in dependencies} - {origin}):
            self.finds('order', 'its dependencies do not ascend by origin', at)
        for other, seq in dependencies:
            if self.seqs[other] < seq and self.origins[other][0] not in self.forks:
                self.finds('order', f'it stands before {self.label(other)}/{seq}, which it depends on', at)
        if row.seq == 1:  # §2, "The first event of an origin" binds it to the key
            body, id = json.loads(row.payload or '{}'), node.hex()
            if (type, user, body.get('node'), body.get('key')) != (b'origin.started', b'node/' + id.encode(), id, base64.b64encode(key).decode()):
                self.finds('origins', 'the first event does not bind its origin to that key', at)
        for level, number, root in tree.add(leaf):  # §3, node: subtrees of 2^8, 2^16, … leaves
            if level % 8 == 0 and self.nodes.pop((row.origin, level, number), None) != root:
                self.finds('tree', f'the row of level {level} number {number} is not of these events', at)
        for name, root in self.known.pop((row.origin, row.seq), ()):
            if root != tree.root(): self.finds('heads', f'{name} knows another history of these {row.seq} events', at)
        if head := self.heads.pop((row.origin, row.seq), None):
            root, hlc, signature = head
            if root != tree.root() or hlc != row.hlc and type != b'':
                self.finds('heads', f'the head of {row.seq} events is not of these: look from seq {self.good[row.origin] + 1} on', at)
            elif not signed(key, signature, head_text(origin, row.seq, root, hlc)):
                self.finds('heads', f'the head of {row.seq} events is not signed by the origin\'s key', at)
            else: self.good[row.origin] = row.seq
        if reach := self.reaches.pop((row.origin, row.seq), None):  # §3, reach: a later head that goes on from here
            size, root, hlc, signature, proof = reach
            path, now = [proof[start:start + 32] for start in range(0, len(proof), 32)], tree.root()
            if size < tree.size or not leads(lambda path: grown(tree.size, size, now, path), path, (now, root)):
                self.finds('heads', 'the proof in reach does not lead from these events to its head', at)
            elif not signed(key, signature, head_text(origin, size, root, hlc)): self.finds('heads', 'the head in reach is not signed by the origin\'s key', at)
            else: self.good[row.origin] = row.seq
    def ends(self):
        """What is left over speaks of events that are not here; what has no payload must have been erased by somebody."""
        for table, rows in (('head', self.heads), ('node', self.nodes), ('reach', self.reaches), ('known', self.known)):
            for row in sorted(rows)[:9]: self.finds('cut', f'{self.label(row[0])}: {table} {row[1:]} is of events the log does not have')
        if self.events < self.left: self.finds('cut', f'the log ends at position {self.events}, and the node left it at {self.left}')
        for at, hlc, *ways in self.erased:
            if not any(hlc < self.erasures.get(way, 0) for way in ways): self.finds('erased', 'no erasure covers it', at)
    def twins(self):
        """§3, twin: the position of the first event here with the same id, and NULL for that one."""
        firsts = {}
        for position, id, twin in self.log.execute(
                'SELECT position, id, twin FROM event NOT INDEXED WHERE twin IS NOT NULL OR id IN '
                '(SELECT id FROM event NOT INDEXED GROUP BY id HAVING count(*) > 1) ORDER BY position'):
            if twin != firsts.get(id): self.finds('twins', 'wrongly marked as a twin, or wrongly not', position)
            firsts.setdefault(id, position)

# ---- The answer ---------------------------------------------------------------------------------------------------------------
def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.error = lambda what: sys.exit(print(f'verify: {what}', file=sys.stderr) or 64)
    options.add_argument('store')
    options.add_argument('--evidence', metavar='FILE', help='a proof of a fork of one of its origins')
    options.add_argument('--json', action='store_true')
    store = Verifier((asked := options.parse_args()).store, asked.evidence)
    store.run()
    findings = sorted(store.findings, key=lambda finding: (finding[1] is None, finding[1]))
    uncovered = sum(tree.size - store.good[ref] for ref, tree in store.trees.items())
    code, word = (3, 'contradicted') if findings else (2, 'not all covered') if uncovered or store.open else (0, 'proven')
    report = {'answer': word, 'events': store.events, 'erased': len(store.erased), 'uncovered': uncovered, 'notes': store.notes,
              'findings': [dict(zip(('check', 'position', 'what'), finding)) for finding in findings],
              'origins': [{'origin': store.label(ref), 'node': store.origins[ref][1].hex(), 'events': tree.size, 'proven': store.good[ref],
                           'root': tree.root().hex()} for ref, tree in store.trees.items()]}
    if asked.json: print(json.dumps(report, ensure_ascii=False)); return code
    for origin in report['origins']:
        print('origin {origin}  node {node:.12}  {events} events, proven to {proven}  root {root:.16}'.format(**origin))
    for note in store.notes: print('note       ' + note)
    for check, position, what in findings[:100]: print(f'{check:<10} ' + (f'position {position}: ' if position else '') + what)
    print(f'{word.upper()}  {store.events} events, {len(store.erased)} erased, {uncovered} that no signed head covers')
    return code

if __name__ == '__main__':
    try: sys.exit(main())
    except (OSError, sqlite3.OperationalError) as error: print(f'verify: {error}', file=sys.stderr); sys.exit(66)
    except sqlite3.DatabaseError as error: print(f'CONTRADICTED  the file is no sound database: {error}'); sys.exit(3)
