#!/usr/bin/env python3
"""ChatGPT_App, chat with pictures and voice: its store is imported, pictures and voices are kept though links expire, and keys are tried first.

Bots for chat, pictures and voice at one node; the bytes are read at the other node, too.
"""
from system import *

HEARD = "머리가 아파요"
# What an m4a begins with; what it says stands between the lines (Tests/ScriptedModel).
VOICE = b"\0\0\0\x18ftypM4A \0\0\0\0M4A mp42" + f"|{HEARD}|".encode() + bytes(200)


def bytes_of(node, sha256):
    """An attachment's bytes as the command writes them; at the node that has to fetch them, after a while."""
    def got():
        run = subprocess.run([BIN + "/syncctl", "attachment", "get", sha256, "--store", node.folder], capture_output=True, timeout=60)
        return run.returncode, run.stdout, run.stderr[-300:]
    return wait(f"{sha256} at {node.name}", 20, got, lambda told: told[0] == 0)[1]


def main():
    home, away = two("home", "away")
    both = (home, away)
    fixtures = samples()
    if fixtures:
        for told, wanted in (("three conversations and four messages", (7, 0, 0)), ("again: nothing new", (0, 7, 0))):
            found = end(home, "import", "--format", "auto", fixtures + "/default.store", "--user", "me")
            check(f"S4-21: {told}", tuple(found[name] for name in ("appended", "already", "rejected")), wanted)
        settle(home, away)
        with open(fixtures + "/picture.png", "rb") as file:
            original = file.read()
        for node in both:
            told = [line["messages"] for line in lines(node, "conversations", "--user", "me", "--category", "image") if "conversation" in line]
            check(f"S4-1, S4-4: one conversation with pictures at {node.name}, of two messages", told, [2])
            kept = [line["sha256"] for line in lines(node, "attachment", "list") if "sha256" in line]
            check(f"S4-2: its picture at {node.name} has the bytes of the store", [(one, sha(bytes_of(node, one))) for one in kept], [(sha(original),) * 2])
    else:
        skipped("S4-21, S4-1, S4-2: the samples of exports are not there")

    model = scripted(links=True)  # an address of a picture works once
    chat = config("chat", model, {"ko": "너는 말동무다.", "en": "You keep people company."}, greeting={"ko": "안녕하세요.", "en": "Hello."})
    Bot(chat, home, "chat")
    for name in ("picture", "voice"):
        Bot(example(name, model), home, name)

    def begin(room, bot, category):
        append(home, "me", "--type", "conversation.started", "--conversation", room, "--data", json.dumps({"category": category, "participants": ["me", bot]}))

    def post(room, data):
        return answered(home, room, append(home, "me", "--conversation", room, "--data", json.dumps(data, ensure_ascii=False)))

    begin("g", "picture", "image")
    item = post("g", {"text": "고양이 그림"})["data"]["attachments"][0]
    drawn = next(request for request in model.requests if request["path"].endswith("/images/generations"))["body"]
    check("S4-9: the model is asked for one picture", drawn, {"model": "dall-e-2", "prompt": "고양이 그림", "n": 1, "size": "1024x1024"})
    fetched = sum(request["path"].startswith("/pictures/") for request in model.requests)
    for node in both:
        check(f"S4-9: the picture is kept at {node.name}, though its address is gone", (fetched, item["mediaType"], sha(bytes_of(node, item["sha256"]))),
              (1, "image/png", sha(picture("고양이 그림"))))
    failed = post("g", {"text": "unsafe"})
    check("S4-10: a refusal is told as one", (failed["type"], failed["data"].get("code"), failed["data"].get("final")), ("bot.failed", "filtered", True))

    path = os.path.join(ROOT, "voice.m4a")
    with open(path, "wb") as file:
        file.write(VOICE)
    stored = lines(home, "attachment", "put", path)[0]
    begin("v", "voice", "voice")
    said = post("v", {"attachments": [{"sha256": stored["sha256"], "mediaType": "audio/mp4", "bytes": len(VOICE)}]})["data"]
    check("S4-14: the voice is heard", said.get("transcript"), HEARD)
    item = said["attachments"][0]
    for node in both:
        check(f"S4-16: the answer is spoken, and the sound is at {node.name}", (item["mediaType"], bytes_of(node, item["sha256"])),
              ("audio/mpeg", sound(said["text"])))
        check(f"S4-11: the recording is at {node.name}", bytes_of(node, stored["sha256"]), VOICE)
    asked = next(request for request in model.requests if request["path"] == "/v1/audio/speech")["body"]
    check("S4-16: speech is asked for as configured", {name: asked[name] for name in ("model", "voice", "response_format")},
          {"model": "tts-1", "voice": "alloy", "response_format": "mp3"})

    append(home, "me", "--type", "profile.changed", "--data", '{"fields":{"language":"en"}}')
    begin("t", "chat", "text")
    greeting = wait("a greeting", 20, lambda: [one for one in rows(home, "t", "bot.replied") if one["data"].get("greeting")])[0]
    check("S4-20: the next greeting is in the language that was set", greeting["data"]["text"], "Hello.")
    answer = post("t", {"text": "How are you?"})["data"]["text"]
    check("S4-7: a streamed answer is stored whole, and once", (answer, len(rows(home, "t", "bot.replied"))), ("답: How are you?", 2))

    url = ("--url", "unix:" + home.socket)
    check("S4-19: the right key passes", bot_program("check", "--config", chat, *url).returncode, 0)
    # `key set` tries nothing: `check` does, before a bot is started.
    check("S4-18: another key is put in its place", bot_program("key", "set", "--config", chat, said="bad\n").returncode, 0)
    tried = bot_program("check", "--config", chat, *url)
    check("S4-19: a wrong key is refused", tried.returncode, 77)
    check("S4-18: and told by neither command", "bad" in bot_program("key", "show", "--config", chat).stdout + tried.stdout + tried.stderr, False)

    append(home, "me", "--type", "conversation.hidden", "--conversation", "g", "--data", "{}")
    settle(home, away)
    for node in both:
        listed = [line["conversation"] for line in lines(node, "conversations", "--user", "me") if "conversation" in line]
        check(f"S4-5: what is hidden is in the list at {node.name} no more", ("g" in listed, "v" in listed), (False, True))
        texts = [one["data"].get("text") for one in events(node, "history", "me", "--conversation", "g")]
        check(f"S4-5: and in the history at {node.name} all the same", texts[1:2], ["고양이 그림"])
    check("the three bots end in order", [bot.stop() for bot in Bot.running], [0, 0, 0])
    model.stop()
    proven(home, away)


run(main)
