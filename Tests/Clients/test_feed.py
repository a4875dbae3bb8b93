"""The feed, as docs/operating/following.md has it, and how the Python client follows it."""
import http.client
import itertools
import json
import socket
import threading
import time
import unittest
from typing import Any, Dict, Iterator, List
from urllib.parse import urlencode

from daemon import Daemon, DaemonTests, joined, settled, texts, vector
from sillok import Sillok


def stream(daemon: Daemon, accept: str, headers: Dict[str, str] = {}, **query: str) -> Iterator[str]:
    """Lines of a stream, without the client."""
    connection = http.client.HTTPConnection("syncd")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(30)
    connection.sock.connect(str(daemon.socket))
    connection.request("GET", "/v1/changes?" + urlencode(query), headers={"Accept": accept, **headers})
    response = connection.getresponse()
    assert response.status == 200 and response.headers["Content-Type"] == accept, response.read()
    try:
        for line in iter(response.readline, b""):
            yield line.decode().rstrip("\n")
    finally:
        connection.close()


def frames(lines: Iterator[str]) -> Iterator[Dict[str, str]]:
    frame: Dict[str, str] = {}
    for line in lines:
        if not line:
            yield frame
            frame = {}
        else:
            name, _, value = line.partition(":")
            frame[name] = value.strip()


