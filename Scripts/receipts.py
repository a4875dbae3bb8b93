"""Checks what speaks of a log from outside of it, without any of Sillok's code: receipts and proven answers, proofs of forks, cosignatures, erasures
that were put back. A part of verify.py, which must lie beside it. Written from FORMATS.md; § means a section there."""
import base64, datetime, json, os, re, sqlite3, struct, sys, types, uuid
from verify import CLOCK, ODD, content, counted, distinct, dot_of, fields, grown, half, head_text, join, kind, leads, leaf_of, members, node_of, opened, parsed, place_of, plain, sha, shown, signed, stand_in, stands, too_long, unreadable


class Lie(Exception):
    """What the file says is not what was signed."""


class NoReceipt(OSError):
    """The file is neither a receipt nor a proven answer."""


def audited(leaf, index, size, path):
    """The root that an audit path (RFC 6962, 2.1.1) leads to; uses `path` up from its end."""
    if size == 1: return leaf
    step, k = path.pop(), half(size)
    return join(audited(leaf, index, k, path), step) if index < k else join(step, audited(leaf, index - k, size - k, path))


TIME = r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z'


def digests(texts): return [bytes.fromhex(text) for text in texts]


def once(pairs):
    if len(found := dict(pairs)) != len(pairs): raise Lie('a member occurs twice')
    return found


MAKER = 'type v node name cluster key time position '
FORMS = {  # §9, §10, §11: the members of each line, in order
    'receipt': MAKER + 'origins', 'answer': MAKER + '(user|conversation|event) filtered events origins', 'witness': 'type node key',
    'head': 'type origin node key events size( arrived)? note', 'cosigned': 'type origin size note proof',
    'event': 'type origin seq header (digest|salt (payload|payload_base64)) proof',
    'end': 'type v count sha256( signature)?', 'erasure': 'type origin seq key head signature header salt payload proof'}


def count(value): return type(value) is int and 0 <= value < 2**44
def digits(*sizes): return lambda value: isinstance(value, str) and bool(re.fullmatch('[0-9a-f]*', value)) and len(value) in sizes
def is_code(value): return plain(value) is not None
def is_time(value): return bool(re.fullmatch(TIME, value) and datetime.datetime.fromisoformat(value[:-1]))
def is_uuid(value): return str(uuid.UUID(value)) == value
def is_text(value): return isinstance(value, str)


ONE = {  # §9, §10, §11: the one form of each member
    'v': lambda value: count(value) and value == 1, 'filtered': lambda value: isinstance(value, bool), 'proof': lambda value: isinstance(value, list) and all(map(digits(64), value)),
    **dict.fromkeys(('type', 'name', 'cluster', 'user', 'conversation', 'note', 'payload', 'head'), is_text), **dict.fromkeys(('position', 'origins', 'events', 'size', 'seq', 'count'), count),
    **dict.fromkeys(('origin', 'event'), is_uuid), **dict.fromkeys(('key', 'header', 'payload_base64', 'signature'), is_code), **dict.fromkeys(('time', 'arrived'), is_time),
    **dict.fromkeys(('node', 'digest', 'sha256'), digits(64)), 'salt': digits(32)}


def line_of(data):  # §9: byte for byte what the page has a writer write
    line = json.loads(data, object_pairs_hook=once)
    if not re.fullmatch(FORMS[line['type']], ' '.join(line)) or json.dumps(line, ensure_ascii=False, separators=(',', ':')).encode() != data:
        raise Lie(f'a line of type {line["type"]} is not written in the form of FORMATS.md')
    if wrong := [name for name, value in line.items() if not ONE[name](value)]: raise Lie(f'{wrong[0]}: not in the form of FORMATS.md')
    return line


def key_of(line):  # §9: `node` is the SHA-256 of the key (§1)
    key = plain(line['key'])
    if len(key) != 32 or node_of(key).hex() != line['node']: raise Lie(f'node {line["node"]:.12} is not that of its key')
    return key


