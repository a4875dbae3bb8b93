"""What is recorded: a daemon at work, in several ways. Each scenario leaves a recording and what was appended."""

import os
import random
import shutil
import subprocess
import threading
import time

import changes
import disk
from programs import INODE_OFFSET, Client, Daemon, Ended, Event, acknowledged_ids, free_port


class Recording:
    """A folder for one scenario: `root` is what the disk under test holds, and only `root` is recorded."""

    def __init__(self, programs, folder, seed, sync_us=150):
        self.programs, self.folder = programs, folder
        self.chance = random.Random(seed)
        self.root = os.path.join(folder, "root")
        self.store = os.path.join(self.root, "store")
        self.path = os.path.join(folder, "recording")
        self.arm_path = os.path.join(folder, "armed")
        self.boot_id = os.path.join(folder, "boot_id")
        self.counter = os.path.join(folder, "changes")
        self.settings = {}
        self.events = {}  # id: event, of all that was ever sent
        self.start = 0  # record from which on power cuts are tried
        self.sync_us = sync_us
        self.snapshot = []
        self.daemons = []
        self.runs = 0
        self.remarks = []
        self.kill = None  # before which change of a file the process that makes it is killed
        self.kept = {}  # what the check of a scenario needs to know
        self.boot_after = "00000009-0000-4000-8000-000000000000"  # the kernel's id of the machine's run after the cut
        self.shown = {}  # real inode: the one that was shown, where it is not the real one and INODE_OFFSET
        os.makedirs(self.root)
        self.boot(1)

    def boot(self, number):
        """Gives the machine another boot id."""
        with open(self.boot_id, "w") as file:
            file.write(f"0000000{number}-0000-4000-8000-000000000000\n")

    # Before recording

    def quiet_environment(self):
        return self.programs.preloaded(self.root, inode_offset=INODE_OFFSET, boot_id=self.boot_id)

    def unrecorded(self, run, store=None, **settings):
        """A daemon that is not recorded; of the store under test, or another."""
        environment = self.quiet_environment() if store is None else None
        daemon = Daemon(self.programs, store or self.store, os.path.join(self.folder, run), environment, **settings)
        self.daemons.append(daemon)
        return daemon.ready()

    def make_store(self):
        code, _, error = self.programs.control(self.store, "init", "--name", "seoul", environment=self.quiet_environment())
        if code:
            raise Ended(f"syncctl init: {error}")
        self.begin()

    def begin(self):
        """What is there now is durable."""
        self.snapshot = disk.snapshot(self.root)

    # Recording

    def environment(self, faults=None):
        return self.programs.preloaded(
            self.root,
            record=self.path,
            faults=faults,
            arm=self.arm_path,
            sync_us=self.sync_us,
            kill=f"{self.kill}:{self.counter}" if self.kill else None,
            inode_offset=INODE_OFFSET,
            boot_id=self.boot_id,
            inodes=",".join(f"{real}:{shown}" for real, shown in self.shown.items()) or None,
        )

    def power_cut(self):
        """The power goes now, at some record of the second half: what it leaves is what comes after begins with."""
        data = disk.records(self.path)
        at = self.chance.randint(len(data) // 2, len(data))
        acknowledged = [self.events[i] for number, i in self.acknowledgements(data) if number <= at]
        state = disk.Disk(self.root)
        state.begin_with(self.snapshot)
        for record in data[:at]:
            state.apply(record)
        image, _ = state.image(self.chance)
        shutil.rmtree(self.root)
        os.unlink(self.path)
        self.shown = {real: self.shown_inode(was) for real, was in disk.materialise(image, self.root, self.root, self.chance)}
        self.boot(2)
        self.begin()
        self.mark_acknowledged(acknowledged)

    def shown_inode(self, real):
        return self.shown.get(real, real + INODE_OFFSET)

    def daemon(self, faults=None, wait=True):
        self.runs += 1
        run = os.path.join(self.folder, f"run{self.runs}")
        daemon = Daemon(self.programs, self.store, run, self.environment(faults), **self.settings)
        self.daemons.append(daemon)
        return daemon.ready() if wait else daemon

    def arm(self):
        open(self.arm_path, "w").close()

    def disarm(self):
        if os.path.exists(self.arm_path):
            os.unlink(self.arm_path)

    def event(self, size=None):
        event = Event(self.chance, size)
        self.events[event.id] = event
        return event

    def append(self, client, count=1, size=None):
        """Appends new events in one request; raises where not all were acknowledged."""
        events = [self.event(size) for _ in range(count)]
        self.append_again(client, events)
        return events

    def append_again(self, client, events):
        end = time.monotonic() + 60
        while True:
            try:
                status, ids = client.append(events)
            except OSError:
                # While it opens its store anew it takes no requests.
                if time.monotonic() > end or client.daemon.process.poll() is not None:
                    raise
                status = 503
            if status == 503 and time.monotonic() < end:
                time.sleep(0.01)
                continue
            if len(ids) != len(events):
                raise Ended(f"{len(ids)} of {len(events)} were acknowledged, status {status}")
            return

    def mark_acknowledged(self, events):
        disk.mark(self.path, b"ack " + " ".join(e.id for e in events).encode())

    def records_so_far(self):
        return len(disk.records(self.path)) if os.path.exists(self.path) else 0

    def end(self):
        for daemon in self.daemons:
            daemon.kill()

    @staticmethod
    def told(recording):
        """[(number of the record, text)] of what was told beside acknowledgements."""
        marks = [(number, record.first.decode()) for number, record in enumerate(recording, 1) if record.kind == "X"]
        return [mark for mark in marks if not mark[1].startswith("ack ")]

    def acknowledgements(self, recording):
        """[(number of the record, id)]: an id counts from the call on that hands its answer to the socket."""
        found, streams = [], {}
        for number, record in enumerate(recording):
            if record.kind == "K":
                key = record.a, record.b
                before = streams.get(key, b"")
                text = before + record.first
                found += [(number + 1, i) for i in acknowledged_ids(text[: text.rfind(b"\n") + 1].decode(errors="replace"))]
                streams[key] = text[text.rfind(b"\n") + 1 :]
                streams[key, "last"] = before, record.first
            elif record.kind == "N":
                key = record.a, record.b
                sent = int.from_bytes(record.first, "little", signed=True)
                before, data = streams.get((key, "last"), (b"", b""))
                if sent < len(data):
                    text = before + data[: max(0, sent)]
                    streams[key] = text[text.rfind(b"\n") + 1 :]
            elif record.kind == "X" and record.first.startswith(b"ack "):
                found += [(number + 1, i) for i in record.first[4:].decode().split()]
        return found


def single(r):
    """One client, one event at a time."""
    daemon = r.daemon()
    with Client(daemon) as client:
        for _ in range(80):
            r.append(client)
            if r.chance.random() < 0.03:
                time.sleep(0.06)
    daemon.kill() if r.chance.random() < 0.5 else daemon.stop()


def clients(r):
    """Eight clients, one or some events at a time."""
    daemon = r.daemon()
    failures = []

    def work(events):
        try:
            with Client(daemon) as client:
                for group in events:
                    r.append_again(client, group)
        except (Ended, OSError) as error:
            failures.append(error)

    plans = [[[r.event() for _ in range(r.chance.choice([1, 1, 1, 5]))] for _ in range(25)] for _ in range(8)]
    threads = [threading.Thread(target=work, args=(plan,)) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    daemon.kill() if r.chance.random() < 0.5 else daemon.stop()


def big_batches(r, client, bytes_wanted):
    """Batches that fill WALs, so that they are copied back and begin anew."""
    sent = 0
    while sent < bytes_wanted:
        size, most = r.chance.choice([(200, 300), (4000, 100), (30000, 20), (30000, 40)])
        events = r.append(client, count=r.chance.randint(1, most), size=size)
        sent += len(events) * (size + 300)


def batches(r):
    """Batches through several copyings of the WAL."""
    daemon = r.daemon()
    with Client(daemon) as client:
        big_batches(r, client, 25_000_000)
    daemon.kill() if r.chance.random() < 0.5 else daemon.stop()


def first_start(r):
    """The making of a store: folder, key, identity, databases."""
    r.start = 0
    r.begin()
    if r.chance.random() < 0.5:
        r.settings["witness"] = os.path.join(r.root, "witness")
    daemon = r.daemon()
    with Client(daemon) as client:
        for _ in range(4):
            r.append(client)
    daemon.stop()


def restarts(r):
    """Stopped and killed, and started again; with a witness."""
    r.settings["witness"] = os.path.join(r.root, "witness")
    for _ in range(5):
        daemon = r.daemon()
        with Client(daemon) as client:
            for _ in range(r.chance.randint(0, 6)):
                r.append(client, count=r.chance.choice([1, 1, 30]))
        daemon.kill() if r.chance.random() < 0.5 else daemon.stop()


def recovery(r):
    """The power goes again while the store recovers, or soon after."""
    daemon = r.daemon()
    with Client(daemon) as client:
        big_batches(r, client, r.chance.choice([20_000, 5_000_000]))
        for _ in range(10):
            r.append(client)
    daemon.kill()
    r.power_cut()
    daemon = r.daemon()
    with Client(daemon) as client:
        for _ in range(5):
            r.append(client, count=r.chance.choice([1, 20]))
    daemon.kill() if r.chance.random() < 0.5 else daemon.stop()


def joined(r, events_before, **settings):
    """A peer with some events; returns its daemon and the line with which the store under test joins it."""
    port = free_port()
    peer = r.unrecorded("busan", store=os.path.join(r.folder, "peer"), name="busan", listen=f"127.0.0.1:{port}", **settings)
    with Client(peer) as client:
        while events_before > 0:
            r.append(client, count=min(events_before, 500), size=200)
            events_before -= 500
    code, line, error = r.programs.control(os.path.join(r.folder, "peer"), "peers", "invite")
    if code:
        raise Ended(f"peers invite: {error}")
    return peer, line.strip()


def receiving(r):
    """Joining a peer and following it; what the peer says is durable on two counts as acknowledged."""
    peer, line = joined(r, 40)
    daemon = r.daemon()
    with Client(daemon) as own, Client(peer) as theirs:
        r.append(own, count=2)
        code, _, error = r.programs.control(r.store, "peers", "join", line)
        if code:
            raise Ended(f"peers join: {error}")
        for _ in range(30):
            events = r.append(theirs, count=r.chance.choice([1, 1, 1, 20, 200]))
            if r.chance.random() < 0.3:
                r.append(own)
            if r.chance.random() < 0.7:
                if not theirs.wait(2):
                    raise Ended("the peer's events did not become durable on two nodes")
                r.mark_acknowledged(events)
    daemon.kill() if r.chance.random() < 0.5 else daemon.stop()


def snapshot(r):
    """An empty node takes a copy of a peer's log, puts it in place and goes on live."""
    peer, line = joined(r, 2999)
    r.settings["snapshot_after"] = 1000
    daemon = r.daemon()
    with Client(daemon) as own, Client(peer) as theirs:
        r.append(own, count=3)
        r.append(theirs)  # so that the vector of this connection speaks of all before
        everything = [event for event in r.events.values()]
        code, _, error = r.programs.control(r.store, "peers", "join", line)
        if code:
            raise Ended(f"peers join: {error}")
        if not theirs.wait(2):
            raise Ended("the snapshot did not become durable on two nodes")
        r.mark_acknowledged(everything)
        for _ in range(10):
            events = r.append(theirs, count=r.chance.choice([1, 20]))
            if theirs.wait(2):
                r.mark_acknowledged(events)
            r.append(own)
    daemon.kill() if r.chance.random() < 0.5 else daemon.stop()


def rebuild(r):
    """views.db is missing and built anew, with appends beside."""
    daemon = r.unrecorded("before")
    with Client(daemon) as client:
        for _ in range(5):
            r.append(client, count=500, size=200)
    daemon.stop()
    for name in ("views.db", "views.db-wal", "views.db-shm"):
        if os.path.exists(os.path.join(r.store, name)):
            os.unlink(os.path.join(r.store, name))
    r.begin()
    daemon = r.daemon()
    with Client(daemon) as client:
        for _ in range(40):
            r.append(client, count=r.chance.choice([1, 50]))
    time.sleep(0.3)
    daemon.kill() if r.chance.random() < 0.5 else daemon.stop()


def command(r):
    """Appending with syncctl, without a daemon."""
    r.make_store()
    for _ in range(6):
        events = [r.event() for _ in range(r.chance.choice([1, 30]))]
        text = "".join(e.line() + "\n" for e in events).encode()
        code, _, error = r.programs.control(r.store, "append", "-", environment=r.environment(), stdin=text)
        if code:
            raise Ended(f"syncctl append: {code} {error}")
        r.mark_acknowledged(events)


def failed_sync(r):
    """A sync of the WAL fails, the daemon is killed and started, the refused event is sent again; then the power goes."""
    daemon = r.daemon("sync:log.db-wal:1:EIO:once")
    client = Client(daemon)
    for _ in range(6):
        r.append(client)
    r.arm()
    refused = [r.event() for _ in range(r.chance.choice([1, 1, 40]))]
    try:
        status, ids = client.append(refused)
    except OSError:
        status, ids = 0, set()
    if ids:
        raise Ended(f"acknowledged though the sync failed, status {status}")
    r.disarm()
    daemon.kill() if r.chance.random() < 0.85 else daemon.stop()
    r.start = r.records_so_far()
    if r.chance.random() < 0.4:
        # The disk fails once more, while the store recovers.
        r.arm()
        daemon = r.daemon(f"sync:log.db*:{r.chance.randint(1, 4)}:EIO:once", wait=False)
        try:
            daemon.ready()
            with Client(daemon) as client:
                r.append_again(client, refused)
        except (Ended, OSError):
            r.remarks.append(f"ended with {daemon.process.poll()} when the disk failed again at the start")
        r.disarm()
        daemon.kill()
    daemon = r.daemon()
    with Client(daemon) as client:
        r.append_again(client, refused)
        for _ in range(6):
            r.append(client)
    daemon.kill() if r.chance.random() < 0.5 else daemon.stop()


def supervised(r, faults, work):
    """Works under a fault as a supervisor has it: a daemon that ends with 74 is started again, without the fault."""
    daemon = r.daemon(faults)
    r.arm()
    for attempt in range(4):
        try:
            with Client(daemon) as client:
                work(client)
            break
        except (OSError, Ended) as error:
            r.disarm()
            try:
                code = daemon.process.wait(5)
            except subprocess.TimeoutExpired:
                r.remarks.append(f"refuses ({error}) and goes on running")
                daemon.kill()
            else:
                r.remarks.append(f"ended with {code}")
            daemon = r.daemon()
    r.disarm()
    daemon.kill() if r.chance.random() < 0.5 else daemon.stop()


def failed_copying(r):
    """Syncs of log.db fail while the WAL is copied back; power cuts behind the first of them."""
    n, how = r.chance.choice([(r.chance.randint(1, 20), "once"), (r.chance.randint(2, 9), "each"), (r.chance.randint(1, 9), "always")])
    supervised(r, f"sync:log.db:{n}:EIO:{how}", lambda client: big_batches(r, client, 30_000_000))
    failures = [i for i, record in enumerate(disk.records(r.path)) if record.kind == "F"]
    r.start = failures[0] if failures else 0


def failed_write(r):
    """A write to the WAL fails: with EIO, without room, or half done."""
    fault = r.chance.choice(["write:log.db-wal:5:EIO:once", "write:log.db-wal:4:ENOSPC:once", "write:log.db-wal:7:SHORT:each"])

    def work(client):
        for _ in range(40):
            r.append(client, count=r.chance.choice([1, 1, 30]))

    supervised(r, fault, work)


def normal(r):
    """The control: with durability "normal" a power cut loses events, and the harness must see that."""
    r.settings["durability"] = "normal"
    single(r)


def prepared(scenario):
    """Scenarios on a store that is there already."""

    def run(r):
        r.make_store()
        scenario(r)

    run.__doc__, run.__name__ = scenario.__doc__, scenario.__name__
    return run


SCENARIOS = {
    "single": prepared(single),
    "clients": prepared(clients),
    "batches": prepared(batches),
    "first-start": first_start,
    "restarts": prepared(restarts),
    "recovery": prepared(recovery),
    "command": command,
    "receiving": prepared(receiving),
    "snapshot": prepared(snapshot),
    "rebuild": rebuild,
    "failed-sync": prepared(failed_sync),
    "failed-copying": prepared(failed_copying),
    "failed-write": prepared(failed_write),
    **{name: changes.changed(before, change) for name, (before, change, _) in changes.CHANGES.items()},
    "normal": prepared(normal),
}
CONTROL = "normal"
