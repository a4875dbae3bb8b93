#!/usr/bin/env python3
"""Dr.Bot's old database goes on: it is imported while the bot works, its user writes on in the imported conversation, and old and new are one history.

That history is read over the API by its user, and by commands at both nodes; then the exporters write it.
"""
import csv, io
from system import *

ROOM, USER = "drbot-uid-A", "uid-A"
OLD = [("uid-A", "두통이 오래 가요", "충분히 쉬시고, 계속되면 병원에 가 보세요.", 1686045669.514), ("uid-B", "손목이 아파요", "언제부터 아프셨나요?", 1686132000),
       ("uid-A", "물은 얼마나 마실까요?", "하루에 여덟 잔이면 됩니다.", 1686045700.25)]
NEW = ["두통이라고 제가 말했었나요?", "끝"]


def database():
    """An export of Firestore, of three documents of `chats`."""
    chats = {f"document-{number}": {
        "senderId": sender, "senderName": "User", "messageId": f"0B1B2C3D-0000-4000-8000-00000000000{number}", "sentDate": sent, "text": text, "botResponse": answer,
        "__collections__": {}} for number, (sender, text, answer, sent) in enumerate(OLD)}
    path = os.path.join(ROOT, "firestore.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"__collections__": {"chats": chats}}, file, ensure_ascii=False)
    return path


def imported(node, path):
    found = end(node, "import", path)
    return tuple(found[name] for name in ("appended", "already", "rejected"))


def main():
    home, away = two("home", "away")
    model = scripted([{"match": "말했었나요", "answer": "네, 오래 간다고 하셨어요. 병원에 가 보셨나요?"}])
    settings = example("drbot", model, ("unix:/run/syncd/api.sock", "unix:" + home.socket), (', token_file: "/etc/sillok-bot/drbot.token"', ""))
    bot, path = Bot(settings, home, "drbot"), database()
    check("S0-14: three documents are six events", imported(home, path), (6, 0, 0))
    user = Client(home, home.token("user/" + USER, "user:" + USER))

    def write(text):
        line = event("message.posted", USER, ROOM, text=text)
        check(f"{USER} writes on in the imported conversation: {text}", user.json("POST", "/v1/events", json.dumps(line))[0], 200)
        return line["id"], answered(home, ROOM, line["id"])
    first, answer = write(NEW[0])
    asked = [one["content"] for one in model.requests[0]["body"]["messages"] if one["role"] != "system"]
    old = [text for sender, *both, _ in OLD if sender == USER for text in both]
    check("S0-26: the model is told what was said before the import, and nothing of uid-B", asked, [*old, NEW[0]])
    append(home, USER, "--conversation", ROOM, "--type", "survey.answered", "--cause", answer["id"], "--data",
           json.dumps({"survey": "satisfaction", "question": "helpful", "choice": "dissatisfied", "about": answer["id"]}))
    last, farewell = write(NEW[1])
    wait("nothing open", 20, lambda: subscription(home, "drbot"), lambda line: line["open"] == 0)
    check("imported questions are not asked again: one request to the model", len(model.requests), 1)

    settle(home, away)
    told = [*old, NEW[0], answer["data"]["text"], NEW[1], farewell["data"]["text"]]
    kinds = "&type=message.posted&type=bot.replied"
    lines_of = user.json("GET", f"/v1/users/{USER}/history?order=oldest&limit=500{kinds}")[1]
    check(f"S0-15: {USER} reads old and new as one history, in order", [line["event"]["data"]["text"] for line in lines_of if "event" in line], told)
    history = events(home, "history", USER, "--role", "all")
    check(f"BE-004: and so it is by command at {home.name}", [one["data"]["text"] for one in history], told)
    check(f"BE-004: and at {away.name}, line by line", events(away, "history", USER, "--role", "all"), history)
    check("BE-004: each answer has its question as its cause", [one.get("cause") for one in history], [
        cause for question in history[::2] for cause in (None, question["id"])])
    check("again, here and there: nothing new", [imported(node, path) for node in (home, away)], [(0, 6, 0)] * 2)

    here = ("--conversation", ROOM)
    for node in (home, away):
        def tuning(*words):
            return [json.loads(line)["messages"] for line in node.ctl("export", "--format", "openai", *words).splitlines()]
        line, = tuning(*here)
        spoken = [(one["role"], one["content"]) for one in line if one["role"] != "system"]
        check(f"S0-12: a line for fine-tuning at {node.name} has all of it", spoken, [(("user", "assistant")[at % 2], text) for at, text in enumerate(told)])
        check(f"S0-12: of those that did not help at {node.name} it is the one", tuning("--survey", "satisfaction=dissatisfied"), [line])
        pairs = list(csv.DictReader(io.StringIO(node.ctl("dialogues", *here, "--csv"))))
        check(f"S0-13: questions and answers as CSV at {node.name}", [(one["question"], one["answer"], one["satisfaction"]) for one in pairs], [
            (told[at], told[at + 1], "dissatisfied" if told[at] == NEW[0] else "") for at in range(0, len(told), 2)])
        page = node.ctl("export", "--format", "html", *here)
        places = [page.find(text.split(chr(10))[0]) for text in told]
        check(f"a page at {node.name} has all of it, in order, and runs nothing", (min(places) > 0, places == sorted(places), "<script" in page), (True, True, False))
    check("the bot ends in order", bot.stop(), 0)
    model.stop()
    proven(home, away)


run(main)
