"""A hand on the files, without the key: what it changes is found, by name, and the node never signs it. Other users of the machine."""
import os
import pathlib
import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import time

import record
from sillok_verify.rows import Row, header_of
from sillok_verify.trees import leaf_hash, sha256
from lab import VERIFY, check

CASES = []


def case(function):
    CASES.append(function)
    return function


def filled(lab, events=40, name='victim', **more):
    daemon = lab.daemon(name, **more)
    for start in range(0, events, 10):
        body = b'\n'.join(b'{"type":"message.posted","user":"u-file","subject":"conversation/c-file","data":{"text":"file %d"}}' % n
                          for n in range(start, start + 10))
        check(daemon.post('/v1/events', body)[0] == 200, 'an append is refused')
    return daemon


def changed(store, *statements):
    """Runs statements on the log of a stopped store, whose WAL goes into it."""
    log = sqlite3.connect(store / 'log.db', isolation_level=None)
    for statement, *values in statements:
        log.execute(statement, values)
    log.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    log.close()


def rehashed(store, position):
    """The first four bytes of the leaf the row has now."""
    seen = record.tables(store)
    row = Row(*seen.log.execute(f'SELECT {", ".join(Row._fields)} FROM event WHERE position = ?', (position,)).fetchone())
    leaf = leaf_hash(header_of(row, seen.names, seen.ids), sha256(row.salt, row.payload))
    seen.log.close()
    return int.from_bytes(leaf[:4], 'big', signed=True)


@case
def forged_tail(lab):
    """The last heads taken away and a payload behind them changed, with its leaf: never signed by the node, never called proven."""
    victim = filled(lab)
    victim.stop()
    lab.damaged = True
    position = 20
    changed(victim.store, ('DELETE FROM head',), ('DELETE FROM reach',),
            ("UPDATE event SET payload = ? WHERE position = ?", '{"text":"forged"}', position))
    changed(victim.store, ('UPDATE event SET leaf = ? WHERE position = ?', rehashed(victim.store, position), position))
    before = victim.ctl('verify', expect=None).returncode
    check(before in (2, 3), f'syncctl verify before the start: {before}')
    try:
        victim.start()
    except Exception as refused:  # noqa: BLE001 - that it does not start is an answer, too
        check(victim.process.poll() not in (None, 0), str(refused))
        victim.ended = True
        return f'exit {before} before, not started: {victim.process.returncode}'
    victim.append('after')
    time.sleep(0.5)
    victim.stop()
    theirs, ours, detail = victim.proven()
    log = sqlite3.connect(f'file:{victim.store}/log.db?mode=ro', uri=True)
    old = log.execute('SELECT count(*) FROM head WHERE origin = 1 AND size >= ?', (position,)).fetchone()[0]
    check(old == 0, 'the node has signed what was forged')
    check(theirs in (2, 3) and ours in (2, 3), f'called proven: {theirs}/{ours} {detail}')
    return f'exit {before} before, {theirs} after'


