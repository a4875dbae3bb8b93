"""The wire as docs/reference/sync.proto has it, spoken by a second implementation."""
import base64
import json
import re
import subprocess
import sys
import time

import peer
import record
import wire
from lab import VERIFY, check

CASES = []


def case(function):
    CASES.append(function)
    return function


def proves(message, keys, known=None):
    """Recomputes an Events message: {origin: leaves so far}; the keys come from each origin's first event."""
    known = {} if known is None else known
    for event in message['events']:
        head = wire.decode('EventHeader', event['header'])
        canonical = {name: value for name, value in head.items()}
        check(wire.encode('EventHeader', canonical) == event['header'], 'a header is not canonical')
        leaves = known.setdefault(head['origin'], [])
        check(head['seq'] == len(leaves) + 1, f'seq {head["seq"]} follows {len(leaves)}')
        for dot in head['deps']:
            check(len(known.get(dot['origin'], [])) >= dot['seq'], 'an event comes before what it depends on')
        if head['seq'] == 1:
            check(head['type'] == 'origin.started', 'the first event is not origin.started')
            body = json.loads(event['payload'])
            key = base64.b64decode(body['key'])
            check(record.node_id(key).hex() == body['node'] and head['user'] == 'node/' + body['node'], 'not bound to its node')
            keys[head['origin']] = key
        leaves.append(record.leaf(event))
    for coverage in message['coverage']:
        head = coverage['head']
        leaves = known[head['origin']]
        text = record.head_text(head['origin'], head['size'], head['root'], head['hlc'])
        check(record.is_signed(keys[head['origin']], head['signature'], text), 'a head is not signed by its origin')
        check(record.follows(len(leaves), head['size'], record.root_over(leaves), head['root'], coverage['proof']),
              'a consistency proof does not lead to its head')
    return known


def everything(link, count, known=None, keys=None, timeout=10):
    """Takes Events until `count` are here, giving credit."""
    known, keys = {} if known is None else known, {} if keys is None else keys
    while sum(map(len, known.values())) < count:
        message = link.until('Events', timeout=timeout)
        size = link.last_size
        proves(message, keys, known)
        link.send('Credit', {'bytes': size})
    return known, keys


@case
def golden_bytes(lab):
    """The vectors beside the Swift tests are what this codec makes, byte for byte."""
    folder, count = wire.ROOT / 'Tests/SyncEngineTests/Wire/Vectors', 0
    names = {name.lower(): name for name in wire.TYPES} | {'event-header': 'EventHeader'}
    for path in sorted(folder.glob('*.hex')):
        stem = path.name.split('.')[0]
        if path.name.endswith('.frame.hex'):
            continue
        short = stem.replace('-', '')
        message = 'EventHeader' if stem.startswith('header') else next((names[n] for n in sorted(names, key=len, reverse=True) if short.startswith(n)), None)
        check(message, f'no message for {path.name}')
        body = bytes.fromhex(''.join(path.read_text().split()))
        check(wire.encode(message, wire.decode(message, body)) == body, f'{path.name} is not what comes out again')
        count += 1
    lab.daemon()
    return f'{count} vectors'


@case
def hello_and_refusals(lab):
    """Handshake; codes 1, 2, 3, 23 for those that are not welcome; a caller without certificate."""
    victim = lab.daemon()
    stranger = record.Identity()
    check(peer.Link(victim.port, stranger).outcome() == 'Bye 3', 'a stranger is not told UNKNOWN_PEER')
    check(stranger.node.hex() in victim.get('/v1/status')[1].decode(), 'a stranger is not listed as pending')
    identity = victim.identity()
    link = peer.meet(victim.port, identity)
    check(link.other.hex() == victim.node and link.hello['node'] == link.other, 'the certificate is not of the node id')
    check(link.hello['cluster'] == 'lab' and link.hello['protocol_min'] == 1, 'not the Hello of sync.proto')
    check(link.answers(), 'a Ping is not answered')
    link.close()
    for wanted, change in (('Bye 2', {'cluster': 'other'}), ('Bye 23', {'node': bytes(32)}), ('Bye 1', {'protocol_min': 2, 'protocol_max': 9})):
        guest = victim.identity()
        with peer.Link(victim.port, guest) as call:
            call.send('Hello', peer.hello(guest, 'lab') | change)
            got = call.outcome()
            check(got == wanted, f'{change}: {got} instead of {wanted}')
    for name, settings in (('TLS 1.2', {'tls12': True}), ('an RSA key', {'rsa': True})):
        try:
            got = peer.Link(victim.port, record.Identity(), **settings).outcome(2)
        except peer.Closed:
            got = 'closed'
        check(got == 'closed', f'{name}: {got}')
    try:
        with peer.plain_tls(victim.port) as bare:
            bare.settimeout(3)
            check(bare.recv(100) == b'', 'a caller without certificate gets an answer')
    except OSError:
        pass
    return '8 callers'


