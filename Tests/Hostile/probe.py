"""An honest client that appends, and a stranger that calls, until stdin says so; then their times as one line of JSON."""
import json
import select
import socket
import sys
import time

import lab
import peer
import record


def client(path):
    link = socket.socket(socket.AF_UNIX)
    link.settimeout(10)
    link.connect(path)
    return link


def main(path, port):
    stranger = record.Identity()
    appends, handshakes, errors, error, dropped = [], [], 0, '', 0
    link = client(path)
    body = b'{"type":"message.posted","user":"u-probe","subject":"conversation/c-probe","data":{"text":"probe"}}'
    post = b'POST /v1/events HTTP/1.1\r\nHost: syncd\r\nContent-Length: %d\r\n\r\n%s' % (len(body), body)
    print('ready', flush=True)
    called = 0.0
    while not select.select([sys.stdin], [], [], 0.005)[0]:
        began = time.monotonic()
        try:
            link.sendall(post)
            status, text = lab.answer(link)
            if status != 200:
                raise ConnectionError(f'append: {status} {text[:120]!r}')
        except OSError as problem:
            errors, error = errors + 1, str(problem)
            link.close()
            link = client(path)
        appends.append(time.monotonic() - began)
        if time.monotonic() - called > 0.15:
            began = called = time.monotonic()
            try:
                with peer.Link(port, stranger, timeout=10) as call:
                    call.outcome(10)
            except (peer.Closed, peer.Silent, OSError):
                dropped += 1
                continue
            handshakes.append(time.monotonic() - began)
    appends.sort()
    handshakes.sort()
    print(json.dumps({'append_p99': appends[int(len(appends) * 0.99)], 'handshake_p50': handshakes[len(handshakes) // 2],
                      'handshake_worst': handshakes[-1], 'appends': len(appends), 'handshakes': len(handshakes), 'errors': errors,
                      'error': error, 'dropped': dropped}))


main(sys.argv[1], int(sys.argv[2]))
