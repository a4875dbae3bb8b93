"""The example of a medical bot with a model that answers wrong, what it asks for at the beginning, and the commands of its key."""
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List

import test_bot
from daemon import BINARIES, ROOT, until
from test_bot import Json


class ExampleTests(test_bot.WithModel):
    """The medical bot of the examples, as it is, with a model that answers all wrong: its guards hold what is promised, in both languages."""

    TABLE = [
        {"match": "번호를 매긴 줄", "answer": "1. 하나\n2. 둘\n3. 셋"},
        {"match": "자동차|engines", "answer": ["1. 하나", "1. 하나\n2. 둘\n3. 셋"]},
        {"match": "3 ways", "answer": "1. 하나\n2. 둘\n3. 셋\n4. 넷"},
        {"match": "3가지|3 medicines", "answer": ["1. 하나\n2. 둘", "1. 하나\n2. 둘\n3. 셋"]},
        {"match": "", "answer": "그렇군요."},
    ]

    def setUp(self) -> None:
        super().setUp()
        self.model.table, self.name = self.TABLE, "drbot"
        folder = self.folder / self._testMethodName
        folder.mkdir()
        for file in (ROOT / "Examples" / "bot").glob("drbot.*"):
            shutil.copy(file, folder)
        config = folder / "drbot.json5"
        text = config.read_text("utf-8")
        for old, new in [("unix:/run/syncd/api.sock", self.a.base), (', token_file: "/etc/sillok-bot/drbot.token"', ""),
                         ("https://api.openai.com/v1", self.model.url), ("/etc/sillok-bot/drbot.key", "drbot.key")]:
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        config.write_text(text, "utf-8")
        (folder / "drbot.key").write_text("sk-test-4711\n")
        (folder / "drbot.key").chmod(0o600)
        self.launched(config)

    def begin(self, room: str, user: str, **data: Any) -> str:
        self.client.append({"type": "conversation.started", "user": user, "subject": f"conversation/{room}",
                            "data": {"participants": [user, "drbot"], **data}})
        return self.replied(room, 1)[0]["data"]["text"]

    def answer(self, room: str, text: str, user: str = "u1") -> Json:
        count = len(self.events(room, "bot.replied"))
        self.client.post(user, text, room)
        return self.replied(room, count + 1)[-1]["data"]

    def results(self, reply: Json) -> Dict[str, str]:
        return {one["id"]: one["result"] for one in reply.get("guards", [])}

    def test_a_wrong_model_in_korean(self) -> None:
        """S0-2, S0-4, S0-5, S0-28, S0-29, BE-005: each in a conversation of its own."""
        greeting = self.begin("e-ko", "u-ko", title="상담")
        for word in ("Dr.Bot", "의사가 아니며", "의사를 대신하지 않습니다"):
            self.assertIn(word, greeting)
        reply = self.answer("e-1", "자기소개해 주세요")
        self.assertEqual((self.results(reply), reply["text"]), (
            {"identity": "replaced"}, "저는 의료 정보를 돕는 인공지능 도우미 Dr.Bot입니다. 의사가 아니며 의사를 대신하지 않습니다."))
        for room, text in (("e-2", "머리가 아파요"), ("e-3", "아파요")):
            reply = self.answer(room, text)
            self.assertEqual({key: value for key, value in self.results(reply).items() if key != "ask_more"},
                             {"asks_back": "replaced", "see_doctor": "appended"})
            for word in ("?", "언제부터", "주기", "정도", "위치", "병원"):
                self.assertIn(word, reply["text"])
            # What was asked back is not asked again: the answer is the model's.
            reply = self.answer(room, "어제부터 아파요")
            self.assertEqual((self.results(reply), reply["text"].split("\n")[0]), ({"see_doctor": "appended"}, "그렇군요."))
        reply = self.answer("e-4", "음…")
        self.assertEqual((self.results(reply), reply["text"]), ({"ask_more": "appended"}, "그렇군요.\n\n어떤 점이 불편하신지 조금 더 자세히 말씀해 주시겠어요?"))
        # S0-4 as a whole: three of them, how to take them and with what caution, and when to see a doctor.
        reply = self.answer("e-5", "두통이 지속되서 불편한데 증상 완화에 도움이 되는 약 3가지 알려줘")
        self.assertEqual(self.results(reply), {"n_items": "repaired", "caution": "appended", "see_doctor": "appended"})
        self.assertEqual(reply["text"], "1. 하나\n2. 둘\n3. 셋\n\n약은 특별한 주의가 필요합니다. 복용 방법과 주의 사항을 지켜 복용하세요."
                                        "\n\n증상이 오래가거나 심해지면 병원에서 진료를 받으세요.")
        reply = self.answer("e-6", "자동차 엔진 3가지 알려줘")
        self.assertEqual(self.results(reply), {"n_items": "repaired", "states_job": "appended"})
        self.assertEqual(reply["text"], "1. 하나\n2. 둘\n3. 셋\n\n저의 일은 의료 정보를 알려 드리는 것입니다. 몸이 불편하시면 말씀해 주세요.")

    def test_a_wrong_model_in_english(self) -> None:
        greeting = self.begin("e-en", "u-en", title="talk")
        for word in ("Dr.Bot", "no physician", "replace none"):
            self.assertIn(word, greeting)
        reply = self.answer("f-1", "Who are you?")
        self.assertEqual((self.results(reply)["identity"], "I am Dr.Bot" in reply["text"]), ("replaced", True))
        reply = self.answer("f-2", "My head hurts")
        self.assertEqual((self.results(reply)["asks_back"], "how often" in reply["text"]), ("replaced", True))
        reply = self.answer("f-3", "Tell me 3 things about engines of cars")
        self.assertEqual((self.results(reply)["states_job"], "My job is medical information." in reply["text"]), ("appended", True))
        reply = self.answer("f-4", "Tell me 3 medicines against headache")
        self.assertEqual({"n_items", "caution", "see_doctor"}, set(self.results(reply)))
        self.assertIn("mind their cautions", reply["text"])
        reply = self.answer("f-5", "My wrist has hurt for weeks. Tell me 3 ways to ease the pain")
        self.assertEqual(self.results(reply), {"n_items": "repaired", "see_doctor": "appended"})
        self.assertEqual(reply["text"], "1. 하나\n2. 둘\n3. 셋\n\nIf it lasts or gets worse, see a doctor.")
        # S0-6: found, whatever the case, with the place of the word.
        found = [json.loads(line) for line in self.a.ctl("search", "HEADACHE", "--conversation", "f-4", "--json").splitlines()]
        self.assertEqual([line["ranges"] for line in found if line["type"] == "hit"], [[{"utf8": [28, 36], "utf16": [28, 36]}]])

    def test_a_survey_in_english(self) -> None:
        """BE-006, S0-7 to S0-9, S0-27: a farewell, three choices with their labels, and a reason after dissatisfaction alone; both are counted."""
        user, room = "u-survey", "g-1"
        to = {"user": user, "subject": f"conversation/{room}"}
        self.begin(room, user, title="talk")
        self.client.append({"type": "profile.changed", "user": user, "data": {"fields": {"language": "en"}}})
        self.answer(room, "What is good against a headache?", user)
        reply = self.answer(room, "Goodbye", user)
        self.assertEqual((reply["farewell"], reply["text"]), (True, "Thank you. Take care."))

        def offers() -> List[Json]:
            return self.events(room, "survey.offered")

        def press(offer: Json, label: str) -> None:
            choice = next(one["code"] for one in offer["data"]["choices"] if one["label"]["en"] == label)
            self.client.append({"type": "survey.answered", **to, "cause": offer["id"], "data": {
                "survey": offer["data"]["survey"], "question": offer["data"]["question"], "choice": choice, "label": label, "about": offer["data"].get("about")}})
        until(offers)
        first = offers()[0]
        self.assertEqual((first["data"]["text"]["en"], [one["label"]["en"] for one in first["data"]["choices"]]),
                         ("Did the answers help?", ["Very satisfied", "Neutral", "Dissatisfied"]))
        press(first, "Very satisfied")
        until(lambda: next(line for line in self.client.subscriptions() if line["name"] == "drbot")["open"] == 0)
        time.sleep(0.5)
        self.assertEqual(len(offers()), 1, "who is satisfied is asked nothing more")
        press(first, "Dissatisfied")
        until(lambda: len(offers()) == 2)
        press(offers()[1], "It was beside the point")
        self.assertEqual(offers()[1]["data"]["text"]["en"], "What was wrong?")
        counted = [json.loads(line) for line in self.a.ctl("survey", "satisfaction", "--json").splitlines()]
        self.assertEqual({(line["question"], line["value"]): line["count"] for line in counted if "value" in line},
                         {("helpful", "satisfied"): 1, ("helpful", "dissatisfied"): 1, ("reason", "irrelevant"): 1})
        answers = list(self.client.history(user, type="survey.answered", order="oldest"))
        self.assertEqual([one["event"]["data"]["label"] for one in answers], ["Very satisfied", "Dissatisfied", "It was beside the point"])

    def test_the_intake_asks_checks_and_stores(self) -> None:
        """BE-001: name and birth date are asked for, a date that is none is refused, and both are a profile in the end."""
        user, room = "u-intake", "e-intake"
        self.assertIn("성함을 알려 주시겠어요?", self.begin(room, user, title="상담"))
        self.assertIn("생년월일", self.answer(room, "홍길동", user)["text"])
        self.assertIn("달력에 있는 날", self.answer(room, "1990-13-40", user)["text"])
        self.assertEqual(self.answer(room, "1990년 1월 2일", user)["text"], "감사합니다. 어디가 불편하신가요?")
        fields = {name: field["value"] for name, field in self.client.profile(user).items()}
        self.assertEqual(fields, {"name": "홍길동", "birthdate": "1990-01-02"})
        self.assertEqual(len(self.model.requests), 0)
        self.answer(room, "머리가 아파요", user)
        self.assertIn("birthdate: 1990-01-02", self.model.requests[-1]["body"]["messages"][0]["content"])
        # BE-001: who says more than the name, and no language yet, is asked in the first that the bot has, and known by the name alone.
        user, room = "u-intake-3", "e-intake-3"
        self.assertIn("성함을 알려 주시겠어요?", self.begin(room, user))
        self.assertIn("생년월일", self.answer(room, "안녕하세요 저는 홍길동이에요", user)["text"])
        self.assertEqual(self.client.profile(user)["name"]["value"], "홍길동")
        self.assertEqual(self.answer(room, "안녕히 계세요~", user)["farewell"], True)
        user, room = "u-intake", "e-intake"
        # It is known now: another conversation does not ask.
        self.assertNotIn("성함", self.begin(room + "-2", user, title="상담"))


    def test_the_intake_in_english(self) -> None:
        """BE-001: the same, with the words of someone whose profile says English."""
        user, room = "u-intake-en", "e-intake-en"
        self.client.append({"type": "profile.changed", "user": user, "data": {"fields": {"language": "en"}}})
        self.assertIn("What is your name?", self.begin(room, user))
        self.assertIn("When were you born?", self.answer(room, "Hi, my name is Jane Doe", user)["text"])
        self.assertIn("Write a day of the calendar", self.answer(room, "1990-13-40", user)["text"])
        self.assertEqual(self.answer(room, "1990-01-02", user)["text"], "Thank you. What troubles you?")
        fields = {name: field["value"] for name, field in self.client.profile(user).items()}
        self.assertEqual(fields, {"name": "Jane Doe", "birthdate": "1990-01-02", "language": "en"})
        self.assertEqual(len(self.model.requests), 0)
        self.answer(room, "My head hurts", user)
        self.assertIn("birthdate: 1990-01-02", self.model.requests[-1]["body"]["messages"][0]["content"])
        self.assertNotIn("What is your name?", self.begin(room + "-2", user))


