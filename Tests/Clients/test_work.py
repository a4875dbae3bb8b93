"""Bots of the Python client: `work`, `run`, `reply`, while workers and the daemon are killed."""
import os
import subprocess
import sys
import threading
import time
import unittest
from collections import Counter
from typing import List

from daemon import DaemonTests, ROOT, joined, settled, texts, until
from sillok import Delivery, Sillok, SillokError, reply_id

BOT = """
import sys
from sillok import Sillok
bot = Sillok(sys.argv[1])
for d in bot.work(sys.argv[2], start="first", type="message.posted", user=sys.argv[3]):
    print(d.data["text"], flush=True)
    if d.data["text"] == "죽음":
        import os
        os.kill(os.getpid(), 9)
    bot.reply(d, text="답: " + d.data["text"])
"""


class WorkTests(DaemonTests):
    def replies(self, user: str) -> List[str]:
        return texts(self.client.history(user, role="assistant", limit=500, order="oldest"))

    def test_acks_when_the_body_goes_on(self) -> None:
        for n in range(5):
            self.client.post("u-1", f"글 {n}", "방 1")
        seen = []
        for d in self.client.work("w1", start="first", user="u-1"):
            seen.append(d.data["text"])
            if len(seen) == 3:
                break
        self.assertEqual(seen, ["글 0", "글 1", "글 2"])
        [again] = self.client.pull("w1")
        self.assertEqual((again.data["text"], again.attempt), ("글 2", 2))

    def test_leaving_the_loop_by_an_error_gives_the_event_back_at_once(self) -> None:
        self.client.post("u-2", "글", "방 2")
        with self.assertRaises(ZeroDivisionError):
            for _ in self.client.work("w2", start="first", user="u-2"):
                1 / 0
        began = time.monotonic()
        self.assertEqual(self.client.pull("w2", wait_ms=5000)[0].attempt, 2)
        self.assertLess(time.monotonic() - began, 3)

    def test_with_a_delivery_the_error_is_told_and_the_loop_goes_on(self) -> None:
        for n in range(2):
            self.client.post("u-3", f"글 {n}", f"방 3-{n}")
        seen = []
        with self.assertLogs("sillok", "WARNING"):
            for d in self.client.work("w3", start="first", user="u-3", attempts=1):
                with d:
                    seen.append(d.data["text"])
                    if len(seen) == 1:
                        raise ValueError("이상한 글")
                if len(seen) == 2:
                    break
        [parked] = self.client.parked("w3")
        self.assertEqual((seen, parked["error"]), (["글 0", "글 1"], "ValueError: 이상한 글"))

    def test_run_in_parallel(self) -> None:
        for n in range(12):
            self.client.post("u-4", f"글 {n}", f"방 4-{n}")
        began, threads, done = time.monotonic(), set(), []

        def handle(delivery: Delivery) -> None:
            time.sleep(0.2)
            threads.add(threading.get_ident())
            if delivery.data["text"] == "글 3" and delivery.attempt < 3:
                raise ValueError("아직")
            done.append(delivery.data["text"])
            if len(done) == 12:
                raise SystemExit(0)
        with self.assertLogs("sillok", "WARNING"), self.assertRaises(SystemExit):
            self.client.run("w4", handle, parallel=4, start="first", user="u-4", backoff_ms=[10])
        self.assertEqual(sorted(done), sorted(f"글 {n}" for n in range(12)))
        self.assertEqual(len(threads), 4)
        self.assertLess(time.monotonic() - began, 5)

    def test_long_work_is_extended(self) -> None:
        self.client.post("u-5", "오래 걸리는 글", "방 5")
        for d in self.client.work("w5", start="first", user="u-5", type="message.posted", ack_wait_ms=1000):
            time.sleep(2.5)
            self.assertEqual(self.client.pull("w5", wait_ms=0), [])
            self.client.reply(d, text="이제야")
            break
        self.assertEqual(self.client.pull("w5", wait_ms=1500), [])

    def test_too_long_work_is_given_to_another(self) -> None:
        client = self.started("long").client(patience=1)
        client.post("u-6", "멈춘 글", "방 6")
        for d in client.work("w6", start="first", user="u-6", type="message.posted", ack_wait_ms=1000, longest=0.5):
            [other] = client.pull("w6", wait_ms=5000)
            self.assertEqual((other.id, other.attempt), (d.id, 2))
            client.reply(d, text="하나")
            self.assertEqual(client.reply(other, text="하나")["type"], "already")
            break
        self.assertEqual(texts(client.history("u-6", role="assistant")), ["하나"])

    def test_two_answers_in_other_words_leave_the_first(self) -> None:
        self.client.post("u-7", "질문", "방 7")
        self.client.subscribe("w7", start="first", user="u-7", type="message.posted", ack_wait_ms=1000)
        [first] = self.client.pull("w7")
        [second] = self.client.pull("w7", wait_ms=5000)
        self.assertEqual(self.client.reply(first, text="첫 답")["type"], "appended")
        line = self.client.reply(second, text="다른 답")
        self.assertEqual((line["type"], line["code"]), ("rejected", "E_ID_REUSED"))
        self.assertEqual(self.replies("u-7"), ["첫 답"])
        self.assertEqual(self.client.pull("w7", wait_ms=1500), [])

    def test_someone_elses_event_under_the_id_is_no_reply(self) -> None:
        for taken, answered in ((2, True), (8, False)):
            name, user = f"taken-{taken}", f"u-taken-{taken}"
            cause = self.client.post(user, "질문", f"방 {name}")["id"]
            for turn in range(1, taken + 1):  # of the bot, about something else; of someone else about this
                self.client.append({"id": reply_id(cause, name, "", turn), "type": "note.kept", "user": user, "data": {},
                                    **({"author": name} if turn == 1 else {"cause": cause})})
            self.client.subscribe(name, start="first", user=user, type="message.posted")
            [delivery] = self.client.pull(name)
            with self.assertLogs("sillok", "WARNING") as logs:
                if answered:
                    line = self.client.reply(delivery, text="답")
                else:
                    with self.assertRaises(SillokError) as refused:
                        self.client.reply(delivery, text="답")
            if answered:
                self.assertEqual((line["type"], line["id"]), ("appended", reply_id(cause, name, "", 3)))
                self.assertEqual(self.client.reply(delivery, text="다른 답", ack=False)["code"], "E_ID_REUSED")
                self.assertEqual((self.replies(user), self.client.parked(name)), (["답"], []))
            else:
                self.assertEqual((refused.exception.code, self.replies(user)), ("E_ID_REUSED", []))
                [parked] = self.client.parked(name)
                self.assertEqual(parked["event"], cause)
                self.assertIn("is not answered, and parked", logs.output[-1])

    def test_several_replies_to_one_message(self) -> None:
        self.client.post("u-8", "질문", "방 8")
        self.client.subscribe("w8", start="first", user="u-8", type="message.posted")
        [delivery] = self.client.pull("w8")
        self.client.reply(delivery, text="요약", label="요약", ack=False)
        self.client.reply(delivery, data={"text": "본문", "model": "gpt-4"}, author="bot:gpt-4")
        self.assertEqual(self.replies("u-8"), ["요약", "본문"])
        self.assertEqual([row["event"]["author"] for row in self.client.history("u-8", role="assistant", order="oldest")], ["w8", "bot:gpt-4"])

    def test_work_ends_when_the_subscription_does(self) -> None:
        ended = []

        def work() -> None:
            try:
                for _ in self.client.work("w9", start="now"):
                    pass
            except SillokError as error:
                ended.append(error.code)
        thread = threading.Thread(target=work)
        thread.start()
        until(lambda: "w9" in [line["name"] for line in self.client.subscriptions()])
        time.sleep(0.3)
        self.client.unsubscribe("w9")
        thread.join(20)
        self.assertEqual(ended, ["E_NOT_FOUND"])

    def test_workers_are_killed(self) -> None:
        for n in range(100):
            self.client.post("u-10", f"글 {n}", f"방 10-{n % 10}")
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python")}

        def bot() -> "subprocess.Popen[str]":
            return subprocess.Popen([sys.executable, "-B", "-c", BOT, self.a.base, "w10", "u-10"], env=environment, text=True,
                                    stdout=subprocess.PIPE)
        workers, ended = [bot(), bot()], []
        for _ in range(4):
            time.sleep(0.6)
            ended.append(workers.pop(0))
            ended[-1].kill()
            workers.append(bot())
        until(lambda: len(self.replies("u-10")) == 100, 60)
        for worker in workers:
            worker.kill()
        worked = Counter(line for worker in ended + workers for line in (worker.communicate()[0] or "").split("\n") if line)
        self.assertEqual(sorted(self.replies("u-10")), sorted(f"답: 글 {n}" for n in range(100)))
        self.assertLessEqual(sum(worked.values()), 100 + 4)

    def test_an_event_that_kills_its_worker_is_parked(self) -> None:
        for n in range(3):
            self.client.post("u-11", f"글 {n}", f"방 11-{n}")
        self.client.post("u-11", "죽음", "방 11")
        self.client.post("u-11", "다음", "방 11")
        self.client.subscribe("w11", start="first", type="message.posted", user="u-11", attempts=3, late_ms=600_000)
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients/python")}
        code = BOT.replace('user=sys.argv[3]', 'user=sys.argv[3], attempts=3')
        for _ in range(3):
            subprocess.run([sys.executable, "-B", "-c", code, self.a.base, "w11", "u-11"], env=environment, timeout=60, check=False,
                           stdout=subprocess.DEVNULL)
        until(lambda: len(self.client.parked("w11")) == 1, 15)
        worker = subprocess.Popen([sys.executable, "-B", "-c", code, self.a.base, "w11", "u-11"], env=environment, stdout=subprocess.DEVNULL)
        until(lambda: len(self.replies("u-11")) == 4, 30)
        worker.kill()
        worker.wait()
        self.assertIn("답: 다음", self.replies("u-11"))


