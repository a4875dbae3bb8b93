"""A Sillok peer: TLS 1.3 with self-signed Ed25519 certificates (sync.proto §1), frames, Hello, and an honest conversation."""
import datetime
import socket
import ssl
import struct
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa as rsa_keys
from OpenSSL import SSL, crypto

import record
import wire


def certificate(identity, key=None):
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, 'sillok')])
    now = datetime.datetime(2020, 1, 1)
    return x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=(key or identity.private).public_key(), serial_number=1,
                                   not_valid_before=now, not_valid_after=datetime.datetime(2120, 1, 1)).sign(key or identity.private, hashes.SHA256() if key else None)


def context(identity):
    made = SSL.Context(SSL.TLS_METHOD)
    made.set_min_proto_version(SSL.TLS1_3_VERSION)
    made.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, lambda *_: True)
    if identity:
        made.use_certificate(crypto.X509.from_cryptography(certificate(identity)))
        made.use_privatekey(crypto.PKey.from_cryptography_key(identity.private))
    return made


class Closed(Exception):
    """The other side has ended the connection."""


class Silent(Exception):
    """Nothing came in time."""


class Link:
    """One TLS connection with frames in it. Every wait has an end."""

    def __init__(self, port, identity, timeout=10.0, tls12=False, rsa=False):
        self.identity = identity
        self.socket = socket.create_connection(('127.0.0.1', port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(True)
        self.patience(timeout, sending=True)
        settings = context(None if rsa else identity)
        if tls12:
            settings.set_min_proto_version(SSL.TLS1_2_VERSION)
            settings.set_max_proto_version(SSL.TLS1_2_VERSION)
        if rsa:
            key = rsa_keys.generate_private_key(public_exponent=65537, key_size=2048)
            settings.use_privatekey(crypto.PKey.from_cryptography_key(key))
            settings.use_certificate(crypto.X509.from_cryptography(certificate(identity, key)))
        self.tls = SSL.Connection(settings, self.socket)
        self.tls.set_connect_state()
        self.bye = None
        self._guard(self.tls.do_handshake)
        found = self.tls.get_peer_certificate()
        public = found.get_pubkey().to_cryptography_key()
        self.other = record.node_id(public.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw))

    def patience(self, seconds, sending=False):
        seconds = max(seconds, 0.001)
        value = struct.pack('ll', int(seconds), int(seconds % 1 * 1e6))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, value)
        if sending:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, value)

    def _guard(self, action, *arguments):
        try:
            return action(*arguments)
        except (SSL.WantReadError, SSL.WantWriteError):
            raise Silent from None
        except (SSL.ZeroReturnError, SSL.SysCallError, SSL.Error, OSError) as error:
            raise Closed(str(error)) from None

    def write(self, data):
        view = memoryview(data)
        while view:
            view = view[self._guard(self.tls.send, view[:1 << 20]):]

    def send(self, name, values=None, compress=False):
        self.write(wire.message(name, values, compress))

    def _read(self, count, until):
        out = b''
        while len(out) < count:
            self.patience(until - time.monotonic())
            if time.monotonic() > until:
                raise Silent
            out += self._guard(self.tls.recv, min(count - len(out), 1 << 16))
        return out

    def receive(self, timeout=5.0):
        """(name, message) of the next frame; name None for a type that sync.proto does not have."""
        until = time.monotonic() + timeout
        length, kind, flags, reserved = struct.unpack('>IBBH', self._read(8, until))
        if length > 8 << 20 or reserved or flags & ~1:
            raise ValueError('a frame that breaks sync.proto §2')
        body = self._read(length, time.monotonic() + 20)
        name = wire.NAMES.get(kind)
        self.last_size = length + 8
        if flags & 1:
            body = wire.inflate(body)
        found = wire.decode(name, body) if name else body
        if name == 'Bye':
            self.bye = found['code']
        if name == 'Ping':
            self.send('Pong', {'nonce': found['nonce'], 'clock_ms': now_ms()})
        return name, found

    def until(self, *names, timeout=5.0):
        """The next message of one of these names; others are passed over. A Bye is Closed."""
        end = time.monotonic() + timeout
        while True:
            name, found = self.receive(max(end - time.monotonic(), 0.001))
            if name in names:
                return found
            if name == 'Bye':
                raise Closed(f'Bye {found["code"]} {found["text"]}')

    def outcome(self, timeout=3.0):
        """How the other side takes it: `Bye n`, `closed`, or `open` when it still talks after `timeout`."""
        end = time.monotonic() + timeout
        try:
            while time.monotonic() < end:
                name, found = self.receive(end - time.monotonic())
                if name == 'Bye':
                    return f'Bye {found["code"]}'
        except Silent:
            return 'open'
        except Closed:
            return f'Bye {self.bye}' if self.bye else 'closed'
        return 'open'

    def answers(self, timeout=5.0):
        """Whether a Ping is answered."""
        nonce = int(time.monotonic_ns())
        self.send('Ping', {'nonce': nonce, 'clock_ms': now_ms()})
        end = time.monotonic() + timeout
        while self.until('Pong', timeout=end - time.monotonic())['nonce'] != nonce:
            pass
        return True

    def exported(self):
        return self.tls.export_keying_material(b'EXPORTER-sillok-join-v1', 32, None)

    def close(self):
        try:
            self.socket.close()
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def now_ms():
    return int(time.time() * 1000)


def hello(identity, cluster, **more):
    return {'protocol_min': 1, 'protocol_max': 1, 'cluster': cluster, 'node': identity.node, 'incarnation': identity.incarnation,
            'clock_ms': now_ms(), 'limits': {'max_body': 1 << 20, 'window': 4 << 20, 'max_payload': 896 << 10},
            'compressors': ['zstd'], 'software': 'hostile/1', 'name': 'python', 'features': 1, 'run': identity.run, **more}


def meet(port, identity, cluster='lab', **more):
    """A link after both Hellos; the other's is `link.hello`."""
    link = Link(port, identity)
    link.send('Hello', hello(identity, cluster, **more))
    link.hello = link.until('Hello')
    return link


def standing(entries, through=1):
    """A whole first StateDelta in one message, with its digest."""
    digest = record.sha256(*(e['origin'] + e['seq'].to_bytes(8, 'big') + e['root'].to_bytes(8, 'big') for e in entries))
    return {'entries': entries, 'whole': True, 'through': through, 'digest': digest}


def plain_tls(port):
    """A TLS connection of a caller without any certificate."""
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    settings.check_hostname, settings.verify_mode = False, ssl.CERT_NONE
    return settings.wrap_socket(socket.create_connection(('127.0.0.1', port), 5))
