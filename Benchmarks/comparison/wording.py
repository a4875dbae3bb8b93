"""How figures, contestants and metrics are written."""

import statistics

CONTESTANTS = {
    "sillok": "Sillok, in process", "sillok log": "Sillok, in process, log alone", "syncd": "Sillok, syncd through its socket",
    "syncctl": "Sillok, syncctl as a process", "sillok snapshot": "Sillok, from a snapshot", "floor": "C floor",
    "floor log": "C floor, log alone", "floor threads": "C floor, second thread for views",
    "floor socket": "C floor, through a Unix socket", "floor working": "C floor, through a Unix socket, 20 µs of computing",
    "floor early": "C floor, sent before its sync", "postgres": "PostgreSQL",
    "postgres copy": "PostgreSQL, COPY", "postgres insert": "PostgreSQL, INSERT",
    "postgres projections": "PostgreSQL, INSERT + projections", "postgres initial": "PostgreSQL, initial copy",
    "postgres streamed": "PostgreSQL, streamed", "redis": "Redis, always synced", "nats": "NATS JetStream, not synced",
    "eventsourcing": "eventsourcing (Python)", "prosody": "Prosody, two archives",
}
METRICS = {
    "rate": "events/s", "log_rate": "events/s, log alone", "arrived_rate": "events/s, before durable",
    "searchable_rate": "events/s, searchable",
    "settled_rate": "events/s, tails merged too", "p50_us": "p50 µs",
    "p99_us": "p99 µs", "max_us": "max µs", "ack_p50_us": "acknowledged p50 µs", "ack_p99_us": "acknowledged p99 µs",
    "durable_p50_us": "in the log p50 µs", "durable_p99_us": "in the log p99 µs", "cpu_us": "CPU µs/event",
    "written": "written bytes/event", "driver_busy": "driver's CPUs", "bytes": "bytes/event", "log_bytes": "log, bytes/event",
    "idle_mb": "idle MB", "loaded_mb": "loaded MB", "ready_ms": "ready ms", "fresh_ms": "views fresh ms",
    "killed_ready_ms": "killed: ready ms", "killed_fresh_ms": "killed: views fresh ms", "rows": "rows", "syncs": "syncs",
}
# What a table has no room for or a reader no use.
HIDDEN = {"max_us", "rows", "ack_max_us", "durable_max_us", "ack_p99_us", "durable_p99_us"}


def figure(value):
    """Three digits that say something."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(values):
    """`min / **median** / max`."""
    if len(values) == 1:
        return figure(values[0])
    return f"{figure(min(values))} / **{figure(statistics.median(values))}** / {figure(max(values))}"


def contestant(name):
    return CONTESTANTS.get(name, name)