@case
def flipped_wal(lab):
    """One bit of the WAL of a killed daemon flipped: the node says so, begins a new origin, and gives no seq out twice."""
    lab.damaged = True
    random.seed(11)
    silent, outcomes = [], {}
    for number in range(6):
        victim = filled(lab, 60, f'victim-{number}')
        origin = victim.status()['origin']
        time.sleep(0.2)
        victim.kill()
        wal = victim.store / 'log.db-wal'
        data = bytearray(wal.read_bytes())
        used = len(data.rstrip(b'\0'))
        at = random.randrange(32 + used // 4, used * 3 // 4)
        data[at] ^= 1 << random.randrange(8)
        wal.write_bytes(bytes(data))
        code = victim.ctl('verify', expect=None).returncode
        lost = record.tables(victim.store).log.execute('SELECT 61 - count(*) FROM event').fetchone()[0]
        try:
            victim.start()
            after = victim.status()['origin']
            victim.append('after')
            victim.stop()
        except Exception:  # noqa: BLE001
            after = 'not started'
        end = victim.ctl('verify', expect=None).returncode
        outcomes[(code, end)] = outcomes.get((code, end), 0) + 1
        if lost and (after == origin or end != 3):
            silent.append(f'byte {at}: {lost} events lost, verify {code} before and {end} after, {"same origin" if after == origin else "new origin"}')
    check(not silent, '; '.join(silent[:3]) + f' ({len(silent)} of 6)')
    return f'verify before and after: {outcomes}'


@case
def cut_log(lab):
    """The newest rows cut off together with their heads: the mark, and so both verifiers, know."""
    victim = filled(lab)
    victim.stop()
    lab.damaged = True
    changed(victim.store, ('DELETE FROM head',), ('DELETE FROM event WHERE position > 30',))
    theirs, ours, detail = victim.proven()
    check((theirs, ours) == (3, 3), f'syncctl verify {theirs}, verify.py {ours} {detail}')
    return 'exit 3 by both'


@case
def erased_by_hand(lab):
    """Payloads taken away with their digests kept, by no erasure: contradicted."""
    victim = filled(lab)
    victim.stop()
    lab.damaged = True
    log = sqlite3.connect(victim.store / 'log.db')
    salt, payload = log.execute('SELECT salt, payload FROM event WHERE position = 20').fetchone()
    log.close()
    digest = record.sha256(salt, payload.encode())
    changed(victim.store, ('UPDATE event SET salt = NULL, payload = NULL, digest = ? WHERE position = 20', digest))
    theirs, ours, detail = victim.proven()
    check((theirs, ours) == (3, 3), f'syncctl verify {theirs}, verify.py {ours} {detail}')
    return 'exit 3 by both'


@case
def views_by_hand(lab):
    """Texts and rows of views.db changed: `syncctl verify --views` names them, and a start builds them anew or says so."""
    victim = filled(lab)
    victim.eventually(lambda: 'file 39' in victim.ctl('conversation', 'c-file', expect=None).stdout, 'views are late')
    victim.stop()
    lab.damaged = True
    good = victim.ctl('verify', '--views', expect=None)
    check(good.returncode == 0, f'verify --views of a whole store: {good.returncode} {good.stderr[:200]}')
    views = sqlite3.connect(victim.store / 'views.db', isolation_level=None)
    named = views.execute("SELECT name, sql LIKE 'CREATE VIRTUAL%' FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall()
    # The words of the search have a tokenizer of the node's own, without which SQLite does not write there.
    search = tuple(name for name, is_virtual in named if is_virtual)
    tables = [name for name, _ in named if name not in search and not name.startswith(tuple(f'{one}_' for one in search))]
    found, missed = 0, []
    for table in tables:
        count = views.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
        if not count or table in ('meta', 'quarantine'):
            continue
        copy = lab.folder / 'changed'
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(victim.store, copy, ignore=shutil.ignore_patterns('api.sock'))
        other = sqlite3.connect(copy / 'views.db', isolation_level=None)
        other.execute(f'DELETE FROM "{table}"')
        other.close()
        done = subprocess.run([lab.syncctl, '--store', copy, 'verify', '--views'], capture_output=True, text=True)
        # Without their versions they are views of another form: no reader believes them, and all build them anew.
        wanted = 2 if table == 'view' else 3
        found += done.returncode == wanted
        if done.returncode != wanted:
            missed.append(f'{table} ({count} rows): {done.returncode}')
    for table in tables:
        if table != 'meta':
            views.execute(f'DELETE FROM "{table}"')
    views.close()
    check(found and not missed, f'not found: {", ".join(missed)}')
    victim.start()
    victim.eventually(lambda: 'file 39' in victim.ctl('conversation', 'c-file', expect=None).stdout, 'a start believes what another hand wrote')
    return f'{found} tables emptied, each found; built anew at the start'


@case
def private_files(lab):
    """Whatever the umask: files of the store for their owner alone; a folder that others can write is refused."""
    old = os.umask(0)
    try:
        victim = filled(lab)
    finally:
        os.umask(old)
    loose = [f'{path.name} {stat.S_IMODE(path.lstat().st_mode):o}' for path in [victim.store, *victim.store.rglob('*')]
             if stat.S_IMODE(path.lstat().st_mode) & 0o077 and not path.is_symlink()]
    check(not loose, f'readable by others: {", ".join(loose)}')
    open_folder = lab.folder / 'open'
    open_folder.mkdir()
    open_folder.chmod(0o777)
    done = subprocess.run(['timeout', '3', lab.syncd, '--dev', open_folder], capture_output=True, text=True, cwd=lab.folder)
    check(done.returncode not in (0, 124), f'a folder that everybody can write is taken: {done.returncode} {done.stderr[-200:]}')
    return 'private'


@case
def planted_files(lab):
    """Links, pipes and much of nothing where the store has its small files: no other file is touched, nothing hangs."""
    lab.damaged = True
    victim = filled(lab, 10)
    victim.stop()
    target = lab.folder / 'target'
    wrong = []
    for name in ('lock', 'peers.json.tmp', 'mark.json.tmp', 'node.key.tmp'):
        target.write_text('precious')
        (victim.store / name).unlink(missing_ok=True)
        (victim.store / name).symlink_to(target)
        try:
            victim.start()
            victim.ctl('peers', 'add', f'x-{len(wrong)}{name[:2]}', record.Identity().node.hex(), expect=None)
            victim.stop()
        except Exception:  # noqa: BLE001 - refusing to start is right
            victim.process.poll() is None and victim.kill()
        if target.read_text() != 'precious':
            wrong.append(f'{name} was written through')
        (victim.store / name).is_symlink() and (victim.store / name).unlink()
    peers = victim.store / 'peers.json'
    kept = peers.read_bytes() if peers.exists() else b''
    for what in ('a pipe', '3 GiB'):
        peers.unlink(missing_ok=True)
        if what == 'a pipe':
            os.mkfifo(peers)
        else:
            with open(peers, 'wb') as file:
                file.truncate(3 << 30)
        try:
            victim.ctl('peers', expect=None, timeout=4)
        except subprocess.TimeoutExpired:
            wrong.append(f'{what} for peers.json: `syncctl peers` hangs')
        peers.unlink()
    peers.write_bytes(kept)
    # SQLite looks at what has a journal's name: the auditors' verifier must not wait there for a writer.
    journal = victim.store / 'log.db-journal'
    os.mkfifo(journal)
    try:
        done = subprocess.run([sys.executable, '-B', str(VERIFY), str(victim.store)], capture_output=True, timeout=10)
        done.returncode == 66 or wrong.append(f'a pipe for a journal: verify.py ends with {done.returncode}')
    except subprocess.TimeoutExpired:
        wrong.append('a pipe for a journal: verify.py hangs')
    journal.unlink()
    check(not wrong, '; '.join(wrong))
    return '4 links, two pipes, 3 GiB'


@case
def without_proc(lab):
    """Where /proc cannot be read the arguments count all the same."""
    lab.damaged = True
    can = subprocess.run(['unshare', '-m', 'true'], capture_output=True).returncode == 0
    if not can:
        return 'skipped: needs the right to make a mount namespace'
    for program in (lab.syncd, lab.syncctl):
        done = subprocess.run(['unshare', '-m', 'sh', '-c', f'mount -t tmpfs none /var/lib; mount -t tmpfs none /proc && exec timeout 3 {program} --version'],
                              capture_output=True, text=True, cwd=lab.folder)
        check(done.returncode == 0 and len(done.stdout.splitlines()) < 3 and '0.' in done.stdout, f'{pathlib.Path(program).name} --version: {done.returncode} {done.stdout[:80]}')
    return 'both programs'


@case
def restored_backup(lab):
    """`sqlite3 .backup`, as docs/operating/backup.md has it: the copy is proven by both verifiers, and starts as what it is."""
    lab.damaged = True
    victim = filled(lab)
    copy = lab.folder / 'copy'
    copy.mkdir(mode=0o700)
    source = sqlite3.connect(f'file:{victim.store}/log.db?mode=ro', uri=True)
    made = sqlite3.connect(copy / 'log.db')
    source.backup(made)
    made.close()
    source.close()
    done = subprocess.run([lab.syncctl, '--store', copy, 'verify'], capture_output=True, text=True)
    ours = subprocess.run(['python3', '-B', VERIFY, copy], capture_output=True, text=True)
    check(done.returncode in (0, 2) and ours.returncode in (0, 2), f'{done.returncode}/{ours.returncode}: {done.stderr or done.stdout} {ours.stdout[-200:]}')
    read = subprocess.run([lab.syncctl, '--store', copy, 'history', 'u-file'], capture_output=True, text=True)
    check(read.returncode == 0 and 'file 39' in read.stdout, f'without a key it cannot be read: {read.returncode} {read.stderr}')
    return f'{done.returncode}/{ours.returncode}'
