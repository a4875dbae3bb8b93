#!/usr/bin/env python3
"""Proves a Sillok store from its files, without any of Sillok's code. Written from FORMATS.md; § means a section there.

    Scripts/verify.py STORE [--json] [--evidence FILE]       a store's folder, or a log.db; a proof of a fork as well

Needs Python 3.9 and one package for Ed25519, `cryptography` (Debian: python3-cryptography). Reads only.
Exit code: 0 proven, 2 not all covered by signatures, 3 contradicted, 64 usage, 66 cannot be read.
Proven means: every event is, byte for byte, one its origin's key has signed, in the order it has signed. What nobody can
see in one store: a newest part that was cut off together with its heads and mark. Compare the roots with those of a peer."""
import argparse, base64, functools, glob, hashlib, json, os, re, sqlite3, sys, uuid
from collections import namedtuple
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
# ---- Ed25519 (§2, "A signature is valid"): RFC 8032 without the cofactor, and no key or R of a small order ------------------
PRIME, ORDER_8 = 2**255 - 19, 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
def usable(point): return len(point) == 32 and 1 < (y := int.from_bytes(point, 'little') & 2**255 - 1) < PRIME - 1 and y not in (ORDER_8, PRIME - ORDER_8)
def signed(key, signature, text):
    try: return len(signature) == 64 and usable(key) and usable(signature[:32]) and not Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except (InvalidSignature, ValueError): return False
# ---- Hashes and trees (§2): RFC 6962 -----------------------------------------------------------------------------------------
def sha(*parts): return hashlib.sha256(b''.join(parts)).digest()
def join(left, right): return sha(b'\x01', left, right)
def leaf_of(header, digest): return sha(b'\x00', header, digest)
def half(size): return 1 << (size - 1).bit_length() - 1
class Tree:  # Grows leaf by leaf; keeps the roots of its perfect subtrees, the largest first.
    def __init__(self): self.size, self.stack = 0, []
    def add(self, leaf):  # Returns the perfect subtrees this leaf completes: (level, number from 0, root).
        self.size, self.stack, level, done = self.size + 1, self.stack + [leaf], 0, []
        while not self.size >> level & 1:
            right, level = self.stack.pop(), level + 1
            self.stack[-1] = join(self.stack[-1], right)
            done.append((level, (self.size >> level) - 1, self.stack[-1]))
        return done
    def root(self): return functools.reduce(lambda root, left: join(left, root), reversed(self.stack)) if self.stack else sha()
def audited(leaf, index, size, path):  # The root an audit path (RFC 6962, 2.1.1) leads to; uses `path` up from its end.
    if size == 1: return leaf
    step, k = path.pop(), half(size)
    return join(audited(leaf, index, k, path), step) if index < k else join(step, audited(leaf, index - k, size - k, path))
def grown(first, second, root, path, whole=True):  # The roots of `first` and `second` leaves a consistency proof (RFC 6962, 2.1.2) leads to; as above.
    if first == second: return (root, root) if whole else (path.pop(),) * 2
    step, k = path.pop(), half(second)
    old, new = grown(first, k, root, path, whole) if first <= k else grown(first - k, second - k, root, path, False)
    return (old, join(new, step)) if first <= k else (join(step, old), join(step, new))
def leads(function, path, wanted):
    try: return function(path) == wanted and not path
    except IndexError: return False
# ---- Payloads (§2, Limits and Payload) -----------------------------------------------------------------------------------------
def members(data):
    """The members of a payload, or None: no JSON object, over 262,144 bytes, deeper than 64, or with a name twice. Numbers may be of any length."""
    depth, quoted = 0, False
    for mark in re.findall(rb'\\.|["\[\]{}]', data, re.S):
        quoted ^= mark == b'"'
        depth += 0 if quoted else (mark in b'[{') - (mark in b']}')
        if depth > 64 or len(data) > 262144: return None
    try: found = json.loads(data.decode(), object_pairs_hook=tuple, parse_int=float, parse_float=len, parse_constant=int)
    except ValueError: return None
    names = {re.sub('[\ud800-\udfff]', '\ufffd', name) for name, _ in found} if isinstance(found, tuple) else ()
    return dict(found) if isinstance(found, tuple) and len(names) == len(found) else None
def text(found, name, otherwise=None):  # A member that is a text, in UTF-8; `otherwise` where there is none, and None where it has another form.
    try: return None if found is None else found[name].encode() if name in found else otherwise
    except (AttributeError, ValueError): return None  # no string, or half of a surrogate pair in it
