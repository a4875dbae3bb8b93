"""A file system that is really full: nothing false is acknowledged, nothing crashes, and what is there can be read (INV-1)."""

import os
import random
import shutil
import subprocess
import tempfile
import time
import unittest

from programs import PROJECT, Client, Daemon, Event, Programs

PROGRAMS = os.environ.get("CRASH_PROGRAMS", os.path.join(PROJECT, ".build", "debug"))
FULL = 507


class Mounted:
    """A small file system in a file."""

    def __init__(self, folder, megabytes, block):
        self.image, self.path = os.path.join(folder, "image"), os.path.join(folder, "disk")
        self.ballast = os.path.join(self.path, "ballast")
        os.mkdir(self.path)
        with open(self.image, "wb") as file:
            file.truncate(megabytes << 20)
        subprocess.run(["mkfs.ext4", "-q", "-m0", "-b", str(block), self.image], check=True)
        subprocess.run(["mount", "-o", "loop", self.image, self.path], check=True)

    def fill(self):
        """At once: what is made room for later finds none."""
        self.settle()
        free = os.statvfs(self.path)
        with open(self.ballast, "ab", buffering=0) as file:
            length = os.fstat(file.fileno()).st_size
            room = free.f_bavail * free.f_frsize - (64 << 10)
            try:
                if room > 0:
                    os.posix_fallocate(file.fileno(), length, room)
                while file.write(bytes(1 << 10)):
                    pass
            except OSError:
                pass

    def settle(self):
        """What was freed is free only when the journal says so."""
        descriptor = os.open(self.path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)

    def make_room(self):
        """Takes the ballast away, or makes the file system larger."""
        if os.path.exists(self.ballast):
            return os.unlink(self.ballast)
        self.unmount()
        os.truncate(self.image, 100 << 20)
        for command in (["e2fsck", "-fy", self.image], ["resize2fs", self.image], ["mount", "-o", "loop", self.image, self.path]):
            subprocess.run(command, capture_output=True, check=command[0] == "mount")

    def unmount(self):
        subprocess.run(["umount", self.path], check=True)


def mounting():
    """Why no file system can be mounted here; None if one can."""
    if os.geteuid() != 0:
        return "only root can mount a file system"
    if not all(map(shutil.which, ("mkfs.ext4", "mount", "resize2fs"))):
        return "mkfs.ext4 is not installed"
    folder = tempfile.mkdtemp()
    try:
        Mounted(folder, 4, 1024).unmount()
    except subprocess.CalledProcessError as error:
        return f"no file system can be mounted: {error}"
    finally:
        shutil.rmtree(folder)


OBSTACLE = mounting()


@unittest.skipIf(OBSTACLE, OBSTACLE)
@unittest.skipUnless(os.path.exists(os.path.join(PROGRAMS, "syncd")), f"no syncd in {PROGRAMS}")
class FullDiskTests(unittest.TestCase):
    def mounted(self, megabytes, block=4096):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.disk = Mounted(folder, megabytes, block)
        self.addCleanup(self.disk.unmount)
        self.folder, self.runs, self.acknowledged, self.chance = folder, 0, {}, random.Random(1)
        self.programs = Programs(PROGRAMS, None)
        self.store = os.path.join(self.disk.path, "store")
        self.control("init", "--name", "seoul")

    def control(self, *arguments, code=0):
        ended, text, error = self.programs.control(self.store, *arguments)
        self.assertIn(ended, code if isinstance(code, tuple) else (code,), f"{arguments}: {text}{error}")
        return text

    def daemon(self, **settings):
        self.runs += 1
        daemon = Daemon(self.programs, self.store, os.path.join(self.folder, f"run{self.runs}"), **settings)
        self.addCleanup(daemon.kill)
        return daemon.ready()

    def append(self, daemon, count, size):
        """Appends until that is refused; gives the statuses."""
        statuses = []
        with Client(daemon) as client:
            for _ in range(count):
                event = Event(self.chance, size)
                status, ids = client.append([event])
                statuses.append(status)
                if event.id not in ids:
                    break
                self.acknowledged[event.id] = event
        return statuses

    def goes_on(self):
        """With room again all that was acknowledged is there, and the node goes on as it was."""
        self.control("verify", code=(0, 2))
        daemon = self.daemon()
        self.assertNotRegex(daemon.log(), "LOG_CUT|new origin")
        self.assertEqual(self.append(daemon, 1, 100), [200])
        self.assertEqual(daemon.stop(), 0)
        self.control("verify")
        text = self.control("export")
        self.assertEqual([i for i in self.acknowledged if i not in text], [])

    def test_an_end_on_a_disk_that_another_has_filled_is_orderly(self):
        self.mounted(64)
        daemon = self.daemon()
        self.assertEqual(self.append(daemon, 1, 100), [200])
        self.disk.fill()
        self.assertEqual(daemon.stop(), 0)
        self.disk.make_room()
        self.goes_on()

    def test_the_index_of_the_wal_finds_no_room(self):
        # The WAL passes the frames that the first part of its index has.
        self.mounted(24)
        daemon = self.daemon(min_free="0B")
        self.assertEqual(self.append(daemon, 4_000, 900)[-1], FULL)
        for size in (10, 900, 10):
            self.append(daemon, 1, size)
        self.assertEqual(daemon.stop(), 0)
        self.control("verify", code=(0, 2))
        self.disk.make_room()
        self.goes_on()

    def test_a_hole_in_the_index_of_a_wal_ends_no_process(self):
        # SQLite writes one byte of each 4,096: the blocks between would be missing when they are touched.
        self.mounted(24, block=1024)
        daemon = self.daemon()
        self.append(daemon, 5, 100)
        self.assertEqual(daemon.stop(), 0)
        for kilobytes in (8, 9, 10):
            for name in ("log.db-shm", "log.db-wal", "views.db-shm", "views.db-wal"):
                if os.path.exists(os.path.join(self.store, name)):
                    os.unlink(os.path.join(self.store, name))
            self.disk.fill()
            os.truncate(self.disk.ballast, os.path.getsize(self.disk.ballast) - (kilobytes << 10))
            self.disk.settle()
            self.control("verify", code=(0, 2))

    def test_what_a_full_disk_holds_can_be_read(self):
        self.mounted(64)
        for end in (Daemon.stop, Daemon.kill):
            with self.subTest(end.__name__):
                daemon = self.daemon()
                self.append(daemon, 20, 100)
                self.disk.fill()
                end(daemon)
                self.disk.fill()
                self.control("verify", code=(0, 2))
                self.control("doctor", code=(0, 2))
                self.control("status")
                event = list(self.acknowledged.values())[-1]
                self.assertIn(event.id, self.control("export"))
                self.assertIn(event.id, self.control("history", event.user, "--json"))
                self.disk.make_room()
                self.goes_on()


if __name__ == "__main__":
    unittest.main()
