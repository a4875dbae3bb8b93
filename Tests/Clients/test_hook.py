"""sillok-hook posts deliveries to a target that is real, refuses, and is down for a while."""
import base64
import hashlib
import hmac
import json
import os
import signal
import subprocess
import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import Any, Dict, List, Optional
from urllib.parse import quote

from daemon import Daemon, DaemonTests, ROOT, joined, settled, until
from sillok import Answer, Sillok, event_id
from test_faults import ERROR, Fake, answer, chunked

HOOK = ROOT / "clients/webhook/sillok-hook"
KEY = bytes(range(32))


class Target:
    """A web server that answers as it is told, and keeps what it was given."""

    def __init__(self) -> None:
        self.answer, self.headers, self.got, self.taken = 200, {}, [], []  # type: ignore[var-annotated]
        self.server: Optional[ThreadingHTTPServer] = None
        self.port = 0

    def start(self) -> None:
        target = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = target.answer(json.loads(body, parse_int=str)) if callable(target.answer) else target.answer
                target.got.append((self.path, {key.lower(): value for key, value in self.headers.items()}, body))
                if answer // 100 == 2:
                    target.taken.append(json.loads(body, parse_int=str))
                self.send_response(answer)
                for key, value in target.headers.items():
                    self.send_header(key, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        assert self.server
        self.server.shutdown()
        self.server.server_close()


class HookTests(DaemonTests):
    peers = True
    number = 0

    def setUp(self) -> None:
        HookTests.number += 1
        self.name, self.user = f"hook-{HookTests.number}", f"u-{HookTests.number}"
        self.target = Target()
        self.target.start()
        self.secret = self.folder / f"{self.name}.secret"
        self.secret.write_text("whsec_" + base64.b64encode(KEY).decode() + "\n")
        self.secret.chmod(0o600)
        self.processes: List[subprocess.Popen[str]] = []
        self.addCleanup(self.end)

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.communicate()

    def hook(self, *words: str, url: str = "/들어오는 곳", node: str = "") -> "subprocess.Popen[str]":
        command = [str(HOOK), self.name, f"http://127.0.0.1:{self.target.port}{quote(url, safe='/?=')}", "--secret", str(self.secret),
                   "--node", node or self.a.base, "--start", "first", "--user", self.user, "--type", "message.posted", *words]
        self.processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                               env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}))
        return self.processes[-1]

    def post(self, *numbers: int, rooms: int = 1) -> None:
        self.client.append([{"type": "message.posted", "user": self.user, "subject": f"conversation/{self.name} {n % rooms}",
                             "data": {"text": f"글 {n}"}} for n in numbers])

    def test_what_is_posted(self) -> None:
        self.post(1)
        process = self.hook(url="/a?b=c")
        [(path, headers, body)] = until(lambda: self.target.got)
        event = json.loads(body)
        self.assertEqual((path, event["data"]["text"], headers["webhook-id"]), ("/a?b=c", "글 1", event["id"]))
        self.assertLess(abs(int(headers["webhook-timestamp"]) - time.time()), 10)
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        self.assertEqual(headers["webhook-signature"], "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode())
        self.assertEqual(headers["content-type"], "application/json")
        until(lambda: self.client.pull(self.name, wait_ms=0) == [])
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(10), 0)

    def test_the_example_of_the_standard(self) -> None:
        """From https://github.com/standard-webhooks/standard-webhooks, which signs so."""
        loader = SourceFileLoader("hook", str(HOOK))
        hook = module_from_spec(spec_from_loader("hook", loader))  # type: ignore[arg-type]
        loader.exec_module(hook)
        self.secret.write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        said = hook.signatures(hook.secrets(str(self.secret)), "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", b'{"test": 2432232314}')
        self.assertEqual(said, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")

    def test_two_keys_both_sign(self) -> None:
        self.secret.write_text("whsec_" + base64.b64encode(KEY).decode() + "\n" + base64.b64encode(KEY[::-1]).decode() + "\n")
        self.post(1)
        self.hook()
        [(_, headers, body)] = until(lambda: self.target.got)
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        self.assertEqual(headers["webhook-signature"].split(" "), [
            "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode() for key in (KEY, KEY[::-1])])

    def test_a_target_that_is_down_for_a_while(self) -> None:
        self.post(*range(100), rooms=10)
        self.target.stop()
        self.hook()
        time.sleep(1)
        refused = set()

        def answer(event: Dict[str, Any]) -> int:
            first = event["id"] not in refused
            refused.add(event["id"])
            return 500 if first and int(event["data"]["text"][2:]) % 7 == 0 else 200
        self.target.answer = answer
        self.target.start()
        until(lambda: len(self.target.taken) >= 100, 120)
        rooms: Dict[str, List[int]] = defaultdict(list)
        for event in self.target.taken:
            rooms[event["subject"]].append(int(event["data"]["text"][2:]))
        self.assertEqual(len(rooms), 10)
        self.assertEqual([sorted(found) for found in rooms.values()], list(rooms.values()))
        self.assertEqual(sum(map(len, rooms.values())), 100)

    def test_410_parks_and_ends(self) -> None:
        self.post(1, 2)
        self.target.answer = 410
        process = self.hook("--parallel", "1")
        self.assertEqual(process.wait(15), 0)
        self.assertIn("410", process.communicate()[1])
        [parked] = self.client.parked(self.name)
        self.assertEqual((parked["attempts"], len(self.target.got)), (1, 1))

    def test_redirects_are_not_followed(self) -> None:
        self.post(1)
        self.target.answer, self.target.headers = 302, {"Location": "/anderswo"}
        self.hook("--verbose", url="/hier")
        until(lambda: len(self.target.got) >= 2)
        self.assertEqual({path for path, _, _ in self.target.got}, {"/hier"})
        self.target.answer = 204
        until(lambda: self.target.taken, 15)

    def test_retry_after_is_obeyed(self) -> None:
        self.post(1)
        self.target.answer, self.target.headers = 503, {"Retry-After": "3"}
        self.hook()
        until(lambda: self.target.got)
        began, self.target.answer = time.monotonic(), 200
        until(lambda: self.target.taken, 15)
        self.assertTrue(2 < time.monotonic() - began < 6)

    def test_retry_after_does_not_hurry(self) -> None:
        """A target that says 0 would have its hundred attempts within seconds, and be given up."""
        self.post(1)
        self.target.answer, self.target.headers = 503, {"Retry-After": "0"}
        self.hook()
        until(lambda: self.target.got)
        time.sleep(4)
        self.assertLessEqual(len(self.target.got), 2)

    def test_who_speaks_with_a_bot_takes_part_where_no_list_is_kept(self) -> None:
        self.post(1)
        self.hook("--absent", "--author", "bot", "--type", "bot.replied")
        self.client.append({"type": "bot.replied", "user": self.user, "author": "bot", "subject": f"conversation/{self.name} 0",
                            "data": {"text": "답"}})
        [taken] = until(lambda: self.target.taken)
        self.assertEqual((taken["data"]["text"], taken["absent"]), ("답", [self.user]))

    def follower(self, user: str, daemon: Daemon) -> Answer:
        """A stream of someone who looks at the changes, by a token of their own."""
        token = self.folder / f"{self.name}-{user}-{daemon.name}.token"
        daemon.ctl("tokens", "create", f"user/{user}", "--role", f"user:{user}", "--out", str(token))
        stream = Sillok(daemon.base, token_file=str(token)).request("GET", "/v1/changes", {"after": "now"}, accept="application/x-ndjson", stream=True)
        until(lambda: any(line.get("user") == user for line in daemon.client().request("GET", "/v1/followers").lines))
        return stream

    def test_only_what_someone_absent_missed(self) -> None:
        """S2-26: who follows at any node is here. Where all are, nothing is posted; who goes is absent from then on."""
        b = self.started("b-" + self.name)
        joined(self.a, b)
        to = {"user": self.user, "subject": f"conversation/{self.name} 0"}
        self.client.append({"type": "conversation.started", **to, "data": {"participants": [self.user, "kim", "lee"]}})
        settled(self.a, b)
        kim, lee = self.follower("kim", self.a), self.follower("lee", b)
        self.hook("--absent", "--node", b.base)
        self.post(1)
        until(lambda: any(line["name"] == self.name and line["open"] == 0 and line["behind"] == 0 for line in self.client.subscriptions()))
        self.assertEqual(self.target.got, [])
        lee.close()
        until(lambda: b.client().request("GET", "/v1/followers").lines[:-1] == [])
        self.post(2)
        [taken] = until(lambda: self.target.taken)
        self.assertEqual((taken["data"]["text"], taken["absent"]), ("글 2", ["lee"]))
        # A node that is away has no followers; the other one says who is here.
        b.kill()
        kim.close()
        until(lambda: self.client.request("GET", "/v1/followers").lines[:-1] == [])
        self.post(3)
        until(lambda: len(self.target.taken) == 2, 20)
        self.assertEqual(self.target.taken[1]["absent"], ["kim", "lee"])
        # Who may not know who is here posts nothing.
        token = self.folder / f"{self.name}.token"
        self.a.ctl("tokens", "create", "bot/x", "--role", "bot:x", "--all", "--out", str(token))
        self.refused("E_ROLE", Sillok(self.a.base, token_file=str(token)).request, "GET", "/v1/followers")

    def test_a_node_without_room_is_waited_for_and_a_start_says_why_it_ended(self) -> None:
        given = json.dumps({"delivery": "t", "attempt": 1, "event": {"id": event_id(), "type": "message.posted", "user": self.user}}) + "\n"
        acks: List[str] = []
        gave: List[str] = []

        def said(_: int, request: str, __: bytes) -> bytes:
            if request.startswith("PUT"):
                return answer(201, json.dumps({"type": "subscription", "definition": {"ack_wait_ms": 30_000}}) + "\n")
            if "deliveries" in request:
                gave.append(request)
                return chunked('{"control":"heartbeat"}\n', *[given][:len(gave) < 2], end=False)
            acks.append(request)
            return answer(507, ERROR % "E_DISK") if len(acks) < 4 else answer(200, '{"done":1}')
        node = Fake(said)
        self.addCleanup(node.listener.close)
        process = self.hook("--parallel", "1", node=node.base)
        until(lambda: len(acks) == 4 and len(gave) > 1 or process.poll() is not None, 20)
        self.assertEqual((process.poll(), len(self.target.got)), (None, 1))
        for status, code, exit in ((507, "E_DISK", 73), (503, "E_BUSY", 75), (403, "E_ROLE", 77), (400, "E_PARAMETER", 65)):
            # A pause longer than its patience ends it at once.
            node.answers = lambda *_: answer(status, ERROR % code, "Retry-After: 60")
            process = self.hook(node=node.base)
            self.assertIn(code, process.communicate(timeout=20)[1])
            self.assertEqual(process.returncode, exit)

    def test_what_is_wrong_is_said_before_it_starts(self) -> None:
        def fails(code: int, word: str, *words: str) -> None:
            process = self.hook(*words)
            said = process.communicate(timeout=20)[1]
            self.assertEqual((process.returncode, word in said, "Traceback" in said), (code, True, False), said)
        fails(78, "No such file", "--token-file", "nosuch")
        fails(78, "neither unix:PATH", "--node", "ftp://x")
        self.secret.chmod(0o644)
        fails(78, "chmod 600")
        self.secret.chmod(0o600)
        for text in ("", "whsec_", "whsec_한글", "whsec_YWJj", "%%%"):
            self.secret.write_text(text)
            fails(78, "base64")
        self.secret.unlink()
        fails(78, "No such file")
