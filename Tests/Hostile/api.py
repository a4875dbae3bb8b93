"""The API's Unix socket: half requests, half bodies, smuggling, numbers. A client of it may append; it may not hold up others."""
import collections
import json
import random
import resource
import socket
import time

from lab import PEAK_RSS_MB, Failed, answer, check

CASES = []
# Supervisors give a probe about a second before they act.
PROBE = 1.0
BODY = b'{"type":"message.posted","user":"u-api","data":{"text":"x"}}'


def case(function):
    CASES.append(function)
    return function


def sockets(daemon, count, data):
    """So many callers that have sent `data` and wait; fewer where the daemon takes no more."""
    out, refused = [], 0
    while len(out) < count and refused < 100:
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(1)
        try:
            link.connect(daemon.socket_path)
        except OSError:  # its queue of callers is full: a moment later there is room
            link.close()
            refused += 1
            time.sleep(0.02)
            continue
        out.append(link)
        try:
            link.sendall(data)
        except OSError:
            pass
    return out


def probes(daemon, seconds=3.0):
    """The longest wait for /livez and /readyz meanwhile."""
    worst, until = 0.0, time.monotonic() + seconds
    while time.monotonic() < until:
        for path in ('/livez', '/readyz'):
            began = time.monotonic()
            try:
                status, _ = daemon.get(path, timeout=40)
            except OSError as problem:
                raise Failed(f'{path}: {problem} after {time.monotonic() - began:.1f} s') from None
            worst = max(worst, time.monotonic() - began)
            check(status == 200, f'{path}: {status}')
            check(worst <= PROBE, f'{path} took {worst:.1f} s')
        time.sleep(0.05)
    return worst


@case
def half_bodies(lab):
    """300 requests with 2 of 8 announced MB each: bounded memory, probes answered."""
    victim = lab.daemon()
    head = b'POST /v1/events HTTP/1.1\r\nHost: syncd\r\nContent-Length: 8000000\r\n\r\n'
    held = sockets(victim, 300, head + b' ' * 2_000_000)
    worst = probes(victim)
    lab.figures['rss_held'] = f'{victim.rss(peak=False):.0f}MB'
    for link in held:
        link.close()
    check(victim.post('/v1/events', BODY)[0] == 200, 'an honest append is refused afterwards')
    return f'{len(held)} bodies, probes within {worst * 1000:.0f} ms'


@case
def half_requests(lab):
    """1,100 callers that say half a request: /livez and /readyz within a second all the same."""
    victim = lab.daemon()
    held = sockets(victim, 1100, b'GET /livez HTTP/1.1\r\nHos')
    try:
        worst = probes(victim)
    finally:
        for link in held:
            link.close()
    time.sleep(0.2)
    victim.append('after')
    return f'{len(held)} callers, probes within {worst * 1000:.0f} ms'


def gone(link):
    """Whether the other end has closed it."""
    link.setblocking(False)
    try:
        return link.recv(1) == b''
    except BlockingIOError:
        return False


