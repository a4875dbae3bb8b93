"""How the Python client takes answers that no healthy daemon gives: cut off, busy, from a proxy, from nodes that are not the home."""
import contextlib
import json
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import uuid
from collections import Counter
from pathlib import Path
from typing import Callable, Dict, List, Optional, Tuple
from unittest import mock

import daemon
from sillok import CursorError, Delivery, Sillok, SillokError, Unreachable

Answers = Callable[[int, str, bytes], bytes]


def answer(status: int, body: str, *headers: str, length: int = -1) -> bytes:
    data = body.encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(data) if length < 0 else length}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def chunked(*parts: str, end: bool = True) -> bytes:
    body = b"".join(b"%x\r\n%s\r\n" % (len(part.encode()), part.encode()) for part in parts)
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n" + body + (b"0\r\n\r\n" if end else b"")


class Fake:
    """A server that answers the n-th request as a function says, and then closes the connection if the answer is empty or a stream."""

    def __init__(self, answers: Answers):
        self.answers, self.requests = answers, []  # type: Answers, List[Tuple[str, bytes]]
        self.token, self.tls = "", None  # type: str, Optional[ssl.SSLContext]
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        try:
            connection = self.tls.wrap_socket(connection, server_side=True) if self.tls else connection
        except OSError:
            return  # the client does not trust it
        with connection, connection.makefile("rb") as reader:
            while line := reader.readline():
                length = 0
                for header in iter(reader.readline, b"\r\n"):
                    if header.lower().startswith(b"content-length:"):
                        length = int(header.split(b":")[1])
                    if header.lower().startswith(b"authorization:"):
                        self.token = header.decode().split(": ")[1].strip()
                self.requests.append((line.decode().rsplit(" ", 1)[0], reader.read(length)))
                said = self.answers(len(self.requests), *self.requests[-1])
                connection.sendall(said)
                if not said or b"chunked" in said or b"Connection: close" in said:
                    return


APPENDED = '{"type":"appended","v":1,"line":1,"id":"x"}\n'
END = '{"type":"end","v":1,"count":1}\n'
ERROR = '{"type":"error","v":1,"code":"%s","message":"바쁨","hint":null}'


