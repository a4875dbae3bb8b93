"""Every numeric field of every message of sync.proto, at every depth, with numbers that break arithmetic."""
import os
import time

import peer
import wire
from attacks import settled
from lab import check

CASES = []
# 0, 1, the borders of 32 bits, of what sync.proto bounds (2^44), of a double, of 64 bits with and without sign.
NUMBERS = [0, 1, 2**31, 2**32 - 1, 2**44 - 1, 2**44, 2**53, 2**63 - 1, 2**63, 2**64 - 1, -1, -2**31, 253402300799999, 253402300800000]
NUMERIC = wire.VARINTS - {'bool'} | {'fixed64'}


def case(function):
    CASES.append(function)
    return function


def some(kind):
    """A message with something in every field, for those that `plausible` does not know."""
    def of(name, inner):
        if inner in wire.SCHEMA:
            return some(inner)
        return {'bytes': bytes(32 if name == 'root' else 64 if name == 'signature' else 16), 'string': 'x'}.get(inner, 1)
    return {name: [of(name, inner)] if repeated else of(name, inner) for name, (_, inner, repeated) in wire.SCHEMA[kind].items()}


def plausible(kind):
    """A message of this kind with everything in it, so that a lie in one field is reached."""
    origin, root = b'\x11' * 16, b'\x22' * 32
    head = {'origin': origin, 'size': 3, 'root': root, 'hlc': 1 << 60, 'signature': bytes(64)}
    coverage = {'head': head, 'proof': [root]}
    entry = {'origin': origin, 'seq': 3, 'root': 7}
    return known(kind, origin, root, head, coverage, entry) or some(kind)


def known(kind, origin, root, head, coverage, entry):
    return {
        'Hello': {}, 'Vector': {'entries': [entry]}, 'Ack': {'durable': [entry]}, 'Credit': {'bytes': 9},
        'Events': {'events': [{'header': b'\x0a\x10' + origin + b'\x10\x01', 'salt': bytes(16), 'payload': b'{}'}], 'coverage': [coverage]},
        'Ping': {'nonce': 1, 'clock_ms': 1}, 'Pong': {'nonce': 1, 'clock_ms': 1}, 'Bye': {'code': 6, 'retry_after_ms': 1},
        'StateDelta': {'entries': [entry | {'number': 0}], 'whole': True, 'through': 3, 'digest': root}, 'Resync': {},
        'Want': {'take': [{'first': 1, 'more': 1}], 'leave': [{'first': 1, 'more': 1}]},
        'Fork': {'origin': origin, 'roots': [{'size': 2, 'root': 7}], 'seq': 1, 'asks': True,
                 'branches': [{'head': head, 'header': b'\x0a\x10' + origin + b'\x10\x01', 'payload_digest': root, 'proof': [root]}]},
        'SnapshotOffer': {'id': bytes(16), 'through': 3, 'events': 3, 'entries': [entry], 'bytes': 9},
        'SnapshotGet': {'id': bytes(16), 'after': 1, 'window': 9},
        'SnapshotRows': {'after': 0, 'count': 1, 'runs': [{'origin': origin, 'first': 1}], 'heads': [head], 'names': b'\x01a', 'columns': bytes(20),
                         'ids': bytes(16), 'salts': bytes(16), 'payloads': b'{}'},
        'SnapshotEnd': {'coverage': [coverage]}, 'SnapshotDone': {'id': bytes(16), 'code': 9},
    }.get(kind)


def places(kind):
    """Paths to every numeric field of a message: tuples of names."""
    for name, (_, inner, _) in wire.SCHEMA[kind].items():
        if inner in NUMERIC:
            yield (name,)
        elif inner in wire.SCHEMA:
            yield from ((name, *rest) for rest in places(inner))


def planted(kind, values, path, number):
    """A copy of `values` with `number` at `path`."""
    name, *rest = path
    _, inner, repeated = wire.SCHEMA[kind][name]
    values = dict(values)
    if not rest:
        values[name] = wire.Raw(wire.tagged(wire.SCHEMA[kind][name][0], 0, wire.varint(number))) if inner in wire.VARINTS else number
    elif repeated:
        values[name] = [planted(inner, one, rest, number) for one in values.get(name) or [{}]]
    else:
        values[name] = planted(inner, values.get(name) or {}, rest, number)
    return values


def look(victim):
    """What monitoring and a person ask for: each of these has summed up what peers say."""
    for path in ('/v1/status', '/metrics', '/v1/peers'):
        status, _ = victim.get(path)
        check(status == 200, f'{path}: {status}')


