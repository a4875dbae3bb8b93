"""Two servers: what an empty one takes to have everything, and how soon it has something new."""

import time
from contextlib import ExitStack

from comparison.processes import cpu, wait_until
from peers.postgres.server import Postgres
from peers.redis.server import Redis

NOTIFY = """
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM pg_notify('arrived', NEW.seq::text); RETURN NULL; END $$;
CREATE TRIGGER tell AFTER INSERT ON event FOR EACH ROW EXECUTE FUNCTION tell();
ALTER TABLE event ENABLE ALWAYS TRIGGER tell;
"""


class PostgresPair:
    """A primary that publishes its events and an empty subscriber with the same tables and indexes."""

    def __init__(self, to, bench, *, filled):
        self.to, self.bench, self.filled = to, bench, filled
        self.events = bench.size.preload if filled else 0

    def __enter__(self):
        self.stack = ExitStack()
        bench = self.bench
        try:
            if self.filled:
                folder = self.stack.enter_context(bench.copy("postgres", self.to.fill_postgres))
            else:
                folder = self.stack.enter_context(bench.folder("primary"))
                Postgres.create(folder)
            other = self.stack.enter_context(bench.folder("subscriber"))
            Postgres.create(other)
            self.primary = self.stack.enter_context(Postgres(folder, logical=True))
            self.subscriber = self.stack.enter_context(Postgres(other, logical=True))
            self.primary.query("CREATE PUBLICATION events FOR TABLE event")
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.subscriber.query("ALTER SUBSCRIPTION events DISABLE")
        finally:
            self.stack.close()

    def subscribe(self):
        self.subscriber.query(f"CREATE SUBSCRIPTION events CONNECTION '{self.primary.address}' PUBLICATION events"
            " WITH (synchronous_commit = on)")

    def wait(self, events):
        """Until the initial copy is over and the last event has come."""
        wait_until(
            lambda: self.subscriber.query("SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel") == "t"
            and self.subscriber.query("SELECT coalesce(max(seq), 0) FROM event") == str(events),
            "the subscriber", patience=900, pause=0.02)
        found = self.subscriber.query("SELECT count(*) FROM event")
        assert found == str(events), f"{found} of {events} events"

    def both(self):
        return cpu(self.primary.pid) + cpu(self.subscriber.pid)


def postgres_initial(to, bench):
    """All rows by COPY between the servers, in one transaction."""
    with PostgresPair(to, bench, filled=True) as pair:
        start, used = time.perf_counter(), pair.both()
        pair.subscribe()
        pair.wait(pair.events)
        elapsed = time.perf_counter() - start
        return {"rate": pair.events / elapsed, "cpu_us": (pair.both() - used) / pair.events * 1e6}


def postgres_streamed(to, bench):
    """Everything committed while the subscriber was away, in commits of 1,000, is decoded and applied."""
    events = bench.size.preload
    with PostgresPair(to, bench, filled=False) as pair:
        pair.subscribe()
        pair.wait(0)
        pair.subscriber.query("ALTER SUBSCRIPTION events DISABLE")
        bench.driver("postgres", "copy", pair.primary.where, pair.primary.pid, bench.records, 0, events, 1_000)
        start, used = time.perf_counter(), pair.both()
        pair.subscriber.query("ALTER SUBSCRIPTION events ENABLE")
        pair.wait(events)
        elapsed = time.perf_counter() - start
        return {"rate": events / elapsed, "cpu_us": (pair.both() - used) / events * 1e6}


def postgres_live(to, bench):
    with PostgresPair(to, bench, filled=True) as pair:
        pair.subscribe()
        pair.wait(pair.events)
        pair.subscriber.query(NOTIFY)
        return bench.driver(
            "postgres", "live", pair.primary.where, pair.subscriber.where, bench.records, pair.events, bench.size.live)


def redis_pair(to, bench, stack):
    folder = stack.enter_context(bench.copy("redis", to.fill_redis))
    other = stack.enter_context(bench.folder("replica"))
    master = stack.enter_context(Redis(folder, port=True))
    replica = stack.enter_context(Redis(other, port=True))
    return master, replica


def redis_full_sync(to, bench):
    """The rate counts until the replica has rewritten its own log, which makes it durable; `arrived` until it has all."""
    events = bench.size.preload
    with ExitStack() as stack:
        master, replica = redis_pair(to, bench, stack)
        start, used = time.perf_counter(), cpu(master.pid) + cpu(replica.pid)
        replica.call("REPLICAOF", "127.0.0.1", master.port)
        wait_until(lambda: replica.info("replication").get("master_link_status") == "up" and replica.count() == events,
                   "the replica", patience=600, pause=0.005)
        arrived = time.perf_counter() - start

        def is_durable():
            state = replica.info("persistence")
            return state["aof_rewrite_in_progress"] == "0" and state["aof_rewrite_scheduled"] == "0"

        wait_until(is_durable, "the replica's log", patience=600, pause=0.005)
        elapsed = time.perf_counter() - start
        used = cpu(master.pid) + cpu(replica.pid) - used
        return {"rate": events / elapsed, "arrived_rate": events / arrived, "cpu_us": used / events * 1e6}


def redis_live(to, bench):
    with ExitStack() as stack:
        master, replica = redis_pair(to, bench, stack)
        replica.call("REPLICAOF", "127.0.0.1", master.port)
        wait_until(lambda: replica.info("replication").get("master_link_status") == "up"
                   and replica.info("persistence")["aof_rewrite_in_progress"] == "0", "the replica", patience=600)
        return bench.driver(
            "redis", "live", master.where, replica.where, bench.records, bench.size.preload, bench.size.live)


def sillok_catch_up(to, bench):
    with bench.copy("sillok", to.fill_sillok) as full, bench.folder("empty") as empty:
        return bench.sillok("catch-up", full, empty)


def sillok_snapshot(to, bench):
    """As `sillok_catch_up`, but the log comes in pieces of pages and not event by event."""
    with bench.copy("sillok", to.fill_sillok) as full, bench.folder("empty") as empty:
        return bench.sillok("snapshot", full, empty)


def sillok_live(to, bench):
    with bench.copy("sillok", to.fill_sillok) as folder, bench.folder("other") as other:
        return bench.sillok("live", folder, bench.records, bench.size.preload, bench.size.live, other)


def floor_live(to, bench, how):
    with bench.copy("floor", to.fill_floor) as folder, bench.folder("other") as other:
        return bench.floor(how, folder, bench.records, bench.size.preload, bench.size.live, other)
