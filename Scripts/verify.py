#!/usr/bin/env python3
"""Proves a Sillok store from its files, without any of Sillok's code. Written from FORMATS.md; § means a section there.
    Scripts/verify.py STORE [--json] [--evidence FILE] [--since RECEIPT]  a store's folder, or a log.db; a proof of a fork as well; a receipt it goes on from
    Scripts/verify.py --proof FILE [--json]                               a proven answer or a receipt, with no store
Needs receipts.py beside it (for all that speaks of a log from outside of it), Python 3.9 and, for Ed25519, `cryptography` (Debian: python3-cryptography). Reads only. Exit code: 0 proven, 2 not all covered by signatures, or
not to be told, 3 contradicted, 64 usage, 66 cannot be read. Proven means: every event is, byte for byte, one its origin's key has signed, in the order
it has signed. What no one can see in one store: a newest part that was cut off together with its heads and mark. Compare the roots with a peer's."""
import argparse, base64, collections, cryptography.exceptions, datetime, functools, hashlib, importlib, json, os, re, sqlite3, sys, uuid
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
# ---- Ed25519 (§2, "A signature is valid"): RFC 8032 without the cofactor, and no key or R of a small order ------------------
PRIME, ORDER_8 = 2**255 - 19, 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
def usable(point): return len(point) == 32 and 1 < (y := int.from_bytes(point, 'little') & PRIME + 18) < PRIME - 1 and y not in (ORDER_8, PRIME - ORDER_8)
def signed(key, signature, text):
    try: return len(signature) == 64 and usable(key) and usable(signature[:32]) and not Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except (cryptography.exceptions.InvalidSignature, ValueError): return False
def sha(*parts): return hashlib.sha256(b''.join(parts)).digest()  # ---- Hashes and trees (§2): RFC 6962 -----------------------------------
leaf_of, join, half = lambda header, digest: sha(b'\x00', header, digest), lambda left, right: sha(b'\x01', left, right), lambda size: 1 << (size - 1).bit_length() - 1
class Tree:  # Grows leaf by leaf; keeps the roots of its perfect subtrees, the largest first.
    def __init__(self): self.size, self.stack, self.tile = 0, [], []
    def add(self, leaf):  # Returns the perfect subtrees this leaf completes: (level, number from 0, root).
        self.size, self.stack, done = self.size + 1, self.stack + [leaf], []
        for level in range(1, (self.size & -self.size).bit_length()):
            self.stack[-2:] = [join(*self.stack[-2:])]; done.append((level, (self.size >> level) - 1, self.stack[-1]))
        return done
    def root(self): return functools.reduce(lambda root, left: join(left, root), reversed(self.stack)) if self.stack else sha()
def grown(first, second, root, path, whole=True):  # Both roots a consistency proof (RFC 6962, 2.1.2) leads to; as above.
    if first == second: return (root, root) if whole else (path.pop(),) * 2
    step, k = path.pop(), half(second)
    old, new = grown(first, k, root, path, whole) if first <= k else grown(first - k, second - k, root, path, False)
    return (old, join(new, step)) if first <= k else (join(step, old), join(step, new))
def leads(function, path, wanted):
    try: return function(path) == wanted and not path
    except IndexError: return False
ODD = (KeyError, TypeError, ValueError, OverflowError, AttributeError, IndexError, RecursionError)  # What data of a wrong form raise.
def members(data):  # ---- JSON: payloads (§2, Limits and Payload) and files (§1) ----------------------------------------------------------------
    """The members of an object, or None: no JSON object, over 262,144 bytes, deeper than 64, or with a name twice. Numbers may be of any length."""
    depth, quoted = 0, False
    for mark in re.findall(rb'\\.|["\[\]{}]', data, re.S):
        quoted ^= mark == b'"'; depth += 0 if quoted else (mark in b'[{') - (mark in b']}')
        if depth > 64 or len(data) > 262144: return None
    try: return distinct(json.loads(data.decode(), object_pairs_hook=tuple, parse_int=lambda digits: (float if len(digits) > 19 else int)(digits), parse_constant=int))
    except ValueError: return None
def distinct(found):  # The members of an object as json.loads() has it above: a tuple of pairs.
    names = {re.sub('[\ud800-\udfff]', '\ufffd', name) for name, _ in found} if isinstance(found, tuple) else ()
    return dict(found) if isinstance(found, tuple) and len(names) == len(found) else None
def text(found, name, otherwise=None):  # A member that is a text, in UTF-8; `otherwise` where there is none, None where it has another form.
    try: return None if found is None else found[name].encode() if name in found else otherwise
    except (AttributeError, ValueError): return None  # no string, or half of a surrogate pair in it
def plain(text):  # Base64 in its one form.
    if base64.b64encode(data := base64.b64decode(text, validate=True)).decode() == text: return data
    raise ValueError('not base64 in its one form')
def counted(text, most=2**44 - 1): return isinstance(text, str) and bool(re.fullmatch('0|[1-9][0-9]{0,15}', text)) and int(text) <= most  # §1: a number in quotes
def varint(number): return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)  # ---- Headers (§2; sync.proto) ----
VARINT = re.compile(rb'[\x80-\xff]{0,9}[\x00-\x7f]')
def number(data, at):  # The varint at `at`, of at most 64 bits and in its shortest form, and where it ends.
    value = sum((byte & 127) << 7 * place for place, byte in enumerate(found[0])) if (found := VARINT.match(data, at)) else 1 << 64
    if value >> 64 or found[0] != varint(value): raise IndexError
    return value, found.end()
def field(number, body): return varint(number << 3 | 2) + varint(len(body)) + body
def fields(data, at=0):  # Of each field its tag, its number or length, and where its bytes begin and end.
    while at < len(data):
        tag, at = number(data, at)
        value, start = number(data, at) if tag > 7 and tag & 7 in (0, 2) else ({1: 8, 5: 4}[tag > 7 and tag & 7], at)
        yield tag, value, start, (at := start + (value if tag & 7 else 0))
