"""sillok-gateway against a real daemon, row by row: docs/reference/GATEWAY.md. Rows of the protocol that a pure test holds stand in
Tests/GatewayKitTests, those of the page in Tests/Pages. Portrait mode alone (S3-18) has no test: a page has a width and no screen to lock."""
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request
import uuid
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from daemon import BINARIES, ROOT, DaemonTests, until

sys.path.insert(0, str(ROOT / "Tests" / "Acceptance"))

import thousand  # noqa: E402

Json = Dict[str, Any]
DATA = ROOT / "Examples" / "arrive" / "transit.json5"
ALARM = "3@대구@1호선@설화명곡@안심;"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Gateway:
    """A process of the program. `kill` is kill -9."""

    def __init__(self, folder: Path, url: str, **more: Any):
        self.port, self.web, self.log = free_port(), free_port(), folder / f"{uuid.uuid4().hex[:8]}.log"
        self.settings: Json = {"listen": f"127.0.0.1:{self.port}", "web": f"127.0.0.1:{self.web}", "api": {"url": url}, "data": str(DATA),
                               "reply_end": "\n", "metrics_file": str(self.log) + ".prom", **more}
        self.config = self.log.with_suffix(".json5")
        self.config.write_text(json.dumps(self.settings), "utf-8")
        self.start()

    def start(self) -> None:
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([str(BINARIES / "sillok-gateway"), "run", "--config", str(self.config)], stdout=log, stderr=log)
        until(lambda: urllib.request.urlopen(f"http://127.0.0.1:{self.web}/livez", timeout=5).status == 200, 60, OSError)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 20)

    def ask(self, *pieces: Any, pause: float = 0) -> List[str]:
        """What is answered to these pieces; then the client has said all."""
        with self.connect() as line:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for piece in pieces:
                line.sendall(piece if isinstance(piece, bytes) else piece.encode())
                time.sleep(pause)
            line.shutdown(socket.SHUT_WR)
            return received(line).decode().splitlines()

    def post(self, path: str, body: Any, **headers: str) -> Tuple[int, Json]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        asked = urllib.request.Request(f"http://127.0.0.1:{self.web}{path}", data,
                                       {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}})
        try:
            answer = urllib.request.urlopen(asked, timeout=20)
        except urllib.error.HTTPError as error:
            answer = error
        return answer.status, json.loads(answer.read())

    @property
    def told(self) -> List[str]:
        return self.log.read_text("utf-8").splitlines()


def received(line: socket.socket) -> bytes:
    got = b""
    while True:
        piece = line.recv(65536)
        if not piece:
            return got
        got += piece


