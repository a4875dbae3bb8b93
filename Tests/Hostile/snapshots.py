"""Snapshots (FORMATS §7 and sync.proto, SNAPSHOTS): fetched, given honestly, and given by a liar."""
import os
import random
import struct
import time
import uuid

import peer
import record
import wire
from conformance import proves
from extremes import look
from lab import check

CASES = []
EAGER = {'SYNCD_PEERS__SNAPSHOT_AFTER': '10'}
CONVERSATION, TIME, AUTHOR, CAUSE, DEPS, VERSION, UNKNOWN, ERASED = (1 << bit for bit in range(8))


def case(function):
    CASES.append(function)
    return function


# ---- The columns ------------------------------------------------------------------------------------------------------------
def rows(events, after, heads):
    """A SnapshotRows of these events, whose headers are canonical."""
    names, runs, columns, ids, salts, payloads = {}, [], b'', b'', b'', b''

    def name(text):
        return wire.varint(names.setdefault(text.encode(), len(names)))
    for event in events:
        head = wire.decode('EventHeader', event['header'])
        known = [run['origin'] for run in runs]
        if head['origin'] not in known:
            runs.append({'origin': head['origin'], 'first': head['seq']})
            known.append(head['origin'])
        flags = sum(flag for flag, field in ((CONVERSATION, 'conversation'), (TIME, 'time'), (AUTHOR, 'author'), (CAUSE, 'cause'), (DEPS, 'deps'),
                                             (VERSION, 'version')) if field in head)
        columns += bytes([flags]) + wire.varint(known.index(head['origin'])) + struct.pack('>Q', head['hlc']) + name(head['type']) + name(head['user'])
        if flags & CONVERSATION:
            columns += name(head['conversation'])
        if flags & TIME:
            columns += struct.pack('>q', head['time'])
        if flags & AUTHOR:
            columns += name(head['author'])
        if flags & CAUSE:
            columns += head['cause']
        if flags & DEPS:
            columns += wire.varint(len(head['deps'])) + b''.join(d['origin'] + wire.varint(d['seq']) for d in head['deps'])
        if flags & VERSION:
            columns += wire.varint(head['version'])
        columns += wire.varint(len(event['payload']))
        ids, salts, payloads = ids + head['id'], salts + event['salt'], payloads + event['payload']
    return {'after': after, 'count': len(events), 'runs': runs, 'heads': heads, 'names': b''.join(wire.varint(len(n)) + n for n in names),
            'columns': columns, 'ids': ids, 'salts': salts, 'payloads': payloads}


def events_of(piece):
    """The events of a SnapshotRows, made from its columns; every byte string must be used up."""
    names, text = [], piece['names']
    at = 0

    def number(data):
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
    while at < len(text):
        length = number(text)
        names.append(text[at:at + length])
        at += length
    columns, at, salt_at, payload_at, events = piece['columns'], 0, 0, 0, []
    next_seq = [run['first'] for run in piece['runs']]

    def take(count):
        nonlocal at
        at += count
        return columns[at - count:at]
    for row in range(piece['count']):
        flags = take(1)[0]
        run = number(columns)
        values = {'origin': piece['runs'][run]['origin'], 'seq': next_seq[run], 'hlc': struct.unpack('>Q', take(8))[0],
                  'id': piece['ids'][row * 16:row * 16 + 16]}
        next_seq[run] += 1
        values['type'], values['user'] = names[number(columns)], names[number(columns)]
        if flags & CONVERSATION:
            values['conversation'] = names[number(columns)]
        if flags & TIME:
            values['time'] = struct.unpack('>q', take(8))[0]
        if flags & AUTHOR:
            values['author'] = names[number(columns)]
        if flags & CAUSE:
            values['cause'] = take(16)
        if flags & DEPS:
            values['deps'] = [{'origin': take(16), 'seq': number(columns)} for _ in range(number(columns))]
        if flags & VERSION:
            values['version'] = number(columns)
        unknown = take(number(columns)) if flags & UNKNOWN else b''
        header = unknown if not values['type'] and not values['user'] else wire.encode('EventHeader', values) + unknown
        if flags & ERASED:
            events.append({'header': header, 'payload_digest': piece['salts'][salt_at:salt_at + 32]})
            salt_at += 32
        else:
            length = number(columns)
            events.append({'header': header, 'salt': piece['salts'][salt_at:salt_at + 16], 'payload': piece['payloads'][payload_at:payload_at + length]})
            salt_at, payload_at = salt_at + 16, payload_at + length
    check((at, salt_at, payload_at) == (len(columns), len(piece['salts']), len(piece['payloads'])), 'something follows the last row')
    return events


