#!/usr/bin/env python3
"""Proves a Sillok store from its files, without any of Sillok's code. Written from docs/FORMATS.md; § means a section there.

    Scripts/verify.py STORE                       a store's folder, or a log.db
    Scripts/verify.py STORE --evidence FILE       a proof of a fork as well; --key BASE64 if the store does not have its origin

Needs Python 3.9 and one package, `cryptography` (Debian: python3-cryptography), for Ed25519. Reads only.
Exit code: 0 proven, 2 not all covered by signatures, 3 contradicted, 66 cannot be read.
Proven means: every event is, byte for byte, one its origin's key has signed, in the order it has signed. What nobody can
see in one store: a newest part that was cut off together with its heads. Compare the roots with those of a peer.
"""
import argparse, base64, hashlib, json, os, re, sqlite3, sys, uuid
from collections import namedtuple
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# ---- Ed25519 (§2, "A signature is valid"): RFC 8032 without the cofactor, and no key or R of a small order ------------------
PRIME = 2**255 - 19
SMALL = {0, 1, PRIME - 1, 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
         PRIME - 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7}
def usable(point):
    y = int.from_bytes(point, 'little') & (2**255 - 1)
    return len(point) == 32 and y < PRIME and y not in SMALL
def signed(key, signature, text):
    if len(signature) != 64 or not usable(key) or not usable(signature[:32]): return False
    try: Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except (InvalidSignature, ValueError): return False
    return True

# ---- Hashes and trees (§2): RFC 6962 -----------------------------------------------------------------------------------------
def sha(*parts): return hashlib.sha256(b''.join(parts)).digest()
def join(left, right): return sha(b'\x01', left, right)
def leaf_of(header, digest): return sha(b'\x00', header, digest)

class Tree:
    """Grows leaf by leaf; keeps the roots of its perfect subtrees, the largest first."""
    def __init__(self): self.size, self.stack = 0, []
    def add(self, leaf):
        """Returns the perfect subtrees this leaf completes: (level, number from 0, root)."""
        self.size, level, done = self.size + 1, 0, []
        self.stack.append(leaf)
        while not self.size >> level & 1:
            right = self.stack.pop()
            self.stack[-1] = join(self.stack[-1], right)
            level += 1
            done.append((level, (self.size >> level) - 1, self.stack[-1]))
        return done
    def root(self):
        root = self.stack[-1] if self.stack else sha()
        for left in reversed(self.stack[:-1]): root = join(left, root)
        return root

def half(size): return 1 << (size - 1).bit_length() - 1
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

# ---- Headers, heads, ids (§2 and EventHeader of sync.proto) --------------------------------------------------------------------
def varint(number):
    out = b''
    while number > 127: out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])
def number(data, at):
    """The varint at `at`, and where it ends."""
    value = shift = 0
    while True:
        value, shift, at = value | (data[at] & 127) << shift, shift + 7, at + 1
        if data[at - 1] < 128: return value, at
def field(number, body): return varint(number << 3 | 2) + varint(len(body)) + body
def dot_of(header):
    """(origin, seq) of a header as it came: of each the last one that has the right form; None if there is none."""
    at, origin, seq = 0, None, None
    try:
        while at < len(header):
            tag, at = number(header, at)
            if tag & 7 == 0:
                value, at = number(header, at)
                if tag == 2 << 3 and value: seq = value
            else:
                length, at = (8 if tag & 7 == 1 else 4, at) if tag & 7 != 2 else number(header, at)
                if tag == 1 << 3 | 2 and length == 16: origin = header[at:at + 16]
                at += length
    except IndexError: return None
    return (origin, seq) if origin and seq and at == len(header) else None

Row = namedtuple('Row', 'position user conversation time hlc origin seq type author id cause dependencies version unknown twin '
                        'leaf salt digest payload')
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
def pairs(blob):
    """The dependencies of a row: ref of an origin, seq."""
    at, numbers = 0, []
    while at < len(blob or b''):
        value, at = number(blob, at)
        numbers.append(value)
    return list(zip(numbers[::2], numbers[1::2]))
def head_text(origin, size, root, hlc):
    stamp = f'{hlc & 2**64 - 1:016x}'
    return f'sillok/{uuid.UUID(bytes=origin)}\n{size}\n{base64.b64encode(root).decode()}\nhlc {stamp[:12]}-{stamp[12:]}\n'.encode()
