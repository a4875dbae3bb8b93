#!/usr/bin/env python3
"""Acceptance of subscriptions: workers, daemons and a node die; nothing is missing, order holds. Run by `make acceptance`."""
import collections, json, os, random, sqlite3, struct, sys, threading, time, uuid
from node import Client, Gone, Node, clean

EVENTS = int(os.environ.get("EVENTS", "10000"))
# A worker that is slower than this has its work done once more, which is no fault: longer where the machine is busy.
ACK_WAIT = int(os.environ.get("ACK_WAIT", "1000"))


def message(number, conversation, **more):
    return {"id": str(uuid.uuid4()), "type": "message.posted", "user": f"u{conversation}",
            "subject": f"conversation/c{conversation}", "data": {"text": f"안녕 {number}", "n": number}, **more}


def post(node, count, conversations, first=0, batch=50, pause=0.0):
    """Appends; each event is told again until it is acknowledged."""
    client, sent = Client(node), []
    for start in range(first, first + count, batch):
        events = [message(n, n % conversations) for n in range(start, min(start + batch, first + count))]
        while True:
            try:
                client.append(events)
                break
            except (Gone, AssertionError):
                time.sleep(0.05)
        sent += events
        time.sleep(pause)
    return [event["id"] for event in sent]


class Worker(threading.Thread):
    """Pulls, works, acks. `dies` says when it forgets what it had, as one that is killed."""

    def __init__(self, nodes, name, seen, lock, window=32, work=0.0, stop=None):
        super().__init__(daemon=True)
        self.nodes, self.name_, self.window, self.work = nodes, name, window, work
        self.seen, self.lock, self.stop = seen, lock, stop or threading.Event()
        self.dies, self.count, self.lost, self.acked = False, 0, 0, {}

    def run(self):
        client = Client(self.nodes[0])
        at = 0
        while not self.stop.is_set():
            try:
                status, answer = client.sub(self.name_, "pull", {"max": self.window, "wait_ms": 1000})
            except Gone:
                at = (at + 1) % len(self.nodes)
                client = Client(self.nodes[at])
                time.sleep(0.1)
                continue
            if status != 200:
                at = (at + 1) % len(self.nodes)
                client = Client(self.nodes[at])
                time.sleep(0.2)
                continue
            deliveries = answer["deliveries"]
            if self.work and deliveries:
                time.sleep(self.work * len(deliveries))
            with self.lock:
                for delivery in deliveries:
                    self.seen.append((delivery["event"]["id"], delivery["event"]["subject"],
                                      delivery["event"]["data"].get("n"), delivery["attempt"]))
            self.count += len(deliveries)
            if self.dies:
                self.dies, self.lost = False, self.lost + len(deliveries)
                client = Client(self.nodes[at])
                continue
            if not deliveries:
                continue
            tokens = [delivery["delivery"] for delivery in deliveries]
            while not self.stop.is_set():
                try:
                    status, answer = client.sub(self.name_, "ack", {"deliveries": tokens})
                    if status == 200:
                        for delivery in deliveries:
                            self.acked[delivery["event"]["id"]] = time.time()
                        break
                except Gone:
                    pass
                at = (at + 1) % len(self.nodes)
                client = Client(self.nodes[at])
                time.sleep(0.1)


def make(node, name, **members):
    body = {"start": "now", "filter": {"type": ["message.posted"]}, "ack_wait_ms": ACK_WAIT, "attempts": 50, **members}
    status, answer = Client(node).sub(name, "", body, "PUT")
    assert status == 201, (status, answer)


def settle(node, name, seconds=60):
    """Waits until the home has nothing open and nothing to look at."""
    client, deadline = Client(node), time.time() + seconds
    while time.time() < deadline:
        status, line = client.sub(name, "", None, "GET")
        if status == 200 and line.get("open") == 0 and line.get("behind") == 0:
            return
        time.sleep(0.2)
    raise AssertionError(f"{name} is not done: {line}")


def done_set(node, name):
    """What of a subscription is done, as `subs.db` of a node has it (FORMATS, section 5): its first five lists."""
    id = Client(node).sub(name, "", None, "GET")[1]["id"]
    with sqlite3.connect(f"file:{node.folder}/subs.db?mode=ro", uri=True) as file:
        found = file.execute("SELECT bytes FROM value WHERE name = ?", (id,)).fetchone()
    file.close()
    if found is None:
        return None
    version, at, lists = struct.unpack(">Q", found[0][:8])[0], 8, []
    assert version in (2, 3), version
    for size in (24, 32, 32, 24, 24):
        count = struct.unpack(">Q", found[0][at:at + 8])[0]
        parts = [found[0][at + 8 + n * size:at + 8 + (n + 1) * size] for n in range(count)]
        lists.append({part[:16].hex(): struct.unpack(">Q", part[16:24])[0] for part in parts} if not lists else
                     {(part[:16].hex(), *struct.unpack(f">{size // 8 - 2}Q", part[16:])) for part in parts})
        at += 8 + count * size
    return lists