@case
def events_are_proven(lab):
    """Vector dialect: what a daemon sends is canonical, gapless, and signed up to its heads."""
    victim = lab.daemon()
    victim.ctl('import', str(wire.ROOT / 'Examples/sample.ndjson'))
    total = int(victim.status()['position'])
    _, link = victim.guest(features=0)
    stated = link.until('Vector')['entries']
    link.send('Vector', {})
    known, _ = everything(link, total)
    for entry in stated:
        check(record.short(record.root_over(known[entry['origin']][:entry['seq']])) == entry['root'], 'the stated root is another')
    link.send('Ack', {'durable': [{'origin': o, 'seq': len(l), 'root': record.short(record.root_over(l))} for o, l in known.items()]})
    victim.eventually(lambda: re.search(r'"lacks":"?0"?[,}]', victim.get('/v1/status')[1].decode()), 'an Ack does not count')
    return f'{total} events recomputed'


@case
def events_both_ways(lab):
    """StateDelta dialect: an own origin is appended, seen by syncctl history, proven, and passed on to a third node."""
    victim, third = lab.pair()
    victim.append('before')
    identity, link = victim.guest()
    origin = record.Origin(identity)
    for number in range(1, 21):
        origin.say('u-py', f'number {number}')
    link.send('StateDelta', peer.standing([]))
    first = link.until('StateDelta')
    check(first['whole'] and len(first['digest']) == 32, 'the first StateDelta is not whole')
    check(first == dict(peer.standing([dict(e) for e in first['entries']], first['through'])), 'the digest is another')
    link.send('Events', origin.batch(1, 7))
    link.send('Events', origin.batch(8))
    credit = 0
    stated = 0
    while stated < 21:
        name, message = link.receive(8)
        credit += message['bytes'] if name == 'Credit' else 0
        for entry in message['entries'] if name == 'StateDelta' else []:
            if entry['root'] == record.short(origin.root(min(entry['seq'], 21))) and entry['seq'] in (7, 21):
                stated = entry['seq']
    text = victim.ctl('history', 'u-py').stdout
    check('number 20' in text, 'syncctl history does not show what was stored')
    third.eventually(lambda: 'number 20' in third.ctl('history', 'u-py', expect=None).stdout, 'the third node does not get it')
    check(link.answers(), 'no Pong')
    return '21 events'


@case
def part_of_a_history(lab):
    """Events up to 7 under a head of 21: stored, provable at the end, and passed on before the rest has come."""
    victim, third = lab.pair()
    identity, link = victim.guest()
    origin = record.Origin(identity)
    for number in range(1, 21):
        origin.say('u-part', f'number {number}')
    link.send('StateDelta', peer.standing([origin.entry()]))
    link.send('Events', origin.batch(1, 7))
    third.eventually(lambda: 'number 6' in third.ctl('history', 'u-part', expect=None).stdout, 'what came is not passed on')
    return '7 of 21 events'


@case
def twins_and_erasures(lab):
    """One id under two dots; an event that its origin has erased, with the erasure: stored, and proven by both verifiers."""
    victim, third = lab.pair()
    identity, link = victim.guest()
    link.send('StateDelta', peer.standing([]))
    one, two = record.Origin(identity), record.Origin(identity)
    id = bytes(range(16))
    for origin in (one, two):
        origin.say('u-twin', 'twin', id=id)
        link.send('Events', origin.batch())
    gone = record.Origin(identity)
    gone.say('u-gone', 'secret')
    gone.append('user.erased', 'u-gone', b'{"user":"u-gone"}')
    whole = gone.events[1]
    gone.events[1] = {'header': whole['header'], 'payload_digest': record.digest_of(whole)}
    link.send('Events', gone.batch())
    for daemon in (victim, third):
        daemon.eventually(lambda: int(daemon.status()['position']) == 9, 'not all is stored')
        check('secret' not in daemon.ctl('history', 'u-gone', expect=None).stdout, 'erased text is shown')
    return '2 twins, 1 erased'