def zigzag(value): return (value << 1 ^ value >> 63) & (2**64 - 1)
def place_of(header):
    """Origin, seq, hlc and dependencies of a header as it came, read as far as it can be: of each the last one that has the right form."""
    origin, seq, hlc, needs = None, 0, 0, []
    try:
        for tag, value, at, end in fields(header):
            if end > len(header): raise IndexError
            origin, seq, hlc = header[at:end] if tag == 1 << 3 | 2 and value == 16 else origin, value if tag == 2 << 3 else seq, int.from_bytes(header[at:end], 'little') if tag == 3 << 3 | 1 else hlc
            if tag >> 3 == 11: needs.append(needed(header[at:end] if tag & 7 == 2 else None))
    except (IndexError, KeyError, TypeError): needs = []  # a list that breaks off is none
    return origin, seq, hlc if hlc < 2**63 else 0, needs if [of for of, _ in needs] == sorted({of for of, _ in needs} - {origin}) else []
def dot_of(header): return place_of(header)[:2]
def too_long(header, payload): return len(header) > 65536 or len(payload or b'') > 917504  # §2: no node takes such an event, readable or not
def stand_in(origin, seq):  # The id of an opaque event (§3, `unknown`): a UUIDv8 made of its dot.
    return ((bits := int.from_bytes(origin, 'big') ^ seq) & ~(0xF << 76) & ~(3 << 62) | 8 << 76 | 2 << 62).to_bytes(16, 'big')
def needed(body):  # (origin, seq) of one of `deps`.
    said = {tag: body[at:end] if tag == 1 << 3 | 2 and value == 16 and end <= len(body) else value for tag, value, at, end in fields(body)}
    if said.keys() != {10, 16} or type(said[10]) is not bytes or not 0 < said[16] < 2**44: raise IndexError
    return said[10], said[16]
WIRES, IDS = {1: 2, 2: 0, 3: 1, 4: 0, 5: 2, 6: 2, 7: 2, 8: 2, 9: 2, 10: 2, 11: 2, 12: 0}, {6: 128, 7: 256, 8: 256, 9: 256}  # of fields their wire type; of texts their limit
ACTOR = re.compile(rb'(?:socket|file|node):[^\0-\x1f\x7f]{1,256}|(?:token|JWT|certificate):[^\0-\x1f\x7f]{1,256}:[^\0-\x1f\x7f:]{1,64}')
def is_text(data): return data.decode(errors='ignore').encode() == data
def actor_of(bodies): return bodies[0] if len(bodies) == 1 and ACTOR.fullmatch(bodies[0] or b'') and is_text(bodies[0]) else None
def unreadable(header):
    """What keeps a header from being read (§2: Limits, Numbers, Canonical header); None where it has the one form that a node writes."""
    found, many, before, done, ancillary = {}, [], 0, 0, len(header)
    try:
        for tag, value, at, end in fields(header):
            place, body = tag >> 3, header[at:end] if tag & 7 else value
            if end > len(header) or WIRES.get(place, tag & 7) != tag & 7 or not place: return f'field {place} has not its form'
            if place < before or place == before and place < 13 and place != 11: return f'field {place} is out of order'
            if place == 11: many.append(needed(body))
            if place == 11 and body != field(1, many[-1][0]) + b'\x10' + varint(many[-1][1]): return 'field 11 has not its form'
            found[place], before, done, ancillary = body, place, end, min(ancillary, done) if place >= 32 else ancillary
    except (IndexError, KeyError): return 'it is not the message it should be'
    own_hlc, time = int.from_bytes(found.get(3, b''), 'little'), found.get(4, 0) >> 1 ^ -(found.get(4, 0) & 1)
    wrong = [place for place, limit in IDS.items() if place in found and not (0 < len(found[place]) <= limit and re.fullmatch(rb'[^\0-\x1f\x7f]*', found[place]) and is_text(found[place]))]
    wrong += [place for place in (1, 5, 10) if len(found.get(place, bytes(16))) != 16] + [place for place in (1, 2, 5, 6, 8) if place not in found]
    wrong += [2] * (not 0 < found.get(2, 1) < 2**44) + [3] * (3 in found and not 0 < own_hlc < 2**63) + [12] * (not 1 < found.get(12, 2) < 2**32)
    wrong += [4] * (4 in found and (time == own_hlc >> 16 or not -62135596800000 <= time <= CLOCK)) + [9] * (found.get(9) == found.get(8) and 9 in found)
    wrong += [11] * (list(dict(many)) != sorted({origin for origin, _ in many} - {found.get(1)}) or len(dict(many)) != len(many))
    if wrong: return f'field {wrong[0]} is missing, is not left out where it must be, or breaks a limit'
    if len(header) > 65536 or len(header) - ancillary > 4096: return 'it is too long'
Row = collections.namedtuple('Row', 'position user conversation time hlc origin seq type author id cause dependencies version unknown twin leaf salt digest payload seal actor', defaults=[None, None])
KINDS = dict(zip(Row._fields, 'i i in in i i i i in x xn bxyn in bxyn in i xn yn tbexyn xn in'.split()))  # of each column what kind() says of it where it is sound
class Text(bytes): pass  # What SQLite has as text; a blob is bytes: of a kind of its own where there are 16, 32 or none.
def kind(value): return {0: 'e', 16: 'x', 32: 'y'}.get(len(value), 'b') if type(value) is bytes else {int: 'i', float: 'r', Text: 't'}.get(type(value), 'n')
def pairs(blob):  # Dependencies of a row (§3): ref of an origin and seq, as varints in their shortest form.
    found = [number(part, 0)[0] for part in VARINT.findall(blob or b'')]
    if b''.join(map(varint, found)) != (blob or b'') or len(found) % 2 or max(found, default=0) >> 64: raise ValueError('column dependencies has no pairs of varints')
    return list(zip(found[::2], found[1::2]))
