"""How much is measured."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Size:
    name: str
    rounds: int
    preload: int        # events in a store before the clock starts
    window: int         # events appended in batches: more than two generations of Sillok's tails (262,144)
    ones: int           # events appended one by one by one client
    many: int           # events appended one by one by 32 clients
    queries: int
    live: int           # events followed to another node
    lines: int          # of ko_nsmc
    large: tuple = ()   # preloads of the sections about large stores
    batch: int = 1_000
    clients: int = 32

    @property
    def slow_window(self):
        """For contestants that take ten times as long; a rate does not depend on it."""
        return self.window // 4

    @property
    def load(self):
        """Events on their way when the daemon is killed."""
        return self.window // 2

    @property
    def large_rounds(self):
        return min(3, self.rounds)

    def records(self):
        """The most records that any section takes."""
        return (max((self.preload, *self.large)) + self.large_rounds * (self.window + self.load) + self.window + self.many
                + self.ones + self.live)


SIZES = {
    "quick": Size("quick", rounds=3, preload=100_000, window=300_000, ones=1_000, many=16_000, queries=1_000, live=300,
                  lines=100_000),
    "default": Size("default", rounds=3, preload=500_000, window=600_000, ones=3_000, many=64_000, queries=2_000,
                    live=1_000, lines=200_000),
    "full": Size("full", rounds=3, preload=500_000, window=600_000, ones=5_000, many=96_000, queries=5_000, live=2_000,
                 lines=200_000, large=(5_000_000, 10_000_000)),
}


def changed(size, words):
    """The size with `name=value` words applied."""
    changes = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in Size.__dataclass_fields__ or name == "name":
            raise ValueError(f"{word}: not a size")
        changes[name] = tuple(int(part) for part in value.split(",") if part) if name == "large" else int(value)
    return replace(size, name=size.name + "*", **changes) if changes else size


def bytes_needed(size):
    """About what the stores of all contestants occupy at the same time, with records of 352 bytes."""
    stores = 2_500 * max((size.preload * 3, *size.large))
    return 352 * size.records() + stores + (6 << 30 if size.large else 2 << 30)