@case
def compressed_and_unknown(lab):
    """Compressed frames, frames of unknown types and unknown fields are taken."""
    victim = lab.daemon()
    identity, link = victim.guest()
    origin = record.Origin(identity)
    for number in range(60):
        origin.say('u-zip', 'long ' * 20)
    link.write(wire.frame(99, b'whatever'))
    link.send('StateDelta', peer.standing([]) | {'+later': wire.tagged(77, 2, b'later')})
    link.send('Events', origin.batch(), compress=True)
    victim.eventually(lambda: victim.status()['position'] in ('62', 62), 'compressed events are not stored')
    return '61 events'


@case
def standing_is_a_difference(lab):
    """A later connection that remembers gets the difference; one that remembers wrongly may ask for all."""
    victim = lab.daemon()
    victim.append('one')
    identity, link = victim.guest()
    link.send('StateDelta', peer.standing([]))
    through = link.until('StateDelta')['through']
    incarnation = link.hello['incarnation']
    link.close()
    victim.append('two')
    time.sleep(0.1)
    link = peer.meet(victim.port, identity, remembered={'incarnation': incarnation, 'through': through, 'origins': 1})
    link.send('StateDelta', peer.standing([]))
    second = link.until('StateDelta')
    check(not second['whole'] and second['since'] == through, 'not a difference')
    check(all(e['number'] == 1 and not e['origin'] for e in second['entries']), 'a known origin is named anew')
    link.send('Resync')
    whole = link.until('StateDelta')
    while not whole['whole']:
        whole = link.until('StateDelta')
    check(len(whole['digest']) == 32, 'a Resync is not answered by everything')
    return 'difference, restated'


@case
def wants_choose(lab):
    """Feature 2: nothing comes before a Want, then that origin, as far as credit goes."""
    victim = lab.daemon()
    for number in range(5):
        victim.append(f'event {number}')
    identity, link = victim.guest(features=3)
    link.send('StateDelta', peer.standing([]))
    entries = link.until('StateDelta')['entries']
    try:
        link.until('Events', timeout=1.0)
        check(False, 'events come without a Want')
    except peer.Silent:
        pass
    link.send('Want', {'take': [{'first': 1}]})
    known, _ = everything(link, 6)
    check(len(known[entries[0]['origin']]) == 6, 'another origin came')
    return '6 events after Want'


@case
def credit_is_kept(lab):
    """No more Events than the window; more after Credit."""
    victim = lab.daemon()
    for _ in range(4):
        victim.ctl('import', str(wire.ROOT / 'Examples/sample.ndjson'))
    for number in range(6):
        victim.append('x' * 3000)
    total = int(victim.status()['position'])
    limits = {'max_body': 1 << 20, 'window': 6000, 'max_payload': 896 << 10}
    _, link = victim.guest(features=1, limits=limits)
    link.send('StateDelta', peer.standing([]))
    known, keys, taken = {}, {}, 0
    try:
        while True:
            message = link.until('Events', timeout=1.5)
            taken += link.last_size
            proves(message, keys, known)
    except peer.Silent:
        pass
    check(sum(map(len, known.values())) < total, 'the window has no effect')
    check(taken <= 6000 + 4200, f'{taken} bytes of a window of 6,000')
    link.send('Credit', {'bytes': 1 << 20})
    everything(link, total, known, keys)
    return f'{taken} bytes, then all'