def check(name):
    def wrap(body):
        def run():
            start = time.time()
            told = body()
            print(f"ok    {name}: {told} ({time.time() - start:.1f} s)", flush=True)
        run.title = name
        CHECKS.append(run)
        return run
    return wrap


CHECKS = []


def workers(nodes, name, count, **more):
    seen, lock, stop = [], threading.Lock(), threading.Event()
    team = [Worker(nodes, name, seen, lock, stop=stop, **more) for _ in range(count)]
    for one in team:
        one.start()
    return team, seen, stop


def ordered(seen):
    """Of each conversation the first deliveries come in order."""
    last = {}
    known = set()
    for event, subject, number, _ in seen:
        if event in known:
            continue
        known.add(event)
        if number <= last.get(subject, -1):
            return False
        last[subject] = number
    return True


@check("1 workers are killed")
def kill_workers():
    node = Node("s1")
    make(node, "bot")
    team, seen, stop = workers([node], "bot", 4)
    kills = 0
    poster = threading.Thread(target=lambda: sent.extend(post(node, EVENTS, 200, pause=0.02)), daemon=True)
    sent = []
    poster.start()
    while poster.is_alive():
        time.sleep(0.5)
        random.choice(team).dies = True
        kills += 1
    poster.join()
    settle(node, "bot")
    stop.set()
    missing = set(sent) - {event for event, *_ in seen}
    lost = sum(worker.lost for worker in team)
    repeats = len(seen) - len(sent)
    assert not missing, f"{len(missing)} are missing"
    assert ordered(seen), "order"
    assert repeats <= lost, (repeats, lost)
    node.stop()
    return f"{len(sent)} events, {kills} kills, {lost} were out, {repeats} repeats, 0 missing, in order"


