"""The questions: functions of the bench and of the contestants. A section's name is what `--only` takes; `keys` are what it leaves in the results."""

import os
import shutil
from functools import partial

from comparison import large, occupancy, programs, replication
from comparison.bench import say
from comparison.processes import run

SECTIONS = {}


def section(*keys):
    def register(function):
        name = function.__name__.replace("_", "-")
        function.keys = keys or (name,)
        SECTIONS[name] = function
        return function
    return register


@section()
def disk(bench, _):
    """What one sync of 32 KiB takes."""
    def turn():
        with bench.folder("sync") as path:
            return bench.floor("sync", path)
    bench.take_turns("disk", {"floor": turn})


@section()
def append_single(bench, to):
    """One event, one durable commit, one client."""
    size = bench.size
    what = (bench.records, size.preload, size.ones)
    bench.take_turns("append-single", to.among(
        sillok=partial(to.with_sillok, "clients", *what, 1, "--log-only"),
        floor=partial(to.with_floor, "log", *what, 1),
        floor_socket=partial(to.with_floor_socket, *what, 1),
        floor_working=partial(to.with_floor_socket, *what, 1, 20),
        syncd=partial(to.with_syncd, "clients", *what, 1),
        postgres=partial(to.with_postgres, "clients", *what, 1),
        redis=partial(to.with_redis, "clients", *what, 1),
        nats=partial(to.with_nats, "clients", *what, 1),
        eventsourcing=partial(to.with_eventsourcing, "clients", *what)))


@section()
def append_clients(bench, to):
    """One event for each durable acknowledgement, 32 clients at a time."""
    size = bench.size
    what = (bench.records, size.preload, size.many, size.clients)
    bench.take_turns("append-clients", to.among(
        sillok=partial(to.with_sillok, "clients", *what),
        floor_socket=partial(to.with_floor_socket, *what),
        syncd=partial(to.with_syncd, "clients", *what),
        postgres=partial(to.with_postgres, "clients", *what),
        redis=partial(to.with_redis, "clients", *what),
        nats=partial(to.with_nats, "clients", *what)))


@section()
def append_batches(bench, to):
    """1,000 events in a durable commit, indexes or views of all of them fresh."""
    size = bench.size
    what = (bench.records, size.preload, size.window, size.batch)
    less = (bench.records, size.preload, size.slow_window, size.batch)
    bench.take_turns("append-batches", to.among(
        sillok=partial(to.with_sillok, "batches", *what),
        sillok_log=partial(to.with_sillok, "batches", *what, "--log-only"),
        syncd=partial(to.with_syncd, "batches", *what),
        floor=partial(to.with_floor, "views", *what),
        floor_threads=partial(to.with_floor, "threads", *what),
        floor_log=partial(to.with_floor, "log", *what),
        postgres_copy=partial(to.with_postgres, "copy", *what),
        postgres_insert=partial(to.with_postgres, "insert", *less),
        postgres_projections=partial(to.with_postgres, "project", *less, kind="projected"),
        redis=partial(to.with_redis, "batches", *what),
        nats=partial(to.with_nats, "batches", *what),
        eventsourcing=partial(to.with_eventsourcing, "batches", *less)))


@section()
def syncs(bench, to):
    """How often batches sync the disk; counted by strace, which slows them down."""
    if not shutil.which("strace"):
        return say("syncs: strace is missing")
    size = bench.size
    trace = os.path.join(bench.work, "strace")

    def count(kind, maker, *words):
        with bench.copy(kind, maker) as folder:
            run("strace", "-c", "-f", "-e", "trace=fdatasync,fsync", "-o", trace, words[0], words[1], folder, bench.records,
                size.preload, size.slow_window, size.batch, *words[2:])
        with open(trace) as file:
            rows = [line.split() for line in file if line.rstrip().endswith("sync")]
        return {"syncs": sum(float(row[3]) for row in rows)}

    sillok, floor = os.path.join(bench.swift, "sillok-bench"), os.path.join(bench.native, "floor")
    bench.take_turns("syncs", {
        "sillok": lambda: count("sillok", to.fill_sillok, sillok, "batches"),
        "sillok log": lambda: count("sillok", to.fill_sillok, sillok, "batches", "--log-only"),
        "floor log": lambda: count("floor", to.fill_floor, floor, "log")}, rounds=1)