CUT = {  # §1, evidence/cut-….json: the one form of each member; the last two may be missing
    'kind': is_text, 'text': is_text, 'origin': is_uuid, 'had': counted, 'position': counted, 'at': lambda value: counted(value, CLOCK),
    'known': lambda value: parsed(value) is not None, 'settled': lambda value: counted(value, CLOCK)}


def note(text):  # §9: a C2SP signed note: the head's text, and of each signature name, key hash and bytes
    head, lines = text[:text.index('\n\n') + 1], text[text.index('\n\n') + 2:]
    codes = re.findall('— (\\S+) (\\S+)\n', lines)
    if not re.fullmatch(r'(— [0-9a-f]{64} \S+\n)+', lines) or not all(is_code(code) for _, code in codes): raise Lie('not the form of a signed note')
    return head, [(name, (data := plain(code))[:4], data[4:]) for name, code in codes]


def is_of(line, key, kind): return line[0] == node_of(key).hex() and line[1] == sha(line[0].encode() + b'\n' + bytes([kind]) + key)[:4]


class Receipt:
    """A whole file that was checked. `heads`: of each origin its node, how many events were there, size, root, and its cosignatures as
    (node, Unix seconds, size, root). `answer`: of a proven answer its first line. `signed`: whether its maker has signed the whole."""

    def __init__(self, path):
        data = content(path)
        self.heads, self.keys, self.answer, self.erased, self.last, self.stamp = {}, {}, None, 0, None, -1
        try:
            self.maker = line_of(data.split(b'\n', 1)[0])
            self.key = key_of(self.maker)
        except (*ODD, Lie): self.maker = {}
        if not isinstance(self.maker, dict) or self.maker.get('type') not in ('receipt', 'answer') or self.maker.get('v') != 1: raise NoReceipt(f'{path} is neither a receipt nor a proven answer, or of a later release')
        if self.maker['type'] == 'answer': self.answer = self.maker
        try: self.read(data)
        except ODD as error: raise Lie(f'a line has not its form: {type(error).__name__} {error}')

    def read(self, data):
        if data[-1:] != b'\n' or (cut := data.rfind(b'\n', 0, -1) + 1) == 0: raise Lie('the last line is missing')
        lines = [line_of(line) for line in data[:-1].split(b'\n')]
        end, self.events = lines.pop(), 0
        self.answering = set()
        if end['type'] != 'end': raise Lie('the last line is missing: something was cut off')
        for line in lines[1:]: {'witness': self.witness, 'head': self.head, 'cosigned': self.cosigned, 'event': self.event}[line['type']](line)
        digest = sha(data[:cut])
        if digest.hex() != end['sha256']: raise Lie('the SHA-256 is another: the file is not as it was written')
        if {one[0] for head in self.heads.values() for one in head['cosigned']} != set(self.keys): raise Lie('a witness has cosigned nothing here')
        if self.answer and self.answering != set(self.heads): raise Lie('an origin has no events here')
        count = len(self.heads) if self.answer is None else self.events
        if end['count'] != count or self.maker['origins'] != len(self.heads) or self.answer and self.answer['events'] != count: raise Lie('the counts are not those of the lines')
        # A log has each event of an origin at a position of its own.
        if sum(head['events'] for head in self.heads.values()) > self.maker['position']: raise Lie('its heads count more events than its position has')
        self.signed = 'signature' in end
        text = f'sillok {self.maker["type"]} v1\n{digest.hex()}\n'.encode()
        if self.signed and not signed(self.key, plain(end['signature']), text): raise Lie('the last line is not signed by the node that the first one names')

    def witness(self, line):
        if self.heads or self.keys and line['node'] <= max(self.keys): raise Lie('a witness is out of order')
        self.keys[line['node']] = key_of(line)

    def head(self, line):
        key, (text, lines) = key_of(line), note(line['note'])
        origin, size, root = parsed(text)
        if self.last or self.heads and bytes(origin) <= max(self.heads) or str(uuid.UUID(bytes=origin)) != line['origin']: raise Lie('an origin is out of order')
        if not 0 < size == line['size'] <= line['events'] or not is_of(lines[0], key, 1) or not signed(key, lines[0][2], text.encode()):
            raise Lie(f'the head of origin {line["origin"]} is not signed by its node')
        self.heads[origin] = {'node': line['node'], 'key': key, 'hlc': int(text[-18:-1].replace('-', ''), 16), 'events': line['events'], 'size': size, 'root': root, 'text': text, 'cosigned': []}
        for one in lines[1:]: self.cosignature(origin, text, one, [])

    def cosigned(self, line):
        text, lines = note(line['note'])
        origin = max(self.heads)
        if len(lines) != 2 or parsed(text)[:2] != (origin, line['size']) or self.last or line['size'] in (0, self.heads[origin]['size']) or uuid.UUID(line['origin']).bytes != origin: raise Lie('a cosignature is out of place')
        if line['size'] > self.heads[origin]['events']: raise Lie('a cosigned head is of more events than its origin has here')
        if not is_of(lines[0], self.heads[origin]['key'], 1) or not signed(self.heads[origin]['key'], lines[0][2], text.encode()):
            raise Lie(f'a cosigned head of origin {line["origin"]} is not signed by its node')
        self.cosignature(origin, text, lines[1], digests(line['proof']))

    def cosignature(self, origin, text, line, proof):  # §9: cosignature/v1; the smaller of the two trees is the beginning of the larger one
        head, (_, size, root), key = self.heads[origin], parsed(text), self.keys.get(line[0], b'')
        (old, first), (new, second) = sorted([(size, root), (head['size'], head['root'])])
        time = int.from_bytes(line[2][:8], 'big')
        is_said = key and line[0] != head['node'] and is_of(line, key, 4) and signed(key, line[2][8:], f'cosignature/v1\ntime {time}\n{text}'.encode())
        is_same = text == head['text'] and not proof if old == new else leads(lambda path: grown(old, new, first, path), proof, (first, second))
        order = [(at != head['size'], node) for node, _, at, _ in head['cosigned']] + [(size != head['size'], line[0])]  # §9: those under the head first, each by node
        is_next = order == sorted(order) and line[0] not in [node for _, node in order[:-1]]
        if not is_said or not is_same or time > 253402300799 or not is_next:
            raise Lie(f'the cosignature of node {line[0]:.12} under origin {uuid.UUID(bytes=origin)} is not that node\'s, or not of this history')
        head['cosigned'].append((line[0], time, size, root))

    def event(self, line):  # §10: strictly ascending, in its origin's tree, and of what the answer is about
        dot, header = (uuid.UUID(line['origin']).bytes, line['seq']), plain(line['header'])
        name = f'event {line["origin"]}/{line["seq"]}'
        if self.last and dot <= self.last: raise Lie(f'{name} is out of order')
        if dot[0] not in self.heads: raise Lie(f'{name} is of an origin that has no head here')
        before, self.last, head = self.last, dot, self.heads[dot[0]]
        if [name for name in ('salt', 'payload', 'payload_base64', 'digest') if name in line] not in (['salt', 'payload'], ['salt', 'payload_base64'], ['digest']): raise Lie(f'{name} has not its form')
        data = line['payload'].encode() if 'payload' in line else plain(line.get('payload_base64', ''))
        if 'digest' not in line and ('payload' in line) == (members(data) is None): raise Lie(f'{name}: a payload stands as text, and other bytes in base64')
        # 16 bytes (§2): else bytes could wander between salt and payload, and the hash would stay.
        if len(salt := bytes.fromhex(line.get('salt', ''))) != (0 if 'digest' in line else 16): raise Lie(f'{name} has no salt of 16 bytes')
        if too_long(header, data): raise Lie(f'{name} is longer than an event can be')  # §2, also of one that cannot be read
        digest = bytes.fromhex(line['digest']) if 'digest' in line else sha(salt, data)
        leaf, index, size = leaf_of(header, digest), dot[1] - 1, head['size']
        if dot_of(header) != dot or not 0 <= index < size or not leads(lambda path: audited(leaf, index, size, path), digests(line['proof']), head['root']):
            raise Lie(f'{name} is not part of the history that was signed')
        place, wanted = next((tag, of(self.answer[member])) for tag, member, of in SCOPES if member in self.answer)
        if wanted != texts(header, dot).get(place): raise Lie(f'{name} is not of what the answer is about')
        hlc, stamp, is_read = place_of(header)[2], self.stamp if before == (dot[0], dot[1] - 1) else -1, not unreadable(header)
        self.stamp = hlc if is_read else -1
        if is_read and (dot[1] == size and hlc != head['hlc'] or hlc <= stamp):  # §2, of headers that can be read
            raise Lie(f'{name} has not the hlc of the head over it, or none after that of the event before it')
        self.events += 1
        self.answering.add(dot[0])
        self.erased += 'digest' in line