class GatewayTests(DaemonTests):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.gateway = cls.made(cls.a.base)

    @classmethod
    def made(cls, url: str, **more: Any) -> Gateway:
        gateway = Gateway(cls.folder, url, **more)
        cls.addClassCleanup(lambda: gateway.process.poll() is None and gateway.kill())
        return gateway

    def events(self) -> List[Json]:
        return [json.loads(line) for line in self.a.ctl("export").splitlines()]

    def since(self, before: int) -> List[Json]:
        return [event for event in self.events() if int(event["position"]) > before]

    def test_s3_6_requests_however_they_were_cut(self) -> None:
        every = [bytes([byte]) for byte in ALARM.encode()]
        self.assertEqual(self.gateway.ask(*every, pause=0.001), ["3@반야월@47"])
        self.assertEqual(self.gateway.ask("1@ 대구;\r\n" + ALARM), ["1@1호선@2호선@3호선", "3@반야월@47"])
        half = len("3@대구@1호선@설화".encode()) - 1
        self.assertEqual(self.gateway.ask(ALARM.encode()[:half], ALARM.encode()[half:], pause=0.05), ["3@반야월@47"])

    def test_s3_7_each_request_stands_alone(self) -> None:
        asked = [ALARM, "1@대구;", "2@대구@1호선;", "1@대구;", ALARM]
        answers = self.gateway.ask("".join(asked))
        self.assertEqual([answer[:2] for answer in answers], ["3@", "1@", "2@", "1@", "3@"])
        self.assertEqual(self.gateway.ask(ALARM + "3@대구@1호선"), ["3@반야월@47"])  # half a request is none

    def quiet(self) -> int:
        """How many lines the log has, once none has come for half a second."""
        count = -1
        while count != (count := len(self.gateway.told)):
            time.sleep(0.5)
        return count

    def test_s3_12_one_line_of_the_log_for_each_request_without_its_text(self) -> None:
        # A line is written behind its answer: those of the requests before may still come.
        before = self.quiet()
        self.gateway.ask("1@대구;", "2@대구@1호선;", ALARM)
        lines = until(lambda: len(self.gateway.told) >= before + 3 and self.gateway.told[before:])
        self.assertEqual(len(lines), 3)
        for line, code in zip(lines, "123"):
            self.assertRegex(line, rf"^sillok-gateway: connection \d+ code {code} answer {code} in \d+ ms$")
        self.assertNotIn("대구", "\n".join(self.gateway.told))

    def test_s3_13_s3_14_s3_20_three_requests_are_seven_events(self) -> None:
        before = max((int(event["position"]) for event in self.events()), default=0)
        self.assertEqual(len(self.gateway.ask("1@대구;2@대구@1호선;" + ALARM)), 3)
        events = self.since(before)
        self.assertEqual([event["type"] for event in events], ["message.posted", "bot.replied"] * 3 + ["alarm.set"])
        trip = events[0]["subject"].removeprefix("conversation/")
        self.assertTrue(all(event["subject"] == "conversation/" + trip for event in events))
        for asked, said in zip(events[0:6:2], events[1:6:2]):
            self.assertEqual((said["cause"], said["author"], said["data"]["inReplyTo"]), (asked["id"], "arrive", asked["id"]))
        self.assertEqual(events[6]["cause"], events[5]["id"])
        self.assertIn("3@반야월@47", self.a.ctl("conversation", trip))
        shown = self.a.ctl("history", trip.replace("trip-", "rider-"), "--json").splitlines()
        alarms = [line["event"]["data"] for line in map(json.loads, shown) if line.get("event", {}).get("type") == "alarm.set"]
        self.assertEqual({name: alarms[-1][name] for name in ("city", "line", "from", "to", "alarmStation", "minutes")},
                         {"city": "대구", "line": "1호선", "from": "설화명곡", "to": "안심", "alarmStation": "반야월", "minutes": 47})

    def test_s3_20_kill_9_between_leaves_no_question_without_its_answer(self) -> None:
        gateway = self.made(self.a.base)
        before = max((int(event["position"]) for event in self.events()), default=0)
        lines = [gateway.connect() for _ in range(40)]
        for line in lines:
            line.sendall((ALARM * 8).encode())
        until(lambda: len(self.since(before)) >= 3)
        gateway.kill()
        answered = 0
        for line in lines:
            try:
                answered += received(line).count(b"\n")
            except OSError:
                pass
            line.close()
        events = self.since(before)
        asked = [event["id"] for event in events if event["type"] == "message.posted"]
        self.assertEqual(sorted(asked), sorted(event["cause"] for event in events if event["type"] == "bot.replied"))
        self.assertEqual(len(asked), sum(event["type"] == "alarm.set" for event in events))
        self.assertGreaterEqual(len(asked), answered)

    def test_s3_21_what_is_no_request(self) -> None:
        before = max((int(event["position"]) for event in self.events()), default=0)
        self.assertEqual(self.gateway.ask("7@x;1@;1@평양;2@대구@x;3@대구@1호선@x@안심;"),
                         ["9@unknown_code", "9@fields", "9@unknown_city", "9@unknown_line", "9@unknown_station"])
        self.assertEqual(len(self.since(before)), 10)
        # What is no text is answered, and the connection goes on; nothing of it is recorded.
        self.assertEqual(self.gateway.ask(b"1@\xff;" + "1@대;".encode()[:-2] + b";"), ["9@encoding"] * 2)
        # Too long: answered, and closed, whatever comes after it.
        with self.gateway.connect() as line:
            line.sendall(b"1@" + b"a" * 5000 + b";" + ALARM.encode())
            self.assertEqual(received(line), b"9@too_long\n")
        self.assertEqual(len(self.since(before)), 10)
        self.assertEqual(self.gateway.ask(ALARM), ["3@반야월@47"])

    def test_s3_8_a_thousand_clients_with_others_that_are_slow_or_broken(self) -> None:
        count = int(os.environ.get("CLIENTS", "200"))
        gateway = self.made(self.a.base)
        told = thousand.run(gateway.port, count, silent=20, slow=10, floods=1)
        self.assertEqual(told["errors"], 0, told)
        self.assertEqual(told["answers"], 3 * count)
        # What slow readers had asked is recorded by then: other tests count events.
        self.assertEqual(gateway.stop(), 0)

    def test_without_a_node_nothing_is_pretended(self) -> None:
        away = self.made("unix:" + str(self.folder / "nobody.sock"), patience="200ms")
        began = time.monotonic()
        self.assertEqual(away.ask(ALARM + "1@대구;"), ["9@busy", "9@busy"])
        self.assertGreater(time.monotonic() - began, 0.35)
        status, problem = away.post("/v1/gateway/arrive", {"text": ALARM})
        self.assertEqual((status, problem["code"]), (503, "E_BUSY"))
        self.assertEqual(away.stop(), 0)
        figures = Path(away.settings["metrics_file"]).read_text("utf-8")
        for line in ('sillok_gateway_answers_total{answer="busy"} 3', "sillok_gateway_away 1", "sillok_gateway_recorded_total 0"):
            self.assertIn(line, figures.splitlines())
        self.assertEqual(sum("[E_UNREACHABLE]" in line for line in away.told), 1)

    def test_too_many_clients_are_told_so(self) -> None:
        small = self.made(self.a.base, max_clients=2, idle="1s")
        with small.connect() as first, small.connect() as second:
            first.sendall(b"1@")
            second.sendall("1@대구;".encode())
            self.assertEqual(second.recv(100), "1@1호선@2호선@3호선\n".encode())
            with small.connect() as third:
                self.assertEqual(received(third), b"9@busy\n")
            # Who says nothing for a second makes room.
            self.assertEqual(received(first), b"")
        self.assertEqual(until(lambda: small.ask(ALARM) == ["3@반야월@47"], 10, OSError), True)

    def test_s3_1_nothing_follows_an_answer_by_default(self) -> None:
        gateway = self.made(self.a.base, reply_end="")
        with gateway.connect() as line:
            line.sendall("1@ 대구;".encode())
            self.assertEqual(line.recv(1000), "1@1호선@2호선@3호선".encode())
        # SIGTERM: what was asked is answered, and the program ends in order.
        with gateway.connect() as line:
            line.sendall(ALARM.encode())
            time.sleep(0.05)
            self.assertEqual(gateway.stop(), 0)
            self.assertEqual(received(line), "3@반야월@47".encode())

    def test_the_face_for_browsers_has_the_same_events(self) -> None:
        before = max((int(event["position"]) for event in self.events()), default=0)
        status, first = self.gateway.post("/v1/gateway/arrive", {"text": "1@대구;"})
        self.assertEqual((status, first["answer"], first["code"]), (200, "1@1호선@2호선@3호선", 1))
        status, told = self.gateway.post("/v1/gateway/arrive", {"text": ALARM, "trip": first["trip"]})
        self.assertEqual((told["answer"], told["trip"]), ("3@반야월@47", first["trip"]))
        self.assertTrue(47 * 60 - 5 <= told["seconds"] <= 47 * 60)
        for state in ("rang", "rang", "stopped"):
            status, _ = self.gateway.post("/v1/gateway/arrive/alarms", {"trip": told["trip"], "alarm": told["alarm"], "state": state})
            self.assertEqual(status, 200)
        # Of another trip's alarm, and of what is none, nothing is recorded: the rider's own word would find its place taken.
        _, other = self.gateway.post("/v1/gateway/arrive", {"text": "1@대구;"})
        _, own = self.gateway.post("/v1/gateway/arrive", {"text": ALARM, "trip": first["trip"]})
        for alarm in (own["alarm"], own["reply"], str(uuid.uuid4())):
            status, problem = self.gateway.post("/v1/gateway/arrive/alarms", {"trip": other["trip"], "alarm": alarm, "state": "stopped"})
            self.assertEqual((status, problem["code"]), (404, "E_NOT_FOUND"))
        status, _ = self.gateway.post("/v1/gateway/arrive/alarms", {"trip": own["trip"], "alarm": own["alarm"], "state": "stopped"})
        self.assertEqual(status, 200)
        events = [event for event in self.since(before) if own["question"] not in (event["id"], event.get("cause"))
                  and not {event["id"], event.get("cause")} & {own["reply"], own["alarm"]} and event["user"] != "rider-" + other["trip"]]
        self.assertEqual([event["type"] for event in events],
                         ["message.posted", "bot.replied"] * 2 + ["alarm.set", "alarm.rang", "alarm.stopped"])
        self.assertTrue(all(event["user"] == "rider-" + told["trip"] for event in events))
        self.assertEqual([event["cause"] for event in events[5:]], [told["alarm"]] * 2)
        with urllib.request.urlopen(f"http://127.0.0.1:{self.gateway.web}/v1/gateway/arrive", timeout=5) as answer:
            self.assertEqual(json.load(answer)["cities"], ["대구", "수도권", "부산", "대전", "광주"])
        for path in ("/arrive/", "/arrive/app.mjs", "/shared/base.css"):
            with urllib.request.urlopen(f"http://127.0.0.1:{self.gateway.web}{path}", timeout=5) as answer:
                self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])

    def test_the_face_for_browsers_refuses(self) -> None:
        before = len(self.events())
        path = "/v1/gateway/arrive"
        for body in ({}, {"text": 7}, {"text": "1@대구"}, {"text": "1@대구;1@대구;"}, {"text": "1@" + "a" * 2000 + ";"},
                     {"text": ALARM, "trip": "x"}, {"text": ALARM, "trip": 7}, b"[]", b"{", b""):
            status, problem = self.gateway.post(path, body)
            self.assertEqual(status, 400, (body, problem))
        self.assertEqual(self.gateway.post(path, {"text": ALARM}, Sec_Fetch_Site="cross-site")[0], 403)
        self.assertEqual(self.gateway.post(path, {"text": ALARM}, Content_Type="text/plain")[0], 415)
        self.assertEqual(self.gateway.post(path, {"text": "1@" + "a" * 9000 + ";"})[0], 413)
        alarm = {"trip": str(uuid.uuid4()), "alarm": str(uuid.uuid4()), "state": "rang"}
        for change in ({"trip": None}, {"alarm": "x"}, {"state": "gone"}):
            self.assertEqual(self.gateway.post(path + "/alarms", {**alarm, **change})[0], 400, change)
        self.assertEqual(self.gateway.post("/v1/events", {"text": ALARM})[0], 404)
        self.assertEqual(len(self.events()), before)


