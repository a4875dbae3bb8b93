"""Batches, histories and starts of large stores. These are not copied: each turn makes them a little larger."""

from functools import partial

from comparison import programs
from peers.postgres.server import Postgres


def measure(bench, to, index):
    size = bench.size
    if len(size.large) <= index:
        return
    label, preload = ("5m", "10m")[index], size.large[index]
    sillok = bench.growing("sillok", to.fill_sillok, preload)
    floor = bench.growing("floor", to.fill_floor, preload)
    postgres = bench.growing("postgres", to.fill_postgres, preload) if to.among(postgres=True) else None
    turns = partial(bench.take_turns, rounds=size.large_rounds, preload=preload)

    def batches(store, function):
        with store.take(size.window) as first:
            return function(store.folder, bench.records, first, size.window, size.batch)

    def copy():
        with postgres.take(size.window) as first, Postgres(postgres.folder) as server:
            return bench.driver("postgres", "copy", server.where, server.pid, bench.records, first, size.window, size.batch)

    def postgres_history():
        with Postgres(postgres.folder) as server:
            return bench.driver("postgres", "history", server.where, server.pid, size.queries)

    def restart():
        with sillok.take(size.load) as first:
            return programs.start_and_restart(bench, to, sillok.folder, first)

    turns(f"append-{label}", to.among(
        sillok=lambda: batches(sillok, partial(bench.sillok, "batches")),
        floor=lambda: batches(floor, partial(bench.floor, "views")), postgres_copy=copy))
    turns(f"history-{label}", to.among(
        sillok=lambda: bench.sillok("history", sillok.folder, size.queries),
        syncctl=lambda: programs.history(bench, sillok.folder),
        floor=lambda: bench.floor("history", floor.folder, size.queries), postgres=postgres_history))
    turns(f"start-{label}", {"syncd": restart})
