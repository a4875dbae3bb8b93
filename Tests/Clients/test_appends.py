"""The Python client appends and reads."""
import re
import subprocess
import threading
import time
import uuid
from typing import List

from daemon import BINARIES, DaemonTests, ROOT, texts
from sillok import Sillok, Unreachable, event_id, reply_id


class IdTests(DaemonTests):
    def test_reply_ids_are_those_of_formats(self) -> None:
        lines = (ROOT / "docs/reference/FORMATS.md").read_text("utf-8").split("\n")
        rows = [[cell.strip().strip("`") for cell in line.split("|")[1:6]] for line in lines if re.match(r"\| [0-9a-f]{8}-\S+ \|", line)]
        self.assertEqual(len(rows), 8)
        for message, bot, label, turn, id in rows:
            self.assertEqual(reply_id(message, bot, label, int(turn)), id)

    def test_ids_are_uuidv7_of_now(self) -> None:
        id = uuid.UUID(event_id())
        self.assertEqual((id.version, id.variant), (7, uuid.RFC_4122))
        self.assertLess(abs((id.int >> 80) / 1000 - time.time()), 5)
        self.assertEqual(len({event_id() for _ in range(1000)}), 1000)

    def test_syncctl_makes_the_same_reply(self) -> None:
        message = self.client.post("u-김", "두통이 있어요", "c-한글")["id"]
        self.client.subscribe("replier", start="first", type="message.posted")
        delivery = self.client.pull("replier")[0]
        line = self.client.reply(delivery, text="푹 쉬세요", author="의료봇", label="요약 2")
        self.assertEqual(line["type"], "appended")
        said = self.a.ctl("append", "--reply-to", f"{message}:요약 2", "--author", "의료봇", "--text", "푹 쉬세요", "--json")
        self.assertIn('"type":"already"', said)
        self.assertIn(line["id"], said)
        event = self.client.event(line["id"])
        self.assertEqual([event[key] for key in ("type", "user", "author", "subject", "cause", "data")],
                         ["bot.replied", "u-김", "의료봇", "conversation/c-한글", message, {"text": "푹 쉬세요"}])


