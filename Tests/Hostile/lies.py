"""What a peer that is let in can claim: others' histories, forged ones, evidence, erasures, this node's own memory, an invitation."""
import os
import random
import shutil
import struct
import time
import uuid

import peer
import record
import wire
from attacks import SEQ_LIMIT, tiny, tries
from lab import check

CASES = []


def case(function):
    CASES.append(function)
    return function


@case
def foreign_histories(lab):
    """Events under others' origins, heads by others' keys, broken chains: refused, nothing stored, nobody misled."""
    victim, third = lab.pair()
    victim.append()
    victim_origin = uuid.UUID(victim.status()['origin']).bytes
    third_origin = uuid.UUID(third.status()['origin']).bytes
    stream = {f'Bye {code}' for code in (9, 10, 11, 12, 13, 21, 22, 25, 27)} | {'open'}

    def foreign(origin_id):
        def act(link):
            origin = record.Origin(link.identity, origin=origin_id)
            for number in range(9):
                origin.say('u-stolen', f'stolen {number}')
            link.send('Events', origin.batch())
        return act

    def headed(**change):
        def act(link):
            origin = tiny(link.identity)
            head = origin.head(**{k: v for k, v in change.items() if k in ('root', 'hlc', 'key')}) | \
                {k: v for k, v in change.items() if k == 'signature'}
            link.send('Events', {'events': origin.events, 'coverage': [{'head': head}] if change.get('covered', True) else []})
        return act

    def weak(link):
        """A key of order 1, under which one signature fits every message without the checks of FORMATS §2."""
        class Weak(record.Identity):
            def __init__(self):
                super().__init__()
                self.key = bytes([1]) + bytes(31)
                self.node = record.node_id(self.key)
        origin = tiny(Weak())
        head = origin.head(key=record.Identity().private) | {'signature': bytes([1]) + bytes(63)}
        link.send('Events', {'events': origin.events, 'coverage': [{'head': head}]})

    def sequence(first, skip_start=False, seq=None, deps=None):
        def act(link):
            origin = record.Origin(link.identity, start=not skip_start)
            more = {'seq': seq} if seq else {}
            if deps:
                more['deps'] = [{'origin': uuid.uuid4().bytes, 'seq': deps}]
            for number in range(3):
                origin.say('u-dep' if deps and deps > SEQ_LIMIT else 'u-gap', 'gap', **(more if number == 1 else {}))
            batch = origin.batch()
            batch['events'] = batch['events'][first:]
            link.send('Events', batch)
        return act

    attempts = [("the victim's origin", stream, foreign(victim_origin)), ("a third node's origin", stream, foreign(third_origin)),
                ('a random signature', {'Bye 22'}, headed(signature=os.urandom(64))),
                ("another's key", {'Bye 22'}, headed(key=record.Identity().private)),
                ('a wrong root', {'Bye 21'}, headed(root=os.urandom(32))), ('no head', {'Bye 9', 'Bye 21'}, headed(covered=False)),
                ('a small-order key', {'Bye 22', 'Bye 10'}, weak), ('a gap', {'Bye 10', 'open'}, sequence(1)),
                ('no origin.started', {'Bye 9', 'Bye 10', 'Bye 22'}, sequence(0, skip_start=True)), ('a dependency that never comes', {'open', 'Bye 25'}, sequence(0, deps=999))]
    attempts += [(f'seq {n}', {'Bye 9', 'Bye 10'}, sequence(0, seq=n)) for n in (SEQ_LIMIT, SEQ_LIMIT + 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1)]
    attempts += [(f'dependency on seq {n}', {'open', 'Bye 25', 'Bye 9'}, sequence(0, deps=n)) for n in (SEQ_LIMIT, 2**53, 2**63 - 1, 2**63, 2**64 - 1)]
    lab.beside(victim, lambda: tries(victim, attempts))
    for daemon in (victim, third):
        for user in ('u-stolen', 'u-evil', 'u-gap'):
            check(daemon.ctl('history', user, expect=None).returncode == 1, f'{user} was stored on {daemon.name}')
    return f'{len(attempts)} tries'