# ---- Headers and heads (§2, and EventHeader of sync.proto) ---------------------------------------------------------------------
def varint(number): return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)
VARINT = re.compile(rb'[\x80-\xff]{0,9}[\x00-\x7f]')
def number(data, at):  # The varint at `at`, and where it ends.
    if not (found := VARINT.match(data, at)): raise IndexError
    return sum((byte & 127) << 7 * place for place, byte in enumerate(found[0])), found.end()
def field(number, body): return varint(number << 3 | 2) + varint(len(body)) + body
def dot_of(header):  # (origin, seq) of a header as it came: of each the last one that has the right form, or None.
    at, origin, seq = 0, None, None
    try:
        while at < len(header):
            tag, at = number(header, at)
            if tag & 7 == 0:
                value, at = number(header, at)
                seq = value if tag == 2 << 3 and value else seq
            else:
                length, at = number(header, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
                if tag == 1 << 3 | 2 and length == 16 and at + 16 <= len(header): origin = header[at:at + 16]
                at += length
    except (IndexError, KeyError): pass  # an opaque header is read as far as it can be
    return origin, seq
Row = namedtuple('Row', 'position user conversation time hlc origin seq type author id cause dependencies version unknown twin leaf salt digest payload')
SOUND = re.compile(rb'ii[in][in]iiii[in]b[bn][bn][in][bn][in]i(bn[tb]|nbn)')
def kinds(columns): return ' || '.join(f'substr(typeof({name}), 1, 1)' for name in columns)  # integer, real, text, blob, null
def fault(row, found):  # What no writer stores (§3): a column of another kind or length, or a default where NULL stands.
    if not SOUND.fullmatch(found): return 'a column is of another kind'
    sizes = [None if value is None else len(value) for value in (row.id, row.cause, row.salt, row.dependencies, row.unknown, row.digest)]
    if set(sizes[:3]) - {16, None} or 0 in sizes or sizes[5] not in (32, None): return 'a column has another length'
    if row.time == row.hlc >> 16 or row.author == row.user or not 1 < (row.version or 2) < 2**32: return 'a column repeats what NULL stands for'
def pairs(blob):  # The dependencies of a row: ref of an origin, seq.
    numbers = [number(part, 0)[0] for part in VARINT.findall(blob or b'')]
    return list(zip(numbers[::2], numbers[1::2]))
def header_of(row, names, origins):  # The canonical header from the columns of §3. An opaque event has it whole in `unknown`.
    if names[row.type] == b'' and names[row.user] == b'': return row.unknown
    out = field(1, origins[row.origin][0]) + b'\x10' + varint(row.seq) + b'\x19' + row.hlc.to_bytes(8, 'little')
    if row.time is not None: out += b'\x20' + varint((row.time << 1 ^ row.time >> 63) & (2**64 - 1))
    for at, body in enumerate((row.id, names[row.type], names.get(row.conversation), names[row.user], names.get(row.author), row.cause), 5):
        if body is not None: out += field(at, body)
    for origin, seq in pairs(row.dependencies): out += field(11, field(1, origins[origin][0]) + b'\x10' + varint(seq))
    return out + (b'\x60' + varint(row.version) if row.version is not None else b'') + (row.unknown or b'')
def head_text(origin, size, root, hlc):
    return f'sillok/{uuid.UUID(bytes=origin)}\n{size}\n{base64.b64encode(root).decode()}\nhlc {hlc >> 16:012x}-{hlc & 65535:04x}\n'.encode()
def parsed(text):  # (origin, size, root) of a head's text.
    if not (head := re.fullmatch(r'sillok/(\S{36})\n([1-9]\d*)\n(\S{44})\nhlc [0-9a-f]{12}-[0-9a-f]{4}\n', text)): raise ValueError('not the text of a head')
    return uuid.UUID(head[1]).bytes, int(head[2]), base64.b64decode(head[3])
def node_of(key): return sha(bytes.fromhex('302a300506032b6570032100'), key)  # §1: over the DER SubjectPublicKeyInfo
# ---- Evidence of a fork (§1, §2) ----------------------------------------------------------------------------------------------
def fork(proof, keys):  # (origin, seq) if the proof holds; raises ValueError with the reason if not.
    origin, seq, leaves = uuid.UUID(proof['origin']).bytes, int(proof['seq']), set()
    if proof['kind'] != 'fork' or len(proof['branches']) != 2: raise ValueError('not two branches of a fork')
    for branch in proof['branches']:
        header, digest, (of, size, root) = base64.b64decode(branch['header'], validate=True), bytes.fromhex(branch['payload_digest']), parsed(branch['head'])
        if of != origin or dot_of(header) != (origin, seq): raise ValueError('a branch is not of that event')
        if not signed(keys[origin], base64.b64decode(branch['signature']), branch['head'].encode()): raise ValueError('a head is not signed by that key')
        leaf, path = leaf_of(header, digest), [bytes.fromhex(step) for step in branch['proof']]
        if size < seq or not leads(lambda path: audited(leaf, seq - 1, size, path), path, root): raise ValueError('a path does not lead to its head')
        leaves.add(leaf)
    if len(leaves) != 2: raise ValueError('both branches have the same event')
    return origin, seq
# ---- The store (§1, §3) -------------------------------------------------------------------------------------------------------
TABLES = {'meta': 'key value', 'name': 'ref text', 'origin': 'ref id node key', 'node': 'origin level number hash',
          'head': 'origin size root hlc signature', 'reach': 'origin size head root hlc signature proof', 'event': ' '.join(Row._fields)}
MARK = 'node incarnation state position origin size root hlc boot durability settings'
ODD = (KeyError, TypeError, ValueError, OverflowError, AttributeError, IndexError, RecursionError)
def opened(path):  # A connection that reads only. A log without WAL is not touched at all, nor are its neighbours.
    if not os.path.isfile(path): raise OSError(f'no log at {path}')
    still = '?mode=ro' if os.path.exists(path + '-wal') and os.path.getsize(path + '-wal') else '?immutable=1'
    log = sqlite3.connect('file:' + path.replace('%', '%25').replace('?', '%3f').replace('#', '%23') + still, uri=True, isolation_level=None)
    log.text_factory = bytes
    for command in ('PRAGMA trusted_schema=OFF', 'PRAGMA cell_size_check=ON', 'PRAGMA query_only=ON', 'BEGIN'): log.execute(command)
    return log
class Verifier:
    def __init__(self, path, evidence):
        self.folder, self.findings, self.notes, self.open, self.files = path if os.path.isdir(path) else os.path.dirname(path) or '.', [], [], 0, []
        names = [file for name in ('log.end', 'mark.json', 'evidence/*.json') for file in sorted(glob.glob(os.path.join(glob.escape(self.folder), name)))]
        for file in [name for name in names if os.path.isfile(name)] + [evidence] * bool(evidence):  # first: a running node goes on
            try: self.files.append((os.path.basename(file), file == evidence, open(file, 'rb').read()))
            except PermissionError: self.doubts(f'{file} must not be read: nothing can be compared with it')
        self.log = opened(os.path.join(path, 'log.db') if os.path.isdir(path) else path)
        self.events, self.left, self.own, self.marked, self.erased, self.reached = 0, 0, None, (0, 0), [], set()
        self.origins, self.trees, self.good, self.seqs, self.keys, self.forks, self.known, self.cuts, self.settled, self.erasures = ({} for _ in range(10))
    def finds(self, check, what, position=None): self.findings.append((check, position, what))
    def doubts(self, what): self.notes.append(what); self.open += 1
    def label(self, ref): return str(uuid.UUID(bytes=self.origins[ref][0])) if ref in self.origins else f'origin {ref}'
    def run(self):
        for part in (self.names_and_origins, self.beside, self.every_event, self.ends, self.twins) if self.database() else (): part()
    def database(self):  # §3: SQLite 3 with our application_id, a version this page describes, tables (not views) of the right names and columns.
        kind, version = (self.log.execute('PRAGMA ' + name).fetchone()[0] for name in ('application_id', 'user_version'))
        if kind != 0x53696C6C or version not in (1, 2): return self.finds('database', 'no Sillok log of a known version')
        have = {code.decode('utf-8', 'replace') for (code,) in self.log.execute("SELECT type || ' ' || name FROM sqlite_master")}
        missing = {'table ' + table for table in TABLES} - have
        if missing: return self.finds('database', 'no ' + ', '.join(sorted(missing)))
        for code in have:
            if code.startswith(('trigger ', 'view ')): self.finds('database', f'{code} does not belong here')
        if not {'index event_dot', 'index event_id', 'index event_twin'} <= have: self.finds('database', 'an index of table event is missing')
        for table, columns in TABLES.items():
            found = {name.decode() for (name,) in self.log.execute('SELECT name FROM pragma_table_xinfo(?)', (table,))}
            if found != set((columns + ' seal' * (table == 'event' and version == 2)).split()): return self.finds('database', f'table {table} has other columns')
        for (line,) in self.log.execute('PRAGMA integrity_check(20)'): line == b'ok' or self.finds('database', line.decode('utf-8', 'replace'))
        return version
    def rows(self, table, wanted):  # The rows of a table that are of these kinds; others are findings.
        for *row, found in self.log.execute(f'SELECT {TABLES[table].replace(" ", ", ")}, {kinds(TABLES[table].split())} FROM {table} ORDER BY 1'):
            if found == wanted: yield row
            else: self.finds(table, f'a row has a column of another kind: {row[0]}')
    def names_and_origins(self):
        self.names = dict(self.rows('name', b'it'))
        if len(set(self.names.values())) < len(self.names): self.finds('name', 'a text stands there twice')
        for ref, origin, node, key in self.rows('origin', b'ibbb'):
            if ref != len(self.origins) + 1: self.finds('origins', f'origin refs have a gap before {ref}')
            if node_of(key) != node or len(origin) != 16: self.finds('origins', f'{origin.hex()}: its key is not its node\'s')
            self.origins[ref], self.trees[ref], self.keys[origin] = (origin, node, key), Tree(), key
            self.good[ref] = self.seqs[ref] = 0
        self.heads, self.reaches = ({tuple(row[:2]): row[2:] for row in self.rows(*table)} for table in (('head', b'iibib'), ('reach', b'iiibibb')))
        self.nodes = {tuple(row[:3]): row[3] for row in self.rows('node', b'iiib')}
        self.meta = dict(self.log.execute('SELECT key, value FROM meta'))
        self.own = self.origins.get(self.meta.get(b'origin'), (0, 0))[1] or self.finds('origins', 'table meta does not name the store\'s own origin')
    def beside(self):  # §1: mark.json says where the node left its log; evidence/ has proofs of forks, and what was found of a log that had been cut.
        for name, is_more, data in self.files:
            try:
                read = {} if name == 'log.end' else json.loads(data)
                if name == 'mark.json': self.mark(read)
                elif re.fullmatch(r'(cut|witness)-[0-9a-f]{16}\.json', name):
                    self.cuts[name[:-5]] = {'text': str(read['text']), 'at': int(read['at']), 'position': int(read['position'])}
                    if 'known' in read: self.expects(name[:-5], *parsed(read['known']))
                elif name.startswith('fork-') or is_more:
                    origin, self.forks[origin] = fork(read, self.keys)
                    self.notes.append(f'{name}: the key of {uuid.UUID(bytes=origin)} has signed two histories from seq {self.forks[origin]} on')
            except ODD as error: self.finds('beside', f'{name}: {type(error).__name__} {error}')
        sealed = self.log.execute('PRAGMA user_version').fetchone()[0] > 1 and os.path.exists(os.path.join(self.folder, 'node.key'))
        if sealed and not self.marked[0]: self.doubts('no mark of this store says how far its log went')
    def mark(self, read):
        origin = uuid.UUID(read['origin']).bytes
        if origin not in self.keys or read['incarnation'].encode() != self.meta.get(b'incarnation'): return  # it is of another store
        if sha(b'\0'.join(self.meta.get(key, b'') for key in (b'name', b'cluster', b'witness'))).hex() != read['settings']: raise ValueError('meta has another name, cluster or witness')
        lines = '\n'.join(['sillok mark v1', *(read[part] for part in MARK.split()), '']).encode()
        if not signed(self.keys[origin], base64.b64decode(read['signature']), lines): raise ValueError('not signed by the node')
        end = dict((name, data) for name, _, data in self.files).get('log.end', b'')  # of 80 bytes; the node alone can check the seal in it
        is_end = end[:16].hex() == b'SilEnd1\n'.hex() + read['incarnation'] and sha(end[:64])[:16] == end[64:] and read['durability'] == 'full'
        self.left, self.marked = max(int(read['position']), int.from_bytes(end[16:24], 'big') * is_end), self.expects('mark.json', origin, int(read['size']), base64.b64decode(read['root']))
    def expects(self, name, origin, size, root):
        place = next((ref for ref, (id, _, _) in self.origins.items() if id == origin), 0), size
        self.known.setdefault(place, []).append((name, root))
        return place
    def every_event(self):
        for *values, found in self.log.execute(f'SELECT {", ".join(Row._fields)}, {kinds(Row._fields)} FROM event NOT INDEXED ORDER BY position'):
            (row, expected), self.events = (Row(*values), self.events + 1), values[0]
            if row.position != expected: self.finds('positions', f'position {expected} is missing', expected)
            try: self.event(row, found)
            except ODD as error: self.finds('events', f'its row cannot be read: {type(error).__name__} {error}', row.position)
    def event(self, row, found):  # §2, §3: seqs without gaps, header, digest, leaf, tree, dependencies, the origin's first event, what heads say of it.
        (origin, node, key), tree, at, type, user = self.origins[row.origin], self.trees[row.origin], row.position, self.names[row.type], self.names[row.user]
        before, self.seqs[row.origin] = self.seqs[row.origin], row.seq
        if row.seq != before + 1: self.finds('order', f'seq {row.seq} follows {before}', at)
        said = None if row.digest is not None else members(row.payload)
        if what := fault(row, found): self.finds('events', what, at)
        if row.digest is None and found.endswith(b'b') != (said is None) and self.meta.get(b'reads'): self.finds('events', 'its payload is wrongly marked as none, or not', at)
        digest, header = row.digest if row.digest is not None else sha(row.salt, row.payload), header_of(row, self.names, self.origins)
        if type == b'' and dot_of(header) != (origin, row.seq): self.finds('events', 'its header is of another event', at)
        leaf, conversation = leaf_of(header, digest), self.names.get(row.conversation)
        if int.from_bytes(leaf[:4], 'big', signed=True) != row.leaf: self.finds('events', 'it has not the hash it was stored with', at)
        if row.digest is not None: self.erased.append((at, row.hlc, (node, b'user.erased', user), (node, b'conversation.erased', conversation)))
        elif type in (b'user.erased', b'conversation.erased'):  # §2, Erasure: what may be without payload
            whose = text(said, type.decode()[:-7], user if type == b'user.erased' else conversation)
            if whose is not None: self.erasures[node, type, whose] = max(row.hlc, self.erasures.get((node, type, whose), 0))
        elif type == b'finding.settled' and node == self.own and user == b'node/' + node.hex().encode():  # §5: of a cut its own node's counts
            self.settled[text(said, 'code'), text(said, 'subject')] = row.hlc >> 16
        dependencies = pairs(row.dependencies)
        named = [self.origins[ref][0] for ref, _ in dependencies]
        if named != sorted(set(named) - {origin}): self.finds('order', 'its dependencies do not ascend by origin', at)
        for other, seq in dependencies:
            if self.seqs[other] < seq and self.origins[other][0] not in self.forks: self.finds('order', f'it stands before {self.label(other)}/{seq}', at)
        if row.seq == 1:  # §2, "The first event of an origin" binds it to the key
            id, name = node.hex().encode(), text(said, 'evidence')
            is_start = (type, user) == (b'origin.started', b'node/' + id) and (row.digest or (text(said, 'node'), text(said, 'key')) == (id, base64.b64encode(key)))
            if not is_start: self.finds('origins', 'the first event does not bind its origin to that key', at)
            if node == self.own and name: self.cuts.setdefault(name.decode(), {'at': row.hlc >> 16, 'of': (text(said, 'previous'), float(said['had']), float(said['known']))})
        for level, index, root in tree.add(leaf):  # §3, node: subtrees of 2^8, 2^16, … leaves
            if not level % 8 and self.nodes.pop((row.origin, level, index), 0) != root: self.finds('tree', f'row {level}/{index} is not of these events', at)
        for name, root in self.known.pop((row.origin, row.seq), ()):
            if root == tree.root(): self.reached.add(name)
            elif name == 'mark.json': self.finds('heads', f'{name} knows another history of these {row.seq} events', at)
        if head := self.heads.pop((row.origin, row.seq), None):
            root, hlc, signature = head
            what = f'the head of {row.seq} events is not'
            if root != tree.root() or hlc != row.hlc and type != b'': self.finds('heads', f'{what} of these: look from seq {self.good[row.origin] + 1} on', at)
            elif not signed(key, signature, head_text(origin, row.seq, root, hlc)): self.finds('heads', f'{what} signed by the origin\'s key', at)
            else: self.good[row.origin] = row.seq
        if reach := self.reaches.pop((row.origin, row.seq), None):  # §3, reach: a later head that goes on from here
            (size, root, hlc, signature, proof), now = reach, tree.root()
            path = [proof[start:start + 32] for start in range(0, len(proof), 32)]
            if not tree.size < size < 2**44 or not leads(lambda path: grown(tree.size, size, now, path), path, (now, root)):
                self.finds('heads', 'the proof in reach does not lead from these events to its head', at)
            elif not signed(key, signature, head_text(origin, size, root, hlc)): self.finds('heads', 'the head in reach is not signed by the origin\'s key', at)
            else: self.good[row.origin] = row.seq
    def ends(self):  # What is left over speaks of events that are not here; what has no payload must have been erased by somebody.
        for table, rows in (('head', self.heads), ('node', self.nodes), ('reach', self.reaches), ('mark.json', {self.marked} & set(self.known))):
            for row in sorted(rows)[:9]: self.finds('cut', f'{self.label(row[0])}: {table} {row[1:]} is of events the log does not have')
        if self.events < self.left: self.finds('cut', f'the log ends at position {self.events}, and the node left it at {self.left}')
        if self.good.get(self.marked[0], 0) < self.marked[1]: self.finds('heads', f'the head of {self.marked[1]} events, which mark.json knows, is missing')
        for name, cut in self.cuts.items(): self.cut(name, cut)
        for at, hlc, *ways in self.erased:
            if not any(hlc < self.erasures.get(way, 0) for way in ways): self.finds('erased', 'no erasure covers it', at)
    def cut(self, name, cut):  # §3, §5: what a start has found counts until what was lost is back, or the store's own node has settled it since.
        is_cut, what = not name.startswith('witness-'), f'{name}: {cut.get("text", "the log had been cut; what was found then, in evidence/, is missing")}'
        before, had, known = cut.get('of', (None, 0, 0))  # what an origin's start names, and evidence/ does not have
        again = {self.label(ref).encode() for ref, tree in self.trees.items() if had < known <= tree.size}
        back = before in again or name in self.reached and self.events >= cut.get('position', 0)
        if self.settled.get(((b'WITNESS_LOST', b'LOG_CUT')[is_cut], name.encode()), -1) >= cut['at']: self.notes.append(f'{name}.json: settled: {what}')
        elif not is_cut: self.doubts(what)
        elif not back: self.finds('cut', what)
    def twins(self):  # §3, twin: the position of the first event here with the same id, and NULL for that one.
        firsts = {}
        twice = 'SELECT id FROM event NOT INDEXED GROUP BY id HAVING count(*) > 1'
        for position, id, twin in self.log.execute(f'SELECT position, id, twin FROM event NOT INDEXED WHERE twin IS NOT NULL OR id IN ({twice}) ORDER BY 1'):
            if twin != firsts.get(id): self.finds('twins', 'wrongly marked as a twin, or wrongly not', position)
            firsts.setdefault(id, position)
def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.error = lambda what: sys.exit(print(f'verify: {what}', file=sys.stderr) or 64)
    options.add_argument('store'), options.add_argument('--json', action='store_true')
    options.add_argument('--evidence', metavar='FILE', help='a proof of a fork of one of its origins')
    (store := Verifier((asked := options.parse_args()).store, asked.evidence)).run()
    findings = sorted(store.findings, key=lambda finding: (finding[1] is None, finding[1]))
    uncovered = sum(tree.size - store.good[ref] for ref, tree in store.trees.items())
    code, word = (3, 'contradicted') if findings else (2, 'not all covered') if uncovered or store.open else (0, 'proven')
    origins = [{'origin': store.label(ref), 'node': store.origins[ref][1].hex(), 'events': tree.size, 'proven': store.good[ref], 'root': tree.root().hex()}
               for ref, tree in store.trees.items()]
    report = {'answer': word, 'events': store.events, 'erased': len(store.erased), 'uncovered': uncovered, 'notes': store.notes, 'origins': origins,
              'findings': [dict(zip(('check', 'position', 'what'), finding)) for finding in findings]}
    if asked.json: print(json.dumps(report)); return code
    for origin in origins: print('origin {origin}  node {node:.12}  {events} events, proven to {proven}  root {root:.16}'.format(**origin))
    for check, position, what in [('note', 0, note) for note in store.notes] + findings[:100]:
        print(f'{check:<10} ' + (f'position {position}: ' if position else '') + ''.join(mark if mark.isprintable() else '?' for mark in what))
    print(f'{word.upper()}  {store.events} events, {len(store.erased)} erased, {uncovered} that no signed head covers')
    return code
if __name__ == '__main__':
    try: sys.exit(main())
    except (OSError, sqlite3.OperationalError) as error: print(f'verify: {error}', file=sys.stderr); sys.exit(66)
    except sqlite3.DatabaseError as error: print(f'CONTRADICTED  the file is no sound database: {error}'); sys.exit(3)
