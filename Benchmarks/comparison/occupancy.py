"""What the contestants occupy: memory when nothing happens and under load, and bytes on disk for each event."""

import os
import time

from comparison.processes import MemoryWatch, memory, size_of
from peers.nats.server import Nats
from peers.postgres.server import Postgres
from peers.redis.server import Redis


def memory_of(bench, server, peer, batches="batches"):
    """Megabytes after five idle seconds, and at most while 32 clients append and then batches come."""
    size = bench.size
    time.sleep(5)
    idle = memory(server.pid)
    with MemoryWatch(server.pid) as watch:
        bench.driver(peer, "clients", server.where, server.pid, bench.records, size.preload, size.many, size.clients)
        bench.driver(peer, batches, server.where, server.pid, bench.records, size.preload + size.many, size.window, size.batch)
    return {"idle_mb": idle, "loaded_mb": watch.peak}


def memory_of_syncd(to, bench):
    with bench.copy("sillok", to.fill_sillok) as folder, to.syncd(folder) as server:
        return memory_of(bench, server, "syncd")


def memory_of_postgres(to, bench):
    with bench.copy("postgres", to.fill_postgres) as folder, Postgres(folder) as server:
        return memory_of(bench, server, "postgres", "copy")


def memory_of_redis(to, bench):
    with bench.copy("redis", to.fill_redis) as folder, Redis(folder) as server:
        return memory_of(bench, server, "redis")


def memory_of_nats(to, bench):
    with bench.copy("nats", to.fill_nats) as folder, Nats(folder, to.nats_driver) as server:
        return memory_of(bench, server, "nats")


def bytes_of_sillok(to, bench):
    """As the files are when the daemon has ended and nothing waits in a tail; `log_bytes` without the views."""
    with bench.copy("sillok", to.fill_sillok) as folder:
        with to.syncd(folder):
            pass
        log = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder) if name.startswith("log.db"))
        return {"bytes": size_of(folder) / bench.size.preload, "log_bytes": log / bench.size.preload}


def bytes_of_postgres(to, bench, kind="postgres"):
    """Tables and indexes, without the write-ahead log."""
    maker = to.fill_projected if kind == "projected" else to.fill_postgres
    with bench.copy(kind, maker) as folder, Postgres(folder) as server:
        return {"bytes": server.bytes() / bench.size.preload}


def bytes_of(bench, kind, maker):
    """All files of a stopped store."""
    return {"bytes": size_of(bench.template(kind, maker, bench.size.preload)) / bench.size.preload}
