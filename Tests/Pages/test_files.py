"""What the files of the pages may be, whatever they do: small, safe by their form, in two languages, and all of them in the binary."""
import json
import re
import shutil
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "Sources" / "CPages" / "files"
FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file())
MODULES = {path: path.read_text("utf-8") for path in FILES if path.suffix == ".mjs"}
STRINGS = {path for path in MODULES if path.name in ("strings.mjs", "seldom.mjs")}
HANGUL = re.compile("[가-힣]")


def code(text: str) -> str:
    """Without comments."""
    return re.sub(r"/\*.*?\*/", "", re.sub(r"^\s*//.*$", "", text, flags=re.M), flags=re.S)


def imports(text: str) -> list:
    """Modules that are there before a module runs."""
    return re.findall(r"^import (?:.* from )?'([^']+)';$", text, flags=re.M)


def first_look(*starts: Path) -> set:
    """All that is loaded with these files: what a page names, and what leads from one module to another. What `import()` names is not."""
    found, open_ = set(), list(starts)
    while open_:
        path = open_.pop()
        if path in found:
            continue
        found.add(path)
        text = path.read_text("utf-8")
        names = re.findall(r'(?:href|src)="([^"]+)"', text) if path.suffix == ".html" else []
        if path.suffix == ".mjs":
            # A module waits for the styles that it names.
            names = imports(text) + re.findall(r"'([^']+\.css)'", text)
        open_ += [(path.parent / name).resolve() for name in names]
    return found


def kilobytes(files: set) -> float:
    return sum(path.stat().st_size for path in files) / 1000


