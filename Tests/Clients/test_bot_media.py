"""Bots of the kinds image and voice against a real daemon and a model server with faults: the bytes are kept, each step is one effect."""
import hashlib
import json
import subprocess
import time
import unittest
import zlib
from pathlib import Path
from typing import Any, Dict, List, Tuple

from daemon import BINARIES, ROOT, DaemonTests, joined, settled, until
from sillok import reply_id
from test_bot import WithModel

from model import picture, sound  # found by what test_bot looks at

Json = Dict[str, Any]
NORETRY = {"attempts": 1}


def recording(text: str) -> bytes:
    return b"ID3|" + text.encode() + b"|\x00\r\n--\xff"


def picture_size(data: bytes) -> Tuple[int, int]:
    """Width and height of a PNG whose chunks and pixels are whole."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise AssertionError("no PNG")
    at, pixels, size, names = 8, b"", (0, 0), []
    while at < len(data):
        length, name = int.from_bytes(data[at:at + 4], "big"), data[at + 4:at + 8]
        body, check = data[at + 8:at + 8 + length], data[at + 8 + length:at + 12 + length]
        if zlib.crc32(name + body) != int.from_bytes(check, "big"):
            raise AssertionError(f"the check of {name!r}")
        names.append(name)
        if name == b"IHDR":
            size = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:8], "big")
        pixels += body if name == b"IDAT" else b""
        at += 12 + length
    if names != [b"IHDR", b"IDAT", b"IEND"] or len(zlib.decompress(pixels)) != size[1] * (1 + 3 * size[0]):
        raise AssertionError(f"{names}, {size}")
    return size


class Media(WithModel):
    """What bots of both kinds are tried with."""

    kind: Json = {}

    def made(self, name: str = "bot", **more: Any) -> Path:
        path = self.config(name, **{**self.kind, **more})
        if self.kind["kind"] == "image":  # it is told no persona
            whole = json.loads(path.read_text("utf-8"))
            del whole["persona"]
            path.write_text(json.dumps(whole, ensure_ascii=False), "utf-8")
        return path

    def bytes_of(self, sha256: str) -> bytes:
        path = self.folder / f"{self.name}-{sha256[:8]}"
        path.unlink(missing_ok=True)
        self.a.ctl("attachment", "get", sha256, "--out", str(path))
        return path.read_bytes()

    def failed(self, conversation: str, count: int = 1) -> Json:
        until(lambda: len(self.events(conversation, "bot.failed")) >= count, 20)
        return self.events(conversation, "bot.failed")[-1]["data"]

    def idle(self) -> None:
        until(lambda: next(line for line in self.client.subscriptions() if line["name"] == self.name)["open"] == 0, 20)

    def paths(self) -> List[str]:
        return [request["path"].split("/")[-1].split("?")[0] for request in self.model.requests]


class ImageTests(Media):
    kind = {"kind": "image"}

    def setUp(self) -> None:
        super().setUp()
        self.kind = {"kind": "image", "endpoint": {"url": self.model.url, "model": "dall-e-2", "key_file": "key", "parameters": {"size": "1024x1024"}}}

    def test_a_picture_is_kept(self) -> None:
        """S4-9: the request is the configuration's, and the bytes stay, though the link gave them once; the key goes to the endpoint alone."""
        for links in (False, True):
            with self.subTest(links=links):
                self.model.links = links
                self.name = f"bot-picture-{links}".lower()
                bot = self.launched(self.made())
                message = self.ask("고양이 그림", self.name)
                reply = self.replied(self.name, 1)[0]
                data, item = reply["data"], reply["data"]["attachments"][0]
                self.assertEqual((reply["id"], reply["cause"]), (reply_id(message, self.name), message))
                self.assertEqual(self.bytes_of(item["sha256"]), picture("고양이 그림"))
                self.assertEqual((item["mediaType"], item["alt"]), ("image/png", "a picture of 고양이 그림"))
                self.assertEqual((data["prompt"], data["model"], "text" in data), ("고양이 그림", "dall-e-2", False))
                asked = next(request for request in reversed(self.model.requests) if request["path"].endswith("generations"))
                self.assertEqual(asked["body"], {"model": "dall-e-2", "prompt": "고양이 그림", "n": 1, "size": "1024x1024"})
                self.assertEqual(asked["authorization"], "Bearer sk-test-4711")
                self.assertEqual(self.model.requests[-1]["authorization"], None if links else "Bearer sk-test-4711")
                self.assertEqual(bot.stop(), 0)
                self.assertNotIn("sk-test-4711", bot.log.read_text("utf-8"))

    def test_faults(self) -> None:
        """Each fault is tried again; the picture that comes in the end is whole, and one."""
        self.launched(self.made())
        faults = [{"kind": "status", "status": 500}, {"kind": "cut"}, {"kind": "garbage"}, {"kind": "html"}, {"kind": "close"}]
        for number, fault in enumerate(faults):
            with self.subTest(fault=fault):
                self.model.fault(**fault)
                room, before = f"{self.name}-{number}", len(self.model.requests)
                self.ask("고양이", room)
                data = self.replied(room, 1)[0]["data"]
                self.assertEqual((len(self.model.requests) - before, data["attempt"]), (2, 2))
                self.assertEqual(self.bytes_of(data["attachments"][0]["sha256"]), picture("고양이"))

    def test_faults_of_links(self) -> None:
        """A link that breaks off, is gone, has a page or leads on: the picture comes; one that leads elsewhere is not followed."""
        self.model.links = True
        self.launched(self.made())
        for number, (fault, paths) in enumerate([
            ({"kind": "cut"}, ["generations", "0", "0", "generations", "1"]), ({"kind": "gone"}, ["generations", "2", "generations", "3"]),
            ({"kind": "elsewhere"}, ["generations", "4", "4"]),
        ]):
            with self.subTest(fault=fault):
                self.model.fault("none")
                self.model.fault(**fault)  # type: ignore[arg-type]
                before = len(self.model.requests)
                self.ask("고양이", f"{self.name}-{number}")
                item = self.replied(f"{self.name}-{number}", 1)[0]["data"]["attachments"][0]
                self.assertEqual(self.paths()[before:], paths)
                self.assertEqual(self.bytes_of(item["sha256"]), picture("고양이"))
        self.model.fault("none")
        self.model.fault("elsewhere", to="http://localhost:1")
        self.ask("고양이", self.name)
        failed = self.failed(self.name)
        self.assertEqual((failed["code"], failed["step"]), ("address", "fetch"))

    def test_what_has_no_picture(self) -> None:
        """S4-10: a refusal, nothing at all, too large, too slow: each has its code, is final, and can be asked for again."""
        self.launched(self.made(retries=NORETRY, image={"max_bytes": "4KiB"}, endpoint={**self.kind["endpoint"], "timeout": "1s"}))
        for number, (text, fault, code) in enumerate([
            ("unsafe", {"kind": "none"}, "filtered"), ("고양이", {"kind": "empty"}, "no_data"),
            ("고양이", {"kind": "large", "bytes": 8_000}, "too_large"), ("고양이", {"kind": "slow", "ms": 4_000}, "timeout"),
        ]):
            with self.subTest(code=code):
                self.model.fault(**fault)  # type: ignore[arg-type]
                room = f"{self.name}-{number}"
                message = self.ask(text, room)
                failed = self.failed(room)
                self.assertEqual((failed["code"], failed["step"], failed["final"]), (code, "draw", True))
        self.client.append({"type": "bot.retryRequested", "user": "u1", "subject": f"conversation/{room}", "data": {"inReplyTo": message}})
        self.assertEqual(len(self.replied(room, 1)[0]["data"]["attachments"]), 1)

    def test_killed_while_it_draws(self) -> None:
        """kill -9 again and again: each message has one picture in the end."""
        config = self.made()
        self.model.fault("slow", times=100, ms=150)
        bot = self.launched(config)
        asked = [self.ask(f"그림 {number}", f"{self.name}-{number % 4}") for number in range(16)]
        for _ in range(5):
            time.sleep(0.3)
            bot.kill()
            bot = self.launched(config)
        rooms = [f"{self.name}-{number}" for number in range(4)]
        until(lambda: sum(len(self.events(room, "bot.replied")) for room in rooms) >= 16, 60)
        self.idle()
        replies = [reply for room in rooms for reply in self.events(room, "bot.replied")]
        self.assertEqual(sorted(reply["cause"] for reply in replies), sorted(asked))
        for reply in replies:
            self.assertEqual(self.bytes_of(reply["data"]["attachments"][0]["sha256"]), picture(reply["data"]["prompt"]))

    def test_a_conversation_chooses_the_model(self) -> None:
        """S4-8: the last choice counts; one that is not offered fails the message, and nothing is asked."""
        self.launched(self.made(endpoint={**self.kind["endpoint"], "models": ["dall-e-2", "dall-e-3"]}))
        to = {"user": "u1", "subject": f"conversation/{self.name}"}
        for count, (model, used) in enumerate([("dall-e-3", "dall-e-3"), ("gpt-4", None), (None, "dall-e-2")]):
            self.client.append({"type": "conversation.changed", **to, "data": {"fields": {"model": model}}})
            before = len(self.model.requests)
            self.ask("고양이", self.name)
            until(lambda: len(self.events(self.name, "bot.replied", "bot.failed")) > count)
            self.assertEqual([request["body"]["model"] for request in self.model.requests[before:]], [used] if used else [])
        self.assertEqual([event["data"]["code"] for event in self.events(self.name, "bot.failed")], ["model"])

    def test_check(self) -> None:
        config = self.made()
        check = subprocess.run([str(BINARIES / "sillok-bot"), "check", "--config", str(config)], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout)
        self.assertIn("dall-e-2 is there", check.stdout)
        self.assertEqual(self.paths(), ["dall-e-2"])


