"""What is on a disk after a power cut, computed from a recording.

Everything that a successful f(data)sync covered is there. Each later write is there, missing, torn at 512 or 4,096 bytes,
or only its size is, independently of all others. sync_file_range promises nothing. What a failed sync covered is gone for
good: its pages count as clean, until something else is written to them. Folder entries that no sync covered are lost by
prefix, as on a file system with a journal ("ordered"), or any of them, as POSIX allows ("strict").
"""

import dataclasses
import os
import random
import struct
import zlib

HEAD = struct.Struct("<IIQqqII")
PAGE = 4096
FOLDER = None  # what stands where a folder is
NOTHING = "nothing"  # what an operation leaves where a name is gone
AT_REMOVEDIR = 0x200
FALLOC_KEEP_SIZE, FALLOC_PUNCH_HOLE, FALLOC_ZERO_RANGE = 1, 2, 16


@dataclasses.dataclass
class Record:
    kind: str
    thread: int
    inode: int
    a: int
    b: int
    first: bytes
    second: bytes


def records(path):
    """All records of a recording. One that a killed process has left unfinished ends it."""
    with open(path, "rb") as file:
        data = file.read()
    at, found = 0, []
    while at + HEAD.size <= len(data):
        kind, thread, inode, a, b, first, second = HEAD.unpack_from(data, at)
        at += HEAD.size
        found.append(Record(chr(kind), thread, inode, a, b, data[at : at + first], data[at + first : at + first + second]))
        at += first + second
    return found


def mark(path, text):
    """Appends a record of the harness's own: what it knows now."""
    with open(path, "ab", buffering=0) as file:
        file.write(HEAD.pack(ord("X"), 0, 0, 0, 0, len(text), 0) + text)


def write_into(content, offset, data):
    if offset > len(content):
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


def resize(content, size):
    if size < len(content):
        del content[size:]
    else:
        content.extend(bytes(size - len(content)))


@dataclasses.dataclass
class Change:
    """One change of a file's content: a write, a new size, or room (zeros where nothing was)."""

    kind: str
    offset: int
    data: bytes = b""

    def apply(self, content):
        if self.kind == "write":
            write_into(content, self.offset, self.data)
        elif self.kind == "size":
            resize(content, self.offset)
        elif self.offset > len(content):
            resize(content, self.offset)