def texts(header, dot):  # §2: fields of a canonical header; an opaque one belongs to no one, and its id is made of its dot (§3, `unknown`)
    if unreadable(header): return {5: stand_in(*dot)}
    return {tag >> 3: header[at:end] for tag, _, at, end in fields(header)}


SCOPES = [(8, 'user', str.encode), (7, 'conversation', str.encode), (5, 'event', lambda text: uuid.UUID(text).bytes)]


def kept(paths):
    """What `verify.py STORE --since RECEIPT` does before it reads the events (§9): what a receipt of this node tells of must be here, and the
    same; what another node had held may come yet."""
    found = []
    for path in paths:
        try: found.append((path, Receipt(path)))
        except Lie as lie: sys.exit(print(shown(f'CONTRADICTED  {path}: {lie}')) or 3)

    def compare(store):
        for path, receipt in found:
            # A log that was changed is held against it, too: whose its origins are, their keys say.
            maker, keys, mine, cluster = receipt.maker, {id: key for id, _, key in store.origins.values()}, store.origins.get(store.home, (0, 0, b''))[2], store.meta.get(b'cluster')
            is_own, is_other = receipt.key == mine, maker['cluster'].encode() != cluster
            if is_other and keys and receipt.key not in keys.values() and not keys.keys() & receipt.heads.keys(): raise OSError(f'{path} is a receipt of another cluster, {maker["cluster"]}')
            if is_other and receipt.signed and kind(cluster) == 't': store.finds('cut', f'table meta names cluster {cluster.decode(errors="replace")}; {path} was made in cluster {maker["cluster"]}')
            strange = {origin for origin, head in receipt.heads.items() if keys.get(origin, head['key']) != head['key']}
            for origin in sorted(strange): store.finds('cut', f'origin {uuid.UUID(bytes=origin)} has the key of node {node_of(keys[origin]).hex():.12} here; {path} has a head of it that node {receipt.heads[origin]["node"]:.12} has signed')
            if not is_own: store.notes.append(f'{path} is a receipt of another node, {maker["node"]:.12}')
            if receipt.signed: ends(store, path, receipt, is_own)
            for origin, head in ((origin, head) for origin, head in receipt.heads.items() if origin not in strange):
                what = f'{path} knows {head["size"]} events of origin {uuid.UUID(bytes=origin)}, of which none is here'
                # What the node has signed binds it, whoever made the receipt: a head, or the whole.
                name = path if head['key'] == mine or is_own and receipt.signed else path + ' (not this node\'s word)'
                if name != path: store.elsewhere.add(name)
                if origin not in keys: store.finds('cut', what) if name == path else store.doubts(what)
                else: [store.expects(name, origin, size, root) for _, _, size, root in [(0, 0, head['size'], head['root'])] + head['cosigned']]
    return compare