class VoiceTests(Media):
    kind = {"kind": "voice", "hear": {"model": "whisper-1", "parameters": {"language": "ko"}},
            "speak": {"model": "tts-1", "voice": "alloy", "parameters": {"speed": 1.0}}}

    def say(self, text: str, conversation: str, data: bytes = b"", user: str = "u1") -> str:
        data = data or recording(text)
        stored = self.client.request("POST", "/v1/attachments", body=data, headers={"Content-Type": "audio/mp4"}).lines[0]
        item = {"sha256": stored["sha256"], "bytes": len(data), "mediaType": "audio/mp4"}
        return self.client.append({"type": "message.posted", "user": user, "subject": f"conversation/{conversation}",
                                   "data": {"attachments": [item]}})[0]["id"]

    def test_a_voice_is_heard_answered_and_spoken(self) -> None:
        """S4-14, S4-15, S4-16: three requests as configured; the record has what was heard, what was answered, and the sound of it."""
        bot = self.launched(self.made())
        message = self.say("머리가 아파요", self.name)
        reply = self.replied(self.name, 1)[0]
        heard = self.events(self.name, "bot.transcribed")
        self.assertEqual([(event["id"], event["author"], event["cause"]) for event in heard],
                         [(reply_id(message, self.name, "transcript"), self.name, message)])
        self.assertEqual((heard[0]["data"]["text"], heard[0]["data"]["model"]), ("머리가 아파요", "whisper-1"))
        self.assertEqual(heard[0]["data"]["attachment"], hashlib.sha256(recording("머리가 아파요")).hexdigest())
        answer = "언제부터 아프셨나요? 정도는 어느 만큼이고, 정확한 위치는 어디인가요?"
        item = reply["data"]["attachments"][0]
        self.assertEqual((reply["data"]["text"], reply["data"]["transcript"], reply["cause"]), (answer, "머리가 아파요", message))
        self.assertEqual((item["mediaType"], self.bytes_of(item["sha256"])), ("audio/mpeg", sound(answer)))
        self.assertEqual(self.paths(), ["transcriptions", "completions", "speech"])
        form, chat, speech = [request["body"] for request in self.model.requests]
        self.assertEqual((form["model"], form["language"], form["response_format"]), ("whisper-1", "ko", "json"))
        self.assertEqual((form["file"]["name"], form["file"]["type"]), ("recording.m4a", "audio/mp4"))
        self.assertEqual(form["file"]["bytes"].encode("latin-1"), recording("머리가 아파요"))
        self.assertEqual((chat["temperature"], chat["messages"][-1]["content"]), (0, "머리가 아파요"))
        self.assertEqual(speech, {"model": "tts-1", "input": answer, "voice": "alloy", "response_format": "mp3", "speed": 1.0})
        # What was heard is found, as what a machine heard; taken back, it is not.
        hits = [line for line in self.client.request("GET", "/v1/search", {"q": "머리가", "conversation": self.name}).lines if line["type"] == "hit"]
        self.assertEqual([(hit["kind"], hit["event"]["author"]) for hit in hits], [("transcript", self.name)])
        # The next question goes with what was heard before it.
        self.ask("그리고 배도요", self.name)
        self.replied(self.name, 2)
        self.assertEqual([turn["content"] for turn in self.model.requests[-2]["body"]["messages"][1:]], ["머리가 아파요", answer, "그리고 배도요"])
        self.client.append({"type": "message.retracted", "user": "u1", "subject": f"conversation/{self.name}", "data": {"message": message}})
        until(lambda: [line["type"] for line in self.client.request("GET", "/v1/search", {"q": "머리가", "conversation": self.name}).lines] == ["end"])
        self.assertEqual(bot.stop(), 0)
        for word in ("머리가", "sk-test-4711"):
            self.assertNotIn(word, bot.log.read_text("utf-8"))

    def test_faults_of_each_step(self) -> None:
        """A fault in a step repeats that step alone; one that stays says which step it was."""
        self.launched(self.made(retries={"attempts": 2, "first": "10ms", "longest": "20ms"}))
        steps, paths = ["transcribe", "answer", "speak"], ["transcriptions", "completions", "speech"]
        for at in range(3):
            for fault in ({"kind": "status", "status": 500}, {"kind": "cut"}, {"kind": "garbage"}, {"kind": "html"}, {"kind": "close"}):
                if (at, fault["kind"]) == (2, "garbage"):
                    continue  # sound has no form that could be wrong
                with self.subTest(step=steps[at], fault=fault):
                    room, before = f"{self.name}-{at}-{fault['kind']}", len(self.model.requests)
                    self.model.fault("none", times=at)
                    self.model.fault(**fault)  # type: ignore[arg-type]
                    self.say("머리", room)
                    self.assertEqual(self.replied(room, 1)[0]["data"]["attempt"], 2 if at == 1 else 1)
                    self.assertEqual(self.paths()[before:], paths[:at] + [paths[at]] + paths[at:])
            with self.subTest(step=steps[at]):
                room = f"{self.name}-{at}-ends"
                self.model.fault("none", times=at)
                self.model.fault("status", times=2, status=503)
                message = self.say("머리", room)
                failed = self.failed(room)
                self.assertEqual((failed["step"], failed["code"], failed["status"], failed["attempt"]), (steps[at], "status", 503, 2))
                self.assertEqual(len(self.events(room, "bot.transcribed")), 1 if at else 0)
                # A retry goes on where it ended: what was heard is not heard again.
                before = len(self.model.requests)
                self.client.append({"type": "bot.retryRequested", "user": "u1", "subject": f"conversation/{room}", "data": {"inReplyTo": message}})
                self.replied(room, 1)
                self.assertEqual(self.paths()[before:], paths[1 if at else 0:])

    def test_what_is_too_much_or_nothing(self) -> None:
        limits = {"hear": {"model": "w", "max_bytes": "1KiB"}, "speak": {"model": "t", "voice": "v", "max_bytes": "4KiB"}}
        self.launched(self.made(retries=NORETRY, **limits))
        for number, (data, faults, code, step) in enumerate([
            (bytes(2_000), [], "too_large", "transcribe"), (b"ID3 no word", [], "no_data", "transcribe"),
            (b"", [{"kind": "none"}] * 2 + [{"kind": "large", "bytes": 8_000}], "too_large", "speak"),
            (b"", [{"kind": "none"}] * 2 + [{"kind": "empty"}], "no_data", "speak"),
        ]):
            with self.subTest(code=code, step=step):
                for fault in faults:
                    self.model.fault(**fault)  # type: ignore[arg-type]
                room = f"{self.name}-{number}"
                self.say("머리", room, data)
                failed = self.failed(room)
                self.assertEqual((failed["code"], failed["step"]), (code, step))

    def test_bytes_that_are_not_here_yet(self) -> None:
        """The message may come before its bytes: it is tried again, and then fails."""
        self.launched(self.made(retries={"attempts": 2, "first": "10ms", "longest": "20ms"}))
        item = {"sha256": "0" * 64, "bytes": 9, "mediaType": "audio/mp4"}
        to = {"user": "u1", "subject": f"conversation/{self.name}"}
        self.client.append({"type": "message.posted", **to, "data": {"attachments": [item]}})
        until(lambda: self.events(self.name, "bot.failed"), 40)
        failed = self.failed(self.name)
        self.assertEqual((failed["code"], failed["step"], self.paths()), ("missing", "transcribe", []))

    def test_cancelled_in_each_step(self) -> None:
        """S4-17: cancelled in a step, the next one is not asked for, and there is no reply."""
        self.launched(self.made())
        for at in range(3):
            room, before = f"{self.name}-{at}", len(self.model.requests)
            self.model.fault("none", times=at)
            self.model.fault("slow", ms=3_000)
            message = self.say("하나 둘 셋 넷", room)
            until(lambda: len(self.model.requests) - before == at + 1)
            began = time.monotonic()
            self.client.append({"type": "bot.cancelled", "user": "u1", "subject": f"conversation/{room}", "data": {"inReplyTo": message}})
            self.idle()
            self.assertLess(time.monotonic() - began, 2.5)
            time.sleep(0.3)
            self.assertEqual(len(self.model.requests) - before, at + 1)
            self.assertEqual(self.events(room, "bot.replied", "bot.failed"), [])

    def test_killed_between_all_steps(self) -> None:
        """kill -9 while each step is under way, and many times at random: one reply, one transcript."""
        config = self.made()
        bot = self.launched(config)
        for at in range(3):
            room, before = f"{self.name}-{at}", len(self.model.requests)
            self.model.fault("none", times=at)
            self.model.fault("slow", ms=1_000)
            self.say("머리", room)
            until(lambda: len(self.model.requests) - before == at + 1)
            time.sleep(0.1)
            bot.kill()
            bot = self.launched(config)
            self.replied(room, 1)
            self.assertEqual(self.paths()[before:].count("transcriptions"), 1 if at else 2)
        asked = {}
        self.model.fault("slow", times=200, ms=40)
        for number in range(20):
            asked[self.say(f"말 {number}", f"{self.name}-r{number % 4}")] = f"말 {number}"
        for number in range(8):
            time.sleep(0.15 + 0.07 * (number % 3))
            bot.kill()
            bot = self.launched(config)
        rooms = [f"{self.name}-r{number}" for number in range(4)]
        until(lambda: sum(len(self.events(room, "bot.replied")) for room in rooms) >= 20, 60)
        self.idle()
        replies = [reply for room in rooms for reply in self.events(room, "bot.replied")]
        self.assertEqual({reply["cause"]: reply["data"]["transcript"] for reply in replies}, asked)
        heard = [event for room in rooms for event in self.events(room, "bot.transcribed")]
        self.assertEqual({event["cause"]: event["data"]["text"] for event in heard}, asked)
        self.assertEqual((len(replies), len(heard)), (20, 20))

    def test_an_erasure_takes_what_was_heard(self) -> None:
        """What a user has said is nowhere any more: not as a recording, not as what was heard, not as what was answered (INV-11)."""
        self.launched(self.made())
        message = self.say("두통이 너무 심해요", self.name, user="gone")
        item = self.replied(self.name, 1)[0]["data"]["attachments"][0]
        plan = str(self.folder / "plan.json")
        self.a.ctl("erase", "user", "gone", "--authored", "erase", "--replies", "erase", "--reason", "r", "--who", "w", "--plan", plan)
        self.a.ctl("erase", "user", "gone", "--confirm", plan)
        until(lambda: "두통이" not in self.a.ctl("export"), 30)
        self.assertIsNone(self.client.event(reply_id(message, self.name, "transcript")).get("data"))
        for sha256 in (item["sha256"], hashlib.sha256(recording("두통이 너무 심해요")).hexdigest()):
            until(lambda: not (self.a.store / "attachments" / sha256[:2] / sha256).exists()
                  and not list(self.a.store.rglob(f"*{sha256}*")), 30)

    def test_check_speaks_and_hears(self) -> None:
        config = self.made()
        run = [str(BINARIES / "sillok-bot"), "check", "--config", str(config), "--json"]
        steps = [json.loads(line) for line in subprocess.run(run, capture_output=True, text=True).stdout.splitlines()]
        self.assertEqual([(line.get("step"), line.get("ok")) for line in steps][3:], [(name, True) for name in ("model", "speech", "transcription")] + [(None, None)])
        self.assertEqual(self.paths(), ["completions", "speech", "transcriptions"])
        self.model.fault("none")
        self.model.fault("status", status=404, code="model_not_found")
        check = subprocess.run(run[:-1], capture_output=True, text=True)
        self.assertEqual(check.returncode, 78, check.stdout)
        self.assertIn("speak.model: a model that the endpoint has", check.stdout)