@case
def ten_thousand_clients(lab):
    """10,000 clients that ask once and keep their connections: all are answered, those idle for longest make room, one that goes on
    asking keeps its place, and memory stays bounded."""
    victim = lab.daemon()
    victim.append('first')
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    busy, ask = sockets(victim, 1, b'')[0], b'GET /v1/users/u-honest/history HTTP/1.1\r\nHost: syncd\r\n\r\n'
    held, slowest = collections.deque(), 0.0
    try:
        for number in range(10_000):
            link = sockets(victim, 1, b'')[0]
            begun = time.monotonic()
            link.sendall(ask)
            status, body = answer(link)
            slowest = max(slowest, time.monotonic() - begun)
            check(status == 200 and b'first' in body, f'client {number}: {status} {body[:200]}')
            held.append(link)
            if number % 100 == 0:
                busy.sendall(ask)
                check(answer(busy)[0] == 200, f'the one that goes on asking was not answered beside {number}')
            if len(held) > 2_000:
                held.popleft().close()
        refused = sum(gone(link) for link in held)
        check(refused >= len(held) // 4, f'only {refused} of {len(held)} idle connections made room')
        check(not gone(held[-1]), 'the newest made room')
        told = victim.status()['api']
        check(told['crowded_out'] > 7_000, f'{told}')
        check(victim.rss() < PEAK_RSS_MB, f'{victim.rss():.0f} MB')
    finally:
        for link in (busy, *held):
            link.close()
    return f'slowest answer {slowest * 1000:.0f} ms, {told["crowded_out"]} made room, {victim.rss():.0f} MB'


@case
def deaf_clients(lab):
    """100 callers that ask for /metrics and the status again and again and never read: bounded memory, probes answered."""
    victim = lab.daemon()
    ask = (b'GET /metrics HTTP/1.1\r\nHost: syncd\r\n\r\n' + b'GET /v1/status HTTP/1.1\r\nHost: syncd\r\n\r\n') * 400
    held = []
    for _ in range(100):
        link = socket.socket(socket.AF_UNIX)
        link.connect(victim.socket_path)
        link.setblocking(False)
        try:
            for _ in range(20):
                link.send(ask)
        except BlockingIOError:
            pass
        except OSError:  # it may end such a caller
            link.close()
            continue
        held.append(link)
    worst = probes(victim)
    for link in held:
        link.close()
    victim.append('after')
    return f'{len(held)} callers, probes within {worst * 1000:.0f} ms'


@case
def many_waiters(lab):
    """900 long polls that wait for what never comes, beside appends: probes answered, appends as quick as before."""
    victim = lab.daemon()
    victim.append()
    vector = victim.ctl('vector').stdout.strip().encode()
    data = b'POST /v1/wait?nodes=2&timeout_ms=20000 HTTP/1.1\r\nHost: syncd\r\nContent-Length: %d\r\n\r\n%s' % (len(vector), vector)

    def attack():
        held = sockets(victim, 900, data)
        worst = probes(victim)
        for link in held:
            link.close()
        return f'{len(held)} waiters, probes within {worst * 1000:.0f} ms'
    return lab.beside(victim, attack)


@case
def smuggling(lab):
    """What two readers could understand in two ways is 400 and the end of the connection; nothing is appended by it."""
    victim = lab.daemon()
    before = victim.status()['position']
    inner = b'POST /v1/events HTTP/1.1\r\nHost: syncd\r\nContent-Length: %d\r\n\r\n%s' % (len(BODY), BODY)

    def post(*lines, body=b''):
        return b'POST /v1/events HTTP/1.1\r\n' + b''.join(line + b'\r\n' for line in lines) + b'\r\n' + body
    host, length = b'Host: syncd', b'Content-Length: %d' % len(BODY)
    chunked = b'Transfer-Encoding: chunked'
    bad = {
        'CL and TE': post(host, length, chunked, body=b'0\r\n\r\n' + inner), 'TE and CL': post(host, chunked, length, body=b'0\r\n\r\n' + inner),
        'two CL': post(host, b'Content-Length: 0', length, body=inner), 'a list of CL': post(host, b'Content-Length: 0, 60', body=inner),
        '+CL': post(host, b'Content-Length: +60', body=inner), '-CL': post(host, b'Content-Length: -1', body=inner),
        'hex CL': post(host, b'Content-Length: 0x3c', body=inner), 'CL of 2^64+n': post(host, b'Content-Length: 18446744073709551676', body=inner),
        'empty CL': post(host, b'Content-Length:', body=inner), 'TE identity': post(host, b'Transfer-Encoding: identity', body=inner),
        'TE twice': post(host, chunked, chunked, body=b'0\r\n\r\n' + inner), 'TE chunked, gzip': post(host, b'Transfer-Encoding: chunked, gzip', body=inner),
        'TE xchunked': post(host, b'Transfer-Encoding: xchunked', body=inner), 'blank before colon': post(host, b'Content-Length : 60', body=inner),
        'obs-fold': post(host, b'X-A: b\r\n c', length, body=inner), 'bare LF': b'POST /v1/events HTTP/1.1\nHost: syncd\nContent-Length: 0\n\n' + inner,
        'bare CR': post(host, b'X-A: b\rContent-Length: 60', body=inner), 'NUL in a value': post(host, b'X-A: \x00', body=inner),
        'chunk size of 17 digits': post(host, chunked, body=b'00000000000000001\r\nx\r\n0\r\n\r\n' + inner),
        'negative chunk': post(host, chunked, body=b'-1\r\n\r\n' + inner), 'chunk 0x': post(host, chunked, body=b'0x0\r\n\r\n' + inner),
        'chunk without CRLF': post(host, chunked, body=b'2\r\n{}xx0\r\n\r\n' + inner), 'no Host': post(length, body=inner),
        'two Hosts': post(host, b'Host: other', length, body=inner), 'HTTP/0.9': b'GET /livez\r\n', 'HTTP/2 preface': b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        'TLS': b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + bytes(40), 'a space in the target': b'GET /livez x HTTP/1.1\r\nHost: syncd\r\n\r\n',
        'raw UTF-8': 'GET /v1/\u00e9 HTTP/1.1\r\nHost: syncd\r\n\r\n'.encode(), 'line of 40 KiB': b'GET /' + b'a' * 40960 + b' HTTP/1.1\r\nHost: syncd\r\n\r\n',
        '10,000 headers': post(host, *[b'X-%d: y' % n for n in range(10_000)], body=inner),
    }
    wrong = []
    for name, data in bad.items():
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(2)
            link.connect(victim.socket_path)
            got = b''
            try:
                link.sendall(data)
                link.shutdown(socket.SHUT_WR)
                while more := link.recv(1 << 16):
                    got += more
            except (ConnectionError, TimeoutError, socket.timeout):
                pass
            answers = got.count(b'HTTP/1.1 ')
            if b' 200 ' in got.split(b'\r\n')[0] or answers > 1:
                wrong.append(f'{name}: {answers} answers, {got[:40]!r}')
        check(victim.alive(), f'{name}: died')
    check(not wrong, '; '.join(wrong))
    check(victim.status()['position'] == before, 'something was appended')
    return f'{len(bad)} requests'


@case
def mutated_requests(lab):
    """1,500 requests with random changes: alive, and the next honest one is answered."""
    victim = lab.daemon()
    random.seed(5)
    good = b'POST /v1/events HTTP/1.1\r\nHost: syncd\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' % (len(BODY), BODY)
    for _ in range(1500):
        data = bytearray(good)
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(len(data))
            what = random.randrange(3)
            if what == 0:
                data[at] = random.randrange(256)
            elif what == 1:
                del data[at:at + random.randrange(1, 5)]
            else:
                data[at:at] = random.choice([b'\r\n', b'\0', b' ', b'0', b'9' * 20, bytes([255])])
        for link in sockets(victim, 1, bytes(data)):
            link.close()
    check(victim.alive(), 'died')
    victim.append('after')
    return '1,500 requests'


@case
def numbers_in_requests(lab):
    """Parameters of the API at every edge: 400 or an answer, never the end; HEAD where there is GET."""
    victim = lab.daemon()
    victim.append()
    vector = victim.ctl('vector').stdout.strip().encode()
    origin = victim.status()['origin'].encode()
    wrong = []
    for number in (-1, 0, 2**31, 2**32, 2**44, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30):
        for path, body in ((f'/v1/wait?nodes=1&timeout_ms={number}', vector), (f'/v1/wait?nodes={number}&timeout_ms=10', vector),
                           ('/v1/wait?nodes=1&timeout_ms=10', b'%s/%d' % (origin, number))):
            try:
                status, _ = victim.post(path, body, timeout=4)
                if status >= 500 and status != 503 and status != 504:
                    wrong.append(f'{path} {body[-24:]!r}: {status}')
            except (socket.timeout, TimeoutError):
                wrong.append(f'{path} {body[-24:]!r}: no answer in 4 s')
            except OSError as problem:
                wrong.append(f'{path}: {problem}')
            check(victim.alive(), f'{path} {body!r} ends the daemon: exit {victim.process.returncode}')
    for path in ('/livez', '/readyz'):
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(2)
            link.connect(victim.socket_path)
            link.sendall(f'HEAD {path} HTTP/1.1\r\nHost: syncd\r\nConnection: close\r\n\r\n'.encode())
            got = b''
            while more := link.recv(4096):
                got += more
            if b' 200 ' not in got.split(b'\r\n')[0] or got.partition(b'\r\n\r\n')[2]:
                wrong.append(f'HEAD {path}: {got[:60]!r}')
    check(not wrong, '; '.join(wrong))
    return '33 numbers, HEAD twice'


@case
def events_at_the_edge(lab):
    """Appends with lone surrogates in ids, reserved types, extreme times and sizes are refused, each by its own line."""
    victim = lab.daemon()
    base = {'type': 'message.posted', 'user': 'u-edge', 'data': {'text': 'x'}}
    bad = {'surrogate in user': b'{"type":"message.posted","user":"\\ud800","data":{}}', 'surrogate in type': b'{"type":"\\udfff","user":"u","data":{}}',
           'surrogate in conversation': b'{"type":"t","user":"u","subject":"conversation/\\ud800","data":{}}',
           'surrogate in author': b'{"type":"t","user":"u","author":"\\udc00","data":{}}'}
    for name, change in {'user of 257 bytes': {'user': 'u' * 257}, 'type of 129': {'type': 't' * 129}, 'empty user': {'user': ''},
                         'control in user': {'user': 'a\u0007'}, 'no data': {'data': None}, 'a list': {'data': [1]}, 'year 10000': {'time': '10000-01-01T00:00:00Z'},
                         'year -1': {'time': '-0001-01-01T00:00:00Z'}, 'version 0': {'dataversion': 0}, 'version 2^32': {'dataversion': 2**32},
                         'version -1': {'dataversion': -1}, 'payload of 262,145': {'data': {'t': 'x' * 262_137}}, 'unknown member': {'zzz': 1},
                         'origin.started': {'type': 'origin.started'}, 'user.erased': {'type': 'user.erased'},
                         'conversation.erased': {'type': 'conversation.erased'}, 'access.x': {'type': 'access.granted'}, 'finding.x': {'type': 'finding.settled'},
                         'subscription.x': {'type': 'subscription.made'}}.items():
        bad[name] = json.dumps(base | change).encode()
    wrong = []
    for name, line in bad.items():
        status, text = victim.post('/v1/events', line)
        if b'"type":"appended"' in text:
            wrong.append(f'{name}: appended ({status})')
        elif status == 200:
            wrong.append(f'{name}: 200 although nothing was appended: {text[:80]!r}')
    check(not wrong, '; '.join(wrong))
    return f'{len(bad)} lines'
