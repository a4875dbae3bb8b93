"""The model's own tests, the recorder's, and some power-cut images of the real daemon (INV-1, INV-2, INV-7, INV-8)."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import types
import unittest
import uuid

import changes
import check
import disk
import kills
import run
from programs import PROJECT, Programs, recorder
from scenarios import CONTROL, Recording

PROGRAMS = os.environ.get("CRASH_PROGRAMS", os.path.join(PROJECT, ".build", "debug"))
IMAGES = int(os.environ.get("CRASH_IMAGES", "24"))
SEED = int(os.environ.get("CRASH_SEED", "1"))
MOMENTS = int(os.environ.get("CRASH_MOMENTS", "4"))
ROOT = "/root"


def rec(kind, inode=0, a=0, b=0, first=b"", second=b""):
    return disk.Record(kind, 1, inode, a, b, first, second)


def sync(inode, path, number, result=0, folder=0):
    return [rec("S", inode, number, folder, path), rec("E", inode, number, result, path)]


class ModelTests(unittest.TestCase):
    """What power-cut images may hold, and must."""

    def images(self, records, before=((("", 0, 0o700, disk.FOLDER)), ("a", 7, 0o600, b"old!" * 2048))):
        state = disk.Disk(ROOT)
        state.begin_with(before)
        for record in records:
            state.apply(record)
        found = []
        for seed in range(300):
            image, how = state.image(random.Random(seed))
            held = {path: None if what is None else bytes(what[1]) for path, what in image.items()}
            found.append((how.split("/")[0], held))
        return found

    def contents(self, records, path=ROOT + "/a"):
        return {held.get(path, "missing") for _, held in self.images(records)}

    def test_synced_writes_are_there(self):
        found = self.contents([rec("W", 7, 0, 0, b"new!"), *sync(7, b"/root/a", 1)])
        self.assertEqual(found, {b"new!" + b"old!" * 2047})

    def test_unsynced_writes_are_there_or_not_or_torn(self):
        found = self.contents([rec("W", 7, 0, 0, b"N" * 8192)])
        self.assertIn(b"N" * 8192, found)
        self.assertIn(b"old!" * 2048, found)
        self.assertTrue(any(c[:512] == b"N" * 512 and c[-512:] == b"old!" * 128 for c in found))
        self.assertTrue(all(c[i : i + 512] in (b"N" * 512, b"old!" * 128) for c in found for i in range(0, 8192, 512)))

    def test_later_writes_are_there_without_earlier_ones(self):
        found = self.contents([rec("W", 7, 0, 0, b"1" * 4096), rec("W", 7, 4096, 0, b"2" * 4096)])
        self.assertTrue(any(c[:4] == b"old!" and c[4096:] == b"2" * 4096 for c in found))

    def test_only_the_size_may_have_grown(self):
        self.assertIn(b"old!" * 2048 + bytes(4096), self.contents([rec("W", 7, 8192, 0, b"N" * 4096)]))

    def test_a_write_during_a_sync_is_not_covered(self):
        begin, end = sync(7, b"/root/a", 1)
        self.assertIn(b"old!" * 2048, self.contents([begin, rec("W", 7, 0, 0, b"new!"), end]))

    def test_what_a_failed_sync_covered_is_gone_whatever_is_synced_later(self):
        records = [rec("W", 7, 0, 0, b"new!"), *sync(7, b"/root/a", 1, result=5), *sync(7, b"/root/a", 2)]
        self.assertEqual(self.contents(records), {b"old!" * 2048})

    def test_a_page_that_is_written_again_goes_to_the_disk_whole(self):
        records = [rec("W", 7, 0, 0, b"new!"), *sync(7, b"/root/a", 1, result=5), rec("W", 7, 100, 0, b"more"), *sync(7, b"/root/a", 2)]
        self.assertEqual(self.contents(records), {b"new!" + b"old!" * 24 + b"more" + b"old!" * 2022})
        elsewhere = [*records[:3], rec("W", 7, 5000, 0, b"more"), *sync(7, b"/root/a", 2)]
        self.assertEqual({c[:4] for c in self.contents(elsewhere)}, {b"old!"})

    def test_a_cut_file_may_be_long_again(self):
        found = self.contents([rec("T", 7, 0)])
        self.assertEqual(found, {b"", b"old!" * 2048})
        self.assertEqual(self.contents([rec("T", 7, 0), *sync(7, b"/root/a", 1)]), {b""})

    def test_a_new_name_needs_its_folder_synced_or_a_journal(self):
        made = [rec("C", 9, 0o100600, 0, b"/root/b"), rec("W", 9, 0, 0, b"x"), *sync(9, b"/root/b", 1)]
        by_mode = {mode: {held.get(ROOT + "/b", "missing") for m, held in self.images(made) if m == mode} for mode in ("ordered", "strict")}
        self.assertEqual(by_mode, {"ordered": {b"x"}, "strict": {b"x", "missing"}})
        self.assertEqual(self.contents([*made, *sync(0, b"/root", 2, folder=1)], ROOT + "/b"), {b"x"})

    def test_a_rename_is_whole_or_not_at_all(self):
        made = [rec("C", 9, 0o100600, 0, b"/root/b"), rec("W", 9, 0, 0, b"x"), *sync(9, b"/root/b", 1), *sync(0, b"/root", 2, folder=1)]
        renamed = [*made, rec("R", 9, 0, 0, b"/root/b", b"/root/a")]
        found = {(held.get(ROOT + "/a", "")[:1], held.get(ROOT + "/b")) for _, held in self.images(renamed)}
        self.assertEqual(found, {(b"o", b"x"), (b"x", None)})

    def test_a_journal_loses_names_from_the_end(self):
        made = [rec("C", 9, 0o100600, 0, b"/root/b"), rec("C", 10, 0o100600, 0, b"/root/c")]
        both = {(mode, ROOT + "/b" in held, ROOT + "/c" in held) for mode, held in self.images(made)}
        self.assertNotIn(("ordered", False, True), both)
        self.assertIn(("strict", False, True), both)

    def test_a_lost_folder_takes_its_files_with_it(self):
        made = [rec("M", 8, 0o40700, 0, b"/root/d"), rec("C", 9, 0o100600, 0, b"/root/d/b"), *sync(0, b"/root/d", 1, folder=1)]
        for mode, held in self.images(made):
            self.assertTrue(mode == "strict" or ROOT + "/d/b" in held)
            self.assertTrue(ROOT + "/d" in held or ROOT + "/d/b" not in held)


class ContentTests(unittest.TestCase):
    """The check of a log's content finds each kind of fault."""

    def problems(self, rows, acknowledged):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        database = sqlite3.connect(os.path.join(folder, "log.db"))
        database.executescript(
            "CREATE TABLE name(ref, text); CREATE TABLE event(position, id, payload, type);"
            "INSERT INTO name VALUES (1, 'origin.started'), (2, 'message.posted')"
        )
        database.executemany("INSERT INTO event VALUES (?, ?, ?, 2)", [(p, i.bytes, text) for p, i, text in rows])
        database.commit()
        database.close()
        findings = check.Findings()
        events = {str(i): types.SimpleNamespace(payload=text) for i, text in acknowledged.items()}
        check.contents(findings, types.SimpleNamespace(events=events), folder, {str(i): t for i, t in acknowledged.items()}, 0)
        return {kind for kind, _ in findings.problems}

    def test_faults_are_found(self):
        one, two = uuid.UUID(int=1), uuid.UUID(int=2)
        self.assertEqual(self.problems([(1, one, "a"), (2, two, "b")], {one: "a", two: "b"}), set())
        self.assertEqual(self.problems([(1, one, "a")], {one: "a", two: "b"}), {"lost"})
        self.assertEqual(self.problems([(1, one, "a"), (2, one, "a")], {one: "a"}), {"doubled"})
        self.assertEqual(self.problems([(1, one, "a"), (3, two, "b")], {one: "a", two: "b"}), {"other"})
        self.assertEqual(self.problems([(1, one, "A")], {one: "a"}), {"other"})

    def test_bytes_of_what_was_erased_are_found(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        os.mkdir(os.path.join(folder, "views.db"))
        for name, text in {"log.db": b"\0\0secret\0", "views.db/1": b"xsecret", "log.db-shm": b"secret", "mark.json": b"secre"}.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(text)
        self.assertEqual(changes.bytes_in(folder, "secret"), ["log.db", "views.db/1"])

    def test_acknowledgements_count_from_the_call_and_only_where_the_line_went(self):
        line = b'{"type":"appended","v":1,"line":1,"position":"2","id":"%s","origin":"x"}\n'
        one, two = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
        text = line % one.encode() + line % two.encode()
        sent = len(line % one.encode()) + 10
        data = [
            rec("K", 0, 5, 77, text[:-3]),
            rec("N", 0, 5, 77, (sent).to_bytes(8, "little")),
            rec("K", 0, 6, 77, b"HTTP/1.1 200 OK\r\n\r\n"),
            rec("K", 0, 5, 77, text[sent:]),
            rec("X", 0, 0, 0, b"ack third fourth"),
        ]
        self.assertEqual(Recording.acknowledgements(None, data), [(1, one), (4, two), (5, "third"), (5, "fourth")])


@unittest.skipUnless(shutil.which("gcc"), "gcc is not installed: the recorder cannot be compiled")
class RecorderTests(unittest.TestCase):
    """Another process's work is recorded whole, and its faults are the ones that were asked for."""

    WORK = """
import os, sys
os.chdir(sys.argv[1])
os.mkdir("d")
f = os.open("d/a.tmp", os.O_RDWR | os.O_CREAT, 0o600)
os.write(f, b"one"); os.pwrite(f, b"two", 5000); os.writev(f, [b"three", b"four"]); os.pwritev(f, [b"5", b"6"], 9000)
os.posix_fallocate(f, 0, 12000); os.ftruncate(f, 11000); os.fsync(f); os.close(f)
os.rename("d/a.tmp", "d/a"); os.link("d/a", "b"); os.mkdir("e"); os.rmdir("e")
f = os.open("b", os.O_WRONLY | os.O_APPEND); os.write(f, b"end"); os.close(f)
f = os.open("c", os.O_WRONLY | os.O_CREAT); os.write(f, b"gone"); os.close(f); os.unlink("c")
f = os.open("b", os.O_WRONLY | os.O_TRUNC); os.write(f, b"anew"); os.close(f)
"""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.root = os.path.join(self.folder, "root")
        os.mkdir(self.root)
        self.programs = Programs("", recorder(self.folder))

    def work(self, text, **variables):
        environment = self.programs.preloaded(self.root, record=os.path.join(self.folder, "recording"), **variables)
        done = subprocess.run([sys.executable, "-c", text, self.root], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_nothing_is_missed(self):
        self.work(self.WORK)
        state = disk.Disk(self.root)
        state.begin_with([("", 0, 0o700, disk.FOLDER)])
        for record in disk.records(os.path.join(self.folder, "recording")):
            state.apply(record)
        seen = {path: what and bytes(what[1]) for path, what in state.whole().items()}
        real = {os.path.normpath(os.path.join(self.root, name)): content for name, _, _, content in disk.snapshot(self.root)}
        self.assertEqual(seen, real)
        self.assertEqual(real[os.path.join(self.root, "b")], b"anew")

    def test_faults(self):
        text = """
import os, sys
f = os.open(sys.argv[1] + "/log", os.O_RDWR | os.O_CREAT)
def tried(call):
    try: return str(call())
    except OSError as error: return os.strerror(error.errno).split()[0]
print(*[tried(lambda: os.pwrite(f, b"12345678", 0)) for _ in range(4)], *[tried(lambda: os.fdatasync(f)) for _ in range(3)])
"""
        printed = self.work(text, faults="write:l?g:2:SHORT:once;write:log:2:ENOSPC:each;sync:log:2:EIO:always")
        self.assertEqual(printed, ["8", "4", "No", "8", "None", "Input/output", "Input/output"])
        self.assertEqual(self.work(text, faults="sync:log:1:EIO:always", arm=os.path.join(self.folder, "not there"))[-1], "None")

    def test_inodes_are_shown_as_asked(self):
        open(os.path.join(self.root, "a"), "w").close()
        real = os.stat(os.path.join(self.root, "a")).st_ino
        text = "import os, sys; os.chdir(sys.argv[1]); print(os.stat('a').st_ino, os.fstat(os.open('a', os.O_RDONLY)).st_ino)"
        self.assertEqual(self.work(text, inode_offset=1000), [str(real + 1000)] * 2)
        self.assertEqual(self.work(text, inodes=f"5:6,{real}:42"), ["42", "42"])


@unittest.skipUnless(shutil.which("gcc"), "gcc is not installed: the recorder cannot be compiled")
@unittest.skipUnless(os.path.exists(os.path.join(PROGRAMS, "syncd")), f"no syncd in {PROGRAMS}")
class ImageTests(unittest.TestCase):
    def test_power_cuts(self):
        results = run.run(PROGRAMS, IMAGES, SEED, os.cpu_count(), progress=False)
        problems = []
        for result in results:
            if result.error:
                problems.append(f"{result.scenario}-{result.seed} did not run: {result.error}")
            if result.scenario != CONTROL:
                problems += [f"{result.scenario}-{result.seed} record {f[0]} image {f[1]} ({f[2]}): {f[3]}: {f[4]}" for f in result.failures]
        self.assertFalse(problems, "\n".join(problems))
        self.assertGreaterEqual(sum(r.images for r in results), IMAGES)
        lost = sum(r.counts["lost"] for r in results if r.scenario == CONTROL)
        self.assertGreater(lost, 0, "with durability normal nothing was lost: the harness would not see a loss")

    def test_kills(self):
        """INV-1, INV-11: whatever is half when a process is killed is finished, or can be begun again."""
        for result in kills.run_kills(PROGRAMS, SEED, MOMENTS):
            self.assertEqual(result.failures, [], result.name)
            self.assertGreaterEqual(result.moments, MOMENTS, result.name)


if __name__ == "__main__":
    unittest.main()
