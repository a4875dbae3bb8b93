"""The console, looked at in a browser: what stands there, for whom, with the keyboard, and when the server lies."""
from __future__ import annotations

import http.server
import json
import os
import re
import shutil
import tempfile
import threading
import time
import unittest
import urllib.request
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional
from urllib.parse import quote, unquote

from browser import AXE, PICTURES, Browser, missing
from store import AGENT, BOT, Cluster, DATA, HOSTILE, USER, until



def setUpModule() -> None:
    why = missing()
    if why:
        print(why)
        raise unittest.SkipTest(why)


class Liar:
    """Passes all on to the daemon; what `changes` makes of an answer's body is what the browser gets."""

    def __init__(self, base: str):
        self.changes: Dict[str, Callable[[str], str]] = {}
        self.isDead = False
        # What is in the path of requests that are refused.
        self.refuses: Optional[str] = None
        liar = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_any(self) -> None:
                if liar.isDead:
                    self.close_connection = True
                    return
                length = int(self.headers.get("Content-Length") or 0)
                if liar.refuses and liar.refuses in self.path:
                    self.rfile.read(length)
                    body = b'{"type":"error","v":1,"code":"E_BUSY","message":"the queue is full","hint":null}\n'
                    self.send_response(503)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                    return
                headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection", "accept-encoding")}
                asked = urllib.request.Request(base + self.path, self.rfile.read(length) if length else None, headers, method=self.command)
                try:
                    answer = urllib.request.urlopen(asked, timeout=60)
                except urllib.error.HTTPError as error:
                    answer = error
                body = answer.read()
                for word, change in list(liar.changes.items()):
                    if word in self.path:
                        body = change(body.decode()).encode()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    if name.lower() not in ("content-length", "connection", "date", "transfer-encoding"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_DELETE = do_any

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class PageTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="sillok-pages-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = Cluster(cls.folder)
        cls.addClassCleanup(cls.cluster.stop)
        cls.tokens = {role: cls.cluster.token(role) for role in ("reader", "auditor", "operator", "app", "admin")}
        cls.liar = Liar(cls.cluster.seoul.url())
        cls.browser = Browser(cls.liar.base)
        cls.addClassCleanup(cls.browser.quit)
        cls.role: Optional[str] = None

    def setUp(self) -> None:
        self.liar.changes.clear()
        self.liar.isDead, self.liar.refuses = False, None
        self.browser.look()

    def tearDown(self) -> None:
        self.assertEqual(self.browser.complaints(), [])
        self.assertIsNone(self.browser.run("return window.hacked ?? null"))

    def enter(self, role: str = "reader", language: str = "ko") -> Browser:
        if type(self).role != (role, language):
            self.browser.login(self.tokens[role], language)
            type(self).role = (role, language)
        return self.browser

    # MARK: A conversation

    def row(self, id: str) -> Any:
        return self.browser.one(f'article[data-id="{id}"]')

    def test_words_stay_under_the_name_of_who_said_them(self) -> None:
        b = self.enter()
        b.go("c", "c-88")
        own, other = self.row(self.cluster.edited).text, self.row(self.cluster.corrected).text
        self.assertIn("카드가 트레이보다 커", own)
        self.assertIn("쓴 사람이 고침", own)
        bubble = b.run("return document.querySelector(arguments[0]).innerText", f'article[data-id="{self.cluster.corrected}"] .bubble')
        self.assertNotIn("발급", bubble)
        self.assertNotIn("도와 드립니다", bubble)
        self.assertIn("다른 사람의 정정: 이서준", other)
        self.assertIn("도와 드립니다", other)
        # A server that says otherwise changes nothing.
        self.liar.changes["/rows"] = lambda text: text.replace('"applied":false', '"applied":true')
        b.go("c", "c-88")
        self.assertNotIn("발급", b.run("return document.querySelector(arguments[0]).innerText", f'article[data-id="{self.cluster.corrected}"] .bubble'))
        self.assertNotIn("010-0000", b.text("article"))
        b.run("document.querySelector(arguments[0]).click()", f'article[data-id="{self.cluster.retracted}"] .bubble button')
        self.assertIn("010-0000", self.row(self.cluster.retracted).text)
        # What a reply was made with stands beside the first one, and beside one that took long.
        margins = b.run("return [...document.querySelectorAll('article.bot .margin')].map((one) => one.innerText)")
        made = [text for text in margins if "gpt-4o" in text]
        self.assertIn("gpt-4o · 페르소나 상담 v7 · 1.8초", made[0])
        self.assertIn("6.1초", "".join(made[1:]))

    def test_roles_and_names(self) -> None:
        b = self.enter()
        b.go("c", "c-88")
        tree = b.cdp("Accessibility.getFullAXTree")["nodes"]
        named = {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node.get("ignored")}
        for role, name in [("main", ""), ("navigation", "화면"), ("feed", ""), ("searchbox", "여기서 찾기"), ("slider", "그때 보기"), ("heading", "유심과 메모리 카드"), ("button", "여기서 확인")]:
            self.assertTrue(any(one[0] == role and (not name or one[1] == name) for one in named), (role, name, sorted(named)[:60]))
        self.assertTrue(any(role == "article" and name.startswith(f"{USER}, ") for role, name in named))

    def moment(self, known: Optional[int] = None) -> List[Dict[str, Any]]:
        text = self.cluster.seoul.ask("GET", "/v1/conversations/c-88/rows?order=oldest&limit=500" + (f"&known_at={known}" if known else ""))
        return [line for line in map(json.loads, text.splitlines()) if line["type"] == "event"]

    def test_every_moment_shows_what_the_node_knew_then(self) -> None:
        b = self.enter()
        now = self.moment()
        positions = sorted({int(line["event"]["position"]) for line in now})
        for known in positions[::3] + positions[-1:]:
            b.go("c", "c-88", known=known)
            then = {line["event"]["id"]: line for line in self.moment(known)}
            shown = b.run("""return [...document.querySelectorAll('article.row')].map((one) => ({ id: one.dataset.id, state: ['same', 'changed', 'later'].find((name) => one.classList.contains(name)),
                text: one.querySelector('.said > .bubble')?.textContent ?? '' }))""")
            self.assertEqual({one["id"] for one in shown if one["state"] != "later"}, set(then), known)
            for one in shown:
                line = then.get(one["id"])
                if line and line["event"]["type"] in ("message.posted", "bot.replied") and "retracted" not in line:
                    text = line.get("text", line["event"]["data"].get("text")) or ""
                    self.assertIn(text.splitlines()[0][:20].replace("**", ""), one["text"].replace("\n", ""), (known, one["id"]))
            banner = b.text(".banner")
            for state, words in (("changed", "그 뒤 바뀐 글"), ("later", "그 뒤 생긴 사건")):
                self.assertIn(f"{words} {sum(one['state'] == state for one in shown)}", banner, known)
        b.press("0")
        b.until(lambda: not b.all(".later") and not b.all(".banner:not([hidden])"), 5, "now")
        self.assertNotIn("known=", b.driver.current_url)

    def test_the_other_clock_shows_what_had_happened_by_then(self) -> None:
        """`as_of`: by the times that events have, whatever the node knew; the address keeps it, and a link to it shows the same."""
        b = self.enter()
        b.go("c", "c-88")
        b.run("const one = document.querySelector('[data-tool=clock]'); one.value = 'happened'; one.dispatchEvent(new Event('change'))")
        b.press("[")
        b.until(lambda: b.all(".banner:not([hidden])") and "as_of=" in b.driver.current_url, 5, "the moment before the last change")
        self.assertNotIn("known=", b.driver.current_url)
        address = b.driver.current_url

        def shown() -> Dict[str, str]:
            return dict(b.run("return [...document.querySelectorAll('article.row:not(.later)')].map((one) => [one.dataset.id, one.querySelector('.said > .bubble')?.textContent ?? ''])"))
        before = shown()
        moment = unquote(re.findall(r"as_of=([^&]+)", address)[0])
        lines = map(json.loads, self.cluster.seoul.ask("GET", f"/v1/conversations/c-88/rows?order=oldest&limit=500&as_of={quote(moment)}").splitlines())
        self.assertEqual(set(before), {line["event"]["id"] for line in lines if line["type"] == "event"})
        self.assertTrue(0 < len(before) < len(b.all("article.row")))
        # Before the correction of another, but behind the edit: the one stands there, and the other does not.
        start = self.cluster.first[-1]["time"]
        at = datetime.fromisoformat(start) + timedelta(seconds=25)
        b.go("c", "c-88", as_of=at.isoformat())
        self.assertIn("카드가 트레이보다 커", b.text(f'article[data-id="{self.cluster.edited}"]'))
        self.assertIn("그 뒤 바뀐 글 1", b.text(".banner"))
        self.assertIn("changed", self.row(self.cluster.corrected).get_attribute("class"))
        self.assertIn("later", self.row(self.cluster.retracted).get_attribute("class"))
        b.driver.get(address)
        b.driver.refresh()
        b.one(".banner:not([hidden])", 15)
        b.until(lambda: shown() == before, 10, "the same as before")
        b.press("0")
        b.until(lambda: "as_of" not in b.driver.current_url and not b.all(".later"), 5, "now")

    def test_why_is_a_tree_that_is_walked_with_the_keyboard(self) -> None:
        b = self.enter()
        b.go("c", "c-88", at=self.cluster.corrected)
        b.until(lambda: b.run("return document.activeElement.dataset.id") == self.cluster.corrected, 5, "the row has the focus")
        b.press("w")
        b.one("[role=tree] [role=treeitem]")
        answer = [json.loads(line) for line in self.cluster.seoul.ask("GET", f"/v1/events/{self.cluster.corrected}/why?limit=200").splitlines()]
        ids = {line["id"] for line in answer if "relation" in line or "event" in line}
        shown = b.run("return [...document.querySelectorAll('[role=treeitem]')].map((one) => one.dataset.id)")
        self.assertEqual((set(shown), len(shown)), (ids, len(ids)))
        # The question above, the correction below, under their relations; the event itself has the focus.
        focus = lambda: b.run("return document.activeElement.dataset.id")
        self.assertEqual((focus(), b.run("return document.activeElement.getAttribute('aria-current')")), (self.cluster.corrected, "true"))
        question = next(event for event in self.cluster.first if event["id"] == self.cluster.corrected)["cause"]
        self.assertIn(question, shown)
        self.assertIn(f"고침 message.edited · {AGENT}", b.text("[role=tree]"))
        b.press("\ue011")
        self.assertEqual((focus(), b.run("return document.activeElement.getAttribute('aria-level')")), (question, "1"))
        b.press("\ue012")
        b.until(lambda: b.run("return document.activeElement.getAttribute('aria-expanded')") == "false", 5, "closed")
        b.press("\ue014", "\ue014")
        self.assertNotEqual(focus(), question)
        b.press("\ue010", "\ue007")
        b.until(lambda: "#/c/c-88?at=" in b.driver.current_url, 5, "in its place")
        for language, word in (("ko", "이유"), ("en", "Why")):
            self.enter(language=language).go("why", self.cluster.corrected, wait="[role=treeitem]")
            self.assertEqual(b.text("h1"), word)

    def test_steps_by_keys(self) -> None:
        b = self.enter()
        b.go("c", "c-88")
        def known() -> int:
            return int((re.findall(r"known=(\d+)", b.driver.current_url) or [10**9])[0])
        places = [known()]
        for key, isThere in (("[", lambda: known() < places[-1]), ("[", lambda: known() < places[-1]), ("]", lambda: known() > places[-1])):
            b.press(key)
            b.until(isThere, 5, key)
            places.append(known())
        self.assertLess(places[2], places[3])
        self.assertLessEqual(places[3], places[1])
        # On to the next change.
        change = {int(line["event"]["position"]) for line in self.moment() if line["event"]["type"] in ("message.edited", "message.retracted")}
        self.assertIn(places[3], change)
        b.press("0")
        b.until(lambda: "known" not in b.driver.current_url, 5, "now")

    # MARK: Green

    def check(self) -> str:
        b = self.browser
        next(one for one in b.all(".status button") if one.text == "여기서 확인").click()
        b.until(lambda: b.run("const one = document.querySelector('.status .proof'); return one && !one.classList.contains('none') && !one.innerText.includes('확인하는 중')"), 20, "a verdict")
        return b.run("return [...document.querySelector('.status .proof').classList].find((name) => ['proven', 'partly', 'broken'].includes(name))")

    def test_green_is_computed_here(self) -> None:
        b = self.enter()
        b.go("c", "c-88")
        self.assertEqual(b.all(".mark.proven, .proof.proven"), [], "nothing was checked: no mark")
        self.assertEqual(self.check(), "proven")
        self.assertEqual(len(b.all("article .mark.proven")), len(b.all("article")))
        # The same text, one letter of it changed on its way: in the rows, then in the proof.
        self.liar.changes["/rows"] = lambda text: text.replace("SIM 카드는 Nano-SIM 카드만", "SIM 카드는 Mini-SIM 카드만")
        b.go("c", "c-88")
        self.assertEqual(self.check(), "broken")
        self.assertEqual(len(b.all("article .mark.broken")), 1)
        self.assertIn("Mini-SIM", b.text("article:has(.mark.broken)"))
        self.liar.changes = {"/proof": lambda text: text.replace("SIM 카드는 Nano-SIM 카드만", "SIM 카드는 Mini-SIM 카드만")}
        b.go("c", "c-88")
        self.assertEqual(self.check(), "broken")
        self.liar.changes.clear()

    def test_another_key_is_red(self) -> None:
        b = self.enter()
        b.run("localStorage.setItem('sillok.nodes', 'ab'.repeat(32))")
        b.go("c", "c-88")
        self.assertEqual(self.check(), "broken")
        self.assertIn("다른 키", b.text(".status"))
        b.go("verify", wait=".proof")
        b.one(".proof.broken")
        node = json.loads(self.cluster.seoul.ask("GET", "/v1/me"))["node"]
        peer = json.loads(self.cluster.busan.ask("GET", "/v1/me"))["node"]
        b.run("localStorage.setItem('sillok.nodes', arguments[0])", f"{node} {peer}")
        b.go("c", "c-88")
        self.assertEqual(self.check(), "proven")
        b.run("localStorage.removeItem('sillok.nodes')")

    def test_no_green_without_the_means(self) -> None:
        b = self.enter()
        b.go("c", "c-88")
        b.run("Object.defineProperty(globalThis, 'crypto', { value: {}, configurable: true })")
        self.assertEqual(self.check(), "partly")
        self.assertEqual(b.all(".mark.proven, .proof.proven"), [])
        b.driver.refresh()
        b.one("main h1")

    def test_an_event_and_its_proof(self) -> None:
        b = self.enter()
        b.go("c", "c-88", at=self.cluster.edited)
        b.until(lambda: b.run("return document.activeElement.dataset.id") == self.cluster.edited, 5, "the row has the focus")
        b.press("p")
        b.one("dialog .proof.proven", 10)
        self.assertIn(self.cluster.edited, b.text("dialog"))
        b.press("\ue00c")
        b.until(lambda: not b.all("dialog"), 5, "Esc closes")
        b.press("v")
        self.assertIn('"specversion"', b.one("dialog pre").text)
        b.press("\ue00c")

    def test_a_receipt_is_held_against_the_node(self) -> None:
        b = self.enter()
        receipt = self.folder / "old.receipt"
        receipt.write_text(self.cluster.seoul.ask("GET", "/v1/receipt"), "utf-8")
        b.go("verify", wait=".proof.proven")
        b.one("#receipt").send_keys(str(receipt))
        b.one(".held .proof.proven", 10)
        self.assertEqual(b.all(".held .proof.broken"), [])
        spoilt = self.folder / "spoilt.receipt"
        spoilt.write_text(receipt.read_text("utf-8").replace('"position":', '"position":1', 1), "utf-8")
        b.one("#receipt").send_keys(str(spoilt))
        b.one(".kept .proof.broken", 10)

    # MARK: Long ones

    def test_a_long_conversation_moves_nothing_that_is_seen(self) -> None:
        self.walk("c-long", 8)

    def test_messages_of_one_time_are_all_there(self) -> None:
        self.walk("c-tied", 8)

    def walk(self, conversation: str, pages: int) -> None:
        """Up by pages, and down to the end again: what is seen stays, no more than 600 rows stand there, none is missing."""
        b = self.enter()
        b.go("c", conversation)
        counts: List[int] = []
        for _ in range(pages):
            seen = b.run("""scrollTo(0, 300); const one = [...document.querySelectorAll('article')].find((each) => each.getBoundingClientRect().bottom > 150);
                return [one.dataset.id, one.getBoundingClientRect().top, document.querySelectorAll('article').length]""")
            b.run("document.querySelector('.more').click()")
            b.until(lambda: b.run("return document.querySelector('[role=feed]').getAttribute('aria-busy') === 'false'"), 10, "loaded")
            time.sleep(0.1)
            top = b.run("return document.querySelector(`article[data-id='${arguments[0]}']`)?.getBoundingClientRect().top", seen[0])
            if top is not None and seen[2] < 600:
                self.assertLessEqual(abs(top - seen[1]), 1.5, seen)
            counts.append(b.run("return document.querySelectorAll('article').length"))
        self.assertEqual(max(counts), 600)
        self.assertFalse(b.run("return document.querySelectorAll('.more')[1].disabled"), "what was dropped can be had again")
        rows = b.run("return [...document.querySelectorAll('article')].map((one) => one.dataset.id)")
        self.assertEqual(len(rows), len(set(rows)))
        # Down again, to the very end, and none is missing.
        ids: List[str] = list(rows)
        for _ in range(30):
            if b.run("return document.querySelectorAll('.more')[1].disabled"):
                break
            b.run("scrollTo(0, document.documentElement.scrollHeight)")
            time.sleep(0.1)
            b.until(lambda: b.run("return document.querySelector('[role=feed]').getAttribute('aria-busy') === 'false'"), 10, "loaded")
            ids += b.run("return [...document.querySelectorAll('article')].map((one) => one.dataset.id)")
        text = self.cluster.seoul.ask("GET", f"/v1/conversations/{conversation}/rows?order=newest&limit=500")
        there = {line["event"]["id"] for line in map(json.loads, text.splitlines()) if line["type"] == "event"}
        self.assertEqual(len(there - set(ids)), 0)

    def test_a_link_leads_to_any_message(self) -> None:
        b = self.enter()
        text = self.cluster.seoul.ask("GET", "/v1/conversations/c-long/rows?order=oldest&limit=400")
        ids = [line["event"]["id"] for line in map(json.loads, text.splitlines()) if line["type"] == "event"]
        for id in ids[3::97]:
            b.go("c", "c-long", at=id)
            b.until(lambda: b.run("const one = document.activeElement; return one?.dataset?.id === arguments[0] && one.getBoundingClientRect().top > 0 && one.getBoundingClientRect().bottom < innerHeight", id), 5, id)

    # MARK: Words

    def test_a_search_leads_to_its_hits(self) -> None:
        b = self.enter()
        if "검색" not in b.text("header nav"):
            self.skipTest("the node has no search")
        b.go("search", q="메모리 카드", wait=".results li")
        hits = b.run("return [...document.querySelectorAll('a.hit')].map((one) => one.getAttribute('href'))")
        self.assertIn("모두", b.text(".results .count"))
        self.assertTrue(b.run("return [...document.querySelectorAll('.results mark')].every((one) => ['메모리', '카드', '메모리 카드'].includes(one.innerText))"))
        # Enter jumps, with the words; back returns to the hits.
        b.press("n", "\ue007")
        b.until(lambda: b.all("article mark"), 10, "the hit in its place")
        id = re.search(r"at=([0-9a-f-]{36})", hits[0])
        assert id
        b.until(lambda: b.run("return document.activeElement.closest('article')?.dataset.id") is not None, 5, "a row has the focus")
        first = b.run("return document.activeElement.closest('article').dataset.id")
        b.press("n")
        b.until(lambda: b.run("return document.activeElement.closest('article')?.dataset.id") not in (None, first), 5, "the next hit")
        b.driver.back()
        b.one(".results li")
        self.assertEqual(b.run("return document.querySelector('#q').value"), "메모리 카드")
        # Nothing is found of what was taken back, or erased.
        for words in ("010-0000-0000", "주민등록번호"):
            b.go("search", q=words, wait=".results .empty")

    def test_users_are_found_by_name(self) -> None:
        b = self.enter()
        if "사용자" not in b.text("header nav"):
            self.skipTest("the node finds no users")
        b.go("users", q="김", wait="tbody tr")
        self.assertIn(USER, b.text("tbody"))
        b.go("users", q="없는 이름", wait=".empty")

    def test_conversations_are_found_by_title(self) -> None:
        b = self.enter()
        b.go("conversations", wait="tbody tr")
        all = len(b.all("tbody tr"))
        b.one("#match").send_keys("메모리\n")
        b.until(lambda: 0 < len(b.all("tbody tr")) < all, 10, "fewer")
        self.assertIn("c-88", b.text("tbody"))
        self.assertEqual(b.run("return document.querySelector('#match').value"), "메모리")
        b.go("conversations", q="없는 제목", wait=".empty")

    def test_words_in_a_conversation(self) -> None:
        b = self.enter()
        b.go("c", "c-long", q="사랑" if DATA.exists() else "안녕")
        b.until(lambda: b.all("article mark.current") or b.all("article.hit mark"), 10, "a hit")
        count = b.text(".find .count")
        self.assertRegex(count, r"\d+건 중 1번째")
        b.press("n")
        b.until(lambda: b.text(".find .count") != count, 10, "the next")

    def test_surveys_are_told_apart(self) -> None:
        """S0-11: by day, bot, version of the persona and conversation, which leads there."""
        b = self.enter()
        b.go("surveys", "만족도")
        whole = len(b.all("main table"))
        for by in ("day", "bot", "persona", "conversation"):
            b.run("const one = document.getElementById('by'); one.value = arguments[0]; one.dispatchEvent(new Event('change'))", by)
            b.until(lambda: b.run("return document.getElementById('by')?.value") == by and b.all("main table") and f"by={by}" in b.run("return location.hash"), 10, by)
            self.assertGreaterEqual(len(b.all("main table")), whole, by)
        self.assertGreater(len(b.all("main a[href^='#/c/']")), 0)
        self.assertEqual(b.complaints(), [])

    # MARK: Safety

    def test_hostile_texts_are_texts(self) -> None:
        b = self.enter()
        b.run("window.reports = []; document.addEventListener('securitypolicyviolation', (event) => window.reports.push(event.violatedDirective + ' ' + event.blockedURI))")
        for parts in [("c", "c-hostile"), ("conversations",), ("surveys",), ("surveys", HOSTILE[0]), ("u", "<b onmouseover=window.hacked=1>mallory</b>\u202e")]:
            b.go(*parts)
            self.assertEqual(b.run("return [...document.querySelectorAll('main script, main img, main iframe, main style, main svg a, main b')].length"), 0, parts)
            self.assertEqual(b.run("return window.reports"), [], parts)
            self.assertIsNone(b.run("return window.hacked ?? null"))
            self.assertLessEqual(b.run("return document.documentElement.scrollWidth"), 1280, parts)
        b.go("c", "c-hostile")
        shown = b.text("article")
        for words in ("<script>window.hacked=1</script>", "␣202e", "␣0000", "<svg onload", "{{constructor", "[link](javascript:"):
            self.assertIn(words, shown)
        links = b.run("return [...document.querySelectorAll('article .bubble a')].map((one) => [one.protocol, one.rel, one.host])")
        self.assertEqual(links, [["https:", "noreferrer noopener", "evil.example"]])

    def test_no_request_leaves_the_node(self) -> None:
        b = self.enter()
        b.go("c", "c-88")
        hosts = b.run("return [...new Set(performance.getEntriesByType('resource').map((one) => new URL(one.name).host))]")
        self.assertEqual(hosts, [self.liar.base.split("//")[1]])
        self.assertEqual(b.run("return document.cookie"), "")

    # MARK: Who sees what

    def test_pages_follow_roles(self) -> None:
        expected = {
            "operator": ["개요", "노드", "구독", "격리", "삭제"], "admin": ["개요", "검증", "노드", "격리", "삭제", "열람 기록"],
            "reader": ["대화", "설문", "검증"], "auditor": ["개요", "대화", "설문", "검증", "노드", "격리", "삭제", "열람 기록"],
        }
        later = {"검색", "사용자"}
        for role, names in expected.items():
            b = self.enter(role)
            found = [one.text for one in b.all("header nav a")]
            self.assertEqual([name for name in found if name not in later], names + (["검증"] if role == "operator" and "검증" in found else []) if role != "operator" else [name for name in found if name not in later], role)
            if role == "operator":
                self.assertTrue(set(names) <= set(found), found)
        b = self.enter("operator")
        b.go("c", "c-88")
        self.assertIn("볼 수 없는 화면", b.text("main"))
        self.assertNotIn("유심", b.text())

    def test_an_auditor_says_why_and_finds_it_in_the_log(self) -> None:
        b = self.enter("auditor")
        b.go("c", "c-90")
        self.assertIn("지운 글입니다", b.text("article"))
        b.go("access", wait="tbody tr")
        self.assertIn("민원 4711", b.text("tbody"))
        self.assertIn("/v1/conversations/c-90", b.text("tbody"))
        b.run("sessionStorage.clear()")
        b.driver.refresh()
        field = b.one("#reason")
        field.send_keys("두 번째 사유\n")
        b.one("nav a")
        b.go("c", "c-101")
        b.go("access", wait="tbody tr")
        self.assertIn("두 번째 사유", b.text("tbody"))

    def test_parked_events_are_delivered_again(self) -> None:
        b = self.enter("operator")
        b.go("subscriptions", wait="tbody tr")
        self.assertIn("medibot", b.text("tbody"))
        b.go("subscriptions", "medibot", wait="tbody tr")
        self.assertEqual(len(b.all("tbody tr")), 3)
        b.all("tbody button")[0].click()
        b.until(lambda: len(b.all("tbody tr")) == 2, 10, "one less")
        # What the node refuses is told, and nothing else changes.
        self.liar.refuses = "/retry"
        b.all("tbody button")[0].click()
        b.until(lambda: "full" in b.text(".problem"), 10, "why not")
        self.assertEqual(len(b.all("tbody tr")), 2)
        b.driver.get_log("browser")

    def test_quarantine_has_reasons_and_no_texts(self) -> None:
        b = self.enter("operator")
        b.go("quarantine", wait="tbody tr")
        self.assertIn("messages", b.text("tbody"))
        self.assertNotIn(USER, b.text("main"))

    def test_forks_stand_beside_peers(self) -> None:
        """Where a fork is proven, with the two histories and the file of the proof; in both languages."""
        fork = {"type": "fork", "name": "ab12-7", "origin": "cd" * 32, "sequence": 7, "at": "2026-08-01T02:02:15.120Z", "branches": [
            {"leaf": "11" * 32, "signed": 9, "here": True}, {"leaf": "22" * 32, "signed": 12, "here": False}]}
        b = self.enter("operator")
        b.go("nodes", wait="tbody tr")
        self.assertIn("증명된 분기가 없습니다.", b.text("main"))
        for language, words in (("ko", ("분기", "9까지 서명됨 · 이 노드의 것", "12까지 서명됨")), ("en", ("Forks", "signed to 9 · the one here", "signed to 12"))):
            self.liar.changes.clear()
            b = self.enter("operator", language)
            self.liar.changes["/v1/forks"] = lambda text: json.dumps(fork) + "\n" + text
            b.go("nodes", wait="table:nth-of-type(2) tbody tr")
            for word in (*words, "11111111", "22222222"):
                self.assertIn(word, b.text("main"))
            self.assertEqual(b.text("td[title='ab12-7.json']"), "7")
            self.assertEqual(b.text("main").count(words[1].split(" · ")[1]), 1)
            if AXE.exists():
                self.assertEqual(b.axe()["violations"], [])
        # Who may not ask for forks is told nothing of them.
        self.assertNotIn("Forks", self.enter("reader", "en").text("header nav"))

    # MARK: Coming and going

    def test_a_session_ends(self) -> None:
        b = self.enter()
        next(one for one in b.all("header button") if one.text == "나가기").click()
        b.one("#token")
        b.driver.refresh()
        b.one("#token").send_keys("slk1_wrong\n")
        b.until(lambda: "통하지 않는" in b.text(), 5, "refused")
        type(self).role = None

    def test_a_silent_node_is_told_and_found_again(self) -> None:
        b = self.enter("operator")
        b.go("nodes", wait="tbody tr")
        self.liar.isDead = True
        b.one("#offline:not([hidden])", 15)
        self.liar.isDead = False
        b.until(lambda: b.all("#offline[hidden]") and b.all("tbody tr"), 15, "connected again")
        b.driver.get_log("browser")

    def test_more_that_does_not_come_is_told(self) -> None:
        """What is there stays; the button says why, and asks once more."""
        b = self.enter()
        self.liar.changes["/v1/conversations"] = lambda text: text.replace('"more":false', '"more":true,"next":"nowhere"')
        b.go("conversations", wait="tbody tr")
        self.liar.refuses = "cursor=nowhere"
        b.one("button.more:not([hidden])").click()
        b.until(lambda: "다시 시도" in b.text("button.more"), 10, "why")
        self.assertFalse(b.run("return document.querySelector('button.more').disabled"))
        self.assertIn("c-88", b.text("tbody"))
        b.driver.get_log("browser")

    def test_the_language_changes_and_stays(self) -> None:
        b = self.enter()
        b.go("conversations", wait="tbody tr")
        next(one for one in b.all("header button") if one.text == "English").click()
        b.until(lambda: b.text("h1") == "Conversations", 5, "English")
        self.assertEqual(b.run("return document.documentElement.lang"), "en")
        b.driver.refresh()
        b.until(lambda: b.all("h1") and b.text("h1") == "Conversations", 10, "still English")
        type(self).role = None

    def test_print_has_all_and_no_tools(self) -> None:
        b = self.enter()
        b.go("c", "c-88")
        b.look(media="print")
        self.assertFalse(b.run("return [...document.querySelectorAll('.top, .tools, .foot')].some((one) => one.offsetHeight > 0)"))
        self.assertTrue(b.run("return [...document.querySelectorAll('.versions .diff')].every((one) => one.getClientRects().length > 0)"))
        b.run("document.documentElement.dataset.look = 'dark'")
        self.assertEqual(b.run("return getComputedStyle(document.body).color"), "rgb(30, 28, 25)")
        b.run("delete document.documentElement.dataset.look")
        self.assertTrue(b.cdp("Page.printToPDF")["data"])
        b.look()

    # MARK: All pages

    def pages(self) -> List[tuple]:
        return [("reader", ("conversations",), "tbody tr"), ("reader", ("c", "c-88"), "article"), ("reader", ("c", "c-90"), "article"), ("reader", ("u", USER), "article"), ("reader", ("surveys", "만족도"), "table"),
                ("reader", ("why", self.cluster.corrected), "[role=treeitem]"), ("reader", ("users",), "h1"), ("reader", ("search",), "h1"),
                ("reader", ("verify",), ".proof"), ("auditor", ("overview",), ".figures"), ("auditor", ("access",), "h1"), ("auditor", ("erasures",), ".erasure"), ("operator", ("nodes",), "tbody tr"),
                ("operator", ("subscriptions", "medibot"), "h2"), ("operator", ("quarantine",), "tbody tr")]

    @unittest.skipUnless(AXE.exists(), "axe-core is not there: make pages-test fetches it")
    def test_axe_finds_nothing(self) -> None:
        contrast = 0
        for language in ("ko", "en"):
            for role, parts, wait in self.pages():
                b = self.enter(role, language)
                for width, dark in ((1280, False), (1280, True), (390, True), (320, False)):
                    if language == "en" and width != 1280:
                        continue
                    b.look(width, 900, dark)
                    b.go(*parts, wait=wait)
                    found = b.axe()
                    self.assertEqual(found["violations"], [], (parts, language, width, dark))
                    self.assertGreater(found["contrast"], 5, (parts, "the rule of contrast must have run"))
                    contrast = max(contrast, found["contrast"])
                    self.assertLessEqual(b.run("return document.documentElement.scrollWidth"), width, (parts, language, width))
        self.assertGreaterEqual(contrast, 100)

    @unittest.skipUnless(os.environ.get("PAGES_PICTURES"), "PAGES_PICTURES=1 writes the pictures of the documents")
    def test_pictures(self) -> None:
        b = self.enter("auditor")
        b.look(1280, 860)
        b.go("overview", wait=".figures")
        b.run("document.activeElement.blur()")
        b.picture(PICTURES / "console-overview.png")
        b.look(1280, 1240)
        b.go("c", "c-88")
        self.check()
        b.run("scrollTo(0, 0)")
        time.sleep(0.3)
        b.picture(PICTURES / "console-conversation.png")
        b.look(1280, 860, dark=True)
        b.go("c", "c-88", known=13)
        b.run("scrollTo(0, 120)")
        time.sleep(0.3)
        b.picture(PICTURES / "console-as-of-dark.png")
        b = self.enter("auditor", "en")
        b.look(390, 844)
        b.go("c", "c-88", at=self.cluster.corrected)
        time.sleep(0.3)
        b.picture(PICTURES / "console-phone.png")
        b.look(1280, 860)
        b.go("search", q="메모리 카드", wait=".results li")
        b.run("document.activeElement.blur()")
        b.picture(PICTURES / "console-search-english.png")
        b.go("why", self.cluster.corrected, wait="[role=treeitem]")
        b.picture(PICTURES / "console-why-english.png")
        b = self.enter("reader")
        b.look(390, 844, dark=True)
        b.go("surveys", "만족도")
        time.sleep(0.3)
        b.picture(PICTURES / "console-phone-dark.png")


if __name__ == "__main__":
    unittest.main()
