"""Much of something: each flood runs beside an honest client and a stranger, whose waits are measured."""
import os
import socket
import ssl
import threading
import time
import uuid

import peer
import record
import wire
from attacks import tiny
from lab import check

CASES = []


def case(function):
    CASES.append(function)
    return function


def pour(link, data, seconds, bytes_at_most=400 << 20):
    """Sends `data` again and again until the time, or the other side, ends it. How often."""
    until, sent = time.monotonic() + seconds, 0
    link.patience(0.5, sending=True)
    try:
        while time.monotonic() < until and sent * len(data) < bytes_at_most:
            link.write(data)
            sent += 1
    except (peer.Closed, peer.Silent):
        pass
    return sent


@case
def fork_frames(lab):
    """Fork frames with two branches of 59 KB headers, compressed: bounded memory, and honest peers go on."""
    victim, third = lab.pair()
    victim.append()
    origin_id = uuid.UUID(victim.status()['origin']).bytes
    identity = victim.identity()
    evil = tiny(identity)

    def branch():
        """59 KB that compress to a fiftieth: 64 times is what sync.proto §3 allows."""
        filler = os.urandom(950) + bytes(58_000)
        made = evil.branch(1) | {'header': b'\x0a\x10' + origin_id + b'\x10\x01' + wire.tagged(99, 2, filler)}
        return made | {'head': made['head'] | {'origin': origin_id}}
    frame = wire.message('Fork', {'origin': origin_id, 'seq': 1, 'branches': [branch(), branch()]}, compress=True)
    one_branch = wire.message('Fork', {'origin': origin_id, 'seq': 1, 'branches': [branch()]}, compress=True)

    def attack():
        sent = 0
        for data in (frame * 20, one_branch * 20):
            link = peer.meet(victim.port, victim.identity())
            link.send('StateDelta', peer.standing([]))
            sent += 20 * pour(link, data, 6)
            link.close()
        return sent
    sent = lab.beside(victim, attack)
    third.append('still')
    victim.eventually(lambda: 'still' in victim.ctl('history', 'u-honest').stdout, 'an honest peer waits behind the flood')
    return f'{sent} frames of {len(frame)} bytes'


@case
def origins_without_end(lab):
    """400,000 stated origins, four waiters: a stranger is answered, SIGTERM obeyed, also after the peer has left."""
    victim, third = lab.pair()
    victim.append()
    vector = victim.ctl('vector').stdout.strip().encode()
    stop = threading.Event()

    def waiter():
        while not stop.is_set():
            try:
                victim.post('/v1/wait?nodes=3&timeout_ms=20000', vector, timeout=30)
            except OSError:
                time.sleep(0.1)

    def appender():
        while not stop.is_set():
            try:
                victim.post('/v1/events', b'{"type":"message.posted","user":"u-more","data":{}}')
            except OSError:
                time.sleep(0.1)
    threads = [threading.Thread(target=one, daemon=True) for one in (waiter, waiter, waiter, waiter, appender)]
    identity = victim.identity()
    entries = [{'origin': number.to_bytes(16, 'big'), 'seq': 1, 'root': 1} for number in range(1, 400_001)]
    digest = peer.standing(entries)['digest']
    parts = []
    for at in range(0, 400_000, 10_000):
        last = at == 390_000
        parts.append(wire.message('StateDelta', {'entries': entries[at:at + 10_000], 'whole': True, 'through': 400_000, 'more': not last}
                                  | ({'digest': digest} if last else {})))

    def attack():
        for thread in threads:
            thread.start()
        link = peer.meet(victim.port, identity)
        for part in parts:
            link.write(part)
        answered = 'not answered'
        try:
            answered = 'answered' if link.answers(10) else ''
        except (peer.Closed, peer.Silent):
            answered = f'Bye {link.bye}' if link.bye else 'silent for 10 s'
        time.sleep(2)
        link.close()
        time.sleep(5)
        return answered
    try:
        answered = lab.beside(victim, attack)
        began = time.monotonic()
        victim.get('/v1/status', timeout=20)
        lab.figures['status'] = f'{(time.monotonic() - began) * 1000:.0f}ms'
        check(time.monotonic() - began < 2, f'status took {time.monotonic() - began:.1f} s')
        lab.figures['sigterm_busy'] = f'{victim.stop() * 1000:.0f}ms'
    finally:
        stop.set()
    check(float(lab.figures['sigterm_busy'][:-2]) <= 1000, f'SIGTERM with waiters took {lab.figures["sigterm_busy"]}')
    victim.start()
    return f'400,000 origins: {answered}'


