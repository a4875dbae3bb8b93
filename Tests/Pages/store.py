"""A cluster of two daemons with everything that the console can show: dialogues, edits, corrections, retractions, surveys, a profile
with a conflict, parked events, a quarantined one, an erased one, a peer that is away."""
from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

ROOT = Path(__file__).resolve().parent.parent.parent
BINARIES = Path(os.environ.get("SILLOK_BIN") or ROOT / ".build" / "debug")
DATA = ROOT.parent / "shared" / "data"
sys.path.insert(0, str(ROOT / "clients" / "python"))

from sillok import Sillok, SillokError, Unreachable  # noqa: E402

KST = timezone(timedelta(hours=9))
START = datetime(2026, 8, 1, 11, 2, 15, tzinfo=KST)
USER, BOT, AGENT = "김하늘", "갤럭시 도우미", "이서준"
# As a reply of sillok-bot has it.
PERSONA = {"name": "상담", "version": "v7", "sha256": "ab" * 32}

# What is said where the sets of real dialogues are not there.
INVENTED = [
    ("user", "자급제 기기를 구매했는데, 어떻게 개통하는 거야?"),
    ("system", "가입 시 이동통신 사업자가 제공하는 Nano-SIM 카드를 삽입하세요."),
    ("user", "유심카드를 꽂으려 했는데, 사이즈가 달라."),
    ("system", "SIM 카드는 Nano-SIM 카드만 사용할 수 있습니다."),
    ("user", "유심카드 잠가놨는데, 비밀번호를 잊어버렸어."),
    ("system", "비밀번호를 3회 연속 잘못 입력하면 잠겨 사용할 수 없습니다.\n이 경우에는 PUK 코드를 입력해야 합니다."),
    ("user", "메모리 카드 삽입했는데, 어디서 확인할 수 있는 거야?"),
    ("system", "메모리 카드를 제품에 삽입하면 내 파일 → SD 카드 폴더에 메모리 카드의 파일 목록이 나타납니다."),
]

# Texts that a page must show as they are, and never run, load or be torn by.
HOSTILE = [
    "<script>window.hacked=1</script>",
    "<img src=x onerror=\"window.hacked=1\">",
    "<svg onload=window.hacked=1><a xlink:href=javascript:window.hacked=1>x</a></svg>",
    "javascript:window.hacked=1 data:text/html,<script>window.hacked=1</script>",
    "</article></main><h1>not mine</h1><style>*{display:none}</style>",
    "\u202etxet desrever\u202c \u2066isolate\u2069 \u200f",
    "nul \u0000 bell \u0007 escape \u001b[31m del \u007f",
    "Z" + "".join(chr(0x300 + i % 112) for i in range(300)) + "algo",
    "가" * 80_000,
    "a" * 100_000,
    "{{constructor.constructor('window.hacked=1')()}} ${window.hacked=1}",
    "[link](javascript:window.hacked=1) ![x](http://evil.example/x.png) http://evil.example https://evil.example/a?b=<c>",
    "```\n<b>code</b>\n",
    "\ufeff\u00ad\u200b\u2028\u2029 \U000e0041 \uffff 👩‍👩‍👧‍👦 é é",
]