@case
def guests_join(lab):
    """Join over the TLS exporter; used once; a wrong token and a proof of another connection are refused."""
    victim = lab.daemon()
    line = victim.ctl('peers', 'invite').stdout.strip()
    node, rest = line.removeprefix('sillok://').split('@')
    token = bytes.fromhex(rest.split('/')[3])
    host = bytes.fromhex(node)

    def joins(identity, proof):
        link = peer.Link(victim.port, identity)
        check(link.other == host, 'another node answers')
        link.send('Join', {'cluster': 'lab', 'name': 'guest', 'proof': proof(link)})
        try:
            link.hello = link.until('Hello')
            link.send('Hello', peer.hello(identity, 'lab'))
            return 'in' if link.answers() else ''
        except peer.Closed:
            return f'Bye {link.bye}'

    guest = record.Identity()
    first = peer.Link(victim.port, record.Identity())
    other = record.join_proof(token, first.exported(), host, guest.node)
    check(joins(record.Identity(), lambda link: bytes(32)) == 'Bye 26', 'a wrong proof is not refused with 26')
    check(joins(guest, lambda link: other) == 'Bye 26', 'a proof of another connection is not refused with 26')
    got = joins(guest, lambda link: record.join_proof(token, link.exported(), host, guest.node))
    check(got == 'in', f'an invited guest is not let in: {got}')
    other_line = victim.ctl('peers', 'invite').stdout.strip()
    fresh = bytes.fromhex(other_line.split('/')[5])
    with peer.Link(victim.port, record.Identity()) as odd:
        odd.send('Join', {'cluster': 'lab', 'name': 'x' * 5000, 'proof': bytes(32)})
        check(odd.outcome() in ('Bye 8', 'Bye 3', 'closed'), 'a Join over 4 KiB')
    with peer.Link(victim.port, record.Identity()) as odd:
        odd.send('Hello', peer.hello(odd.identity, 'lab'))
        check(odd.outcome(8) in ('Bye 3', 'closed'), 'a Hello in place of a Join')
    with peer.Link(victim.port, record.Identity()) as odd:
        odd.send('Join', {'cluster': 'elsewhere', 'name': 'x', 'proof': record.join_proof(fresh, odd.exported(), host, odd.identity.node)})
        check(odd.outcome() == 'Bye 2', 'a Join of another cluster')
    again = record.Identity()
    got = joins(again, lambda link: record.join_proof(token, link.exported(), host, again.node))
    check(got in ('Bye 26', 'Bye 3'), f'an invitation is good twice: {got}')
    return '7 guests'


@case
def forks_are_proven(lab):
    """Two histories: the inquiry, the proof, evidence on disk that Scripts/verify.py accepts, passed on to a third node."""
    victim, third = lab.pair()
    identity, link = victim.guest()
    good = record.Origin(identity)
    for number in range(9):
        good.say('u-fork', f'event {number}')
    link.send('StateDelta', peer.standing([]))
    link.send('Events', good.batch())
    victim.eventually(lambda: 'event 8' in victim.ctl('history', 'u-fork', expect=None).stdout, 'not stored')
    link.close()
    evil = record.Origin(identity, origin=good.id, start=False, stamp=good.hlc)
    for event in good.events[:6]:
        evil.push(event['header'], event['payload'])
        evil.events[-1]['salt'] = event['salt']
    evil.leaves = list(good.leaves[:6])
    for number in range(3):
        evil.say('u-fork', f'other {number}')
    link = peer.meet(victim.port, identity)
    link.send('StateDelta', peer.standing([evil.entry()]))
    rounds = 0
    while True:
        asked = link.until('Fork', timeout=15)
        rounds += 1
        check(rounds < 12, 'the inquiry has no end')
        if len(asked['branches']) == 2:
            break
        answer = {'origin': evil.id}
        if asked['seq']:
            check(asked['seq'] == 7, f'seq {asked["seq"]} is named, 7 is the first that differs')
            mine = evil.branch(7)
            answer |= {'seq': 7, 'branches': [mine] + [dict(b) for b in asked['branches']]}
        else:
            answer |= {'roots': [{'size': r['size'], 'root': record.short(evil.root(r['size']))} for r in asked['roots'] if r['size'] <= len(evil.events)]}
        link.send('Fork', answer)
        if asked['seq']:
            break
    victim.eventually(lambda: list(victim.store.glob('evidence/fork-*.json')), 'no evidence is kept')
    third.eventually(lambda: list(third.store.glob('evidence/fork-*.json')), 'the proof is not passed on')
    file = next(third.store.glob('evidence/fork-*.json'))
    checked = subprocess.run([sys.executable, '-B', VERIFY, '--evidence', file, third.store], capture_output=True, text=True)
    check('signed two histories' in checked.stdout, f'Scripts/verify.py: {checked.stdout} {checked.stderr}')
    check('seq 7' in checked.stdout, 'another event is named')
    return f'{rounds} rounds'
