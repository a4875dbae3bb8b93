"""What an import costs: of events older than those that are there, and of very many conversations."""

import os
import shutil

from comparison.processes import run
from growth.data import EPOCH, Events, rfc3339, write_lines
from growth.measuring import process

LATE, WIDE = 200_000, 1_000_000


def made_at(events, time_of):
    """The same events at other times."""
    for number, (id, kind, user, conversation, author, _, payload) in enumerate(events):
        yield id, kind, user, conversation, author, time_of(number), payload


def spread(count):
    """The number of an event to a time between the first and the last of `count`, in no order."""
    return lambda number: EPOCH + number * 7_919 * 1_009 % count * 1_000 + 500


def wide():
    """Conversations of three events each."""
    text = '{"text":"말씀하신 대로 어제부터 두통이 심해졌습니다"}'
    for number in range(3 * WIDE):
        yield None, "message.posted", f"u-{number // 3 % 10_000:05}", f"c-{number // 3}", f"u-{number // 3 % 10_000:05}", \
            EPOCH + number * 1_000, text


def plain(count):
    """As many messages of as few conversations as a store of the other questions has."""
    for _, _, user, conversation, author, time, _ in Events(count):
        yield None, "message.posted", user, conversation, author, time, '{"text":"말씀하신 대로 어제부터 두통이 심해졌습니다"}'


def measure(store, count, syncctl, work):
    """Lines of a table. `store` has `count` events and stays as it is."""
    lines, folder = os.path.join(work, "imported.ndjson"), os.path.join(work, "imported")
    yield "| import | events | events/s | processor µs an event | memory MiB | beside the first of the pair |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    pairs = (
        (f"new events into {count:,}", store, LATE, lambda: made_at(Events(LATE), lambda number: EPOCH + (count + number) * 1_000)),
        (f"late events into {count:,}", store, LATE, lambda: made_at(Events(LATE), spread(count))),
        ("few conversations, an empty store", None, 3 * WIDE, lambda: plain(3 * WIDE)),
        (f"{WIDE:,} conversations of three, an empty store", None, 3 * WIDE, wide),
    )
    first = None
    for place, (name, from_store, events, made) in enumerate(pairs):
        shutil.rmtree(folder, ignore_errors=True)
        try:
            if from_store:
                run("cp", "-a", "--reflink=auto", from_store, folder)
                # The views of a copy are not what its node left: they are built anew, once.
                run(syncctl, "--store", folder, "conversations", "--last", "1")
            else:
                run(syncctl, "--store", folder, "init", "--name", "bench")
            write_lines(lines, made())
            cost = process(syncctl, "--store", folder, "import", lines, "--quiet")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            if os.path.exists(lines):
                os.unlink(lines)
        each = cost.processor * 1e3 / events
        if place % 2 == 0:
            first = (each, events / cost.wall * 1e3)
        yield (f"| {name} | {events:,} | {events / cost.wall * 1e3:,.0f} | {each:.1f} | {cost.memory / (1 << 20):.0f} |"
               f" processor × {each / first[0]:.2f}, rate × {events / cost.wall * 1e3 / first[1]:.2f} |")
