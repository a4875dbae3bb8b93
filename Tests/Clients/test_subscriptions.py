"""Subscriptions, as docs/operating/following.md has them."""
import json
import threading
import time
import unittest
from collections import defaultdict
from typing import Any, Dict, List

from daemon import DaemonTests, joined, settled, texts, until
from sillok import Delivery, SillokError, event_id


class SubscriptionTests(DaemonTests):
    number = 0

    def setUp(self) -> None:
        SubscriptionTests.number += 1
        self.name = f"s{SubscriptionTests.number}"
        self.user = f"u-{self.name}"

    def made(self, **members: Any) -> Dict[str, Any]:
        return self.client.subscribe(self.name, **{"start": "now", "user": self.user, **members})

    def post(self, *numbers: int, conversation: str = "방") -> List[str]:
        return [self.client.post(self.user, f"글 {n}", f"{conversation} {self.name}")["id"] for n in numbers]

    def pulled(self, max: int = 1, wait_ms: int = 5000) -> List[Delivery]:
        return self.client.pull(self.name, max, wait_ms)

    def one(self) -> Delivery:
        [delivery] = self.pulled()
        return delivery

    def line(self) -> Dict[str, Any]:
        return self.client.request("GET", f"/v1/subscriptions/{self.name}").lines[0]


