"""Answers of a bot in the chat: one is awaited, cancelled, fails, and is asked for again. The bot is a script here; test_chat_bot.py has the program."""
from __future__ import annotations

import json
import time
import unittest
import uuid
from typing import Any, Dict, List

from browser import AXE
from chat_case import ChatCase, Person, skip_without_browser
from chat_store import BOT, SEO, SKY
from store import until

# How many answers stand there, awaited, being written or recorded, at each frame that is painted.
WATCH = """window.frames_ = []; window.pair = 0;
    const seen = () => document.querySelectorAll('.row.live').length + [...document.querySelectorAll('article.bot')].filter((one) => one.innerText.includes('물을')).length;
    const look = () => { window.frames_.push(seen()); requestAnimationFrame(look); }; requestAnimationFrame(look);"""


def setUpModule() -> None:
    skip_without_browser()


class ChatAnswerTests(ChatCase):
    def asked(self, conversation: str, type: str) -> List[Dict[str, Any]]:
        """Events of a type in a conversation, the oldest first."""
        lines = self.chats.daemon.ask("GET", f"/v1/conversations/{conversation}/rows?type={type}&order=oldest").rstrip("\n").split("\n")[:-1]
        return [json.loads(line)["event"] for line in lines]

    def room(self, *people: str) -> str:
        """A conversation with the bot, which has greeted."""
        c = self.fresh("봇과", BOT, *people)
        self.chats.say(c, BOT, "안녕하세요.", greeting=True)
        return c

    def failed(self, conversation: str, question: str, code: str, final: bool = True) -> str:
        return self.chats.say(conversation, BOT, None, type="bot.failed", cause=question, inReplyTo=question, code=code, final=final)

    def waits(self, b: Person, seconds: float = 5) -> None:
        b.until(lambda: "답을 기다리는 중" in b.text(".row.live .bubble"), seconds, "an answer is awaited")

    def is_free(self, b: Person) -> bool:
        return not b.all(".row.live") and b.run("document.querySelector('#text').value = 'x'; document.querySelector('#text').dispatchEvent(new Event('input')); "
                                                "const is = !document.querySelector('.compose .main').disabled; document.querySelector('#text').value = ''; "
                                                "document.querySelector('#text').dispatchEvent(new Event('input')); return is")

    # MARK: Waiting

    def test_one_bubble_stands_from_the_question_to_its_answer(self) -> None:
        b, c = self.sky, self.room()
        b.talk(c)
        b.said("안녕하세요.")
        b.one("#text").send_keys("두통이 있어요")
        b.run("""window.stood = null;
            document.querySelector('#text').addEventListener('keydown', (event) => { if (event.key === 'Enter') { const began = performance.now();
              new MutationObserver((_, self) => { if (document.querySelector('.row.live')) { window.stood = performance.now() - began; self.disconnect(); } }).observe(document.querySelector('.talk .open'), { childList: true, subtree: true }); } }, { capture: true, once: true })""")
        b.run(WATCH)
        b.press("\ue007")
        self.waits(b)
        self.assertLess(b.run("return window.stood"), 100)
        self.assertIn("답을 기다리는 중", b.announced())
        b.said("두통이 있어요")
        self.waits(b)
        question = self.cause(c)
        first = b.one(".row.live")
        for number, text in enumerate(("물을 ", "충분히 ", "드세요.")):
            self.chats.live(c, question, number, text)
            b.until(lambda: text.strip() in b.text(".row.live .bubble"), 5, text)
        self.assertEqual(b.one(".row.live"), first)
        reply = self.chats.say(c, BOT, "물을 충분히 드세요.", cause=question)
        b.one(f'article[data-id="{reply}"]')
        b.until(lambda: self.is_free(b), 5, "it waits no more")
        time.sleep(0.3)
        frames = b.run("return window.frames_")
        begun = frames[frames.index(1):]
        self.assertEqual((set(begun), len(begun) > 10), ({1}, True), "one at each frame, never two and never none")
        self.assertEqual(b.bubbles(), ["안녕하세요.", "두통이 있어요", "물을 충분히 드세요."])

    def test_a_sign_moves_only_for_who_wants_that(self) -> None:
        b, c = self.sky, self.room()
        b.talk(c)
        b.write("움직여요?")
        b.said("움직여요?")
        self.waits(b)
        moving = "return getComputedStyle(document.querySelector('.row.live .dots'), '::after').animationName"
        self.assertEqual(b.run(moving), "none")
        b.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "no-preference"}])
        self.assertEqual(b.run(moving), "wait")
        # On the other side than one's own, and it is busy.
        sides = b.run("const of = (one) => document.querySelector(one).getBoundingClientRect(); return [of('.row.live .bubble').left < of('article.mine .bubble').left, of('.row.live .bubble').right < of('article.mine .bubble').right]")
        self.assertEqual((sides, b.one(".row.live").get_attribute("aria-busy")), ([True, True], "true"))

    def test_it_is_still_awaited_after_the_page_was_loaded_anew(self) -> None:
        b, c = self.sky, self.room()
        b.talk(c)
        b.write("아직이에요?")
        b.said("아직이에요?")
        b.driver.refresh()
        b.said("아직이에요?")
        self.waits(b)
        b.one("#text").send_keys("또")
        self.assertFalse(b.one(".compose .main").is_enabled())
        self.chats.say(c, BOT, "물을 드세요.", cause=self.cause(c))
        b.said("물을 드세요.")
        b.until(lambda: b.one(".compose .main").is_enabled(), 5, "one may send again")
        b.run("document.querySelector('#text').value = ''; document.querySelector('#text').dispatchEvent(new Event('input'))")
        b.driver.refresh()
        b.said("물을 드세요.")
        time.sleep(0.3)
        self.assertEqual(b.all(".row.live"), [])

    def test_a_bot_that_has_not_spoken_here_is_known_from_elsewhere(self) -> None:
        b, c = self.sky, self.fresh("처음", BOT)
        b.talk(c)
        b.write("처음 뵙겠습니다")
        self.waits(b)

    def test_among_people_nothing_is_awaited(self) -> None:
        b, c = self.sky, self.fresh("사람끼리")
        b.talk(c)
        b.write("하나")
        b.said("하나")
        b.write("둘")
        b.said("둘")
        self.assertEqual((b.all(".row.live"), self.chats.texts(c)), ([], ["하나", "둘"]))
        # Nor of a bot that has left.
        c = self.room()
        self.chats.say(c, BOT, None, type="participant.left", user=BOT)
        b.talk(c)
        b.until(lambda: "나감: medibot" in b.text(".talk .rows"), 10, "it has left")
        b.write("아직 있나요?")
        b.said("아직 있나요?")
        self.assertTrue(self.is_free(b))
        # Nor for what another one has asked a bot.
        c = self.room()
        b.talk(c)
        self.chats.say(c, SEO, "제 질문이에요")
        b.said("제 질문이에요")
        self.assertTrue(self.is_free(b))

    # MARK: Held, cancelled

    def test_a_second_question_is_held_until_the_first_is_cancelled(self) -> None:
        b, c = self.sky, self.room()
        b.talk(c)
        b.write("첫째")
        self.waits(b)
        b.write("둘째")
        b.until(lambda: "답을 기다리는 중이라 보내지 않았습니다" in b.text(".compose [role=alert]"), 5, "it says why")
        self.assertEqual((b.run("return document.querySelector('#text').value"), b.one(".compose .main").is_enabled()), ("둘째", False))
        b.said("첫째")
        self.assertEqual(self.chats.texts(c)[1:], ["첫째"])
        question = self.cause(c)
        self.chats.live(c, question, 0, "물을 ")
        b.until(lambda: "물을" in b.text(".row.live .bubble"), 5, "a piece")
        # By keyboard, back from the field.
        from selenium.webdriver.common.action_chains import ActionChains
        for _ in range(4):
            ActionChains(b.driver).key_down("\ue008").send_keys("\ue004").key_up("\ue008").perform()
            if b.run("return document.activeElement.textContent") == "답 취소":
                break
        b.press("\ue007")
        b.until(lambda: not b.all(".row.live"), 5, "nothing is awaited")
        self.assertEqual(b.run("return document.activeElement.id"), "text")
        until(lambda: len(self.asked(c, "bot.cancelled")) == 1)
        event = self.asked(c, "bot.cancelled")[0]
        self.assertEqual((event["user"], event["data"]), (SKY, {"inReplyTo": question}))
        b.until(lambda: "답을 취소했습니다." in b.text(".talk .rows"), 5, "the record says so")
        self.assertEqual((b.text(".compose [role=alert]"), b.one(".compose .main").is_enabled()), ("", True))
        # What the bot had still said is shown no more.
        self.chats.live(c, question, 1, "충분히 ")
        time.sleep(0.4)
        self.assertEqual(b.all(".row.live"), [])
        b.press("\ue007")
        self.waits(b)
        b.said("둘째")
        # What was said can be changed while one waits.
        mine = b.said("첫째")
        mine.find_element("css selector", ".menu summary").click()
        b.one(".menu[open] button").click()
        b.write("!")
        b.said("첫째!")

    def test_a_press_that_begins_while_pieces_come_is_not_lost(self) -> None:
        from selenium.webdriver.common.action_chains import ActionChains
        b, c = self.sky, self.room()
        b.talk(c)
        b.write("길게 말해 줘")
        b.said("길게 말해 줘")
        question = self.cause(c)
        self.chats.live(c, question, 0, "물을 ")
        b.until(lambda: "물을" in b.text(".row.live .bubble"), 5, "a piece")
        ActionChains(b.driver).click_and_hold(b.one(".compose .cancel")).perform()
        self.chats.live(c, question, 1, "마셔요")
        b.until(lambda: "마셔요" in b.text(".row.live .bubble"), 5, "another piece")
        ActionChains(b.driver).release().perform()
        until(lambda: len(self.asked(c, "bot.cancelled")) == 1)

    # MARK: Failures

    def test_each_failure_has_words_of_its_own(self) -> None:
        b, c = self.sky, self.room()
        b.talk(c)
        question = self.chats.say(c, SKY, "왜요?")
        self.waits(b)
        self.failed(c, question, "network", final=False)
        time.sleep(0.3)
        self.assertEqual((b.all(".talk .note.warn"), len(b.all(".row.live"))), ([], 1), "it is tried again")
        codes = ["network", "timeout", "cut", "decode", "status", "rate", "quota", "no_key", "filtered", "too_long", "model", "of_tomorrow"]
        for number, code in enumerate(codes):
            self.failed(c, question, code)
            b.until(lambda: len(b.all(".talk .note.warn")) == number + 1, 5, code)
        korean = b.text(".talk .note.warn").replace(" 다시 묻기", "").split("\n")
        self.assertEqual(len(set(korean)), len(codes))
        self.assertEqual((korean[0], korean[8], korean[-1]), ("⚠ medibot: 답하는 곳에 닿지 못했습니다. 연결을 확인하세요.", "⚠ medibot: 안전을 위해 답하지 않습니다. 다르게 물어보세요.", "⚠ medibot: 답하지 못했습니다."))
        self.assertIn("답하지 못했습니다.", b.announced())
        self.assertTrue(self.is_free(b))
        b.run("localStorage.setItem('sillok.language', 'en')")
        self.addCleanup(lambda: (b.run("localStorage.setItem('sillok.language', 'ko')"), b.driver.refresh(), b.one(".rooms a")))
        b.driver.refresh()
        b.until(lambda: len(b.all(".talk .note.warn")) == len(codes), 10, "in English")
        english = b.text(".talk .note.warn").replace(" Ask again", "").split("\n")
        self.assertEqual((len(set(english)), english[1], english[-1]), (len(codes), "⚠ medibot: No answer came in time.", "⚠ medibot: There is no answer."))

    def test_after_a_failure_it_is_asked_again(self) -> None:
        b, c = self.sky, self.room()
        b.talk(c)
        b.write("계세요?")
        b.said("계세요?")
        question, again = self.cause(c), ".talk .note button"
        self.failed(c, question, "timeout")
        b.one(again).click()
        self.waits(b)
        until(lambda: [one["data"] for one in self.asked(c, "bot.retryRequested")] == [{"inReplyTo": question}])
        b.until(lambda: not b.all(again), 5, "it is asked already")
        # The record says that it waits, also after a new look.
        b.driver.refresh()
        self.waits(b, 10)
        self.failed(c, question, "network")
        b.until(lambda: len(b.all(again)) == 1 and len(b.all(".talk .note.warn")) == 2 and not b.all(".row.live"), 5, "the second failure has the button")
        self.assertIn("닿지 못했습니다", b.one(again).find_element("xpath", "..").text)
        b.one(again).click()
        self.waits(b)
        reply = self.chats.say(c, BOT, "물을 드세요.", cause=question)
        b.one(f'article[data-id="{reply}"]')
        b.until(lambda: self.is_free(b) and not b.all(again), 5, "it is answered")
        # What was cancelled can be asked again, too.
        b.write("하나 더")
        self.waits(b)
        b.one(".compose .cancel").click()
        b.until(lambda: "답을 취소했습니다." in b.text(".talk .rows"), 5, "cancelled")
        b.one(again).click()
        self.waits(b)

    def test_a_question_that_cannot_be_sent_awaits_nothing(self) -> None:
        b, c = self.sky, self.room()
        b.talk(c)
        b.said("안녕하세요.")
        self.wire.cut()
        b.write("못 보낸 질문")
        b.until(lambda: "보내지 못함" in b.text(".talk .open"), 10, "not sent")
        b.until(lambda: not b.all(".row.live"), 5, "nothing is awaited")
        self.wire.mend()
        b.said("못 보낸 질문", 40)
        self.waits(b)

    def test_axe_finds_nothing_while_one_waits_or_is_refused(self) -> None:
        if not AXE.is_file():
            self.skipTest("pages: no axe-core")
        b, c = self.sky, self.room()
        question = self.chats.say(c, SKY, "왜요?")
        self.failed(c, question, "filtered")
        for width, dark in ((1280, False), (360, True)):
            b.look(width, 700, dark)
            b.talk(c)
            b.one(".talk .note button")
            self.assertEqual(b.axe()["violations"], [], f"failed {width}")
            b.one(".talk .note button").click()
            self.waits(b)
            b.write("또")
            b.until(lambda: b.text(".compose [role=alert]"), 5, "held")
            self.assertEqual(b.axe()["violations"], [], f"awaited {width}")
            self.assertLessEqual(b.run("return document.documentElement.scrollWidth"), width)
            b.run("document.querySelector('#text').value = ''; document.querySelector('#text').dispatchEvent(new Event('input'))")
            b.one("#manage").click()
            self.assertEqual(b.axe()["violations"], [], f"asked {width}")
            b.press("\ue00c")
            self.failed(c, question, "quota")
            b.one(".talk .note button")
            b.run("location.hash = '#/'")

    # MARK: What bots send

    def test_a_picture_and_a_sound_of_the_bot_are_shown_and_played(self) -> None:
        b, c = self.sky, self.room()
        b.talk(c)
        b.write("그려 줘")
        b.said("그려 줘")
        reply = self.chats.say(c, BOT, "그렸어요.", cause=self.cause(c), attachments=[self.chats.photo])
        shown = b.until(lambda: b.run("const one = document.querySelector(arguments[0] + ' img:not(.face img)'); return one?.complete && one.naturalWidth ? [one.naturalWidth, one.alt] : null", f'article[data-id="{reply}"]'), 10, "the picture")
        self.assertEqual(shown, [320, "들판 위의 맑은 하늘"])
        b.write("말해 줘")
        b.said("말해 줘")
        reply = self.chats.say(c, BOT, None, cause=self.cause(c), attachments=[{**self.chats.sound, "transcript": "물을 드세요."}])
        b.one(f'article[data-id="{reply}"] audio')
        self.assertIn("물을 드세요.", b.text(f'article[data-id="{reply}"]'))
        self.assertIn("음성 메시지", b.one(f'article[data-id="{reply}"] audio').get_attribute("aria-label"))
        played = b.driver.execute_async_script("const done = arguments[1], sound = document.querySelector(arguments[0] + ' audio'); sound.addEventListener('ended', () => done(sound.currentTime)); sound.addEventListener('error', () => done(String(sound.error?.message))); sound.play();",
                                               f'article[data-id="{reply}"]')
        self.assertAlmostEqual(played, 0.5, delta=0.1)
        self.assertTrue(self.is_free(b))

    def test_a_voice_is_a_question_where_the_conversation_is_of_voices(self) -> None:
        b = self.sky
        for category, awaited in (("text", 0), ("voice", 1)):
            c = f"c-{uuid.uuid4()}"
            self.chats.say(c, SKY, None, type="conversation.started", title=category, category=category, participants=[SKY, BOT])
            self.chats.say(c, BOT, "안녕하세요.", greeting=True)
            self.chats.say(c, SKY, None, attachments=[self.chats.sound])
            b.talk(c)
            b.one("article.mine audio")
            b.until(lambda: len(b.all(".row.live")) == awaited, 5, category)


if __name__ == "__main__":
    unittest.main()
