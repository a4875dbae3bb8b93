"""The command's own parts, and the small matrices: logs that were put back, earlier and later versions (INV-3, INV-4, INV-18)."""

import os
import random
import re
import shutil
import tempfile
import unittest

import page
import results
import rigs
import rollback
import versions
from programs import PROJECT, Programs, temporary_folder

PROGRAMS = os.environ.get("CRASH_PROGRAMS", os.path.join(PROJECT, ".build", "debug"))
HAVE = unittest.skipUnless(os.path.exists(os.path.join(PROGRAMS, "syncd")), f"no syncd in {PROGRAMS}")


class ReadingTests(unittest.TestCase):
    """What is read off rigs that print."""

    def test_tamper(self):
        line = "TAMPER log.db-wal: 800 bits: 3 contradicted, 2 not covered, 1 unreadable, 0 at the next start, 4 carry nothing, 1 unnoticed\n"
        self.assertEqual(rigs.tamper_rows("x\n" + line), [["log.db-wal", 800, 11, 3, 2, 1, 0, 4, 1]])

    def test_soak(self):
        text = "soak seed 7: 3 nodes, 5 killed, 2 held connections; 900 appends acknowledged; equal 6.5 s after the last fault; at most 54 MiB\n"
        self.assertEqual(rigs.soak_rows(text)[:4], [["nodes", 3], ["killed", 5], ["held connections", 2], ["appends acknowledged, all there", 900]])
        self.assertEqual(rigs.soak_rows("nothing"), [])

    def test_pictures(self):
        text = "pictures: 100 put at 2 nodes, 5 kills amid them; 200 files equal 12 s after the last kill\n"
        self.assertEqual([count for _, count in rigs.picture_rows("x\n" + text)], [100, 2, 5, 200, 12])
        self.assertEqual(rigs.picture_rows("nothing"), [])

    def test_suites(self):
        text = '✔ Test "A bit (INV-4)" passed after 0.1 seconds.\n✘ Test killed() failed after 2 seconds with 1 issue.\n✔ Test "Two" with 2 test cases passed after 1 seconds.\n'
        self.assertEqual(rigs.suite_rows(text), [["A bit (INV-4)", "holds"], ["Two", "holds"], ["killed()", "FAILED"]])
        units = "test_a_b (x.Y.test_a_b) ... ok\ntest_c (x.Y.test_c)\nSays it. ... FAIL\n"
        self.assertEqual(rigs.unit_rows(units), [["a b", "holds"], ["Says it", "FAILED"]])

    def test_simulator(self):
        self.assertEqual(rigs.sim_rows("a\n20 seeds, 300 virtual seconds, 1 failed\n")[0], ["clusters in virtual time", 20, 1])


class PageTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        self.addCleanup(setattr, results, "FOLDER", results.FOLDER)
        results.FOLDER = folder

    def test_tables_are_those_of_the_results(self):
        text = "a\n<!-- reliability: kills -->\nold\n<!-- /reliability -->\nb\n"
        self.assertIn("has not been run", page.written(text))
        results.write("kills", ["what", "moments"], [["era|sure", 1200]], 0, 3.2, "release", seed=5)
        once = page.written(text)
        self.assertIn("| era\\|sure | 1,200 |", once)
        self.assertIn("seed 5: all of it held.", once)
        self.assertTrue(once.startswith("a\n") and once.endswith("-->\nb\n") and "old" not in once)
        self.assertEqual(page.written(once), once)
        results.write("kills", ["what"], [], 2, 3, "release")
        self.assertIn("**2 did not hold**", page.written(once))

    def test_no_result_is_typed(self):
        """How many images, seeds or bits were tried, and what became of them, stands in the tables of results alone."""
        with open(page.PAGE) as file:
            typed = re.sub(r"<!-- reliability: .*?<!-- /reliability -->", "", file.read(), flags=re.S)
        count = r"\b\d[\d,]*\s(?:of\s\d[\d,]*|(?:\w+\s)?(?:images|seeds|bits|moments|faults))\b"
        self.assertEqual(re.findall(count, "50 of 71, 60 images, 105,500 earlier seeds; torn at 512 bytes"), ["50 of 71", "60 images", "105,500 earlier seeds"])
        self.assertEqual(re.findall(count, typed), [])

    def test_each_rig_has_a_place(self):
        with open(page.PAGE) as file:
            places = page.names(file.read())
        self.assertEqual(sorted(places), sorted([rig.name for rig in rigs.RIGS] + ["later"]))


@HAVE
class MatrixTests(unittest.TestCase):
    """Two rows of each kind; all of them: make reliability ONLY=rollback,versions."""

    def setUp(self):
        self.programs = Programs(PROGRAMS, None)

    def test_logs_that_were_put_back(self):
        folder = temporary_folder()
        self.addCleanup(shutil.rmtree, folder, True)
        for states, references in (
            (["unchanged", "rewritten, with the key"], ["witness", "cosignatures"]),
            (["log and mark put back", "rolled back in place"], ["receipt", "cosignatures"]),
        ):
            place = tempfile.mkdtemp(dir=folder)
            found = rollback.matrix(self.programs, place, random.Random(1), states, references)
            self.assertEqual(rollback.problems(found), [])

    def test_a_loss_counts_until_it_is_settled(self):
        """What this node has signed to be missing is exit code 2 of both verifiers, until it is back or settled."""
        folder = temporary_folder()
        self.addCleanup(shutil.rmtree, folder, True)
        world = rollback.World(self.programs, folder, random.Random(1), True)
        self.addCleanup(world.kill)
        rollback.prepare(world, "rolled back in place", "witness")
        world.daemon().ready()
        world.end()
        both = lambda: (self.programs.control(world.store, "verify")[0], rollback.verify_py(world.store).returncode)
        self.assertEqual(both(), (2, 2))
        self.assertIn(f"{world.origin} ends at seq {world.size_then}, and has had {world.size}", rollback.verify_py(world.store).stdout)
        world.daemon().ready()
        world.control(world.store, "doctor", "settle", "AMNESIA", "--note", "the disk was put back")
        world.end()
        self.assertEqual(both(), (0, 0))

    def test_earlier_versions(self):
        found = versions.try_kept(self.programs, random.Random(1))
        self.assertGreaterEqual(len(found), 12)
        self.assertEqual([one for one in found if one[2]], [])

    def test_later_versions(self):
        self.assertEqual(versions.problems(versions.try_later(self.programs, random.Random(1))), [])


if __name__ == "__main__":
    unittest.main()