class EchoTests(DaemonTests):
    def test_echo_draws_hears_and_speaks(self) -> None:
        """The examples run without a network: a picture and a sound that programs can read."""
        for kind in ("picture", "voice"):
            with self.subTest(kind=kind):
                command = [str(BINARIES / "sillok-bot"), "run", "--echo", "--config", str(ROOT / f"Examples/bot/{kind}.json5"), "--url", self.a.base]
                self.assertEqual(subprocess.run([*command, "--check-config"]).returncode, 0)
                process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
                self.addCleanup(process.kill)
                until(lambda: any(line["name"] == kind for line in self.client.subscriptions()))
                data = {"text": "고양이"} if kind == "picture" else {"attachments": [{
                    "sha256": self.client.request("POST", "/v1/attachments", body=b"ID3 0", headers={"Content-Type": "audio/mp4"}).lines[0]["sha256"],
                    "bytes": 5, "mediaType": "audio/mpeg"}]}
                message = self.client.append({"type": "message.posted", "user": "u1", "subject": f"conversation/{kind}", "data": data})[0]["id"]
                until(lambda: any(row["event"]["type"] == "bot.replied" for row in self.client.rows(kind)))
                reply = self.client.event(reply_id(message, kind))["data"]
                item, path = reply["attachments"][0], self.folder / kind
                self.a.ctl("attachment", "get", item["sha256"], "--out", str(path))
                if kind == "picture":
                    self.assertEqual((item["mediaType"], picture_size(path.read_bytes())), ("image/png", (16, 16)))
                    continue
                self.assertEqual((item["mediaType"], reply["text"]), ("audio/wav", "a recording of 5 bytes"))
                import wave
                with wave.open(str(path)) as tone:
                    self.assertEqual((tone.getnchannels(), tone.getframerate(), tone.getnframes()), (1, 8_000, 1_600))

    def test_wrong_configurations(self) -> None:
        """Each says the key, and the way out."""
        (self.folder / "p.md").write_text("text")
        endpoint = {"url": "http://127.0.0.1:1", "model": "m"}
        voice = {"kind": "voice", "persona": {"en": "p.md"}, "hear": {"model": "w"}, "speak": {"model": "t", "voice": "v"}}
        for change, said in [
            ({"kind": "picture"}, '"chat", "image", "voice"'), ({"kind": "image", "persona": {"en": "p.md"}}, 'say kind: "chat" or "voice"'),
            ({"kind": "image", "guards": []}, "'guards'"), ({"kind": "image", "hear": {}}, 'say kind: "voice"'),
            ({"persona": {"en": "p.md"}, "image": {}}, 'say kind: "image"'), ({"kind": "image", "image": {"max_bytes": 5}}, '"20MiB"'),
            ({"kind": "image", "image": {"max_byte": "5MiB"}}, "did you mean 'image.max_bytes'?"),
            ({"kind": "image", "endpoint": {**endpoint, "stream": True}}, "'endpoint.stream'"),
            ({"kind": "image", "endpoint": {**endpoint, "parameters": {"n": 4}}}, "'n' cannot be said"),
            ({"kind": "image", "answers": {"live": True}}, "'answers.live'"), ({**voice, "hear": None}, 'hear: { model: "whisper-1" }'),
            ({**voice, "speak": {"model": "t"}}, "'speak.voice' is missing"), ({**voice, "speak": None}, "write speak:"),
            ({**voice, "speak": {"model": "t", "voice": "v", "format": "pcm"}}, '"wav"'),
            ({**voice, "hear": {"model": "w", "parameters": {"file": 1}}}, "'file' cannot be said"),
            ({**voice, "hear": {"model": "w", "parameters": {"a\"b": 1}}}, "no name of a parameter"),
            ({**voice, "hear": {"model": "w", "max_bytes": "1GiB"}}, "1KiB to 60MiB"), ({**voice, "endpoint": {**endpoint, "models": ["a"]}}, "'endpoint.models'"),
        ]:
            with self.subTest(change=change):
                path = self.folder / "wrong.json5"
                whole = {"bot": "b", "endpoint": endpoint, **change}
                path.write_text(json.dumps({key: value for key, value in whole.items() if value is not None}, indent=1))  # type: ignore[attr-defined]
                run = subprocess.run([str(BINARIES / "sillok-bot"), "run", "--check-config", "--config", str(path)], capture_output=True, text=True, timeout=20)
                self.assertEqual(run.returncode, 78, run.stderr)
                self.assertIn(said, run.stderr)


class TwoNodesTests(Media):
    peers = True

    def test_the_other_node_has_the_picture(self) -> None:
        """S4-9: the SHA-256 is equal on both nodes, and so are the bytes."""
        self.kind = {"kind": "image", "endpoint": {"url": self.model.url, "model": "dall-e-2", "key_file": "key"}}
        b = self.started("b")
        joined(self.a, b)
        self.launched(self.made())
        self.ask("고양이", self.name)
        item = self.replied(self.name, 1)[0]["data"]["attachments"][0]
        settled(self.a, b)
        there = [row["event"] for row in b.client().rows(self.name) if row["event"]["type"] == "bot.replied"]
        self.assertEqual(there[0]["data"]["attachments"], [item])
        path = self.folder / "there.png"
        until(lambda: subprocess.run([str(BINARIES / "syncctl"), "attachment", "get", item["sha256"], "--out", str(path), "--store", str(b.store)]).returncode == 0)
        self.assertEqual(path.read_bytes(), picture("고양이"))


if __name__ == "__main__":
    unittest.main()