class FaultTests(unittest.TestCase):
    def fake(self, answers: Answers) -> Fake:
        fake = Fake(answers)
        self.addCleanup(fake.listener.close)
        return fake

    def several(self, *answers: bytes) -> Fake:
        return self.fake(lambda number, *_: answers[min(number, len(answers)) - 1])

    def test_an_append_is_repeated_as_it_was(self) -> None:
        for first in (b"", answer(200, APPENDED), answer(200, APPENDED + END, "Connection: close", length=500), answer(200, APPENDED + END[:10]),
                      answer(503, ERROR % "E_BUSY", "Retry-After: 0"), answer(502, "<html>bad gateway</html>"), answer(504, ""),
                      answer(429, ERROR % "E_RATE"), answer(507, ERROR % "E_DISK")):
            with self.subTest(first):
                fake = self.several(first, answer(200, APPENDED + END))
                results = Sillok(fake.base, patience=10).append({"type": "a", "user": "u", "data": {"말": "한글"}})
                self.assertEqual(results[0]["type"], "appended")
                self.assertEqual(len(fake.requests), 2)
                self.assertEqual(fake.requests[0], fake.requests[1])
                self.assertIn("id", json.loads(fake.requests[0][1]))

    def test_what_is_not_worth_repeating_is_not(self) -> None:
        for status, code in ((400, "E_EMPTY"), (413, "E_BODY_SIZE"), (500, "E_INTERNAL"), (409, "E_CURSOR")):
            fake = self.several(answer(status, ERROR % code))
            with self.assertRaises(SillokError) as caught:
                Sillok(fake.base).changes()
            self.assertEqual((caught.exception.code, caught.exception.status, len(fake.requests)), (code, status, 1))
            self.assertEqual(isinstance(caught.exception, CursorError), code == "E_CURSOR")
        fake = self.several(answer(404, "<html>nicht da</html>"))
        with self.assertRaises(SillokError) as caught:
            Sillok(fake.base).changes()
        self.assertEqual(caught.exception.code, "E_HTTP_404")

    def test_a_node_without_room_is_passed_over_for_the_next(self) -> None:
        full, other = self.several(answer(507, ERROR % "E_DISK")), self.several(answer(200, APPENDED + END))
        client = Sillok(full.base, other.base, patience=0)
        for _ in range(2):
            client.append({"type": "a", "user": "u", "data": {}})
        self.assertEqual((len(full.requests), len(other.requests)), (1, 2))
        with self.assertRaises(SillokError) as caught:
            Sillok(full.base, patience=0.3).append({"type": "a", "user": "u", "data": {}})
        self.assertEqual((caught.exception.code, caught.exception.is_retriable), ("E_DISK", True))
        self.assertGreater(len(full.requests), 2)

    def worker(self, settle: Callable[[int, str, bytes], bytes], ack_wait_ms: int = 30_000) -> Fake:
        """A node that gives one delivery, and answers what is told of it as `settle` says: the n-th of its kind."""
        given = json.dumps({"delivery": "t", "attempt": 1, "event": {"id": str(uuid.uuid4()), "type": "message.posted", "user": "u"}}) + "\n"
        counts: Counter[str] = Counter()

        def said(_: int, request: str, body: bytes) -> bytes:
            verb = request.split("?")[0].rsplit("/", 1)[1]
            counts[verb] += 1
            if verb == "bot":
                return answer(200, json.dumps({"type": "subscription", "definition": {"ack_wait_ms": ack_wait_ms}}) + "\n")
            if verb == "deliveries":
                return chunked('{"control":"heartbeat"}\n', *[given][:counts[verb] < 2], end=False)
            return settle(counts[verb], verb, body)
        return self.fake(said)

    def told(self, fake: Fake, verb: str) -> List[bytes]:
        return [body for request, body in fake.requests if request.split("?")[0].endswith("/" + verb)]

    def test_an_ack_that_is_refused_for_now_is_repeated_and_its_delivery_extended_meanwhile(self) -> None:
        fake = self.worker(lambda n, verb, _: answer(507, ERROR % "E_DISK") if verb == "ack" and n < 5 else answer(200, '{"done":1}'), 300)
        work = Sillok(fake.base, patience=0).work("bot", longest=0.2)
        loop = threading.Thread(target=lambda: list(work), daemon=True)
        with self.assertLogs("sillok", "WARNING"):
            loop.start()
            daemon.until(lambda: len(self.told(fake, "ack")) == 5, 10)
        self.assertTrue(loop.is_alive())
        self.assertGreater(len(self.told(fake, "extend")), 4)  # each 0.1 s, for 1.1 s at least: not `longest` alone
        work.close()
        loop.join(5)

    def test_a_release_that_counted_although_it_was_refused_ends_no_loop(self) -> None:
        fake = self.worker(lambda n, *_: answer(507, ERROR % "E_DISK") if n < 2 else answer(409, ERROR % "E_DELIVERY_STALE"))
        work = Sillok(fake.base).work("bot")
        loop = threading.Thread(target=lambda: [d.release("later") for d in work], daemon=True)
        with self.assertLogs("sillok", "WARNING"):
            loop.start()
            daemon.until(lambda: len(self.told(fake, "release")) == 2 and len(self.told(fake, "deliveries")) == 2, 10)
        self.assertTrue(loop.is_alive())
        work.close()
        loop.join(5)

    def test_what_a_node_refuses_for_now_is_no_attempt(self) -> None:
        for code, status, untried in (("E_DISK", 507, True), ("E_BUSY", 503, True), ("E_UNREACHABLE", 0, True), ("E_VERSION", 409, False)):
            fake = self.worker(lambda *_: answer(200, '{"count":1}'))

            def handle(_: Delivery) -> None:
                raise SillokError(code, "no", None, status)

            def run() -> None:
                with contextlib.suppress(SillokError):
                    Sillok(fake.base).run("bot", handle)
            with self.subTest(code), self.assertLogs("sillok", "WARNING"):
                thread = threading.Thread(target=run, daemon=True)
                thread.start()
                [told] = daemon.until(lambda: self.told(fake, "release"), 10)
                self.assertEqual(json.loads(told).get("untried", False), untried)
                fake.answers = lambda *_: answer(404, ERROR % "E_NOT_FOUND")  # which ends it
                thread.join(10)

    def test_retry_after_is_obeyed(self) -> None:
        fake, began = self.several(answer(503, ERROR % "E_BUSY", "Retry-After: 1"), answer(200, APPENDED + END)), time.monotonic()
        Sillok(fake.base).append({"type": "a", "user": "u", "data": {}})
        self.assertGreaterEqual(time.monotonic() - began, 1.0)
        fake = self.several(answer(503, ERROR % "E_BUSY", "Retry-After: 60"))
        with self.assertRaises(SillokError):  # it is not asked sooner, and this is longer than it may take
            Sillok(fake.base, patience=40).append({"type": "a", "user": "u", "data": {}})
        self.assertEqual(len(fake.requests), 1)

    def test_retry_after_of_one_node_concerns_that_node(self) -> None:
        busy = self.several(answer(503, ERROR % "E_BUSY", "Retry-After: 3600"))
        other = self.several(answer(503, ERROR % "E_BUSY"), answer(200, APPENDED + END))
        Sillok(busy.base, other.base, patience=20).append({"type": "a", "user": "u", "data": {}})
        self.assertEqual((len(busy.requests), len(other.requests)), (1, 2))

    def test_work_that_is_closed_ends_also_while_the_node_is_away(self) -> None:
        line = json.dumps({"type": "subscription", "definition": {"ack_wait_ms": 30_000}}) + "\n"
        fake = self.several(answer(200, line), chunked('{"control":"heartbeat"}\n'), answer(503, ERROR % "E_BUSY", "Retry-After: 60"))
        work, taken = Sillok(fake.base).work("bot"), []
        loop = threading.Thread(target=lambda: taken.extend(work), daemon=True)
        loop.start()
        while len(fake.requests) < 3:
            time.sleep(0.01)
        work.close()
        loop.join(5)
        self.assertEqual((loop.is_alive(), taken), (False, []))

    def test_a_body_that_is_not_of_a_node_ends_nothing(self) -> None:
        odd = ('{"message":"no healthy upstream"}', '{"type":"end"', '{"code":503}', '{"code":"Unavailable","message":{"a":1}}', '{"type":7}', "[]", "7",
               '"busy"', "null", "", "{}", "{", "\x00\x01\x02", '{"detail":null}', "[" * 5_000, '{"type":"end","v":1}\n{"message":"x"}')
        for body in odd:
            for status in (503, 502, 429):
                with self.subTest(body[:40], status=status):
                    fake = self.several(answer(status, body), answer(200, APPENDED + END))
                    self.assertEqual(Sillok(fake.base).append({"type": "a", "user": "u", "data": {}})[0]["type"], "appended")
            for status in (301, 302, 304, 307, 400, 404, 500):
                with self.subTest(body[:40], status=status), self.assertRaises(SillokError) as caught:
                    Sillok(self.several(answer(status, body)).base).append({"type": "a", "user": "u", "data": {}})
                self.assertEqual(caught.exception.code, f"E_HTTP_{status}")
        for body in ("", "<html>sign in</html>", "[]", "\n\n"):
            for ask in (lambda client: client.changes(), lambda client: client.pull("bot"), lambda client: client.settle("bot", "ack", "t")):
                with self.subTest(body, status=200), self.assertRaises(SillokError) as caught:
                    ask(Sillok(self.several(answer(200, body)).base, patience=0))
                self.assertEqual(caught.exception.code, "E_HTTP_200")
        for ask in (lambda client: client.append({"type": "a", "user": "u", "data": {}}), lambda client: next(client.follow("now"))):
            for given in (answer(204, ""), answer(200, "<html>sign in</html>", "Content-Type: text/html")):
                with self.subTest(given), self.assertRaises(SillokError) as caught:
                    ask(Sillok(self.several(given).base, patience=0))
                self.assertIn(caught.exception.code, ("E_HTTP_200", "E_HTTP_204"))
        fake = self.several(answer(302, "", "Location: /x"))
        with self.assertRaises(SillokError):
            Sillok(fake.base).changes()
        self.assertEqual(len(fake.requests), 1)

    def test_a_connection_that_ended_meanwhile_is_made_anew_without_a_pause(self) -> None:
        fake = self.fake(lambda number, *_: answer(200, APPENDED + END) if number != 2 else b"")
        client = Sillok(fake.base, patience=0)
        client.append({"type": "a", "user": "u", "data": {}})
        client.append({"type": "b", "user": "u", "data": {}})
        self.assertEqual(len(fake.requests), 3)

    def test_the_next_node_is_asked_at_once(self) -> None:
        good = self.several(answer(200, APPENDED + END))
        client, began = Sillok("http://127.0.0.1:1", good.base, patience=5), time.monotonic()
        client.append({"type": "a", "user": "u", "data": {}})
        self.assertLess(time.monotonic() - began, 0.09)

    def test_a_subscription_is_looked_for_at_all_nodes_and_its_home_remembered(self) -> None:
        other = self.several(answer(409, ERROR % "E_ELSEWHERE"))
        home = self.several(answer(200, '{"deliveries":[]}'))
        client = Sillok(other.base, home.base)
        for _ in range(3):
            self.assertEqual(client.pull("bot"), [])
        self.assertEqual((len(other.requests), len(home.requests)), (1, 3))
        with self.assertRaises(SillokError) as caught:
            Sillok(other.base).pull("bot")
        self.assertEqual(caught.exception.code, "E_ELSEWHERE")
        with self.assertRaises(Unreachable):  # the home may be the node that is down
            Sillok(other.base, "http://127.0.0.1:1", patience=0.2).pull("bot")

    def test_where_each_node_delivers_its_own_a_worker_goes_back_to_its_node(self) -> None:
        beat, closing = '{"control":"heartbeat"}\n', '{"control":"closing","reason":"stop","retry_ms":50}\n'
        given = json.dumps({"delivery": "t", "attempt": 1, "event": {"id": "1", "type": "message.posted", "user": "u"}}) + "\n"
        cases: List[Tuple[Dict[str, str], int]] = [({"home": "local"}, 2), ({}, 1)]
        for home, asked in cases:
            line = json.dumps({"type": "subscription", "definition": {"ack_wait_ms": 30_000, **home}}) + "\n"
            own = self.several(answer(503, ERROR % "E_BUSY"), chunked(beat, given))
            other = self.several(answer(200, line), chunked(beat, closing), chunked(beat, given))
            with self.subTest(home), mock.patch("sillok.AWAY", 0.0):
                work = Sillok(own.base, other.base).work("bot")
                delivery = next(iter(work))
                delivery.settled = True
                work.close()
                self.assertEqual((delivery.id, len(own.requests)), ("1", asked))

    def test_behind_a_stream_that_broke_off_the_next_node_is_asked(self) -> None:
        beat, closing = '{"control":"heartbeat"}\n', '{"control":"closing","reason":"stop","retry_ms":50}\n'
        given = json.dumps({"delivery": "t", "attempt": 1, "event": {"id": "1", "type": "message.posted", "user": "u"}}) + "\n"
        line = json.dumps({"type": "subscription", "definition": {"ack_wait_ms": 30_000}}) + "\n"
        # It may be silent for another minute. One that says that it ends is asked again.
        for end, asked in (("", (2, 1)), (closing, (3, 0))):
            home = self.several(answer(200, line), chunked(beat, end, end=False), chunked(beat, given))
            other = self.several(chunked(beat, given))
            with self.subTest(end):
                work = Sillok(home.base, other.base).work("bot")
                delivery = next(iter(work))
                delivery.settled = True
                work.close()
                self.assertEqual((delivery.id, (len(home.requests), len(other.requests))), ("1", asked))

    def test_a_stream_goes_on_where_it_was_cut(self) -> None:
        def line(number: int) -> str:
            return json.dumps({"specversion": "1.0", "id": str(number), "data": {"text": f"글 {number}"}, "cursor": f"c{number}"},
                              ensure_ascii=False) + "\n"
        streams = [chunked(line(1) + line(2)[:20], end=False), chunked(line(2), line(3)[:30], line(3)[30:] + line(4)[:5]),
                   chunked(line(4), '{"control":"closing","reason":"stop","retry_ms":50}\n'), b"", answer(503, ERROR % "E_BUSY"),
                   chunked('{"control":"heartbeat","cursor":"c9"}\n', end=False), chunked('{"control":"reset","reason":"restored"}\n')]
        fake, found = self.several(*streams), []
        with self.assertRaises(CursorError) as caught:
            for event in Sillok(fake.base, patience=0).follow("first", type=["한글", "b"]):
                found.append(event["id"])
        self.assertEqual(found, ["1", "2", "3", "4"])
        self.assertIn("restored", str(caught.exception))
        self.assertEqual([request.split("after=")[1] for request, _ in fake.requests], ["first", "c1", "c3", "c4", "c4", "c4", "c9"])
        self.assertIn("type=%ED%95%9C%EA%B8%80&type=b", fake.requests[0][0])

    def test_a_line_that_cannot_be_read_is_told(self) -> None:
        """It names the event and the cursor, and no stream is asked for again."""
        good = '{"id":"1","data":{},"cursor":"c1"}\n'
        for bad in ('{"id":"2","cursor":"c2","data":{"v":NaN}}\n', '{"id":"2","cursor":"c2","data":%s}\n' % ("[" * 100_000)):
            fake, found = self.several(chunked(good + bad + good)), []
            with self.assertRaises(SillokError) as caught:
                for event in Sillok(fake.base).follow("first"):
                    found.append(event["id"])
            self.assertEqual((found, caught.exception.code, len(fake.requests)), (["1"], "E_PROTOCOL", 1))
            self.assertIn("cursor c2, id 2", str(caught.exception))
            for ask in (lambda client: client.changes(), lambda client: list(client.rows("c")), lambda client: client.event("2")):
                fake = self.several(answer(200, bad + END))
                with self.assertRaises(SillokError) as caught:
                    ask(Sillok(fake.base))
                self.assertEqual((caught.exception.code, len(fake.requests)), ("E_PROTOCOL", 1))

    def test_streams_that_end_at_once_are_asked_for_more_and_more_seldom(self) -> None:
        times: List[float] = []

        def said(number: int, *_: object) -> bytes:
            times.append(time.monotonic())
            return chunked('{"control":"reset","reason":"x"}\n') if number == 6 else chunked('{"id":"1","cursor":"c"}\n')
        with self.assertRaises(CursorError):
            list(Sillok(self.fake(said).base).follow("first"))
        self.assertGreater(times[-1] - times[0], 2.9)  # 0.1 + 0.2 + … + 1.6

    def test_another_token_of_the_file_is_shown_when_others_have_shown_too_many_wrong_ones(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".token") as file:
            Path(file.name).write_text("old\n")
            fake = self.fake(lambda *_: b"")
            fake.answers = lambda *_: answer(200, '{"items":[]}') if fake.token == "Bearer new" else answer(429, ERROR % "E_RATE", "Retry-After: 60")
            client = Sillok(fake.base, token_file=file.name)
            Path(file.name).write_text("new\n")
            self.assertEqual((client.changes(), len(fake.requests)), ({"items": []}, 2))

    def test_another_token_of_the_file_is_shown_when_a_node_answers_401(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".token") as file:
            def put(text: str) -> None:
                Path(file.name).write_text(text + "\n")
            put("old")
            fake = self.fake(lambda *_: answer(200, '{"items":[]}'))
            fake.answers = lambda *_: answer(200, '{"items":[]}') if fake.token == "Bearer new" else answer(401, ERROR % "E_TOKEN")
            client = Sillok(fake.base, token_file=file.name)
            put("new")
            self.assertEqual(client.changes(), {"items": []})
            self.assertEqual(len(fake.requests), 2)
            put("newer")
            self.assertEqual(client.changes(), {"items": []})  # it is good until it is refused
            fake.answers = lambda *_: answer(401, ERROR % "E_TOKEN")
            with self.assertRaises(SillokError) as caught:
                client.changes()
            self.assertEqual((caught.exception.status, len(fake.requests)), (401, 5))

    def test_a_certificate_of_an_authority_of_ones_own(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            key, certificate = f"{folder}/key.pem", f"{folder}/ca.pem"
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
                            certificate, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                           check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            fake = self.fake(lambda *_: answer(200, '{"items":[]}'))
            fake.tls = context
            base = fake.base.replace("http://127.0.0.1", "https://localhost")
            self.assertEqual(Sillok(base, ca_file=certificate).changes(), {"items": []})
            with self.assertRaises(Unreachable) as caught:
                Sillok(base, patience=0).changes()
            self.assertIn("certificate", str(caught.exception))

    def test_a_first_connection_is_not_waited_for_without_end(self) -> None:
        with self.assertRaises(Unreachable):
            next(Sillok("http://127.0.0.1:1", patience=0.2).follow())
        fake = self.several(answer(409, ERROR % "E_CURSOR_AHEAD"))
        with self.assertRaises(SillokError) as caught:
            next(Sillok(fake.base, patience=0.3).follow("c"))
        self.assertEqual(caught.exception.code, "E_CURSOR_AHEAD")
        self.assertGreater(len(fake.requests), 1)

    def test_pages_stay_at_one_node(self) -> None:
        row, more = '{"type":"event","event":{}}\n', '{"type":"end","count":1,"more":true,"next":"n"}\n'
        a = self.fake(lambda number, *_: answer(200, row + more) if number == 1 else answer(503, ERROR % "E_BUSY"))
        b = self.several(answer(200, row + more))
        with self.assertRaises(SillokError):
            list(Sillok(a.base, b.base, patience=0.2).history("u"))
        self.assertEqual(len(b.requests), 0)


if __name__ == "__main__":
    unittest.main()