@case
def forged_after_good(lab):
    """Forged batches of an origin whose good head is known already, on the same link and on a later one: refused as before it."""
    victim, third = lab.pair()
    stream = {f'Bye {code}' for code in (9, 10, 11, 21, 22)}
    wrong = []
    for name in ('signature', 'key', 'root', 'payload', 'proof', 'order', 'shorter'):
        for later in (False, True):
            identity, link = victim.guest()
            origin = tiny(identity, 6)
            link.send('StateDelta', peer.standing([]))
            link.send('Events', origin.batch())
            try:
                while not any(entry['seq'] == 7 for entry in link.until('StateDelta')['entries']):
                    pass
                if later:
                    link.close()
                    link = peer.meet(victim.port, identity)
                    link.send('StateDelta', peer.standing([origin.entry()]))
                origin.say('u-forged', 'one')
                origin.say('u-forged', 'two')
                batch = origin.batch(8)
                head, event = batch['coverage'][0]['head'], batch['events'][0]
                if name == 'signature':
                    batch['coverage'][0]['head'] = head | {'signature': os.urandom(64)}
                elif name == 'key':
                    batch['coverage'][0]['head'] = origin.head(key=record.Identity().private)
                elif name == 'root':
                    batch['coverage'][0]['head'] = origin.head(root=os.urandom(32))
                elif name == 'payload':
                    batch['events'][0] = event | {'payload': event['payload'].replace(b'one', b'six')}
                elif name == 'proof':
                    batch['coverage'][0]['proof'] = [os.urandom(32)]
                elif name == 'order':
                    batch['events'].reverse()
                else:  # an old head, which does not reach these events
                    batch['coverage'][0]['head'] = origin.head(size=7)
                link.send('Events', batch)
                got = link.outcome(1.5)
            except peer.Closed:
                got = f'Bye {link.bye}'
            if got not in stream:
                wrong.append(f'{name}{", a later link" if later else ""}: {got}')
            link.close()
    check(not wrong, '; '.join(wrong))
    for daemon in (victim, third):
        check(daemon.ctl('history', 'u-forged', expect=None).returncode == 1, f'a forged event was stored on {daemon.name}')
    return '14 forgeries'


@case
def erased_without_erasure(lab):
    """An event without payload that no erasure covers is a finding, by both verifiers, and a peer that has it whole heals it."""
    victim, third = lab.daemon('victim'), lab.daemon('third')
    identity = record.Identity()
    origin = tiny(identity, 4)
    whole = list(origin.events)
    without = list(whole)
    without[2] = {'header': whole[2]['header'], 'payload_digest': record.digest_of(whole[2])}
    for daemon, events in ((victim, without), (third, whole)):
        daemon.pins(identity)
        origin.events = events
        with peer.meet(daemon.port, identity) as link:
            link.send('StateDelta', peer.standing([]))
            link.send('Events', origin.batch())
            daemon.eventually(lambda: int(daemon.status()['position']) == 6, f'{daemon.name} does not store it')
    victim.stop()
    theirs, ours, detail = victim.proven()
    victim.start()
    third.ctl('peers', 'join', victim.ctl('peers', 'invite').stdout.strip())
    victim.eventually(lambda: 'evil 1' in victim.ctl('history', 'u-evil', expect=None).stdout, 'what a peer has whole does not come')
    check((theirs, ours) == (3, 3), f'before it was healed syncctl verify says {theirs}, verify.py {ours} {detail}')
    return 'found, healed'