def header_of(row, names, origins):  # The canonical header from the columns of §3. An opaque event has it whole in `unknown`.
    if names[row.type] == b'' and names[row.user] == b'': return row.unknown
    out = field(1, origins[row.origin][0]) + b'\x10' + varint(row.seq) + (b'\x19' + row.hlc.to_bytes(8, 'little') if row.hlc else b'')
    if row.time is not None: out += b'\x20' + varint(zigzag(row.time))
    for at, body in enumerate((row.id, names[row.type], names.get(row.conversation), names[row.user], names.get(row.author), row.cause), 5): out += b'' if body is None else field(at, body)
    for origin, seq in pairs(row.dependencies): out += field(11, field(1, origins[origin][0]) + b'\x10' + varint(seq))
    rest, actor = row.unknown or b'', names.get(row.actor)
    at = max((end for tag, *_, end in fields(rest if actor else b'') if tag < 32 << 3), default=0)  # field 32 stands behind those below it
    return out + (b'\x60' + varint(row.version) if row.version is not None else b'') + rest[:at] + (field(32, actor) if actor else b'') + rest[at:]
COPY, HEARD, HEAD = 'the witness of its original', 'table reach', 'sillok/{origin}\n{size}\n{root}\nhlc {hlc}\n'
def head_text(origin, size, root, hlc): return HEAD.format(origin=uuid.UUID(bytes=origin), size=size, root=base64.b64encode(root).decode(), hlc=f'{hlc >> 16:012x}-{hlc & 65535:04x}').encode()
def parsed(text):  # (origin, size, root) of a head's text.
    if not (head := re.fullmatch(r'sillok/([0-9a-f]{8}(?:-[0-9a-f]{4}){4}[0-9a-f]{8})\n(0|[1-9][0-9]*)\n([A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)\nhlc [0-9a-f]{12}-[0-9a-f]{4}\n', text)) or not counted(head[2]): raise ValueError('not the text of a head')
    return uuid.UUID(head[1]).bytes, int(head[2]), base64.b64decode(head[3])
def node_of(key): return sha(bytes.fromhex('302a300506032b6570032100'), key)  # §1: over the DER SubjectPublicKeyInfo
# ---- The store (§1, §3). DEFINED: of each statement of §3 the first 16 digits of SHA-256 over its table's name, a blank and it ------
DEFINED = {'table meta': '12f48f1de9c12437', 'table name': '21031a068642586d', 'table origin': 'e8f3c1edf2917aa7', 'table node': '6bd8fd25a4d8f62e',
           'table event': 'ac17444e8f7e0988 4cfd5e39d1919d15 f4af50de62d9f03b', 'table head': 'b27a3062f466658b', 'table reach': 'fce2356c5e5f66a0', 'table arrival': '1549908135e1c879', 'table tile': '2fe22fd33ef1181d',
           'index event_dot': 'f4182c83fc7a8a5c', 'index event_id': 'b1f2e7d1f95ba7f8', 'index event_twin': 'a06299b3ca6be990'}
META = {b'name': rb'[^\0-\x20/\x7f]{1,64}', b'cluster': rb'[^\0-\x20/\x7f]{1,64}', b'incarnation': b'[0-9a-f]{16}'}
NUMBERS, CLOCK, READS = (b'origin', b'reads', b'rereads'), 253402300799999, 2  # what is no text in table meta; §2, Numbers; §3, `reads` of who reads what this page has
SKEW, REASONS = re.compile(b'(0|[1-9][0-9]{0,14}) (0|[1-9][0-9]{0,14})'), tuple(b'machine copied witness behind forked cut boot clock'.split())  # §2, The first event of an origin
KNOWN = re.compile(b'|'.join((*META, *NUMBERS)) + b'|file|machine|witness|skew .*|erasures|erasure [0-9]{1,18}|erased|erasing|confirmed', re.S); NODES_OWN = re.compile(rb'(?s:(origin|access|subscription|finding)\..*|(user|conversation)\.erased)')  # §2, Reserved types: these keep theirs
MARKS = {**{name: re.compile(form, re.S).fullmatch for name, form in {'incarnation': '[0-9a-f]{16}', 'state': 'running|stopped', 'durability': 'full|normal', 'settings': '[0-9a-f]{64}', 'boot': '.*'}.items()},
         'position': counted, 'size': lambda size: counted(size) and size != '0'}  # §1: the one form of each member
MARK = 'sillok mark v1\n' + ''.join('{%s}\n' % name for name in 'node incarnation state position origin size root hlc boot durability settings'.split())
def opened(path):  # A connection that reads only. A log without WAL is not touched at all, nor are its neighbours.
    is_odd = any(stands(path + name) and not os.path.isfile(path + name) for name in ('-wal', '-shm', '-journal'))  # SQLite would wait for a pipe
    if is_odd or not os.path.isfile(path) or os.path.basename(path) != 'log.db' and open(path, 'rb').read(16) != b'SQLite format 3\0': raise OSError(f'{path}: no log, or what stands beside it is no file')
    still = '?mode=ro' if os.path.exists(path + '-wal') and os.path.getsize(path + '-wal') else '?immutable=1'
    log = sqlite3.connect('file:' + path.replace('%', '%25').replace('?', '%3f').replace('#', '%23') + still, uri=True, isolation_level=None)
    for command in ('trusted_schema=OFF', 'cell_size_check=ON', 'query_only=ON'): log.execute('PRAGMA ' + command)
    log.text_factory = Text; return log
def stands(path): return os.path.lexists(os.path.realpath(path))  # A link to nothing is nothing; one that leads in a circle stands there, and is no file.
def content(path):  # Of a file: a pipe would be waited for.
    if os.path.lexists(path) and not os.path.isfile(path): raise OSError(f'{path} is no file')
    with open(path, 'rb') as file: return file.read()
def receipts():  # What speaks of a log from outside of it: receipts.py, of the same release.
    sys.modules.setdefault('verify', sys.modules[__name__])
    try: return importlib.import_module('receipts')
    except ImportError as error: raise OSError(f'receipts.py, of the same release, must lie beside verify.py: take it from Scripts/ of the source or from /usr/share/doc/syncd/examples/ ({error})')