def node_of(key): return sha(bytes.fromhex('302a300506032b6570032100'), key)  # §1: over the DER SubjectPublicKeyInfo

# ---- Evidence of a fork (§1, §2) ----------------------------------------------------------------------------------------------
def fork(text, keys):
    """`keys`: one key, or those of the origins. (origin, seq) if the proof holds; raises ValueError with the reason if not."""
    proof = json.loads(text)
    origin, seq, leaves = uuid.UUID(proof['origin']).bytes, int(proof['seq']), set()
    key = keys if isinstance(keys, bytes) else keys.get(origin)
    if key is None: raise ValueError('the key of its origin is not known (--key)')
    if proof['kind'] != 'fork' or len(proof['branches']) != 2: raise ValueError('not two branches of a fork')
    for branch in proof['branches']:
        head = re.fullmatch(r'sillok/(\S{36})\n([1-9]\d*)\n(\S{44})\nhlc [0-9a-f]{12}-[0-9a-f]{4}\n', branch['head'])
        header, digest = base64.b64decode(branch['header'], validate=True), bytes.fromhex(branch['payload_digest'])
        if not head or head[1] != str(uuid.UUID(bytes=origin)): raise ValueError('a head is not of that origin')
        if not signed(key, base64.b64decode(branch['signature']), branch['head'].encode()): raise ValueError('a head is not signed by that key')
        if dot_of(header) != (origin, seq): raise ValueError('a header is not of that event')
        leaf, path, size = leaf_of(header, digest), [bytes.fromhex(step) for step in branch['proof']], int(head[2])
        if size < seq or not leads(lambda path: audited(leaf, seq - 1, size, path), path, base64.b64decode(head[3])):
            raise ValueError('an audit path does not lead to its head')
        leaves.add(leaf)
    if len(leaves) != 2: raise ValueError('both branches have the same event')
    return origin, seq

# ---- The store (§3) -----------------------------------------------------------------------------------------------------------
TABLES = {'meta', 'name', 'origin', 'event', 'node', 'head', 'reach'}

def opened(path):
    """A connection that reads only. A log without WAL is not touched at all, nor are its neighbours."""
    if not os.path.isfile(path): raise OSError(f'no log at {path}')
    still = not os.path.exists(path + '-wal') or os.path.getsize(path + '-wal') == 0
    name = 'file:' + path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')
    log = sqlite3.connect(name + ('?immutable=1' if still else '?mode=ro'), uri=True, isolation_level=None)
    log.text_factory = bytes
    for pragma in ('trusted_schema=OFF', 'cell_size_check=ON', 'query_only=ON'): log.execute('PRAGMA ' + pragma)
    log.execute('BEGIN')
    return log