@check("2 the daemon is killed")
def kill_daemon():
    node = Node("s2")
    make(node, "bot")
    team, seen, stop = workers([node], "bot", 4)
    sent = []
    poster = threading.Thread(target=lambda: sent.extend(post(node, EVENTS // 2, 200, pause=0.05)), daemon=True)
    poster.start()
    kills, wrong = 0, 0
    for _ in range(int(os.environ.get("KILLS", "20"))):
        time.sleep(0.4)
        with threading.Lock():
            acked = {}
            for worker in team:
                acked.update(dict(worker.acked))
        mark = len(seen)
        node.kill()
        kills += 1
        node.start()
        time.sleep(0.3)
        again = [event for event, *_ in seen[mark:] if event in acked]
        wrong += len(again)
    poster.join()
    settle(node, "bot")
    stop.set()
    missing = set(sent) - {event for event, *_ in seen}
    assert not missing, f"{len(missing)} are missing"
    assert wrong == 0, f"{wrong} came again after their ack"
    node.stop()
    return f"{len(sent)} events, {kills} kills, {len(seen) - len(sent)} repeats, 0 missing, 0 acked came again"


@check("3 the home is gone for good")
def lose_home():
    home, other = Node("s3", listen=True), Node("b3")
    other.join(home)
    make(home, "bot", ack_wait_ms=30000)
    sent = post(home, EVENTS // 2, 200)
    home.ctl("wait", "--nodes", "2", "--timeout", "30s")
    team, seen, stop = workers([home, other], "bot", 4, work=0.01)
    while len(seen) < len(sent) // 2:
        time.sleep(0.05)
    home.kill()
    start, before = time.time(), len(seen)
    acked = [moment for worker in team for moment in dict(worker.acked).values()]
    sent += post(other, EVENTS // 10, 200, first=EVENTS)
    while len(seen) <= before + 4 * 32 and time.time() < start + 60:  # more than what was out
        time.sleep(0.05)
    waited = time.time() - start
    deadline = time.time() + 60
    while time.time() < deadline and len({e for e, *_ in seen}) < len(sent):
        time.sleep(0.2)
    settle(other, "bot")
    stop.set()
    missing = set(sent) - {event for event, *_ in seen}
    repeats, late = len(seen) - len(sent), sum(moment > start - 1.5 for moment in acked)
    assert not missing, f"{len(missing)} are missing"
    assert waited <= 35, f"the other node goes on after {waited:.1f} s"
    assert repeats <= late + 4 * 32, (repeats, late)
    other.stop()
    return (f"{before} of {len(sent)} were out when the home died; the other node goes on after {waited:.1f} s, 0 missing, {repeats} repeats, "
            f"{late} were acked in the last 1.5 s")


@check("4 a move by hand")
def move():
    home, other = Node("s4", listen=True), Node("b4")
    other.join(home)
    make(home, "bot")
    team, seen, stop = workers([home, other], "bot", 2)
    sent = post(home, 1000, 50)
    settle(home, "bot")
    home.ctl("wait", "--nodes", "2", "--timeout", "30s")
    time.sleep(1)
    status, line = Client(other).sub("bot", "move")
    assert status == 200 and line["home"] != Client(home).sub("bot", "", None, "GET")[1].get("id"), (status, line)
    time.sleep(2)
    sent += post(home, 1000, 50, first=1000) + post(other, 1000, 50, first=2000)
    deadline = time.time() + 40
    while time.time() < deadline and len({e for e, *_ in seen}) < len(sent):
        time.sleep(0.2)
    time.sleep(1)
    stop.set()
    missing = set(sent) - {event for event, *_ in seen}
    assert not missing, f"{len(missing)} are missing"
    home.stop(), other.stop()
    return f"{len(sent)} events, {len(seen) - len(sent)} repeats"


@check("5 order with two workers")
def order():
    node = Node("s5")
    make(node, "bot")
    post(node, EVENTS * 2, 1000, batch=500)
    team, seen, stop = workers([node], "bot", 2)
    start = time.time()
    settle(node, "bot", 120)
    rate = len(seen) / (time.time() - start)
    stop.set()
    assert ordered(seen), "order"
    share = [worker.count / len(seen) for worker in team]
    assert all(0.3 <= part <= 0.7 for part in share), share
    node.stop()
    return f"1000 conversations in order, {rate:.0f} deliveries and acks a second, shares {share[0]:.2f} {share[1]:.2f}"


@check("6 an event that kills its worker")
def poison():
    node = Node("s6")
    make(node, "bot", attempts=5, backoff_ms=[50], ack_wait_ms=1000)
    sent = post(node, 32, 32)
    poison = sent[7]
    client, done = Client(node), set()
    deadline = time.time() + 60
    while time.time() < deadline:
        deliveries = client.sub("bot", "pull", {"max": 32, "wait_ms": 500})[1]["deliveries"]
        if any(d["event"]["id"] == poison for d in deliveries):
            continue  # The worker dies: nothing of its window is acked.
        if deliveries:
            client.sub("bot", "ack", {"deliveries": [d["delivery"] for d in deliveries]})
            done |= {d["event"]["id"] for d in deliveries}
        parked = client.sub("bot", "parked", None, "GET")[1]
        if isinstance(parked, list):
            break
    assert [line["event"] for line in parked[:-1]] == [poison], parked
    assert done == set(sent) - {poison}, len(done)
    assert parked[0]["attempts"] == 5 and Client(node).sub("bot", "", None, "GET")[1]["parked"] == 1, parked
    base = done_set(node, "bot")[0]
    status, answer = client.sub("bot", "retry", {"events": [poison]})
    assert status == 200, answer
    again = client.sub("bot", "pull", {"max": 32, "wait_ms": 5000})[1]["deliveries"]
    assert [d["event"]["id"] for d in again] == [poison]
    client.sub("bot", "ack", {"deliveries": [again[0]["delivery"]]})
    # What was looked at did not go back to the event, and a node that dies hands out nothing again.
    after, still, retried, *_ = done_set(node, "bot")
    assert all(after[origin] >= seq for origin, seq in base.items()) and not still and not retried, (base, after, still, retried)
    node.kill(), node.start()
    assert pulled(node, "bot") == (200, {}), "it comes again"
    node.stop()
    return f"parked after {parked[0]['attempts']} attempts, the other 31 done and none parked, retried once; the base did not go back"


@check("7 a silent worker")
def silent():
    node = Node("s7")
    make(node, "bot", ack_wait_ms=2000)
    post(node, 1, 1)
    client = Client(node)
    first = client.sub("bot", "pull", {"max": 1, "wait_ms": 5000})[1]["deliveries"][0]
    start = time.time()
    second = client.sub("bot", "pull", {"max": 1, "wait_ms": 10000})[1]["deliveries"][0]
    late = time.time() - start - 2
    assert second["attempt"] == 2 and late <= 1, late
    status, answer = client.sub("bot", "extend", {"deliveries": [first["delivery"]]})
    assert status == 409 and answer["code"] == "E_DELIVERY_STALE", answer
    status, answer = client.sub("bot", "ack", {"deliveries": [first["delivery"]]})
    assert answer == {"done": 1, "late": [first["delivery"]]}, answer
    status, answer = client.sub("bot", "ack", {"deliveries": [second["delivery"]]})
    assert answer == {"done": 1, "late": []}, answer
    node.stop()
    return f"second attempt {late * 1000:.0f} ms after ack_wait, late ack told, late extend refused"


@check("8 releases do not hold up others")
def releases():
    def rate(name, held):
        node = Node(name)
        make(node, "bot", attempts=5)
        client = Client(node)
        if held:
            post(node, 300, 300)
            left = 300
            while left:
                deliveries = client.sub("bot", "pull", {"max": 32, "wait_ms": 1000})[1]["deliveries"]
                client.sub("bot", "release", {"deliveries": [d["delivery"] for d in deliveries], "delay_ms": 60000})
                left -= len(deliveries)
        lines = [message(n, 1000 + n % 200) for n in range(5000)]
        for at in range(0, 5000, 500):
            client.append(lines[at:at + 500])
        start, count = time.time(), 0
        while count < 5000:
            deliveries = client.sub("bot", "pull", {"max": 32, "wait_ms": 1000})[1]["deliveries"]
            client.sub("bot", "ack", {"deliveries": [d["delivery"] for d in deliveries]})
            count += len(deliveries)
        took = time.time() - start
        node.stop()
        return 5000 / took
    pairs = [(rate(f"s8a{n}", False), rate(f"s8b{n}", True)) for n in range(3)]
    shares = sorted(b / a for a, b in pairs)
    assert shares[1] >= 0.9, shares
    return f"{shares[1]:.2f} of the rate with 300 releases of 60 s ({pairs[1][0]:.0f} a second without)"


@check("9 where a subscription begins")
def begin():
    node = Node("s9")
    for part in range(42):
        post(node, 1000, 200, first=part * 1000, batch=1000)
    make(node, "now")
    make(node, "first", start="first")
    client = Client(node)
    assert client.sub("now", "pull", {"max": 10, "wait_ms": 500})[1]["deliveries"] == []
    team, seen, stop = workers([node], "first", 2, window=200)
    settle(node, "first", 120)
    stop.set()
    assert len(seen) == 42000, len(seen)
    node.stop()
    return "now: 0 of 42,000; first: 42,000"


@check("10 imports of old dialogues")
def late():
    node, other = Node("s10", listen=True), Node("b10")
    other.join(node)
    for name in ("here", "there"):
        make(node, name, late_ms=600000)
    client = Client(node)
    old = [message(n, n % 10, time="2020-01-01T00:00:00Z") for n in range(10000)]
    for at in range(0, 10000, 1000):
        client.append(old[at:at + 1000])
    new = post(node, 10, 10)
    node.ctl("wait", "--nodes", "2", "--timeout", "60s")
    status, line = Client(other).sub("there", "move")
    assert status == 200, (status, line)
    for at, name in ((node, "here"), (other, "there")):
        team, seen, stop = workers([at], name, 1)
        settle(at, name)
        stop.set()
        assert {event for event, *_ in seen} == set(new), (name, len(seen))
    node.stop(), other.stop()
    return "at each of two nodes 0 of 10,000 old ones, 10 new ones"


def pulled(node, name, most=20, **more):
    """Status, and what was handed out by event and token."""
    status, line = Client(node).sub(name, "pull", {"max": most, "wait_ms": 500, **more})
    return status, {one["event"]["id"]: one["delivery"] for one in line.get("deliveries", [])}


@check("11 a link that is gone for moments")
def short_cut():
    home, other = Node("s11", listen=True), Node("b11")
    other.join(home)
    make(home, "bot", order="none")
    sent = post(home, 4, 4)
    home.ctl("wait", "--nodes", "2", "--timeout", "30s")
    assert pulled(other, "bot")[0] == 409
    time.sleep(int(os.environ.get("UNASKED", "33")))
    home.ctl("peers", "pause", other.name)
    status, given = pulled(home, "bot", 3)
    assert status == 200 and len(given) == 3, (status, given)
    status, _ = pulled(other, "bot")
    assert status == 409, f"the other node takes over at once: {status}"
    status, line = Client(home).sub("bot", "ack", {"deliveries": list(given.values())})
    assert status == 200 and line["done"] == 3, line
    home.ctl("peers", "resume", other.name)
    time.sleep(2)
    status, rest = pulled(home, "bot")
    assert status == 200 and list(rest) == [event for event in sent if event not in given], (status, rest)
    home.stop(), other.stop()
    return "no one took over"


@check("12 what both sides of a cut have done")
def both_sides():
    home, other = Node("s12", listen=True), Node("b12")
    other.join(home)
    make(home, "bot", order="none")
    sent = post(home, 3, 3)
    home.ctl("wait", "--nodes", "2", "--timeout", "30s")
    home.ctl("peers", "pause", other.name)
    status, given = pulled(home, "bot")
    assert len(given) == 3 and Client(home).sub("bot", "ack", {"deliveries": list(given.values())})[1]["done"] == 3
    assert Client(other).sub("bot", "move")[0] == 200
    late = post(home, 3, 3, first=10)
    status, given = pulled(home, "bot")
    assert sorted(given) == sorted(late), (status, given)
    assert Client(home).sub("bot", "ack", {"deliveries": [given[event] for event in late[:2]]})[1]["done"] == 2
    home.ctl("peers", "resume", other.name)
    home.ctl("wait", "--nodes", "2", "--timeout", "30s")
    time.sleep(4)
    status, rest = pulled(other, "bot")
    assert status == 200 and list(rest) == late[2:], f"{len(rest)} come at the other home, {len(set(rest) & set(sent + late[:2]))} of them were acked"
    home.stop(), other.stop()
    return "5 of 6 were acked at the old home, the other one came at the new one"


@check("13 one conversation does not hold up the others")
def flood():
    flooding = int(os.environ.get("FLOOD", "20000"))

    def rate(name, flooded):
        """A hundred conversations, and one whose worker never acks: how fast the others are done."""
        node = Node(name)
        make(node, "bot", ack_wait_ms=600000)
        client = Client(node)
        if flooded:
            for at in range(0, flooding, 1000):
                client.append([message(n, "flood") for n in range(at, at + 1000)])
        for at in range(0, 10000, 1000):
            client.append([message(n, n % 100) for n in range(at, at + 1000)])
        start, done = time.time(), collections.Counter()
        while sum(done.values()) < 10000:
            deliveries = client.sub("bot", "pull", {"max": 32, "wait_ms": 5000})[1]["deliveries"]
            assert deliveries, f"{sum(done.values())} of the others are done, and no more come"
            mine = [d for d in deliveries if d["event"]["subject"] != "conversation/cflood"]
            client.sub("bot", "ack", {"deliveries": [d["delivery"] for d in mine]})
            done.update(d["event"]["subject"] for d in mine)
        took = time.time() - start
        assert len(done) == 100 and set(done.values()) == {100}, done.most_common(3)
        return node, 10000 / took

    shares, usual = [], 0
    for turn in range(3):
        calm, usual = rate(f"s13a{turn}", False)
        calm.stop()
        node, with_flood = rate(f"s13b{turn}", True)
        shares.append(with_flood / usual)
        if turn < 2:
            node.stop()
    share = sorted(shares)[1]
    assert share >= 0.9, shares
    line = Client(node).sub("bot", "", None, "GET")[1]
    assert line["conversations_behind"] == 1 and line["open"] <= 64, line
    # The daemon dies; then a worker does the flood, and the daemon dies again in the middle.
    node.kill()
    node.start()
    numbers, kills = [], 0
    client = Client(node)
    while len(set(numbers)) < flooding:
        try:
            given = client.sub("bot", "pull", {"max": 32, "wait_ms": 5000})[1]["deliveries"]
            numbers += [d["event"]["data"]["n"] for d in given]
            client.sub("bot", "ack", {"deliveries": [d["delivery"] for d in given]})
        except Gone:
            continue
        if kills == 0 and len(numbers) > flooding // 2:
            kills += 1
            node.kill()
            node.start()
    assert numbers == sorted(numbers) and set(numbers) == set(range(flooding)), "order"
    settle(node, "bot")
    assert Client(node).sub("bot", "", None, "GET")[1]["conversations_behind"] == 0
    node.stop()
    return (f"{share:.2f} of the rate of 100 conversations beside one with {flooding:,} unanswered events ({usual:.0f} a second without), "
            f"these all in order after kill -9, {len(numbers) - flooding} repeats")


def main():
    chosen = sys.argv[1:]
    failed = 0
    for run in CHECKS:
        if chosen and run.title.split()[0] not in chosen:
            continue
        try:
            run()
        except Exception as error:
            failed += 1
            print(f"FAIL  {run.title}: {type(error).__name__} {error}", flush=True)
    if not failed:
        clean()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
