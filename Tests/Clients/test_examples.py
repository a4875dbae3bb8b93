"""The examples of the documents, as they stand there: only the address of the daemon is put in."""
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import List, Tuple

from daemon import BINARIES, DaemonTests, ROOT, texts, until

SOCKET = "/run/syncd/api.sock"


def blocks(path: str, language: str) -> List[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / path).read_text("utf-8"), re.DOTALL | re.MULTILINE)


class ExampleTests(DaemonTests):
    def command(self, language: str, code: str, place: Path) -> List[str]:
        file = self.folder / f"example-{time.monotonic_ns()}.{'py' if language == 'python' else 'mjs'}"
        file.write_text(code.replace(SOCKET, str(self.a.socket)).replace("./sillok", str(place / "sillok")), "utf-8")
        if language == "js" and not shutil.which("node"):
            self.skipTest("node is not installed")
        return [sys.executable, "-B", str(file)] if language == "python" else ["node", str(file)]

    def start(self, command: List[str]) -> "subprocess.Popen[str]":
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python")}
        process = subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def bots(self) -> List[Tuple[str, str]]:
        return [(language, code) for language in ("python", "js") for code in blocks("clients/README.md", language) if "start: " in code
                or "start=" in code]

    def answers(self, command: List[str], name: str, expected: str) -> None:
        process = self.start(command)
        try:
            until(lambda: any(line["name"] == name for line in self.client.subscriptions()) or process.poll() is not None, 20)
            self.assertIsNone(process.poll())
            user = f"u-{time.monotonic_ns()}"
            self.client.append({"type": "message.posted", "user": user, "subject": "conversation/c-1", "data": {"picture": 1}})
            self.client.post(user, "안녕하세요", "c-1")
            empty = expected.replace("안녕하세요", "")
            until(lambda: texts(self.client.history(user, role="assistant")) == [expected, empty], 20)
        finally:
            process.kill()
            process.communicate()
        self.client.unsubscribe(name)

    def test_the_bots_of_the_readme(self) -> None:
        self.assertEqual(len(self.bots()), 4)
        for language, code in self.bots():
            with self.subTest(language):
                name = re.search(r'"(medibot[-0-9]*)"', code)
                assert name
                self.answers(self.command(language, code, ROOT / "clients/javascript"), name[1], "들었습니다: 안녕하세요")

    def test_the_other_blocks_of_the_readme(self) -> None:
        for language, expected in (("python", ["김하늘", "u-1029 머리가 아파요", "E_TYPE 422"]), ("js", ["u-1029 머리가 아파요", "true E_TYPE"])):
            codes = [code for code in blocks("clients/README.md", language) if (language, code) not in self.bots() and "essenger" not in code]
            self.assertEqual(len(codes), 1)
            process = self.start(self.command(language, codes[0], ROOT / "clients/javascript"))
            out, err = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 0, err)
            for text in expected:
                self.assertIn(text, out)

    def test_the_attachments_of_the_readme(self) -> None:
        for language in ("python", "js"):
            codes = [code for code in blocks("clients/README.md", language) if "essenger" in code]
            self.assertEqual(len(codes), 1)
            process = self.start(self.command(language, codes[0], ROOT / "clients/javascript"))
            out, err = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 0, err)
            self.assertEqual(out, "처방: 물을 많이 드세요\n처방전입니다 0\n")

    def test_the_echo_bots(self) -> None:
        self.answers([sys.executable, "-B", str(ROOT / "clients/python/examples/echo.py"), self.a.base], "echo", "메아리: 안녕하세요")
        if shutil.which("node"):
            self.answers(["node", str(ROOT / "clients/javascript/examples/echo.mjs"), self.a.base], "echo", "메아리: 안녕하세요")

    def test_the_requests_of_following(self) -> None:
        text = (ROOT / "docs/operating/following.md").read_text("utf-8")
        commands = re.findall(r"^    (curl (?:.*\\\n)*.*)$", text, re.MULTILINE)
        self.assertGreaterEqual(len(commands), 1)
        for command in commands:
            said = subprocess.run(["bash", "-c", command.replace(SOCKET, str(self.a.socket)) + " -sS --fail-with-body"], capture_output=True,
                                  text=True, timeout=30, check=False)
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        self.assertIn("medibot", [line["name"] for line in self.client.subscriptions()])
        self.client.unsubscribe("medibot")

    def test_the_files_are_as_small_as_is_promised(self) -> None:
        """A client is copied and read before it is trusted: each file can be read at one sitting."""
        for path in ("python/sillok.py", "python/sillok_messenger.py", "javascript/sillok.mjs", "javascript/sillok-messenger.mjs"):
            lines = (ROOT / "clients" / path).read_text("utf-8").splitlines()
            self.assertLessEqual(len(lines), 550, path)
            self.assertLessEqual(max(map(len, lines)), 160, path)
        self.assertTrue((BINARIES / "syncd").exists())