@case
def reserved_types_of_another_form(lab):
    """Erasures and settlements of a let-in peer that have another form prove nothing and damage nothing, for either verifier."""
    victim = lab.daemon('victim')
    identity, link = victim.guest()
    origin = tiny(identity, 2)
    forms = [b'{"user":5}', b'{"user":"\\ud800"}', b'{"user":null}', b'{"conversation":{"a":1}}', b'[1,\xff]', b'5', b'[' * 5000, b'{"user":' + b'9' * 5000 + b'}',
             b'{"user":"a","user":"b"}', b'{"code":[1],"subject":5,"of":{}}', b'{"node":5,"evidence":["cut-0123456789abcdef"]}', b'{"x":' + b'[' * 63 + b']' * 63 + b'}']
    for type in ('user.erased', 'conversation.erased', 'finding.settled', 'origin.started', 'access.granted', 'subscription.made'):
        for form in forms:
            origin.append(type, f'node/{identity.node.hex()}', form)
    origin.say('u-evil', 'after them')
    link.send('StateDelta', peer.standing([]))
    link.send('Events', origin.batch())
    victim.eventually(lambda: 'after them' in victim.ctl('history', 'u-evil', expect=None).stdout, 'they are not stored')
    time.sleep(0.5)
    link.close()
    victim.stop()
    theirs, ours, detail = victim.proven()
    check((theirs, ours) == (0, 0), f'syncctl verify {theirs}, verify.py {ours} {detail}')
    return f'{6 * len(forms)} events'


@case
def false_evidence(lab):
    """Fork frames with two branches that prove nothing: no evidence is kept, and the origin goes on."""
    victim, third = lab.pair()
    identity, link = victim.guest()
    good, wrong = tiny(identity, 5), []
    link.send('StateDelta', peer.standing([]))
    link.send('Events', good.batch())
    victim.eventually(lambda: victim.ctl('history', 'u-evil', expect=None).returncode == 0, 'not stored')
    other = record.Origin(record.Identity(), origin=good.id)  # by a key that is not the origin's
    for number in range(5):
        other.say('u-evil', f'other {number}')
    one, strange = good.branch(3), other.branch(3)
    lies = {'the same twice': [one, one], "another's key": [one, strange], 'no signature': [one, one | {'payload_digest': os.urandom(32)}],
            'another event': [one, good.branch(4)], 'no path': [one, one | {'proof': []}], 'a long path': [one, one | {'proof': [bytes(32)] * 65}],
            'a header of nothing': [one, one | {'header': b''}]}
    for name, branches in lies.items():
        sender = victim.identity()
        with peer.meet(victim.port, sender) as call:
            call.send('StateDelta', peer.standing([]))
            try:
                call.send('Fork', {'origin': good.id, 'seq': 3, 'branches': branches})
                call.outcome(0.3)
            except peer.Closed:
                pass
        if list(victim.store.glob('evidence/fork-*')):
            wrong.append(name)
            break
    check(not wrong, f'kept as evidence: {wrong}')
    good.say('u-evil', 'goes on')
    with peer.meet(victim.port, identity) as again:
        again.send('StateDelta', peer.standing([good.entry()]))
        again.send('Events', good.batch(7))
        victim.eventually(lambda: 'goes on' in victim.ctl('history', 'u-evil').stdout, 'the origin does not go on')
    return f'{len(lies)} lies'


@case
def heads_too_large(lab):
    """A head rightly signed for more events than can be is not stored, and verify stays what it was, on every node."""
    victim, third = lab.pair()
    made = []

    def head_of(size):
        """One event under a tree of `size` leaves that nobody needs to have: the siblings are made up."""
        def act(link):
            origin = record.Origin(link.identity)
            made.append((size, origin.id))
            root, siblings = origin.leaves[0], []

            def up(count):
                nonlocal root
                while count > 1:
                    siblings.append(os.urandom(32))
                    root = record.node_hash(root, siblings[-1])
                    count = record.split(count)
            up(size)
            link.send('Events', {'events': origin.events, 'coverage': [{'head': origin.head(size=size, root=root), 'proof': siblings}]})
        return act

    sizes = (2**44, 2**53, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1)
    tries(victim, [('2^44-1', {'open'}, head_of(SEQ_LIMIT))])
    tries(victim, [(f'size {n}', {'Bye 9', 'Bye 21'}, head_of(n)) for n in sizes])
    time.sleep(0.5)
    stored = [size for size, origin in made if str(uuid.UUID(bytes=origin)) in victim.ctl('vector').stdout]
    check(stored == [SEQ_LIMIT], f'events were stored under heads of {stored}')
    return f'{len(sizes) + 1} heads'