class KeyTests(test_bot.WithModel):
    def key(self, config: Path, action: str, said: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run([str(BINARIES / "sillok-bot"), "key", action, "--config", str(config)], input=said, capture_output=True, text=True)

    def test_a_key_is_set_replaced_and_removed_by_command(self) -> None:
        """S4-18: in a file for its owner alone; it is told by no command, and counts for a bot that runs."""
        config = self.config()
        file = config.parent / "key"
        file.unlink()
        self.assertEqual(self.key(config, "show").returncode, 1)
        before = os.umask(0)
        try:
            told = [self.key(config, "set", "sk-wrong-1\n")]
        finally:
            os.umask(before)
        self.assertEqual((told[0].returncode, file.read_text(), file.stat().st_mode & 0o777), (0, "sk-wrong-1\n", 0o600), told[0].stderr)
        bot = self.launched(config)
        message = self.ask("계세요?", self.name)
        until(lambda: "until this is mended" in bot.log.read_text("utf-8"))
        told += [self.key(config, "set", " sk-test-4711 \n"), self.key(config, "show")]
        self.assertEqual([one.returncode for one in told], [0, 0, 0])
        self.assertEqual(self.replied(self.name, 1)[0]["cause"], message)
        for said in ("", "\n", "two words\n", "한글\n"):
            refused = self.key(config, "set", said)
            self.assertEqual((refused.returncode, file.read_text()), (65, "sk-test-4711\n"))
            told.append(refused)
        told += [self.key(config, "remove"), self.key(config, "remove")]
        self.assertEqual((file.exists(), told[-1].returncode), (False, 0))
        self.assertNotIn("sk-", "".join(one.stdout + one.stderr for one in told))
        # What a link leads to is kept by someone else.
        (config.parent / "kept").write_text("sk-kept\n")
        file.symlink_to("kept")
        self.assertEqual((self.key(config, "set", "sk-new\n").returncode, (config.parent / "kept").read_text()), (73, "sk-kept\n"))

    def test_without_a_key_none_is_sent(self) -> None:
        """S1-5: an endpoint that wants no key gets no Authorization header."""
        self.model.key = None
        self.launched(self.config(endpoint={"url": self.model.url, "model": "m"}))
        self.ask("계세요?", self.name)
        self.replied(self.name, 1)
        self.assertEqual([request["authorization"] for request in self.model.requests], [None])
        # There is no file whose key a command could set.
        refused = self.key(self.config(endpoint={"url": self.model.url, "model": "m"}), "show")
        self.assertEqual((refused.returncode, "endpoint.key_file" in refused.stderr), (78, True))
