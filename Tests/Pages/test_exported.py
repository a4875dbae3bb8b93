"""The page of `export --format html`, as its readers open it: on a phone, in the dark, on paper."""
from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from datetime import timedelta
from pathlib import Path
from typing import Any, List, Tuple
from urllib.parse import quote

from browser import Browser, missing
from chat_store import Chats, picture
from store import BINARIES, BOT, DATA, HOSTILE, INVENTED, ROOT, START, USER, Daemon, dialogues, said

# Every text that is drawn: how well it is seen, and whether it takes room at all.
TEXTS = """
    const channels = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = (text) => channels(text).slice(0, 3).map((one) => one / 255)
      .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4).reduce((sum, one, index) => sum + one * [0.2126, 0.7152, 0.0722][index], 0);
    const behind = (node) => {
      for (let one = node; one; one = one.parentElement) {
        const color = getComputedStyle(one).backgroundColor;
        if (channels(color)[3] !== 0) return color;
      }
      return 'rgb(255, 255, 255)';
    };
    const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const node = walk.currentNode, text = node.data.trim();
      if (!text) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const style = getComputedStyle(node.parentElement);
      const [one, other] = [light(style.color), light(behind(node.parentElement))].sort((a, b) => b - a);
      found.push([[...text].slice(0, 60).join(''), (one + 0.05) / (other + 0.05), range.getBoundingClientRect().height > 0 && style.visibility === 'visible']);
    }
    return found"""


def setUpModule() -> None:
    why = missing()
    if why:
        print(why)
        raise unittest.SkipTest(why)


class ExportedPageTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="sillok-exported-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.daemon = Daemon(cls.folder, "seoul", {"api": {"listen": "127.0.0.1:0"}})
        cls.addClassCleanup(cls.daemon.stop)
        cls.say("c-88", INVENTED)
        # A tall one, for paper is less high than it.
        photo = {**Chats.put(cls, picture(300, 900), "image/png"), "width": 300, "height": 900, "alt": "들판 위의 맑은 하늘"}
        absent = {"sha256": "ab" * 32, "bytes": 5, "mediaType": "audio/mpeg", "duration_ms": 65_000, "transcript": "여보세요, 유심이 잠겼어요."}
        at = START + timedelta(hours=1)
        first = said("c-88", USER, "이 카드 맞나요?", at, attachments=[photo, absent])
        cls.daemon.append(first, said("c-88", USER, "이 카드가 맞나요?", at + timedelta(seconds=5), type="message.edited", message=first["id"]))
        cls.daemon.append(*(said("c-bad", USER, words, at + timedelta(seconds=number)) for number, words in enumerate(HOSTILE)))
        cls.page = Browser("file://")
        cls.addClassCleanup(cls.page.quit)

    @classmethod
    def say(cls, conversation: str, turns: List[Tuple[str, str]]) -> None:
        at = START
        for role, words in turns:
            at += timedelta(seconds=30)
            cls.daemon.append(said(conversation, USER if role == "user" else BOT, words, at))

    def open(self, conversation: str, *, width: int = 360, **look: Any) -> Browser:
        path = self.folder / f"{self._testMethodName} {conversation}.html"
        if not path.exists():
            self.daemon.ctl("export", "--format", "html", "--conversation", conversation, "--lang", "ko", "--timezone", "Asia/Seoul", "--out", str(path))
        self.page.look(width, 740, **look)
        self.page.driver.get("file://" + quote(str(path)))
        return self.page

    def seen(self, b: Browser) -> List[str]:
        """What is read of the page; all of it is drawn, in colours that can be read, and no line leaves the page on the right."""
        texts = b.run(TEXTS)
        self.assertGreater(len(texts), 10)
        self.assertEqual([text for text, contrast, _ in texts if contrast < 4.5], [])
        self.assertEqual([text for text, _, is_drawn in texts if not is_drawn], [])
        self.assertLessEqual(b.run("return document.scrollingElement.scrollWidth - innerWidth"), 0)
        self.assertEqual(b.complaints(), [])
        return [text for text, _, _ in texts]

    def test_on_a_phone_in_light_and_dark_and_on_paper(self) -> None:
        looks = {"light": self.seen(self.open("c-88")), "dark": self.seen(self.open("c-88", dark=True)), "paper": self.seen(self.open("c-88", width=640, media="print")),
                 "paper of the dark": self.seen(self.open("c-88", width=640, dark=True, media="print"))}
        for name, texts in looks.items():
            self.assertEqual(texts, looks["light"], f"{name} hides nothing of it")
        for words in ("이 카드가 맞나요?", "이 카드 맞나요?", "여보세요, 유심이 잠겼어요.", "SIM 카드는 Nano-SIM 카드만 사용할 수 있습니다."):
            self.assertIn(words, looks["light"])
        paper = self.page.run("return [document.body, document.querySelector('article')].map((one) => getComputedStyle(one).backgroundColor)")
        self.assertEqual(paper, ["rgb(255, 255, 255)"] * 2, "ink is not spent on the ground")

    def test_the_picture_is_drawn_as_it_is_and_has_its_words(self) -> None:
        for look in ({}, {"dark": True}, {"width": 640, "media": "print"}):
            b = self.open("c-88", **look)
            [image] = b.run("""return [...document.images].map((one) => { const box = one.getBoundingClientRect();
                return [one.complete && one.naturalWidth, one.alt, box.height / box.width, box.right <= innerWidth]; })""")
            self.assertEqual(image[:2] + image[3:], [300, "들판 위의 맑은 하늘", True], look)
            self.assertAlmostEqual(image[2], 3, delta=0.05, msg=str(look))
        self.assertEqual(b.run("return document.querySelector('.file p').textContent"), f"음성: audio/mpeg · 5바이트 · 길이 1:05 · SHA-256 {'ab' * 32} · 이 노드에 파일 내용이 없음")

    def test_hostile_texts_are_shown_and_do_nothing(self) -> None:
        b = self.open("c-bad")
        self.seen(b)
        self.assertIsNone(b.run("return window.hacked ?? null"))
        self.assertEqual(b.run("return [document.scripts.length, document.querySelectorAll('article').length, performance.getEntriesByType('resource').length]"), [0, len(HOSTILE), 0])

    def test_what_proves_the_page_is_checked_by_both_checkers(self) -> None:
        path = self.folder / "proven.html"
        self.daemon.ctl("export", "--format", "html", "--conversation", "c-88", "--lang", "ko", "--out", str(path), "--proof")
        self.page.driver.get("file://" + quote(str(path)))
        ids = self.page.run("return [...document.querySelectorAll('article')].map((one) => one.id.slice(2))")
        self.assertIn(hashlib.sha256(path.with_suffix(".proof").read_bytes()).hexdigest(), self.page.text("footer"))
        for checker in ([str(BINARIES / "syncctl"), "check-proof"], [sys.executable, "-B", str(ROOT / "Scripts" / "verify.py"), "--proof"]):
            done = subprocess.run([*checker, str(path.with_suffix(".proof")), "--json"], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            # And the edit, which stands with its message.
            self.assertEqual(json.loads(done.stdout.splitlines()[-1])["events"], len(ids) + 1)

    @unittest.skipUnless((DATA / "ko_hgtods").exists(), "the real dialogues are not beside the project")
    def test_a_real_dialogue(self) -> None:
        id, turns = max(dialogues().items(), key=lambda one: len(one[1]))
        self.say(id, turns)
        b = self.open(id)
        self.seen(b)
        texts = b.run("return [...document.querySelectorAll('article > .text')].map((one) => one.textContent)")
        # One of them has a control in it, which the page shows.
        self.assertEqual([text.split() for text in texts], [words.replace("\b", "\\x08").split() for _, words in turns])
        self.assertEqual(b.run("return [document.documentElement.lang, document.querySelector('article > .text').lang]"), ["ko", "ko"])


if __name__ == "__main__":
    unittest.main()