def ends(store, path, receipt, is_own):
    """§9: a receipt that its maker has signed as a whole says where the log ended. That of its own node only grows; another need not have all yet."""
    (top,) = store.log.execute('SELECT coalesce(max(position), 0) FROM event').fetchone()
    if is_own and top < (then := receipt.maker['position']): store.finds('cut', f'the log ends at position {top}; {path} was made at position {then}')
    refs = {id: ref for ref, (id, *_) in store.origins.items()}
    for origin, head in receipt.heads.items():
        (seq,) = store.log.execute('SELECT coalesce(max(seq), 0) FROM event WHERE origin = ?', (refs.get(origin),)).fetchone()
        what = f'origin {uuid.UUID(bytes=origin)} ends at seq {seq}; {path} counts {head["events"]} events of it'
        if seq < head['events']: store.finds('cut', what) if is_own else store.doubts(what)


def fork(proof, keys):
    """(origin, seq, whether it holds, whether roots show it) of a proof of two histories (§2, Evidence). Raises where it has not that form."""
    if proof['kind'] != 'fork' or not is_uuid(proof['origin']) or not counted(proof['seq']): raise ValueError('not the form of a proof')
    origin, seq, marks, (one, other) = uuid.UUID(proof['origin']).bytes, int(proof['seq']), set(), map(distinct, proof['branches'])  # objects, no lists of pairs, and no name twice
    for branch in (one, other):
        digest = branch[name := 'root' if 'root' in branch else 'payload_digest']
        if not ONE['digest'](digest) or not ONE['proof'](branch['proof']): raise ValueError('not the form of a branch')
        (of, size, root), mark, path = parsed(branch['head']), bytes.fromhex(digest), digests(branch['proof'])
        if name == 'root': is_there = 0 < seq <= size and leads(lambda path: grown(seq, size, mark, path), path, (mark, root))
        else:
            mark = leaf_of(header := plain(branch['header']), mark)
            is_there = dot_of(header) == (origin, seq) and not too_long(header, None) and seq <= size and leads(lambda path: audited(mark, seq - 1, size, path), path, root)
        if signed(keys.get(origin, b''), plain(branch['signature']), branch['head'].encode()) and of == origin and is_there: marks.add((name, mark))
    return origin, seq, len(marks) == 2 and len(dict(marks)) == 1, ('root' in one)


