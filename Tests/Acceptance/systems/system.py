"""What the five systems' acceptance runs share: two nodes that are peers, bots with a model that answers from a table, samples of exports, checks.

A check that does not hold ends its run and prints what came and what was wanted. What is known to be wrong in the programs goes to `fails`: it
is printed and ends the run with 1, after all other checks. All files are in a temporary folder, which KEEP=1 leaves there when a check fails.
"""
import hashlib, json, os, shutil, subprocess, sys, time, uuid

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.abspath(os.path.join(HERE, "../../.."))
sys.path[1:1] = [os.path.join(REPOSITORY, path) for path in ("Tests/Acceptance", "Tests/ScriptedModel", "clients/python")]

from node import BIN, ROOT, Client, Connection, Node, clean, event, until  # noqa: E402
from model import ScriptedModel, picture, sound  # noqa: E402
from sillok import reply_id  # noqa: E402

SAMPLES = os.path.join(REPOSITORY, "../shared/design/seed_samples/make_samples.py")
BOTS = os.path.join(REPOSITORY, "Examples/bot")
KEY = "sk-acceptance-" + uuid.uuid4().hex
FAILED, NODES = [], []


class NotSo(Exception):
    """A check does not hold."""


def check(told, got, wanted=True):
    """Prints what holds; ends the run where `got` is not what is wanted."""
    if got != wanted:
        raise NotSo(f"{told}\n      came:   {got!r}\n      wanted: {wanted!r}")
    print(f"ok    {told}", flush=True)


def fails(told, got, wanted=True):
    """A check that a fault of the programs keeps from holding: told, and the run goes on to its end, which is 1."""
    try:
        check(told, got, wanted)
    except NotSo as error:
        FAILED.append(told)
        print(f"FAIL  {error}", flush=True)


def has(text, *words):
    """Whether all words stand in a text; else the text, to be told as what came."""
    return all(word in text for word in words) or text


def sha(data):
    return hashlib.sha256(data).hexdigest()


def skipped(told):
    print(f"skip  {told}", flush=True)


def wait(told, seconds, ask, holds=bool):
    """What `ask` says as soon as that holds; after so many seconds the last of it is told."""
    deadline = time.monotonic() + seconds
    while True:
        got = ask()
        if holds(got):
            return got
        if time.monotonic() > deadline:
            raise NotSo(f"{told}: not within {seconds} s\n      came:   {got!r}")
        time.sleep(0.02)


# Nodes

def two(first, second, settings={}):
    """Two nodes that are peers: the first listens, the second has joined it."""
    a, b = Node(first, listen=True, settings=settings), Node(second, settings=settings)
    NODES.extend((a, b))
    b.join(a)
    wait("the peers are connected", 20, lambda: lines(b, "peers"), lambda told: any(one.get("state") == "connected" for one in told))
    settle(a, b)
    return a, b


def lines(node, *words, codes=(0,), **more):
    """The lines that a command prints as JSON."""
    run = subprocess.run([BIN + "/syncctl", *words, "--store", node.folder, "--json"], capture_output=True, text=True, timeout=120, **more)
    if run.returncode not in codes:
        came = f"{run.returncode} {run.stdout[-600:]}{run.stderr[-600:]}"
        raise NotSo(f"syncctl {' '.join(words)} at {node.name}\n      came:   {came}\n      wanted: {codes}")
    if "" in run.stdout.splitlines():
        fails(f"syncctl {' '.join(words[:2])} --json prints an object a line, and no empty ones", run.stdout.splitlines().count(""), 0)
    return [json.loads(line) for line in run.stdout.splitlines() if line]


def end(node, *words, **more):
    return lines(node, *words, **more)[-1]


def events(node, *words):
    """The events in what a command prints, without their place, which is each node's own."""
    found = [line["event"] for line in lines(node, *words, codes=(0, 1)) if "event" in line]
    for one in found:
        one.pop("position", None)
    return found


def append(node, user, *words):
    """The id of what was appended."""
    return lines(node, "append", "--user", user, *words)[0]["id"]


def rows(node, conversation, *types):
    """A conversation's events over the API, the oldest first."""
    found, cursor = [], ""
    while True:
        told = Client(node).json("GET", f"/v1/conversations/{conversation}/rows?order=oldest&limit=500{cursor}")[1]
        told = told if isinstance(told, list) else [told]
        found += [line["event"] for line in told if "event" in line and (not types or line["event"]["type"] in types)]
        if not told[-1].get("more"):
            return found
        cursor = "&cursor=" + told[-1]["next"]


def answered(node, conversation, message, seconds=20):
    """Waits for a message's answer or failure: there is no command for that."""
    def found():
        return [one for one in rows(node, conversation, "bot.replied", "bot.failed") if message in (one.get("cause"), one["data"].get("inReplyTo"))]
    return wait(f"an answer in {conversation}", seconds, found)[0]


def subscription(node, name):
    return next((line for line in lines(node, "subscriptions") if line.get("name") == name), {})