class DaemonKilledTests(DaemonTests):
    def test_nothing_is_missing_and_nothing_acked_comes_again(self) -> None:
        seen, acked, again = [], set(), []

        def work(name: str) -> None:
            bot = self.a.client(patience=60)
            for d in bot.work("살아남기".encode().hex()[:8], start="first", type="message.posted"):
                if d.id in acked:
                    again.append(d.id)
                bot.reply(d, text=f"답: {d.data['text']}")
                acked.add(d.id)
                seen.append(d.data["text"])
                if len(set(seen)) == 200:
                    return
        threads = [threading.Thread(target=work, args=(str(number),), daemon=True) for number in range(3)]
        for thread in threads:
            thread.start()

        def write() -> None:
            client = self.a.client(patience=60)
            for n in range(200):
                client.post("u-1", f"글 {n}", f"방 {n % 20}")
        writer = threading.Thread(target=write)
        writer.start()
        for _ in range(4):
            time.sleep(0.7)
            self.a.kill()
            self.a.start()
        writer.join(60)
        client = Sillok(self.a.base)
        until(lambda: len(list(client.history("u-1", role="assistant", limit=500))) >= 200, 60)
        replies = texts(client.history("u-1", role="assistant", limit=500))
        self.assertEqual(sorted(replies), sorted(f"답: 글 {n}" for n in range(200)))
        self.assertEqual(again, [])