@case
def heads_of_another_time(lab):
    """A rightly signed head whose hlc is not that of its last event is refused, at once or when that event comes."""
    victim, third = lab.pair()
    wrong = []
    for parts in (((1, 6),), ((1, 3), (4, 6))):
        identity, link = victim.guest()
        link.send('StateDelta', peer.standing([]))
        origin = tiny(identity, 5)
        head = origin.head(hlc=77 << 16)
        try:
            for first, last in parts:
                link.send('Events', origin.batch(first, last, head=head))
            got = link.outcome(1.0)
        except peer.Closed:
            got = f'Bye {link.bye}'
        link.close()
        if got not in ('Bye 9', 'Bye 21', 'Bye 22'):
            wrong.append(f'in {len(parts)} parts: {got}')
    time.sleep(0.3)
    check(not wrong, '; '.join(wrong))
    return '2 heads'


@case
def odd_events(lab):
    """Rightly signed events that are odd in every way: stored or refused, and what is stored is proven, here and on a third node."""
    victim, third = lab.pair()
    random.seed(9)
    started = b'{"node":"%s","key":"%s","name":"x"}'

    def good(origin, **more):
        return {'origin': origin.id, 'seq': 2, 'hlc': origin.hlc + 1, 'id': os.urandom(16), 'type': 'message.posted', 'user': 'u-odd'} | more
    tail, text = wire.tagged, b'{"text":"odd"}'
    headers = {
        'version 0': lambda o: record.header(**good(o, version=0)), 'version 1': lambda o: record.header(**good(o, version=1)),
        'time of the hlc': lambda o: record.header(**good(o, time=o.hlc + 1 >> 16)), 'author is the user': lambda o: record.header(**good(o, author='u-odd')),
        'own dependency': lambda o: record.header(**good(o, deps=[{'origin': o.id, 'seq': 1}])),
        'a dependency twice': lambda o: record.header(**good(o, deps=[{'origin': bytes(16), 'seq': 1}] * 2)),
        'field 13': lambda o: record.header(**good(o)) + tail(13, 2, b'later'), 'field 2^29-1': lambda o: record.header(**good(o)) + tail(2**29 - 1, 0, b'\x07'),
        'an actor': lambda o: record.header(**good(o, actor='socket:uid:0')), 'an actor of no method': lambda o: record.header(**good(o, actor='ceo')),
        'an actor twice': lambda o: record.header(**good(o, actor='node:a')) + tail(32, 2, b'node:b'), 'field 33': lambda o: record.header(**good(o)) + tail(33, 0, b'\x01'),
        'an actor in broken UTF-8': lambda o: record.header(**good(o)) + tail(32, 2, b'node:\xff'), 'actor, field 31': lambda o:
        record.header(**good(o, actor='node:a')) + tail(31, 0, b'\x01'), '5,000 ancillary bytes': lambda o: record.header(**good(o)) + tail(99, 2, bytes(5_000)),
        'fields 14, 13': lambda o: record.header(**good(o)) + tail(14, 0, b'\x01') + tail(13, 0, b'\x01'),
        'type twice': lambda o: record.header(**good(o)) + tail(6, 2, b'x'), 'seq twice': lambda o: record.header(**good(o)) + tail(2, 0, b'\x02'),
        'no user': lambda o: record.header(**{k: v for k, v in good(o).items() if k != 'user'}), 'empty type': lambda o: record.header(**good(o, type='')),
        'id of 15': lambda o: record.header(**good(o, id=bytes(15))), 'broken UTF-8': lambda o: record.header(**good(o, user=b'\xff\xfe')),
        'id of zeros': lambda o: record.header(**good(o, id=bytes(16))), 'the same id': lambda o: record.header(**good(o, id=bytes(range(16)))),
        'and again': lambda o: record.header(**good(o, id=bytes(range(16)))), 'cause of 1': lambda o: record.header(**good(o, cause=b'x')),
        'a group': lambda o: record.header(**good(o)) + b'\x6b\x6c', '65,536 bytes': lambda o: (lambda h: h + tail(13, 2, bytes(65_536 - len(h) - 4)))(record.header(**good(o))),
        '65,537 bytes': lambda o: (lambda h: h + tail(13, 2, bytes(65_537 - len(h) - 4)))(record.header(**good(o))),
        'origin.started again': lambda o: record.header(**good(o, type='origin.started', user='node/' + o.identity.node.hex())),
    }

    def mutated(origin):
        data = bytearray(record.header(**good(origin, author='bot', conversation='c-odd', time=5)))
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(len(data))
            data[at] ^= 1 << random.randrange(8)
        return bytes(data)
    headers |= {f'mutation {number}': mutated for number in range(60)}
    taken, link = {}, None
    for name, make in headers.items():
        if link is None:
            identity, link = victim.guest()
            link.send('StateDelta', peer.standing([]))
        origin = record.Origin(identity)
        origin.push(make(origin), text)
        try:  # the head says what the header says, where that can be read
            hlc = struct.unpack('<Q', [value for number, kind, value in wire.fields(origin.events[1]['header']) if (number, kind) == (3, 1)][-1])[0]
        except (ValueError, IndexError):
            hlc = origin.hlc
        try:
            link.send('Events', {'events': origin.events, 'coverage': [{'head': origin.head(hlc=hlc)}]})
            link.answers(3)
            got = link.outcome(0.03)
        except peer.Closed:
            got = f'Bye {link.bye}'
        taken[got] = taken.get(got, 0) + 1
        if got != 'open':
            link.close()
            link = None
    firsts = {'another key': started % (b'0' * 64, b'AAAA'), 'no JSON': b'{', 'nothing': b'{}'}
    for name, payload in firsts.items():  # first events that bind to nothing
        identity, link = victim.guest()
        link.send('StateDelta', peer.standing([]))
        origin = record.Origin(identity, start=False)
        origin.append('origin.started', 'node/' + identity.node.hex(), payload)
        link.send('Events', origin.batch())
        check(link.outcome(1.0) != 'open', f'a first event with {name} is taken')
    identity, link = victim.guest()
    link.send('StateDelta', peer.standing([]))
    origin = tiny(identity, 1)
    whole = origin.events[0]
    origin.events[0] = {'header': whole['header'], 'payload_digest': record.digest_of(whole)}
    link.send('Events', origin.batch())
    check(link.outcome(1.0) != 'open', 'an erased first event is taken')
    time.sleep(0.5)
    return f'{len(headers) + 4} events: {taken}'


