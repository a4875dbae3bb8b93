"""How the chat looks to one person: days and times, faces, the field that grows, light and dark; what is copied, and what is hidden."""
from __future__ import annotations

import json
import time
import unittest
import uuid
from datetime import datetime, timedelta
from typing import Any, Dict, List

from chat_case import ChatCase, Person, skip_without_browser
from chat_store import BOT, MIN, SEO, SKY
from store import KST, until


def setUpModule() -> None:
    skip_without_browser()


class ChatLookTests(ChatCase):
    def profile(self, user: str) -> Dict[str, Any]:
        lines = self.chats.daemon.ask("GET", f"/v1/users/{user}").rstrip("\n").split("\n")[:-1]
        return {one["name"]: one["value"] for one in map(json.loads, lines)}

    def person(self, user: str, more: int = 0) -> List[Person]:
        """One in so many browsers and one more, in a room of their own."""
        self.chats.say(f"c-{user}", user, None, type="conversation.started", title="혼자", category="text", participants=[user, SEO])
        token, found = self.chats.token(user), []
        for _ in range(1 + more):
            b = Person(self.chats.daemon.url())
            self.addCleanup(b.quit)
            b.enter(token)
            found.append(b)
        return found

    # MARK: Days and times

    def test_days_and_times_are_those_of_the_reader(self) -> None:
        b, c = self.sky, f"c-{uuid.uuid4()}"
        # Both sides of midnight in Seoul, and an afternoon.
        midnight = datetime(2024, 8, 25, tzinfo=KST)
        self.chats.say(c, SEO, None, type="conversation.started", at=midnight - timedelta(minutes=2), title="자정", category="text", participants=[SKY, SEO])
        for minutes, words in ((-1, "어제"), (1, "오늘"), (15 * 60 + 5, "낮")):
            self.chats.say(c, SEO, words, at=midnight + timedelta(minutes=minutes))

        def told(zone: str, language: str) -> List[List[str]]:
            b.cdp("Emulation.setTimezoneOverride", timezoneId=zone)
            b.run("localStorage.setItem('sillok.language', arguments[0])", language)
            b.driver.get(b.base + f"/chat/#/c/{c}")
            b.driver.refresh()
            b.said("낮")
            days = b.run("return [...document.querySelectorAll('.talk .day:not(.new)')].map((one) => one.innerText.replace(',', ''))")
            return [days, b.run("return [...document.querySelectorAll('article .meta > .time')].map((one) => one.innerText)")]

        def back() -> None:
            b.cdp("Emulation.setTimezoneOverride", timezoneId="Asia/Seoul")
            b.run("localStorage.setItem('sillok.language', 'ko')")
            b.driver.refresh()
            b.one(".rooms a")
        self.addCleanup(back)
        self.assertEqual(told("Asia/Seoul", "ko"), [["2024년 8월 24일 토요일", "2024년 8월 25일 일요일"], ["오후 11:59", "오전 12:01", "오후 3:05"]])
        self.assertEqual(told("Asia/Seoul", "en"), [["Saturday 24 August 2024", "Sunday 25 August 2024"], ["23:59", "0:01", "15:05"]])
        self.assertEqual(b.run("return [...document.querySelectorAll('article time')].map((one) => one.dateTime)")[0], "2024-08-24T14:59:00.000Z")
        # The same minutes, where it is another day still.
        self.assertEqual(told("America/New_York", "en"), [["Saturday 24 August 2024", "Sunday 25 August 2024"], ["10:59", "11:01", "2:05"]])
        self.assertEqual(b.run("return document.querySelectorAll('.talk .day:not(.new)')[1].closest('article').querySelector('.bubble').innerText"), "낮")

    # MARK: Faces

    def test_each_has_a_face_once_beside_what_they_say(self) -> None:
        b, c = self.sky, self.fresh("얼굴", BOT, MIN)
        for who, words in ((SEO, "하나"), (SEO, "둘"), (MIN, "셋"), (BOT, "넷"), (SKY, "다섯")):
            self.chats.say(c, who, words)
        b.talk(c)
        b.said("다섯")
        # Names come with the list of rooms.
        b.until(lambda: b.run("return [...document.querySelectorAll('article .face')].map((one) => one.innerText.trim())") == ["서", "박", "", "김"], 5, "first letters")
        self.assertEqual(len(b.all("article.bot .face svg")), 1)
        sides = b.run("return ['article.theirs', 'article.mine'].map((one) => { const row = document.querySelector(one), of = (what) => row.querySelector(what).getBoundingClientRect(); "
                      "return of('.face').right <= of('.bubble').left || -(of('.face').left >= of('.bubble').right); })")
        self.assertEqual(sides, [True, -1], "left of what others say, right of what one says")
        self.assertEqual(b.run("return document.querySelector('article .face').getAttribute('aria-hidden')"), "true")

    def test_a_photo_of_the_profile_is_ones_face(self) -> None:
        user = f"u-{uuid.uuid4().hex[:6]}"
        self.chats.daemon.ask("POST", "/v1/events", {"type": "profile.changed", "user": user, "data": {"fields": {"name": "한사진", "photo": {name: self.chats.photo[name] for name in ("sha256", "bytes", "mediaType")}}}})
        [b] = self.person(user)
        b.talk(f"c-{user}")
        b.write("저예요")
        b.said("저예요")
        b.until(lambda: b.run("return document.querySelector('article.mine .face img')?.naturalWidth") == 320, 5, "the photo")
        # One that is no picture, or is cleared, leaves the letter.
        self.chats.daemon.ask("POST", "/v1/events", {"type": "profile.changed", "user": user, "data": {"fields": {"photo": "../../chat/"}}})
        b.until(lambda: b.run("return document.querySelector('article.mine .face').innerText") == "한", 5, "the letter")
        self.assertEqual(b.complaints(), [])

    # MARK: Writing

    def test_the_field_grows_to_two_fifths_of_the_view_and_scrolls_then(self) -> None:
        b, c = self.sky, self.fresh("긴 글")
        for width, height in ((1280, 1000), (360, 640)):
            b.look(width, height)
            b.talk(c)
            field = b.one("#text")

            def tall(lines: int) -> List[float]:
                b.run("const field = arguments[0]; field.value = 'ㄱ\\n'.repeat(arguments[1]); field.dispatchEvent(new Event('input'))", field, lines)
                return b.run("const field = arguments[0], box = field.getBoundingClientRect(); return [box.height, field.scrollHeight - field.clientHeight, box.bottom]", field)
            one, few, many = tall(0), tall(4), tall(60)
            self.assertLess(one[0], few[0] - 60)
            self.assertEqual(few[1], 0, "what fits is seen whole")
            self.assertLess(few[0], many[0])
            self.assertLessEqual(many[0], height * 0.4 + 1)
            self.assertGreater(many[0], height * 0.3)
            self.assertGreater(many[1], 100, "the rest is scrolled")
            self.assertLessEqual(many[2], height)
            self.assertLessEqual(b.run("return document.querySelector('.compose .main').getBoundingClientRect().bottom"), height)
            tall(0)

    # MARK: Copying

    def test_a_message_is_copied_by_keyboard_and_it_is_said(self) -> None:
        b, c = self.sky, self.fresh("복사", BOT)
        self.chats.say(c, SKY, "어떻게 하나요?")
        text = "**물**을 드세요.\n\n1. 천천히"
        reply = self.chats.say(c, BOT, text)
        b.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=b.base)
        b.talk(c)
        b.one(f'article[data-id="{reply}"]')
        b.run("document.querySelector(arguments[0]).focus()", f'article[data-id="{reply}"] .menu summary')
        b.press("\ue007")
        b.press("\ue004", "\ue007")
        b.until(lambda: b.announced() == "복사했습니다.", 5, "it is said")
        self.assertEqual(b.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0], (error) => arguments[0](String(error)))"), text)
        self.assertEqual(b.run("return [document.activeElement.tagName, document.querySelectorAll('.menu[open]').length]"), ["SUMMARY", 0])
        # What another said has nothing else in its menu.
        self.assertEqual(b.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", f'article[data-id="{reply}"] .menu button'), ["복사"])
        b.cdp("Browser.resetPermissions")
        b.run("navigator.clipboard.writeText = () => Promise.reject(new Error())")
        b.run("document.querySelector(arguments[0]).click()", f'article[data-id="{reply}"] .menu button')
        b.until(lambda: b.announced() == "복사하지 못했습니다.", 5, "nor that it failed is kept back")
        b.driver.refresh()
        b.one(".rooms a")

    # MARK: Hiding

    def test_a_conversation_is_hidden_after_a_question_and_shown_again(self) -> None:
        b, c = self.sky, self.fresh("숨길 방")
        self.chats.say(c, SEO, "안녕")
        room = f'.rooms a[data-room="{c}"]'
        b.talk(c)
        b.one("#manage").click()
        asked = b.one("dialog").text
        for words in ("숨길 방", "내 목록에서만 사라집니다", "아무것도 지워지지 않습니다", "운영자에게"):
            self.assertIn(words, asked)
        b.press("\ue00c")
        b.until(lambda: not b.all("dialog"), 5, "left")
        self.assertEqual(len(b.all(room)), 1)
        b.one("#manage").click()
        b.one("dialog .main").click()
        b.until(lambda: not b.all(room), 5, "gone from the list")
        self.assertEqual((b.run("return location.hash"), b.announced()), ("#/", "대화를 숨겼습니다."))
        # New messages do not bring it back, nor does a new look; who speaks there sees it as before.
        self.chats.say(c, SEO, "또 왔어요")
        b.driver.refresh()
        b.one(".rooms a")
        time.sleep(0.6)
        self.assertEqual(b.all(room), [])
        self.assertIn(c, self.chats.daemon.ask("GET", f"/v1/users/{SEO}/conversations?limit=500"))
        self.assertEqual(self.chats.texts(c), ["안녕", "또 왔어요"])
        aside = "return [...document.querySelectorAll('.side nav > button')].at(-1)"
        self.assertEqual(b.run(aside).text, "숨긴 대화도 보기")
        b.run(aside).click()
        b.until(lambda: "숨길 방 (숨김)" in b.text(room), 5, "with the hidden ones")
        b.one(room).click()
        b.said("또 왔어요")
        b.one("#manage").click()
        b.one("dialog .main").click()
        b.until(lambda: "(숨김)" not in b.text(room), 5, "it is shown again")
        b.run(aside).click()
        b.until(lambda: b.run(aside).text == "숨긴 대화도 보기" and b.all(room), 5, "without the hidden ones")

    # MARK: What is loaded at a click

    def test_the_first_click_waits_for_what_it_needs_and_a_load_that_fails_is_told(self) -> None:
        c = self.fresh()
        b = Person(self.wire.base)
        self.addCleanup(b.quit)
        b.enter(self.tokens[SKY])
        b.talk(c)
        # A slow line: the click counts, and a second one opens no second sheet.
        self.wire.holds = b"GET /chat/sheets.mjs"
        b.one("#settings").click()
        b.one("#settings").click()
        time.sleep(0.5)
        self.assertEqual(b.all("dialog"), [])
        self.wire.mend()
        b.one("dialog")
        time.sleep(0.2)
        self.assertEqual(len(b.all("dialog")), 1)
        b.press("\ue00c")
        b.until(lambda: not b.all("dialog"), 5, "the sheet closes")
        self.assertEqual(b.run("return document.activeElement.id"), "settings")
        # None at all: what was chosen is not sent without the file, and can be chosen again.
        path = self.folder / "note.txt"
        path.write_text("쪽지", "utf-8")
        self.wire.cut()
        b.one("#files").send_keys(str(path))
        b.until(lambda: "노드가 답하지 않습니다" in b.text(".compose [role=alert]"), 10, "that it did not come")
        b.run("location.hash = '#/new'")
        b.until(lambda: "노드가 답하지 않습니다" in b.text("main h1"), 10, "that the page did not come")
        self.wire.mend()
        b.one("main .error button").click()
        b.one("#user")
        b.talk(c)
        b.one("#files").send_keys(str(path))
        b.until(lambda: "올림" in b.announced(), 10, "the file is up")
        b.one(".compose .main").click()
        until(lambda: len(self.chats.texts(c)) == 1)

    # MARK: Kept in the profile

    def test_the_other_page_of_the_same_person_follows_within_a_second(self) -> None:
        user = f"u-{uuid.uuid4().hex[:6]}"
        one, other = self.person(user, 1)
        state = "return [document.documentElement.dataset.look ?? null, document.documentElement.lang]"
        self.assertEqual(other.run(state), [None, "ko"])
        other.run("location.hash = arguments[0]", f"#/c/c-{user}")
        other.one("#text").send_keys("쓰던 글")
        for look, number in (("light", 1), ("dark", 2)):
            one.one("#settings").click()
            one.one("dialog p:nth-child(2) button").click()
            began = time.monotonic()
            other.until(lambda: other.run(state)[0] == look, 5, look)
            self.assertLess(time.monotonic() - began, 1)
            self.assertEqual(self.profile(user)["appearance"], number)
        self.assertEqual(other.run("return document.querySelector('#text').value"), "쓰던 글")
        one.one("#settings").click()
        one.one("dialog button[lang=en]").click()
        began = time.monotonic()
        other.until(lambda: other.run(state)[1] == "en" and other.run("return document.querySelector('#text')?.placeholder") == "Write a message", 5, "English")
        self.assertLess(time.monotonic() - began, 1)
        self.assertEqual(self.profile(user)["language"], "en")
        # What was being written is written still.
        self.assertEqual(other.run("return document.querySelector('#text').value"), "쓰던 글")
        # A browser that has kept nothing begins as the profile says.
        third = Person(self.chats.daemon.url())
        self.addCleanup(third.quit)
        third.enter(self.chats.token(user))
        third.until(lambda: third.run(state) == ["dark", "en"], 5, "as the profile says")
        one.one("#settings").click()
        one.one("dialog p:nth-child(2) button").click()
        other.until(lambda: other.run(state)[0] is None, 5, "as the system has it")
        until(lambda: self.profile(user)["appearance"] == 0)

    def test_a_profile_with_other_values_changes_nothing(self) -> None:
        user = f"u-{uuid.uuid4().hex[:6]}"
        [b] = self.person(user)
        for fields in ({"appearance": 7, "language": "ja"}, {"appearance": "dark", "language": 5, "name": {"first": 1}, "photo": 5}):
            self.chats.daemon.ask("POST", "/v1/events?ids=derived", json.dumps({"type": "profile.changed", "user": user, "data": {"fields": fields}}).encode())
            time.sleep(0.5)
        self.assertEqual(b.run("return [document.documentElement.dataset.look ?? null, document.documentElement.lang]"), [None, "ko"])
        b.talk(f"c-{user}")
        b.write("그대로")
        b.said("그대로")
        self.assertEqual(b.complaints(), [])


if __name__ == "__main__":
    unittest.main()
