"""The chat with `sillok-bot` itself, whose model answers from a table: a question, its answer while it is written, a survey of two steps; an answer that is
cancelled, fails, and is asked for again."""
from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
import uuid
from pathlib import Path
from typing import Any, Tuple

from browser import missing
from chat_store import Chats, SKY
from store import BINARIES, ROOT, until
from chat_case import Person

sys.path.insert(0, str(ROOT / "Tests" / "ScriptedModel"))

from model import ScriptedModel  # noqa: E402

GREETING = {"ko": "안녕하세요, Dr.Bot입니다.", "en": "Hello, I am Dr.Bot."}
CHOICES = {"satisfied": {"ko": "매우 만족", "en": "Very satisfied"}, "dissatisfied": {"ko": "불만족", "en": "Dissatisfied"}}
REASONS = {"content": {"ko": "답변의 내용", "en": "What was said"}, "app": {"ko": "앱 사용", "en": "The app"}}


def setUpModule() -> None:
    why = missing() or (None if (BINARIES / "sillok-bot").exists() else "pages: skipped, no sillok-bot")
    if why:
        print(why)
        raise unittest.SkipTest(why)


class ChatBotTests(unittest.TestCase):
    def start(self, table: list, language: str = "ko", **more: Any) -> Tuple[Chats, ScriptedModel, Person, str]:
        """A bot, and someone in a conversation with it, which it has greeted in their language."""
        folder = Path(tempfile.mkdtemp(prefix="sillok-chat-bot-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        chats = Chats(folder)
        self.addCleanup(chats.stop)
        model = ScriptedModel(table=table)
        self.addCleanup(model.stop)
        (folder / "persona.md").write_text("너는 Dr.Bot이다.\n", "utf-8")
        (folder / "bot.json5").write_text(json.dumps({
            "bot": "drbot", "name": "Dr.Bot", "api": {"url": f"unix:{chats.daemon.socket}"}, "endpoint": {"url": model.url, "model": "m"},
            "persona": {"ko": "persona.md", "en": "persona.md"}, "greeting": GREETING, "subscription": {"start": "now"}, **more}, ensure_ascii=False), "utf-8")
        with open(folder / "bot.log", "wb") as log:
            bot = subprocess.Popen([str(BINARIES / "sillok-bot"), "run", "--config", str(folder / "bot.json5")], stdout=log, stderr=log)
        self.addCleanup(bot.wait, 20)
        self.addCleanup(bot.terminate)
        until(lambda: '"drbot"' in chats.daemon.ask("GET", "/v1/subscriptions") or '"bot"' in chats.daemon.ask("GET", "/v1/subscriptions"), 20)
        chats.daemon.ask("POST", "/v1/events", {"type": "profile.changed", "user": SKY, "data": {"fields": {"language": language}}})
        c = f"c-{uuid.uuid4()}"
        chats.say(c, SKY, None, type="conversation.started", title="Dr.Bot", category="text", participants=[SKY, "drbot"])
        b = Person(chats.daemon.url())
        self.addCleanup(b.quit)
        b.enter(chats.token(SKY), language)
        b.talk(c)
        # It begins with a face and a greeting, a field and a search.
        self.assertEqual(len(b.said(GREETING[language]).find_elements("css selector", ".face svg")), 1)
        self.assertTrue(b.one("#text").is_displayed() and b.one(".talk > .head .tool[href^='#/search']").is_displayed())
        return chats, model, b, c

    def test_a_question_its_answer_and_a_survey_of_two_steps(self) -> None:
        self.question("ko", "머리가 아파요", "언제부터 아프셨나요? 정도는 어느 만큼이고, 정확한 위치는 어디인가요?", "답변이 도움이 되셨나요?", "어느 점이 불편하셨나요?")

    def test_a_question_its_answer_and_a_survey_in_english(self) -> None:
        """BE-006, S0-7 to S0-9: the same in English, from the greeting to the reason."""
        self.question("en", "My head hurts", "Since when does it hurt? How strong is it, and where exactly?", "Did the answers help?", "What was wrong?")

    def question(self, language: str, asked: str, answer: str, first: str, second: str) -> None:
        chats, model, b, c = self.start([{"match": asked, "answer": answer}], language, survey={
            "id": "satisfaction", "offer": "reply", "after": ["dissatisfied"], "first": {"question": "helpful", "text": {language: first}, "choices": CHOICES},
            "second": {"question": "reason", "text": {language: second}, "choices": REASONS}})
        model.fault("slow", ms=150)
        b.write(asked)
        seen = set()
        b.until(lambda: seen.add(b.text(".row.live .bubble").split("\n")[0].strip()) or b.all(".survey"), 20, "the answer and the survey")
        # Some of its beginnings stood there, and then all of it, once.
        part = [one for one in seen if one and answer.startswith(one) and one != answer]
        self.assertGreaterEqual(len(part), 2, seen)
        self.assertEqual([one for one in b.bubbles() if answer[:10] in one], [answer])
        self.assertIn(first, b.text(".talk"))
        self.assertEqual(b.run("return [...document.querySelectorAll('.survey button')].map((one) => one.textContent)"), [labels[language] for labels in CHOICES.values()])
        press = "[...document.querySelectorAll('.survey button')].find((one) => one.textContent === arguments[0]).click()"
        b.run(press, CHOICES["dissatisfied"][language])
        b.until(lambda: second in b.text(".talk"), 15, "the second question")
        b.run(press, REASONS["content"][language])

        def answers() -> list:
            lines = chats.daemon.ask("GET", f"/v1/conversations/{c}/rows?type=survey.answered&order=oldest").rstrip("\n").split("\n")[:-1]
            return [(one["question"], one["choice"]) for one in (json.loads(line)["event"]["data"] for line in lines)]
        until(lambda: answers() == [("helpful", "dissatisfied"), ("reason", "content")], 10)
        self.assertEqual(b.complaints(), [])

    def test_an_answer_is_cancelled_fails_and_is_asked_for_again(self) -> None:
        """S4-17, S1-9: by the token of who has asked, as a browser has it."""
        chats, model, b, c = self.start([{"match": "천천히", "answer": "하나 둘 셋 넷 다섯 여섯 일곱 여덟"}], retries={"attempts": 2, "first": "10ms", "longest": "20ms"})
        model.fault("slow", ms=400)
        b.write("천천히 세어 줘")
        b.until(lambda: "하나" in b.text(".row.live .bubble"), 20, "it begins")
        b.one(".compose .cancel").click()
        b.until(lambda: "답을 취소했습니다." in b.text(".talk .rows") and not b.all(".row.live"), 10, "cancelled")
        open_ = lambda: [line["open"] for line in map(json.loads, chats.daemon.ask("GET", "/v1/subscriptions").rstrip("\n").split("\n")) if "open" in line]
        until(lambda: open_() == [0], 10)
        self.assertEqual(chats.texts(c), ["안녕하세요, Dr.Bot입니다.", "천천히 세어 줘"])
        # The model fails, and each time all attempts; then it is there again.
        model.fault("status", times=4, status=500)
        b.one(".talk .note button").click()
        b.until(lambda: "답하는 곳에 문제가 있습니다." in b.text(".talk .rows") and not b.all(".row.live"), 20, "it failed")
        b.one(".talk .note button").click()
        b.until(lambda: len(b.all(".talk .note.warn")) == 2 and len(b.all(".talk .note button")) == 1, 20, "it failed again")
        b.one(".talk .note button").click()
        b.said("하나 둘 셋 넷 다섯 여섯 일곱 여덟", 20)
        b.until(lambda: not b.all(".row.live") and not b.all(".talk .note button"), 5, "all is done")
        self.assertEqual(chats.texts(c)[2:], ["하나 둘 셋 넷 다섯 여섯 일곱 여덟"])
        self.assertEqual(b.complaints(), [])


if __name__ == "__main__":
    unittest.main()