@section()
def history(bench, to):
    """The last 50 events of a user with their payloads."""
    size = bench.size

    def whole_program():
        with bench.copy("sillok", to.fill_sillok) as folder:
            return programs.history(bench, folder)

    bench.take_turns("history", to.among(
        sillok=partial(to.with_sillok, "history", size.queries),
        syncctl=whole_program,
        floor=partial(to.with_floor, "history", size.queries),
        postgres=partial(to.with_postgres, "history", size.queries)))


@section()
def replay(bench, to):
    """Every event in order, decoded where the contestant decodes."""
    bench.take_turns("replay", to.among(
        sillok=partial(to.with_sillok, "replay"),
        floor=partial(to.with_floor, "scan"),
        postgres=partial(to.with_postgres, "scan"),
        redis=partial(to.with_redis, "scan")))


@section()
def catch_up(bench, to):
    """An empty node learns everything another has."""
    bench.take_turns("catch-up", to.among(
        sillok=partial(replication.sillok_catch_up, to, bench),
        sillok_snapshot=partial(replication.sillok_snapshot, to, bench),
        postgres_initial=partial(replication.postgres_initial, to, bench),
        postgres_streamed=partial(replication.postgres_streamed, to, bench),
        redis=partial(replication.redis_full_sync, to, bench)))


@section()
def live(bench, to):
    """One event at a time, from the append on one node until readers of another see it."""
    bench.take_turns("live", to.among(
        sillok=partial(replication.sillok_live, to, bench),
        floor=partial(replication.floor_live, to, bench, "live"),
        floor_early=partial(replication.floor_live, to, bench, "early"),
        postgres=partial(replication.postgres_live, to, bench),
        redis=partial(replication.redis_live, to, bench)))


@section()
def imports(bench, _):
    """`syncctl import` of film reviews (ko_nsmc) into an empty store, the whole process."""
    lines = programs.nsmc(bench)
    if lines is None:
        return say("imports: ../shared/data/ko_nsmc is missing")
    bench.take_turns("imports", {"syncctl": partial(programs.import_lines, bench, lines)})


@section()
def bytes_on_disk(bench, to):
    """Bytes on disk for each event of a filled store."""
    bench.take_turns("bytes-on-disk", to.among(
        sillok=partial(occupancy.bytes_of_sillok, to, bench),
        postgres=partial(occupancy.bytes_of_postgres, to, bench),
        postgres_projections=partial(occupancy.bytes_of_postgres, to, bench, "projected"),
        redis=partial(occupancy.bytes_of, bench, "redis", to.fill_redis),
        nats=partial(occupancy.bytes_of, bench, "nats", to.fill_nats),
        eventsourcing=partial(occupancy.bytes_of, bench, "eventsourcing", to.fill_eventsourcing)), rounds=1)


@section()
def memory(bench, to):
    """Memory of a server that has nothing to do, and at most while it has."""
    bench.take_turns("memory", to.among(
        syncd=partial(occupancy.memory_of_syncd, to, bench),
        postgres=partial(occupancy.memory_of_postgres, to, bench),
        redis=partial(occupancy.memory_of_redis, to, bench),
        nats=partial(occupancy.memory_of_nats, to, bench)))


@section()
def start(bench, to):
    """From the start of syncd until it is ready, also after kill -9 under load."""
    size = bench.size

    def turn():
        with bench.copy("sillok", to.fill_sillok) as folder:
            return programs.start_and_restart(bench, to, folder, size.preload)

    bench.take_turns("start", {"syncd": turn})


@section("chat-1", "chat-32")
def chat(bench, to):
    """Messages that a chat server has stored and acknowledged, by 1 and by 32 clients."""
    size = bench.size
    for clients, count, messages in ((1, size.ones, size.ones // 10), (size.clients, size.many, size.ones // 5)):
        what = (bench.records, size.preload, count, clients)
        bench.take_turns(f"chat-{1 if clients == 1 else 32}", to.among(
            syncd=partial(to.with_syncd, "clients", *what),
            prosody=partial(to.chat_over_prosody, messages, clients)))


@section("append-5m", "history-5m", "start-5m")
def large_5m(bench, to):
    """Batches, histories and starts with 5 million events (only `--size full`)."""
    large.measure(bench, to, 0)


@section("append-10m", "history-10m", "start-10m")
def large_10m(bench, to):
    """Batches, histories and starts with 10 million events (only `--size full`)."""
    large.measure(bench, to, 1)
