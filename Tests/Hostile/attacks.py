"""What a peer that is let in, and one that is not, can try. Each try names the outcomes that are allowed."""
import json
import os
import random
import re
import socket
import struct
import time

import zstandard

import peer
import record
import wire
from lab import Failed, check

CASES = []
REFUSED = {'Bye 8', 'Bye 9'}
SEQ_LIMIT = 2**44 - 1


def case(function):
    CASES.append(function)
    return function


def tries(victim, attempts, features=1, timeout=2.0):
    """Each attempt (name, allowed outcomes, what to do with the link) from a peer of its own. The failures, as text."""
    wrong = []
    for name, allowed, act in attempts:
        identity = victim.identity()
        try:
            link = peer.meet(victim.port, identity, features=features)
            link.send('StateDelta' if features & 1 else 'Vector', peer.standing([]) if features & 1 else {})
        except (peer.Closed, peer.Silent) as problem:
            raise Failed(f'{name}: no honest beginning: {problem}') from None
        try:
            act(link)
            link.send('Ping', {'nonce': 99})
            got = settled(link, timeout)
        except peer.Closed:
            got = link.outcome(timeout)
        except peer.Silent:
            got = 'stuck'
        link.close()
        check(victim.alive(), f'{name}: died, exit {victim.process.returncode}')
        if got not in allowed:
            wrong.append(f'{name}: {got}, not {"/".join(sorted(allowed))}')
    check(not wrong, '; '.join(wrong))