class FullTests(DaemonTests):
    def test_a_full_disk_ends_no_bot_and_parks_nothing(self) -> None:
        """What is refused for now is repeated with the same ids, and is no attempt."""
        client, short, tries = self.client, self.a.client(patience=0.2), []
        for name, members in (("loop", {}), ("run", {"attempts": 1}), ("own", {"attempts": 1, "backoff_ms": [10]})):
            client.subscribe(name, start="now", type="message.posted", late_ms=600_000, **members)
        client.post("u-1", "글", "방 1")
        self.a.full()

        def loop() -> None:
            for d in works[0]:
                client.reply(d, text="답 loop")

        def run() -> None:
            for d in works[1]:
                with d:
                    client.reply(d, text="답 run")

        def own() -> None:
            for d in works[2]:
                with d:
                    tries.append(d.attempt)
                    short.append({"id": reply_id(d.id, "own"), "type": "bot.replied", "user": "u-1", "author": "own", "data": {"text": "답 own"}})
        works = [client.work(name) for name in ("loop", "run", "own")]
        threads = [threading.Thread(target=body, daemon=True) for body in (loop, run, own)]
        with self.assertLogs("sillok", "WARNING"):
            for thread in threads:
                thread.start()
            until(lambda: len(tries) == 4)
        self.assertEqual(set(tries), {1})
        self.a.full(False)
        until(lambda: len(list(client.history("u-1", role="assistant"))) == 3)
        self.assertEqual(sorted(texts(client.history("u-1", role="assistant"))), ["답 loop", "답 own", "답 run"])
        until(lambda: all(line["open"] == 0 and line["behind"] == 0 for line in client.subscriptions()))
        self.assertEqual(([thread.is_alive() for thread in threads], [line["parked"] for line in client.subscriptions()]), ([True] * 3, [0] * 3))
        for work in works:
            work.close()


class HomeLostTests(DaemonTests):
    peers = True

    def test_workers_go_on_at_another_node_when_the_home_is_gone(self) -> None:
        b = self.started("b")
        joined(self.a, b)
        Sillok(self.a.base).subscribe("bot", start="first", type="message.posted")
        stop = threading.Event()

        def work() -> None:
            bot = Sillok(self.a.base, b.base)
            for d in bot.work("bot"):
                bot.reply(d, text=f"답: {d.data['text']}")
                if stop.is_set():
                    return
        for n in range(10):
            self.a.client().post("u-1", f"앞 {n}", f"방 {n % 3}")
        settled(self.a, b)
        threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        client = b.client()

        def replies() -> List[str]:
            return texts(client.history("u-1", role="assistant", limit=500))
        until(lambda: len(replies()) == 10, 30)
        self.a.kill()
        for n in range(10):
            client.post("u-1", f"뒤 {n}", f"방 {n % 3}")
        until(lambda: len(replies()) == 20, 60)
        self.assertEqual(sorted(replies()), sorted(f"답: {word} {n}" for word in ("앞", "뒤") for n in range(10)))
        stop.set()
        client.post("u-1", "끝", "방 끝")
        client.post("u-1", "끝", "방 끝 2")
