"""The questions, each with its contestants. A section's name is what `--only` takes."""

from functools import partial

from comparison.contestants import Contestants

SECTIONS = {}


def section(function):
    SECTIONS[function.__name__.replace("_", "-")] = function
    return function


@section
def disk(bench):
    """What one sync of 32 KiB takes."""
    def turn():
        with bench.folder("sync") as path:
            return bench.floor("sync", path)
    bench.take_turns("disk", {"floor": turn})


@section
def append_single(bench):
    """One event, one durable commit, one client."""
    to, size = Contestants(bench), bench.size
    what = (bench.records, size.preload, size.ones)
    bench.take_turns("append-single", to.among(
        "append-single",
        sillok=partial(to.with_sillok, "clients", *what, 1, "--log-only"),
        floor=partial(to.with_floor, "log", *what, 1),
        syncd=partial(to.with_syncd, "clients", *what, 1),
        postgres=partial(to.with_postgres, "clients", *what, 1),
        redis=partial(to.with_redis, "clients", *what, 1)))


@section
def append_clients(bench):
    """One event for each durable acknowledgement, 32 clients at a time."""
    to, size = Contestants(bench), bench.size
    what = (bench.records, size.preload, size.many, size.clients)
    bench.take_turns("append-clients", to.among(
        "append-clients",
        sillok=partial(to.with_sillok, "clients", *what),
        syncd=partial(to.with_syncd, "clients", *what),
        postgres=partial(to.with_postgres, "clients", *what),
        redis=partial(to.with_redis, "clients", *what)))


@section
def append_batches(bench):
    """1,000 events in a durable commit, indexes or views of all of them fresh."""
    to, size = Contestants(bench), bench.size
    what = (bench.records, size.preload, size.window, size.batch)
    bench.take_turns("append-batches", to.among(
        "append-batches",
        sillok=partial(to.with_sillok, "batches", *what),
        sillok_log=partial(to.with_sillok, "batches", *what, "--log-only"),
        syncd=partial(to.with_syncd, "batches", *what),
        floor=partial(to.with_floor, "views", *what),
        floor_threads=partial(to.with_floor, "threads", *what),
        floor_log=partial(to.with_floor, "log", *what),
        postgres_copy=partial(to.with_postgres, "copy", *what),
        postgres_insert=partial(to.with_postgres, "insert", *what),
        postgres_projections=partial(to.with_postgres, "project", *what, kind="projected"),
        redis=partial(to.with_redis, "batches", *what)))


@section
def history(bench):
    """The last 50 events of a user with their payloads."""
    to, size = Contestants(bench), bench.size
    bench.take_turns("history", to.among(
        "history",
        sillok=partial(to.with_sillok, "history", size.queries),
        floor=partial(to.with_floor, "history", size.queries),
        postgres=partial(to.with_postgres, "history", size.queries)))
