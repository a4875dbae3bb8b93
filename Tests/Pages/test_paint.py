"""How soon a page stands: with 100,000 messages of one user, opened anew, with nothing kept from before."""
from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
import time
import unittest
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import List

from browser import Browser
from chat_case import skip_without_browser
from store import Daemon

MESSAGES, ROOMS, LOADS = 100_000, 300, 5
# Half of the messages stand in one conversation.
LONG, USER, OTHER = "c-long", "u-1029", "u-2001"
PAINT, NEWEST = 300, 1_000

# Tells when the newest message stands in the page; it is there before any script of the page.
WATCH = """new MutationObserver((_, self) => {
  if (!document.querySelector('article[data-id="%s"]')) return;
  window.newest = performance.now();
  self.disconnect();
}).observe(document, { childList: true, subtree: true });"""


def setUpModule() -> None:
    skip_without_browser()


def events(path: Path) -> str:
    """Writes all of them, the oldest first; the id of the newest one of the long conversation."""
    began, step = datetime.now(timezone.utc) - timedelta(days=40), timedelta(days=39) / MESSAGES
    rooms = [f"c-{number}" for number in range(ROOMS)]
    newest = ""
    with path.open("w", encoding="utf-8") as file:
        def write(**event: object) -> None:
            file.write(json.dumps(event, ensure_ascii=False) + "\n")
        for number, room in enumerate([LONG, *rooms]):
            write(id=str(uuid.uuid5(uuid.NAMESPACE_URL, room)), type="conversation.started", user=USER, subject=f"conversation/{room}", time=began.isoformat(timespec="milliseconds"),
                  data={"title": f"방 {number}", "category": "text", "participants": [USER, OTHER]})
        for number in range(MESSAGES):
            room = rooms[number // 2 % ROOMS] if number % 2 else LONG
            id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{room}/{number}"))
            newest = id if room == LONG else newest
            write(id=id, type="message.posted", user=USER, author=OTHER if number % 3 else USER, subject=f"conversation/{room}", time=(began + step * (number + 1)).isoformat(timespec="milliseconds"),
                  data={"text": f"{number + 1}번째 메시지입니다. 손목 통증이 오래 지속되는데 어떻게 하면 좋을까요?"})
    return newest


def is_busy() -> bool:
    return os.getloadavg()[0] > (os.cpu_count() or 1)


class PaintTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="sillok-paint-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.daemon = Daemon(cls.folder, "seoul", {"api": {"listen": "127.0.0.1:0"}})
        cls.addClassCleanup(cls.daemon.stop)
        cls.newest = events(cls.folder / "events.ndjson")
        cls.daemon.ctl("import", str(cls.folder / "events.ndjson"), seconds=600)

    def token(self, *roles: str) -> str:
        return json.loads(self.daemon.ask("POST", "/v1/credentials", {"principal": f"paint/{roles[0]}", "roles": list(roles)}))["token"]

    def measure(self, page: str, address: str, token: str) -> None:
        b = Browser(self.daemon.url())
        self.addCleanup(b.quit)
        b.driver.get(f"{b.base}/{page}/")
        b.one("#token").send_keys(token + "\n")
        b.until(lambda: not b.all("#token"), 15, "the way in")
        # What the tests before have left on the processors.
        end = time.monotonic() + 60
        while is_busy() and time.monotonic() < end:
            time.sleep(5)
        b.cdp("Network.enable")
        b.cdp("Network.setCacheDisabled", cacheDisabled=True)
        b.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH % self.newest)
        paints: List[float] = []
        newest: List[float] = []
        bytes_: List[int] = []
        wasBusy, load = is_busy(), os.getloadavg()[0]
        for _ in range(LOADS):
            b.driver.get("about:blank")
            b.driver.get(f"{b.base}/{page}/#/{address}")
            b.until(lambda: b.run("return window.newest !== undefined && performance.getEntriesByName('first-contentful-paint').length"), 30, "the newest message")
            paints.append(b.run("return performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            newest.append(b.run("return window.newest"))
            # All that came as a file until then, with nothing kept.
            bytes_.append(b.run("return performance.getEntriesByType('resource').filter((one) => /[.](mjs|css|svg)$/.test(one.name) && one.responseEnd <= window.newest).reduce((sum, one) => sum + one.decodedBodySize, 0)"))
        paint, stood = statistics.median(paints), statistics.median(newest)
        print(f"{page}: {MESSAGES:,} messages, first paint {paint:.0f} ms of {[round(one) for one in sorted(paints)]}, the newest message {stood:.0f} ms of {[round(one) for one in sorted(newest)]}, "
              f"{statistics.median(bytes_) / 1000:.1f} KB of files until then, load {load:.1f} on {os.cpu_count()}")
        if wasBusy:
            self.skipTest(f"{page}: the machine is busy (load {load:.1f} on {os.cpu_count()}): the times say nothing")
        self.assertLess(paint, PAINT)
        self.assertLess(stood, NEWEST)

    def test_the_chat_paints_soon(self) -> None:
        self.measure("chat", f"c/{LONG}", self.token(f"user:{USER}"))

    def test_the_console_paints_soon(self) -> None:
        self.measure("console", f"c/{LONG}", self.token("reader"))


if __name__ == "__main__":
    unittest.main()