def shown(what): return ''.join(mark if mark.isprintable() else '?' for mark in str(what))  # nothing of a file moves a terminal's cursor
def places(all): return f'{len(all)}, at position {", ".join(map(str, all[:9]))}{", …" if all[9:] else ""}'
def moment(at): return (datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=at)).isoformat('T', 'milliseconds').encode() + b'Z'
def succession(said):  # What the payload of an origin's start says of the one before (§2): which, why, had, known, evidence. None where it has not that form.
    previous, reason, cut = (text(said, name) or b'' for name in ('previous', 'reason', 'evidence'))
    if not re.fullmatch(rb'(?i)[0-9a-f]{8}(-[0-9a-f]{4}){4}[0-9a-f]{8}', previous) or reason not in REASONS: return None
    had, known = (count if type(count := said.get(name)) is int and 0 <= count < 2**63 else 0 for name in ('had', 'known'))
    return previous.lower(), reason.decode(), had, max(had, known), cut.decode() if re.fullmatch(b'cut-[0-9a-f]{16}', cut) else None
class Verifier:
    def __init__(self, path, evidence, kept=None):
        self.folder, path = (path, os.path.join(path, 'log.db')) if os.path.isdir(path) else (os.path.dirname(path) or '.', path)
        self.findings, self.notes, self.open, self.asked = [], [], 0, [(evidence, content(evidence)[:262145])] if evidence else []
        self.kept, self.elsewhere = kept, set(); self.mark, self.end, self.has_wal = self.look('mark.json'), self.look('log.end') or b'', os.path.exists(path + '-wal')  # first: a running node goes on
        self.log, self.file, self.events, self.left, self.marked, self.witness, self.seal = opened(path), str(os.stat(path).st_ino).encode(), 0, 0, (0, 0), None, None
        self.erased, self.told, self.lost, self.reached, self.origins, self.trees, self.good, self.seqs = [], [], [], set(), {}, {}, {}, {}
        self.keys, self.forks, self.heads, self.known, self.agreed, self.cuts, self.settled, self.erasures, self.last, self.stamps, self.beyond = ({} for _ in range(11)); self.unread, self.runs, self.gone, self.since = [], False, set(), None
    def finds(self, check, what, position=None): self.findings.append((check, position, what))
    def doubts(self, what): self.notes.append(what); self.open += 1
    def label(self, ref): return str(uuid.UUID(bytes=self.origins[ref][0])) if ref in self.origins else f'origin {ref}'
    def look(self, name, is_one_of_many=False):  # More bytes of a small file than any valid one has; None where there is none.
        if not (os.path.exists if is_one_of_many else stands)(path := os.path.join(self.folder, name)): return None
        may_read, is_small = os.access(path, os.R_OK), os.path.isfile(path) and os.path.getsize(path) <= 64 << 20
        if may_read and is_small: return open(path, 'rb').read(262145)
        if not may_read or not is_one_of_many: self.doubts(f'{path} cannot be read: nothing can be compared with it')
    def run(self):
        if not self.database(): return
        own = "SELECT CAST(value AS TEXT), CAST(node AS BLOB) FROM meta, origin WHERE meta.key = 'witness' AND value <> '' AND ref = (SELECT value FROM meta WHERE key = 'origin')"
        for folder, node in self.log.execute(own).fetchall(): self.witness = self.look(os.path.join(os.fsdecode(folder), node.hex() + '.json')) or b''
        others = receipts().Others(self) if self.asked or any(stands(os.path.join(self.folder, name)) for name in ('evidence', 'cosigned.db', 'erasures.ndjson')) else None  # before the log, as mark and witness
        self.log.execute('BEGIN')
        for part in filter(None, (self.names_and_origins, self.beside, others and others.compare, self.kept and (lambda: self.kept(self)), self.every_event, others and others.erasures, self.applies, self.ends)): part()
    def database(self):  # §3: SQLite 3 with our application_id, a version this page describes, and what it defines. A later release may add to it.
        kind, self.version = (self.log.execute('PRAGMA ' + name).fetchone()[0] for name in ('application_id', 'user_version'))
        if kind == 0x53696C6C and self.version > 3: raise OSError(f'log.db has format {self.version}, this program knows 1 to 3: take the one of that release')
        if kind != 0x53696C6C or self.version not in (1, 2, 3): return self.finds('database', 'no Sillok log of a known version')
        found = [[value if isinstance(value, bytes) else b'' for value in row] for row in self.log.execute('SELECT type, name, tbl_name, sql FROM sqlite_master')]
        have = {(type + b' ' + name).decode('utf-8', 'replace'): sha(table, b' ', sql).hex()[:16] for type, name, table, sql in found}
        odd = {(type + b' ' + name).decode('utf-8', 'replace') for type, name, table, sql in found if type not in (b'table', b'index') or name.startswith(b'sqlite_autoindex_') and (sql or table != name[17:].rpartition(b'_')[0])}
        self.arrives, self.tiled = have.setdefault('table arrival', ''), have.setdefault('table tile', ''); self.later = have.setdefault('table reach', '') and ' UNION ALL SELECT * FROM reach'  # which a store of an earlier release has not
        wrong = [name for name, code in DEFINED.items() if have.get(name) not in ('', code.split()[:self.version][-1])]
        for name in wrong + sorted(odd): self.finds('database', f'{name} is not as §3 has it')
        for name in sorted(have.keys() - DEFINED): name.startswith('table ') and not name.startswith('table sqlite_stat') and self.doubts(f'{name} is not known to this page: nothing is said of what it holds')
        for (line,) in self.log.execute('PRAGMA integrity_check(20)'): line == b'ok' or self.finds('database', line.decode('utf-8', 'replace'))
        return not any(name.startswith('table') for name in wrong)
    def rows(self, table, wanted):  # The rows of a table whose columns are of these kinds; others are findings.
        for row in (found := self.log.execute(f'SELECT * FROM {table} ORDER BY 1')):
            wrong = [name for (name, *_), value, kinds in zip(found.description, row, wanted.split()) if kind(value) not in kinds]
            if not wrong: yield row
            else: self.finds('tables', f'table {table.split()[-1]}, row {row[0]!r:.40}: of another kind or length: column {", ".join(wrong)}')
    def names_and_origins(self):
        self.names, self.nodes = dict(self.rows('name', 'i t')), {row[:3]: row[3] for row in self.rows('node', 'i i i y')}; self.tiles = dict(self.rows('tile', 'i b')) if self.tiled else {}
        for ref, origin, node, key in self.rows('origin', 'i x y y'):
            if ref != len(self.origins) + 1 or node_of(key) != node: self.finds('origins', f'{origin.hex()}: refs have a gap, or its key is not its node\'s')
            self.origins[ref], self.trees[ref], self.keys[origin], self.good[ref], self.seqs[ref] = (origin, node, key), Tree(), key, 0, 0
        heads = f'(SELECT origin, size, size AS head, root, hlc, signature, NULL AS proof FROM head{self.later}) AS head_or_reach'
        for ref, size, *head in self.rows(heads, 'i i i y i b byn'): self.heads.setdefault((ref, size), []).append(head)
        self.index, self.applied, self.pending, self.meta, (self.top,) = {}, {}, {}, dict(self.rows('meta', 't itebxyrn')), self.log.execute('SELECT coalesce(max(position), 0) FROM event').fetchone()
        for key in [key for key, value in self.meta.items() if KNOWN.fullmatch(key) and kind(value) != ('i' if key in NUMBERS else 't')]: self.finds('meta', f'table meta, row {key!r:.60}: of another kind: column value')
        for at, time in self.rows('arrival', 'i i') if self.arrives else ():
            if not 0 < at <= self.top or abs(time) > CLOCK: self.finds('arrival', 'table arrival has a time that cannot be' if 0 < at <= self.top else f'table arrival has a position beyond the log, which ends at {self.top}', at)
        for key in [key for key, form in META.items() if not isinstance(self.meta.get(key), Text) or not re.fullmatch(form, self.meta[key])]: self.finds('meta', f'table meta has no sound {key.decode()}')
        flagged = {b'skew ' + self.label(ref).encode() for ref in self.origins}  # each with two numbers
        if strange := [key for key, value in self.meta.items() if not KNOWN.fullmatch(key) or key[:5] == b'skew ' and not (key in flagged and SKEW.fullmatch(value if isinstance(value, Text) else b''))]: self.doubts(f'table meta has {strange}')
        self.done = int(self.meta[b'erased']) if isinstance(self.meta.get(b'erased'), bytes) and re.fullmatch(b'[0-9]{1,18}', self.meta[b'erased']) else 0
        self.has_looked, self.home = kind(looked := self.meta.get(b'reads')) == 'i' and looked >= READS, self.meta.get(b'origin') if isinstance(self.meta.get(b'origin'), int) else 0
        self.own = self.origins.get(self.home, (0, b''))[1] or self.finds('origins', 'table meta does not name the store\'s own origin')
    def stated(self, data, form, rules):  # The members of a file that this store's node has signed in this form, and the head in it; None where it is none.
        try:
            said = members(data)
            if (said['node'], int(said['incarnation'], 16)) != (self.own.hex(), int(self.meta[b'incarnation'], 16)) or not all(rule(said[name]) for name, rule in rules.items()): return None, None
            return signed(self.origins[self.home][2], plain(said['signature']), form.format(**said).encode()) and said, parsed(HEAD.format(**said))
        except ODD: return None, None
    def expects(self, name, origin, size, root):
        place = next((ref for ref, (id, _, _) in self.origins.items() if id == origin), 0), size
        self.known.setdefault(place, []).append((name, root)); return place
    def beside(self):  # §1: what mark, log.end, witness and the lack of a WAL (§3) say of how far the log went.
        mark, head = self.stated(self.mark, MARK, MARKS)
        if mark:
            self.left, self.marked, runs = int(mark['position']), self.expects('mark.json', *head), mark['state'] == 'running'; self.runs = runs
            settings = sha(b'\0'.join(word if isinstance(word := self.meta.get(key) or b'', bytes) else b'' for key in (b'name', b'cluster', b'witness'))).hex()
            if settings != mark['settings']: self.doubts('table meta has another name, cluster or witness than mark.json')
            is_end = len(self.end) == 80 and self.end[:16].hex() == b'SilEnd1\n'.hex() + mark['incarnation'] and sha(self.end[:64])[:16] == self.end[64:]
            (at, size), origin = (int.from_bytes(self.end[start:start + 8], 'big') for start in (16, 40)), self.end[24:40]
            if is_end and (mark['durability'] == 'full' or mark['boot'] == (self.look('/proc/sys/kernel/random/boot_id') or b'').strip().decode()): self.left, self.last = max(self.left, at), {origin: size}
            here = is_end and self.log.execute('SELECT count(*) FROM event, origin WHERE event.origin = ref AND origin.id = ? AND position <= ?', (origin, min(at, self.top))).fetchone()[0]
            if is_end and at <= self.top and here != size: self.doubts(f'log.end counts {size} events of origin {uuid.UUID(bytes=origin)} up to position {at}, and {here} are here')
            if runs and not is_end: self.doubts('log.end is missing, of another log or cannot be read: nothing says how far the last run went')
            if runs and not self.has_wal: self.doubts('the last run did not end in order, and its log.db-wal is not there')
        elif self.version > 1 and os.path.isfile(os.path.join(self.folder, 'node.key')): self.doubts('no mark of this store says how far its log went')
        witness, head = self.stated(self.witness, HEAD, {'incarnation': re.compile('[0-9A-Fa-f]+').fullmatch})
        self.copied = witness if witness and not {self.meta.get(b'file'), self.meta.get(b'witness')} & {self.file, os.fsencode(os.path.realpath(self.folder)) + b'-witness'} else None
        if witness: self.expects(COPY if self.copied else 'its witness', *head)
        elif self.witness is not None: self.doubts('the log cannot be compared with its witness')
        if re.fullmatch('witness-[0-9a-f]{16}', str((not self.copied and witness or {}).get('since'))): self.told.append((witness['since'], 0, None, 0, 0))
    def every_event(self):
        for self.events, row in enumerate(map(lambda values: Row(*values), self.log.execute('SELECT * FROM event NOT INDEXED ORDER BY position')), 1):
            if row.position != self.events: self.finds('positions', f'position {self.events} is missing', self.events)
            if wrong := [name for name, value in zip(Row._fields, row) if kind(value) not in KINDS[name]]: self.finds('events', f'of another kind or length: column {", ".join(wrong)}', row.position)
            try: self.event(row._replace(seq=self.seqs[row.origin] + 1) if 'seq' in wrong else row, wrong)
            except ODD as error: wrong or self.finds('events', f'its row cannot be read: {type(error).__name__} {error}', row.position)
    def arrival(self, row, origin):  # §2: an own event names all that came since the one before; more than 2,000 follow with the next one.
        if row.origin != self.home: return self.since is not None and self.since.add(row.origin)
        came, named = {ref: self.seqs[ref] for ref in self.since or ()}, dict(pairs(row.dependencies)); is_part = len(named) == 2000 and named.items() <= came.items()
        self.since is None or is_part or named == came or origin in self.forks or self.finds('order', 'its dependencies are not the events that arrived since the one before', row.position); self.since = set(came) - set(named) if is_part else set()
    def event(self, row, wrong):  # §2, §3: seqs without gaps, header, digest, leaf, tree, dependencies, the origin's first event, what heads say of it.
        (origin, node, key), tree, at = self.origins[row.origin], self.trees[row.origin], row.position
        if row.seq != self.seqs[row.origin] + 1: self.finds('order', f'seq {row.seq} follows {self.seqs[row.origin]}', at)
        self.seqs[row.origin], self.seal = row.seq, row.seal if row.origin == self.home else self.seal
        if 'hlc' in wrong: return
        if len({row.salt is None, row.digest is not None, row.payload is None}) > 1: self.finds('events', 'salt, digest and payload are neither of a stored nor of an erased payload', at)
        type, user, said = self.names[row.type], self.names[row.user], None if row.digest is not None else members(row.payload)
        if row.time == row.hlc >> 16 or row.author == row.user or row.version in (0, 1): self.finds('events', 'a column repeats NULL', at)
        digest, header = row.digest if row.digest is not None else sha(row.salt, row.payload), header_of(row, self.names, self.origins)
        self.form(row, header, type == user == b'', said, at); leaf, conversation = leaf_of(header, digest), self.names.get(row.conversation)
        if int.from_bytes(leaf[:4], 'big', signed=True) != row.leaf: self.finds('events', 'it has not the hash it was stored with', at)
        if type in (b'user.erased', b'conversation.erased'): self.index[at] = node
        if row.digest is not None: self.erased.append((at, row.hlc, self.ways(row)))
        elif type in (b'user.erased', b'conversation.erased'): self.erasure(row, node, type.decode()[:-7], said, user, conversation)
        elif type == b'finding.settled' and node == self.own and user == b'node/' + node.hex().encode():  # §5: of a cut its own node's counts
            self.settled.setdefault((text(said, 'code'), text(said, 'subject')), []).append((row.hlc >> 16, text(said, 'of')))
        named = {self.origins[ref][0]: self.seqs[ref] >= seq or self.origins[ref][0] in self.forks for ref, seq in pairs(row.dependencies)}; self.arrival(row, origin)
        if list(named) != sorted(named.keys() - {origin}) or len(named) != len(pairs(row.dependencies)) or not all(named.values()):
            self.finds('order', 'its dependencies do not ascend by origin, or do not stand before it', at)
        if row.seq == 1:  # §2, "The first event of an origin" binds it to the key, and may tell of a cut
            is_start = row.digest or (text(said, 'node'), text(said, 'key')) == (node.hex().encode(), base64.b64encode(key))
            is_start = is_start and (type, user) == (b'origin.started', b'node/' + node.hex().encode()) or self.finds('origins', 'it does not bind the key', at)
            if row.origin == self.home and said and (text(said, 'name') or node.hex()[:12].encode()) != self.meta.get(b'name'): self.finds('meta', 'meta names the node otherwise', at)
            previous, reason, had, known, cut = is_start and succession(said) or ('', '', 0, 0, None)
            if known > had: self.gone.add(previous)
            if cut and node == self.own: self.told.append((cut, row.hlc >> 16, previous, had, known))
            if known > had and not cut: self.lost.append((node == self.own, previous, known, f'its node went on as {uuid.UUID(bytes=origin)} ({reason})'))
        for level, index, root in tree.add(leaf):  # §3, node: subtrees of 2^8, 2^16, … leaves; tile: those of 2^4 in one of 2^8
            if level == 4: tree.tile = tree.tile[-15:] + [root]
            if level == 8 and self.tiles.pop(at, tile := b''.join(tree.tile)) != tile: self.finds('tree', 'its tile is not of these events', at)
            if not level % 8 and self.nodes.pop((row.origin, level, index), 0) != root: self.finds('tree', f'row {level}/{index} is not of these events', at)
        first, agreed = self.agreed.get(row.origin, 0) + 1, set()
        for name, root in dict.fromkeys(self.known.pop((row.origin, row.seq), ())):
            if root == tree.root(): agreed.add(name)
            elif name not in self.cuts and name != COPY: self.finds('heads', f'{self.label(row.origin)}: {name} knows another history of the events from seq {first} to {row.seq}', at)
        self.reached |= agreed; self.agreed[row.origin] = row.seq if agreed - {'mark.json'} else first - 1
        for size, root, hlc, signature, proof in self.heads.pop((row.origin, row.seq), ()):  # §3: of these events, or, from reach, a later one
            path, now, what = [(proof or b'')[start:start + 32] for start in range(0, len(proof or b''), 32)], tree.root(), f'the head of {size} events is not'
            is_later = tree.size < size < 2**44 and proof and leads(lambda path: grown(tree.size, size, now, path), path, (now, root))
            if not (is_later if proof is not None else root == now and (hlc == row.hlc or type == b'')):
                self.finds('heads', f'{what} of these, or reach does not lead to it: look from seq {self.good[row.origin] + 1} on', at)
            elif not signed(key, signature, head_text(origin, size, root, hlc)): self.finds('heads', f'{what} signed by the origin\'s key', at)
            else: self.good[row.origin], self.beyond[row.origin] = row.seq, max(size, self.beyond.get(row.origin, 0)); is_later and origin not in self.forks and self.expects(HEARD, origin, size, root)
    def form(self, row, header, is_opaque, said, at):  # §2, §3: the one form of each value, and nothing kept as unreadable that can be read.
        if nameless := [name for name in ('conversation', 'author', 'actor') if getattr(row, name) is not None and getattr(row, name) not in self.names]:
            self.finds('events', f'column {", ".join(nameless)} names no text', at)
        if too_long(header, row.payload): self.finds('events', 'it is longer than an event can be', at)
        fault, kept = unreadable(header), 'its payload' if row.digest is None and said is not None and not isinstance(row.payload, Text) else ''
        if is_opaque:
            origin, (*place, needs), stored = self.origins[row.origin][0], place_of(header), [(self.origins[ref][0], seq) for ref, seq in pairs(row.dependencies)]
            alone = {getattr(row, name) for name in ('conversation', 'time', 'author', 'cause', 'version', 'actor')} == {None}
            if (*place, needs, stand_in(*place[:2])) != (origin, row.seq, row.hlc, stored, row.id) or not alone: self.finds('events', 'its header is of another event, or does not stand alone', at)
            kept = kept if fault else 'its header'
        elif fault: self.finds('events', 'its header is none: ' + fault, at)
        elif any(tag < 13 << 3 for tag, *_ in fields(row.unknown or b'')): self.finds('events', 'column unknown has a field that has a column of its own', at)
        else:
            actor = actor_of([header[start:end] if tag & 7 == 2 else b'' for tag, _, start, end in fields(header) if tag >> 3 == 32])
            if (row.actor is None) != (actor is None): kept = 'its actor' if actor else self.finds('events', 'column actor has no actor', at)
        if row.digest is None and said is None and isinstance(row.payload, Text): self.finds('events', 'column payload is of another kind: it is no payload', at)
        if kept and self.has_looked: self.finds('events', f'{kept} is marked unreadable, but can be read: column {"payload" if kept == "its payload" else "unknown"}', at)
        elif kept: self.unread.append(at)
        stamp, self.stamps[row.origin] = self.stamps.get(row.origin), None if is_opaque else row.hlc
        if stamp is not None and not is_opaque and row.hlc <= stamp: self.finds('order', f'its hlc does not ascend: {self.label(row.origin)}/{row.seq}', at)
    def ways(self, row):  # What an erasure may name of this row.
        (origin, node, _), user, conversation = self.origins[row.origin], self.names[row.user], self.names.get(row.conversation)
        subjects = ('user', user), ('author', self.names.get(row.author) or user), ('conversation', conversation), ('event', f'{uuid.UUID(bytes=origin)}/{row.seq}'.encode())
        return [] if NODES_OWN.fullmatch(self.names[row.type]) else [(by, *of) for by in (node, self.own) for of in subjects]
    def applies(self):  # §3, `erasures`, `erased`: what table meta says of erasures is so, and of what is applied nothing is here.
        named, waiting = {int(key[8:]) for key in self.meta if re.fullmatch(rb'erasure [0-9]{1,18}', key)}, []
        for at in sorted((self.index.keys() - named if b'erasures' in self.meta else set()) | named - self.index.keys())[:9]:
            self.finds('erased', 'table meta names an erasure where none stands, or does not name one', at)
        if b'erased' in self.meta and self.index.get(self.done) != self.own: self.finds('erased', 'table meta says how far erasures are applied, and none of this node stands there')
        for (ref,) in self.log.execute("SELECT ref FROM name WHERE text = '' AND NOT EXISTS (SELECT 1 FROM event WHERE type = name.ref AND unknown IS NOT NULL)"): self.finds('tables', f'table name, row {ref}: the empty text is that of opaque events alone: column text')
        if any(at > self.done and node == self.own for at, node in self.index.items()): self.notes.append('an erasure is under way: what it covers may be here still')
        if self.marked[1] and b'erasures' not in self.meta and self.own in self.index.values(): self.doubts('table meta does not say that the log was looked through for erasures, and this node has erased')
        for row in map(lambda values: Row(*values), self.log.execute('SELECT * FROM event NOT INDEXED WHERE digest IS NULL ORDER BY position') if self.applied or self.pending else ()):
            try: is_gone, is_going = (any(row.hlc < known.get(way, 0) for way in self.ways(row)) for known in (self.applied, self.pending))
            except ODD: continue  # told already
            if is_gone: self.finds('erased', 'its payload is here, and an erasure that is applied covers it', row.position)
            elif is_going: waiting.append(row.position)
        if waiting: self.doubts(f'not proven: an erasure is not applied yet that covers payloads which are here: {places(waiting)}')
    def erasure(self, row, node, name, said, user, conversation):  # §2, Erasure: what may be without payload
        whose, before = text(said, name, user if name == 'user' else conversation), text(said, 'before', b'f' * 12 + b'-ffff') or b''
        if said is None or whose is None and said.get(name) is not None or not re.fullmatch(b'[0-9a-f]{12}-[0-9a-f]{4}', before): return
        for known in [self.erasures] + [self.applied if getattr(row, 'position', 1 << 64) <= self.done else self.pending] * (node == self.own):
            for way in [] if whose is None else [(node, name, whose)] + [(node, 'author', whose)] * (name == 'user' and said.get('authored') is True): known[way] = max(min(row.hlc, int(before.replace(b'-', b''), 16)), known.get(way, 0))
            for dot in filter(lambda dot: isinstance(dot, str), said['events'] if isinstance(said.get('events'), list) else ()): known[node, 'event', dot.encode('utf-8', 'replace')] = 1 << 64
        return True  # it is one
    def ends(self):  # What is left over speaks of events that are not here; what has no payload must have been erased by an event.
        must = {place for place, known in self.known.items() if place[1] and any(name not in self.cuts and name not in (COPY, HEARD) and name not in self.elsewhere for name, _ in known)}
        for (ref, size), known in sorted(self.known.items()):
            if (ref, size) not in must and any(name in self.elsewhere for name, _ in known): self.doubts(f'{self.label(ref)} ends at seq {self.seqs.get(ref, 0)}, and {known[0][0]} knows {size}')
        for table, rows in (('head or reach', self.heads), ('node', self.nodes), ('a head known beside the log', must)):
            for row in sorted(rows)[:9]:
                who = ', which ' + ', '.join(sorted({name for name, _ in self.known[row]})) + ' knows,' if rows is must else ''
                self.finds('cut', f'{self.label(row[0])}: {table} {row[1:]}{who} is of events the log does not have, which ends at seq {self.seqs.get(row[0], 0)}')
        for at in sorted(self.tiles)[:9]: self.finds('tree', 'a tile stands where no 256 events end', at)
        for ref, size in sorted((ref, size) for ref, size in self.beyond.items() if size > self.seqs[ref]):  # §3, reach
            explained = self.runs or self.label(ref).encode() in self.gone or self.origins[ref][0] in self.forks
            (self.notes.append if explained else self.doubts)(f'{self.label(ref)}: its node has signed {size} events, of which {self.seqs[ref]} are here')
        if self.unread: self.doubts(f'kept as what could not be read, and can be read: {places(self.unread)}: no start has looked through the log')
        sizes = {self.origins[ref][0]: seq for ref, seq in self.seqs.items()}; short = ''.join(f': {uuid.UUID(bytes=id)} ends at seq {sizes.get(id, 0)} of {size}' for id, size in self.last.items() if sizes.get(id, 0) < size)
        if self.events < self.left: self.finds('cut', f'the log ends at position {self.events}, and the node left it at {self.left}{short}')
        if self.good.get(self.marked[0], 0) < self.marked[1]: self.finds('heads', f'the head of {self.marked[1]} events, which mark.json knows, is missing')
        if not all(self.seqs.values()): self.finds('origins', 'an origin has no events')
        if self.good.get(self.home, 0) < self.seqs.get(self.home, 0) and self.version > 1 and kind(self.seal) != 'x': self.finds('seals', 'its own newest events have neither head nor seal')  # the node alone can check that
        for name in sorted(self.cuts.keys() | {told[0] for told in self.told}): self.cut(name)
        sizes = {self.label(ref).encode(): seq for ref, seq in self.seqs.items()}
        for is_own, origin, known, what in [one for one in self.lost if sizes.get(one[1], 0) < one[2]][:20]:  # signed to be missing, until it is back or the own node has settled it
            (self.doubts if is_own and (b'AMNESIA', origin) not in self.settled else self.notes.append)(f'origin {origin.decode()} ends at seq {sizes.get(origin, 0)}, and has had {known}: {what}')
        for at in (at for at, hlc, ways in self.erased if not any(hlc < self.erasures.get(way, 0) for way in ways)): self.finds('erased', 'no erasure covers it', at)
        if self.copied and COPY not in self.reached: self.doubts(f'this is a copy of a store, and the witness of that knows more, or another history: {self.copied["size"]} events of origin {self.copied["origin"]}')
        for (at,) in self.log.execute('SELECT position FROM event AS later WHERE twin IS NOT NULL AND (twin >= position OR twin IS NOT (SELECT position FROM event WHERE id = later.id AND twin IS NULL))'): self.finds('twins', 'wrongly marked as a twin', at)
    def cut(self, name):  # §3, §5: counts until what was lost is back, by the file and by the origin's start, or the own node has settled it since.
        file, sizes = self.cuts.get(name), {self.label(ref).encode(): seq for ref, seq in self.seqs.items()}
        told = [at for of, at, previous, had, known in self.told if of == name and not had < known <= sizes.get(previous, 0)]
        if not told and (not file or name in self.reached and self.events >= file['position']): return
        at, what = file['at'] if file else told[0], f'{name}: ' + (file['text'] if file else 'what was found when the log was opened, in evidence/, is missing')
        if any(hlc >= at or of == moment(at) for hlc, of in self.settled.get((b'LOG_CUT' if name.startswith('cut-') else b'WITNESS_LOST', name.encode()), ())): self.notes.append('settled: ' + what)
        else: self.finds('cut', what) if name.startswith('cut-') else self.doubts(what)