class MakingTests(SubscriptionTests):
    def put(self, body: Any, name: str = "", method: str = "PUT", path: str = "") -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.request(method, f"/v1/subscriptions/{name or self.name}{path}", body=data, patience=0)

    def test_made_once(self) -> None:
        body = {"start": "now", "filter": {"type": ["message.posted"]}, "late_ms": 600_000}
        first, second = self.put(body), self.put(body)
        self.assertEqual((first.status, second.status), (201, 200))
        self.assertEqual(first.lines[0]["id"], second.lines[0]["id"])
        self.refused("E_EXISTS", self.put, {**body, "late_ms": 1})
        self.refused("E_EXISTS", self.put, {**body, "start": "first"})
        self.assertIn(self.name, [line["name"] for line in self.client.subscriptions()])
        event = self.client.changes("first", limit=1000, type="subscription.*")["items"][-1]
        self.assertEqual(event["type"], "subscription.created")

    def test_members_have_their_defaults(self) -> None:
        line = self.made()
        said = line.get("definition", line)
        self.assertEqual([said[key] for key in ("ack_wait_ms", "attempts", "backoff_ms", "order")],
                         [30_000, 5, [1000, 5000, 30_000, 120_000], "conversation"])
        self.assertNotIn("late_ms", said)

    def test_a_name_used_again_starts_anew(self) -> None:
        self.made(start="first")
        self.post(1)
        self.one().ack()
        self.client.unsubscribe(self.name)
        self.refused("E_NOT_FOUND", self.client.pull, self.name)
        self.made(start="first")
        self.assertEqual(texts([self.one().event]), ["글 1"])
        self.client.unsubscribe(self.name)
        self.refused("E_NOT_FOUND", self.client.unsubscribe, self.name)

    def test_names(self) -> None:
        for name in ("a", "0", "a.b_c-9", "x" * 64):
            self.assertIn(self.put({"start": "now"}, name).status, (200, 201))
        for name in ("A", "x" * 65, "%ED%95%9C%EA%B8%80", "a%20b", "a%2Fb", "%00", "a%0Ab"):
            with self.subTest(name):
                self.assertIn(self.refused_status(self.put, {"start": "now"}, name), (400, 404))

    def refused_status(self, what: Any, *words: Any) -> int:
        with self.assertRaises(Exception) as caught:
            what(*words)
        return int(caught.exception.status)

    def test_members_that_are_wrong(self) -> None:
        good = {"start": "now"}
        wrong: List[Any] = [{}, {"start": None}, {"start": 1}, {"start": ""}, {"start": "yesterday"}, {"start": "2026-13-01T00:00:00Z"},
                            {**good, "unknown": 1}, {**good, "start ": "now"}, [], "now", 1, None]
        for member, values in {
                "late_ms": [-1, 1.5, "1", 10 ** 40, True, [], 2 ** 63],
                "ack_wait_ms": [999, 3_600_001, 0, -1, "30000", 1e9, 10 ** 400, 2 ** 64 + 30_000],
                "attempts": [0, 101, -1, "5", 5.5, 2 ** 64 + 5],
                "backoff_ms": [1000, "1000", [-1], ["1"], [None], {}, [2 ** 64]],
                "order": ["user", "", None, 1, []],
                "filter": ["message.posted", [], 1, {"type": "message.posted"}, {"type": [1]}, {"typ": ["a"]}, {"user": [""] * 2 + [None]},
                           {"conversation": {"a": 1}}]}.items():
            wrong += [{**good, member: value} for value in values]
        for body in wrong:
            with self.subTest(body=repr(body)[:80]):
                self.assertEqual(self.refused_status(self.put, body), 400)
        for body in (b"", b"{", b"\xff\xfe", b'{"start":"now","start":"first"}', b'{"start":"\\ud800"}', b"[" * 100_000, b"{}x"):
            with self.subTest(body=body[:40]):
                self.assertEqual(self.refused_status(self.put, body), 400)
        self.refused("E_NOT_FOUND", self.line)

    def test_bodies_of_ten_megabytes(self) -> None:
        big = b'{"start":"now","filter":{"user":["' + b"x" * 10_000_000 + b'"]}}'
        self.assertEqual(self.refused_status(self.put, big), 413)
        self.assertIn(self.refused_status(self.put, {"start": "now", "filter": {"user": ["가" * 70_000]}}), (400, 413, 422))
        self.made()
        self.assertEqual(self.refused_status(self.put, b'{"deliveries":["' + b"x" * 10_000_000 + b'"]}', "", "POST", "/ack"), 413)
        self.assertIn(self.refused_status(self.put, {"deliveries": ["x" * 100_000]}, "", "POST", "/ack"), (400, 409, 413))

    def test_requests_that_are_wrong(self) -> None:
        self.made()
        wrong: List[Any] = [("/pull", {"max": 0}), ("/pull", {"max": 1001}), ("/pull", {"max": "1"}), ("/pull", {"wait_ms": 25_001}),
                            ("/pull", {"wait_ms": -1}), ("/pull", {"bla": 1}), ("/pull", []), ("/pull", {"max": 2 ** 64 + 1})]
        for verb in ("/ack", "/release", "/extend", "/park"):
            more = {"reason": "이유"} if verb == "/park" else {}
            wrong += [(verb, {**more, **body}) for body in (
                {}, {"deliveries": "x"}, {"deliveries": [1]}, {"deliveries": [None]}, {"deliveries": ["가"]}, {"deliveries": [""]},
                {"deliveries": ["AAAA"]}, {"deliveries": [], "bla": 1})]
        wrong += [("/release", {"deliveries": [], "delay_ms": -1}), ("/release", {"deliveries": [], "delay_ms": "1"}),
                  ("/release", {"deliveries": [], "delay_ms": 10 ** 30}), ("/release", {"deliveries": [], "error": 1}),
                  ("/park", {"deliveries": [], "reason": 1}), ("/retry", {"events": ["x"]}), ("/retry", {"events": "x"}), ("/retry", {})]
        for path, body in wrong:
            with self.subTest(path=path, body=body):
                self.assertIn(self.refused_status(self.put, body, "", "POST", path), (400, 409))
        for path, code in (("/deliveries?window=0", 400), ("/deliveries?window=1001", 400), ("/deliveries?bla=1", 400), ("/bla", 404)):
            with self.subTest(path):
                self.assertEqual(self.refused_status(self.put, b"", "", "GET", path), code)
        self.assertEqual(self.refused_status(self.put, b"", "", "OPTIONS"), 405)