def offer_of(identity, entries, **lies):
    through = sum(e['seq'] for e in entries)
    made = {'through': through, 'events': through, 'entries': entries, 'bytes': 100_000} | lies
    eight = lambda n: (n % 2**64).to_bytes(8, 'big')
    made.setdefault('id', record.sha256(b'sillok-snapshot-v1', identity.node, eight(identity.incarnation), eight(made['through']),
                                     *(e['origin'] + eight(e['seq']) + eight(e['root']) for e in made['entries']))[:16])
    return made


# ---- Fetched and given ------------------------------------------------------------------------------------------------------
@case
def snapshot_is_fetched(lab):
    """Offer, rows and end of a daemon: id, every leaf, every root, every signature recomputed."""
    victim = lab.daemon()
    body = b'\n'.join(b'{"type":"message.posted","user":"u-%d","author":"bot","time":"2026-01-01T00:00:%02dZ","subject":"conversation/c","data":{"text":"x%d"}}'
                      % (n % 7, n % 60, n) for n in range(3000))
    check(victim.post('/v1/events', body)[0] == 200, 'the batch is refused')
    _, link = victim.guest(features=1 | 256, snapshot_after=100)
    check(link.hello['features'] & 256, 'a daemon with 3,001 events does not offer')
    link.send('StateDelta', peer.standing([]))
    offer = link.until('SnapshotOffer')
    sender = record.Identity()
    sender.node, sender.incarnation = link.hello['node'], link.hello['incarnation']
    check(dict(offer) == {**offer_of(sender, [dict(e) for e in offer['entries']]), 'bytes': offer['bytes']}, 'not the offer of sync.proto')
    link.send('SnapshotGet', {'id': offer['id'], 'window': 20_000})
    known, keys, ended, pieces, taken = {}, {}, False, 0, 0
    while not ended:
        name, message = link.receive(5)
        if name == 'SnapshotRows':
            check(message['after'] == sum(map(len, known.values())), 'rows are left out')
            proves({'events': events_of(message), 'coverage': []}, keys, known)
            for head in message['heads']:
                check(record.root_over(known[head['origin']][:head['size']]) == head['root'], 'a head of another root')
            pieces += 1
        elif name == 'SnapshotEnd':
            proves({'events': [], 'coverage': message['coverage']}, keys, known)
            ended = not message['more']
        if name in ('SnapshotRows', 'SnapshotEnd'):
            taken += link.last_size
            link.send('Credit', {'bytes': link.last_size})
    for entry in offer['entries']:
        leaves = known[entry['origin']]
        check(len(leaves) == entry['seq'] and record.short(record.root_over(leaves)) == entry['root'], 'not what was offered')
    link.send('SnapshotDone', {'id': offer['id'], 'code': 0})
    check(link.answers(), 'the link does not go on')
    return f'{sum(map(len, known.values()))} events in {pieces} pieces'


def gives(victim, identity, origin, offer=None, change=None, end=None, features=1 | 256, patience=6.0):
    """Offers `origin`, and gives its rows as far as the victim takes them. `SnapshotDone n`, `Bye n`, or what else came last."""
    link = peer.meet(victim.port, identity, features=features)
    try:
        link.send('StateDelta', peer.standing([origin.entry()], through=len(origin.events)))
        link.send('SnapshotOffer', offer or offer_of(identity, [origin.entry()]))
        name = None
        until = time.monotonic() + patience
        while name not in ('SnapshotGet', 'SnapshotDone', 'Bye') and time.monotonic() < until:
            name, got = link.receive(max(0.01, until - time.monotonic()))
        if name == 'SnapshotGet':
            piece = rows(origin.events, 0, [origin.head()])
            piece = change(piece) if change else piece
            for one in piece if isinstance(piece, list) else [piece]:
                link.send('SnapshotRows', one)
            link.send('SnapshotEnd', {'coverage': [{'head': origin.head()}]} if end is None else end)
            while name not in ('SnapshotDone', 'Bye') and time.monotonic() < until:
                name, got = link.receive(max(0.01, until - time.monotonic()))
        return f'{name} {got["code"]}' if name in ('SnapshotDone', 'Bye') else str(name)
    except peer.Closed:
        return f'Bye {link.bye}' if link.bye else 'closed'
    except peer.Silent:
        return 'silent'
    finally:
        link.close()


