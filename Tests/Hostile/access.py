"""Who asks: tokens that are none, tokens in the wrong place, floods of them, and what is read without a record. Over the API's port."""
import base64
import collections
import contextlib
import hashlib
import hmac
import json
import random
import secrets
import socket
import time

from lab import answer, check, free_port

CASES = []
LINE = b'{"type":"message.posted","user":"u-honest","author":"u-honest","data":{"text":"secret-text"}}'


def case(function):
    CASES.append(function)
    return function


class House:
    """A daemon whose API is on a port, too, and callers with tokens."""

    def __init__(self, lab, **api):
        self.port = free_port()
        config = lab.folder / 'house.json5'
        config.write_text(json.dumps({'api': {'listen': f'127.0.0.1:{self.port}', **api}}))
        self.daemon = lab.daemon('house', '--config', str(config))
        self.daemon.append('secret-text')

    def token(self, principal, *roles, **more):
        status, body = self.daemon.post('/v1/credentials', json.dumps({'principal': principal, 'roles': list(roles), **more}).encode())
        check(status == 201, f'{principal}: {status} {body[:200]}')
        return json.loads(body)['token']

    def ask(self, path, *lines, method='GET', body=b'', source='127.0.0.1', timeout=10):
        """Status and body; 0 where the connection was ended without an answer."""
        head = [f'{method} {path} HTTP/1.1'.encode(), b'Host: syncd', b'Connection: close', *lines]
        if body or method == 'POST':
            head.append(b'Content-Length: %d' % len(body))
        with socket.create_connection(('127.0.0.1', self.port), timeout, (source, 0)) as link:
            with contextlib.suppress(OSError):
                link.sendall(b'\r\n'.join(head) + b'\r\n\r\n' + body)
            try:
                return answer(link)
            except (ConnectionError, socket.timeout):
                return 0, b''


def bearer(token):
    return b'Authorization: Bearer ' + (token if isinstance(token, bytes) else token.encode())


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b'=')


def unlike(token):
    """Values of `Authorization` that no one was given, made from one that counts."""
    _, name, secret = token.split('_', 2)
    key = secret.encode()
    claims = encoded(json.dumps({'iss': 'x', 'sub': 'u-honest', 'aud': 'x', 'exp': 2**40, 'roles': ['admin']}).encode())

    def jwt(algorithm, sign):
        body = encoded(json.dumps({'alg': algorithm, 'kid': '../../etc/passwd', 'jku': 'http://127.0.0.1/x'}).encode()) + b'.' + claims
        return b'Bearer ' + body + b'.' + encoded(sign(body))
    changed = secret[:-2] + ('A' if secret[-2] != 'A' else 'B') + secret[-1]
    return {
        'nothing': b'', 'a word': b'Bearer', 'another scheme': b'Basic ' + base64.b64encode(b'admin:admin'), 'no scheme': token.encode(),
        'two tokens': f'Bearer {token}, Bearer {token}'.encode(), 'one character less': f'Bearer {token[:-1]}'.encode(),
        'one character more': f'Bearer {token}A'.encode(), 'a changed secret': f'Bearer slk1_{name}_{changed}'.encode(),
        'another name': f'Bearer slk1_{"0" * 16}_{secret}'.encode(), 'upper case': f'Bearer {token.upper()}'.encode(),
        'no secret': f'Bearer slk1_{name}_'.encode(), 'the hash': f'Bearer slk1_{name}_'.encode() + encoded(hashlib.sha256(key).digest()),
        'version 2': f'Bearer slk2_{name}_{secret}'.encode(), 'a NUL behind': f'Bearer {token}'.encode() + b'%00',
        'another alphabet': f'Bearer slk1_{name}_'.encode() + base64.b64encode(bytes([251] * 32)), '8 KiB': b'Bearer ' + b'a' * 8192,
        'full width': 'Bearer ｓｌｋ１_'.encode() + token[5:].encode(), 'bytes': b'Bearer ' + bytes(range(128, 256)),
        'alg none': jwt('none', lambda _: b''), 'alg HS256': jwt('HS256', lambda body: hmac.new(b'x', body, hashlib.sha256).digest()),
        'three points': b'Bearer ...', 'a tower of JSON': b'Bearer ' + encoded(b'[' * 4000) + b'.' + claims + b'.AA',
    }