def listed(data):
    """The entries of a list of cosignatures (§9): origin, size, root, hlc, signature, time, cosignature. Raises where it has not that form."""
    if len(data) % 200 != 16 or len(data) > 204816 or data[:16] != struct.pack('>QQ', 1, len(data) // 200): raise ValueError('no list')
    entries = list(struct.iter_unpack('>16sQ32sQ64sQ64s', data[16:]))
    origins = [entry[0] for entry in entries]
    if origins != sorted(set(origins)) or not all(0 < size < 2**44 > time and hlc < 2**63 for _, size, _, hlc, _, time, _ in entries): raise ValueError('no entry of a list')
    return entries


class Others:
    """What lies beside a log, and others than its node's last run have said: cosigned.db (§9), evidence (§1), erasures.ndjson (§11)."""

    def __init__(self, store):  # Before the log is read: what a running node commits meanwhile is no contradiction.
        self.store, self.lists, path = store, [], os.path.join(store.folder, 'cosigned.db')
        if not stands(path) or os.path.isfile(path) and not os.path.getsize(path): return
        try:
            file = opened(path)
            if file.execute('PRAGMA schema_version').fetchone() == (0,): return file.close()  # a power cut ended its making
            is_table = file.execute("SELECT type FROM sqlite_master WHERE name = 'value'").fetchall() == [(b'table',)]
            if not is_table: raise OSError('it has no table value')
            self.lists = file.execute('SELECT name, CASE WHEN length(bytes) <= 204816 THEN bytes END FROM value ORDER BY name').fetchall()
            file.close()
        except (OSError, sqlite3.Error) as error: store.doubts(f'cosigned.db cannot be read: the log is not compared with what was cosigned ({error})')

    def compare(self):
        self.evidence()
        for name, data in self.lists: self.cosigned(name, data)

    def cosigned(self, name, data):
        """§9: what this node has cosigned, and what peers have told of its own origins, it has had; what they tell of others may come yet."""
        store, is_text = self.store, kind(name) == 't'
        name = name.decode(errors='replace') if is_text else repr(name)
        try:
            if not is_text or type(data) is not bytes: raise TypeError('another kind')
            origin, node = re.fullmatch('(?:mine/([0-9a-f-]{36})|node/([0-9a-f]{64}))', name).groups()
            entries, node = listed(data), bytes.fromhex(node) if node else store.own
            if origin and [entry[0] for entry in entries] != [uuid.UUID(origin).bytes]: raise ValueError('no cosignature of that origin')
        except ODD: return store.doubts(f'cosigned.db: {name:.90} is no list of cosignatures: nothing can be compared with it')
        key = next((key for _, its, key in store.origins.values() if its == node), b'')
        who = 'what this node has cosigned' if node == store.own else f'node {node.hex():.12}' if node else ''
        for origin, size, root, hlc, signature, time, cosignature in entries:
            ref, its = next(((ref, its) for ref, (id, its, _) in store.origins.items() if id == origin), (0, b''))
            text = head_text(origin, size, root, hlc)
            # No word of that node, or of a head that the origin's node has not signed: it says nothing of this log.
            if not signed(key, cosignature, f'cosignature/v1\ntime {time}\n'.encode() + text) or not signed(store.keys.get(origin, b''), signature, text): continue
            is_here = store.log.execute('SELECT 1 FROM event WHERE origin = ? AND seq = ?', (ref, size)).fetchone()
            # Peers may be ahead in origins of others, and of two histories that are proven hold the other one.
            is_usual = origin in store.forks if is_here else store.own not in (node, its)
            if not is_usual: store.expects(who, origin, size, root)

    def evidence(self):
        """§1: proofs of forks, and what starts have found. No one has signed the latter: what has not their form says nothing."""
        store = self.store
        try: names = sorted(os.listdir(os.path.join(store.folder, 'evidence')))
        except OSError as error: names = not isinstance(error, FileNotFoundError) and store.doubts(f'what is in evidence cannot be told: {error}') or []
        for name, data in [(name, None) for name in names] + store.asked:
            is_asked = data is not None
            try:
                said = members(data if is_asked else store.look('evidence/' + name, True) or b'')
                if is_asked and said is None: raise ValueError('it is empty, or no JSON object')
                if is_asked or name.startswith('fork-') and name.endswith('.json'):
                    origin, seq, holds, is_rough = fork(said, store.keys)
                    if holds: store.forks[origin] = seq; store.notes.append(f'{name}: the key of {said["origin"]} has signed two histories ' + (f'of the first {seq} events' if is_rough else f'from seq {seq} on'))
                    elif origin in store.keys: store.finds('beside', f'{name}: does not prove two histories of {said["origin"]}')
                    elif is_asked: store.doubts(f'{name}: it is of origin {said["origin"]}, of which nothing is here: whether it proves two histories cannot be told')
                elif re.fullmatch(r'(cut|witness)-[0-9a-f]{16}\.json', name) and name.split('-')[0] == said['kind']:
                    if not all(form(said[member]) for member, form in CUT.items() if member in said or member not in ('known', 'settled')): continue
                    store.cuts[name[:-5]] = {'text': said['text'], 'at': int(said['at']), 'position': int(said['position'])}
                    origin, size, root = parsed(said['known']); store.expects(name[:-5], origin, size, root)
                    store.cuts[name[:-5]]['text'] += f': origin {uuid.UUID(bytes=origin)} had {size} events, up to seq {said["had"]} they were here' * (int(said['had']) < size)
            except ODD as error:
                if is_asked: raise OSError(f'{name} is no proof of a fork: {error!r}')

    def erasures(self):
        """What a restored store keeps of erasures that its log does not have (§11): each proves itself, and lets go what the node's own would."""
        store, path, lines = self.store, os.path.join(self.store.folder, 'erasures.ndjson'), []
        if os.path.isfile(path) and os.path.getsize(path) <= 64 << 20: lines = data.removesuffix(b'\n').split(b'\n') if (data := open(path, 'rb').read()) else []
        elif stands(path): store.doubts('erasures.ndjson cannot be read: it is no file, or has more than 64 MiB')
        for number, data in enumerate(lines, 1):
            try:
                line = line_of(data)
                if line['type'] != 'erasure': raise Lie('no erasure')
                key, header, payload, salt = plain(line['key']), plain(line['header']), plain(line['payload']), bytes.fromhex(line['salt'])
                (origin, size, root), dot, leaf = parsed(line['head']), (uuid.UUID(line['origin']).bytes, line['seq']), leaf_of(header, sha(salt, payload))
                is_there = dot_of(header) == dot and 0 < dot[1] <= size and len(salt) == 16 and leads(lambda path: audited(leaf, dot[1] - 1, size, path), digests(line['proof']), root)
                if node_of(key) != store.own or origin != dot[0] or not is_there or not signed(key, plain(line['signature']), line['head'].encode()): raise Lie('not signed')
                found = texts(header, dot)
                if found.get(6) not in (b'user.erased', b'conversation.erased'): raise Lie('no erasure')
                time = types.SimpleNamespace(hlc=int.from_bytes(found.get(3, b''), 'little'))
                if not store.erasure(time, store.own, found[6].decode()[:-7], members(payload), found[8], found.get(7)): raise Lie('no erasure')
            except (*ODD, Lie): store.finds('erased', f'erasures.ndjson, line {number}: no erasure that this node has signed')


def moment(seconds): return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')


def check(path, as_json):
    """`verify.py --proof FILE`: 0 proven, 2 proven but not signed as a whole or not of all of a log, 3 contradicted."""
    try: found = Receipt(path)
    except Lie as lie: return print(json.dumps({'answer': 'contradicted', 'what': str(lie)}) if as_json else shown(f'CONTRADICTED  {lie}')) or 3
    about = next(({member: found.answer[member], 'filtered': found.answer['filtered']} for _, member, _ in SCOPES if member in (found.answer or ())), {})
    origins = [{'origin': str(uuid.UUID(bytes=origin)), 'node': head['node'], 'size': head['size'], 'cosigned': [one[0] for one in head['cosigned']]}
               for origin, head in found.heads.items()]
    uncovered = 0 if found.answer else max(0, found.maker['position'] - sum(head['size'] for head in found.heads.values()))
    code, word = (2, 'not signed as a whole') if not found.signed else (2, 'not all covered') if uncovered else (0, 'proven')
    report = {'answer': word, 'kind': found.maker['type'], 'node': found.maker['node'],
              'cluster': found.maker['cluster'], 'time': found.maker['time'], **about, **({} if found.answer else {'uncovered': uncovered}), 'events': found.events, 'without_payload': found.erased, 'origins': origins}
    if as_json: return print(json.dumps(report)) or code
    for origin, head in found.heads.items():
        print(f'origin {uuid.UUID(bytes=origin)}  {head["size"]} events, signed by node {head["node"]}')
        for node, time, size, _ in head['cosigned']: print(f'  cosigned by {node} at {moment(time)}, {size} events')
    for member in about.keys() - {'filtered'}: print(shown(f'of {member} {about[member]}' + (': only a part of its events was asked for' if about['filtered'] else '')))
    print(f'{report["answer"].upper()}  {found.maker["type"]} of node {found.maker["node"]} at {found.maker["time"]}: {found.events} events, {found.erased} without payload')
    if uncovered: print(f'{uncovered} of the {found.maker["position"]} events of its log are covered by no signed head: where the node runs it signs them within a second; make another one then')
    if not found.signed: print('not signed as a whole: no one says that nothing was taken out of the file; ask for one that is made by a user who may read node.key, or by the daemon')
    if about and (found.signed or about['filtered']): print('not shown: ' + ('the rest of them, which was not asked for' if about['filtered'] else 'that there are no others; the node states it'))
    return code