class Verifier:
    def __init__(self, path):
        self.folder = path if os.path.isdir(path) else os.path.dirname(path) or '.'
        self.log = opened(os.path.join(path, 'log.db') if os.path.isdir(path) else path)
        self.findings, self.notes, self.short, self.events, self.erased = [], [], False, 0, 0
        self.names, self.origins, self.trees, self.good, self.seqs, self.keys, self.forks = {}, {}, {}, {}, {}, {}, {}
    def finds(self, check, what, position=None): self.findings.append((check, position, what))
    def label(self, ref): return str(uuid.UUID(bytes=self.origins[ref][0])) if ref in self.origins else f'origin {ref}'
    def run(self):
        if self.database():
            for part in (self.names_and_origins, self.evidence, self.every_event, self.ends, self.twins): part()
    def database(self):
        """§3: SQLite 3 with our application_id, a version this page describes, tables (not views) of the right names."""
        log = self.log
        kind, self.version = (log.execute('PRAGMA ' + name).fetchone()[0] for name in ('application_id', 'user_version'))
        if kind != 0x53696C6C or self.version not in (1, 2): return self.finds('database', 'no Sillok log of a known version')
        tables = {name.decode() for (name,) in log.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if TABLES - tables: return self.finds('database', 'no table ' + ', '.join(sorted(TABLES - tables)))
        for (line,) in log.execute('PRAGMA integrity_check(20)'):
            if line != b'ok': self.finds('database', line.decode('utf-8', 'replace'))
        return True
    def names_and_origins(self):
        self.names = dict(self.log.execute('SELECT ref, text FROM name NOT INDEXED'))
        for ref, origin, node, key in self.log.execute('SELECT ref, id, node, key FROM origin NOT INDEXED ORDER BY ref'):
            if ref != len(self.origins) + 1: self.finds('origins', f'origin refs have a gap before {ref}')
            if node_of(key) != node: self.finds('origins', f'{uuid.UUID(bytes=origin)}: its key is not its node\'s')
            self.origins[ref], self.trees[ref], self.keys[origin] = (origin, node, key), Tree(), key
            self.good[ref] = self.seqs[ref] = 0
        self.heads, self.reaches, self.nodes = {}, {}, {}
        for origin, size, *head in self.log.execute('SELECT origin, size, root, hlc, signature FROM head'):
            self.heads.setdefault((origin, size), []).append(head)
        for origin, size, *reach in self.log.execute('SELECT origin, size, head, root, hlc, signature, proof FROM reach'):
            self.reaches.setdefault((origin, size), []).append(reach)
        for *place, root in self.log.execute('SELECT origin, level, number, hash FROM node'): self.nodes[tuple(place)] = root
    def evidence(self):
        """§1: each proof in evidence/ must hold. With it an event may depend on the other branch."""
        folder = os.path.join(self.folder, 'evidence')
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            with open(os.path.join(folder, name), encoding='utf-8') as text: holds, what = self.proof(text.read())
            self.notes.append(f'{name}: {what}') if holds else self.finds('evidence', f'{name}: {what}')
    def proof(self, text, key=None):
        try:
            origin, seq = fork(text, base64.b64decode(key) if key else self.keys)
            self.forks[origin] = seq
            return True, f'the key of {uuid.UUID(bytes=origin)} has signed two histories from seq {seq} on'
        except (ValueError, KeyError, TypeError) as error: return False, str(error)
    def every_event(self):
        """§2, §3: positions and seqs without gaps, header, digest, leaf, tree, dependencies, the origin's first event."""
        for values in self.log.execute(f'SELECT {", ".join(Row._fields)} FROM event NOT INDEXED ORDER BY position'):
            row, self.events = Row(*values), self.events + 1
            if row.position != self.events: self.finds('positions', f'position {self.events} is missing', self.events)
            self.events = row.position
            try: self.event(row)
            except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
                self.finds('events', f'its row cannot be read: {type(error).__name__} {error}', row.position)
    def event(self, row):
        origin, node, key = self.origins[row.origin]
        tree, at = self.trees[row.origin], row.position
        if row.seq != self.seqs[row.origin] + 1: self.finds('order', f'seq {row.seq} follows {self.seqs[row.origin]}', at)
        self.seqs[row.origin] = row.seq
        if (row.digest is None) == (row.salt is None or row.payload is None): self.finds('events', 'neither whole nor erased', at)
        digest = row.digest if row.digest is not None else sha(row.salt, row.payload)
        self.erased += row.digest is not None
        header, opaque = header_of(row, self.names, self.origins), self.names[row.type] == b''
        if opaque and dot_of(header) != (origin, row.seq): self.finds('events', 'its header is of another event', at)
        leaf = leaf_of(header, digest)
        if int.from_bytes(leaf[:4], 'big', signed=True) != row.leaf: self.finds('events', 'it has not the hash it was stored with', at)
        dependencies = pairs(row.dependencies)
        if [self.origins[d][0] for d, _ in dependencies] != sorted({self.origins[d][0] for d, _ in dependencies} - {origin}):
            self.finds('order', 'its dependencies do not ascend by origin', at)
        for other, seq in dependencies:
            if self.trees[other].size < seq and self.origins[other][0] not in self.forks:
                self.finds('order', f'it stands before {uuid.UUID(bytes=self.origins[other][0])}/{seq}, which it depends on', at)
        if row.seq == 1:  # §2, "The first event of an origin" binds it to the key
            try: body = json.loads(row.payload)
            except (TypeError, ValueError): body = {}
            bound = (self.names[row.type], self.names[row.user], body.get('node'), body.get('key'))
            if bound != (b'origin.started', b'node/' + node.hex().encode(), node.hex(), base64.b64encode(key).decode()):
                self.finds('origins', 'the first event does not bind its origin to that key', at)
        for level, number, root in tree.add(leaf):  # §3, node: subtrees of 2^8, 2^16, … leaves
            if level % 8 == 0 and self.nodes.pop((row.origin, level, number), None) != root:
                self.finds('tree', f'the row of level {level} number {number} is not of these events', at)
        for root, hlc, signature in self.heads.pop((row.origin, row.seq), ()):
            if root != tree.root() or hlc != row.hlc and not opaque:
                self.finds('heads', f'the head of {row.seq} events is not of these: look from seq {self.good[row.origin] + 1} on', at)
            elif not signed(key, signature, head_text(origin, row.seq, root, hlc)):
                self.finds('heads', f'the head of {row.seq} events is not signed by the origin\'s key', at)
            else: self.good[row.origin] = row.seq
        for size, root, hlc, signature, proof in self.reaches.pop((row.origin, row.seq), ()):  # §3, reach: a later head that goes on from here
            path, now = [proof[start:start + 32] for start in range(0, len(proof), 32)], tree.root()
            if size < tree.size or not leads(lambda path: grown(tree.size, size, now, path), path, (now, root)):
                self.finds('heads', 'the proof in reach does not lead from these events to its head', at)
            elif not signed(key, signature, head_text(origin, size, root, hlc)):
                self.finds('heads', 'the head in reach is not signed by the origin\'s key', at)
            else: self.good[row.origin] = row.seq
    def ends(self):
        """What is left over speaks of events that are not here."""
        for table, check, rows in (('head', 'heads', self.heads), ('node', 'tree', self.nodes), ('reach', 'heads', self.reaches)):
            for row in sorted(rows)[:9]: self.finds(check, f'{self.label(row[0])}: {table} {row[1:]} is of events the log does not have')
    def twins(self):
        """§3, twin: the position of the first event here with the same id, and NULL for that one."""
        firsts = {}
        for position, id, twin in self.log.execute(
                'SELECT position, id, twin FROM event NOT INDEXED WHERE twin IS NOT NULL OR id IN '
                '(SELECT id FROM event NOT INDEXED GROUP BY id HAVING count(*) > 1) ORDER BY position'):
            if twin != firsts.get(id): self.finds('twins', 'it is marked as a twin where it is none, or not where it is', position)
            firsts.setdefault(id, position)

# ---- The answer ---------------------------------------------------------------------------------------------------------------
def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('store')
    options.add_argument('--evidence', metavar='FILE', action='append', default=[], help='a proof of a fork to check as well')
    options.add_argument('--key', metavar='BASE64', help='the public key of its origin, where the store does not have it')
    options.add_argument('--json', action='store_true')
    asked = options.parse_args()
    store, proofs = Verifier(asked.store), []
    store.run()
    for file in asked.evidence:
        with open(file, encoding='utf-8') as text: proofs.append((file, *store.proof(text.read(), asked.key)))
    findings = sorted(store.findings, key=lambda finding: (finding[1] is None, finding[1]))
    uncovered = sum(tree.size - store.good[ref] for ref, tree in store.trees.items())
    code = 3 if findings or not all(holds for _, holds, _ in proofs) else 2 if uncovered or store.short else 0
    word = {0: 'proven', 2: 'not all covered', 3: 'contradicted'}[code]
    report = {'answer': word, 'events': store.events, 'erased': store.erased, 'uncovered': uncovered, 'notes': store.notes, 'evidence': proofs,
              'findings': [dict(zip(('check', 'position', 'what'), finding)) for finding in findings],
              'origins': [{'origin': store.label(ref), 'node': store.origins[ref][1].hex(), 'events': tree.size, 'proven': store.good[ref],
                           'root': tree.root().hex()} for ref, tree in store.trees.items()]}
    if asked.json: print(json.dumps(report, ensure_ascii=False)); return code
    for origin in report['origins']:
        print('origin {origin}  node {node:.12}  {events} events, proven to {proven}  root {root:.16}'.format(**origin))
    for note in store.notes: print('note       ' + note)
    for check, position, what in findings[:100]: print(f'{check:<10} ' + (f'position {position}: ' if position else '') + what)
    for file, holds, what in proofs: print(f'{file}: {"the proof holds: " if holds else "NO PROOF: "}{what}')
    print(f'{word.upper()}  {store.events} events, {store.erased} erased, {uncovered} that no signed head covers')
    return code

if __name__ == '__main__':
    try: sys.exit(main())
    except (OSError, sqlite3.OperationalError) as error: print(f'verify: {error}', file=sys.stderr); sys.exit(66)
    except sqlite3.DatabaseError as error: print(f'CONTRADICTED  the file is no sound database: {error}'); sys.exit(3)