class File:
    def __init__(self, inode, mode, content=b""):
        self.inode, self.mode = inode, mode
        self.durable = bytearray(content)  # what a power cut cannot take
        self.cache = bytearray(content)  # what a process reads
        self.pending = []
        self.gone = 0  # changes that left `pending`
        self.lost = set()  # pages of which the cache has what the disk will never get by itself

    def change(self, change):
        change.apply(self.cache)
        if change.kind == "write" and self.lost:
            first, last = change.offset // PAGE, (change.offset + len(change.data) - 1) // PAGE
            if not self.lost.isdisjoint(range(first, last + 1)):
                # A page goes to the disk whole, with what the cache kept of earlier writes.
                change = Change("write", first * PAGE, bytes(self.cache[first * PAGE : (last + 1) * PAGE]))
        self.pending.append(change)

    def mark(self):
        return self.gone + len(self.pending)

    def synced(self, mark, succeeded):
        count = max(0, mark - self.gone)
        covered, self.pending = self.pending[:count], self.pending[count:]
        self.gone += count
        kept = []
        for change in covered:
            if succeeded:
                change.apply(self.durable)
            elif change.kind == "write":
                kept.append(Change("room", change.offset + len(change.data)))
            else:
                kept.append(change)
            if change.kind == "write":
                pages = range(change.offset // PAGE, (change.offset + len(change.data) - 1) // PAGE + 1)
                if not succeeded:
                    self.lost.update(pages)
                elif self.lost:
                    self.lost.difference_update(pages)
        self.pending[:0] = kept
        self.gone -= len(kept)


class Journal:
    """Names of files and folders. An operation is a list of (path, what stands there then)."""

    def __init__(self, strict):
        self.strict = strict
        self.names = {}
        self.pending = []  # (number, operation)
        self.number = 0

    def change(self, operation):
        self.number += 1
        self.pending.append((self.number, operation))

    def _settle(self, covered):
        left = []
        for number, operation in self.pending:
            if covered(number, operation):
                self.apply(self.names, operation)
            else:
                left.append((number, operation))
        self.pending = left

    def folder_synced(self, folder, mark):
        if self.strict:
            self._settle(lambda number, operation: number <= mark and any(os.path.dirname(path) == folder for path, _ in operation))
        else:
            self._settle(lambda number, _: number <= mark)

    def file_synced(self, file, mark):
        """A journal that makes a file durable makes its entry durable, and all that came before; POSIX does not say so."""
        if self.strict:
            return
        last = max((n for n, operation in self.pending if n <= mark and any(what is file for _, what in operation)), default=0)
        self._settle(lambda number, _: number <= last)

    @staticmethod
    def apply(names, operation):
        for path, what in operation:
            if what is NOTHING:
                names.pop(path, None)
            else:
                names[path] = what


class Disk:
    """The state after some of a recording's records, and the images that a power cut there can leave."""

    def __init__(self, root):
        self.root = root
        self.files = {}  # by inode: the newest file with it
        self.journals = {"ordered": Journal(False), "strict": Journal(True)}
        self.live = {}  # names as a process sees them
        self.syncs = {}
        self.process = 0

    def begin_with(self, snapshot):
        """What was there, and durable, before the recording: (relative path, inode, mode, content or FOLDER)."""
        for name, inode, mode, content in snapshot:
            path = os.path.join(self.root, name) if name else self.root
            what = FOLDER if content is FOLDER else File(inode, mode, content)
            if what is not FOLDER:
                self.files[inode] = what
            self.live[path] = what
            for journal in self.journals.values():
                journal.names[path] = what

    def _name(self, operation):
        Journal.apply(self.live, operation)
        for journal in self.journals.values():
            journal.change(operation)

    def apply(self, record):
        kind, file = record.kind, self.files.get(record.inode)
        path = record.first.decode(errors="surrogateescape") if kind in "CRLUMHSE" else ""
        if kind == "P":
            self.process += 1
        elif kind == "C":
            self.files[record.inode] = file = File(record.inode, record.a & 0o7777)
            self._name([(path, file)])
        elif kind == "W" and file:
            file.change(Change("write", record.a, record.first))
        elif kind == "T" and file:
            file.change(Change("size", record.a))
        elif kind == "A" and file:
            mode = int.from_bytes(record.first, "little")
            if mode & (FALLOC_PUNCH_HOLE | FALLOC_ZERO_RANGE):
                raise NotImplementedError(f"fallocate mode {mode}")
            if not mode & FALLOC_KEEP_SIZE:
                file.change(Change("room", record.a + record.b))
        elif kind == "R":
            target = record.second.decode(errors="surrogateescape")
            below = [p for p in self.live if p.startswith(path + "/")]
            if path in self.live:
                self._name([(path, NOTHING), (target, self.live[path])])
            for name in below:
                self._name([(name, NOTHING), (target + name[len(path) :], self.live[name])])
        elif kind == "L":
            self._name([(record.second.decode(errors="surrogateescape"), file)])
        elif kind == "U":
            self._name([(path, NOTHING)])
        elif kind == "M":
            self._name([(path, FOLDER)])
        elif kind == "H" and file:
            file.mode = record.a & 0o7777
        elif kind == "S":
            mark = file.mark() if file and not record.b else 0
            self.syncs[self.process, record.a] = (mark, {name: j.number for name, j in self.journals.items()}, bool(record.b))
        elif kind == "E":
            self._synced(record, file, path)
        elif kind == "G":
            for each in self.files.values():
                each.synced(each.mark(), True)
            for journal in self.journals.values():
                journal._settle(lambda *_: True)

    def _synced(self, record, file, path):
        mark, numbers, folder = self.syncs.pop((self.process, record.a))
        succeeded = record.b == 0
        if folder:
            for name, journal in self.journals.items():
                if succeeded:
                    journal.folder_synced(path, numbers[name])
        elif file:
            file.synced(mark, succeeded)
            for name, journal in self.journals.items():
                if succeeded:
                    journal.file_synced(file, numbers[name])

    def image(self, chance):
        """One state that a power cut now may leave: {path: FOLDER or (file, content)}, and how it was chosen."""
        mode = chance.choice(["ordered", "ordered", "strict"])
        journal = self.journals[mode]
        names = dict(journal.names)
        if mode == "ordered":
            operations = [operation for _, operation in journal.pending]
            style = chance.choice(["none", "all", "prefix"])
            count = {"none": 0, "all": len(operations), "prefix": chance.randint(0, len(operations))}[style]
            chosen = operations[:count]
        else:
            style = chance.choice(["none", "all", "coin"])
            chosen = [o for _, o in journal.pending if style == "all" or (style == "coin" and chance.random() < 0.5)]
        for operation in chosen:
            Journal.apply(names, operation)
        # A folder that is lost takes with it what is below.
        names = {path: what for path, what in names.items() if self._reachable(path, names)}
        contents = {}
        styles = [f"{mode}/{style}"]
        for path, what in sorted(names.items()):
            if what is not FOLDER and id(what) not in contents:
                style = chance.choice(["none", "all", "coin", "coin", "prefix", "but one", "torn end"])
                contents[id(what)] = self._content(what, style, chance)
                if what.pending:
                    styles.append(f"{os.path.basename(path)}:{style}({len(what.pending)})")
        image = {path: FOLDER if what is FOLDER else (what, contents[id(what)]) for path, what in names.items()}
        return image, " ".join(styles)

    def whole(self):
        """What a process sees: to compare with what is really there."""
        return {path: FOLDER if what is FOLDER else (what, what.cache) for path, what in self.live.items()}

    def _reachable(self, path, names):
        while path != self.root:
            path = os.path.dirname(path)
            if names.get(path, NOTHING) is not FOLDER:
                return False
        return True

    @staticmethod
    def _content(file, style, chance):
        content = bytearray(file.durable)
        pending = file.pending
        count = chance.randint(0, len(pending))  # "prefix"
        missing = chance.randrange(len(pending)) if pending else 0  # "but one"
        for number, change in enumerate(pending):
            if style == "none":
                fate = "missing"
            elif style == "all":
                fate = "there"
            elif style == "coin":
                fate = chance.choice(["there"] * 5 + ["missing"] * 3 + ["torn", "room"])
            elif style == "prefix":
                fate = "there" if number < count else "torn" if number == count else "missing"
            elif style == "but one":
                fate = "there" if number != missing else chance.choice(["missing", "torn", "room"])
            else:
                fate = "there" if number < len(pending) - 1 else chance.choice(["torn", "room"])
            Disk._leave(content, change, fate, chance)
        return content

    @staticmethod
    def _leave(content, change, fate, chance):
        if fate == "missing":
            return
        if fate == "there" or change.kind != "write":
            change.apply(content)
            return
        end = change.offset + len(change.data)
        if fate == "torn":
            sector = chance.choice([512, 4096])
            kept = chance.choice(["prefix", "suffix", "any"])
            boundaries = [change.offset, *range((change.offset // sector + 1) * sector, end, sector), end]
            pieces = list(zip(boundaries, boundaries[1:]))
            split = chance.randint(0, len(pieces))
            for number, (low, high) in enumerate(pieces):
                if {"prefix": number < split, "suffix": number >= split, "any": chance.random() < 0.5}[kept]:
                    write_into(content, low, change.data[low - change.offset : high - change.offset])
        if end > len(content):
            resize(content, end)


def snapshot(root):
    """What stands below a folder now, for `Disk.begin_with`."""
    found = [("", 0, 0o700, FOLDER)]
    for folder, folders, names in os.walk(root):
        relative = os.path.relpath(folder, root)
        for name in folders:
            found.append((os.path.normpath(os.path.join(relative, name)), 0, 0o700, FOLDER))
        for name in names:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            if not name.endswith("-shm") and os.path.isfile(path):
                with open(path, "rb") as file:
                    found.append((os.path.normpath(os.path.join(relative, name)), status.st_ino, status.st_mode & 0o7777, file.read()))
    return found


def materialise(image, root, target, chance):
    """Writes an image below `target`. Returns [(real inode, recorded inode)] of its files."""
    written, inodes = {}, []
    for path in sorted(image):
        there = target + path[len(root) :]
        if image[path] is FOLDER:
            os.makedirs(there, mode=0o700, exist_ok=True)
            continue
        file, content = image[path]
        if id(file) in written:
            os.link(written[id(file)], there)
            continue
        with open(there, "wb") as out:
            out.write(content)
        os.chmod(there, file.mode)
        written[id(file)] = there
        inodes.append((os.stat(there).st_ino, file.inode))
        if there.endswith("-wal") and chance.random() < 0.5:
            with open(there[:-4] + "-shm", "wb") as out:
                out.write(chance.randbytes(32768))
    return inodes


def cuts(recording, count, seed, start=0):
    """Where the power goes: half of the places anywhere, half soon after something that matters. Ascending (place, seed)."""
    chance = random.Random(seed)
    matters = [i for i, r in enumerate(recording) if r.kind in "EKRULCTMX" and i >= start]
    found = []
    for number in range(count):
        at = chance.randint(start, len(recording))
        if matters and chance.random() < 0.5:
            at = min(len(recording), chance.choice(matters) + chance.randint(0, 3))
        found.append((at, zlib.crc32(f"{seed}/{number}".encode())))
    return sorted(found)