class CheckTests(DaemonTests):
    def check(self, *words: str, language: Optional[str] = None) -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, "LC_ALL": language or "C"}
        return subprocess.run([str(BINARIES / "sillok-gateway"), *words], capture_output=True, text=True, timeout=30, check=False, env=environment)

    def test_s3_10_a_wrong_row_is_named(self) -> None:
        right = self.check("check", str(DATA))
        self.assertEqual((right.returncode, right.stderr), (0, ""))
        self.assertIn("5 cities", right.stdout)
        wrong = self.folder / "wrong.json5"
        text = DATA.read_text("utf-8")
        lines = text.splitlines()
        number = next(at for at, line in enumerate(lines, 1) if '"대곡", -22' in line)
        wrong.write_text(text.replace('"대곡", -22', '"대곡", -25'), "utf-8")
        found = self.check("check", str(wrong), "--json")
        self.assertEqual(found.returncode, 78)
        step = json.loads(found.stdout.splitlines()[0])
        self.assertEqual((step["type"], step["ok"], step["code"]), ("check", False, "E_CONFIG"))
        self.assertIn(f"{wrong}:{number}:", step["message"])
        self.assertIn("time -25, before -24", step["message"])
        self.assertEqual(json.loads(found.stdout.splitlines()[-1])["type"], "end")
        self.assertEqual(self.check("check", str(self.folder / "none.json5")).returncode, 66)
        self.assertEqual(self.check("check").returncode, 64)

    def test_configuration_node_and_token_are_checked(self) -> None:
        config = self.folder / "c.json5"
        config.write_text(json.dumps({"data": str(DATA), "api": {"url": self.a.base}}), "utf-8")
        right = self.check("check", "--config", str(config))
        self.assertEqual(right.returncode, 0, right.stdout + right.stderr)
        self.assertEqual([line.split()[:2] for line in right.stdout.splitlines()], [["configuration", "ok"], ["data", "ok"], ["node", "ok"]])
        for change, code, word in (({"listen": "nowhere"}, 78, "is no address"), ({"dta": "x"}, 78, "did you mean 'data'?"), ({"patience": "5"}, 78, "with its unit"),
                                   ({"reply_end": "12345"}, 78, "4 bytes"), ({"api": {"url": "unix:/nowhere"}}, 69, "does not answer"),
                                   ({"max_clients": 0}, 78, "whole number")):
            config.write_text(json.dumps({"data": str(DATA), "api": {"url": self.a.base}, **change}), "utf-8")
            found = self.check("check", "--config", str(config))
            self.assertEqual(found.returncode, code, found.stdout)
            self.assertIn(word, found.stdout)
        (self.folder / "empty.pem").write_text("no certificate", "utf-8")
        for name, code, word in (("none.pem", 66, "there is no file"), ("empty.pem", 78, "no certificate is in")):
            config.write_text(json.dumps({"data": str(DATA), "api": {"url": self.a.base, "ca_file": name}}), "utf-8")
            for found in (self.check("check", "--config", str(config)), self.check("run", "--config", str(config))):
                self.assertEqual(found.returncode, code, found.stdout + found.stderr)
                self.assertIn(word, found.stdout + found.stderr)
        reader = self.folder / "reader.token"
        reader.write_text(self.a.ctl("tokens", "create", "someone", "--role", "reader", "--all", "--json"), "utf-8")
        token = json.loads(reader.read_text("utf-8").splitlines()[0])["token"]
        reader.write_text(token, "utf-8")
        config.write_text(json.dumps({"data": str(DATA), "api": {"url": self.a.base, "token_file": str(reader)}}), "utf-8")
        found = self.check("check", "--config", str(config))
        self.assertEqual(found.returncode, 77, found.stdout)
        self.assertIn("--role app", found.stdout)

    def test_help_in_two_languages(self) -> None:
        self.assertIn("answer until SIGTERM", self.check("run", "--help").stdout)
        self.assertIn("SIGTERM이나 SIGINT가 올 때까지", self.check("run", "--help", language="ko_KR.UTF-8").stdout)
        self.assertIn(".TH SILLOK-GATEWAY 8", self.check("--generate", "man").stdout.upper())


if __name__ == "__main__":
    unittest.main()