@case
def origins_too_many(lab):
    """400,001 origins are refused."""
    victim = lab.daemon()
    _, link = victim.guest()
    entries = [{'origin': number.to_bytes(16, 'big'), 'seq': 1, 'root': 1} for number in range(1, 400_002)]
    digest = peer.standing(entries)['digest']
    got = 'open'
    try:
        for at in range(0, 400_001, 10_000):
            last = at + 10_000 > 400_001
            link.send('StateDelta', {'entries': entries[at:at + 10_000], 'whole': True, 'through': 9, 'more': not last} | ({'digest': digest} if last else {}))
    except (peer.Closed, peer.Silent):
        pass
    got = link.outcome(10)
    check(got.startswith('Bye') or got == 'closed', f'{got}')
    return got


@case
def strangers_and_a_guest(lab):
    """24 silent callers without a key, again and again, while an invited guest joins."""
    host, guest = lab.daemon('victim'), lab.daemon('third')
    line = host.ctl('peers', 'invite').stdout.strip()
    stranger = record.Identity()
    silent = [peer.Link(host.port, stranger) for _ in range(24)]
    done = guest.ctl('peers', 'join', line, expect=None)
    for link in silent:
        link.close()
    check(done.returncode == 0, f'the guest is kept out, exit {done.returncode}: {done.stderr.strip()[:200]}')
    host.eventually(lambda: any(one.get('name') == 'third' for one in host.status()['peers']), 'the guest is no peer')
    return '24 silent callers'


@case
def silent_callers(lab):
    """2,000 idle TCP connections and 600 handshakes a byte at a time."""
    victim, _ = lab.pair()

    def attack():
        calls = []
        for _ in range(2000):
            try:
                calls.append(socket.create_connection(('127.0.0.1', victim.port), 2))
            except OSError:
                break
        slow = []
        settings = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        settings.check_hostname, settings.verify_mode = False, ssl.CERT_NONE
        out = ssl.MemoryBIO()
        half = settings.wrap_bio(ssl.MemoryBIO(), out)
        try:
            half.do_handshake()
        except ssl.SSLWantReadError:
            pass
        hello = out.read()
        for _ in range(600):
            try:
                slow.append(socket.create_connection(('127.0.0.1', victim.port), 2))
            except OSError:
                break
        for byte in hello[:12]:
            for call in slow:
                try:
                    call.send(bytes([byte]))
                except OSError:
                    pass
            time.sleep(0.2)
        for call in calls + slow:
            call.close()
        return len(calls) + len(slow)
    return f'{lab.beside(victim, attack, crowded=True)} callers'


@case
def strangers_in_a_row(lab):
    """Full handshakes of a stranger for six seconds; few lines of log."""
    victim, _ = lab.pair()

    def attack():
        until, count, stranger = time.monotonic() + 6, 0, record.Identity()
        while time.monotonic() < until:
            try:
                with peer.Link(victim.port, stranger) as link:
                    link.outcome(2)
            except (peer.Closed, peer.Silent, OSError):
                pass
            count += 1
        return count
    count = lab.beside(victim, attack)
    check(len(victim.log().splitlines()) < 40, f'{len(victim.log().splitlines())} lines of log')
    return f'{count} handshakes'


