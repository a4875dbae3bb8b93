"""The page of one's own: contacts from an address book, all others, and erasing all that is one's own, after a question."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from browser import PICTURES, Browser, missing
from store import ROOT, Daemon, until

BOOK = "BEGIN:VCARD\nVERSION:3.0\nFN:김하늘\nTEL;TYPE=CELL:010-1234-5678\nEND:VCARD\nBEGIN:VCARD\nVERSION:3.0\nFN:이서준\nTEL:+82 10 9876 5432\nEND:VCARD\n"


def setUpModule() -> None:
    why = missing()
    if why:
        print(why)
        raise unittest.SkipTest(why)


class MineTests(unittest.TestCase):
    def start(self, **users: bool) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sillok-mine-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.daemon = Daemon(self.folder, "seoul", {"api": {"listen": "127.0.0.1:0"}, "users": users})
        self.addCleanup(self.daemon.stop)
        for user, name in (("u1", "나"), ("u2", "김코랄"), ("u3", "이김")):
            self.daemon.ask("POST", "/v1/events", {"type": "profile.changed", "user": user, "data": {"fields": {"name": name}}})
        self.daemon.ask("POST", "/v1/events", {"type": "message.posted", "user": "u1", "subject": "conversation/c", "data": {"text": "SENTINEL-4711"}})
        token = json.loads(self.daemon.ask("POST", "/v1/credentials", {"principal": "user/u1", "roles": ["user:u1"]}))["token"]
        self.page = Browser(self.daemon.url())
        self.addCleanup(self.page.quit)
        self.page.driver.get(self.page.base + "/mine/")
        self.page.run("localStorage.setItem('sillok.language', 'ko')")
        self.page.driver.get(self.page.base + "/mine/")
        field = self.page.one("#token", 15)
        field.send_keys(token)
        field.submit()
        self.page.one("#file", 15)

    def contacts(self) -> Any:
        lines = self.daemon.ask("GET", "/v1/users/u1/contacts").rstrip("\n").split("\n")[:-1]
        return [(one["contact"], one["name"], one["phone_number"], one["source"]) for one in map(json.loads, lines)]

    def choose(self, text: str) -> None:
        book = self.folder / "book.vcf"
        book.write_text(text, "utf-8")
        self.page.one("#file").send_keys(str(book))

    def text(self) -> str:
        return self.page.run("return document.querySelector('main').innerText")

    def test_an_address_book_is_read_and_adds_once(self) -> None:
        """S2-5: nothing is sent before the user says so; again, nothing is added; a number that has changed is."""
        self.start()
        self.choose(BOOK)
        self.page.until(lambda: "연락처 2명" in self.text(), 10, "what the file has")
        self.assertEqual(self.contacts(), [])
        self.page.one("#add").click()
        self.page.until(lambda: "2명을 더했습니다." in self.text(), 10, "added")
        self.assertEqual(self.contacts(), [("tel:+821098765432", "이서준", "+82 10 9876 5432", "addressbook"), ("tel:01012345678", "김하늘", "010-1234-5678", "addressbook")])
        self.choose("hello")
        self.page.until(lambda: "찾지 못했습니다" in self.text(), 10, "no card")
        self.choose(BOOK + "\n")
        self.page.until(lambda: "2명은 이미" in self.text(), 10, "all are there")
        self.assertEqual(self.page.all("#add"), [])
        # What the node does not let users do is not offered.
        self.assertEqual(self.page.all("#others, #look"), [])
        self.assertIn("운영자에게 요청하세요", self.text())
        self.assertEqual(self.page.complaints(), [])

    def test_all_others_are_listed_where_the_node_lets_users(self) -> None:
        """S2-4: all but oneself, each a button away from the contacts."""
        self.start(listed=True)
        self.page.until(lambda: len(self.page.all("#others li")) == 2, 10, "the others")
        self.assertNotIn("u1", self.page.text("#others"))
        self.page.one("#others button").click()
        self.page.until(lambda: "연락처에 있음" in self.page.text("#others"), 10, "kept")
        self.assertEqual([one[0] for one in self.contacts()], ["u2"])
        self.assertEqual(self.page.complaints(), [])

    def test_print_has_the_lists_and_nothing_to_press(self) -> None:
        self.start(listed=True, erase_own=True)
        self.page.until(lambda: len(self.page.all("#others li")) == 2, 10, "the others")
        self.page.look(dark=True, media="print")
        self.assertFalse(self.page.run("return [...document.querySelectorAll('button, input')].some((one) => one.checkVisibility())"))
        self.assertIn("김코랄", self.text())
        self.assertEqual(self.page.run("return getComputedStyle(document.body).color"), "rgb(30, 28, 25)")
        self.assertTrue(self.page.cdp("Page.printToPDF")["data"])

    @unittest.skipUnless(os.environ.get("PAGES_PICTURES"), "PAGES_PICTURES=1 writes the pictures of the documents")
    def test_pictures(self) -> None:
        self.start(listed=True, erase_own=True)
        self.choose(BOOK)
        self.page.one("#add")
        self.page.look(900, 860)
        self.page.run("document.activeElement.blur()")
        self.page.picture(PICTURES / "mine.png")

    def test_all_that_is_ones_own_is_erased_after_a_question(self) -> None:
        """S4-6: the page says what would go, asks for one's id, and then it is gone; another id erases nothing."""
        self.start(erase_own=True)
        self.page.one("#look").click()
        self.page.until(lambda: "사건 2건이 지워집니다" in self.text(), 10, "the plan")
        name = self.page.one("#name")
        name.send_keys("u2")
        self.page.one("#erase").click()
        self.page.until(lambda: "아무것도 지우지 않았습니다" in self.text(), 10, "another id")
        self.assertEqual(self.daemon.ask("GET", "/v1/erasures").count('"erasure"'), 0)
        name.clear()
        name.send_keys("u1")
        self.page.one("#erase").click()
        self.page.until(lambda: "지우기 시작했습니다" in self.text(), 10, "it begins")
        until(lambda: '"state":"applied"' in self.daemon.ask("GET", "/v1/erasures"), 30)
        self.assertNotIn("SENTINEL-4711", self.daemon.ask("GET", "/v1/conversations/c/rows"))
        self.page.one("#look").click()
        self.page.until(lambda: re.search("지울 것이 없습니다|지워졌|already|erased", self.text()), 10, "nothing is left")
        self.assertEqual(self.page.complaints(), [])


@unittest.skipUnless(shutil.which("node"), "pages: the modules' tests are skipped, no node")
class AddressBookTests(unittest.TestCase):
    def test_modules_under_node(self) -> None:
        done = subprocess.run(["node", "--test", str(ROOT / "Tests" / "Pages" / "mine.test.mjs")], capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:])


if __name__ == "__main__":
    unittest.main()
