"""The files of the subway alarm's page, whatever they do: small, pure where they say so, and in two languages. Rules that hold for all
pages stand in test_files.py."""
import re
import shutil
import subprocess
import unittest

from test_files import FILES, FOLDER, HANGUL, MODULES, ROOT, code

ARRIVE = FOLDER / "arrive"


class ArriveFileTests(unittest.TestCase):
    def test_budget(self) -> None:
        self.assertLess(sum(path.stat().st_size for path in FILES if path.parent == ARRIVE) / 1000, 25)

    def test_pure_modules_know_no_document_and_no_clock(self) -> None:
        for name in ("timer", "steps", "strings"):
            text = code(MODULES[ARRIVE / f"{name}.mjs"])
            self.assertIsNone(re.search(r"\b(document|window|location|localStorage|Date|performance)\b\s*[.(]|\bfetch\(|\bsetTimeout\(|^import ", text, flags=re.M), name)

    def test_the_address_of_the_gateway_stands_in_one_place(self) -> None:
        # S3-19: the page asks where it came from, with one path.
        found = [path.name for path, text in MODULES.items() if path.parent == ARRIVE and "/v1/" in text]
        self.assertEqual(found, ["gateway.mjs"])

    def test_what_it_loads_is_served_with_it(self) -> None:
        page = (ARRIVE / "index.html").read_text("utf-8")
        named = re.findall(r'(?:href|src)="([^"]+)"', page)
        for text in (MODULES[path] for path in MODULES if path.parent == ARRIVE):
            named += re.findall(r"from '([^']+)'", text)
        for name in named:
            self.assertTrue((ARRIVE / name).resolve().is_file(), name)
            self.assertIn((ARRIVE / name).resolve().parent.name, ("arrive", "shared"), name)


class ArriveStringTests(unittest.TestCase):
    text = MODULES[ARRIVE / "strings.mjs"]
    pairs = dict(re.findall(r"^  '?([\w.]+)'?: \[(.*)\],$", text, flags=re.M))

    def test_both_languages(self) -> None:
        self.assertGreater(len(self.pairs), 30)
        for key, pair in self.pairs.items():
            korean, english = re.match(r"('(?:[^'\\]|\\.)*'|\(.*?\) => `[^`]*`), (.*)$", pair).groups()
            if key == "language":
                # The button names the other one.
                korean, english = english, korean
            self.assertNotRegex(english, HANGUL, key)
            self.assertRegex(korean, HANGUL, key)

    def test_keys_are_used(self) -> None:
        others = "\n".join(code(text) for path, text in MODULES.items() if path.parent == ARRIVE and path.name != "strings.mjs")
        used = set(re.findall(r"'([a-z][\w]*(?:\.\w+)?)'", others))
        patterns = {prefix for prefix in re.findall(r"`([\w]+\.)\$\{", others)}
        unused = [key for key in self.pairs if key not in used and not any(key.startswith(prefix) for prefix in patterns)]
        self.assertEqual(unused, [])


@unittest.skipUnless(shutil.which("node"), "pages: the modules' tests are skipped, no node")
class ArriveModuleTests(unittest.TestCase):
    def test_modules_under_node(self) -> None:
        version = int(subprocess.run(["node", "-p", "process.versions.node.split('.')[0]"], capture_output=True, text=True, check=True).stdout)
        if version < 20:
            self.skipTest(f"pages: the modules' tests are skipped, node {version} is too old")
        done = subprocess.run(["node", "--test", str(ROOT / "Tests" / "Pages" / "arrive.test.mjs")], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])


if __name__ == "__main__":
    unittest.main()