@case
def lies_about_memory(lab):
    """Twelve false claims to have more of the victim's own origin make no new origin, and the liar is named and paused."""
    victim, third = lab.pair()
    identity, forger = victim.identity(), record.Identity()
    seen, outcomes, asked = {victim.status()['origin']}, {}, 0
    for number in range(12):
        mine = uuid.UUID(victim.status()['origin']).bytes
        false = record.Origin(forger, origin=mine)
        for _ in range(20):
            false.say('u-false')
        try:
            link = peer.meet(victim.port, identity, features=5)
            link.send('StateDelta', peer.standing([{'origin': mine, 'seq': 1000 + number, 'root': 1}]))
            name, question = None, None
            until = time.monotonic() + 0.5
            while time.monotonic() < until and name not in ('HeadAsk', 'Bye'):
                name, question = link.receive(max(0.01, until - time.monotonic()))
            if name == 'HeadAsk':  # answered with nothing, with a head of another key, with one too small
                asked += 1
                head = [{}, {'head': false.head()}, {'head': false.head(size=1)}][number % 3]
                link.send('HeadTold', {'origin': mine} | head)
            got = f'Bye {question["code"]}' if name == 'Bye' else link.outcome(0.5)
        except peer.Closed:
            got = f'Bye {link.bye}' if link.bye else 'closed'
        except peer.Silent:
            got = 'open'
        outcomes[got] = outcomes.get(got, 0) + 1
        link.close()
        seen.add(victim.status()['origin'])
        victim.append(f'honest {number}')
    lab.figures['origins'] = len(seen) - 1
    check(len(seen) == 1, f'{len(seen) - 1} new origins of 12 lies')
    text = victim.ctl('doctor', expect=None).stdout + victim.log()
    check('py-' + identity.node.hex()[:6] in text, 'the liar is not named')
    check(outcomes.get('Bye 27', 0) or 'paused' in victim.ctl('peers', expect=None).stdout, f'the liar is not paused: {outcomes}')
    return f'{outcomes}, asked {asked} times'


