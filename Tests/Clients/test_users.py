"""What users find in their lists, what an operator counts, and what users may do where the node lets them: names of others, erasing what is theirs."""
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any, Dict, List

from daemon import BINARIES, DaemonTests, until
from sillok import Sillok

Json = Dict[str, Any]


class UsersTests(DaemonTests):
    def as_user(self, user: str) -> Sillok:
        token = self.folder / f"{user}.token"
        if not token.exists():
            self.a.ctl("tokens", "create", f"user/{user}", "--role", f"user:{user}", "--out", str(token))
        return Sillok(self.a.base, token_file=str(token))

    def lines(self, path: str, client: Any = None, **query: Any) -> List[Json]:
        return list((client or self.client)._pages(path, query))

    def say(self, conversation: str, author: str, text: str, user: str = "", **more: Any) -> str:
        kind = "bot.replied" if user else "message.posted"
        return self.client.append({"type": kind, "user": user or author, "author": author, "subject": f"conversation/{conversation}", **more,
                                   "data": {**more.get("data", {}), "text": text}})[0]["id"]

    def test_a_list_has_the_words_with_which_rooms_began(self) -> None:
        """S4-4: by category, the first words of a person, and when it began; what was taken back is not told."""
        for room, category, text in [("f-1", "text", "머리가 아파요"), ("f-2", "image", "고양이를 그려 줘"), ("f-3", "text", None)]:
            to = {"user": "u-f", "subject": f"conversation/{room}"}
            self.client.append({"type": "conversation.started", **to, "data": {"participants": ["u-f", "bot"], "category": category}})
            self.say(room, "bot", "안녕하세요.", user="u-f")
            if text:
                self.say(room, "u-f", text)
                self.say(room, "u-f", "그리고 열이 나요")
        def found(**query: Any) -> Dict[str, Any]:
            return {line["conversation"]: line.get("first_text") for line in self.lines("/v1/users/u-f/conversations", **query)}
        self.assertEqual(found(first=1), {"f-1": "머리가 아파요", "f-2": "고양이를 그려 줘", "f-3": "안녕하세요."})
        self.assertEqual(found(first=1, category="text"), {"f-1": "머리가 아파요", "f-3": "안녕하세요."})
        self.assertEqual(found(), {"f-1": None, "f-2": None, "f-3": None})
        shown = [json.loads(line) for line in self.a.ctl("rooms", "u-f", "--beginning", "--category", "image", "--json").splitlines()]
        self.assertEqual([(line["first_text"], "first_time" in line) for line in shown if line["type"] == "room"], [("고양이를 그려 줘", True)])
        self.assertIn("머리가 아파요", self.a.ctl("rooms", "u-f", "--beginning"))
        self.assertNotIn("열이 나요", self.a.ctl("rooms", "u-f", "--beginning"))
        # In the table 20 characters of it, and a word where nothing was said.
        long = "손목이 아픈 지 오래되었는데 어떻게 하면 좋을까요?"
        for room in ("f-4", "f-5"):
            self.client.append({"type": "conversation.started", "user": "u-e", "subject": f"conversation/{room}", "data": {"participants": ["u-e", "bot"], "category": "text"}})
        self.say("f-4", "u-e", long)
        for language, word in (("ko", "내용없음"), ("en", "no message")):
            table = self.a.ctl("rooms", "u-e", "--beginning", "--category", "text", "--lang", language)
            self.assertEqual([line.endswith(end) for line, end in zip(table.splitlines()[-2:], (f" {long[:20]}...", word))], [True, True], table)
        self.assertIn(long, self.a.ctl("rooms", "u-e", "--beginning", "--plain"))
        message = next(row["event"]["id"] for row in self.client.rows("f-2") if row["event"]["data"].get("text") == "고양이를 그려 줘")
        self.client.append({"type": "message.retracted", "user": "u-f", "subject": "conversation/f-2", "data": {"message": message}})
        self.assertEqual(found(first=1)["f-2"], "삭제된 메시지")
        # Who joins later does not see with what it began.
        self.client.append({"type": "participant.joined", "user": "u-f", "subject": "conversation/f-1", "data": {"user": "u-g"}})
        self.say("f-1", "u-f", "어서 오세요")
        [line] = self.lines("/v1/users/u-g/conversations", self.as_user("u-g"), first=1)
        self.assertEqual(line["first_text"], "어서 오세요")

    def test_satisfaction_by_day_bot_and_persona(self) -> None:
        """S0-11: answers, whose event is about a reply or follows from an offer, counted for each day, bot, persona and conversation."""
        def reply(room: str, bot: str, version: str) -> str:
            message = self.say(room, "u-s", "물음")
            return self.say(room, bot, "답", user="u-s", cause=message, data={"persona": {"name": bot, "version": version}})

        def answer(room: str, choice: str, time: str, question: str = "helpful", **more: Any) -> None:
            data = {"survey": "satisfaction", "question": question, "choice": choice, **({"about": more.pop("about")} if "about" in more else {})}
            self.client.append({"type": "survey.answered", "user": "u-s", "subject": f"conversation/{room}", "time": time, **more, "data": data})
        one, two, three = reply("s-1", "drbot", "1"), reply("s-2", "drbot", "2"), reply("s-3", "other", "1")
        offer = self.client.append({"type": "survey.offered", "user": "u-s", "author": "drbot", "subject": "conversation/s-2", "cause": two,
                                    "data": {"survey": "satisfaction", "question": "helpful", "about": two}})[0]["id"]
        answer("s-1", "satisfied", "2026-11-01T01:00:00Z", about=one)
        answer("s-2", "dissatisfied", "2026-11-01T16:00:00Z", cause=offer)
        answer("s-2", "content", "2026-11-01T16:01:00Z", question="reason", cause=offer)
        answer("s-3", "dissatisfied", "2026-11-02T01:00:00Z", about=three)
        answer("s-4", "satisfied", "2026-11-02T01:00:00Z")

        def counted(**query: Any) -> List[Any]:
            return [(line["group"], line["question"], line["value"], line["count"]) for line in self.lines("/v1/surveys/satisfaction", limit=2, **query)]
        self.assertEqual(counted(by="day"), [
            ("2026-11-01", "helpful", "dissatisfied", 1), ("2026-11-01", "helpful", "satisfied", 1), ("2026-11-01", "reason", "content", 1),
            ("2026-11-02", "helpful", "dissatisfied", 1), ("2026-11-02", "helpful", "satisfied", 1)])
        # In Seoul it was the next day.
        self.assertEqual(counted(by="day", offset="+09:00", question="reason"), [("2026-11-02", "reason", "content", 1)])
        self.assertEqual(counted(by="bot", question="helpful"), [
            (None, "helpful", "satisfied", 1), ("drbot", "helpful", "dissatisfied", 1), ("drbot", "helpful", "satisfied", 1), ("other", "helpful", "dissatisfied", 1)])
        self.assertEqual(counted(by="persona", choice="dissatisfied"), [("drbot 2", "helpful", "dissatisfied", 1), ("other 1", "helpful", "dissatisfied", 1)])
        self.assertEqual([line[0] for line in counted(by="conversation", choice="dissatisfied")], ["s-2", "s-3"])
        self.assertEqual(counted(by="bot", since="2026-11-02T00:00:00Z", question="helpful"), [(None, "helpful", "satisfied", 1), ("other", "helpful", "dissatisfied", 1)])
        for query in ({"choice": "x"}, {"by": "day", "as_of": "2026-11-02T00:00:00Z"}, {"by": "day", "offset": "9"}, {"by": "week"}):
            self.refused("E_PARAMETER", self.lines, "/v1/surveys/satisfaction", **query)
        # The command prints the same, with the daemon and without.
        words = ("survey", "satisfaction", "--by", "persona", "--csv")
        told = self.a.ctl(*words)
        self.assertEqual(told.splitlines()[0], "group,question,value,count")
        self.assertIn("drbot 2,helpful,dissatisfied,1", told)
        self.assertIn("s-3", self.a.ctl("survey", "satisfaction", "--by", "conversation", "--choice", "dissatisfied"))
        self.a.stop()
        self.assertEqual(self.a.ctl(*words), told)
        self.a.start()


