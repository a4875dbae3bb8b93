"""A daemon with the rooms of a few people and of a bot, for the chat's tests and pictures."""
from __future__ import annotations

import base64
import hashlib
import json
import struct
import time
import uuid
import zlib
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Dict, List, Optional

from store import Daemon, until

SKY, SEO, MIN, BOT = "u-1029", "u-2001", "u-2002", "medibot"
NAMES = {SKY: "김하늘", SEO: "이서준", MIN: "박민지"}


def direct(one: str, other: str) -> str:
    """The id of a conversation of two (FORMATS §4)."""
    digest = hashlib.sha256(b"sillok-direct-v1\0" + b"\0".join(sorted([one.encode(), other.encode()]))).digest()
    return "dm-" + base64.b32encode(digest).decode().lower()[:26]


def picture(width: int = 320, height: int = 200) -> bytes:
    """A PNG: a sky over hills."""
    rows = []
    for y in range(height):
        row = bytearray([0])
        for x in range(width):
            hill = height * 0.62 + 18 * ((x % 160) / 80 - 1) ** 2
            row += bytes((126 + 50 * y // height, 170 + 33 * y // height, 214)) if y < hill else bytes((70 + 25 * y // height, 118, 84))
        rows.append(bytes(row))
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b""))


def voice(seconds: float = 0.5) -> bytes:
    """A WAV: a tone."""
    count = int(8_000 * seconds)
    data = b"".join(struct.pack("<h", 9_000 if number // 10 % 2 else -9_000) for number in range(count))
    return b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8_000, 16_000, 2, 16) + b"data" + struct.pack("<I", len(data)) + data


class Chats:
    def __init__(self, folder: Path, long: int = 0):
        self.daemon = Daemon(folder, "seoul", {"api": {"listen": "127.0.0.1:0"}})
        try:
            self._fill(long)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        self.daemon.stop()

    def token(self, user: str) -> str:
        made = self.daemon.ask("POST", "/v1/credentials", {"principal": f"chat/{user}", "roles": [f"user:{user}"]})
        return json.loads(made)["token"]

    def say(self, conversation: str, who: str, words: Optional[str], *, type: Optional[str] = None, user: Optional[str] = None, at: Optional[datetime] = None,
            cause: Optional[str] = None, id: Optional[str] = None, **data: Any) -> str:
        """Appends one event and answers its id."""
        event: Dict[str, Any] = {
            "id": id or str(uuid.uuid4()), "type": type or ("bot.replied" if who == BOT else "message.posted"), "user": user or (SKY if who == BOT else who), "author": who,
            "subject": f"conversation/{conversation}", "data": data if words is None else {"text": words, **data}}
        if at:
            event["time"] = at.isoformat(timespec="milliseconds")
        if cause:
            event["cause"] = cause
        self.daemon.ask("POST", "/v1/events", json.dumps(event, ensure_ascii=False).encode())
        return event["id"]

    def live(self, conversation: str, cause: str, n: int, text: str, author: str = BOT) -> None:
        self.daemon.ask("POST", f"/v1/conversations/{conversation}/live", {"kind": "delta", "author": author, "in_reply_to": cause, "n": n, "text": text})

    def put(self, content: bytes, type: str) -> Dict[str, Any]:
        import http.client
        import socket
        connection = http.client.HTTPConnection("syncd", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(self.daemon.socket))
        connection.request("POST", "/v1/attachments", content, {"Content-Type": type, "Connection": "close"})
        stored = json.loads(connection.getresponse().read().split(b"\n")[0])
        connection.close()
        return {"sha256": stored["sha256"], "bytes": stored["bytes"], "mediaType": stored["mediaType"]}

    def texts(self, conversation: str) -> List[str]:
        """Texts of a conversation as they are stored, the oldest first."""
        lines = self.daemon.ask("GET", f"/v1/conversations/{conversation}/rows?order=oldest&limit=500&type=message.posted&type=bot.replied").rstrip("\n").split("\n")
        return [json.loads(line)["event"]["data"].get("text", "") for line in lines[:-1]]

    def unread(self, user: str, conversation: str) -> int:
        lines = [json.loads(line) for line in self.daemon.ask("GET", f"/v1/users/{user}/conversations?limit=500").rstrip("\n").split("\n")]
        return next(line["unread"] for line in lines if line.get("conversation") == conversation)

    def _fill(self, long: int) -> None:
        now = datetime.now(timezone.utc)
        for user, name in NAMES.items():
            self.daemon.ask("POST", "/v1/events", {"type": "profile.changed", "user": user, "data": {"fields": {"name": name}}})
        if long:
            self._long(long, now - timedelta(days=40))
        self._bot(now - timedelta(hours=3))
        self._pair(now - timedelta(minutes=50))
        self._group(now - timedelta(minutes=9))
        self.daemon.ask("PUT", f"/v1/users/{SKY}/contacts/{SEO}", {"name": "서준 (회사)"})
        self.daemon.ask("PUT", f"/v1/users/{SKY}/contacts/{MIN}", {})

    def _bot(self, at: datetime) -> None:
        c = self.bot = "c-88"
        self.say(c, SKY, None, type="conversation.started", at=at, title="건강 상담", category="text", participants=[SKY, BOT])
        greeting = self.say(c, BOT, "안녕하세요, **Dr.Bot**입니다. 의사는 아니지만 의학 정보를 찾아 드립니다. 어디가 불편하세요?", at=at + timedelta(seconds=1), greeting=True)
        first = self.say(c, SKY, "손목 통증이 오래 지속되는데 통증 완화에 도움이 되는 방법 3가지 알려줘", at=at + timedelta(seconds=40))
        self.say(c, SKY, None, type="message.read", at=at + timedelta(seconds=41), upTo=greeting)
        self.replied = self.say(c, BOT, "손목을 쉬게 하는 것이 먼저입니다.\n\n1. 하루 두세 번, 15분씩 차게 찜질하세요.\n2. 손목 보호대로 움직임을 줄이세요.\n"
                                "3. 통증이 가라앉으면 가볍게 스트레칭하세요.\n\n두 주 넘게 이어지거나 심해지면 **병원 진료**를 받으세요.", at=at + timedelta(seconds=46), cause=first, user=SKY)
        self.offer = self.say(c, BOT, None, type="survey.offered", user=SKY, at=at + timedelta(seconds=47), cause=first, survey="satisfaction", question="helped", about=self.replied,
                              text={"ko": "답변이 도움이 되셨나요?", "en": "Did the answer help?"},
                              choices=[{"code": "satisfied", "label": {"ko": "매우 만족", "en": "Very much"}}, {"code": "neutral", "label": {"ko": "보통", "en": "Somewhat"}},
                                       {"code": "dissatisfied", "label": {"ko": "불만족", "en": "No"}}])

    def _pair(self, at: datetime) -> None:
        c = self.pair = direct(SEO, SKY)
        self.say(c, SEO, None, type="conversation.started", at=at - timedelta(seconds=1), category="text", participants=sorted([SEO, SKY]))
        self.first = self.say(c, SEO, "하늘 님, 내일 회의 자료 보셨어요?", at=at)
        self.edited = self.say(c, SKY, "네, 봤어요. 3쪽의 표가 이상해요.", at=at + timedelta(seconds=50))
        self.say(c, SKY, None, type="message.edited", at=at + timedelta(seconds=80), message=self.edited, text="네, 봤어요. 4쪽의 표가 이상해요.")
        self.photo = {**self.put(picture(), "image/png"), "name": "hills.png", "width": 320, "height": 200, "alt": "들판 위의 맑은 하늘"}
        self.pictured = self.say(c, SEO, "아, 그건 고칠게요. 점심에 찍은 사진이에요.", at=at + timedelta(minutes=2), attachments=[self.photo])
        self.taken = self.say(c, SEO, "제 번호는 010-0000-0000 이에요.", at=at + timedelta(minutes=3))
        self.say(c, SEO, None, type="message.retracted", at=at + timedelta(minutes=4), message=self.taken)
        self.sound = {**self.put(voice(), "audio/wav"), "mediaType": "audio/wav", "name": "voice.wav", "duration_ms": 500}
        self.spoken = self.say(c, SKY, None, at=at + timedelta(minutes=5), attachments=[self.sound])
        self.say(c, SKY, None, type="message.read", at=at + timedelta(minutes=5, seconds=30), upTo=self.taken)
        self.last = self.say(c, SKY, "Great, see you at 10 tomorrow: https://example.org/meeting", at=at + timedelta(minutes=6))

    def _group(self, at: datetime) -> None:
        c = self.group = "c-group"
        self.say(c, MIN, None, type="conversation.started", at=at, title="주말 등산", category="text", participants=[SKY, SEO, MIN])
        self.say(c, MIN, "토요일 8시에 북한산 입구에서 만나요!", at=at + timedelta(seconds=9))
        self.say(c, SKY, "좋아요. 물은 제가 가져갈게요.", at=at + timedelta(seconds=60))
        self.say(c, SKY, None, type="message.read", at=at + timedelta(seconds=70), upTo=self.say(c, SEO, "저는 김밥이요.", at=at + timedelta(seconds=62)))
        self.unread_first = self.say(c, MIN, "비가 오면 일요일로 미룰까요?", at=at + timedelta(minutes=4))
        self.say(c, SEO, "네, 일요일도 괜찮아요.", at=at + timedelta(minutes=5))
        self.say(c, MIN, "그럼 금요일 저녁에 다시 얘기해요.", at=at + timedelta(minutes=6))

    def _long(self, count: int, at: datetime) -> None:
        c = self.long = "c-long"
        self.say(c, SKY, None, type="conversation.started", at=at, title="긴 대화", category="text", participants=[SKY, SEO])
        step = timedelta(days=39) / (count + 1)
        for start in range(0, count, 2_000):
            lines = [json.dumps({"id": str(uuid.UUID(int=(0x7 << 76) | (0x8 << 60) | 1 << 127 | number)), "type": "message.posted", "user": SKY if number % 2 else SEO, "subject": f"conversation/{c}",
                                 "time": (at + step * (number + 1)).isoformat(timespec="milliseconds"), "data": {"text": f"메시지 {number + 1}"}}, ensure_ascii=False)
                     for number in range(start, min(start + 2_000, count))]
            self.daemon.ask("POST", "/v1/events", "\n".join(lines).encode())
        self.say(c, SKY, None, type="message.read", upTo=str(uuid.UUID(json.loads(lines[-1])["id"])))
