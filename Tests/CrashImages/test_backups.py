"""Power cuts while backups are made, pruned and restored (INV-1): what was told as made is whole, and nothing half is taken for one."""

import json
import os
import random
import shutil
import tempfile
import unittest

import disk
import run
from programs import PROJECT, Ended, Event, Programs, recorder
from scenarios import Recording

PROGRAMS = os.environ.get("CRASH_PROGRAMS", os.path.join(PROJECT, ".build", "debug"))
IMAGES = int(os.environ.get("CRASH_BACKUP_IMAGES", "40"))
SEED = int(os.environ.get("CRASH_SEED", "1"))


class BackupImageTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.programs = Programs(PROGRAMS, recorder(self.folder))

    def control(self, recording, *arguments, recorded=True, stdin=b""):
        environment = recording.environment() if recorded else None
        return self.programs.control(recording.store, *arguments, environment=environment, stdin=stdin)

    def record(self):
        """Three backups of a growing store, a pruning and a restore; after each it is marked that it was told."""
        r = Recording(self.programs, os.path.join(self.folder, "r"), SEED)
        repository, restored = os.path.join(r.root, "repository"), os.path.join(r.root, "restored")
        r.make_store()

        def done(*arguments):
            code, out, error = self.control(r, *arguments)
            if code:
                raise Ended(f"{arguments}: {code} {error}")
            return out

        for number in range(3):
            lines = "".join(Event(r.chance).line() + "\n" for _ in range(300)).encode()
            code, _, error = self.control(r, "append", "-", stdin=lines)
            self.assertEqual(code, 0, error)
            made = json.loads(done("backup", "create", repository, "--json").splitlines()[0])["id"]
            disk.mark(r.path, b"made " + made.encode())
        done("backup", "prune", repository, "--keep", "2")
        disk.mark(r.path, b"pruned")
        done("backup", "restore", repository, "--into", restored)
        disk.mark(r.path, b"restored")
        return r, repository, restored

    def test_power_cuts(self):
        r, repository, restored = self.record()
        data = disk.records(r.path)
        marks = [(number, record.first.decode()) for number, record in enumerate(data, 1) if record.kind == "X"]
        marks = [mark for mark in marks if mark[1].split()[0] in ("made", "pruned", "restored")]
        self.assertEqual(len(marks), 5)
        tried = []

        def visit(state, at, seed):
            told = [text for number, text in marks if number <= at]
            image, how = state.image(random.Random(seed))
            shutil.rmtree(r.root, ignore_errors=True)
            disk.materialise(image, r.root, r.root, random.Random(seed))
            where = f"record {at}, seed {seed}: {how}"
            made = [text.split()[1] for text in told if text.startswith("made ")]
            if os.path.exists(repository + "/repository.json") or made:
                code, out, error = self.control(r, "backup", "verify", repository, "--json", recorded=False)
                lines = [json.loads(line) for line in out.splitlines()]
                proven = {line["id"] for line in lines if line["type"] == "proven"}
                self.assertIn(code, (0, 1), f"{where}: {out} {error}")
                # The first may be on its way out.
                self.assertLessEqual(set(made[1:] if len(made) == 3 else made), proven, f"{where}: {out} {error}")
            if "restored" in told:
                self.assertTrue(os.path.exists(restored), where)
            if os.path.exists(restored):
                code, out, error = self.programs.control(restored, "verify")
                self.assertIn(code, (0, 2), f"{where}: {out} {error}")
            # And both go on.
            if at % 5 == 0 and os.path.exists(repository + "/repository.json"):
                shutil.rmtree(restored, ignore_errors=True)
                if made:
                    code, out, error = self.control(r, "backup", "restore", repository, "--into", restored, recorded=False)
                    self.assertEqual(code, 0, f"{where}: {out} {error}")
                self.assertEqual(self.control(r, "backup", "prune", repository, recorded=False)[0], 0, where)
            tried.append(at)

        run.replay(r, r.snapshot, data, disk.cuts(data, IMAGES, SEED, r.start), visit)
        self.assertGreaterEqual(len(tried), IMAGES // 2)


if __name__ == "__main__":
    unittest.main()
