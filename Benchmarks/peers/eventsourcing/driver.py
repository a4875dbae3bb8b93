"""The Python library `eventsourcing` on its SQLite recorder. Each conversation is an aggregate.

    driver.py clients DATABASE DATA FROM COUNT     one event in a commit, one client
    driver.py batches DATABASE DATA FROM COUNT BATCH

SQLite runs in this very process; its journal is a WAL and `synchronous` has SQLite's own default, FULL.
"""

import sys
import time
import uuid

from eventsourcing.persistence import StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore

LINE, KIND, CONVERSATION, PAYLOAD = 352, 37, 47, 55
TOPICS = {"P": "message.posted", "E": "message.edited", "R": "message.retracted", "D": "message.read"}


def events(path, first, count):
    """Stored events of `count` records; the versions before are counted."""
    versions, found = {}, []
    with open(path, "rb") as file:
        for number in range(first + count):
            line = file.read(LINE)
            name = line[CONVERSATION:CONVERSATION + 7].decode()
            versions[name] = version = versions.get(name, 0) + 1
            if number >= first:
                found.append(StoredEvent(uuid.uuid5(uuid.NAMESPACE_URL, name), version, TOPICS[chr(line[KIND])],
                                         line[PAYLOAD:LINE - 1]))
    return found


def main():
    how, database, data, first, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
    batch = 1 if how == "clients" else int(sys.argv[6])
    recorder = SQLiteApplicationRecorder(SQLiteDatastore(database))
    recorder.create_table()
    all_of_them = events(data, first, count)
    latencies = []
    start, cpu = time.perf_counter(), time.process_time()
    for at in range(0, count, batch):
        before = time.perf_counter()
        recorder.insert_events(all_of_them[at:at + batch])
        latencies.append(time.perf_counter() - before)
    elapsed, used = time.perf_counter() - start, time.process_time() - cpu
    latencies.sort()
    print(f"rate\t{count / elapsed}\ncpu_us\t{used / count * 1e6}")
    print(f"p50_us\t{latencies[(len(latencies) - 1) // 2] * 1e6}")
    print(f"p99_us\t{latencies[(len(latencies) - 1) * 99 // 100] * 1e6}\nmax_us\t{latencies[-1] * 1e6}")


main()