def settled(link, timeout=2.0, grace=0.25):
    """`Bye n` and so on, or `open` once our Ping 99 is answered."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        try:
            name, found = link.receive(max(0.01, end - time.monotonic()))
        except peer.Silent:
            return 'silent'
        except peer.Closed:
            return f'Bye {link.bye}' if link.bye else 'closed'
        if name == 'Bye':
            return f'Bye {found["code"]}'
        if name == 'Pong' and found['nonce'] == 99:
            try:  # what was asked before may be judged on another thread
                link.until('Bye', timeout=grace)
            except (peer.Silent, peer.Closed):
                pass
            return f'Bye {link.bye}' if link.bye else 'open'
    return 'silent'


def bomb(size, announced=None, after=b''):
    packed = zstandard.compress(bytes(size), 19)
    return wire.frame(wire.TYPES['Events'], struct.pack('>I', size if announced is None else announced) + packed + after, flags=1)


@case
def first_frames(lab):
    """Nothing but a good Hello opens a conversation."""
    victim = lab.daemon()
    wrong = []
    identity = None
    hello = lambda: wire.encode('Hello', peer.hello(identity, 'lab'))
    attempts = [
        ('4,097 bytes', {'Bye 8'}, lambda: wire.frame(1, hello() + wire.tagged(99, 2, bytes(4097 - len(hello()) - 4)))),
        ('length 2^32-1', {'Bye 8'}, lambda: wire.frame(1, b'', length=2**32 - 1)),
        ('reserved bits', {'Bye 9'}, lambda: wire.frame(1, hello(), reserved=1)),
        ('unknown flags', {'Bye 9'}, lambda: wire.frame(1, hello(), flags=2)),
        ('compressed', {'Bye 9'}, lambda: wire.message('Hello', peer.hello(identity, 'lab'), compress=True)),
        ('Events first', {'Bye 9'}, lambda: wire.message('Events', {})),
        ('garbage', {'Bye 8', 'Bye 9'}, lambda: os.urandom(64)),
        ('a group', {'Bye 9'}, lambda: wire.frame(1, hello() + b'\x9b\x06\x9c\x06')),
        ('an overlong varint', {'Bye 9'}, lambda: wire.frame(1, hello() + b'\xa8\x06\x80\x00')),
        ('two Hellos', {'Bye 9'}, lambda: wire.frame(1, hello()) * 2),
    ]
    for name, allowed, data in attempts:
        identity = victim.identity()
        with peer.Link(victim.port, identity) as link:
            link.write(data())
            got = link.outcome(3)
            if got not in allowed:
                wrong.append(f'{name}: {got}')
    check(not wrong, '; '.join(wrong))
    return f'{len(attempts)} tries'


@case
def bad_frames(lab):
    """Lengths, flags, bombs, messages out of turn: Bye 8 or 9, and no memory."""
    victim, _ = lab.pair()
    dot = {'origin': bytes(16), 'seq': 1}
    attempts = [
        ('1 MiB + 1', {'Bye 8'}, lambda k: k.write(wire.frame(3, b'', length=(1 << 20) + 1))),
        ('2^32-1', {'Bye 8'}, lambda k: k.write(wire.frame(3, b'', length=2**32 - 1))),
        ('Ping over 4 KiB', {'Bye 8'}, lambda k: k.write(wire.frame(6, bytes(4097)))),
        ('8 MiB in 275 bytes', REFUSED, lambda k: k.write(bomb(8 << 20))),
        ('more than 64 times', REFUSED, lambda k: k.write(bomb(1 << 20))),
        ('8 MiB announced as little', REFUSED, lambda k: k.write(bomb(8 << 20, announced=300))),
        ('bytes after the frame', REFUSED, lambda k: k.write(bomb(600, after=b'xx'))),
        ('announced 2^32-1', REFUSED, lambda k: k.write(bomb(100, announced=2**32 - 1))),
        ('no zstd at all', REFUSED, lambda k: k.write(wire.frame(3, struct.pack('>I', 64) + os.urandom(40), flags=1))),
        ('second Hello', {'Bye 9'}, lambda k: k.send('Hello', peer.hello(k.identity, 'lab'))),
        ('Vector after StateDelta', {'Bye 9'}, lambda k: k.send('Vector', {})),
        ('Want without feature', {'Bye 9'}, lambda k: k.send('Want', {'take': [{'first': 1}]})),
        ('a group', {'Bye 9'}, lambda k: k.write(wire.frame(6, b'\x0b\x0c'))),
        ('overlong varint', {'Bye 9'}, lambda k: k.write(wire.frame(5, b'\x08\x80\x00'))),
        ('varint of 11 bytes', {'Bye 9'}, lambda k: k.write(wire.frame(5, b'\x08' + b'\xff' * 10 + b'\x01'))),
        ('uint32 of 2^32', {'Bye 9'}, lambda k: k.write(wire.frame(8, b'\x08' + wire.varint(2**32)))),
        ('origin of 15 bytes', {'Bye 9'}, lambda k: k.send('StateDelta', {'entries': [{'origin': bytes(15), 'seq': 1, 'root': 1}]})),
        ('seq 0', {'Bye 9'}, lambda k: k.send('Fork', {'origin': bytes(16), 'roots': [{'root': 1}]})),
        ('reserved bits', {'Bye 9'}, lambda k: k.write(wire.frame(6, b'', reserved=7))),
        ('unknown flag', {'Bye 9'}, lambda k: k.write(wire.frame(6, b'', flags=4))),
        ('uninvited SnapshotOffer', REFUSED | {'open'}, lambda k: k.send('SnapshotOffer', {'id': bytes(16), 'through': 1, 'events': 1})),
        ('uninvited SnapshotGet', REFUSED | {'open'}, lambda k: k.send('SnapshotGet', {'id': bytes(16), 'window': 1})),
        ('uninvited SnapshotRows', REFUSED, lambda k: k.send('SnapshotRows', {'count': 1})),
        ('uninvited SnapshotEnd', REFUSED, lambda k: k.send('SnapshotEnd', {})),
        ('uninvited SnapshotDone', REFUSED | {'open'}, lambda k: k.send('SnapshotDone', {'id': bytes(16)})),
        ('200 MiB of unknown frames', {'open'}, lambda k: [k.write(wire.frame(77, bytes(1 << 20))) for _ in range(200)]),
        ('1,000 credits of 2^64-1', {'open', 'Bye 9'}, lambda k: [k.send('Credit', {'bytes': 2**64 - 1}) for _ in range(1000)]),
        ('65 fork roots', {'Bye 9'}, lambda k: k.send('Fork', {'origin': bytes(16), 'roots': [{'size': n, 'root': 1} for n in range(1, 66)]})),
        ('three branches', {'Bye 9'}, lambda k: k.send('Fork', {'origin': bytes(16), 'seq': 1, 'branches': [{}, {}, {}]})),
        ('descending deps in Ack', {'Bye 9'}, lambda k: k.send('Ack', {'durable': [dot | {'root': 1}, dot | {'root': 1}]})),
    ]
    lab.beside(victim, lambda: tries(victim, attempts, timeout=6))
    return f'{len(attempts)} tries'


def tiny(identity, count=3):
    origin = record.Origin(identity)
    for number in range(count):
        origin.say('u-evil', f'evil {number}')
    return origin


@case
def cut_and_flipped(lab):
    """A frame cut anywhere, or with one bit flipped, stores nothing."""
    victim, _ = lab.pair()
    random.seed(1)
    before = None
    for number in range(100):
        if number % 20 == 0:
            identity = victim.identity()
        origin = tiny(identity, 2)
        link = peer.meet(victim.port, identity)
        before = before or victim.status()['position']
        link.send('StateDelta', peer.standing([]))
        data = bytearray(wire.message('Events', origin.batch()))
        if number < 40:
            link.write(bytes(data[:len(data) * number // 40]))
            link.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        else:
            at = random.randrange(8, len(data))
            data[at] ^= 1 << random.randrange(8)
            link.write(bytes(data))
            link.outcome(0.2)
        link.close()
    time.sleep(0.2)
    check(victim.status()['position'] == before, 'something was stored')
    return '40 cuts, 60 flips'


@case
def stamps(lab):
    """Hybrid times and times at every edge: stored, or refused; the victim's own stamps do not move."""
    victim, third = lab.pair()
    stamps_ = [0, 1, 253402300799999 << 16, 2**63 - 1, 2**63, 2**64 - 1, (peer.now_ms() + 86_400_000) << 16]
    times = [-2**63, 2**63 - 1, -62135596800000, 253402300799999, 253402300800000, 0, -1, 2**53]
    taken = 0
    for field, values in (('hlc', stamps_), ('time', times)):
        for value in values:
            identity, link = victim.guest()
            link.send('StateDelta', peer.standing([]))
            origin = record.Origin(identity)
            origin.say('u-late', 'late', **{field: value})
            link.send('Events', {'events': origin.events, 'coverage': [{'head': origin.head(hlc=value % 2**64 if field == 'hlc' else None)}]})
            taken += link.outcome(0.3) == 'open'
            link.close()
            victim.get('/v1/status')
            victim.ctl('clocks', expect=None)
            victim.ctl('history', 'u-late', expect=None)
            victim.ctl('replay', expect=None)
    out = victim.ctl('append', '--user', 'u-own', '--text', 'now', '--json').stdout
    shown = victim.ctl('history', 'u-own', '--utc').stdout
    check(time.strftime('%Y-%m-%d', time.gmtime()) in shown, f'the own stamp has moved: {out} {shown}')
    return f'{taken} of {len(stamps_) + len(times)} stored'