def vector(node):
    return sorted((line["origin"], line["seq"]) for line in lines(node, "vector") if line["type"] == "origin")


def settle(a, b):
    """Waits until each node has all that the other has."""
    wait(f"{a.name} and {b.name} have the same events", 30, lambda: (vector(a), vector(b)), lambda told: told[0] == told[1])


def digest(node):
    """Origins, roots and views; nothing while the views are behind the log."""
    told = lines(node, "digest", "--search", codes=(0, 2))
    return told[:-1] if told[-1]["complete"] and not told[-1].get("behind") else None


def proven(a, b):
    """Both nodes hold the same, by their digests, and after an orderly end `verify` proves both, views included."""
    settle(a, b)
    told = wait("the digests of both nodes are equal", 30, lambda: (digest(a), digest(b)), lambda told: told[0] and told[0] == told[1])[0]
    check(f"digests equal at {a.name} and {b.name}: {len(told)} lines of roots and views", len(told) > 5)
    for node in (a, b):
        node.stop()
        told = lines(node, "verify", "--views")
        wrong = [line for line in told if line["type"] in ("finding", "difference", "fork")]
        check(f"verify --views at {node.name}: all of {told[-1]['events']} events proven", (told[-1]["intact"], told[-1]["unsigned"], wrong), (True, 0, []))


def files(*folders):
    """The bytes of all files below, and in the logs."""
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        yield path, file.read()


# Bots

def scripted(table=None, **more):
    return ScriptedModel(table=table, key=KEY, **more)


def table(name):
    with open(os.path.join(REPOSITORY, "Tests/ScriptedModel", name), encoding="utf-8") as file:
        return json.load(file)


def example(name, model, *changes):
    """A configuration of the examples with this model and its key; `changes` are further texts to put in place of others."""
    folder = os.path.join(ROOT, "bots")
    os.makedirs(folder, exist_ok=True)
    for file in os.listdir(BOTS):
        if file.startswith(name + ".") and file.endswith(".md"):
            shutil.copy(os.path.join(BOTS, file), folder)
    with open(os.path.join(BOTS, name + ".json5"), encoding="utf-8") as file:
        text = file.read()
    for old, new in (("https://api.openai.com/v1", model.url), (f"/etc/sillok-bot/{name}.key", "key"), *changes):
        if old not in text:
            raise NotSo(f"Examples/bot/{name}.json5 has no {old!r}")
        text = text.replace(old, new)
    return written(name, text)


def config(name, model, persona, **more):
    """A configuration of a bot for chats."""
    os.makedirs(os.path.join(ROOT, "bots"), exist_ok=True)
    for language, text in persona.items():
        with open(os.path.join(ROOT, "bots", f"{name}.{language}.md"), "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return written(name, json.dumps({
        "bot": name, "endpoint": {"url": model.url, "model": "gpt-3.5-turbo", "key_file": "key"},
        "persona": {language: f"{name}.{language}.md" for language in persona}, **more}, ensure_ascii=False))


def written(name, text):
    key = os.path.join(ROOT, "bots", "key")
    with open(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(KEY + "\n")
    path = os.path.join(ROOT, "bots", name + ".json5")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


class Bot:
    """A process of sillok-bot at a node."""

    running = []

    def __init__(self, path, node, name):
        beside = sum(one.name == name and one.process.poll() is None for one in Bot.running)
        self.name = name
        with open(path + ".log", "ab") as log:
            self.process = subprocess.Popen([BIN + "/sillok-bot", "run", "--config", path, "--url", "unix:" + node.socket], stdout=log, stderr=log)
        Bot.running.append(self)
        wait(f"the bot {name} works", 20, lambda: subscription(node, name), lambda line: line.get("workers", 0) > beside)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait(20)


def bot_program(*words, said=None):
    return subprocess.run([BIN + "/sillok-bot", *words], input=said, capture_output=True, text=True, timeout=60)


# Samples

def samples():
    """A folder with small exports in the forms of the five systems, or None where what makes them is not there."""
    if not os.path.exists(SAMPLES):
        return None
    folder = os.path.join(ROOT, "samples")
    subprocess.run([sys.executable, "-B", SAMPLES, folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def run(body):
    """Runs a system's checks, ends what was started, and ends with 0 where all of them hold."""
    name, began = os.path.splitext(os.path.basename(sys.argv[0]))[0], time.monotonic()
    try:
        body()
    except (Exception, SystemExit) as error:  # also of a daemon that does not start, or went away
        FAILED.append(str(error))
        print(f"FAIL  {error if isinstance(error, NotSo) else f'{type(error).__name__}: {error}'}", flush=True)
    for one in Bot.running + NODES:
        one.process.kill()
        one.process.wait()
    if FAILED and os.environ.get("KEEP"):
        print(f"kept in {ROOT}")
    else:
        clean()
    print(f"{'FAIL' if FAILED else 'ok  '}  {name}: {time.monotonic() - began:.1f} s", flush=True)
    sys.exit(1 if FAILED else 0)