@case
def memory_is_lost_after_lies(lab):
    """A liar has used up what it may; a truthful peer that has more of the node's own origin is believed all the same."""
    victim, third = lab.pair()
    for number in range(3):
        victim.append(f'before {number}')
    third.eventually(lambda: 'before 2' in third.ctl('history', 'u-honest', expect=None).stdout, 'the third node does not follow')
    victim.stop()
    copy = lab.folder / 'copy'
    shutil.copytree(victim.store, copy)
    victim.start()
    victim.append('lost later')
    third.eventually(lambda: 'lost later' in third.ctl('history', 'u-honest', expect=None).stdout, 'the third node does not follow')
    liar = victim.identity()
    shutil.copy(victim.store / 'peers.json', copy / 'peers.json')
    victim.stop()
    for file in ('log.db', 'log.db-wal', 'log.db-shm', 'mark.json', 'log.end', 'views.db', 'views.db-wal', 'views.db-shm'):  # rewound in place: the inode stays
        if (copy / file).exists():
            (victim.store / file).write_bytes((copy / file).read_bytes())
        else:
            (victim.store / file).unlink(missing_ok=True)
    third.stop()
    victim.start()
    for number in range(10):
        try:
            with peer.meet(victim.port, liar) as link:
                link.send('StateDelta', peer.standing([{'origin': uuid.UUID(victim.status()['origin']).bytes, 'seq': 9000, 'root': 1}]))
                link.outcome(0.2)
        except peer.Closed:
            pass
    third.start()
    victim.eventually(lambda: 'lost later' in victim.ctl('history', 'u-honest').stdout, 'what was lost does not come back')
    victim.append('after')
    third.eventually(lambda: 'after' in third.ctl('history', 'u-honest').stdout, 'what came after does not get there')
    check(not list(third.store.glob('evidence/fork-*')), 'it ended in a fork')
    return 'lost, lied to, whole again'


@case
def joins_by_force(lab):
    """Guessing tokens: all refused, few lines of log, the invitation still good for its guest."""
    victim, third = lab.daemon('victim'), lab.daemon('third')
    line = victim.ctl('peers', 'invite').stdout.strip()
    asked, outcomes = 0, {}
    until = time.monotonic() + 6
    while time.monotonic() < until and asked < 300:
        guest = record.Identity()
        try:
            with peer.Link(victim.port, guest) as link:
                link.send('Join', {'cluster': 'lab', 'name': 'x', 'proof': os.urandom(32)})
                got = link.outcome(3)
        except (peer.Closed, peer.Silent):
            got = 'closed'
        outcomes[got] = outcomes.get(got, 0) + 1
        asked += 1
    check(set(outcomes) <= {'Bye 26', 'Bye 3', 'Bye 6', 'Bye 7', 'closed'}, f'{outcomes}')
    lines = len(victim.log().splitlines())
    check(lines <= 30, f'{lines} lines of log for {asked} tries')
    third.ctl('peers', 'join', line)
    return f'{asked} tries, {lines} lines'
