"""PostgreSQL as it was measured: tuned as its manual advises for a machine like this, and durable."""

import glob
import os
import shutil
import signal

from comparison.processes import Server, free_port, run

HERE = os.path.dirname(os.path.abspath(__file__))
TUNING = {
    "shared_buffers": "1GB", "max_wal_size": "4GB", "checkpoint_timeout": "15min", "synchronous_commit": "on",
    "fsync": "on", "full_page_writes": "on", "effective_cache_size": "8GB", "work_mem": "64MB",
    "maintenance_work_mem": "512MB", "max_connections": "100",
    # A subscription that was just enabled would otherwise wait up to five seconds before it begins.
    "wal_retrieve_retry_interval": "100ms",
}


def programs():
    """The folder of the newest installed release, `None` without one."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[-2]))
    return found[-1] if found else None


def as_owner():
    """PostgreSQL refuses to run as root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []


class Postgres(Server):
    stop_signal = signal.SIGINT

    def __init__(self, folder, *, logical=False):
        super().__init__(folder)
        self.logical = logical

    @staticmethod
    def create(folder, *, projections=False):
        """A cluster with the schema, without events. Leaves it stopped."""
        os.makedirs(folder)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        run(*as_owner(), os.path.join(programs(), "initdb"), "-D", folder, "-U", "bench", "-A", "trust", "-E", "UTF8",
            "--locale=C", cwd="/")
        with Postgres(folder) as server:
            server.execute_file("schema.sql")
            if projections:
                server.execute_file("projections.sql")

    def command(self):
        if os.geteuid() == 0:
            shutil.chown(self.sockets, "postgres", "postgres")
        self.port = free_port()
        settings = dict(TUNING, port=self.port, unix_socket_directories=self.sockets)
        settings["listen_addresses"] = "127.0.0.1" if self.logical else ""
        settings["wal_level"] = "logical" if self.logical else "replica"
        words = [*as_owner(), os.path.join(programs(), "postgres"), "-D", self.folder]
        for name, value in settings.items():
            words += ["-c", f"{name}={value}"]
        return words

    def is_ready(self):
        try:
            return self.query("SELECT 1") == "1"
        except Exception:
            return False

    @property
    def where(self):
        return f"host={self.sockets} port={self.port} user=bench dbname=postgres"

    @property
    def address(self):
        return f"host=127.0.0.1 port={self.port} user=bench dbname=postgres"

    def query(self, sql):
        return run("psql", "-XAtq", "-d", self.where, "-v", "ON_ERROR_STOP=1", "-c", sql).strip()

    def execute_file(self, name):
        run("psql", "-Xq", "-d", self.where, "-v", "ON_ERROR_STOP=1", "-f", os.path.join(HERE, name))

    def settle(self):
        """As autovacuum would leave it after a while, and no checkpoint waiting."""
        self.query("VACUUM (ANALYZE)")
        self.query("CHECKPOINT")

    def bytes(self):
        """Bytes of tables and indexes, without the write-ahead log."""
        return int(self.query(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace"))