@case
def payloads(lab):
    """Large, deep, broken and binary payloads: kept as bytes or refused with 13, and nothing stops."""
    victim, third = lab.pair()
    attempts = []
    for name, payload, allowed in (('900 KiB', b'{"a":"%s"}' % (b'x' * 900 * 1024), {'Bye 13'}), ('no JSON', b'\xff\xfe nonsense', {'open'}),
                                   ('nested 200,000 deep', b'{"a":' + b'[' * 200_000 + b']' * 200_000 + b'}', {'open'}),
                                   ('empty', b'', {'Bye 9', 'Bye 13'}), ('a list', b'[1,2]', {'open'}), ('twice a name', b'{"a":1,"a":2}', {'open'}),
                                   ('300 KiB', b'{"a":"%s"}' % (b'x' * 300 * 1024), {'open'}), ('lone surrogate', b'{"text":"\\ud800"}', {'open'}),
                                   ('text is a number', b'{"text":5}', {'open'})):
        def act(link, payload=payload):
            origin = record.Origin(link.identity)
            origin.append('message.posted', 'u-odd', payload)
            link.send('Events', origin.batch(), compress=len(payload) > 10_000 and b'x' * 99 not in payload and b'[[' not in payload)
        attempts.append((name, allowed, act))
    tries(victim, attempts, timeout=4)
    victim.eventually(lambda: 'payload' in victim.ctl('quarantine', 'list', expect=None).stdout, 'what is no payload is not named')
    victim.append('after')
    check('after' in victim.ctl('history', 'u-honest').stdout, 'views have stopped')
    return f'{len(attempts)} payloads'


NASTY = ['\x1b[2J\x1b]0;owned\x07', '\u202eevil', '\x9b31m', 'a\r\nsyncd: ready', 'nul\x00nul', '\u2066x\u2069', '\x7f', '\x85']
UNSAFE = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]')


@case
def terminal_escapes(lab):
    """No control character of a peer reaches a terminal or the log: texts, users, authors, conversations, names, Bye."""
    victim = lab.daemon()
    for nasty in NASTY:
        identity = victim.identity()
        link = peer.meet(victim.port, identity, name=nasty, software=nasty)
        link.send('StateDelta', peer.standing([]))
        origin = record.Origin(identity, name='x')
        origin.append('message.posted', 'u-esc', json.dumps({'text': nasty}).encode(), conversation='c-esc')
        for field in ('user', 'author', 'conversation', 'type'):
            values = {'conversation': 'c-esc', field: nasty}
            user = values.pop('user', 'u-esc')
            kind = values.pop('type', 'message.posted')
            origin.append(kind, user, json.dumps({'text': nasty}).encode(), **values)
        link.send('Events', origin.batch())
        link.outcome(0.15)
        try:
            link.send('Bye', {'code': 6, 'text': nasty})
        except (peer.Closed, peer.Silent):
            pass
        link.close()
    shown = ''
    for command in (['history', 'u-esc'], ['history', 'u-esc', '--plain'], ['conversation', 'c-esc'], ['conversations'], ['tail'], ['peers'],
                    ['status'], ['clocks'], ['quarantine', 'list'], ['doctor'], ['replay'], ['show', '2']):
        out = victim.ctl(*command, expect=None)
        for place, text in (('stdout', out.stdout), ('stderr', out.stderr)):
            found = UNSAFE.search(text)
            check(not found, f'{" ".join(command)} prints {found and found[0]!r} on {place}')
            shown += text
    found = UNSAFE.search(victim.log())
    check(not found, f'the log has {found and found[0]!r}')
    check('u-esc' in shown, 'nothing was shown at all')
    return f'{len(NASTY)} texts, 12 commands'