def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter); options.error = lambda what: sys.exit(print(f'verify: {what}', file=sys.stderr) or 64)
    for name, how in (('store', {'nargs': '?'}), ('--json', {'action': 'store_true'}), ('--evidence', {}), ('--since', {'action': 'append'}), ('--proof', {})): options.add_argument(name, **how)
    if ((asked := options.parse_args()).store is None) != bool(asked.proof) or asked.proof and (asked.since or asked.evidence): options.error('a store, or --proof FILE: --since and --evidence are for a store alone')
    if asked.proof: return receipts().check(asked.proof, asked.json)
    (store := Verifier(asked.store, asked.evidence, receipts().kept(asked.since) if asked.since else None)).run()
    findings = sorted(store.findings, key=lambda finding: (finding[1] is None, finding[1])); origins = [{'origin': store.label(ref), 'node': store.origins[ref][1].hex(), 'events': tree.size, 'proven': store.good[ref], 'root': tree.root().hex()} for ref, tree in store.trees.items()]
    uncovered = sum(origin['events'] - origin['proven'] for origin in origins); code, word = (3, 'contradicted') if findings else (2, 'not all covered') if uncovered or store.open else (0, 'proven')
    report = {'answer': word, 'events': store.events, 'erased': len(store.erased), 'uncovered': uncovered, 'notes': store.notes, 'origins': origins,
              'findings': [dict(zip(('check', 'position', 'what'), finding)) for finding in findings]}
    if asked.json: return print(json.dumps(report)) or code
    for origin in origins: print('origin {origin}  node {node:.12}  {events} events, proven to {proven}  root {root:.16}'.format(**origin))
    for check, position, what in [('note', 0, note) for note in store.notes] + findings[:100]: print(f'{check:<10} ' + (f'position {position}: ' if position else '') + shown(what))
    return print(f'{word.upper()}  {store.events} events, {len(store.erased)} erased, {uncovered} that no signed head covers') or code
def answer():
    try: return main()
    except (OSError, sqlite3.OperationalError) as error: return print(shown(f'verify: {error}'), file=sys.stderr) or 66
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error: what = f'the file is no sound database: {error}'  # the latter where a schema is no text
    return print(json.dumps({'answer': 'contradicted', 'notes': [], 'findings': [{'check': 'database', 'position': None, 'what': what}]}) if '--json' in sys.argv else shown('CONTRADICTED  ' + what)) or 3
if __name__ == '__main__': sys.exit(answer())