class FeedTests(DaemonTests):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        kinds = ["message.posted", "message.edited", "profile.changed"]
        cls.client.append([{"type": kinds[n % 3], "user": f"u-{n % 2}", "author": f"저자 {n % 5}", "subject": f"conversation/방 {n % 4}",
                            "data": {"text": f"글 {n}", "fields": {}}} for n in range(120)])

    def test_three_forms_say_the_same(self) -> None:
        pages, cursor, more = [], "first", True
        while more:
            page = self.client.changes(cursor, limit=7)
            pages, cursor, more = pages + page["items"], page["cursor"], page["more"]
        lines = list(itertools.islice(map(json.loads, stream(self.a, "application/x-ndjson", after="first")), 121))
        events = [frame for frame in itertools.islice(frames(stream(self.a, "text/event-stream", after="first")), 122) if "data" in frame]
        self.assertEqual(lines[:-1], pages)
        self.assertEqual(texts(pages), [f"글 {n}" for n in range(120)])
        self.assertEqual([json.loads(event["data"]) for event in events], lines)
        self.assertEqual([event["id"] for event in events], [line["cursor"] for line in lines])
        self.assertEqual([event["event"] for event in events], ["event"] * 120 + ["caught-up"])
        self.assertEqual((lines[-1]["control"], lines[-1]["vector"]), ("caught-up", vector(self.a)))
        self.assertEqual(list(itertools.islice(self.client.follow("first"), 120)), pages)

    def test_filters(self) -> None:
        def numbers(**filters: Any) -> List[int]:
            return [int(text[2:]) for text in texts(self.client.changes("first", limit=1000, **filters)["items"])]
        self.assertEqual(numbers(type="message.posted"), [n for n in range(120) if n % 3 == 0])
        self.assertEqual(numbers(type="message.*"), [n for n in range(120) if n % 3 < 2])
        self.assertEqual(numbers(type=["message.edited", "profile.*"], user="u-1"), [n for n in range(120) if n % 3 > 0 and n % 2])
        self.assertEqual(numbers(author=["저자 1", "저자 2"], conversation="방 3"), [n for n in range(120) if n % 5 in (1, 2) and n % 4 == 3])
        self.assertEqual(numbers(user="없는 사람"), [])
        self.assertEqual(numbers(origin="local"), list(range(120)))
        self.assertEqual(numbers(origin=vector(self.a).split("/")[0]), list(range(120)))
        own = self.client.changes("first", type="origin.*")["items"]
        self.assertEqual([event["type"] for event in own], ["origin.started"])

    def test_where_to_begin(self) -> None:
        all = self.client.changes("first", limit=1000)
        self.assertEqual(self.client.changes("now")["items"], [])
        self.assertEqual(texts(self.client.changes(all["items"][99]["cursor"], limit=1000)["items"]), [f"글 {n}" for n in range(100, 120)])
        origin, end = vector(self.a).split("/")
        behind = self.client.changes(f"{origin}/{int(all['items'][99]['sequence'])}", limit=1000)
        self.assertEqual(texts(behind["items"]), [f"글 {n}" for n in range(100, 120)])
        self.assertEqual(self.client.changes(f"{origin}/{end}")["items"], [])
        frame = next(frame for frame in frames(stream(self.a, "text/event-stream", {"Last-Event-ID": all["items"][117]["cursor"]},
                                                      after="first")) if "data" in frame)
        self.assertEqual(json.loads(frame["data"])["data"]["text"], "글 118")

    def test_refused(self) -> None:
        for query in ({"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"limit": 2 ** 70}, {"wait_ms": 25_001}, {"wait_ms": -1}, {"bla": 1},
                      {"origin": "x"}, {"after": "x"}, {"after": ""}, {"after": "가" * 3000}, {"limit": "1.5"}):
            with self.subTest(query):
                after = str(query.pop("after", "now"))
                self.assertEqual(self.refused("E_PARAMETER", self.client.changes, after, **query).status, 400)
        self.refused("E_PARAMETER", self.client.request, "GET", "/v1/changes?after=now&after=first")
        self.refused("E_METHOD", self.client.request, "POST", "/v1/changes")

    def test_a_cursor_of_another_log_is_refused(self) -> None:
        other = self.started("anew").client(patience=0)
        other.post("u", "다른 로그")
        cursor = self.client.changes("first", limit=1)["cursor"]
        self.refused("E_CURSOR_AHEAD", other.changes, cursor)  # of an origin that this node may still hear of
        for cursor in ("AAAA", "-", "AQHEAxbRILQPAAAAAAAAAALTxpC8"):
            self.refused("E_PARAMETER", other.changes, cursor)


class FollowTests(DaemonTests):
    def test_an_empty_page_waits_for_an_event(self) -> None:
        cursor, began = self.client.changes("now")["cursor"], time.monotonic()
        self.assertEqual(self.client.changes(cursor, wait_ms=300)["items"], [])
        self.assertGreater(time.monotonic() - began, 0.25)
        threading.Timer(0.3, lambda: self.client.post("u-기다림", "왔어요")).start()
        self.assertEqual(texts(self.client.changes(cursor, wait_ms=20_000, user="u-기다림")["items"]), ["왔어요"])
        self.assertLess(time.monotonic() - began, 10)

    def test_a_heartbeat_moves_the_cursor_past_what_the_filter_holds_back(self) -> None:
        lines = self.client.follow("now", controls=True, type="없는.종류")
        first = next(lines)
        self.client.post("u-1", "거른 것")
        line = next(lines)
        self.assertEqual((first["control"], line["control"]), ("caught-up", "heartbeat"))
        self.assertNotEqual(first["cursor"], line["cursor"])
        self.assertEqual([event["type"] for event in self.client.changes(line["cursor"], user="u-1")["items"]], [])

    def test_nothing_is_missing_while_the_daemon_is_killed_and_stopped(self) -> None:
        sent, found, done = [], [], threading.Event()
        cursor = self.client.changes("now")["cursor"]

        def follow() -> None:
            for event in self.a.client(patience=60).follow(cursor):
                found.append(event["data"]["text"])
                if event["data"]["text"] == "끝":
                    return done.set()

        def write() -> None:
            client = self.a.client(patience=60)
            for n in range(300):
                client.post("u-1", f"글 {n}")
                sent.append(f"글 {n}")
                time.sleep(0.005)
            client.post("u-1", "끝")
        threads = [threading.Thread(target=follow), threading.Thread(target=write)]
        for thread in threads:
            thread.start()
        for end in (self.a.kill, self.a.stop, self.a.kill):
            time.sleep(0.5)
            end()
            self.a.start()
        self.assertTrue(done.wait(60))
        self.assertEqual(found, sent + ["끝"])

    def test_closing_says_when_to_come_back(self) -> None:
        daemon = self.started("closing")
        lines = map(json.loads, stream(daemon, "application/x-ndjson", after="now"))
        self.assertEqual(next(lines)["control"], "caught-up")
        daemon.stop()
        last = list(lines)
        self.assertEqual(last[-1]["control"], "closing")
        self.assertGreater(last[-1]["retry_ms"], 0)


class TwoNodesTests(DaemonTests):
    peers = True

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.b = cls.started("b")
        joined(cls.a, cls.b)

    def test_cursors_are_of_use_at_the_other_node(self) -> None:
        for n in range(40):
            (self.a if n % 2 else self.b).client().post(f"u-{n % 3}", f"글 {n}")
        settled(self.a, self.b)
        at_a, at_b = (daemon.client().changes("first", limit=1000)["items"] for daemon in (self.a, self.b))
        self.assertEqual({event["id"] for event in at_a}, {event["id"] for event in at_b})
        for place, event in enumerate(at_a):
            again = {event["id"] for event in self.b.client().changes(event["cursor"], limit=1000)["items"]}
            missing = {event["id"] for event in at_a[place + 1:]} - again
            self.assertEqual(missing, set())
        lines = [json.loads(line) for line in itertools.islice(stream(self.a, "application/x-ndjson", after="first"), len(at_a) + 1)]
        self.assertEqual(self.b.client().changes(lines[-1]["vector"])["items"], [])
        origin = self.b.client().changes("first", origin="local", limit=1000)["items"]
        self.assertEqual({event["source"] for event in origin}, {at_b[0]["source"] if at_b[0] in origin else origin[0]["source"]})

    def test_a_cursor_that_has_not_arrived_yet(self) -> None:
        self.a.ctl("peers", "pause", "b")
        try:
            self.a.client().post("u-1", "아직")
            cursor = self.a.client().changes("now")["cursor"]
            client = self.b.client(patience=0)
            self.assertEqual(self.refused("E_CURSOR_AHEAD", client.changes, cursor).status, 409)
            threading.Timer(0.5, lambda: self.a.ctl("peers", "resume", "b")).start()
            self.assertIn("cursor", client.changes(cursor, wait_ms=20_000))
        finally:
            self.a.ctl("peers", "resume", "b")

    def test_follow_goes_on_at_the_other_node(self) -> None:
        client, seen = Sillok(self.a.base, self.b.base, patience=30), []
        cursor = client.changes("now")["cursor"]
        thread = threading.Thread(target=lambda: seen.extend(
            itertools.takewhile(lambda event: event["data"]["text"] != "끝", client.follow(cursor))))
        thread.start()
        for n in range(20):
            self.a.client().post("u-1", f"앞 {n}")
        settled(self.a, self.b)
        self.a.kill()
        try:
            for n in range(20):
                client.post("u-1", f"뒤 {n}")  # goes to b by itself
            self.b.client().post("u-1", "끝")
            thread.join(30)
            self.assertFalse(thread.is_alive())
        finally:
            self.a.start()
        self.assertEqual(sorted(set(texts(seen))), sorted(f"{word} {n}" for word in ("앞", "뒤") for n in range(20)))


if __name__ == "__main__":
    unittest.main()