def long_origin(identity, count=60):
    origin = record.Origin(identity)
    for number in range(count):
        more = [{}, {'author': 'bot'}, {'time': 1785549700000 + number}, {'cause': uuid.uuid4().bytes}, {'version': 2}][number % 5]
        origin.say('u-snap', f'snap {number}', **more)
    return origin


@case
def snapshot_is_taken(lab):
    """An honest snapshot made here is proved, put in place, and shown by syncctl."""
    victim = lab.daemon(env=EAGER)
    identity = victim.identity()
    origin = long_origin(identity)
    got = gives(victim, identity, origin)
    check(got == 'SnapshotDone 0', f'an honest snapshot: {got}')
    victim.eventually(lambda: 'snap 59' in victim.ctl('history', 'u-snap', expect=None).stdout, 'its events are not shown')
    return f'{len(origin.events)} events'


# ---- Lies -------------------------------------------------------------------------------------------------------------------
def lies(identity, origin):
    """(name, offer, change of the rows, end)"""
    entry, offer = origin.entry(), lambda entries, **more: offer_of(identity, entries, **more)
    many = sorted(({'origin': os.urandom(16), 'seq': 2**63 - 1, 'root': 1} for _ in range(5)), key=lambda e: e['origin'])
    bounded = [e | {'seq': 2**44 - 1} for e in many]
    other = lambda **more: (lambda piece: piece | more)
    cut = lambda field: (lambda piece: piece | {field: piece[field][:-1]})
    longer = lambda field: (lambda piece: piece | {field: piece[field] + b'\0'})
    return [
        ('sums over 2^64', offer(many, through=100, events=100), None, None),
        ('sums over 2^64, as said', offer(many, through=sum(e['seq'] for e in many) % 2**64, events=1), None, None),
        ('five at the bound', offer(bounded), None, None),
        *[(f'bytes {n}', offer([entry], bytes=n), None, None) for n in (2**44, 2**63 - 1, 2**63, 2**64 - 1)],
        *[(f'through {n}', offer([entry], through=n, events=n), None, None) for n in (0, 60, 62, 2**44, 2**63, 2**64 - 1)],
        ('events unlike through', offer([entry], events=7), None, None),
        ('another id', offer([entry], id=bytes(16)), None, None),
        ('another root', offer([entry | {'root': 1}]), None, None),
        ('an origin twice', offer([entry, entry]), None, None),
        *[(f'count {n}', None, other(count=n), None) for n in (0, 60, 62, 8193, 2**32 - 1)],
        *[(f'after {n}', None, other(after=n), None) for n in (2**44, 2**63, 2**64 - 1)],
        *[(f'run from {n}', None, other(runs=[{'origin': origin.id, 'first': n}]), None) for n in (2, 2**44, 2**63 - 1, 2**64 - 1)],
        *[(f'{field} cut', None, cut(field), None) for field in ('names', 'columns', 'ids', 'salts', 'payloads')],
        *[(f'{field} longer', None, longer(field), None) for field in ('columns', 'ids', 'salts', 'payloads')],
        ('the same piece twice', None, lambda piece: [piece, piece], None),
        ('no head at the end', None, None, {}),
        ('a head of another key', None, other(heads=[]), {'coverage': [{'head': origin.head(key=record.Identity().private)}]}),
        *[(f'a head of size {n}', None, other(heads=[]), {'coverage': [{'head': origin.head(size=n), 'proof': [bytes(32)] * 40}]})
          for n in (2**44, 2**63, 2**64 - 1)],
    ]


