"""A disk that fails under the real daemon: nothing false is acknowledged, and somebody is told (INV-1, INV-8)."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

from check import Findings, contents
from programs import PROJECT, Client, Programs, recorder, temporary_folder
from scenarios import Recording

PROGRAMS = os.environ.get("CRASH_PROGRAMS", os.path.join(PROJECT, ".build", "debug"))
IO_ERROR = 74
GOES_ON = 3


class Outcome:
    """What a daemon did while its disk failed."""

    def __init__(self):
        self.statuses = []  # of the appends, 0 where there was no answer
        self.code = None  # with which it ended by itself
        self.ready = None  # status of /readyz at the end, where it goes on
        self.refused = []  # events that were not acknowledged
        self.log = ""


@unittest.skipUnless(shutil.which("gcc"), "gcc is not installed: the recorder cannot be compiled")
@unittest.skipUnless(os.path.exists(os.path.join(PROGRAMS, "syncd")), f"no syncd in {PROGRAMS}")
class FailingDiskTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.compiled = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.compiled, ignore_errors=True)
        cls.programs = Programs(PROGRAMS, recorder(cls.compiled))

    def fresh(self):
        """A store of its own."""
        folder = temporary_folder()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.recording = Recording(self.programs, folder, self.id(), sync_us=0)
        self.addCleanup(self.recording.end)
        self.recording.make_store()
        self.acknowledged = {}
        return self.recording

    def append(self, client, outcome, size, count):
        events = [self.recording.event(size) for _ in range(count)]
        try:
            status, ids = client.append(events)
        except OSError:
            status, ids = 0, set()
        outcome.statuses.append(status)
        self.acknowledged.update({e.id: e.payload for e in events if e.id in ids})
        outcome.refused += [e for e in events if e.id not in ids]
        return ids

    def under(self, faults, appends=30, size=200, count=1, after_refusal=3, wait=60):
        """Appends to a daemon whose disk fails: until it ends, or some more after the first refusal. `wait`: how many seconds it
        may take to end by itself. One that must not end has `GOES_ON`: no more time than in which a wrong end would show."""
        recording, outcome = self.fresh(), Outcome()
        daemon = recording.daemon(faults)
        with Client(daemon) as client:
            self.assertTrue(self.append(client, Outcome(), 100, 1), "the first append, before the fault")
            recording.arm()
            for _ in range(appends):
                if not self.append(client, outcome, size, count):
                    after_refusal -= 1
                    if after_refusal == 0 or daemon.process.poll() is not None:
                        break
        try:
            outcome.code = daemon.process.wait(wait)
        except subprocess.TimeoutExpired:
            with Client(daemon) as client:
                outcome.ready, self.ready_text = client.request("GET", "/readyz")
        self.daemon = daemon
        outcome.log = daemon.log()
        return outcome

    def goes_on(self, outcome):
        """Without the fault, what was refused is accepted, and everything acknowledged is there once."""
        recording = self.recording
        recording.disarm()
        self.daemon.kill()
        daemon = recording.daemon()
        with Client(daemon) as client:
            for at in range(0, len(outcome.refused), 100):
                recording.append_again(client, outcome.refused[at : at + 100])
        self.acknowledged.update({e.id: e.payload for e in outcome.refused})
        self.assertEqual(daemon.stop(), 0)
        findings = Findings()
        contents(findings, recording, recording.store, self.acknowledged, 0)
        self.assertEqual(findings.problems, [])
        code, text, error = self.programs.control(recording.store, "verify", environment=recording.quiet_environment())
        self.assertEqual(code, 0, text + error)

    def ended_and_said(self, outcome):
        """A failed log is fatal: exit code 74, after the log has said so."""
        self.assertEqual(outcome.code, IO_ERROR, f"it goes on, readyz {outcome.ready}, answers {outcome.statuses}:\n{outcome.log}")
        self.assertRegex(outcome.log, r"E_IO|E_DISK|I/O error|input/output|Input/output|No space", "the log does not say why")

    def test_sync_of_the_wal_fails(self):
        for how in ("once", "always"):
            with self.subTest(how):
                outcome = self.under(f"sync:log.db-wal:3:EIO:{how}")
                self.assertTrue(outcome.refused)
                self.assertNotIn(200, outcome.statuses[-1:])
                self.ended_and_said(outcome)
                self.goes_on(outcome)

    def test_sync_of_the_wal_finds_no_room(self):
        outcome = self.under("sync:log.db-wal:1:ENOSPC:always")
        self.assertTrue(outcome.refused)
        self.ended_and_said(outcome)
        self.goes_on(outcome)

    def test_write_to_the_wal_fails(self):
        for how in ("once", "always"):
            with self.subTest(how):
                outcome = self.under(f"write:log.db-wal:4:EIO:{how}")
                self.assertTrue(outcome.refused)
                self.ended_and_said(outcome)
                self.goes_on(outcome)

    def test_no_room_for_the_wal_once(self):
        outcome = self.under("write:log.db-wal:4:ENOSPC:once", wait=GOES_ON)
        self.assertIn(507, outcome.statuses)
        self.assertEqual(outcome.statuses[-1], 200, f"it does not go on by itself: {outcome.statuses}")
        self.goes_on(outcome)

    def test_what_a_failed_commit_has_written_is_no_damage(self):
        # The second write of a commit finds no room, whatever was in the first; then the commit of a head takes its place.
        for count in range(28, 31):
            with self.subTest(count):
                recording, outcome = self.fresh(), Outcome()
                self.daemon = recording.daemon("write:log.db-wal:2:ENOSPC:once")
                with Client(self.daemon) as client:
                    self.assertTrue(self.append(client, Outcome(), 100, 1))
                    recording.arm()
                    self.append(client, outcome, 1000, count)
                    time.sleep(2.5)
                self.daemon.kill()
                recording.disarm()
                self.daemon = recording.daemon()
                self.assertNotIn("LOG_CUT", self.daemon.log())
                self.goes_on(outcome)

    def test_no_room_for_the_wal(self):
        outcome = self.under("write:log.db-wal:4:ENOSPC:always", after_refusal=20, wait=GOES_ON)
        self.assertIn(507, outcome.statuses)
        self.assertNotEqual(outcome.ready, 200, f"appends are refused and readyz says {getattr(self, 'ready_text', '')}")
        self.goes_on(outcome)

    def test_sync_of_the_log_fails_when_the_wal_is_copied(self):
        for how in ("once", "always"):
            with self.subTest(how):
                outcome = self.under(f"sync:log.db:2:EIO:{how}", appends=60, size=30000, count=30)
                self.ended_and_said(outcome)
                self.goes_on(outcome)

    def test_no_room_to_copy_the_wal(self):
        outcome = self.under("write:log.db:20:ENOSPC:always", appends=60, size=30000, count=30, after_refusal=10, wait=GOES_ON)
        self.assertNotEqual(outcome.ready, 200, f"nobody is told: readyz {outcome.ready}, answers {outcome.statuses[-5:]}")
        self.goes_on(outcome)

    def test_interrupted_and_short_writes_are_invisible(self):
        for fault in ("write:log.db-wal:7:SHORT:each", "write:log.db-wal:7:EINTR:each"):
            with self.subTest(fault):
                outcome = self.under(fault, appends=60, wait=GOES_ON)
                self.assertEqual(set(outcome.statuses), {200})
                self.goes_on(outcome)

    def test_no_room_for_the_views(self):
        outcome = self.under("write:views.db-wal:1:ENOSPC:always", appends=40, after_refusal=40, wait=GOES_ON)
        self.assertNotIn(outcome.code, (IO_ERROR, -6, -11), "views can be rebuilt: the log goes on")
        self.goes_on(outcome)

    def test_views_fail(self):
        outcome = self.under("sync:views.*:1:EIO:always", appends=40, after_refusal=40, wait=GOES_ON)
        self.assertNotIn(outcome.code, (-6, -11), outcome.log)
        self.goes_on(outcome)

    def test_disk_fails_at_the_end(self):
        for fault in ("sync:log.db*:1:EIO:always", "sync:log.db:1:EIO:always", "write:log.db:1:EIO:always"):
            with self.subTest(fault):
                recording = self.fresh()
                self.daemon = recording.daemon(fault)
                outcome = Outcome()
                with Client(self.daemon) as client:
                    for _ in range(20):
                        self.assertTrue(self.append(client, outcome, 200, 1))
                recording.arm()
                outcome.code = self.daemon.stop()
                outcome.log = self.daemon.log()
                self.ended_and_said(outcome)
                self.goes_on(outcome)

    def ends_without_room(self, fault, settled, verified=False):
        """An orderly end while there is no room is one: the next start goes on, and nothing is missed."""
        recording = self.fresh()
        self.daemon = recording.daemon(fault)
        outcome = Outcome()
        with Client(self.daemon) as client:
            self.assertTrue(self.append(client, outcome, 200, 1))
            if settled:
                time.sleep(2)
            recording.arm()
        self.assertEqual(self.daemon.stop(), 0, self.daemon.log())
        if verified:
            # Reading makes files beside the log that a start would miss.
            code, text, error = self.programs.control(recording.store, "verify", environment=recording.quiet_environment())
            self.assertIn(code, (0, 2), text + error)
        recording.disarm()
        self.daemon = recording.daemon()
        self.assertNotRegex(self.daemon.log(), "LOG_CUT|new origin")
        self.goes_on(outcome)

    def test_no_room_for_the_head_at_the_end(self):
        # Where the first write fails, the WAL makes room for the head once it is copied.
        for how in ("once", "always"):
            with self.subTest(how):
                self.ends_without_room(f"write:log.db-wal:1:ENOSPC:{how}", settled=False, verified=True)

    def test_no_room_for_the_mark_at_the_end(self):
        for settled in (False, True):
            with self.subTest(settled):
                self.ends_without_room("write:mark.json*:1:ENOSPC:always", settled)

    def test_a_head_that_finds_no_room_waits_for_it(self):
        recording, outcome = self.fresh(), Outcome()
        self.daemon = recording.daemon("write:log.db-wal:1:ENOSPC:always")
        with Client(self.daemon) as client:
            self.assertTrue(self.append(client, outcome, 200, 1))
            recording.arm()
            time.sleep(1.5)
            before = self.processor_time()
            time.sleep(1)
            self.assertLess(self.processor_time() - before, 0.2, "it does not rest between its attempts")
            recording.disarm()
            time.sleep(1)
        self.daemon.kill()
        code, text, error = self.programs.control(recording.store, "verify", environment=recording.quiet_environment())
        self.assertEqual(code, 0, text + error)
        self.goes_on(outcome)

    def processor_time(self):
        with open(f"/proc/{self.daemon.process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_sync_fails_at_the_start(self):
        recording = self.fresh()
        outcome = Outcome()
        daemon = recording.daemon()
        with Client(daemon) as client:
            for _ in range(20):
                self.append(client, outcome, 200, 1)
        daemon.kill()
        recording.arm()
        self.daemon = recording.daemon("sync:log.db*:1:EIO:once", wait=False)
        try:
            outcome.code = self.daemon.process.wait(60)
        except subprocess.TimeoutExpired:
            outcome.ready = 200
        outcome.log = self.daemon.log()
        self.ended_and_said(outcome)
        self.goes_on(outcome)

    def test_read_only_is_not_a_matter_of_permission(self):
        recording = self.fresh()
        with Client(recording.daemon()) as client:
            recording.append(client)
        recording.daemons[-1].kill()
        recording.arm()
        daemon = recording.daemon("change:*:1:EROFS:always", wait=False)
        try:
            code = daemon.process.wait(60)
        except subprocess.TimeoutExpired:
            self.fail(f"it runs on a read-only file system:\n{daemon.log()}")
        self.assertNotIn(code, (0, 77), daemon.log())
        self.assertRegex(daemon.log().lower(), "read-only|read only|erofs")
        self.assertNotIn("permission denied", daemon.log().lower())

    def test_becomes_read_only(self):
        outcome = self.under("change:*:1:EROFS:always", wait=10)
        self.assertTrue(outcome.refused)
        self.ended_or_unready(outcome)
        self.goes_on(outcome)

    def ended_or_unready(self, outcome):
        if outcome.code is None:
            self.assertNotEqual(outcome.ready, 200, f"appends are refused, and readyz is 200: {outcome.statuses}")
        else:
            self.assertEqual(outcome.code, IO_ERROR, outcome.log)


if __name__ == "__main__":
    unittest.main()
