"""Daemons in temporary folders, what is asked of them, and the limits they must keep beside an attack."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import peer
import record
import wire

HERE = pathlib.Path(__file__).resolve().parent
VERIFY = wire.ROOT / 'Scripts' / 'verify.py'

# ---- Limits. The two that are times are relative to the same daemon before the attack, for this machine may be busy. -------------
# An idle daemon takes 9 MB, caches of pages and tails 56 MB at most (docs/operating/starting.md, "Memory"); the rest is for links and bodies.
PEAK_RSS_MB = 150
# Beside an attack a commit waits for a processor the attacker wants, too: ten times the quiet p99 and a scheduler's pauses.
APPEND_P99 = lambda quiet: 10 * quiet + 0.100
# Fifty milliseconds on an idle machine is what is wanted; the caller itself needs a processor for two signatures.
HANDSHAKE_P50 = lambda quiet: 4 * quiet + 0.050
HANDSHAKE_WORST = lambda quiet: 4 * quiet + 1.0
SIGTERM = 1.0


class Failed(Exception):
    """A case is not as the documents, or the limits above, have it."""


class Late(Failed):
    """A limit of time is passed. A busy machine does that, too: such a case is run once more before it counts."""


def check(condition, what, kind=Failed):
    if not condition:
        raise kind(what)


class Daemon:
    def __init__(self, lab, name, *arguments, cluster='lab', env=None):
        self.lab, self.name, self.cluster, self.env = lab, name, cluster, {**os.environ, **(env or {})}
        self.store = lab.folder / name
        self.arguments = arguments
        self.port, self.ended = free_port(), False
        self.start()

    def start(self):
        """Starts it, and returns when it is ready."""
        self.output = open(self.lab.folder / (self.name + '.log'), 'ab')
        self.process = subprocess.Popen(
            [self.lab.syncd, '--dev', self.store, '--node-name', self.name, '--cluster', self.cluster, '--peer-listen',
             f'127.0.0.1:{self.port}', *self.arguments], stdout=self.output, stderr=self.output, cwd=self.lab.folder, env=self.env)
        self.pid, self.ended = self.process.pid, False
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                if self.get('/readyz')[0] == 200:
                    return
            except OSError:
                pass
            check(self.process.poll() is None, f'{self.name} did not start: {self.log()[-300:]}')
            time.sleep(0.02)
        raise Failed(f'{self.name} was not ready within 60 s')

    def log(self):
        return (self.lab.folder / (self.name + '.log')).read_text(errors='replace')

    @property
    def socket_path(self):
        return str(self.store / 'api.sock')

    # -- asking
    def ctl(self, *arguments, expect=0, timeout=120):
        done = subprocess.run([self.lab.syncctl, '--store', self.store, *arguments], capture_output=True, text=True, timeout=timeout,
                              cwd=self.lab.folder)
        if expect is not None:
            check(done.returncode == expect, f'syncctl {" ".join(arguments)}: exit {done.returncode}: {done.stderr or done.stdout}')
        return done

    def request(self, text, timeout=10.0):
        """Status and body of one answer to raw bytes."""
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(timeout)
            link.connect(self.socket_path)
            link.sendall(text)
            return answer(link)

    def get(self, path, timeout=10.0, method='GET'):
        return self.request(f'{method} {path} HTTP/1.1\r\nHost: syncd\r\nConnection: close\r\n\r\n'.encode(), timeout)

    def post(self, path, body, timeout=10.0):
        return self.request(f'POST {path} HTTP/1.1\r\nHost: syncd\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n'.encode()
                            + body, timeout)

    def append(self, text='quiet', user='u-honest'):
        return self.ctl('append', '--user', user, '--conversation', 'c-lab', '--text', text)

    def status(self):
        return json.loads(self.get('/v1/status')[1])

    @property
    def node(self):
        return self.status()['node']

    # -- peers
    def pins(self, identity, name=None):
        """Makes `identity` a peer that is let in."""
        self.ctl('peers', 'add', name or 'py-' + identity.node.hex()[:6], identity.node.hex())

    def guest(self, **more):
        """An identity that is let in, and an honest link of it."""
        identity = record.Identity()
        self.pins(identity)
        return identity, peer.meet(self.port, identity, self.cluster, **more)

    def identity(self):
        identity = record.Identity()
        self.pins(identity)
        return identity

    def eventually(self, condition, what, timeout=60.0):
        until = time.monotonic() + timeout
        while not condition():
            check(time.monotonic() < until, what)
            check(self.alive(), f'{self.name} died')
            time.sleep(0.05)

    # -- watching
    def alive(self):
        return self.process.poll() is None

    def rss(self, peak=True):
        for line in pathlib.Path(f'/proc/{self.pid}/status').read_text().splitlines():
            if line.startswith('VmHWM:' if peak else 'VmRSS:'):
                return int(line.split()[1]) / 1024
        return 0.0

    def stop(self):
        """Seconds from SIGTERM to the end."""
        self.ended = True
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(25)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.output.close()
        return time.monotonic() - began

    def kill(self):
        self.ended = True
        self.process.kill()
        self.process.wait()
        self.output.close()

    def proven(self):
        """Exit codes of `syncctl verify` and Scripts/verify.py over the stopped store."""
        theirs = self.ctl('verify', '--json', expect=None, timeout=120)
        ours = subprocess.run([sys.executable, '-B', VERIFY, '--json', self.store], capture_output=True, text=True, timeout=300)
        detail = [] if not ours.stdout else json.loads(ours.stdout)['findings'][:2]
        return theirs.returncode, ours.returncode, f'{theirs.stdout[:400] if theirs.returncode == 3 else ""} {detail or ours.stderr}'


def answer(link):
    data = b''
    while b'\r\n\r\n' not in data:
        more = link.recv(1 << 16)
        if not more:
            raise ConnectionError('closed without an answer')
        data += more
    head, _, body = data.partition(b'\r\n\r\n')
    length = next((int(line.split(b':')[1]) for line in head.split(b'\r\n') if line.lower().startswith(b'content-length:')), None)
    if length is None:
        while more := link.recv(1 << 16):
            body += more
    while length is not None and len(body) < length:
        more = link.recv(1 << 16)
        if not more:
            break
        body += more
    return int(head.split()[1]), body


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Probe:
    """An honest client and a stranger in a process of their own, so that they do not share an interpreter with the attacker."""

    def __init__(self, daemon):
        self.process = subprocess.Popen([sys.executable, '-B', HERE / 'probe.py', daemon.socket_path, str(daemon.port)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def end(self):
        """{'append_p99', 'handshake_p50', 'handshake_worst', 'appends', 'handshakes', 'errors', 'dropped'} in seconds."""
        out, _ = self.process.communicate('\n', timeout=60)
        return json.loads(out.splitlines()[-1])


def quiet(daemon, seconds=1.5):
    probe = Probe(daemon)
    time.sleep(seconds)
    return probe.end()


class Lab:
    """The daemons of one case. Its folder goes when it ends."""

    def __init__(self, syncd, syncctl, keep=False):
        self.syncd, self.syncctl, self.keep = str(pathlib.Path(syncd).resolve()), str(pathlib.Path(syncctl).resolve()), keep
        self.daemons, self.figures, self.damaged = [], {}, False

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='hostile-'))
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            if daemon.alive():
                daemon.process.kill()
                daemon.process.wait()
        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    def daemon(self, name='victim', *arguments, **more):
        made = Daemon(self, name, *arguments, **more)
        self.daemons.append(made)
        return made

    def pair(self):
        """A victim, and an honest third node that is its peer."""
        victim, third = self.daemon('victim'), self.daemon('third')
        line = victim.ctl('peers', 'invite').stdout.strip()
        third.ctl('peers', 'join', line)
        return victim, third

    def beside(self, daemon, attack, crowded=False):
        """Runs `attack()` beside an honest client and a stranger, and holds both to the limits. Where callers crowd each other out by
        design (`crowded`: the oldest of 256 that are not let in goes first), a stranger may be dropped."""
        before = quiet(daemon)
        probe = Probe(daemon)
        try:
            result = attack()
            time.sleep(0.3)
        finally:
            during = probe.end()
        self.figures.update({
            'append_p99': f'{before["append_p99"] * 1000:.0f}>{during["append_p99"] * 1000:.0f}ms',
            'handshake': f'{before["handshake_p50"] * 1000:.0f}>{during["handshake_p50"] * 1000:.0f}ms',
            'worst': f'{during["handshake_worst"] * 1000:.0f}ms'})
        check(daemon.alive(), f'{daemon.name} died: exit {daemon.process.returncode}')
        for name, bound in (('append_p99', APPEND_P99), ('handshake_p50', HANDSHAKE_P50)):
            check(during[name] <= bound(before[name]), f'{name} {during[name] * 1000:.0f} ms beside the attack, {before[name] * 1000:.0f} '
                                                       f'before: above {bound(before[name]) * 1000:.0f}', Late)
        check(during['handshake_worst'] <= HANDSHAKE_WORST(before['handshake_worst']),
              f'a stranger waited {during["handshake_worst"]:.1f} s for its answer', Late)
        check(during['errors'] == 0, f'{during["errors"]} honest appends failed: {during["error"]}')
        check(crowded or not during['dropped'], f'{during["dropped"]} strangers were dropped')
        return result

    def aftermath(self):
        """Every daemon lives, is small, obeys and is proven, by its own tool and by the auditor's."""
        running = [d for d in self.daemons if not d.ended]
        dead = [d for d in running if not d.alive()]
        check(not dead, ', '.join(f'{d.name} died: exit {d.process.returncode}' for d in dead))
        peak = max((d.rss() for d in running), default=0)
        self.figures['peak'] = f'{peak:.0f}MB'
        late = max((d.stop() for d in running), default=0)
        if self.damaged:  # by the case itself, which has looked at the answers
            return
        self.figures['sigterm'] = f'{late * 1000:.0f}ms'
        answers = {d.name: d.proven() for d in self.daemons}
        self.figures['verify'] = ' '.join(f'{a}/{b}' for a, b, _ in answers.values())
        bad = [f'{n}: syncctl verify {a}, verify.py {b} {text}' for n, (a, b, text) in answers.items() if a == 3 or b == 3 or a not in (0, 2)]
        check(not bad, '; '.join(bad))
        check(peak <= PEAK_RSS_MB, f'{peak:.0f} MB at its peak, {PEAK_RSS_MB} are allowed')
        check(late <= SIGTERM, f'SIGTERM took {late:.1f} s', Late)
        wrong = [f'{d.name}: exit {d.process.returncode}' for d in running if d.process.returncode != 0]
        check(not wrong, ', '.join(wrong) + ' after SIGTERM')
