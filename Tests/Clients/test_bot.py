"""sillok-bot against a real daemon and a model server that answers from a table, with faults."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Dict, List

from daemon import BINARIES, ROOT, DaemonTests, joined, settled, until

sys.path.insert(0, str(ROOT / "Tests" / "ScriptedModel"))

from model import ScriptedModel  # noqa: E402
from sillok import event_id, reply_id  # noqa: E402

Json = Dict[str, Any]
TABLE = json.loads((ROOT / "Tests" / "ScriptedModel" / "drbot.json").read_text("utf-8"))
PERSONA = "너는 Dr.Bot이다. 의사를 대신하지 않는다."


class Bot:
    """A process of the program. `kill` is kill -9."""

    def __init__(self, config: Path, *words: str):
        self.log = config.with_suffix(".log")
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([str(BINARIES / "sillok-bot"), "run", "--config", str(config), *words], stdout=log, stderr=log)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


class WithModel(DaemonTests):
    """A model server for each test, and the processes of bots."""

    def setUp(self) -> None:
        self.model = ScriptedModel(table=TABLE, key="sk-test-4711")
        self.addCleanup(self.model.stop)
        self.bots: List[Bot] = []
        self.name = "bot-" + self._testMethodName.replace("_", "-")[:50]

    def tearDown(self) -> None:
        for bot in self.bots:
            if bot.process.poll() is None:
                bot.kill()

    def config(self, name: str = "bot", **more: Any) -> Path:
        folder = self.folder / self.name
        folder.mkdir(exist_ok=True)
        (folder / "persona.ko.md").write_text(PERSONA + "\n", "utf-8")
        (folder / "key").write_text("sk-test-4711\n")
        (folder / "key").chmod(0o600)
        path = folder / f"{name}.json5"
        path.write_text(json.dumps({
            "bot": self.name, "name": "Dr.Bot", "api": {"url": self.a.base},
            "endpoint": {"url": self.model.url, "model": "gpt-3.5-turbo", "key_file": "key", "parameters": {"temperature": 0}},
            "persona": {"ko": "persona.ko.md"}, "retries": {"first": "20ms", "longest": "100ms"},
            "subscription": {"start": "now", "ack_wait": "5s"}, **more}, ensure_ascii=False), "utf-8")
        return path

    def launched(self, config: Path, *words: str) -> Bot:
        self.bots.append(Bot(config, *words))
        until(lambda: any(line["name"] == self.name for line in self.client.subscriptions()))
        return self.bots[-1]

    def ask(self, text: str, conversation: str, **more: Any) -> str:
        return self.client.post("u1", text, conversation, **more)["id"]

    def events(self, conversation: str, *types: str) -> List[Json]:
        return [row["event"] for row in self.client.rows(conversation, order="oldest") if row["event"]["type"] in types]

    def replied(self, conversation: str, count: int, seconds: float = 20) -> List[Json]:
        until(lambda: len(self.events(conversation, "bot.replied")) >= count, seconds)
        return self.events(conversation, "bot.replied")


class BotTests(WithModel):
    def test_replies_remember_and_record(self) -> None:
        """S1-3, S0-26: the name that was said goes along; S0-24: the key is nowhere; the reply says what it came of."""
        figures = self.folder / f"{self.name}.prom"
        bot = self.launched(self.config(context={"profile": ["name"]}, metrics_file=str(figures)))
        self.client.append({"type": "profile.changed", "user": "u1", "data": {"fields": {"name": "홍길동"}}})
        room = self.name
        for count, text in enumerate(["제 이름은 김하늘이에요", "오늘 뭐 먹을까요?", "제 이름이 뭐죠?"], 1):
            message = self.ask(text, room)
            reply = self.replied(room, count)[-1]
            self.assertEqual((reply["id"], reply["cause"], reply["author"]), (reply_id(message, self.name), message, self.name))
        self.assertEqual(reply["data"]["text"], "답: 제 이름이 뭐죠?")
        self.assertEqual(reply["data"]["model"], "gpt-3.5-turbo-0125")
        self.assertGreater(reply["data"]["usage"]["total_tokens"], 0)
        asked = self.model.requests[-1]
        self.assertEqual(list(asked["body"]), ["model", "stream", "messages", "temperature"])
        self.assertEqual([m["role"] for m in asked["body"]["messages"]], ["system"] + ["user", "assistant"] * 2 + ["user"])
        self.assertIn("김하늘", json.dumps(asked["body"], ensure_ascii=False))
        self.assertTrue(asked["body"]["messages"][0]["content"].startswith(PERSONA))
        self.assertIn("name: 홍길동", asked["body"]["messages"][0]["content"])
        self.assertEqual(asked["authorization"], "Bearer sk-test-4711")
        configured = [row["event"] for row in self.client.history(f"bot/{self.name}")]
        self.assertEqual([event["type"] for event in configured], ["bot.configured"])
        self.assertEqual(configured[0]["data"]["persona"]["texts"]["ko"], {"sha256": reply["data"]["persona"]["sha256"], "text": PERSONA})
        self.assertEqual(bot.stop(), 0)
        told = figures.read_text()
        for line in ("sillok_bot_replies_total 3", "sillok_bot_under_way 0", "sillok_bot_degraded 0", "sillok_bot_reply_seconds_count 3"):
            self.assertIn(line + "\n", told)
        if shutil.which("promtool"):
            self.assertEqual(subprocess.run(["promtool", "check", "metrics"], input=told, text=True, capture_output=True).stderr, "")
        # The same again says nothing; another model is told.
        self.launched(self.config())
        until(lambda: len(list(self.client.history(f"bot/{self.name}"))) == 2)
        self.assertNotIn("sk-test-4711", bot.log.read_text("utf-8"))
        self.assertNotIn("김하늘", bot.log.read_text("utf-8"))
        self.assertNotIn("sk-test-4711", self.a.ctl("export"))

    def test_worker_and_daemon_killed_in_turn_answer_each_of_200_questions_once(self) -> None:
        """S0-32: kill -9 of the worker and of the daemon in turn, at ten random moments of 200 questions: each has exactly one reply, in order."""
        rooms = [f"{self.name}-{number}" for number in range(20)]
        config = self.config(concurrency=4)
        self.model.fault("slow", times=400, ms=15)  # so that kills find answers under way
        bot = self.launched(config)
        asked: Dict[str, str] = {}

        def people() -> None:
            client = self.a.client()
            for number in range(200):
                text = f"물음 {number}"
                asked[client.post("u1", text, rooms[number % 20])["id"]] = text
                time.sleep(0.02)
        writer = threading.Thread(target=people)
        writer.start()
        seed = random.randrange(1 << 32)
        moments = sorted(random.Random(seed).sample(range(5, 195), 10))
        for number, moment in enumerate(moments):
            until(lambda: len(asked) >= moment)
            if number % 2:
                self.a.kill()
                self.a.start()
            else:
                bot.kill()
                bot = self.launched(config)
        second = self.launched(config)
        writer.join()
        print(f"\nseed {seed}: killed after {moments} questions", file=sys.stderr)
        until(lambda: sum(len(self.events(room, "bot.replied")) for room in rooms) >= 200, 90)
        time.sleep(1)
        replies = [reply for room in rooms for reply in self.events(room, "bot.replied")]
        self.assertEqual(len(replies), 200)
        self.assertEqual({reply["cause"]: reply["data"]["text"] for reply in replies}, {id: "답: " + text for id, text in asked.items()})
        for room in rooms:
            order = [event["id"] for event in self.events(room, "message.posted")]
            self.assertEqual([reply["cause"] for reply in self.events(room, "bot.replied")], order)
        until(lambda: next(line for line in self.client.subscriptions() if line["name"] == self.name)["open"] == 0)
        self.assertEqual(self.client.parked(self.name), [])
        self.assertEqual([failed for room in rooms for failed in self.events(room, "bot.failed")], [])
        self.assertEqual((bot.stop(), second.stop()), (0, 0))
        self.assertEqual(self.client.event(reply_id(next(iter(asked)), self.name))["type"], "bot.replied")
        print(f"200 questions, 10 kills: {len(self.model.requests)} requests to the model", file=sys.stderr)

    def test_someone_elses_event_under_the_id_is_no_reply(self) -> None:
        """The next id is taken; where all are, the message is parked. Neither is ever taken for answered."""
        bot = self.launched(self.config())
        rooms = {2: f"{self.name}-2", 8: f"{self.name}-8"}
        asked = {}
        for taken, room in rooms.items():
            message = asked[taken] = event_id()
            for turn in range(1, taken + 1):
                self.client.append({"id": reply_id(message, self.name, "", turn), "type": "note.kept", "user": "alice", "data": {}})
            self.client.append({"id": message, "type": "message.posted", "user": "u1", "subject": f"conversation/{room}", "data": {"text": "물음"}})
        [reply] = self.replied(rooms[2], 1)
        self.assertEqual((reply["id"], reply["cause"]), (reply_id(asked[2], self.name, "", 3), asked[2]))
        until(lambda: self.client.parked(self.name))
        [parked] = self.client.parked(self.name)
        self.assertEqual((parked["event"], self.events(rooms[8], "bot.replied")), (asked[8], []))
        self.assertIn("ids", parked["reason"])
        self.assertIn("E_ID_REUSED", bot.log.read_text("utf-8"))

    def test_faults_of_the_model(self) -> None:
        """Each fault is one attempt; the answer that comes in the end is whole, and one."""
        self.launched(self.config())
        faults = [{"kind": "status", "status": 429, "retry_after": 1}, {"kind": "status", "status": 500}, {"kind": "cut"}, {"kind": "ends"},
                  {"kind": "garbage"}, {"kind": "html"}, {"kind": "error"}, {"kind": "close"}]
        for number, fault in enumerate(faults):
            with self.subTest(fault=fault):
                self.model.fault(**fault)
                room, before, began = f"{self.name}-{number}", len(self.model.requests), time.monotonic()
                self.ask("하나 둘 셋 넷", room)
                replies = self.replied(room, 1)
                self.assertEqual([reply["data"]["text"] for reply in replies], ["답: 하나 둘 셋 넷"])
                self.assertEqual(replies[0]["data"]["attempt"], 2)
                self.assertEqual(len(self.model.requests) - before, 2)
                if "retry_after" in fault:
                    self.assertGreaterEqual(time.monotonic() - began, 1.0)

    def test_model_is_down_then_a_retry(self) -> None:
        self.launched(self.config(retries={"attempts": 3, "first": "10ms", "longest": "20ms"}))
        self.model.stop()
        message = self.ask("계세요?", self.name)
        until(lambda: self.events(self.name, "bot.failed"))
        failed = self.events(self.name, "bot.failed")[0]
        self.assertEqual({key: failed["data"][key] for key in ("inReplyTo", "code", "attempt", "final")},
                         {"inReplyTo": message, "code": "network", "attempt": 3, "final": True})
        self.model.start()
        self.client.append({"type": "bot.retryRequested", "user": "u1", "subject": f"conversation/{self.name}", "data": {"inReplyTo": message}})
        reply = self.replied(self.name, 1)[0]
        self.assertEqual((reply["cause"], reply["data"]["text"]), (message, "답: 계세요?"))
        self.client.append({"type": "bot.retryRequested", "user": "u1", "subject": f"conversation/{self.name}", "data": {"inReplyTo": message}})
        time.sleep(1)
        self.assertEqual(len(self.events(self.name, "bot.replied")), 1)

    def test_no_key_fails_no_question(self) -> None:
        """A wrong key stops answers, says so once, and fails nothing; the right one counts without a new start."""
        config = self.config()
        check = subprocess.run([str(BINARIES / "sillok-bot"), "check", "--config", str(config), "--json"], capture_output=True, text=True)
        steps = [json.loads(line) for line in check.stdout.splitlines()]
        self.assertEqual(check.returncode, 0, check.stdout)
        self.assertEqual([(line.get("step"), line.get("ok")) for line in steps],
                         [(name, True) for name in ("configuration", "node", "subscription", "model")] + [(None, None)])
        (config.parent / "key").write_text("sk-wrong\n")
        check = subprocess.run([str(BINARIES / "sillok-bot"), "check", "--config", str(config)], capture_output=True, text=True)
        self.assertEqual(check.returncode, 77, check.stdout)
        self.assertIn("[key]", check.stdout)
        self.assertNotIn("sk-wrong", check.stdout + check.stderr)
        bot = self.launched(config)
        message = self.ask("계세요?", self.name)
        until(lambda: "until this is mended" in bot.log.read_text("utf-8"))
        time.sleep(2)
        self.assertEqual(self.events(self.name, "bot.replied", "bot.failed"), [])
        (config.parent / "key").write_text("sk-test-4711\n")
        self.assertEqual(self.replied(self.name, 1)[0]["cause"], message)
        self.assertEqual(bot.log.read_text("utf-8").count("until this is mended"), 1)
        self.assertNotIn("sk-", bot.log.read_text("utf-8"))
        (config.parent / "key").chmod(0o644)
        check = subprocess.run([str(BINARIES / "sillok-bot"), "check", "--config", str(config)], capture_output=True, text=True)
        self.assertEqual(check.returncode, 78, check.stdout)
        self.assertIn("chmod 600", check.stdout)

    def test_a_refusal_of_one_message_stops_no_other(self) -> None:
        """403 for what was asked fails that message; 401 for one alone holds it back, and no other, also after the bot was killed again and again."""
        answer = self.model.answer
        statuses = {"막힌 말": (403, {"message": "안 돼요: 막힌 말 http://10.1.2.3/v1", "code": "x"}), "열쇠 말": (401, {"message": "wrong"})}

        def refuse(handler: Any, body: Json) -> None:
            asked = body["messages"][-1]["content"]
            if asked in statuses:
                self.model._error(handler, *statuses[asked])
            else:
                answer(handler, body)
        self.model.answer = refuse  # type: ignore[method-assign]
        config = self.config()
        bot = self.launched(config)
        refused = self.ask("막힌 말", f"{self.name}-403")
        until(lambda: len(self.events(f"{self.name}-403", "bot.failed")) == 1)
        failed = self.events(f"{self.name}-403", "bot.failed")[0]
        self.assertEqual((failed["data"]["inReplyTo"], failed["data"]["code"], failed["data"]["status"]), (refused, "status", 403))
        self.assertEqual(failed["data"]["reason"], "HTTP status 403: x")
        held = self.ask("열쇠 말", f"{self.name}-401")
        for turn in range(4):
            until(lambda: bot.log.read_text("utf-8").count("until this is mended") > turn)
            bot.kill()
            bot = self.launched(config)
            self.ask(f"계세요 {turn}?", f"{self.name}-{turn}")
            self.replied(f"{self.name}-{turn}", 1, 30)
        self.assertEqual(self.events(f"{self.name}-401", "bot.failed"), [])
        statuses.clear()
        self.assertEqual(self.replied(f"{self.name}-401", 1, 60)[0]["cause"], held)
        log = bot.log.read_text("utf-8")
        for said in ("막힌", "10.1.2.3", "wrong", "열쇠 말"):
            self.assertNotIn(said, log)

    def test_edited_and_retracted_before_the_reply(self) -> None:
        """While a question waits behind a slow one, it is edited, and another one retracted."""
        self.launched(self.config())
        self.model.fault("slow", ms=300)
        self.ask("천천히 하나 둘", self.name)
        edited, gone = self.ask("틀린 물음", self.name), self.ask("취소할 물음", self.name)
        last = self.ask("마지막", self.name)
        to = {"user": "u1", "subject": f"conversation/{self.name}"}
        self.client.append({"type": "message.edited", **to, "data": {"message": edited, "text": "고친 물음"}})
        self.client.append({"type": "message.retracted", **to, "data": {"message": gone}})
        replies = self.replied(self.name, 3)
        until(lambda: next(line for line in self.client.subscriptions() if line["name"] == self.name)["open"] == 0)
        self.assertEqual({reply["cause"]: reply["data"]["text"] for reply in replies if reply["cause"] in (edited, gone, last)},
                         {edited: "답: 고친 물음", last: "답: 마지막"})
        self.assertNotIn("취소할 물음", json.dumps(self.model.requests[-1]["body"], ensure_ascii=False))

    def test_pieces_are_seen_and_not_stored(self) -> None:
        self.launched(self.config())
        follower = self.client.request("GET", "/v1/changes", {"live": "1", "conversation": self.name, "after": "now"},
                                       accept="application/x-ndjson", stream=True)
        lines: List[Json] = []
        threading.Thread(target=lambda: lines.extend(follower.stream()), daemon=True).start()
        self.model.fault("slow", ms=120)
        self.ask("하나 둘 셋 넷 다섯 여섯 일곱", self.name)
        self.replied(self.name, 1)
        time.sleep(0.3)
        follower.close()
        until(lambda: lines)
        pieces = [line for line in lines if line.get("control") == "live"]
        self.assertGreaterEqual(len(pieces), 5)
        self.assertEqual([piece["n"] for piece in pieces], list(range(len(pieces))))
        self.assertEqual("".join(piece["text"] for piece in pieces), "답: 하나 둘 셋 넷 다섯 여섯 일곱")
        self.assertNotIn('"delta"', self.a.ctl("export"))

    def test_guards_greeting_farewell_and_survey(self) -> None:
        """S0-1, S0-3, S0-7, S0-9, S0-27: the shapes of a medical bot, by configuration alone."""
        self.launched(self.config(
            greeting={"ko": "안녕하세요, Dr.Bot입니다. 의사가 아닙니다."},
            farewell={"words": ["bye", "끝"], "text": {"ko": "안녕히 가세요."}},
            emergencies=[{"id": "heart", "words": ["가슴이 조여"], "text": {"ko": "119에 바로 전화하세요."}}],
            guards=[{"id": "items", "items": ["가지"], "repair": "번호를 매긴 줄을 물은 수만큼만 쓰세요."},
                    {"id": "see_doctor", "words": [["병원", "의사"]], "when": ["통증", "두통"], "append": {"ko": "오래가면 병원에 가세요."}}],
            survey={"id": "satisfaction", "after": ["dissatisfied"],
                    "first": {"question": "helpful", "text": {"ko": "도움이 되셨나요?"}, "choices": {"satisfied": "만족", "dissatisfied": "불만족"}},
                    "second": {"question": "reason", "text": {"ko": "왜요?"}, "choices": {"content": "내용", "other": "기타"}}}))
        to = {"user": "u1", "subject": f"conversation/{self.name}"}
        self.client.append({"type": "conversation.started", **to, "data": {"participants": ["u1", self.name]}})
        self.assertTrue(self.replied(self.name, 1)[0]["data"]["greeting"])
        self.ask("손목 통증에 도움이 되는 방법 3가지", self.name)
        reply = self.replied(self.name, 2)[1]["data"]
        self.assertEqual(reply["text"], "1. 쉬세요.\n2. 찜질을 하세요.\n3. 스트레칭을 하세요.\n\n오래가면 병원에 가세요.")
        self.assertEqual(reply["guards"], [{"id": "items", "result": "repaired"}, {"id": "see_doctor", "result": "appended"}])
        before = len(self.model.requests)
        self.ask("가슴이 조여 와요", self.name)
        self.assertEqual(self.replied(self.name, 3)[2]["data"]["text"], "119에 바로 전화하세요.")
        self.ask("끝", self.name)
        self.assertEqual(self.replied(self.name, 4)[3]["data"]["farewell"], True)
        self.assertEqual(len(self.model.requests), before)
        self.assertEqual(len(self.events(self.name, "conversation.closed")), 1)
        offer = self.events(self.name, "survey.offered")
        self.assertEqual([event["data"]["question"] for event in offer], ["helpful"])
        for choice in ("satisfied", "dissatisfied"):
            self.client.append({"type": "survey.answered", **to, "cause": offer[0]["id"],
                                "data": {"survey": "satisfaction", "question": "helpful", "choice": choice}})
        until(lambda: len(self.events(self.name, "survey.offered")) == 2)
        time.sleep(0.5)
        self.assertEqual([event["data"]["question"] for event in self.events(self.name, "survey.offered")], ["helpful", "reason"])

    def test_a_bot_with_a_token_answers_where_it_is_in(self) -> None:
        """The role of a bot, over the socket with its token; conversations that do not name it are left alone."""
        token = self.folder / f"{self.name}.token"
        self.a.ctl("tokens", "create", f"bot/{self.name}", "--role", f"bot:{self.name}", "--all", "--out", str(token))
        self.launched(self.config(api={"url": self.a.base, "token_file": str(token)}))
        for room, people in (("with", ["u1", self.name]), ("without", ["u1", "u2"])):
            to = {"user": "u1", "subject": f"conversation/{self.name}-{room}"}
            self.client.append({"type": "conversation.started", **to, "data": {"participants": people}})
            self.ask("안녕", f"{self.name}-{room}")
        reply = self.replied(f"{self.name}-with", 1)[0]
        self.assertIn(f"token:bot/{self.name}:", reply["actor"])
        until(lambda: next(line for line in self.client.subscriptions() if line["name"] == self.name)["open"] == 0)
        self.assertEqual(self.events(f"{self.name}-without", "bot.replied"), [])
        self.assertEqual([row["event"]["type"] for row in self.client.history(f"bot/{self.name}")], ["bot.configured"])

    def test_a_daemon_that_is_away(self) -> None:
        """The daemon is killed and comes back while questions are under way: each is answered once."""
        self.launched(self.config())
        self.model.fault("slow", times=3, ms=200)
        first = self.ask("하나 둘 셋 넷 다섯", self.name)
        until(lambda: self.model.requests)
        self.a.kill()
        time.sleep(1)
        self.a.start()
        second = self.ask("다시", self.name)
        replies = self.replied(self.name, 2, 40)
        self.assertEqual([reply["cause"] for reply in replies], [first, second])

    def test_nothing_of_others_goes_to_the_model(self) -> None:
        """S0-30: two users with secrets, in rooms and without one: none of 200 requests has a secret of the other."""
        self.launched(self.config(concurrency=8))
        for number in range(100):
            for user, secret in (("kim", "사과"), ("lee", "바나나")):
                room = [f"{self.name}-{user}", None][number % 2]
                self.client.post(f"{user}-{self.name}", f"내 비밀은 {secret}", room)
        until(lambda: len(self.model.requests) == 200, 60)
        for request in self.model.requests:
            asked = json.dumps(request["body"], ensure_ascii=False)
            self.assertNotEqual("사과" in asked, "바나나" in asked)
        self.assertGreater(max(len(request["body"]["messages"]) for request in self.model.requests), 12, "earlier turns go along")

    def test_cancelled_and_retracted_while_it_is_answered(self) -> None:
        """S4-17: the request to the model is given up, and nothing is stored; what another one cancels goes on."""
        self.launched(self.config())
        to = {"user": "u1", "subject": f"conversation/{self.name}"}
        for number, end in enumerate([{"type": "bot.cancelled", "author": "u1"}, {"type": "message.retracted"}, {"type": "bot.cancelled", "author": "u2"}]):
            self.model.fault("slow", ms=700)
            message = self.ask("하나 둘 셋 넷", self.name)
            until(lambda: len(self.model.requests) == number + 1)
            began = time.monotonic()
            self.client.append({**to, **end, "data": {"inReplyTo" if "bot" in end["type"] else "message": message}})
            until(lambda: next(line for line in self.client.subscriptions() if line["name"] == self.name)["open"] == 0)
            self.assertEqual(time.monotonic() - began < 3, number < 2)
            self.assertEqual([reply["cause"] for reply in self.events(self.name, "bot.replied")], [message] if number == 2 else [])

    def test_stopping_gives_back(self) -> None:
        bot = self.launched(self.config())
        self.model.fault("slow", ms=2_000)
        self.ask("하나 둘 셋", self.name)
        until(lambda: self.model.requests)
        began = time.monotonic()
        self.assertEqual(bot.stop(), 0)
        self.assertLess(time.monotonic() - began, 10)
        began = time.monotonic()
        self.launched(self.config())
        self.assertEqual(len(self.replied(self.name, 1)), 1)
        self.assertLess(time.monotonic() - began, 10)

    @unittest.skipUnless(os.environ.get("SILLOK_LIVE_ENDPOINT"), "SILLOK_LIVE_ENDPOINT is the member `endpoint` of a configuration, as JSON")
    def test_live(self) -> None:
        self.launched(self.config(endpoint=json.loads(os.environ["SILLOK_LIVE_ENDPOINT"])))
        self.ask("자기소개해 주세요", self.name)
        self.assertTrue(self.replied(self.name, 1, 60)[0]["data"]["text"])


class EchoTests(DaemonTests):
    def test_echo_without_a_configuration(self) -> None:
        """The first try of the documents: no model, no configuration, no conversation."""
        process = subprocess.Popen([str(BINARIES / "sillok-bot"), "run", "--echo", "--url", self.a.base], stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        until(lambda: any(line["name"] == "echo" for line in self.client.subscriptions()))
        message = self.client.post("u7", "거기 누구 있어요?")["id"]
        until(lambda: len(list(self.client.history("u7"))) == 2)
        reply = self.client.event(reply_id(message, "echo"))
        self.assertEqual(reply["data"]["text"], "거기 누구 있어요?")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(10), 0)

    def test_the_example_is_right(self) -> None:
        token = self.folder / "drbot.token"
        self.a.ctl("tokens", "create", "bot/drbot", "--role", "bot:drbot", "--all", "--out", str(token))
        check = subprocess.run([str(BINARIES / "sillok-bot"), "check", "--config", str(ROOT / "Examples/bot/drbot.json5"), "--echo",
                                "--url", self.a.base, "--token-file", str(token)], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout)
        self.assertIn("Dr.Bot as 'drbot', languages ko, en", check.stdout)
        # A token that may not answer as this bot is told with what helps.
        self.a.ctl("tokens", "create", "someone", "--role", "user:someone", "--out", str(token) + "2")
        check = subprocess.run([str(BINARIES / "sillok-bot"), "check", "--config", str(ROOT / "Examples/bot/drbot.json5"), "--echo",
                                "--url", self.a.base, "--token-file", str(token) + "2"], capture_output=True, text=True)
        self.assertEqual(check.returncode, 77, check.stdout)
        self.assertIn("--role bot:drbot --all", check.stdout)
        # A run with it ends before it makes anything: it would take messages from a bot that may answer.
        run = subprocess.run([str(BINARIES / "sillok-bot"), "run", "--config", str(ROOT / "Examples/bot/drbot.json5"), "--echo",
                              "--url", self.a.base, "--token-file", str(token) + "2"], capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 77, run.stderr)
        self.assertIn("--role bot:drbot --all", run.stderr)
        self.assertNotIn("drbot", [line["name"] for line in self.client.subscriptions()])

    def test_wrong_configurations_are_told_with_their_place(self) -> None:
        good = {"bot": "b", "persona": {"en": "p.md"}, "endpoint": {"url": "http://127.0.0.1:1", "model": "m"}}
        (self.folder / "p.md").write_text("text")
        for change, said in [
            ({"bot": None}, "'bot' is missing"), ({"persona": {}}, "names no file"), ({"persona": {"en": "none.md"}}, "there is no file"),
            ({"endpoint": {"model": "m"}}, "'endpoint.url' is missing"), ({"endpoint": {"url": "ftp://x", "model": "m"}}, "https://"),
            ({"retrys": {}}, "did you mean 'retries'?"), ({"retries": {"attempts": 0}}, "from 1 to 20"), ({"retries": {"first": 3}}, "\"30s\""),
            ({"guards": [{"id": "x"}]}, "one of words"), ({"guards": [{"id": "x", "forbidden": ["a"]}]}, "guards.instead"), ({"endpoint": {**good["endpoint"], "parameters": {"stream": True}}}, "cannot be said"),  # type: ignore[dict-item]
            ({"concurrency": 65}, "1 to 64"), ({"survey": {"id": "s"}}, "first"), ({"subscription": {"name": "A B"}}, "no name"),
            ({"endpoint": {**good["endpoint"], "key_file": "none"}}, "there is no file"),  # type: ignore[dict-item]
        ]:
            with self.subTest(change=change):
                path = self.folder / "wrong.json5"
                path.write_text(json.dumps({key: value for key, value in {**good, **change}.items() if value is not None}, indent=1))
                run = subprocess.run([str(BINARIES / "sillok-bot"), "run", "--config", str(path), "--url", self.a.base],
                                     capture_output=True, text=True, timeout=20)
                self.assertIn(run.returncode, (66, 78), run.stderr)
                self.assertIn(said, run.stderr)

    def test_check_config_finds_the_files_that_a_start_refuses(self) -> None:
        """All that it names, each with its key, and 78; a start says the first."""
        (self.folder / "p.md").write_text("text")
        (self.folder / "empty.pem").write_text("no certificate")
        (self.folder / "open.key").write_text("secret")
        (self.folder / "open.key").chmod(0o644)
        endpoint = {"url": "https://127.0.0.1:1", "model": "m"}
        for change, said in [
            ({"api": {"ca_file": "none.pem"}}, ["'api.ca_file': there is no file"]),
            ({"api": {"ca_file": "empty.pem"}}, ["'api.ca_file': no certificate is in"]),
            ({"api": {"ca_file": "."}}, ["'api.ca_file': "]),
            ({"api": {"token_file": "none"}}, ["'api.token_file': there is no file"]),
            ({"endpoint": {**endpoint, "ca_file": "none.pem"}}, ["'endpoint.ca_file': there is no file"]),
            ({"endpoint": {**endpoint, "key_file": "open.key"}}, ["'endpoint.key_file': others than its owner"]),
            ({"api": {"token_file": "none", "ca_file": "none.pem"}, "endpoint": {**endpoint, "key_file": "none", "ca_file": "none.pem"}},
             ["'api.token_file': ", "'api.ca_file': ", "'endpoint.key_file': ", "'endpoint.ca_file': "]),
        ]:
            with self.subTest(change=change):
                path = self.folder / "wrong.json5"
                path.write_text(json.dumps({"bot": "b", "persona": {"en": "p.md"}, "endpoint": endpoint, **change}))
                run = [str(BINARIES / "sillok-bot"), "run", "--config", str(path)]
                checked = subprocess.run([*run, "--check-config"], capture_output=True, text=True, timeout=20)
                self.assertEqual(checked.returncode, 78, checked.stderr)
                for line in said:
                    self.assertIn(f"{path}: {line}", checked.stderr)
                started = subprocess.run(run, capture_output=True, text=True, timeout=20)
                self.assertIn(started.returncode, (66, 78), started.stderr)


class TwoNodesTests(WithModel):
    """A worker at each of two nodes that answers the users of its node (`home: local`)."""

    peers = True

    def test_each_node_answers_its_own(self) -> None:
        b = self.started("b")
        joined(self.a, b)
        workers = []
        for node in (self.a, b):
            workers.append(self.launched(self.config(node.name, api={"url": node.base}, subscription={"start": "now", "home": "local"})))
            settled(self.a, b)
        asked = {}
        for number in range(40):
            node = (self.a, b)[number % 2]
            asked[node.client().post("u1", f"물음 {number}", f"{self.name}-{number}")["id"]] = node.name
        replies = [self.replied(f"{self.name}-{number}", 1, 30) for number in range(40)]
        self.assertEqual([len(found) for found in replies], [1] * 40)
        self.assertEqual({found[0]["cause"] for found in replies}, set(asked))
        self.assertEqual(len(self.model.requests), 40)
        origins = {name: {found[0]["source"] for found in replies if asked[found[0]["cause"]] == name} for name in ("a", "b")}
        self.assertEqual([len(origins["a"]), len(origins["b"])], [1, 1])
        self.assertNotEqual(origins["a"], origins["b"])
        for worker in workers:
            self.assertEqual(worker.stop(), 0)