class PermittedTests(DaemonTests):
    """The same node without and with `users.listed` and `users.erase_own`."""

    def setUp(self) -> None:
        self.config = self.folder / "users.conf"

    def allow(self, **keys: bool) -> None:
        """Writes the configuration and has the daemon read it again, or start with it."""
        self.config.write_text(json.dumps({"users": keys}))
        self.a.process.send_signal(signal.SIGHUP) if getattr(self.a, "configured", False) else self.restart()

    def restart(self) -> None:
        self.a.stop()
        flags = ["--config", str(self.config), "--data-dir", str(self.a.store), "--socket", str(self.a.socket), "--node-name", "a", "--log-level", "warning"]
        with open(self.a.store.with_suffix(".log"), "ab") as log:
            self.a.process = subprocess.Popen([str(BINARIES / "syncd"), *flags], stdout=log, stderr=log)
        until(lambda: Sillok(self.a.base, patience=0).request("GET", "/readyz").status == 200, 30, Exception)
        self.a.configured = True  # type: ignore[attr-defined]

    as_user, lines = UsersTests.as_user, UsersTests.lines

    def may(self, client: Sillok) -> List[str]:
        return client.request("GET", "/v1/me").lines[0]["may"]

    def test_users_list_others_where_the_node_lets_them(self) -> None:
        """S2-4: off by default; then u1 of u1, u2, u3 sees u2 and u3, by id and name alone, and no more of them than before."""
        for user, name in (("u1", "김하늘"), ("u2", "김코랄"), ("u3", "이김")):
            self.client.append({"type": "profile.changed", "user": user, "data": {"fields": {"name": name, "phoneNumber": "010-비밀"}}})
        u1 = self.as_user("u1")
        self.allow(listed=False)
        until(lambda: self.may(u1) == [])
        self.refused("E_ROLE", self.lines, "/v1/users", u1)
        self.allow(listed=True)
        until(lambda: self.may(u1) == ["list_users"])
        found = self.lines("/v1/users", u1, limit=1)
        self.assertEqual([(line["user"], line["name"]) for line in found], [("u2", "김코랄"), ("u3", "이김")])
        self.assertEqual({key for line in found for key in line}, {"type", "v", "user", "name"})
        self.assertEqual([line["user"] for line in self.lines("/v1/users", u1, match="김")], ["u2"])
        self.refused("E_NOT_FOUND", self.lines, "/v1/users/u2", u1)
        self.assertEqual(len(self.lines("/v1/users")), 3)
        self.allow(listed=False)
        until(lambda: self.may(u1) == [])
        self.refused("E_ROLE", self.lines, "/v1/users", u1)

    def test_users_erase_what_is_theirs_where_the_node_lets_them(self) -> None:
        """S4-6: off by default; with a plan that was seen all of a user goes from the files, and nothing of others."""
        secret, kept = "SENTINEL-own-4711", "SENTINEL-kept-4712"
        own = [{"type": "message.posted", "user": "e1", "subject": "conversation/e", "data": {"text": secret}},
               {"type": "profile.changed", "user": "e1", "data": {"fields": {"city": secret}}},
               {"type": "contact.added", "user": "e1", "data": {"contact": "e2", "name": secret}}]
        self.client.append([*own, {"type": "message.posted", "user": "e2", "subject": "conversation/e", "data": {"text": kept}}])
        e1, e2 = self.as_user("e1"), self.as_user("e2")
        path = "/v1/users/e1/erasure"

        def ask(client: Sillok, path: str = path, **body: Any) -> List[Json]:
            return client.request("POST", path, body=json.dumps(body).encode()).lines
        self.allow(erase_own=False)
        self.refused("E_ROLE", ask, e1, dry_run=True)
        self.allow(erase_own=True)
        until(lambda: self.may(e1) == ["erase_own"])
        self.refused("E_AUTHOR", ask, e2, dry_run=True)
        self.refused("E_PARAMETER", ask, e1)
        *parts, end = ask(e1, dry_run=True)
        self.assertEqual(sum(part["count"] for part in parts), 3)
        self.client.append({"type": "message.posted", "user": "e1", "subject": "conversation/e", "data": {"text": kept}})
        self.refused("E_PLAN", ask, e1, plan="x")
        # What came since the plan stays.
        [begun] = ask(e1, plan=end["plan"])
        self.assertEqual((begun["type"], begun["left"]), ("erasing", 1))
        *parts, end = ask(e1, dry_run=True)
        # It reads the whole log: not as often as one likes.
        self.refused("E_RATE", lambda: e1.request("POST", path, body=b'{"dry_run":true}', patience=0))
        until(lambda: [line["state"] for line in self.client.request("GET", "/v1/erasures").lines if line["type"] == "erasure"] == ["applied"], 30)
        [line] = [line for line in self.client.request("GET", "/v1/erasures").lines if line["type"] == "erasure"]
        self.assertEqual((line["user"], line["reason"], line["who"]), ("e1", "asked for by the user", "user/e1"))
        self.assertEqual([row["event"]["data"]["text"] for row in self.client.rows("e") if "data" in row["event"]], [kept, kept])
        for file in Path(self.a.store).rglob("*"):
            if file.is_file() and os.access(file, os.R_OK):
                self.assertNotIn(secret.encode(), file.read_bytes(), file)
        until(lambda: "VERIFIED" in self.a.ctl("verify"))