class Daemon:
    """`syncd` with its store in `folder`."""

    def __init__(self, folder: Path, name: str, settings: Dict[str, Any]):
        self.name, self.store, self.socket = name, folder / name, folder / f"{name}.sock"
        self.settings = folder / f"{name}.json"
        self.settings.write_text(json.dumps(settings), "utf-8")
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.start()

    def start(self) -> None:
        # With SYNCD_PAGES the pages come from the folder: no build is needed while they are worked on.
        more = ["--dev"] if os.environ.get("SYNCD_PAGES") else []
        with open(self.store.with_suffix(".log"), "ab") as log:
            self.process = subprocess.Popen(
                [str(BINARIES / "syncd"), "--config", str(self.settings), "--data-dir", str(self.store), "--socket", str(self.socket),
                 "--node-name", self.name, "--cluster", "clinic", "--peer-listen", "127.0.0.1:0", *more], stdout=log, stderr=log)
        until(lambda: self.client.request("GET", "/readyz").status == 200, 60, SillokError, Unreachable)

    @property
    def client(self) -> Sillok:
        return Sillok(f"unix:{self.socket}", patience=0)

    @property
    def log(self) -> str:
        return self.store.with_suffix(".log").read_text("utf-8", "replace")

    def url(self) -> str:
        """Where its API is over TCP."""
        return re.findall(r"API at (https?://\S+)", self.log)[-1]

    def ctl(self, *words: str, input: Optional[str] = None, codes: tuple = (0,), seconds: float = 60) -> str:
        done = subprocess.run([str(BINARIES / "syncctl"), *words, "--store", str(self.store)], capture_output=True, text=True,
                              input=input, timeout=seconds, check=False)
        if done.returncode not in codes:
            raise AssertionError(f"syncctl {words}: {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def ask(self, method: str, path: str, body: Any = None) -> str:
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body, ensure_ascii=False).encode()
        for _ in range(100):
            connection = http.client.HTTPConnection("syncd", timeout=60)
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.settimeout(60)
            connection.sock.connect(str(self.socket))
            connection.request(method, path, body, {"Connection": "close"})
            answer = connection.getresponse()
            told = answer.read().decode("utf-8")
            connection.close()
            # The views are built anew after an erasure.
            if answer.status != 503:
                break
            time.sleep(0.2)
        if answer.status >= 400:
            raise AssertionError(f"{method} {path}: {answer.status} {told[:1000]}")
        return told

    def append(self, *events: Dict[str, Any]) -> None:
        """As an import: edits by others are taken and stand beside the message."""
        text = "\n".join(json.dumps(event, ensure_ascii=False) for event in events)
        self.ask("POST", "/v1/events?ids=derived", text.encode())

    def stop(self) -> None:
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)
        self.process = None


def until(what: Callable[[], Any], seconds: float = 10.0, *passing: type) -> Any:
    end = time.monotonic() + seconds
    while True:
        try:
            found = what()
            if found:
                return found
        except passing:
            pass
        if time.monotonic() > end:
            raise AssertionError("it did not come to hold in time")
        time.sleep(0.05)