@case
def tokens_that_are_none(lab):
    """22 values of Authorization that no one was given, at routes of all kinds: refused, nothing of the log in the answer."""
    house = House(lab)
    token = house.token('bot/b', 'reader')
    check(b'secret-text' in house.ask('/v1/users/u-honest/history', bearer(token))[1], 'the token itself does not count')
    wrong, asked = [], 0
    for number, (name, value) in enumerate(unlike(token).items()):
        for path, method in (('/v1/users/u-honest/history', 'GET'), ('/v1/changes?after=first', 'GET'), ('/v1/me', 'GET'),
                             ('/v1/events', 'POST'), ('/v1/credentials', 'POST'), ('/v1/status', 'GET')):
            body = LINE if path == '/v1/events' else b'{"principal":"me","roles":["admin"]}' if method == 'POST' else b''
            lines = [b'Authorization: ' + value] if name != 'nothing' else []
            status, text = house.ask(path, *lines, method=method, body=body, source=f'127.0.{1 + asked // 5 % 250}.{1 + asked // 1250}')
            asked += 1
            if status not in (400, 401, 431) or b'secret-text' in text:
                wrong.append(f'{name} at {path}: {status} {text[:80]!r}')
        check(house.daemon.alive(), f'{name}: died')
    check(not wrong, '; '.join(wrong[:5]))
    check(house.daemon.status()['position'] == 3, 'something was appended')
    return f'{asked} requests'


@case
def a_token_in_the_wrong_place(lab):
    """A token counts in its header alone: not in the URL, in a cookie, in a second header, or in the head of a body."""
    house = House(lab)
    token, other = house.token('bot/b', 'reader'), house.token('user/u-other', 'user:u-other')
    path = '/v1/users/u-honest/history'
    cases = {
        'query': (f'{path}?access_token={token}', []), 'query named as the header': (f'{path}?Authorization=Bearer%20{token}', []),
        'cookie': (path, [b'Cookie: Authorization=Bearer ' + token.encode()]), 'proxy': (path, [b'Proxy-Authorization: Bearer ' + token.encode()]),
        'user of the URL': (f'http://x:{token}@syncd{path}', []), 'folded': (path, [b'Authorization:', b' Bearer ' + token.encode()]),
        'trailer': (path, [b'Transfer-Encoding: chunked', b'', b'0', bearer(token), b'']),
        'second of two': (path, [bearer(other), bearer(token)]), 'first of two': (path, [bearer(token), bearer(other)]),
        'X-Forwarded-User': (path, [bearer(other), b'X-Forwarded-User: admin', b'X-Original-URL: ' + path.encode(), b'X-HTTP-Method-Override: GET']),
    }
    wrong = []
    for name, (target, lines) in cases.items():
        status, text = house.ask(target, *lines)
        if status == 200 or b'secret-text' in text:
            wrong.append(f'{name}: {status} {text[:60]!r}')
    check(not wrong, '; '.join(wrong))
    return f'{len(cases)} places'


@case
def paths_of_others(lab):
    """One user's token, and another's history by 20 spellings of its path: never a byte of it."""
    house = House(lab)
    token = bearer(house.token('user/u-other', 'user:u-other'))
    paths = ['/v1/users/u-honest/history', '/v1/users/u-honest', '/v1/users/u-other/../u-honest/history', '/v1/users/u-other%2F..%2Fu-honest/history',
             '//v1/users/u-honest/history', '/v1//users/u-honest/history', '/v1/users/u-honest/history/', '/V1/users/u-honest/history',
             '/v1/users/u%2Dhonest/history', '/v1/users/U-HONEST/history', '/v1/users/u-honest%00/history', '/v1/users/u-honest;u-other/history',
             '/v1/users/u-other/history?user=u-honest', '/v1/changes?after=first&user=u-honest', '/v1/changes?after=first&author=u-honest',
             '/v1/events?user=u-honest', '/v1/events/1', '/v1/events/2', '/v1/conversations/c-lab', '/v1/conversations/c-lab/rows', '/v1/conversations',
             '/v1/users/u-honest/history?known_at=2', '/v1/users/u-honest/history?limit=1&limit=2', '/v1/users/u-honest/readers', '/v1/access']
    wrong = [path for path in paths if b'secret-text' in house.ask(path, token)[1]]
    for form in (b'text/event-stream', b'application/x-ndjson'):
        with contextlib.suppress(socket.timeout):
            got = house.ask('/v1/changes?after=first&user=u-honest', token, b'Accept: ' + form, timeout=1)[1]
            wrong += [form.decode()] if b'secret-text' in got else []
    check(not wrong, '; '.join(wrong))
    return f'{len(paths) + 2} paths'


