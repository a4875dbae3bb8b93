"""The chat with `sillok-bot` itself, whose model answers from a table: a question, its answer while it is written, and a survey of two steps."""
from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
import uuid
from pathlib import Path

from browser import missing
from chat_store import Chats, SKY
from store import BINARIES, ROOT, until
from test_chat import Person

sys.path.insert(0, str(ROOT / "Tests" / "ScriptedModel"))

from model import ScriptedModel  # noqa: E402

CHOICES = {"satisfied": {"ko": "매우 만족", "en": "Very satisfied"}, "dissatisfied": {"ko": "불만족", "en": "Dissatisfied"}}
REASONS = {"content": {"ko": "답변의 내용", "en": "What was said"}, "app": {"ko": "앱 사용", "en": "The app"}}


def setUpModule() -> None:
    why = missing() or (None if (BINARIES / "sillok-bot").exists() else "pages: skipped, no sillok-bot")
    if why:
        print(why)
        raise unittest.SkipTest(why)


class ChatBotTests(unittest.TestCase):
    def test_a_question_its_answer_and_a_survey_of_two_steps(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="sillok-chat-bot-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        chats = Chats(folder)
        self.addCleanup(chats.stop)
        answer = "언제부터 아프셨나요? 정도는 어느 만큼이고, 정확한 위치는 어디인가요?"
        model = ScriptedModel(table=[{"match": "머리가 아파요", "answer": answer}])
        self.addCleanup(model.stop)
        (folder / "persona.md").write_text("너는 Dr.Bot이다.\n", "utf-8")
        (folder / "bot.json5").write_text(json.dumps({
            "bot": "drbot", "name": "Dr.Bot", "api": {"url": f"unix:{chats.daemon.socket}"}, "endpoint": {"url": model.url, "model": "m"},
            "persona": {"ko": "persona.md"}, "greeting": {"ko": "안녕하세요, Dr.Bot입니다."}, "subscription": {"start": "now"},
            "survey": {"id": "satisfaction", "offer": "reply", "after": ["dissatisfied"], "first": {"question": "helpful", "text": {"ko": "답변이 도움이 되셨나요?"}, "choices": CHOICES},
                       "second": {"question": "reason", "text": {"ko": "어느 점이 불편하셨나요?"}, "choices": REASONS}}}, ensure_ascii=False), "utf-8")
        with open(folder / "bot.log", "wb") as log:
            bot = subprocess.Popen([str(BINARIES / "sillok-bot"), "run", "--config", str(folder / "bot.json5")], stdout=log, stderr=log)
        self.addCleanup(bot.wait, 20)
        self.addCleanup(bot.terminate)
        until(lambda: '"drbot"' in chats.daemon.ask("GET", "/v1/subscriptions") or '"bot"' in chats.daemon.ask("GET", "/v1/subscriptions"), 20)
        c = f"c-{uuid.uuid4()}"
        chats.say(c, SKY, None, type="conversation.started", title="Dr.Bot", category="text", participants=[SKY, "drbot"])
        b = Person(chats.daemon.url())
        self.addCleanup(b.quit)
        b.enter(chats.token(SKY))
        b.talk(c)
        b.said("안녕하세요, Dr.Bot입니다.")
        model.fault("slow", ms=150)
        b.write("머리가 아파요")
        seen = set()
        b.until(lambda: seen.add(b.text(".row.live .bubble").split("\n")[0].strip()) or b.all(".survey"), 20, "the answer and the survey")
        # Some of its beginnings stood there, and then all of it, once.
        part = [one for one in seen if one and answer.startswith(one) and one != answer]
        self.assertGreaterEqual(len(part), 2, seen)
        self.assertEqual([one for one in b.bubbles() if "언제부터" in one], [answer])
        b.run("[...document.querySelectorAll('.survey button')].find((one) => one.textContent === '불만족').click()")
        b.until(lambda: "어느 점이 불편하셨나요?" in b.text(".talk"), 15, "the second question")
        b.run("[...document.querySelectorAll('.survey button')].find((one) => one.textContent === '답변의 내용').click()")

        def answers() -> list:
            lines = chats.daemon.ask("GET", f"/v1/conversations/{c}/rows?type=survey.answered&order=oldest").rstrip("\n").split("\n")[:-1]
            return [(one["question"], one["choice"]) for one in (json.loads(line)["event"]["data"] for line in lines)]
        until(lambda: answers() == [("helpful", "dissatisfied"), ("reason", "content")], 10)
        self.assertEqual(b.complaints(), [])


if __name__ == "__main__":
    unittest.main()
