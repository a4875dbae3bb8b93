"""What this project wants to reach: each goal compares what Sillok gave with a floor, a peer, or a fixed limit."""

import statistics
from dataclasses import dataclass

EVENTS, MICROSECONDS, MILLISECONDS, BYTES, MEGABYTES = "events/s", "µs", "ms", "bytes/event", "MB"


@dataclass(frozen=True)
class Goal:
    row: str                    # the heading of its text in docs/BENCHMARKS.md
    what: str
    sections: tuple             # the first one that was measured
    ours: tuple                 # contestant, metric
    at_most: float = None
    at_least: float = None
    theirs: tuple = None        # contestant, metric[, section]; without: a limit in `unit`
    unit: str = EVENTS
    worst: bool = False         # judged by the worst round, not by the median


@dataclass(frozen=True)
class Verdict:
    goal: Goal
    section: str
    ours: list
    theirs: list
    ratio: float
    met: bool


def single(what, ours, factor, theirs):
    return Goal("One event, one client", what, ("append-single",), (ours, "p50_us"), at_most=factor,
                theirs=(theirs, "p50_us"), unit=MICROSECONDS)


def clients(what, ours, factor, theirs):
    return Goal("32 clients", what, ("append-clients",), (ours, "rate"), at_least=factor, theirs=(theirs, "rate"))


def batches(what, factor, theirs):
    return Goal("Batches of 1,000", what, ("append-batches",), ("sillok", "rate"), at_least=factor, theirs=(theirs, "rate"))


def pause(what, section):
    return Goal("Large stores", what, (section,), ("sillok", "p99_us"), at_most=20_000, unit=MICROSECONDS, worst=True)


def history(what, metric):
    return Goal("Histories", what, ("history-5m", "history"), ("sillok", metric), at_most=1.0, theirs=("postgres", metric),
                unit=MICROSECONDS)


def rate(row, what, section, ours, factor, theirs):
    return Goal(row, what, (section,), (ours, "rate"), at_least=factor, theirs=(theirs, "rate"))


def live(what, metric, factor):
    return Goal("Live", what, ("live",), ("sillok", metric), at_most=factor, theirs=("postgres", metric), unit=MICROSECONDS)


def limit(row, what, sections, ours, at_most, unit):
    return Goal(row, what, sections, ours, at_most=at_most, unit=unit)


GOALS = [
    single("in process, p50 ≤ 1.15 × C floor", "sillok", 1.15, "floor"),
    single("through the Unix socket, p50 ≤ 1.0 × PostgreSQL", "syncd", 1.0, "postgres"),
    clients("in process ≥ 2 × PostgreSQL", "sillok", 2.0, "postgres"),
    clients("in process ≥ 1.0 × Redis, always synced", "sillok", 1.0, "redis"),
    clients("through the Unix socket ≥ 2 × PostgreSQL", "syncd", 2.0, "postgres"),
    clients("through the Unix socket ≥ 1.0 × Redis, always synced", "syncd", 1.0, "redis"),
    batches("all views fresh ≥ 2.5 × PostgreSQL COPY, same indexes", 2.5, "postgres copy"),
    batches("all views fresh ≥ 6 × PostgreSQL INSERT, same projections", 6.0, "postgres projections"),
    batches("all views fresh ≥ 1.5 × Redis, always synced", 1.5, "redis"),
    batches("all views fresh ≥ 0.8 × C write-behind floor", 0.8, "floor"),
    Goal("Large stores", "batches at 10 million ≥ 0.7 × the rate at 500,000", ("append-10m",), ("sillok", "rate"),
         at_least=0.7, theirs=("sillok", "rate", "append-batches")),
    pause("p99 of a batch at 500,000 ≤ 20 ms in every round", "append-batches"),
    pause("p99 of a batch at 5 million ≤ 20 ms in every round", "append-5m"),
    pause("p99 of a batch at 10 million ≤ 20 ms in every round", "append-10m"),
    Goal("CPU", "CPU for each appended event ≤ 1.0 × PostgreSQL COPY", ("append-batches",), ("sillok", "cpu_us"), at_most=1.0,
         theirs=("postgres copy", "cpu_us"), unit=MICROSECONDS),
    history("last 50 at 5 million, p50 ≤ 1.0 × PostgreSQL", "p50_us"),
    history("last 50 at 5 million, p99 ≤ 1.0 × PostgreSQL", "p99_us"),
    limit("Histories", "`syncctl history`, whole process, p50 ≤ 25 ms", ("history-5m", "history"), ("syncctl", "p50_us"),
          25_000, MICROSECONDS),
    rate("Replay", "decoded ≥ 0.9 × C scan", "replay", "sillok", 0.9, "floor"),
    rate("Replay", "decoded ≥ 2 × PostgreSQL", "replay", "sillok", 2.0, "postgres"),
    rate("Catch-up", "durable, verified, views fresh ≥ 2 × PostgreSQL streamed", "catch-up", "sillok", 2.0, "postgres streamed"),
    rate("Catch-up", "durable, verified, views fresh ≥ 1.0 × PostgreSQL's initial copy", "catch-up", "sillok", 1.0,
         "postgres initial"),
    rate("Catch-up", "from a snapshot ≥ 1.0 × Redis' full sync until durable", "catch-up", "sillok snapshot", 1.0, "redis"),
    live("durable on both, p50 ≤ 1.0 × PostgreSQL logical replication", "p50_us", 1.0),
    live("durable on both, p99 ≤ 0.5 × PostgreSQL logical replication", "p99_us", 0.5),
    Goal("Import", "ko_nsmc by `syncctl` ≥ 150,000 events/s", ("imports",), ("syncctl", "rate"), at_least=150_000),
    Goal("Disk", "log and views ≤ 0.85 × PostgreSQL, same indexes", ("bytes-on-disk",), ("sillok", "bytes"), at_most=0.85,
         theirs=("postgres", "bytes"), unit=BYTES),
    limit("Memory", "syncd idle ≤ 15 MB", ("memory",), ("syncd", "idle_mb"), 15, MEGABYTES),
    limit("Memory", "syncd under load ≤ 100 MB", ("memory",), ("syncd", "loaded_mb"), 100, MEGABYTES),
    limit("Start", "ready at 10 million ≤ 300 ms", ("start-10m", "start"), ("syncd", "ready_ms"), 300, MILLISECONDS),
    limit("Start", "ready after `kill -9` under load at 10 million ≤ 1 s", ("start-10m", "start"), ("syncd", "killed_ready_ms"),
          1_000, MILLISECONDS),
]


def judge(goal, results):
    """A verdict; `None` if something for it was not measured."""
    for section in goal.sections:
        ours = results.values(section, *goal.ours)
        if not ours:
            continue
        theirs = []
        if goal.theirs:
            other = goal.theirs[2] if len(goal.theirs) > 2 else section
            theirs = results.values(other, *goal.theirs[:2])
            if not theirs:
                continue
        value = statistics.median(ours)
        if goal.worst:
            value = max(ours) if goal.at_most is not None else min(ours)
        against = statistics.median(theirs) if theirs else 1.0
        ratio = value / against if against else float("inf")
        met = ratio <= goal.at_most if goal.at_most is not None else ratio >= goal.at_least
        return Verdict(goal, section, ours, theirs, ratio if theirs else None, met)
    return None