class DeliveringTests(SubscriptionTests):
    def test_where_it_begins(self) -> None:
        self.post(1, 2)
        vector = self.client.changes("first", limit=1000)["items"][-1]
        place = f"{vector['source'].rsplit('/', 1)[1]}/{vector['sequence']}"
        time.sleep(0.01)
        between = time.time()
        time.sleep(0.01)
        self.post(3)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(between)) + f".{int(between % 1 * 1000):03}Z"
        for start, expected in (("now", []), ("first", ["글 1", "글 2", "글 3"]), (place, ["글 3"]), (stamp, ["글 3"])):
            with self.subTest(start):
                self.client.unsubscribe(self.name) if start != "now" else None
                self.made(start=start, order="none")
                self.assertEqual(texts(delivery.event for delivery in self.pulled(10, 0 if not expected else 3000)), expected)

    def test_the_filter(self) -> None:
        self.made(type=["message.*"], user=[self.user, "u-다른"], conversation=["방 한글"])
        self.client.post("u-다른", "예", "방 한글")
        self.client.post("u-다른", "아니요", "방 다른")
        self.client.post("u-아닌", "아니요", "방 한글")
        self.client.append({"type": "profile.changed", "user": self.user, "subject": "conversation/방 한글", "data": {"fields": {}}})
        self.client.post(self.user, "예 2", "방 한글")
        self.one().ack()
        self.assertEqual(self.one().data["text"], "예 2")

    def test_what_nodes_write_comes_only_where_it_is_named(self) -> None:
        self.made(user=None, start="first", order="none")
        self.client.post("u", "보통")
        self.assertEqual([event.type for event in self.pulled(1000) if event.type.startswith(("origin.", "subscription."))], [])
        self.client.subscribe(self.name + "-own", start="first", type="subscription.*", order="none")
        self.assertIn("subscription.created", [delivery.type for delivery in self.client.pull(self.name + "-own", 10)])

    def test_late_events_are_passed_over(self) -> None:
        self.made(late_ms=60_000)
        old = {"type": "message.posted", "user": self.user, "time": "2026-01-01T00:00:00Z", "data": {"text": "옛글"}}
        self.client.append([old, {**old, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 30)), "data": {"text": "새글"}}])
        self.assertEqual(texts(delivery.event for delivery in self.pulled(10)), ["새글"])

    def test_a_delivery(self) -> None:
        self.made()
        [id] = self.post(1)
        delivery = self.one()
        self.assertEqual((delivery.id, delivery.attempt, delivery.user, delivery.author, delivery.conversation),
                         (id, 1, self.user, self.user, f"방 {self.name}"))
        self.assertLess(delivery.age_ms, 5000)
        self.assertEqual(delivery.event, {**self.client.event(id)})
        done = self.client.settle(self.name, "ack", [delivery.token])
        self.assertEqual((done["done"], done["late"]), (1, []))
        again = self.client.settle(self.name, "ack", [delivery.token])
        self.assertEqual(again["late"], [])
        self.assertEqual(self.pulled(1, 0), [])

    def test_one_of_a_conversation_at_a_time(self) -> None:
        self.made()
        self.post(1, 2, 3)
        self.post(11, 12, conversation="다른 방")
        self.client.post(self.user, "방 없음")
        first = self.pulled(10)
        self.assertEqual(texts(delivery.event for delivery in first), ["글 1", "글 11", "방 없음"])
        self.assertEqual(self.pulled(10, 0), [])
        first[0].ack()
        self.assertEqual(texts(delivery.event for delivery in self.pulled(10)), ["글 2"])

    def test_order_none(self) -> None:
        self.made(order="none")
        self.post(1, 2, 3)
        self.assertEqual(len(self.pulled(10)), 3)

    def test_order_within_each_conversation_with_two_workers(self) -> None:
        self.made()
        seen, shares, lock, total = defaultdict(list), defaultdict(int), threading.Lock(), 40 * 8

        def work(worker: int) -> None:
            client = self.a.client()
            while sum(map(len, seen.values())) < total:
                for delivery in client.pull(self.name, 5, 200):
                    with lock:
                        seen[delivery.conversation].append(delivery.data["text"])
                        shares[worker] += 1
                    delivery.ack()
        workers = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for worker in workers:
            worker.start()
        self.client.append([{"type": "message.posted", "user": self.user, "subject": f"conversation/{self.name} {n % 40}",
                             "data": {"text": f"글 {n // 40}"}} for n in range(total)])
        for worker in workers:
            worker.join(60)
        self.assertEqual(len(seen), 40)
        self.assertTrue(all(found == [f"글 {n}" for n in range(8)] for found in seen.values()))
        self.assertGreater(min(shares.values()), total // 5)

    def test_it_comes_again_when_ack_wait_is_over_and_a_late_ack_counts(self) -> None:
        self.made(ack_wait_ms=1000)
        self.post(1, 2)
        first, began = self.one(), time.monotonic()
        second = self.one()
        self.assertTrue(0.8 < time.monotonic() - began < 2.5)
        self.assertEqual((second.id, second.attempt), (first.id, 2))
        self.assertNotEqual(second.token, first.token)
        for verb, body in (("release", {}), ("extend", {}), ("park", {"reason": "x"})):
            self.assertEqual(self.refused("E_DELIVERY_STALE", self.client.settle, self.name, verb, [first.token], **body).status, 409)
        self.assertEqual(self.client.settle(self.name, "ack", [first.token])["late"], [first.token])
        self.assertEqual(self.one().data["text"], "글 2")

    def test_extended(self) -> None:
        self.made(ack_wait_ms=1000)
        self.post(1)
        delivery = self.one()
        for _ in range(4):
            time.sleep(0.5)
            self.client.settle(self.name, "extend", [delivery.token])
        self.assertEqual(self.pulled(1, 0), [])
        self.assertEqual(self.one().attempt, 2)

    def test_released_with_a_delay(self) -> None:
        self.made(backoff_ms=[60_000])
        self.post(1, 2)
        delivery, began = self.one(), time.monotonic()
        delivery.release("잠시만요", delay_ms=500)
        again = self.one()
        self.assertTrue(0.4 < time.monotonic() - began < 2)
        self.assertEqual((again.data["text"], again.attempt), ("글 1", 2))
        again.release(delay_ms=0)
        third = self.one()
        self.assertEqual(third.attempt, 3)
        # What the worker did not come to was no attempt.
        third.settle("release", delay_ms=0, untried=True)
        fourth = self.one()
        self.assertEqual(fourth.attempt, 3)
        with self.assertRaises(SillokError):
            fourth.settle("release", untried="yes")

    def test_released_events_hold_their_conversation_alone(self) -> None:
        self.made(backoff_ms=[60_000])
        self.post(1, 2)
        self.post(11, 12, conversation="다른 방")
        held, free = self.pulled(10)
        held.release("안 돼요")
        free.ack()
        self.assertEqual(texts(delivery.event for delivery in self.pulled(10)), ["글 12"])
        self.assertEqual(self.pulled(10, 100), [])

    def test_attempts_parked_and_retry(self) -> None:
        self.made(attempts=2, backoff_ms=[0])
        [id, other] = self.post(1, 2)
        self.one().release("첫 번째 잘못")
        self.one().release("두 번째 잘못")
        following = self.one()
        self.assertEqual(following.id, other)
        [parked] = self.client.parked(self.name)
        event = parked["event"]
        self.assertEqual((event["id"] if isinstance(event, dict) else event, parked["attempts"], parked["error"]), (id, 2, "두 번째 잘못"))
        self.assertTrue(parked["reason"] and parked["at"])
        told = self.client.changes("first", limit=1000, type="subscription.parked")["items"]
        self.assertIn(id, json.dumps(told))
        self.client.retry(self.name, id)
        following.ack()
        again = self.one()
        self.assertEqual(again.id, id)
        again.ack()
        until(lambda: self.client.parked(self.name) == [], 5)
        self.client.settle(self.name, "ack", [again.token])
        self.refused_or_nothing(id)

    def refused_or_nothing(self, id: str) -> None:
        try:
            self.client.retry(self.name, id)
        except Exception as error:
            self.assertLess(error.status, 500)
        self.assertEqual(self.pulled(1, 100), [])

    def test_the_line_counts_what_is_parked(self) -> None:
        self.made()
        self.post(1)
        self.one().park("읽을 수 없음")
        self.assertEqual(self.line()["parked"], 1)

    def test_parked_at_once(self) -> None:
        self.made()
        ids = self.post(1, 2)
        self.one().park("읽을 수 없음")
        self.assertEqual(self.one().id, ids[1])
        self.assertEqual(self.client.parked(self.name)[0]["reason"], "읽을 수 없음")

    def test_from_the_third_attempt_on_it_comes_alone(self) -> None:
        self.made(order="none", backoff_ms=[0], attempts=10)
        self.post(1)
        for _ in range(2):
            self.one().release(delay_ms=0)
        self.post(2, 3, 4)
        batches = [self.pulled(10), self.pulled(10)]
        alone = [batch for batch in batches if any(delivery.attempt >= 3 for delivery in batch)]
        self.assertEqual([len(batch) for batch in alone], [1])
        self.assertEqual(sorted(map(len, batches)), [1, 3])

    def test_acks_survive_kill_9(self) -> None:
        self.made(order="none")
        ids = self.post(*range(20))
        deliveries = self.pulled(20)
        self.client.settle(self.name, "ack", [delivery.token for delivery in deliveries[:15]])
        self.a.kill()
        self.a.start()
        again = self.pulled(20)
        self.assertEqual({delivery.id for delivery in again}, set(ids[15:]))
        done = self.client.settle(self.name, "ack", [delivery.token for delivery in deliveries[15:]])
        self.assertEqual(done["done"], 5)
        self.assertEqual(self.pulled(20, 1500), [])

    def test_a_stream_gives_its_window_and_its_end_gives_back(self) -> None:
        self.made(order="none")
        ids = self.post(*range(6))
        answer = self.client.request("GET", f"/v1/subscriptions/{self.name}/deliveries?window=4", accept="application/x-ndjson", stream=True)
        lines = answer.stream()
        found = [next(lines) for _ in range(4)]
        self.assertEqual([line["event"]["id"] for line in found], ids[:4])
        self.assertEqual(self.line()["in_flight"], 4)
        self.client.settle(self.name, "ack", [found[0]["delivery"]])
        self.assertEqual(next(lines)["event"]["id"], ids[4])
        answer.close()
        back, began = [], time.monotonic()
        while len(back) < 5 and time.monotonic() - began < 5:
            back += self.pulled(10, 500)
        self.assertEqual({delivery.id for delivery in back}, set(ids[1:]))
        self.assertLess(time.monotonic() - began, 3)

    def test_what_a_stuck_worker_holds_goes_to_one_that_waits(self) -> None:
        client = self.started("stuck").client(patience=1)
        client.subscribe("bot", start="first", type="message.posted", ack_wait_ms=1000)
        client.post("u", "글", "방")
        stuck = client.request("GET", "/v1/subscriptions/bot/deliveries?window=1", accept="application/x-ndjson", stream=True)
        lines = stuck.stream()
        first = next(lines)
        [second] = client.pull("bot", wait_ms=5000)
        self.assertEqual((second.attempt, second.id), (2, first["event"]["id"]))
        self.assertEqual(client.settle("bot", "ack", [first["delivery"]])["late"], [first["delivery"]])
        stuck.close()

    def test_tokens_are_of_one_subscription(self) -> None:
        self.made()
        self.post(1)
        old = self.one()
        self.client.subscribe(self.name + "-2", start="now")
        self.refused("E_PARAMETER", self.client.settle, self.name + "-2", "ack", [old.token])
        self.client.unsubscribe(self.name)
        self.refused("E_NOT_FOUND", old.ack)
        self.made(start="first")
        self.refused("E_PARAMETER", old.ack)
        self.assertEqual(self.one().id, old.id)

    def test_a_stream_ends_with_its_subscription(self) -> None:
        self.made()
        answer = self.client.request("GET", f"/v1/subscriptions/{self.name}/deliveries", accept="application/x-ndjson", stream=True)
        threading.Timer(0.3, self.client.unsubscribe, [self.name]).start()
        self.assertEqual([line["control"] for line in answer.stream() if "control" in line][-1], "closing")

    def test_server_sent_events(self) -> None:
        self.made()
        self.post(1)
        answer = self.client.request("GET", f"/v1/subscriptions/{self.name}/deliveries", accept="text/event-stream", stream=True)
        data = next(line for line in iter(answer._response.readline, b"") if line.startswith(b"data: {"))
        self.assertEqual(json.loads(data[6:])["event"]["data"]["text"], "글 1")
        answer.close()

    def test_unknown_names(self) -> None:
        self.made()
        self.post(1)
        token = self.one().token
        self.refused("E_NOT_FOUND", self.client.pull, "nowhere")
        for verb in ("ack", "release", "extend"):
            self.refused("E_NOT_FOUND", self.client.settle, "nowhere", verb, [token])
        self.refused("E_NOT_FOUND", self.client.parked, "nowhere")
        self.refused("E_NOT_FOUND", self.client.retry, "nowhere", event_id())
        self.refused("E_NOT_FOUND", lambda: next(iter(self.client.work("nowhere"))))


class TwoNodesTests(SubscriptionTests):
    peers = True

    def test_the_home_delivers_what_came_from_elsewhere(self) -> None:
        b = self.started("b")
        joined(self.a, b)
        made = self.made(user=None)
        settled(self.a, b)
        refused = self.refused("E_ELSEWHERE", b.client().pull, self.name)
        self.assertEqual(refused.status, 409)
        self.assertIn(made["home"], json.dumps(refused.body))
        self.assertEqual(b.client().request("GET", f"/v1/subscriptions/{self.name}").lines[0]["home"], made["home"])
        b.client().post("u-1", "부산에서")
        client = type(self.client)(b.base, self.a.base)
        [delivery] = client.pull(self.name)
        self.assertEqual(delivery.data["text"], "부산에서")
        client.reply(delivery, text="서울에서")
        settled(self.a, b)
        self.assertEqual(texts(b.client().history("u-1", order="oldest")), ["부산에서", "서울에서"])
        for verb in ("ack", "release", "extend"):
            self.refused("E_ELSEWHERE", b.client().settle, self.name, verb, [delivery.token])
