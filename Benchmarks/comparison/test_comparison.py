"""`python3 -B -m unittest discover Benchmarks` tests what turns figures into tables; nothing is measured."""

import os
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from comparison import report  # noqa: E402
from comparison.bench import Growing  # noqa: E402
from comparison.drawing import draw  # noqa: E402
from comparison.goals import GOALS, judge  # noqa: E402
from comparison.processes import Failed, Server, latencies, read_metrics, run  # noqa: E402
from comparison.results import Results  # noqa: E402
from comparison.sections import SECTIONS  # noqa: E402
from comparison.sizes import SIZES, changed  # noqa: E402


def results(folder, size="full", **sections):
    """Results as if these had been measured: section, contestant, metric, values."""
    found = Results(os.path.join(folder, "results.json"))
    for name, contestants in sections.items():
        found.sections[name.replace("_", "-")] = {
            "size": size, "code": "c", "preload": 500_000, "rounds": 3, "load": [0.1, 0.2], "failures": {"nats": "no | stream"},
            "machine": {"cpu": "4 cores", "memory_gib": 1, "guest": "no", "kernel": "Linux", "disk": "ext4", "date": "2026-01-01",
                        "versions": {"Sillok": "abc"}},
            "results": contestants}
    found.save()
    return found


class Judging(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def verdict(self, what, **sections):
        goal = next(goal for goal in GOALS if what in goal.what)
        return judge(goal, results(self.folder.name, **sections))

    def test_ratio_of_medians(self):
        rates = {"sillok": {"rate": [90.0, 250.0, 260.0]}, "postgres copy": {"rate": [100.0, 99.0, 500.0]}}
        verdict = self.verdict("PostgreSQL COPY, same indexes", append_batches=rates)
        self.assertEqual((verdict.ratio, verdict.met), (2.5, True))

    def test_just_missed(self):
        times = {"sillok": {"p50_us": [116.0]}, "floor": {"p50_us": [100.0]}}
        self.assertFalse(self.verdict("1.15 × C floor", append_single=times).met)

    def test_never_means_every_round(self):
        pauses = {"sillok": {"p99_us": [1.0, 2.0, 20_001.0]}}
        self.assertFalse(self.verdict("batch at 500,000", append_batches=pauses).met)

    def test_another_section(self):
        verdict = self.verdict("batches at 10 million", append_10m={"sillok": {"rate": [70.0]}},
                               append_batches={"sillok": {"rate": [100.0]}})
        self.assertEqual((verdict.ratio, verdict.met), (0.7, True))

    def test_smaller_store_when_there_is_no_large_one(self):
        times = {"sillok": {"p50_us": [1.0]}, "postgres": {"p50_us": [2.0]}}
        self.assertEqual(self.verdict("last 50 at 5 million, p50", history=times).section, "history")

    def test_nothing_measured(self):
        self.assertIsNone(self.verdict("ko_nsmc", disk={"floor": {"p50_us": [1.0]}}))
        self.assertIsNone(self.verdict("1.15 × C floor", append_single={"sillok": {"p50_us": [1.0]}}))


class Writing(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.mkdir(os.path.join(self.folder.name, "docs"))
        self.page = os.path.join(self.folder.name, "docs", "BENCHMARKS.md")

    def write(self, text, found):
        with open(self.page, "w") as file:
            file.write(text)
        report.write(found, self.folder.name)
        with open(self.page) as file:
            return file.read()

    def test_only_between_the_markers_and_twice_the_same(self):
        found = results(self.folder.name, replay={"sillok": {"rate": [1.0, 3.0, 2.0]}, "floor": {"rate": [4.0]}})
        once = self.write(f"# By hand\n{report.BEGIN}\nold\n{report.END}\nBy hand too\n", found)
        self.assertTrue(once.startswith("# By hand\n") and once.endswith("By hand too\n"))
        self.assertNotIn("old", once)
        self.assertIn("1.00 / **2.00** / 3.00", once)
        self.assertIn("no / stream", once)
        self.assertEqual(self.write(once, found), once)

    def test_lost_markers(self):
        with self.assertRaises(SystemExit):
            self.write("# Nothing\n", results(self.folder.name, disk={"floor": {"p50_us": [1.0]}}))

    def test_sizes_are_not_mixed(self):
        found = results(self.folder.name, size="quick", disk={"floor": {"p50_us": [1.0]}})
        self.assertEqual(found.of_size("full").sections, {})
        self.assertFalse(found.is_done("disk", "quick", "other code"))
        self.assertTrue(found.is_done("disk", "quick", "c"))

    def test_drawings_are_xml(self):
        found = results(self.folder.name, replay={"sillok": {"rate": [1.0, 3.0]}, "a <b> & c": {"rate": [4.0]}})
        drawings = list(draw(found))
        self.assertEqual([name for name, _, _ in drawings], ["replay.svg"])
        self.assertIn("prefers-color-scheme: dark", drawings[0][2])
        xml.dom.minidom.parseString(drawings[0][2])

    def test_every_goal_names_a_section(self):
        keys = {key for function in SECTIONS.values() for key in function.keys}
        for goal in GOALS:
            self.assertTrue(set(goal.sections) <= keys, goal.what)


class Measuring(unittest.TestCase):
    def test_metrics(self):
        self.assertEqual(read_metrics("rate\t12.5\np50_us\t3\n"), {"rate": 12.5, "p50_us": 3.0})
        with self.assertRaises(Failed):
            read_metrics("a line\n")

    def test_latencies(self):
        found = latencies("", [0.001 * n for n in range(101, 0, -1)])
        self.assertAlmostEqual(found["p50_us"], 51_000)
        self.assertAlmostEqual(found["p99_us"], 100_000)
        self.assertAlmostEqual(found["max_us"], 101_000)

    def test_programs_that_fail(self):
        with self.assertRaisesRegex(Failed, "said why"):
            run(sys.executable, "-c", "import sys; sys.exit('said why')")

    def test_a_server_that_ends(self):
        class Ends(Server):
            def command(self):
                return [sys.executable, "-c", "print('no luck')"]

            def is_ready(self):
                return False

        with self.assertRaisesRegex(Failed, "no luck"):
            with Ends("."):
                pass

    def test_sizes(self):
        self.assertEqual(changed(SIZES["full"], ["large=5", "rounds=1"]).large, (5,))
        self.assertIs(changed(SIZES["full"], []), SIZES["full"])
        for word in ("rounds", "name=x", "unknown=1"):
            with self.assertRaises(ValueError):
                changed(SIZES["full"], [word])

    def test_a_growing_store_is_made_anew_after_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            path, made = os.path.join(folder, "kind-1"), []

            def maker(store, first, count):
                made.append((first, count))

            store = Growing(path, maker, 10, "kind")
            with store.take(5) as first:
                self.assertEqual(first, 10)
            self.assertEqual(Growing(path, maker, 20, "kind").next, 20)
            with self.assertRaises(Failed):
                with store.take(5):
                    raise Failed("broken")
            self.assertEqual(Growing(path, maker, 20, "kind").next, 20)
            self.assertEqual(made, [(0, 10), (15, 5), (0, 20)])


if __name__ == "__main__":
    unittest.main()
