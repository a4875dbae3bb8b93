"""What all tests of the chat have: a daemon with some rooms, a network that can be cut, and people in their browsers."""
from __future__ import annotations

import json
import shutil
import socket
import tempfile
import threading
import time
import unittest
import uuid
from pathlib import Path
from typing import Any, List, Optional
from urllib.parse import urlsplit

from browser import Browser, missing
from chat_store import Chats, SEO, SKY


def skip_without_browser() -> None:
    why = missing()
    if why:
        print(why)
        raise unittest.SkipTest(why)


class Wire:
    """The network between browser and node: it can be cut, it can lose answers while requests arrive, and it can hold up some requests."""

    def __init__(self, url: str):
        parts = urlsplit(url)
        self.target = (parts.hostname, parts.port)
        self.isCut = self.isDeaf = False
        # Requests that begin so wait.
        self.holds = b""
        self.open: List[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            near, _ = self.listener.accept()
            if self.isCut:
                near.close()
                continue
            try:
                far = socket.create_connection(self.target)
            except OSError:
                near.close()
                continue
            self.open += [near, far]
            threading.Thread(target=self._pass, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(far, near, True), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket, isAnswer: bool) -> None:
        try:
            while data := one.recv(65_536):
                if isAnswer and self.isDeaf:
                    break
                while self.holds and not isAnswer and data.startswith(self.holds):
                    time.sleep(0.02)
                other.sendall(data)
        except OSError:
            pass
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self) -> None:
        self.isCut = True
        for end in self.open:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.open.clear()

    def mend(self) -> None:
        self.isCut = self.isDeaf = False
        self.holds = b""


class Person(Browser):
    """Someone who is logged in to the chat."""

    def __init__(self, base: str):
        super().__init__(base, "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--autoplay-policy=no-user-gesture-required")

    def enter(self, token: str, language: str = "ko") -> None:
        self.driver.get(self.base + "/chat/")
        self.driver.delete_all_cookies()
        self.run("localStorage.clear(); sessionStorage.clear(); localStorage.setItem('sillok.language', arguments[0])", language)
        self.driver.get("about:blank")
        self.driver.get(self.base + "/chat/")
        self.sign(token)

    def sign(self, token: str) -> None:
        from selenium.webdriver.common.keys import Keys
        field = self.one("#token")
        field.send_keys(token)
        field.send_keys(Keys.ENTER)
        self.one(".rooms a", 15)

    def talk(self, conversation: str, at: Optional[str] = None) -> None:
        """Opens a conversation, until its rows stand."""
        self.run("location.hash = arguments[0]", f"#/c/{conversation}" + (f"?at={at}" if at else ""))
        self.until(lambda: self.run("return document.querySelector('.talk .rows')?.getAttribute('aria-busy') === 'false' && !document.querySelector('.talk .down[hidden=x]') && "
                                    "document.querySelector('.rooms a[aria-current]')?.dataset.room === arguments[0]", conversation), 15, conversation)

    def write(self, text: str) -> None:
        from selenium.webdriver.common.keys import Keys
        field = self.one("#text")
        field.send_keys(text)
        field.send_keys(Keys.ENTER)

    def bubbles(self) -> List[str]:
        """What stands there, the oldest first, with what is on its way."""
        return self.run("return [...document.querySelectorAll('.talk .row:not([hidden]) .bubble')].map((one) => one.innerText.trim())")

    def said(self, text: str, seconds: float = 10) -> Any:
        """A row that is recorded, not one on its way."""
        return self.until(lambda: self.run("return [...document.querySelectorAll('article.row')].find((one) => one.querySelector('.bubble')?.innerText.includes(arguments[0]))", text), seconds, text)

    def announced(self) -> str:
        return self.run("return document.getElementById('said').textContent")


class ChatCase(unittest.TestCase):
    # Messages of a long conversation.
    many = 0

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="sillok-chat-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.chats = Chats(cls.folder, cls.many)
        cls.addClassCleanup(cls.chats.stop)
        cls.wire = Wire(cls.chats.daemon.url())
        cls.tokens = {user: cls.chats.token(user) for user in (SKY, SEO)}
        cls.sky = Person(cls.wire.base)
        cls.addClassCleanup(cls.sky.quit)
        cls.sky.enter(cls.tokens[SKY])

    def setUp(self) -> None:
        self.wire.mend()
        self.sky.look()

    def tearDown(self) -> None:
        self.assertEqual([line for line in self.sky.complaints() if "ERR_" not in line["message"]], [])
        self.assertIsNone(self.sky.run("return window.hacked ?? null"))

    def other(self) -> Person:
        seo = Person(self.chats.daemon.url())
        self.addCleanup(seo.quit)
        seo.enter(self.tokens[SEO])
        return seo

    def fresh(self, title: str = "시험", *people: str) -> str:
        """A conversation of its own."""
        c = f"c-{uuid.uuid4()}"
        self.chats.say(c, SKY, None, type="conversation.started", title=title, category="text", participants=[SKY, SEO, *people])
        return c

    def cause(self, conversation: str) -> str:
        line = self.chats.daemon.ask("GET", f"/v1/conversations/{conversation}/rows?limit=1&type=message.posted").split("\n")[0]
        return json.loads(line)["event"]["id"]