@case
def flood_of_wrong_tokens(lab):
    """20,000 wrong tokens from 64 addresses, many on each connection: 401, then 429; one that counts is let in from each of them, and an
    honest client is not held up; the log does not grow by a line for each."""
    house = House(lab)
    token = bearer(house.token('bot/b', 'reader'))
    log = len(house.daemon.log())
    seen = collections.Counter()

    def attack():
        for place in range(64):
            source = f'127.0.9.{place + 1}'
            with socket.create_connection(('127.0.0.1', house.port), 10, (source, 0)) as link:
                for _ in range(312):
                    guess = f'slk1_{secrets.token_hex(8)}_{secrets.token_urlsafe(32)}'
                    link.sendall(b'GET /v1/me HTTP/1.1\r\nHost: syncd\r\n' + bearer(guess) + b'\r\n\r\n')
                    seen[answer(link)[0]] += 1
            status, text = house.ask('/v1/users/u-honest/history', token, source=source)
            check(status == 200 and b'secret-text' in text, f'{source}: an honest token is {status}')
    lab.beside(house.daemon, attack)
    check(set(seen) <= {401, 429}, f'{dict(seen)}')
    check(seen[429] > seen[401] > 0, f'{dict(seen)}')
    grown = len(house.daemon.log()) - log
    check(grown < 64 << 10, f'the log grew by {grown} bytes')
    return f'{dict(seen)}, {grown} bytes of log'


@case
def taken_back_under_load(lab):
    """A token is taken back while 50 streams and 8 readers use it: all end within a second, and none is let in after the answer."""
    house = House(lab)
    token = house.token('bot/b', 'reader')
    streams = []
    for _ in range(50):
        link = socket.create_connection(('127.0.0.1', house.port), 5)
        link.sendall(b'GET /v1/changes?after=first HTTP/1.1\r\nHost: syncd\r\nAccept: application/x-ndjson\r\nConnection: close\r\n' + bearer(token) + b'\r\n\r\n')
        check(b' 200 ' in link.recv(64), 'a stream is refused')
        streams.append(link)
    status, _ = house.daemon.request(f'DELETE /v1/credentials/{token.split("_")[1]} HTTP/1.1\r\nHost: syncd\r\nConnection: close\r\n\r\n'.encode())
    check(status in (200, 204), f'it is not taken back: {status}')
    began = time.monotonic()
    after = {house.ask('/v1/users/u-honest/history', bearer(token), source=f'127.0.8.{n + 1}')[0] for n in range(40)}
    check(after <= {401, 429}, f'let in after it was taken back: {after}')
    house.daemon.append('after it')
    for link in streams:
        link.settimeout(5)
        got = b''
        while more := link.recv(1 << 16):
            got += more
        check(b'after it' not in got, 'a stream tells what came after it')
        link.close()
    took = time.monotonic() - began
    check(took < 2.0, f'streams ended after {took:.1f} s')
    return f'50 streams ended within {took * 1000:.0f} ms'


@case
def reasons(lab):
    """An auditor's reasons, one stranger than the other: each is refused, or stands in the access log before the answer, byte for byte."""
    house = House(lab)
    token = bearer(house.token('user/park', 'auditor'))
    random.seed(7)
    wrong, kept = [], []
    for reason in [b'', b' ', '민원 4711'.encode(), b'x' * 1024, b'x' * 1025, b'\xff\xfe', b'"}{"', b'a\x00b', b'\x1b[2J', '\u202e'.encode(),
                   '각'.encode(), '\U0001f600'.encode() * 256, b'${jndi:ldap://x}', b"'; DROP TABLE event; --"] + [
                       bytes(random.randrange(33, 256) for _ in range(20)) for _ in range(20)]:
        status, text = house.ask('/v1/users/u-honest/history', token, b'Sillok-Reason: ' + reason)
        if status == 200:
            kept.append(reason.decode().strip())
        elif status != 400 or b'secret-text' in text:
            wrong.append(f'{reason[:20]!r}: {status}')
    check(not wrong, '; '.join(wrong))
    check(house.ask('/v1/users/u-honest/history', token)[0] == 400, 'read without a reason')
    status, text = house.daemon.get('/v1/access?limit=100')
    check(status == 200, f'/v1/access: {status}')
    told = [item.get('reason') or item.get('data', {}).get('reason') for item in json.loads(text)['items']] if text.startswith(b'{"items"') else [
        json.loads(line).get('reason') for line in text.splitlines()]
    lost = [reason for reason in kept if reason not in told]
    check(kept and not lost, f'read without a record: {lost[:3]} of {len(kept)}; {text[:200]!r}')
    return f'{len(kept)} recorded'
