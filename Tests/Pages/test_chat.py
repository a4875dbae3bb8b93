"""The chat, as people use it: two of them and a bot, with the network as it is, by keyboard, and on a phone."""
from __future__ import annotations

import base64
import json
import os
import time
import unittest
import uuid
from pathlib import Path
from typing import List, Tuple

from browser import AXE, PICTURES
from chat_case import ChatCase, Person, skip_without_browser
from chat_store import BOT, Chats, MIN, SEO, SKY, picture
from store import HOSTILE, until

MANY = int(os.environ.get("SILLOK_CHAT_MANY", "100000"))


def setUpModule() -> None:
    skip_without_browser()


class ChatTests(ChatCase):
    many = MANY

    # MARK: The way in

    def test_a_token_of_no_user_and_a_wrong_one_open_nothing(self) -> None:
        b = Person(self.wire.base)
        self.addCleanup(b.quit)
        b.driver.get(b.base + "/chat/")
        b.run("localStorage.setItem('sillok.language', 'ko')")
        b.driver.refresh()
        b.one("#token").send_keys("slk1_wrong\n")
        b.until(lambda: "통하지 않는" in b.text("[role=alert]"))
        operator = json.loads(self.chats.daemon.ask("POST", "/v1/credentials", {"principal": "op/x", "roles": ["reader"], "scope": "all"}))["token"]
        b.run("document.querySelector('#token').value = ''")
        b.one("#token").send_keys(operator + "\n")
        b.until(lambda: "사용자의 토큰이 아닙니다" in b.text("[role=alert]"))
        self.assertEqual(b.all(".rooms"), [])

    def test_rooms_say_who_what_and_how_much_is_new(self) -> None:
        c = self.fresh("새 글이 있는 방")
        self.chats.say(c, SEO, "첫째")
        self.chats.say(c, SEO, None, attachments=[self.chats.photo])
        self.sky.run("location.hash = '#/'")
        room = f'.rooms a[data-room="{c}"]'
        self.sky.until(lambda: "사진" in self.sky.text(room) and "2" in self.sky.text(room + " .badge"), 10, "the room")
        self.assertIn("새 글이 있는 방", self.sky.text(room))
        self.assertIn("읽지 않은 글 2건", self.sky.run("return document.querySelector(arguments[0]).textContent", room))
        self.assertEqual(self.sky.run("return document.querySelector('.rooms a').dataset.room"), c)
        self.assertTrue(self.sky.run("return document.title").startswith("("))
        # A contact has the name that was kept, in the list of rooms, too.
        self.sky.until(lambda: "서준 (회사)" in self.sky.text(f'.rooms a[data-room="{self.chats.pair}"]'))

    def test_a_room_that_is_further_down_is_called_by_its_name_and_read(self) -> None:
        who = "u-many"
        for number in range(56):
            c = f"c-many-{number}"
            self.chats.say(c, who, None, type="conversation.started", title=f"방 {number}", category="text", participants=[who, SEO])
            self.chats.say(c, SEO, f"글 {number}")
        b = Person(self.wire.base)
        self.addCleanup(b.quit)
        b.enter(self.chats.token(who))
        c = next(f"c-many-{number}" for number in range(56) if not b.all(f'.rooms a[data-room="c-many-{number}"]'))
        self.assertEqual(len(b.all(".rooms a")), 50)
        b.run("location.hash = arguments[0]", f"#/c/{c}")
        b.until(lambda: b.text("h1") == f"방 {c.split('-')[-1]}" and b.text(".people") == "이서준", 10, "its name")
        until(lambda: self.chats.unread(who, c) == 0, 5)
        b.one(".side .more").click()
        b.one(f'.rooms a[data-room="{c}"]')

    # MARK: Talking

    def test_what_is_sent_stands_at_once_and_once(self) -> None:
        b, c = self.sky, self.fresh()
        b.talk(c)
        b.one("#text").send_keys("안녕하세요 <b>여러분</b>")
        b.run("""window.stood = null;
            const open = document.querySelector('.talk .open');
            document.querySelector('#text').addEventListener('keydown', (event) => { if (event.key === 'Enter') { const began = performance.now();
              new MutationObserver((_, self) => { if (open.innerText.includes('여러분')) { window.stood = performance.now() - began; self.disconnect(); } }).observe(open, { childList: true, subtree: true }); } }, { capture: true })""")
        b.press("\ue007")
        b.until(lambda: b.run("return window.stood !== null"), 5, "the bubble")
        self.assertLess(b.run("return window.stood"), 100)
        row = b.said("여러분")
        b.until(lambda: not b.all(".talk .open .row"), 5, "it is on its way no more")
        self.assertEqual([one for one in b.bubbles() if "여러분" in one], ["안녕하세요 <b>여러분</b>"])
        self.assertIn("mine", row.get_attribute("class"))
        self.assertEqual(self.chats.texts(c), ["안녕하세요 <b>여러분</b>"])
        self.assertEqual(b.run("return document.querySelector('#text').value"), "")

    def test_enter_sends_and_never_while_a_syllable_is_put_together(self) -> None:
        b, c = self.sky, self.fresh()
        b.talk(c)
        b.run("""const field = document.querySelector('#text'); field.value = '한'; field.dispatchEvent(new Event('input'));
            field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }))""")
        time.sleep(0.2)
        self.assertEqual(self.chats.texts(c), [])
        from selenium.webdriver.common.action_chains import ActionChains
        b.one("#text").click()
        ActionChains(b.driver).send_keys("글").key_down("\ue008").send_keys("\ue007").key_up("\ue008").send_keys("둘째 줄").send_keys("\ue007").perform()
        until(lambda: self.chats.texts(c) == ["한글\n둘째 줄"])

    def test_two_see_each_other_at_once(self) -> None:
        seo, b, c = self.other(), self.sky, self.fresh("둘의 방")
        b.talk(c)
        seo.talk(c)
        seo.write("들려요?")
        b.said("들려요?")
        self.assertIn("서준 (회사)", b.run("return [...document.querySelectorAll('article')].at(-1).getAttribute('aria-label')") + b.text("article .who"))
        b.until(lambda: "들려요?" in b.announced(), 5, "it is said")
        b.write("네!")
        seo.said("네!")
        # Both have read it.
        until(lambda: self.chats.unread(SKY, c) == 0 and self.chats.unread(SEO, c) == 0)

    def test_edits_and_retractions_come_while_one_looks(self) -> None:
        b, c = self.sky, self.fresh()
        ids = [self.chats.say(c, SEO, text) for text in ("하나", "둘", "셋")]
        b.talk(c)
        b.said("셋")
        self.chats.say(c, SEO, None, type="message.edited", message=ids[0], text="하나 반")
        self.chats.say(c, SEO, None, type="message.retracted", message=ids[1])
        b.until(lambda: b.bubbles() == ["하나 반", "거둬들인 글입니다.", "셋"], 5, "edit and retraction")
        self.assertIn("고침", b.text(f'article[data-id="{ids[0]}"]'))
        b.one(f'article[data-id="{ids[0]}"] .before summary').click()
        self.assertIn("하나", b.text(f'article[data-id="{ids[0]}"] .before p'))
        # What another wrote stands beside, under that name, and changes nothing.
        line = {"type": "message.edited", "user": MIN, "author": MIN, "subject": f"conversation/{c}", "data": {"message": ids[2], "text": "넷"}}
        self.chats.daemon.ask("POST", "/v1/events?ids=derived", json.dumps(line).encode())
        b.until(lambda: "정정: 박민지" in b.text(f'article[data-id="{ids[2]}"]'), 5, "the correction")
        self.assertEqual(b.bubbles()[2], "셋")

    def test_what_one_said_can_be_edited_and_taken_back(self) -> None:
        b, c = self.sky, self.fresh()
        ids = [self.chats.say(c, SKY, text) for text in ("오타이다", "비밀")]
        b.talk(c)
        b.one("#text").send_keys("쓰던 글")
        b.one(f'article[data-id="{ids[0]}"] .menu summary').click()
        b.one(f'article[data-id="{ids[0]}"] .menu button').click()
        self.assertEqual(b.run("return document.querySelector('#text').value"), "오타이다")
        b.write("!")
        b.until(lambda: "오타이다!" in b.bubbles(), 5, "the edit")
        self.assertEqual(b.run("return document.querySelector('#text').value"), "쓰던 글")
        b.one(f'article[data-id="{ids[1]}"] .menu summary').click()
        b.all(f'article[data-id="{ids[1]}"] .menu button')[1].click()
        self.assertIn("비밀", b.one("dialog").text)
        b.one("dialog .main").click()
        b.until(lambda: b.bubbles() == ["오타이다!", "내가 거둬들인 글입니다."], 5, "the retraction")
        b.until(lambda: not b.all(".talk .open .row"), 5, "nothing is on its way")
        b.run("document.querySelector('#text').value = ''; document.querySelector('#text').dispatchEvent(new Event('input'))")

    def test_a_bot_answers_piece_by_piece(self) -> None:
        b, c = self.sky, self.fresh("봇과", BOT)
        b.talk(c)
        b.write("두통이 있어요")
        b.said("두통이 있어요")
        cause = self.cause(c)
        for number, text in enumerate(("물을 ", "충분히 ", "드세요.")):
            self.chats.live(c, cause, number, text)
            b.until(lambda: text.strip() in b.text(".row.live .bubble"), 5, text)
        self.assertEqual(b.all("article.bot"), [])
        self.assertIn("답하는 중", b.announced())
        reply = self.chats.say(c, BOT, "물을 충분히 드세요. 언제부터 아프셨나요?", cause=cause)
        b.one(f'article[data-id="{reply}"]')
        b.until(lambda: not b.all(".row.live"), 5, "the pieces are gone")
        self.assertEqual(b.bubbles(), ["두통이 있어요", "물을 충분히 드세요. 언제부터 아프셨나요?"])
        self.assertIn("언제부터", b.announced())
        # A piece is missing: nothing half is shown, and the stored reply ends it.
        self.chats.live(c, reply, 0, "하나 ")
        self.chats.live(c, reply, 2, "셋 ")
        b.until(lambda: b.all(".row.live") and "하나" not in b.text(".row.live"), 5, "the gap")
        for code, words in (("timeout", "제때 답이 오지 않았습니다"), ("filtered", "안전을 위해"), ("no_data", "비어 있습니다")):
            self.chats.say(c, BOT, None, type="bot.failed", cause=reply, inReplyTo=reply, code=code, final=True)
            b.until(lambda: not b.all(".row.live") and words in b.text(), 5, "the failure")
        self.chats.say(c, BOT, "배가 아파요", type="bot.transcribed", cause=cause)
        b.until(lambda: "들은 말 “배가 아파요”" in b.text(), 5, "what was heard")

    def cause(self, conversation: str) -> str:
        line = self.chats.daemon.ask("GET", f"/v1/conversations/{conversation}/rows?limit=1&type=message.posted").split("\n")[0]
        return json.loads(line)["event"]["id"]

    def test_a_survey_is_answered_once(self) -> None:
        b = self.sky
        b.talk(self.chats.bot)
        group = f'article[data-id="{self.chats.offer}"]'
        buttons = b.all(group + " .choices button")
        self.assertEqual([one.text for one in buttons], ["매우 만족", "보통", "불만족"])
        buttons[0].click()
        b.until(lambda: b.text(group + " [aria-pressed=true]") == "✓ 매우 만족", 5, "it is chosen")
        answers = f"/v1/conversations/{self.chats.bot}/rows?type=survey.answered"
        until(lambda: len(self.chats.daemon.ask("GET", answers).rstrip("\n").split("\n")) == 2)
        event = json.loads(self.chats.daemon.ask("GET", answers).split("\n")[0])["event"]
        self.assertEqual((event["cause"], event["data"]), (self.chats.offer, {"survey": "satisfaction", "question": "helped", "choice": "satisfied", "about": self.chats.replied}))
        b.driver.refresh()
        b.until(lambda: b.text(group + " [aria-pressed=true]") == "✓ 매우 만족", 10, "it stays chosen")
        b.until(lambda: b.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.disabled)", group + " .choices button") == [False, True, True], 5, "the others are locked")
        b.run("document.querySelector(arguments[0]).click()", group + " .choices button")
        time.sleep(0.3)
        self.assertEqual(len(self.chats.daemon.ask("GET", answers).rstrip("\n").split("\n")), 2)

    # MARK: The network

    def test_without_the_network_nothing_is_lost_and_nothing_doubled(self) -> None:
        b, c = self.sky, self.fresh("끊김")
        self.chats.say(c, SEO, "전에")
        b.talk(c)
        b.said("전에")
        self.wire.cut()
        b.write("보낸 것 1")
        b.write("보낸 것 2")
        b.until(lambda: "보내지 못함" in b.text(".talk .open") and "다시 시도" in b.text(".talk .open"), 10, "not sent")
        b.until(lambda: b.one("#offline").is_displayed(), 10, "the bar")
        self.assertLessEqual(b.run("return document.querySelector('#offline').getBoundingClientRect().bottom - document.querySelector('.talk > .head').getBoundingClientRect().top"), 0)
        edited = self.chats.say(c, SEO, "받은 것 1")
        self.chats.say(c, SEO, None, type="message.edited", message=edited, text="받은 것 1, 고침")
        self.chats.say(c, SEO, "받은 것 2")
        self.wire.mend()
        # It may be on its way again by itself already.
        b.run("document.querySelector('.talk .open .failed button')?.click()")
        b.until(lambda: not b.all(".talk .open .row"), 20, "all is sent")
        b.until(lambda: sorted(b.bubbles()) == sorted(["전에", "받은 것 1, 고침", "받은 것 2", "보낸 것 1", "보낸 것 2"]), 20, "all is there once")
        self.assertEqual(self.chats.texts(c), ["전에", "받은 것 1", "받은 것 2", "보낸 것 1", "보낸 것 2"] if self.chats.texts(c)[1] == "받은 것 1" else ["전에", "보낸 것 1", "보낸 것 2", "받은 것 1", "받은 것 2"])
        b.until(lambda: not b.one("#offline").is_displayed(), 10, "the bar goes")

    def test_what_comes_between_the_first_rows_and_the_feed_is_not_missed(self) -> None:
        b, c = self.sky, self.fresh("사이")
        self.chats.say(c, SEO, "처음")
        b.talk(c)
        self.wire.holds = b"GET /v1/changes"
        b.driver.refresh()
        b.said("처음")
        self.chats.say(c, SEO, "사이에")
        time.sleep(0.5)
        self.assertEqual(b.bubbles(), ["처음"])
        self.wire.mend()
        b.said("사이에")
        self.chats.say(c, SEO, "나중에")
        b.until(lambda: b.bubbles() == ["처음", "사이에", "나중에"], 5, "each once")

    def test_an_answer_that_is_lost_doubles_nothing(self) -> None:
        b, c = self.sky, self.fresh("답이 사라짐")
        b.talk(c)
        self.wire.isDeaf = True
        b.write("한 번만")
        until(lambda: self.chats.texts(c) == ["한 번만"])
        b.until(lambda: "보내지 못함" in b.text(".talk .open"), 10, "it looks as if it were not sent")
        self.wire.mend()
        self.wire.cut()
        self.wire.mend()
        b.until(lambda: not b.all(".talk .open .row") and b.bubbles() == ["한 번만"], 40, "it stands there once")
        self.assertEqual(self.chats.texts(c), ["한 번만"])

    def test_what_was_not_sent_outlives_the_page(self) -> None:
        b, c = self.sky, self.fresh("다시 엶")
        b.talk(c)
        self.wire.cut()
        b.write("나중에 감")
        b.until(lambda: "보내지 못함" in b.text(".talk .open"), 10, "not sent")
        self.wire.mend()
        b.driver.get("about:blank")
        self.assertEqual(self.chats.texts(c), [])
        b.driver.get(b.base + f"/chat/#/c/{c}")
        b.said("나중에 감")
        self.assertEqual(self.chats.texts(c), ["나중에 감"])

    def test_a_session_that_ends_asks_for_the_token_and_keeps_what_was_written(self) -> None:
        b, c = self.sky, self.fresh("끝난 세션")
        b.talk(c)
        b.run("return fetch('/v1/sessions', { method: 'DELETE' })")
        b.write("들어온 뒤에")
        b.one("#token", 20)
        self.assertEqual(self.chats.texts(c), [])
        b.sign(self.tokens[SKY])
        until(lambda: self.chats.texts(c) == ["들어온 뒤에"], 10)

    def test_what_comes_in_bursts_is_shown_in_the_order_of_the_log(self) -> None:
        b, c = self.sky, self.fresh("많이")
        b.talk(c)
        lines = "\n".join(json.dumps({"id": str(uuid.uuid4()), "type": "message.posted", "user": SEO, "subject": f"conversation/{c}", "data": {"text": f"{number:03}"}}) for number in range(200))
        self.chats.daemon.ask("POST", "/v1/events", lines.encode())
        b.until(lambda: b.bubbles() == [f"{number:03}" for number in range(200)], 20, "200 rows")
        self.assertTrue(b.run("return innerHeight + scrollY >= document.documentElement.scrollHeight - 2"))

    # MARK: Reading

    def test_what_is_seen_is_read_and_what_is_not_is_not(self) -> None:
        b, c = self.sky, self.fresh("읽음")
        for number in range(40):
            self.chats.say(c, SKY if number < 5 else SEO, f"글 {number}\n한 줄 더")
        self.assertEqual(self.chats.unread(SKY, c), 35)
        b.run("location.hash = '#/'")
        b.until(lambda: "35" in b.text(f'.rooms a[data-room="{c}"] .badge'), 10, "the badge")
        b.talk(c)
        divider = b.one("#unread")
        self.assertTrue(divider.find_element("xpath", "..//div[contains(@class, 'bubble')]").text.startswith("글 5"))
        b.until(lambda: b.run("return document.querySelector('#unread').getBoundingClientRect().top > 0 && document.querySelector('.down').checkVisibility()"), 5, "what is new begins in view")
        time.sleep(0.8)
        self.assertEqual(self.chats.unread(SKY, c), 35)
        b.one(".down").click()
        until(lambda: self.chats.unread(SKY, c) == 0, 5)
        b.until(lambda: not b.all(f'.rooms a[data-room="{c}"] .badge'), 5, "no badge")
        # What comes while one looks elsewhere in it is counted, and not read.
        b.run("scrollTo(0, 0)")
        time.sleep(0.2)
        self.chats.say(c, SEO, "아래에")
        b.until(lambda: "새 글 1건" in b.text(".down"), 5, "it is told of")
        time.sleep(0.6)
        self.assertEqual(self.chats.unread(SKY, c), 1)
        b.one(".down").click()
        until(lambda: self.chats.unread(SKY, c) == 0, 5)

    # MARK: Pictures and voices

    def test_a_picture_goes_up_with_its_description(self) -> None:
        b, c = self.sky, self.fresh("사진")
        path = self.folder / "들판.png"
        path.write_bytes(picture(2_600, 1_300))
        b.talk(c)
        b.run("document.querySelector('#files').classList.remove('unseen')")
        b.one("#files").send_keys(str(path))
        b.until(lambda: b.all(".picked img") and not b.all(".picked progress"), 30, "it is up")
        self.assertIn("올림", b.announced())
        b.one(".picked input[type=text]").send_keys("하늘과 들판")
        b.write("보세요")
        row = b.said("보세요")
        shown = b.until(lambda: b.run("const one = arguments[0].querySelector('img'); return one?.complete && one.naturalWidth ? [one.naturalWidth, one.naturalHeight, one.alt] : null", b.said("보세요")), 10, "the picture")
        self.assertEqual(shown, [2_048, 1_024, "하늘과 들판"])
        item = json.loads(self.chats.daemon.ask("GET", f"/v1/conversations/{c}/rows?limit=1").split("\n")[0])["event"]["data"]["attachments"][0]
        self.assertEqual({name: item[name] for name in ("mediaType", "width", "height", "alt", "name")}, {"mediaType": "image/png", "width": 2_048, "height": 1_024, "alt": "하늘과 들판", "name": "들판.png"})
        self.assertEqual(b.all(".picked li"), [])

    def test_what_is_written_and_chosen_stays_while_one_looks_elsewhere(self) -> None:
        b, c = self.sky, self.fresh("두고 감")
        b.talk(c)
        b.one("#text").send_keys("쓰던 글")
        # What is not up yet is not sent, nor what was written beside it.
        self.assertEqual(b.run("""const bytes = Uint8Array.from(atob(arguments[0]), (letter) => letter.charCodeAt(0)), data = new DataTransfer();
            data.items.add(new File([bytes], 'b.png', { type: 'image/png' }));
            document.querySelector('#files').files = data.files;
            document.querySelector('#files').dispatchEvent(new Event('change'));
            document.querySelector('#text').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
            return [document.querySelector('.compose .main').disabled, document.querySelector('#text').value]""", base64.b64encode(picture(64, 64)).decode()), [True, "쓰던 글"])
        b.talk(self.chats.pair)
        self.assertEqual((b.run("return document.querySelector('#text').value"), b.all(".picked li")), ("", []))
        b.talk(c)
        b.until(lambda: b.one(".compose .main").is_enabled(), 10, "it went up meanwhile")
        self.assertEqual((b.run("return document.querySelector('#text').value"), len(b.all(".picked li"))), ("쓰던 글", 1))
        b.one(".compose .main").click()
        b.said("쓰던 글")
        b.until(lambda: b.run("return document.querySelector('article .picture img')?.complete"), 5, "the picture")
        # The whole picture opens beside, with the same session.
        here = b.driver.current_window_handle
        b.one("article .picture").click()
        b.until(lambda: len(b.driver.window_handles) == 2, 5, "a second tab")
        b.driver.switch_to.window(next(one for one in b.driver.window_handles if one != here))
        b.until(lambda: b.run("return document.images[0]?.naturalWidth") == 64, 5, "the picture itself")
        b.driver.close()
        b.driver.switch_to.window(here)
        # What Chromium lays around a picture of its own is not let in by the picture's policy, and it says so.
        b.complaints()

    def test_an_upload_that_breaks_can_be_tried_again_or_left(self) -> None:
        b, c = self.sky, self.fresh("끊긴 사진")
        path = self.folder / "a.png"
        path.write_bytes(picture(64, 64))
        b.talk(c)
        b.run("document.querySelector('#files').classList.remove('unseen')")
        self.wire.cut()
        b.one("#files").send_keys(str(path))
        b.until(lambda: "올리지 못했습니다" in b.text(".picked"), 10, "it failed")
        self.assertFalse(b.one(".compose .main").is_enabled())
        self.wire.mend()
        b.one(".picked .problem button").click()
        b.until(lambda: b.one(".compose .main").is_enabled(), 10, "it is up")
        b.one(".picked .tool").click()
        self.assertEqual((b.all(".picked li"), b.one(".compose .main").is_enabled()), ([], False))

    def test_a_voice_is_played_and_recorded(self) -> None:
        b = self.sky
        b.talk(self.chats.pair)
        played = b.driver.execute_async_script("""const done = arguments[1], sound = document.querySelector(arguments[0] + ' audio');
            sound.addEventListener('ended', () => done(sound.currentTime)); sound.addEventListener('error', () => done(String(sound.error?.message))); sound.play();""",
                                               f'article[data-id="{self.chats.spoken}"]')
        self.assertAlmostEqual(played, 0.5, delta=0.1)
        c = self.fresh("녹음")
        b.talk(c)
        b.all(".compose .tool")[1].click()
        b.until(lambda: b.all(".recording button") and b.one(".recording meter").get_attribute("value") not in ("0", None), 10, "it records")
        time.sleep(0.7)
        if b.all(".recording:not([hidden]) button"):
            b.all(".recording button")[0].click()
        b.until(lambda: b.one(".compose .main").is_enabled(), 20, "it is up")
        b.one(".compose .main").click()
        b.one("article audio")
        item = json.loads(self.chats.daemon.ask("GET", f"/v1/conversations/{c}/rows?limit=1").split("\n")[0])["event"]["data"]["attachments"][0]
        self.assertEqual(item["mediaType"], "audio/webm")
        self.assertGreater(item["duration_ms"], 300)
        self.sky.until(lambda: "음성" in self.sky.text(f'.rooms a[data-room="{c}"]'), 5, "the list says what it is")

    # MARK: People and search

    def test_a_conversation_of_two_begins_with_an_id_or_a_contact(self) -> None:
        b, who = self.sky, f"u-{uuid.uuid4().hex[:6]}"
        b.run("location.hash = '#/new'")
        b.one("#user").send_keys(who)
        b.one("#name").send_keys("새 친구")
        b.all(".buttons button")[1].click()
        b.until(lambda: "새 친구" in b.text(".contacts"), 5, "the contact")
        b.one("#filter").send_keys("새")
        b.until(lambda: len(b.all(".contacts li")) == 1, 5, "one begins so")
        b.one(".contacts button").click()
        b.until(lambda: b.run("return location.hash").startswith("#/c/dm-"), 5, "the conversation")
        b.until(lambda: b.text("h1") == "새 친구", 5, "it is called so")
        b.write("처음 뵙겠습니다")
        b.said("처음 뵙겠습니다")
        self.assertEqual(self.chats.unread(who, b.run("return location.hash")[4:]), 1)
        b.run("location.hash = '#/new'")
        b.one("#filter").send_keys("새 친구")
        b.until(lambda: len(b.all(".contacts li")) == 1, 5, "found")
        b.one(".contacts .tool").click()
        b.until(lambda: "새 친구" not in b.text(".contacts"), 5, "removed")

    def test_search_finds_marks_and_jumps(self) -> None:
        b, c = self.sky, self.fresh("찾기")
        word = "다람쥐"
        ids = [self.chats.say(c, SEO, f"{'나무 ' * 3}{word} {number}" if number % 50 == 7 else f"다른 글 {number}") for number in range(150)]
        hits = [one for number, one in enumerate(ids) if number % 50 == 7]
        b.talk(c)
        b.one(".talk > .head .tool:last-of-type").click()
        # FE-002: one can write at once, in a field that says what it is for.
        b.until(lambda: b.run("return [document.activeElement.id, document.activeElement.placeholder]") == ["q", "이전 대화를 검색하세요"], 5, "the field has the focus")
        b.press(word, "\ue007")
        b.until(lambda: len(b.all(".results li")) == 3, 10, "three hits")
        self.assertEqual((b.text("[role=status].help"), b.text(".results mark").split("\n")), ("모두 3건", [word] * 3))
        b.all(".results a")[2].click()
        row = b.one(f'article.hit[data-id="{hits[0]}"]')
        b.until(lambda: b.run("const box = arguments[0].getBoundingClientRect(); return box.top > 50 && box.bottom < innerHeight", b.one(f'article.hit[data-id="{hits[0]}"]')), 5, "it is in view")
        self.assertEqual(b.text(f'article[data-id="{hits[0]}"] mark'), word)
        self.assertIn("3건 중 3번째", b.text(".hits"))
        b.all(".hits .tool")[0].click()
        b.one(f'article.hit[data-id="{hits[1]}"]')
        # S0-6: cancelled, the whole conversation stands there again, and nothing is marked.
        b.all(".hits .tool")[-1].click()
        b.until(lambda: not b.all("article.hit, article mark") and b.bubbles()[-1:] == ["다른 글 149"], 10, "as before the search")
        self.assertEqual((b.one(".hits").is_displayed(), "at=" in b.driver.current_url), (False, False))
        b.one(".talk > .head .tool:last-of-type").click()
        b.one("#q").send_keys(word + "\n")
        b.until(lambda: len(b.all(".results li")) == 3, 10, "three hits again")
        b.one("form[role=search] .tool").click()
        b.until(lambda: not b.all("#q") and b.bubbles()[-1:] == ["다른 글 149"], 10, "as before the search")
        # It is remembered until it is forgotten.
        b.run("location.hash = '#/search'")
        b.until(lambda: word in b.text(".recent"), 5, "remembered")
        b.one(".recent .tool").click()
        b.until(lambda: word not in b.text(".recent"), 5, "forgotten")
        self.assertTrue(row)

    # MARK: For everyone

    def test_it_can_be_used_with_the_keyboard_alone(self) -> None:
        b, c = self.sky, self.fresh("자판")
        ids = [self.chats.say(c, SEO, f"글 {number}") for number in range(5)]
        b.run("location.hash = '#/'")
        b.until(lambda: b.all(f'.rooms a[data-room="{c}"]'), 10, "the room")
        b.run("document.activeElement.blur(); scrollTo(0, 0)")
        for _ in range(12):
            b.press("\ue004")
            if b.run("return document.activeElement.dataset.room") == c:
                break
        self.assertEqual(b.run("return document.activeElement.dataset.room"), c)
        b.press("\ue007")
        b.until(lambda: b.run("return document.activeElement.id") == "text", 10, "one can write at once")
        b.press("자판으로", "\ue007")
        b.said("자판으로")
        b.run("document.querySelector(arguments[0]).focus()", f'article[data-id="{ids[2]}"]')
        b.press("\ue00f")
        self.assertEqual(b.run("return document.activeElement.dataset.id"), ids[3])
        b.press("\ue00e", "\ue00e")
        self.assertEqual(b.run("return document.activeElement.dataset.id"), ids[1])
        b.run("document.getElementById('settings').focus()")
        b.press("\ue007")
        b.one("dialog[open]")
        b.press("\ue00c")
        b.until(lambda: not b.all("dialog"), 5, "the sheet closes")
        self.assertEqual(b.run("return document.activeElement.id"), "settings")

    def views(self) -> List[Tuple[str, str]]:
        return [("home", "#/"), ("pair", f"#/c/{self.chats.pair}"), ("bot", f"#/c/{self.chats.bot}"), ("group", f"#/c/{self.chats.group}"), ("people", "#/new"), ("search", "#/search?q=%EC%82%AC%EC%A7%84")]

    def test_axe_finds_nothing(self) -> None:
        if not AXE.is_file():
            self.skipTest("pages: no axe-core")
        b, contrast = self.sky, 0
        for width, dark in ((1280, False), (1280, True), (390, True), (390, False)):
            b.look(width, 844, dark)
            for name, hash in self.views():
                b.run("location.hash = arguments[0]", hash)
                b.until(lambda: b.run("return !document.querySelector('#main [aria-busy=true]') && Boolean(document.querySelector('h1'))"), 10, name)
                time.sleep(0.4)
                found = b.axe()
                self.assertEqual(found["violations"], [], f"{name} {width} {dark}")
                contrast += found["contrast"]
        self.assertGreater(contrast, 100)

    def test_a_phone_shows_one_pane_and_all_of_it(self) -> None:
        b = self.sky
        for width, height in ((360, 640), (390, 844)):
            b.look(width, height)
            for name, hash in self.views():
                b.run("location.hash = arguments[0]", hash)
                time.sleep(0.6)
                self.assertLessEqual(b.run("return document.documentElement.scrollWidth"), width, name)
                self.assertEqual(b.run("return document.querySelector('.side').checkVisibility()"), name == "home", name)
                small = b.run("""return [...document.querySelectorAll('button, a.tool, .rooms a, input, textarea, summary')].filter((one) => one.checkVisibility() && !one.closest('.unseen') && !one.matches('.unseen, .inline, .before summary, .skip'))
                    .map((one) => [one.getBoundingClientRect(), one]).filter(([box]) => box.width && (box.height < 36 || box.width < 36)).map(([box, one]) => one.outerHTML.slice(0, 80))""")
                self.assertEqual(small, [], name)
            b.run("location.hash = arguments[0]", f"#/c/{self.chats.pair}")
            time.sleep(0.6)
            # Where one writes is always in view, and the way back leads to the list.
            self.assertLessEqual(b.run("scrollTo(0, 0); return document.querySelector('.compose').getBoundingClientRect().bottom"), height)
            b.one(".talk .back").click()
            b.until(lambda: b.run("return document.querySelector('.side').checkVisibility()"), 5, "the list")

    def test_both_languages_and_looks_are_kept(self) -> None:
        b = self.sky
        # What is chosen stands in the profile, too: the others want it as it was.
        self.addCleanup(self.restore)
        b.talk(self.chats.pair)
        b.one("#settings").click()
        b.one("dialog button[lang=en]").click()
        b.until(lambda: b.run("return document.activeElement.id") == "settings", 5, "back to where one was")
        self.assertEqual(b.run("return [document.documentElement.lang, document.querySelector('#text').placeholder]"), ["en", "Write a message"])
        self.assertIn("This was taken back.", b.text())
        self.assertIn("edited", b.text())
        b.one(".talk > .head .tool:last-of-type").click()
        b.until(lambda: b.run("return [document.activeElement.id, document.activeElement.placeholder]") == ["q", "Search earlier messages"], 5, "the field of the search")
        b.one("form[role=search] .tool").click()
        b.one(".talk .rows")
        b.one("#settings").click()
        b.one("dialog p:nth-child(2) button").click()
        b.until(lambda: b.run("return document.documentElement.dataset.look") == "light", 5, "light")
        b.driver.refresh()
        b.one(".rooms a")
        self.assertEqual(b.run("return [document.documentElement.lang, document.documentElement.dataset.look]"), ["en", "light"])

    def restore(self) -> None:
        self.chats.daemon.ask("POST", "/v1/events", {"type": "profile.changed", "user": SKY, "data": {"fields": {"language": "ko", "appearance": 0}}})
        self.sky.until(lambda: self.sky.run("return [document.documentElement.lang, document.documentElement.dataset.look ?? null]") == ["ko", None], 5, "as it was")

    def test_texts_of_strangers_are_shown_and_do_nothing(self) -> None:
        b, c = self.sky, self.fresh(HOSTILE[0])
        for words in HOSTILE:
            self.chats.say(c, SEO, words, attachments=[{"name": words[:200], "sha256": "ab" * 32, "bytes": 5, "mediaType": "image/svg+xml", "alt": words[:200]}] if len(words) < 400 else [])
        self.chats.say(c, BOT, None, type="survey.offered", user=SKY, survey=HOSTILE[0], question=HOSTILE[1], text={"ko": HOSTILE[2]}, choices=[{"code": HOSTILE[3], "label": HOSTILE[4]}, 5, None])
        b.talk(c)
        b.until(lambda: len(b.all("article .bubble")) == len(HOSTILE), 10, "all stand there")
        self.assertEqual(b.run("return [...document.querySelectorAll('.talk script, .talk iframe, .talk a[href^=\"javascript\"], .talk img')].length"), 0)
        self.assertEqual(b.text("h1").count("script"), 2)
        self.assertLessEqual(b.run("return document.documentElement.scrollWidth"), 1280)

    def test_print_has_the_talk_and_no_tools(self) -> None:
        b = self.sky
        b.talk(self.chats.pair)
        b.look(media="print")
        self.assertEqual([b.run("return document.querySelector(arguments[0])?.checkVisibility() ?? false", one) for one in (".side", ".compose", ".menu", ".talk .back")], [False] * 4)
        self.assertIn("네, 봤어요. 4쪽의 표가 이상해요.", b.text())
        # On paper it is dark on light, however the page looks.
        b.look(dark=True, media="print")
        for look in ("auto", "dark"):
            b.run("document.documentElement.dataset.look = arguments[0]", look)
            self.assertEqual(b.run("return getComputedStyle(document.body).color"), "rgb(30, 28, 25)", look)
        b.run("delete document.documentElement.dataset.look")

    # MARK: A long conversation

    def test_a_long_conversation_has_a_window(self) -> None:
        b = self.sky
        b.talk(self.chats.long)
        b.one("article.row")
        self.assertLessEqual(len(b.all("article")), 100)
        # Further up there is more, and what one looks at stays where it is.
        b.run("scrollTo(0, 400)")
        b.until(lambda: len(b.all("article")) > 150, 10, "earlier rows")

    @unittest.skipUnless(os.environ.get("PAGES_PICTURES"), "PAGES_PICTURES=1 writes the pictures of the documents")
    def test_pictures(self) -> None:
        folder = self.folder / "pictures"
        folder.mkdir()
        chats = Chats(folder)
        self.addCleanup(chats.stop)
        b = Person(chats.daemon.url())
        self.addCleanup(b.quit)
        token = chats.token(SKY)

        def shot(name: str, hash: str, width: int, height: int, dark: bool) -> None:
            b.look(width, height, dark)
            b.run("location.hash = arguments[0]", hash)
            time.sleep(1.2)
            b.run("document.activeElement.blur()")
            b.picture(PICTURES / f"{name}.png")

        b.enter(token)
        shot("chat-phone-rooms", "#/", 390, 760, False)
        shot("chat-conversation", f"#/c/{chats.pair}", 1100, 860, False)
        b.enter(token, "en")
        # A bot is about to answer, and one of the texts could not be sent.
        cause = chats.say(chats.bot, SKY, "두 주째 아파요. 찜질은 언제까지 하나요?")
        chats.live(chats.bot, cause, 0, "붓기가 가라앉을 때까지 하세요. 보통 사흘이면 ")
        b.look(1100, 860, True)
        b.talk(chats.bot)
        chats.live(chats.bot, cause, 0, "붓기가 가라앉을 때까지 하세요. 보통 사흘이면 ")
        shot("chat-dark", f"#/c/{chats.bot}", 1100, 860, True)
        chats.live(chats.bot, cause, 0, "붓기가 가라앉을 때까지 하세요. 보통 사흘이면 ")
        shot("chat-phone-dark", f"#/c/{chats.group}", 390, 760, True)


if __name__ == "__main__":
    unittest.main()
