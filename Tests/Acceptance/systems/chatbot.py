#!/usr/bin/env python3
"""ios-chat-bot, the chat client: each question goes to the model with the dialogue before it, waits as pending, and survives faults of the model.

The user is at the other node than the bot: questions and answers cross.
"""
import http.client, socket, threading
from system import *

NAME = "김하늘"
QUESTIONS = ["제 이름은 김하늘이에요", "오늘 뭐 먹을까요?", "제 이름이 뭐죠?"]


class Follower(threading.Thread):
    """Server-sent events of a conversation, live pieces included."""

    def __init__(self, node, conversation):
        super().__init__(daemon=True)
        self.lines, self.connection = [], Connection(node.socket)
        self.connection.request("GET", f"/v1/changes?after=now&live=1&conversation={conversation}", headers={"Accept": "text/event-stream"})
        self.answer = self.connection.getresponse()
        check("a follower is let in", (self.answer.status, self.answer.getheader("Content-Type").split(";")[0]), (200, "text/event-stream"))
        self.start()

    def run(self):
        try:
            while line := self.answer.readline():
                if line.startswith(b"data: "):
                    self.lines.append(json.loads(line[6:]))
        except (OSError, ValueError, http.client.HTTPException):
            pass  # the node has ended


def main():
    home, away = two("home", "away")
    model = scripted([{"match": "제 이름이 뭐죠", "answer": f"{NAME} 님이에요."}])
    # As the design has it: two times 500, one slow answer, one that breaks off.
    model.fault("status", times=2, status=500)
    model.fault("slow", ms=400)
    model.fault("cut")
    gate, answer = threading.Event(), model.answer

    def held(*request):
        """What is asked waits until the run has seen that it is pending."""
        gate.wait(60)
        answer(*request)
    model.answer = held
    retries = {"attempts": 4, "first": "50ms", "longest": "200ms"}
    bot = Bot(config("chatbot", model, {"ko": "너는 묻는 말에 짧게 답한다."}, retries=retries), home, "chatbot")
    for number, text in enumerate(QUESTIONS, 1):
        gate.clear()
        message = append(away, "roks", "--conversation", "room", "--text", text)
        # No command lists what is pending: the subscription counts what is open, and the message has no reply yet.
        wait("the question is pending at the bot's node", 10, lambda: subscription(home, "chatbot"), lambda line: line["open"] == 1)
        check(f"S1-6: question {number} waits", [one["cause"] for one in rows(home, "room", "bot.replied") if one["cause"] == message], [])
        gate.set()
        reply = answered(away, "room", message, 30)
        check(f"S1-6: its answer has come to the user's node, of attempt {reply['data'].get('attempt')}", (reply["type"], reply["id"]),
              ("bot.replied", reply_id(message, "chatbot")))
        wait("nothing is pending", 10, lambda: subscription(home, "chatbot"), lambda line: line["open"] == 0)
    attempts = [one["data"]["attempt"] for one in rows(home, "room", "bot.replied")]
    check(f"S1-8: faults are tried again: {len(model.requests)} requests for three answers", (attempts, len(model.requests)), ([3, 2, 1], 6))
    asked = model.requests[-1]["body"]["messages"]
    check("S1-2, S1-3: the last request has the whole dialogue, in its roles", [one["role"] for one in asked], ["system", *["user", "assistant"] * 2, "user"])
    check("S1-3: and so the name", has(json.dumps(asked[:-1], ensure_ascii=False), NAME))
    replies = events(away, "conversation", "room", "--type", "bot.replied")
    check("S1-3: three replies", len(replies), len(QUESTIONS))
    told = [(one["data"]["usage"]["total_tokens"] > 0, one["data"]["model"], one["data"]["finish"]) for one in replies]
    check("S1-4: each says its usage, its model and how it ended", told, [(True, "gpt-3.5-turbo-0125", "stop")] * len(QUESTIONS))

    # Pieces are told at the node where the bot is, and at no other.
    follower = Follower(home, "room")
    model.fault("slow", ms=50)
    message = append(away, "roks", "--conversation", "room", "--text", "길게 말해줘 하나 둘 셋 넷 다섯 여섯")
    reply = answered(home, "room", message)
    wait("the follower has the reply", 10, lambda: [line for line in follower.lines if line.get("id") == reply["id"]])
    pieces = [line for line in follower.lines if line.get("control") == "live" and line.get("kind") == "delta"]
    check(f"S1-13: at least five pieces are seen: {len(pieces)}", len(pieces) >= 5)
    check("S1-13: together they are the answer", "".join(line["text"] for line in pieces), reply["data"]["text"])
    for node in (home, away):
        check(f"S1-13: and none is stored at {node.name}", [line for line in node.ctl("export").splitlines() if "delta" in line], [])

    model.stop()
    message = append(away, "roks", "--conversation", "room", "--text", "x")
    failed = answered(away, "room", message, 40)
    check("S1-8, S1-9: a model that is away fails the question in the end", (failed["type"], failed["data"]["code"], failed["data"]["final"]),
          ("bot.failed", "network", True))
    wait("nothing is pending", 10, lambda: subscription(home, "chatbot"), lambda line: line["open"] == 0)
    check("S1-9: and the user can ask on", len(rows(away, "room", "bot.failed")), 1)
    check("the bot ends in order", bot.stop(), 0)
    follower.connection.sock.shutdown(socket.SHUT_RDWR)
    proven(home, away)


run(main)
