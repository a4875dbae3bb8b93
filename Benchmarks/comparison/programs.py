"""Whole programs of this project, from their start to their end or until they are ready."""

import json
import os
import signal
import socket
import subprocess
import time

from comparison.processes import Failed, latencies, run, seconds_of, size_of, wait_until


def syncctl(bench):
    return os.path.join(bench.swift, "syncctl")


def history(bench, folder):
    """`syncctl history` of users of which there are fifty events, each a process of its own; no daemon runs."""
    count = max(20, bench.size.queries // 20)
    return latencies("", [
        seconds_of(syncctl(bench), "--store", folder, "history", f"u-{number * 37 % 2000:05}", "--last", "50")
        for number in range(count)])


def import_lines(bench, lines):
    """`syncctl import` into an empty store: it ends when the log is durable and the views are fresh."""
    with bench.folder("import") as folder:
        run(syncctl(bench), "--store", folder, "init", "--name", "bench")
        with open(lines, "rb") as file:
            count = sum(1 for _ in file)
        elapsed = seconds_of(syncctl(bench), "--store", folder, "import", lines)
        return {"rate": count / elapsed, "bytes": size_of(folder) / count}


def nsmc(bench):
    """Lines of the data set in native form, made once; `None` if it is not there."""
    if not os.path.isdir("../shared/data/ko_nsmc"):
        return None
    path = os.path.join(bench.work, f"nsmc-{bench.size.lines}.ndjson")
    if not os.path.exists(path):
        with open(path + ".new", "wb") as file:
            subprocess.run([os.path.join(bench.swift, "sillok-convert"), "ko_nsmc", "--limit", str(bench.size.lines)],
                           stdout=file, check=True)
        os.rename(path + ".new", path)
    return path


# ---- the daemon ----

def status(server):
    """Where the daemon's log and its views are."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(30)
        connection.connect(server.where)
        connection.sendall(b"GET /v1/status HTTP/1.1\r\nHost: syncd\r\nConnection: close\r\n\r\n")
        with connection.makefile("rb") as answer:
            said = json.loads(answer.read().partition(b"\r\n\r\n")[2])
    return int(said["position"]), int(said["views"])


def started(server):
    """Milliseconds from the start of the process until it is ready, and until its views are fresh."""
    start = time.perf_counter()
    server.start()
    ready = time.perf_counter() - start

    def is_fresh():
        log, views = status(server)
        return views >= log

    wait_until(is_fresh, "fresh views", patience=600, pause=0.002)
    return ready * 1e3, (time.perf_counter() - start) * 1e3


def start_and_restart(bench, to, folder, first):
    """A start after an orderly end, then one after `kill -9` in the middle of a load of batches."""
    count = bench.size.load
    metrics = {}
    with to.syncd(folder) as server:
        server.stop()
        metrics["ready_ms"], metrics["fresh_ms"] = started(server)
        driver = subprocess.Popen(
            [os.path.join(bench.native, "syncd"), "batches", server.where, str(server.pid), bench.records, str(first),
             str(count), str(bench.size.batch)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = status(server)[0] + count // 3
        wait_until(lambda: driver.poll() is not None or status(server)[0] > end, "load", patience=300, pause=0.02)
        was_busy = driver.poll() is None
        server.stop(signal.SIGKILL)
        driver.wait()
        if not was_busy:
            raise Failed("the load was over before the daemon was killed")
        metrics["killed_ready_ms"], metrics["killed_fresh_ms"] = started(server)
    return metrics
