"""The files of the chat's page, whatever they do: small, pure where they say so, and in two languages. Rules that hold for all pages stand in
test_files.py."""
import re
import shutil
import subprocess
import unittest

from test_files import FOLDER, HANGUL, MODULES, ROOT, STRINGS, code, first_look, imports

CHAT = FOLDER / "chat"


class ChatFileTests(unittest.TestCase):
    def test_pure_modules_know_no_document(self) -> None:
        for name in ("pieces", "questions", "strings"):
            text = code(MODULES[CHAT / f"{name}.mjs"])
            self.assertIsNone(re.search(r"\b(document|window|location|localStorage)\b\s*[.(]|\bfetch\(|^import ", text, flags=re.M), name)

    def test_what_it_loads_is_served_with_it(self) -> None:
        named = re.findall(r'(?:href|src)="([^"]+)"', (CHAT / "index.html").read_text("utf-8"))
        for path in MODULES:
            if path.parent == CHAT:
                named += imports(MODULES[path]) + re.findall(r"\bimport\('([^']+)'\)|'([^']+\.css)'", MODULES[path])
        named = [name for one in named for name in ([one] if isinstance(one, str) else one) if name]
        for name in named:
            self.assertTrue((CHAT / name).resolve().is_file(), name)
            self.assertIn((CHAT / name).resolve().parent.name, ("chat", "shared"), name)

    def test_it_loads_nothing_of_the_console(self) -> None:
        found = first_look(CHAT / "index.html")
        self.assertEqual({path.name for path in found if path.parent.name not in ("chat", "shared")}, set())
        self.assertEqual({"verify.mjs", "upload.mjs", "feed.mjs", "voice.mjs", "sheet.mjs"} & {path.name for path in found}, set())


class ChatStringTests(unittest.TestCase):
    text = MODULES[CHAT / "strings.mjs"] + MODULES[CHAT / "seldom.mjs"]
    pairs = dict(re.findall(r"^  '?([\w.]+)'?: \[(.*)\],$", text, flags=re.M))

    def test_both_languages(self) -> None:
        self.assertGreater(len(self.pairs), 100)
        for key, pair in self.pairs.items():
            korean, english = re.match(r"('(?:[^'\\]|\\.)*'|\(.*?\) => .*?`), (.*)$", pair).groups()
            self.assertNotRegex(english, HANGUL, key)
            self.assertTrue(HANGUL.search(korean), key)

    def test_each_failure_of_a_bot_has_its_words(self) -> None:
        swift = (ROOT / "Sources" / "BotKit" / "ModelFault.swift").read_text("utf-8")
        codes = {raw or name for name, raw in re.findall(r"^        case (\w+)(?: = \"(\w+)\")?$", swift[:swift.index("package let code")], flags=re.M)}
        self.assertGreater(len(codes), 10)
        self.assertEqual({key[7:] for key in self.pairs if key.startswith("failed.")}, codes | {"unknown"})

    def test_keys_are_there_once_and_used(self) -> None:
        keys = re.findall(r"^  '?([\w.]+)'?: \[", self.text, flags=re.M)
        self.assertEqual(len(keys), len(set(keys)))
        shared = ("login.mjs", "sheet.mjs", "words.mjs")
        others = "\n".join(code(text) for path, text in MODULES.items() if path.parent == CHAT and path not in STRINGS or path.name in shared)
        used = set(re.findall(r"'([a-z]\w*(?:\.\w+)?)'", others))
        patterns = set(re.findall(r"`(\w+\.)\$\{", others))
        said = set(re.findall(r"\bsay\('([\w.]+)'", others))
        self.assertEqual(sorted(said - set(keys)), [])
        self.assertEqual([key for key in keys if key not in used and not any(key.startswith(prefix) for prefix in patterns)], [])


@unittest.skipUnless(shutil.which("node"), "pages: the modules' tests are skipped, no node")
class ChatModuleTests(unittest.TestCase):
    def test_modules_under_node(self) -> None:
        version = int(subprocess.run(["node", "-p", "process.versions.node.split('.')[0]"], capture_output=True, text=True, check=True).stdout)
        if version < 20:
            self.skipTest(f"pages: the modules' tests are skipped, node {version} is too old")
        done = subprocess.run(["node", "--test", str(ROOT / "Tests" / "Pages" / "chat.test.mjs")], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])


if __name__ == "__main__":
    unittest.main()