@case
def snapshots_that_lie(lab):
    """Offers, rows and ends that lie, with extreme numbers: refused, nothing kept, the daemon alive and proven."""
    victim = lab.daemon(env=EAGER)
    taken, believed, deaths = {}, [], []
    tried = lies(record.Identity(), long_origin(record.Identity(), 5))
    for index in range(len(tried)):
        identity = victim.identity()
        origin = long_origin(identity)
        name, offer, change, end = lies(identity, origin)[index]
        got = gives(victim, identity, origin, offer, change, end, patience=1.5)
        taken[got] = taken.get(got, 0) + 1
        time.sleep(0.1)
        if not victim.alive():
            deaths.append(f'{name} (exit {victim.process.returncode})')
            victim.start()
        try:
            look(victim)
            kept = int(victim.status()['position']) > 1
        except OSError:  # it opens its log again: the snapshot was put in place
            kept = True
            time.sleep(0.5)
        kept = kept and int(victim.status()['position']) > 1
        if kept or got == 'SnapshotDone 0':
            believed.append(name)
            victim = lab.daemon(f'victim-{index}', env=EAGER)
    check(not deaths + believed, f'the daemon was ended by: {", ".join(deaths) or "none"}; believed: {", ".join(believed) or "none"}')
    return f'{len(tried)} lies: {taken}'


@case
def snapshot_refused_stays_out(lab):
    """Rows that do not begin where they should are refused, and what was refused is not put in place after all."""
    for number in range(4):
        victim = lab.daemon(f'victim-{number}', env=EAGER)
        identity = victim.identity()
        got = gives(victim, identity, long_origin(identity), change=lambda piece: piece | {'after': 1})
        check(got in ('SnapshotDone 9', 'SnapshotDone 32', 'Bye 9'), got)
        time.sleep(0.5)
        check(int(victim.status()['position']) == 1, f'refused with {got}, and put in place')
    return '4 tries'


@case
def snapshot_heads_of_another_time(lab):
    """A rightly signed head whose hlc is not that of its last event, in the rows or at the end, is refused."""
    taken = []
    for number, place in enumerate(('rows', 'end')):
        victim = lab.daemon(f'victim-{number}', env=EAGER)
        identity = victim.identity()
        origin = long_origin(identity)
        false = origin.head(hlc=77 << 16)
        heads = [false] if place == 'rows' else []
        got = gives(victim, identity, origin, change=lambda piece: piece | {'heads': heads}, end={'coverage': [{'head': false}]} if place == 'end' else None)
        time.sleep(0.5)
        if got == 'SnapshotDone 0':
            taken.append(place)
            time.sleep(0.5)
    check(not taken, f'taken, in {" and ".join(taken)}')
    return '2 heads'


@case
def snapshot_with_idle_names(lab):
    """FORMATS §7: `names` are the texts that occur, each once. A piece with others, the empty one or one twice is refused."""
    taken = []
    for number, idle in enumerate((b'', b'nobody', b'message.posted')):
        victim = lab.daemon(f'victim-{number}', env=EAGER)
        identity = victim.identity()
        got = gives(victim, identity, long_origin(identity), change=lambda piece: piece | {'names': piece['names'] + wire.varint(len(idle)) + idle})
        if got == 'SnapshotDone 0':
            taken.append(repr(idle))
            time.sleep(1)  # it opens its log again
    check(not taken, f'taken with {", ".join(taken)}')
    return '3 names'


@case
def snapshots_with_flipped_bits(lab):
    """One random bit of the rows' byte strings changed: never taken."""
    victim = lab.daemon(env=EAGER)
    random.seed(3)
    taken = {}
    for number in range(80):
        identity = victim.identity()
        field = ('names', 'columns', 'ids', 'salts', 'payloads')[number % 5]

        def flipped(piece):
            data = bytearray(piece[field])
            at = random.randrange(len(data) * 8)
            data[at // 8] ^= 1 << at % 8
            return piece | {field: bytes(data)}
        got = gives(victim, identity, long_origin(identity, 20), change=flipped, patience=1.5)
        taken[got] = taken.get(got, 0) + 1
        check(got != 'SnapshotDone 0', f'a flipped bit in {field} is taken')
        check(victim.alive(), f'{field}: died, exit {victim.process.returncode}')
    check(int(victim.status()['position']) == 1, 'something was kept')
    return f'80 flips: {taken}'