def assault(lab, kinds, features):
    victim, _ = lab.pair()
    victim.append()
    tries, taken, deaths = 0, {}, []
    for kind in kinds:
        for path in places(kind):
            identity = victim.identity()
            for number in NUMBERS:
                tries += 1
                where = f'{kind}.{".".join(path)} = {number}'
                try:
                    values = plausible(kind)
                    if kind == 'Hello':
                        link = peer.Link(victim.port, identity)
                        own = peer.hello(identity, 'lab', snapshot_after=1, remembered={'incarnation': 1, 'through': 1, 'origins': 1})
                        link.send('Hello', planted(kind, own, path, number))
                        link.send('StateDelta', peer.standing([]))
                    else:
                        link = peer.meet(victim.port, identity, features=features)
                        if kind not in ('StateDelta', 'Vector'):
                            link.send('StateDelta' if features & 1 else 'Vector', peer.standing([]) if features & 1 else {})
                        planting = planted(kind, values, path, number)
                        if kind == 'StateDelta' and len(path) == 2 and path[1] != 'number':  # so that it fails by the number alone
                            entry = plausible(kind)['entries'][0] | {path[1]: number % 2**64}
                            planting |= {'digest': peer.standing([entry])['digest']}
                        link.send(kind, planting)
                    link.send('Ping', {'nonce': 99})
                    got = settled(link, 1.0, grace=0.08)
                    link.close()
                except peer.Closed as problem:
                    got = str(problem)[:6] if 'Bye' in str(problem) else 'closed'
                except peer.Silent:
                    got = 'silent'
                taken[got] = taken.get(got, 0) + 1
                if not victim.alive():
                    deaths.append(f'{where} (exit {victim.process.returncode})')
                    victim.start()
            try:
                look(victim)
            except OSError:
                deaths.append(f'{kind}.{".".join(path)}, then a look at status')
                time.sleep(0.2)
                victim.start()
    check(not deaths, f'the daemon was ended by: {", ".join(deaths)}')
    victim.ctl('clocks', expect=None)
    victim.ctl('peers')
    victim.append('after')
    return f'{tries} tries: ' + ', '.join(f'{n} {what}' for what, n in sorted(taken.items(), key=lambda one: -one[1])[:6])


@case
def extremes_in_hello(lab):
    """Hello, its limits and what it remembers."""
    return assault(lab, ['Hello'], 3)


@case
def extremes_in_control(lab):
    """Ping, Pong, Credit, Bye, and whatever else sync.proto has that no other case names."""
    others = {'Hello', 'Join', 'Vector', 'Ack', 'StateDelta', 'Want', 'Events', 'Fork', *(name for name in wire.TYPES if name.startswith('Snapshot'))}
    return assault(lab, [name for name in wire.TYPES if name not in others], 1 | 4)


@case
def extremes_in_vectors(lab):
    """Vector and Ack, the older dialect."""
    return assault(lab, ['Vector', 'Ack'], 0)


@case
def extremes_in_standing(lab):
    """StateDelta and Want."""
    return assault(lab, ['StateDelta', 'Want'], 3)


@case
def extremes_in_events(lab):
    """Events, Coverage, Head, Fork and its branches."""
    return assault(lab, ['Events', 'Fork'], 1)


@case
def extremes_in_snapshots(lab):
    """SnapshotOffer, Get, Rows, End, Done."""
    return assault(lab, ['SnapshotOffer', 'SnapshotGet', 'SnapshotRows', 'SnapshotEnd', 'SnapshotDone'], 1 | 256)


@case
def clocks_at_the_edge(lab):
    """Clock_ms −2^63 and 2^63−1 in Hello and Pong, and a look at the clocks after each."""
    victim, _ = lab.pair()
    for clock in (-2**63, 2**63 - 1, -2**63 + 1, 253402300800000, 0):
        identity = victim.identity()
        try:
            link = peer.Link(victim.port, identity)
            link.send('Hello', peer.hello(identity, 'lab') | {'clock_ms': clock})
            link.outcome(0.4)
            link.close()
            link = peer.meet(victim.port, victim.identity())
            link.send('StateDelta', peer.standing([]))
            asked = link.until('Ping', timeout=2)
            link.send('Pong', {'nonce': asked['nonce'], 'clock_ms': clock})
            link.outcome(0.3)
        except (peer.Closed, peer.Silent):
            pass
        check(victim.alive(), f'clock_ms {clock} ends the daemon: exit {victim.process.returncode}')
        shown = victim.ctl('clocks', expect=None)
        check(shown.returncode in (0, 2), f'syncctl clocks: exit {shown.returncode}')
        look(victim)
    return '10 clocks'


@case
def sums_of_sequences(lab):
    """A hundred origins at the bound in one StateDelta or Vector; status, metrics and peers add them up."""
    victim, _ = lab.pair()
    believed = set()
    for features in (1, 0):
        for seq in (2**44 - 1, 2**53, 2**63 - 1, 2**64 - 1):
            identity = victim.identity()
            entries = sorted(({'origin': os.urandom(16), 'seq': seq, 'root': 1} for _ in range(100)), key=lambda e: e['origin'])
            try:
                link = peer.meet(victim.port, identity, features=features)
                link.send(*(('StateDelta', peer.standing(entries)) if features else ('Vector', {'entries': entries})))
                look(victim)
                got = link.outcome(0.3)
            except peer.Closed:
                got = 'closed'
            except OSError:
                got = 'gone'
            check(victim.alive(), f'100 origins at {seq}, then a look at status, end the daemon: exit {victim.process.returncode}')
            if seq >= 2**44 and got == 'open':
                believed.add(seq)
            look(victim)
            victim.ctl('peers')
            victim.ctl('status', expect=None)
    check(not believed, f'believed: seq {sorted(believed)}')
    return '8 statements'