class AppendTests(DaemonTests):
    def test_appended_and_already(self) -> None:
        event = {"id": event_id(), "type": "message.posted", "user": "u-1", "subject": "conversation/c-1", "data": {"text": "안녕하세요"}}
        self.assertEqual([self.client.append(event)[0]["type"] for _ in range(3)], ["appended", "already", "already"])
        refused = self.refused("E_ID_REUSED", self.client.append, {**event, "data": {"text": "다른 말"}})
        self.assertEqual((refused.status, len(refused.results)), (409, 1))

    def test_all_or_none_and_each(self) -> None:
        good, bad = {"type": "message.posted", "user": "u-2", "data": {"text": "좋아요"}}, {"type": "", "user": "u-2", "data": {}}
        refused = self.refused("E_TYPE", self.client.append, [good, bad])
        self.assertEqual([line["code"] for line in refused.results], ["E_BATCH", "E_TYPE"])
        self.assertEqual([line["type"] for line in self.client.append([good, bad], each=True)], ["appended", "rejected"])
        self.assertEqual(texts(self.client.history("u-2")), ["좋아요"])

    def test_expected_version(self) -> None:
        self.client.post("u-3", "하나", "c-3")
        event = {"type": "message.posted", "user": "u-3", "subject": "conversation/c-3", "data": {"text": "둘"}}
        self.client.append(event, expect=("c-3", 1))
        self.refused("E_VERSION", self.client.append, event, expect=("c-3", 1))

    def test_derived_ids(self) -> None:
        event = {"type": "message.posted", "user": "u-4", "time": "2026-08-01T02:02:15.120Z", "data": {"text": "가져온 말"}}
        self.assertEqual([self.client.append([event], derived=True)[0]["type"] for _ in range(2)], ["appended", "already"])

    def test_what_json_can_say(self) -> None:
        text = "한글 \"\\\n\t\0 🫀 \ud800 끝"
        id = self.client.post("u-5", text, "c/5 ?#%", data={"수": 2 ** 70, "참": True, "없음": None})["id"]
        data = self.client.event(id)["data"]
        self.assertEqual(data, {"수": 2 ** 70, "참": True, "없음": None, "text": text})
        self.assertEqual(texts(self.client.rows("c/5 ?#%")), [text])
        with self.assertRaises(ValueError):
            self.client.post("u-5", "x", data={"수": float("nan")})

    def test_too_much(self) -> None:
        self.refused("E_PAYLOAD_SIZE", self.client.post, "u-6", "가" * 100_000)
        self.refused("E_BODY_SIZE", self.client.append, [{"type": "a", "user": "u-6", "data": {"x": "가" * 80_000}}] * 45)
        self.refused("E_BATCH_SIZE", self.client.append, [{"type": "a", "user": "u-6", "data": {}}] * 4097)
        self.refused("E_EMPTY", self.client.append, [])
        self.assertEqual(list(self.client.history("u-6")), [])

    def test_ten_thousand_from_four_clients_have_ids_of_their_own(self) -> None:
        """BE-002: 10,000 appends of four clients at once, each under a key that the node has for no other."""
        ids: List[str] = []

        def write(worker: int) -> None:
            client = self.a.client()
            for start in range(0, 2_500, 50):
                events = [{"type": "message.posted", "user": f"u-ids-{worker}", "data": {"text": f"{start + number}"}} for number in range(50)]
                ids.extend(line["id"] for line in client.append(events) if line["type"] == "appended")
        threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        self.assertEqual((len(ids), len(set(ids))), (10_000, 10_000))
        stored = {row["event"]["id"] for worker in range(4) for row in self.client.history(f"u-ids-{worker}", limit=500)}
        self.assertEqual(stored, set(ids))
        self.refused("E_ID_REUSED", self.client.append, {"id": ids[0], "type": "message.posted", "user": "u-ids-0", "data": {"text": "다른 말"}})

    def test_patience_ends(self) -> None:
        began = time.monotonic()
        with self.assertRaises(Unreachable):
            Sillok("unix:/nowhere.sock", patience=0.5).post("u", "x")
        self.assertLess(time.monotonic() - began, 3)
        for base in ("/run/syncd/api.sock", "ftp://x", "unix:"):
            with self.assertRaises(ValueError):
                Sillok(base)

    def test_one_event_each_while_the_daemon_is_killed(self) -> None:
        daemon = self.started("killed")
        sent, stop = [], threading.Event()

        def write(worker: int) -> None:
            client = daemon.client(patience=60)
            while not stop.is_set():
                text = f"{worker}번 {len(sent)}"
                client.post(f"u-{worker}", text, f"c-{worker}")
                sent.append(text)
        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(4):
            time.sleep(0.4)
            daemon.kill()
            daemon.start()
        stop.set()
        for thread in threads:
            thread.join(60)
        stored = [text for number in range(4) for text in texts(daemon.client().history(f"u-{number}", limit=500))]
        self.assertGreater(len(sent), 50)
        self.assertEqual(sorted(stored), sorted(sent))


class ReadTests(DaemonTests):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.client.append([{"type": "message.posted", "user": "u-1", "subject": f"conversation/c-{n % 7}", "data": {"text": f"글 {n}"}}
                           for n in range(1234)])
        cls.client.append({"type": "profile.changed", "user": "u-1", "data": {"fields": {"이름": "김하늘", "나이": 41}}})

    def test_pages(self) -> None:
        self.assertEqual(texts(row for row in self.client.history("u-1", order="oldest", type="message.posted")),
                         [f"글 {n}" for n in range(1234)])
        self.assertEqual(len(list(self.client.rows("c-3", limit=7))), len(range(3, 1234, 7)))
        self.assertEqual({row["conversation"] for row in self.client.conversations(limit=2)}, {f"c-{n}" for n in range(7)})
        self.assertEqual(next(self.client.rows("c-1"))["event"]["data"]["text"], "글 1233")

    def test_profile_and_events(self) -> None:
        profile = self.client.profile("u-1")
        self.assertEqual((profile["이름"]["value"], profile["나이"]["value"], profile["이름"]["conflict"]), ("김하늘", 41, False))
        self.assertEqual(self.client.profile("없는 사람"), {})
        self.assertEqual(self.refused("E_NOT_FOUND", self.client.event, event_id()).status, 404)
        self.refused("E_PARAMETER", lambda: list(self.client.history("u-1", limit=0)))
        self.refused("E_PARAMETER", lambda: list(self.client.history("u-1", cursor="00")))

    def test_the_program_that_reads_the_same(self) -> None:
        out = subprocess.run([BINARIES / "syncctl", "history", "u-1", "--store", self.a.store, "--plain"], capture_output=True, text=True,
                             check=True, timeout=60).stdout
        self.assertIn("글 1233", out)