def text(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")


def said(conversation: str, who: str, words: Any, at: datetime, *, user: Optional[str] = None, type: Optional[str] = None,
         cause: Optional[str] = None, id: Optional[str] = None, **data: Any) -> Dict[str, Any]:
    event: Dict[str, Any] = {
        "id": id or str(uuid.uuid5(uuid.NAMESPACE_URL, f"{conversation}/{who}/{at}/{words}/{type}")),
        "type": type or ("bot.replied" if who == BOT else "message.posted"), "user": user or USER, "author": who,
        "subject": f"conversation/{conversation}", "time": text(at), "data": data if words is None else {"text": words, **data},
    }
    if cause:
        event["cause"] = cause
    return event


def dialogues() -> Dict[str, List[tuple]]:
    """The real dialogues of HG-TODS by their ids, the one of the pictures first."""
    found: Dict[str, List[tuple]] = {}
    for name in ("Manual__manual2dial_dial_test.json", "Manual__manual2dial_dial_validation.json"):
        path = DATA / "ko_hgtods" / name
        if path.exists():
            for dialogue in json.loads(path.read_text("utf-8"))["dial_data"]["samsung"]:
                found[dialogue["dial_id"]] = [(turn["role"], turn["utterance"]) for turn in dialogue["turns"]]
    first = "frGXzE2LZyptH7Jz7VKf73"
    return {first: found.get(first) or INVENTED, **found}


class Cluster:
    """Seoul, which is looked at, Busan, its peer, and Tokyo, which is away."""

    def __init__(self, folder: Path, many: int = 24, long: int = 1_500, seoul: Optional[Dict[str, Any]] = None):
        self.folder = folder
        self.daemons: List[Daemon] = []
        try:
            self.seoul = self._daemon("seoul", {"api": {"listen": "127.0.0.1:0"}, **(seoul or {})})
            self.busan = self._daemon("busan", {})
            self._fill(many, long)
        except BaseException:
            self.stop()
            raise

    def _daemon(self, name: str, settings: Dict[str, Any]) -> Daemon:
        self.daemons.append(Daemon(self.folder, name, settings))
        return self.daemons[-1]

    def stop(self) -> None:
        for daemon in self.daemons:
            daemon.stop()

    def token(self, role: str, *more: str) -> str:
        made = self.seoul.ask("POST", "/v1/credentials", {"principal": f"{role.split(':')[0]}/test", "roles": [role, *more], "scope": "all"})
        return json.loads(made)["token"]

    def settled(self) -> None:
        def vectors() -> List[str]:
            return [" ".join(sorted(f"{line['origin']}/{line['seq']}" for line in map(json.loads, daemon.ctl("vector", "--json").splitlines())
                                    if line["type"] == "origin")) for daemon in (self.seoul, self.busan)]
        until(lambda: len(set(vectors())) == 1, 30)

    def _fill(self, many: int, long: int) -> None:
        seoul, busan = self.seoul, self.busan
        line = re.search(r"sillok://\S+", seoul.ctl("peers", "invite"))
        assert line
        busan.ctl("peers", "join", line[0])
        self.settled()
        self._first(next(iter(dialogues().values())))
        self._others(many)
        self._long(long)
        self._tied()
        self._hostile()
        self._profiles()
        self._subscriptions()
        # Quarantined by a view, and erased.
        seoul.append({"type": "message.posted", "user": USER, "subject": "conversation/c-90", "data": {"text": 5}},
                     {"type": "survey.answered", "user": USER, "data": {"survey": "만족도"}})
        gone = said("c-90", USER, "제 주민등록번호는 000000-0000000 입니다.", START + timedelta(minutes=40))
        seoul.append(said("c-90", USER, "배송지를 바꾸고 싶어요.", START + timedelta(minutes=39)), gone)
        seoul.ask("POST", "/v1/erasures", {"events": [gone["id"]], "reason": "개인정보 삭제 요청", "who": "kim"})
        seoul.ask("POST", "/v1/peers", {"name": "tokyo", "node": "ab" * 32, "address": "127.0.0.1:9"})
        self.settled()

    def _first(self, turns: List[tuple]) -> None:
        """The conversation of the pictures."""
        c, at = "c-88", START
        self.first: List[Dict[str, Any]] = [
            said(c, USER, None, at, type="conversation.started", title="유심과 메모리 카드", category="text")]
        last = None
        for role, words in turns:
            at += timedelta(seconds=41 if role == "user" else 3)
            event = said(c, USER if role == "user" else BOT, words, at, cause=last if role != "user" else None,
                         **({"model": "gpt-4o", "persona": PERSONA, "duration_ms": 1800} if role != "user" else {}))
            self.first.append(event)
            last = event["id"]
        posted = [event for event in self.first if event["type"] == "message.posted"]
        replied = [event for event in self.first if event["type"] == "bot.replied"]
        self.seoul.append(*self.first)
        edited, corrected = posted[1], replied[min(2, len(replied) - 1)]
        self.edited, self.corrected = edited["id"], corrected["id"]
        self.seoul.append(said(c, USER, "유심카드를 꽂으려 했는데, 카드가 트레이보다 커.", at + timedelta(seconds=20), type="message.edited", message=edited["id"]))
        self.seoul.append(said(c, AGENT, corrected["data"]["text"].replace("구입", "발급") + " 대리점에서 도와 드립니다.", at + timedelta(seconds=31),
                               user=USER, type="message.edited", message=corrected["id"]))
        secret = said(c, USER, "제 번호는 010-0000-0000 이에요.", at + timedelta(seconds=60))
        self.retracted = secret["id"]
        self.seoul.append(secret)
        self.seoul.append(said(c, USER, None, at + timedelta(seconds=80), type="message.retracted", message=secret["id"], reason="번호를 잘못 적었어요"))
        answer = ("네, 사진의 카드는 **Nano-SIM**입니다. 아래 순서로 꽂아 주세요.\n\n1. 전원을 끄고 트레이 분리 핀을 구멍에 넣어 트레이를 꺼냅니다.\n"
                  "2. 금색 단자가 아래로 가도록 카드를 올립니다.\n3. 트레이를 끝까지 밀어 넣은 뒤 전원을 켭니다.\n\n인식되지 않으면 다음 값을 확인해 주세요.\n"
                  "```\n설정 > 연결 > SIM 관리자\nAPN = lte.sktelecom.com\n```\n자세한 것은 https://www.samsung.com/sec/support/ 에 있습니다.")
        question = said(c, USER, "이 카드 맞나요?", at + timedelta(seconds=90), attachments=[{"name": "sim.png", "type": "image/png", "bytes": 184320, "sha256": "ab" * 32}])
        english = said(c, USER, "Thanks! One more thing: does formatting the SD card delete my photos?", at + timedelta(seconds=150))
        self.seoul.append(
            question,
            said(c, BOT, None, at + timedelta(seconds=92), type="bot.failed", cause=question["id"], reason="timeout", attempt=1),
            said(c, BOT, answer, at + timedelta(seconds=98), cause=question["id"], model="gpt-4o", persona=PERSONA, duration_ms=6100),
            english,
            said(c, BOT, "Yes. Formatting erases everything on the card, photos included. Copy them first:\n- open **My Files**, then **SD card**\n"
                 "- choose **Copy**\n- paste it under **Internal storage**", at + timedelta(seconds=153), cause=english["id"], model="gpt-4o", persona=PERSONA, duration_ms=2100),
            said(c, USER, None, at + timedelta(seconds=190), type="survey.answered", survey="만족도", question="도움이 되셨나요?", choice="매우 만족"))

    def _others(self, many: int) -> None:
        events: List[Dict[str, Any]] = []
        for number, turns in enumerate(list(dialogues().values())[1:many + 1]):
            c, user = f"c-{100 + number}", f"u-{1000 + number}"
            at = START + timedelta(hours=number)
            events.append(said(c, user, None, at, user=user, type="conversation.started", title=turns[0][1][:30], category="text"))
            for role, words in turns:
                at += timedelta(seconds=35 if role == "user" else 3)
                events.append(said(c, user if role == "user" else BOT, words, at, user=user))
            choice = ["매우 만족", "보통", "매우 만족", "불만족", "매우 만족"][number % 5]
            events.append(said(c, user, None, at + timedelta(seconds=9), user=user, type="survey.answered", survey="만족도", question="도움이 되셨나요?", choice=choice))
            if choice == "불만족":
                events.append(said(c, user, None, at + timedelta(seconds=19), user=user, type="survey.answered", survey="만족도", question="무엇이 아쉬우셨나요?", choices=["느려요", "틀렸어요"]))
            events.append(said(c, user, None, at + timedelta(seconds=29), user=user, type="survey.answered", survey="추천", question="0에서 10까지", rating=[9, 7, 10, 3, 8][number % 5]))
        for start in range(0, len(events), 400):
            self.seoul.append(*events[start:start + 400])

    def _long(self, long: int) -> None:
        path = DATA / "ko_songys" / "ChatbotData.csv"
        if path.exists():
            import csv
            with open(path, encoding="utf-8", newline="") as file:
                pairs = [(row["Q"], row["A"]) for row in csv.DictReader(file)]
        else:
            pairs = [("안녕?", "안녕하세요."), ("오늘 뭐 먹지?", "김치찌개 어떠세요?")]
        c, user, at = "c-long", "u-long", START - timedelta(days=9)
        events = [said(c, user, None, at, user=user, type="conversation.started", title="긴 대화", category="text")]
        for number in range(long // 2):
            question, answer = pairs[number % len(pairs)]
            at += min(timedelta(minutes=5), timedelta(days=9) / (long // 2 + 1))
            events += [said(c, user, question, at, user=user), said(c, BOT, answer, at + timedelta(seconds=2), user=user)]
        for start in range(0, len(events), 500):
            self.seoul.append(*events[start:start + 500])

    def _tied(self) -> None:
        """Many messages of one time, as exports without times have them."""
        events = [said("c-tied", "u-tied", f"같은 때 {number}", START - timedelta(days=1), user="u-tied") for number in range(900)]
        for start in range(0, len(events), 450):
            self.seoul.append(*events[start:start + 450])

    def _hostile(self) -> None:
        at = START + timedelta(hours=5)
        name = "<b onmouseover=window.hacked=1>mallory</b>\u202e"
        events = [said("c-hostile", name, None, at, user=name, type="conversation.started", title="<script>window.hacked=1</script>\u202e", category="text")]
        for number, words in enumerate(HOSTILE):
            events.append(said("c-hostile", name, words, at + timedelta(seconds=number + 1), user=name))
        events.append(said("c-hostile", name, HOSTILE[0] + HOSTILE[5], at + timedelta(seconds=40), user=name, type="message.edited", message=events[1]["id"]))
        events.append(said("c-hostile", name, None, at + timedelta(seconds=41), user=name, type="message.retracted", message=events[2]["id"], reason=HOSTILE[1]))
        events.append(said("c-hostile", name, None, at + timedelta(seconds=42), user=name, type="survey.answered", survey=HOSTILE[0], question=HOSTILE[1], choice=HOSTILE[2]))
        events.append(said("c-hostile", name, None, at + timedelta(seconds=43), user=name, type="custom." + "x" * 60, weird=HOSTILE[:4], attachments=[{"name": HOSTILE[1]}]))
        self.seoul.append(*events)

    def _profiles(self) -> None:
        """Two nodes that do not hear each other change one field."""
        self.seoul.append({"type": "profile.changed", "user": USER, "data": {"fields": {"name": USER, "plan": "기본", "language": "ko"}}})
        self.settled()
        self.seoul.ctl("peers", "pause", "busan")
        self.seoul.append({"type": "profile.changed", "user": USER, "data": {"fields": {"phone": "010-1111-2222"}}})
        self.busan.append({"type": "profile.changed", "user": USER, "author": AGENT, "data": {"fields": {"phone": "010-3333-4444"}}})
        self.seoul.ctl("peers", "resume", "busan")
        self.settled()

    def _subscriptions(self) -> None:
        """One that is behind, and one whose worker gives up."""
        self.seoul.ask("PUT", "/v1/subscriptions/medibot", {"start": "first", "filter": {"type": ["message.posted"]}, "attempts": 1})
        self.seoul.ask("PUT", "/v1/subscriptions/archive", {"start": "now", "filter": {"type": ["message.*", "bot.*"]}})
        found = until(lambda: json.loads(self.seoul.ask("POST", "/v1/subscriptions/medibot/pull", {"max": 3, "wait_ms": 1000}))["deliveries"])
        self.seoul.ask("POST", "/v1/subscriptions/medibot/park",
                       {"deliveries": [delivery["delivery"] for delivery in found], "reason": "HTTP 500: <model overloaded>"})


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cluster = Cluster(folder)
    told = {"url": cluster.seoul.url(), "socket": str(cluster.seoul.socket),
            **{role: cluster.token(role) for role in ("auditor", "reader", "app", "operator", "admin")}}
    (folder / "told.json").write_text(json.dumps(told), "utf-8")
    print(json.dumps(told, indent=1), flush=True)
    try:
        signal.pause()
    finally:
        cluster.stop()