@case
def pings_and_wants(lab):
    """Pings never read, Wants without end, Resync without end: answered, or ended, within bounded memory."""
    victim, _ = lab.pair()
    for number in range(20):
        victim.append(f'event {number}')
    wants = wire.message('Want', {'take': [{'first': 1, 'more': 1000}], 'leave': [{'first': 1, 'more': 1000}]}) * 500
    kinds = [('Ping', wire.message('Ping', {'nonce': 7}) * 1000, 1), ('Want', wants, 3), ('Resync', wire.message('Resync') * 100, 1),
             ('Credit', wire.message('Credit', {'bytes': 1}) * 1000, 1)]

    def attack():
        sent = {}
        for name, data, features in kinds:
            link = peer.meet(victim.port, victim.identity(), features=features)
            link.send('StateDelta', peer.standing([]))
            sent[name] = pour(link, data, 2.5, bytes_at_most=64 << 20)
            link.close()
        return sent
    return str(lab.beside(victim, attack))


@case
def deaf_and_slow(lab):
    """A peer that never reads with a window without end, one that sends a byte every 50 ms."""
    victim, _ = lab.pair()
    for _ in range(3):
        victim.ctl('import', str(wire.ROOT / 'Examples/sample.ndjson'), expect=None)
    body = b'\n'.join(b'{"type":"message.posted","user":"u-big","data":{"text":"%s"}}' % (b'x' * 60_000) for _ in range(100))
    for _ in range(4):
        check(victim.post('/v1/events', body)[0] == 200, 'the batch is refused')

    def attack():
        limits = {'max_body': 8 << 20, 'window': 2**44 - 1, 'max_payload': 896 << 10}
        deaf = []
        for _ in range(5):
            link = peer.meet(victim.port, victim.identity(), features=1, limits=limits)
            link.send('StateDelta', peer.standing([]))
            deaf.append(link)
        slow = peer.meet(victim.port, victim.identity())
        slow.send('StateDelta', peer.standing([]))
        data = wire.message('Events', tiny(slow.identity).batch())
        for byte in data[:80]:
            slow.write(bytes([byte]))
            time.sleep(0.05)
        for link in (*deaf, slow):
            link.close()
        return 'five deaf, one slow'
    return lab.beside(victim, attack)


@case
def many_connections(lab):
    """One peer that comes again and again: RATE_LIMITED after some 60, and nobody else waits."""
    victim, _ = lab.pair()
    identity = victim.identity()

    def attack():
        outcomes = {}
        for _ in range(150):
            try:
                with peer.Link(victim.port, identity) as link:
                    link.send('Hello', peer.hello(identity, 'lab'))
                    link.until('Hello', timeout=3)
                    got = 'in'
            except peer.Closed:
                got = f'Bye {link.bye}'
            except peer.Silent:
                got = 'silent'
            outcomes[got] = outcomes.get(got, 0) + 1
        return outcomes
    outcomes = lab.beside(victim, attack)
    check(outcomes.get('Bye 7', 0) > 20, f'never RATE_LIMITED: {outcomes}')
    return str(outcomes)


@case
def events_that_wait(lab):
    """Events whose dependencies never come, up to and beyond the window: held within bounded memory, others go on."""
    victim, third = lab.pair()

    def attack():
        identity = victim.identity()
        link = peer.meet(victim.port, identity)
        link.send('StateDelta', peer.standing([]))
        sent, until = 0, time.monotonic() + 5
        try:
            while time.monotonic() < until and sent < 2000:
                origin = record.Origin(identity, start=False)
                origin.append('origin.started', 'node/' + identity.node.hex(), b'{"node":"x","a":"%s"}' % os.urandom(9000).hex().encode(),
                              deps=[{'origin': os.urandom(16), 'seq': 5}])
                link.write(wire.message('Events', origin.batch(), compress=False))
                sent += 1
        except (peer.Closed, peer.Silent):
            pass
        got = link.outcome(0.5)
        link.close()
        return f'{sent} events held or refused: {got}'
    result = lab.beside(victim, attack)
    third.append('still')
    victim.eventually(lambda: 'still' in victim.ctl('history', 'u-honest').stdout, 'an honest peer waits')
    return result