class FileTests(unittest.TestCase):
    def test_table_and_folder_agree(self) -> None:
        text = (ROOT / "Sources" / "CPages" / "pages.c").read_text("utf-8")
        embedded = re.findall(r"static const unsigned char (\w+)\[\] = \{\n#embed \"files/(\S+)\"\n\};", text)
        served = re.findall(r'\{"/(\S+)", (\w+), sizeof (\w+), "([^"]+)"\}', text)
        names = [str(path.relative_to(FOLDER)) for path in FILES]
        self.assertEqual(sorted(path for _, path in embedded), names)
        self.assertEqual(sorted(path for path, _, _, _ in served), names)
        by_path = {path: name for name, path in embedded}
        types = {".mjs": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml"}
        for path, name, counted, type in served:
            self.assertEqual((name, counted, type), (by_path[path], by_path[path], types[Path(path).suffix]), path)

    def test_budget(self) -> None:
        for page, most in (("chat", 100), ("console", 60), ("arrive", 35), ("mine", 40)):
            self.assertLess(kilobytes(first_look(FOLDER / page / "index.html")), most, page)
        # Of the console a page of it, too.
        for part, most in (("conversation", 100), ("node", 100), ("lists", 100), ("search", 100), ("entry", 60)):
            self.assertLess(kilobytes(first_look(FOLDER / "console" / "index.html", FOLDER / "console" / f"{part}.mjs")), most, part)
        self.assertLess(kilobytes(set(FILES)), 350)

    def test_what_is_loaded_later_is_there(self) -> None:
        later = {(path, name) for path, text in MODULES.items() for name in re.findall(r"\bimport\('([^']+)'\)", code(text))}
        self.assertGreater(len(later), 12)
        for path, name in later:
            self.assertTrue((path.parent / name).is_file(), name)
            self.assertNotIn((path.parent / name).resolve(), first_look(path.parent / "index.html"), name)
        # A load that fails is told: none goes by what tells it.
        for path, text in MODULES.items():
            self.assertEqual(re.findall(r"(?<!later\(\(\) => )\bimport\('[^']+'\)", re.sub(r"later\(async .*\)", "", code(text))), [], path.name)

    def test_modules_are_named_at_once(self) -> None:
        """No module of a first look waits until another one has been read."""
        for page in ("chat", "console"):
            index = FOLDER / page / "index.html"
            named = {(index.parent / name).resolve() for name in re.findall(r'<link rel="modulepreload" href="([^"]+)">', index.read_text("utf-8"))}
            self.assertEqual(named | {index.parent / "app.mjs"}, {path for path in first_look(index) if path.suffix == ".mjs"}, page)

    def test_nothing_that_could_run_a_text(self) -> None:
        banned = [r"innerHTML", r"outerHTML", r"insertAdjacentHTML", r"document\.write", r"\beval\(", r"new Function", r"createContextualFragment", r"DOMParser",
                  r"setAttribute\('on", r"\.style\b", r"style:", r"srcdoc", r"javascript:", r"import\((?!'\.{1,2}/(?:shared/)?\w+\.mjs'\))", r"postMessage", r"https?://(?!www\.w3\.org/2000/svg)"]
        for path, text in MODULES.items():
            for word in banned:
                found = re.search(word, re.sub(r"https:\\?/\\?/\[\^", "", code(text)))
                self.assertIsNone(found, f"{path.name}: {found and text[max(0, found.start() - 40):found.end() + 40]}")
        for path in FILES:
            if path.suffix in (".html", ".svg", ".css"):
                text = path.read_text("utf-8")
                self.assertIsNone(re.search(r"\sstyle=|\son\w+=|<script(?! type=\"module\" src=)|@import|url\(|https?://(?!www\.w3\.org/2000/svg)", text), path.name)

    def test_pages_need_what_the_api_has(self) -> None:
        document = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
        operations = {route["operationId"] for methods in document["paths"].values() for route in methods.values()}
        # A page whose route a node does not have is not shown there.
        operations.add("getWhy")
        console = "\n".join(text for path, text in MODULES.items() if path.parent.name == "console")
        needed = {name for names in re.findall(r"needs: \[([^\]]*)\]", console) for name in re.findall(r"'(\w+)'", names)}
        asked = set(re.findall(r"ctx\.(?:can|has|parameters)\('(\w+)'\)", console))
        self.assertGreater(len(needed), 12)
        self.assertEqual(sorted((needed | asked) - operations), [])

    def test_pure_modules_know_no_document(self) -> None:
        for name in ("diff", "feed", "ids", "outbox", "text", "rows", "verify", "strings", "../console/moments"):
            text = code(MODULES[(FOLDER / "shared" / f"{name}.mjs").resolve()])
            self.assertIsNone(re.search(r"\b(document|window|location|localStorage|fetch)\b\s*[.(]", text), name)
            self.assertIsNone(re.search(r"^import ", text, flags=re.M), name)

    def test_files_are_short(self) -> None:
        for path in FILES:
            lines = path.read_text("utf-8").splitlines()
            self.assertLessEqual(len(lines), 450, path.name)
            if path not in STRINGS:
                self.assertLessEqual(max(map(len, lines)), 420, path.name)


class StringTests(unittest.TestCase):
    """Every sentence stands in strings.mjs, or in seldom.mjs for what is loaded later, in Korean and in English."""

    text = MODULES[FOLDER / "shared" / "strings.mjs"] + MODULES[FOLDER / "console" / "seldom.mjs"]
    keys = re.findall(r"^  '?([\w.]+)'?: \[", text, flags=re.M)

    def test_keys_are_there_once_and_used(self) -> None:
        self.assertGreater(len(self.keys), 200)
        self.assertEqual(len(self.keys), len(set(self.keys)))
        others = "\n".join(code(text) for path, text in MODULES.items() if path not in STRINGS)
        used = set(re.findall(r"\bt\('([\w.]+)'", others)) | set(re.findall(r"'(key\.\w+|nav\.\w+|proves\.not\.\w+|tab\.\w+)'", others))
        patterns = {re.escape(word).replace(r"\$\{", "${") for word in re.findall(r"\bt\(`([\w.]+)\$\{", others)}
        self.assertEqual(sorted(used - set(self.keys)), [])
        unused = [key for key in self.keys if key not in used and not any(re.match(pattern, key) for pattern in patterns)]
        self.assertEqual(unused, [])

    def test_both_languages(self) -> None:
        for line in re.findall(r"^  '?[\w.]+'?: \[(.*)\],$", self.text, flags=re.M):
            # The pair is two quoted texts or two functions.
            if line.startswith("("):
                korean, english = re.match(r"(\(.*?\) => .*?), (\([^()]*\) => .*)$", line).groups() if "), (" not in line else line.split(", (", 1)
            else:
                korean, english = re.match(r"('(?:[^'\\]|\\.)*'|\"[^\"]*\"), (.*)$", line).groups()
            self.assertNotRegex(english, HANGUL, line)
            self.assertTrue(HANGUL.search(korean) or "${" in korean, line)

    def test_no_sentence_elsewhere(self) -> None:
        for path, text in MODULES.items():
            if path in STRINGS:
                continue
            found = [word for word in re.findall(r"'([^'\n]*)'", code(text)) if HANGUL.search(word) and word != "한국어"]
            self.assertEqual(found, [], path.name)
            sentences = [word for word in re.findall(r"(?<![\w\]])'([A-Z][a-z]+(?: [a-z]+){2,}[^']*)'", code(text))]
            self.assertEqual(sentences, [], path.name)


@unittest.skipUnless(shutil.which("node"), "pages: the modules' tests are skipped, no node")
class ModuleTests(unittest.TestCase):
    def test_modules_under_node(self) -> None:
        version = int(subprocess.run(["node", "-p", "process.versions.node.split('.')[0]"], capture_output=True, text=True, check=True).stdout)
        if version < 20:
            self.skipTest(f"pages: the modules' tests are skipped, node {version} is too old")
        done = subprocess.run(["node", "--test", str(ROOT / "Tests" / "Pages" / "modules.test.mjs")], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])


if __name__ == "__main__":
    unittest.main()
