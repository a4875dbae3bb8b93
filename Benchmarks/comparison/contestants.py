"""How each contestant makes a store and is asked to do one thing. Every method returns what its program printed."""

import os

from comparison.processes import measure, run, size_of
from floors.server import FloorServer
from peers.nats import server as nats
from peers.postgres.server import Postgres, programs as postgres_programs
from peers.prosody import server as prosody
from peers.redis import server as redis
from peers.syncd.server import Syncd


class Contestants:
    def __init__(self, bench):
        self.bench = bench
        self.size = bench.size
        self.python = os.path.join(bench.venv, "bin", "python")
        self.nats_driver = os.path.join(bench.native, "nats")

    def among(self, **all_of_them):
        """Those whose programs are there. An underscore in a name becomes a blank; the first word says whose program."""
        present = {"postgres": bool(postgres_programs()) and self.bench.has("postgres"),
                   "redis": redis.is_installed() and self.bench.has("redis"),
                   "nats": nats.is_installed() and self.bench.has("nats"),
                   "sillok_snapshot": "sillok-bench snapshot " in self.bench.sillok_usage(),
                   "eventsourcing": os.path.exists(self.python), "prosody": prosody.is_installed()}
        chosen = {}
        for name, contestant in all_of_them.items():
            if present.get(name, True) and present.get(name.split("_")[0], True):
                chosen[name.replace("_", " ")] = contestant
        return chosen

    # ---- filling ----

    def fill_sillok(self, folder, first, count):
        self.bench.sillok("fill", folder, self.bench.records, first, count)

    def fill_floor(self, folder, first, count):
        self.bench.floor("views", folder, self.bench.records, first, count, 10_000)

    def fill_postgres(self, folder, first, count, how="copy", projections=False):
        if not os.path.exists(folder):
            Postgres.create(folder, projections=projections)
        with Postgres(folder) as server:
            self.bench.driver("postgres", how, server.where, server.pid, self.bench.records, first, count, 10_000)
            server.settle()

    def fill_projected(self, folder, first, count):
        self.fill_postgres(folder, first, count, "project", True)

    def fill_redis(self, folder, first, count):
        with redis.Redis(folder) as server:
            self.bench.driver("redis", "batches", server.where, server.pid, self.bench.records, first, count, 10_000)

    def fill_nats(self, folder, first, count):
        if not os.path.exists(folder):
            nats.Nats.create(folder, self.nats_driver)
        with nats.Nats(folder, self.nats_driver) as server:
            self.bench.driver("nats", "batches", server.where, server.pid, self.bench.records, first, count, 1_000)

    def fill_eventsourcing(self, folder, first, count):
        os.makedirs(folder)
        self.eventsourcing(folder, "batches", self.bench.records, first, count, 10_000)

    def eventsourcing(self, folder, how, *words):
        driver = os.path.join(os.path.dirname(nats.__file__), "..", "eventsourcing", "driver.py")
        return measure(self.python, "-B", driver, how, os.path.join(folder, "events.db"), *words)

    # ---- one turn on a copy of a filled store ----

    def with_sillok(self, *words, count=None):
        """`words` of sillok-bench: the first, then the store's folder, then the others."""
        with self.bench.copy("sillok", self.fill_sillok, count) as folder:
            return self.bench.sillok(words[0], folder, *words[1:])

    def with_floor(self, *words):
        with self.bench.copy("floor", self.fill_floor) as folder:
            return self.bench.floor(words[0], folder, *words[1:])

    def with_floor_socket(self, records, first, count, clients, work=0):
        program = os.path.join(self.bench.native, "floor")
        with self.bench.copy("floor", self.fill_floor) as folder, FloorServer(folder, program, records, first, count, work) as server:
            return self.bench.driver("syncd", "clients", server.where, server.pid, records, first, count, clients)

    def with_syncd(self, *words):
        with self.bench.copy("sillok", self.fill_sillok) as folder, self.syncd(folder) as server:
            return self.bench.driver("syncd", words[0], server.where, server.pid, *words[1:])

    def with_postgres(self, *words, kind="postgres"):
        maker = self.fill_projected if kind == "projected" else self.fill_postgres
        with self.bench.copy(kind, maker) as folder, Postgres(folder) as server:
            return self.bench.driver("postgres", words[0], server.where, server.pid, *words[1:])

    def with_redis(self, *words):
        with self.bench.copy("redis", self.fill_redis) as folder, redis.Redis(folder) as server:
            return self.bench.driver("redis", words[0], server.where, server.pid, *words[1:])

    def with_nats(self, *words):
        with self.bench.copy("nats", self.fill_nats) as folder, nats.Nats(folder, self.nats_driver) as server:
            return self.bench.driver("nats", words[0], server.where, server.pid, *words[1:])

    def with_eventsourcing(self, *words):
        with self.bench.copy("eventsourcing", self.fill_eventsourcing) as folder:
            return self.eventsourcing(folder, *words)

    def chat_over_prosody(self, count, clients):
        driver = os.path.join(os.path.dirname(prosody.__file__), "driver.py")
        with self.bench.folder("prosody") as folder, prosody.Prosody(folder, clients) as server:
            metrics = measure("python3", "-B", driver, server.port, self.bench.records, self.size.preload, count, clients)
            server.stop()
            metrics["bytes"] = size_of(folder) / count
            return metrics

    # ---- programs of this project ----

    def syncd(self, folder):
        return Syncd(folder, os.path.join(self.bench.swift, "syncd"))

    def syncctl(self, folder, *words):
        return run(os.path.join(self.bench.swift, "syncctl"), "--store", folder, *words)
