#!/usr/bin/env python3
"""Acceptance of what the documents show operators: their examples run, figures and alerts tell of a full disk. Run by `make acceptance`.

Examples of the README are run by ReadmeTests, those of the clients' README and of following.md by Tests/Clients/test_examples.py.
"""
import json, os, re, shutil, subprocess, time
from actors import small
from node import BIN, ROOT, Client, atexit, event, free_port, until
from subscriptions import CHECKS, check, main

CHECKS.clear()
REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
PAGES = os.path.join(REPOSITORY, "docs/operating")
# Examples that are not run here, by how they begin, and what they need.
ELSEWHERE = {
    r"systemctl|chown|mv /var/lib|mkdir -m 700 /var/lib|syncctl (export >|import) mine.ndjson|sqlite3 /var/lib": "a service and its folders",
    r"make deb|podman|sudo|syncctl append --url unix:/run/sillok|curl -sf http://seoul-1": "a machine of their own (the package: make deb-test)",
    r"syncctl import (?!KakaoTalkChats.txt)": "exports of other programs (SampleTests, InterchangeTests)",
    r"sillok-bot (check|run) --config drbot|sillok-bot key|sillok-bot run --echo --config": "a model (Tests/Clients/test_bot_example.py)",
}
KAKAO = """방 님과 카카오톡 대화
저장한 날짜 : 2026-08-01 10:00:00

--------------- 2026년 8월 1일 토요일 ---------------
[홍길동] [오전 9:12] 안녕하세요
김영희님이 이철수님을 초대했습니다.
[김영희] [오전 9:13] 네, 안녕하세요
[홍길동] [오전 9:14] 어제부터 두통이 심해요
[김영희] [오전 9:15] 병원에 가 보세요
"""


def examples(page):
    """Commands behind `$ ` in blocks that are indented, each with the lines that the page shows below it."""
    found, is_open = [], False
    for line in open(os.path.join(PAGES, page), encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("    $ "):
            found.append([re.sub(r"\s+# .*", "", line[6:]), []])
            is_open = True
        elif is_open and line.startswith("    ") and found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0][:-1] + line.strip()
        elif is_open and line.startswith("    ") and not line.startswith("    # "):
            found[-1][1].append(line[4:])
        else:
            is_open = False
    return found


def shape(line):
    """Ids, times, sizes and numbers are other ones each time."""
    for pattern, word in ((r"\b\d{8}T\d{6}Z-\d+", "BACKUP"), (r"[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{64}\b|[0-9a-f]+…[0-9a-f]*", "ID"),
                          (r"\d+(\.\d+)?( ?([KM]i)?B\b)?", "N"), (r"\s+", " ")):
        line = re.sub(pattern, word, line)
    return line.strip()


def is_shown(line, lines):
    """Whether a shown line is among those that came, whatever stands for dots."""
    pattern = ".*".join(map(re.escape, shape(line).split("…")))
    return any(re.search(pattern, shape(one)) for one in lines)


def said(text):
    return f"syncctl append --user u-1029 --conversation c-88 --text {text} >/dev/null; "


# What comes before an example where the page takes it for done, by how the example begins.
BEFORE = {
    "syncctl backup create backups-seoul": "syncctl backup create backups-seoul >/dev/null; " + said("더") + said("또"),
    "syncctl backup restore": "rm -rf restored; ",
    "syncctl attachment get": "mv photo.jpg kept.jpg; ",
    "curl --unix-socket syncd-dev/api.sock -H 'Content-Type: image/jpeg'": "printf x >> photo.jpg; ",
    "syncctl export --format html --conversation c-88 --out": "rm c-88.html; ",
    "syncctl verify": "sleep 2; ",  # a head comes a moment after what it covers
    "syncctl erase user u-1029 --confirm": said("남은글") + "syncctl erase user u-1029 --authored erase --replies keep --reason 'request 88' --who kim --plan plan.json >/dev/null; "
    + said("하나") + said("둘") + said("셋"),
}
# As which it is run where the page means another moment or a terminal.
AS = {
    r"(syncctl backup restore .*)--into syncd-dev": r"\1--into restored",
    r"syncd --check-config": "syncd --config bad/syncd.json5 --check-config; [ $? = 78 ]",
    r"(syncctl erase user .* --who kim)": r'echo u-1029 | script -qec "\1" /dev/null',
    r"syncctl peers join": "syncctl --store second peers join",
    # A copy that was made while its node ran has no head for the newest events (2).
    r"(syncctl verify --store copies-seoul)": r"\1; [ $? != 3 ]",
}


class Page:
    """A folder, a daemon as `syncd --dev` makes it, and a shell that keeps its place; nothing else of the machine is used."""

    def __init__(self, name):
        self.folder = os.path.join(ROOT, "page-" + name)
        os.makedirs(self.folder)
        os.symlink(os.path.join(REPOSITORY, "Examples"), self.folder + "/Examples")
        self.port, self.gate, self.web, self.probes = (free_port() for _ in range(4))
        self.digest = self.invitation = ""
        os.makedirs(self.folder + "/bad/conf.d")
        open(self.folder + "/bad/syncd.json5", "w").write("{}")
        open(self.folder + "/bad/conf.d/50-disk.conf", "w").write("{storage: {min_fre: '1GiB'}}")
        open(self.folder + "/KakaoTalkChats.txt", "w", encoding="utf-8").write(KAKAO)
        open(self.folder + "/photo.jpg", "wb").write(b"\xff\xd8\xff\xe0" + os.urandom(184316))
        open(self.folder + "/vault", "w").write('#!/bin/sh\nexec sh -c "$*"\n')
        os.chmod(self.folder + "/vault", 0o755)
        tools = self.folder + "/tools"
        os.mkdir(tools)
        os.symlink(self.folder + "/vault", tools + "/vault")
        with open(tools + "/nc", "w") as file:  # what of netcat the page of the gateway needs
            file.write("#!/usr/bin/env python3\nimport socket, sys\nwith socket.create_connection((sys.argv[-2], int(sys.argv[-1])), 10) as line:\n"
                       "    line.sendall(sys.stdin.buffer.read())\n    line.shutdown(socket.SHUT_WR)\n"
                       "    while part := line.recv(65536):\n        sys.stdout.buffer.write(part)\n")
        os.chmod(tools + "/nc", 0o755)
        self.environment = {"PATH": f"{tools}:{BIN}:/usr/bin:/bin", "HOME": self.folder, "TZ": "Asia/Seoul", "LANG": "C.UTF-8", "TMPDIR": ROOT}
        self.processes = []
        atexit.register(self.stop)
        self.start(f"syncd --dev --node-name seoul-1 --peer-listen 127.0.0.1:{self.port}", SYNCD_METRICS__LISTEN=f"127.0.0.1:{self.probes}")
        until(20, lambda: self.run("syncctl status")[0] == 0, "the daemon does not start")
        asked = event("message.posted", "u-1029", "c-88", text="어제부터 두통이 심해요")
        reply = event("bot.replied", "u-1029", "c-88", "medibot", cause=asked["id"], text="물을 드세요")
        answered = event("survey.answered", "u-1029", "c-88", survey="satisfaction", question="help", choice="dissatisfied", about=reply["id"])
        with open(self.folder + "/talk.ndjson", "w") as file:
            file.write("".join(json.dumps(line) + "\n" for line in (asked, reply, answered)))
        for command in ("syncctl import Examples/sample.ndjson", "syncctl import talk.ndjson"):
            assert self.run(command)[0] == 0, command

    def start(self, command, **more):
        with open(self.folder + "/processes.log", "a") as log:
            self.processes.append(subprocess.Popen(["bash", "-c", command], cwd=self.folder, env={**self.environment, **more}, stdout=log, stderr=log,
                                                   start_new_session=True))

    def stop(self):
        for process in self.processes:
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass
            process.wait()
        self.processes = []

    def run(self, command):
        run = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=60)
        return run.returncode, (run.stdout + run.stderr).splitlines()

    def filled(self, command):
        """With what is of this machine and this moment in place of the page's."""
        for pattern, value in (
                (r"/var/lib/syncd\b(?= --key-file| */|$)", "syncd-dev"), (r"/backups/seoul|/mnt/away/seoul|/copies/seoul", lambda m: m[0].strip("/").replace("/", "-")),
                (r"/etc/sillok/", ""), (r"ssh vault", "vault"), (r"/run/syncd/api.sock|(?<![\w/-])api.sock", "syncd-dev/api.sock"),
                (r"3a1f0c…", self.digest), (r"(?<=join )sillok://\S+", f"'{self.invitation}'"), (r"127.0.0.1:7462", f"127.0.0.1:{self.probes}"),
                (r"/etc/syncd/conf.d", "bad/conf.d"), (r"127.0.0.1 7700", f"127.0.0.1 {self.gate}"), (r"127.0.0.1:7701", f"127.0.0.1:{self.web} --listen 127.0.0.1:{self.gate}")):
            command = re.sub(pattern, value, command)
        return command


@check("33 the examples of the pages for operators")
def pages():
    ran, passed_over, shown, wrong = 0, 0, 0, []
    for name in sorted(os.listdir(PAGES)):
        commands = [one for one in examples(name) if name.endswith(".md")]
        here = [one for one in commands if not any(re.match(start, one[0]) for start in ELSEWHERE)]
        passed_over += len(commands) - len(here)
        if not here:
            continue
        page = Page(name)
        for command, lines in here:
            ran += 1
            command = page.filled(command)
            if command.startswith("syncd --dev &"):
                continue  # it runs
            if command.endswith("&"):
                page.start(command[:-1])
                if "gateway" in command:
                    until(20, lambda: page.run(f"nc 127.0.0.1 {page.gate} </dev/null")[0] == 0, "the gateway does not start")
                continue
            if command.startswith("syncctl peers join"):
                page.start("syncd --dev second --node-name busan")
                until(20, lambda: page.run("syncctl --store second status")[0] == 0, "the second daemon does not start")
            before = "".join(more for start, more in BEFORE.items() if command.startswith(start))
            for pattern, other in AS.items():
                command = re.sub("^" + pattern, other, command)
            if before:
                code, came = page.run("set -e; " + before)
                assert code == 0, (name, before, came)
            code, came = page.run(command)
            if code != 0:
                wrong.append(f"{name}: {command} ends with {code}: {came[-3:]}")
            if command.startswith("syncctl attachment put"):
                page.digest = came[0].strip()
            if command.startswith("syncctl peers invite"):
                page.invitation = came[0].split()[0]
            for line in lines:
                shown += 1
                if not is_shown(page.filled(line), came):
                    wrong.append(f"{name}: {command} does not print {line!r} but {came[:6]}")
        page.stop()
    assert not wrong, f"{len(wrong)} of {ran}:\n      " + "\n      ".join(wrong)
    return f"{ran} commands ran, {shown} shown lines came; {passed_over} need a service, a model or an export, and are not run here"


def alarm(seconds):
    """When the alert of a full disk fires at the latest, by its rule: the daemon's look, a scrape, an evaluation, and what the rule waits."""
    text = open(os.path.join(REPOSITORY, "ops/prometheus/alerts.yml")).read()
    rule = re.search(r"alert: SyncdNotWritable\n\s+expr: (.*)\n\s+for: (\d+)s\n", text)
    assert rule and rule[1] == "syncd_store_writable == 0", rule
    return seconds + 15 + 15 + int(rule[2])


@check("35 a full disk: figure, alert, a line at its start and at its end")
def full_disk():
    if os.geteuid() != 0:
        return "not done: a small file system needs root"
    with small("a35") as (node, fill, room):
        def writable():
            text = Client(node).ask("GET", "/metrics")[1].decode()
            return re.search(r"^syncd_store_writable (\d)", text, re.M)[1] == "1"
        said = lambda: open(node.log.name).read()
        Client(node).append([event("message.posted", "u", "c", text="x")])
        assert writable() and "appends are" not in said()
        fill()
        start = time.time()
        until(60, lambda: not writable(), "the figure does not fall")
        fell = time.time() - start
        until(30, lambda: "appends are refused: " in said(), "no line says so")
        assert alarm(fell) <= 90, f"the alert comes after {alarm(fell):.0f} s"
        status, got = Client(node).ask("POST", "/v1/events", event("message.posted", "u", "c", text="x"))
        assert status == 507, (status, got)
        metrics = Client(node).ask("GET", "/metrics")[1]
        room()
        start = time.time()
        until(60, writable, "the figure does not rise")
        rose = time.time() - start
        until(30, lambda: re.search(r"appends are taken again, after [\d.]+ ?m?s", said()), "no line says that it is over")
        assert said().count("appends are refused: ") == said().count("appends are taken again") == 1, said()[-2000:]
    told = "promtool is not here"
    promtool = shutil.which("promtool") or os.environ.get("PROMTOOL")
    if promtool:
        for words, given in ((["check", "metrics"], metrics), (["check", "rules", "alerts.yml"], b""), (["test", "rules", "alerts_test.yml"], b"")):
            run = subprocess.run([promtool, *words], input=given, capture_output=True, cwd=os.path.join(REPOSITORY, "ops/prometheus"))
            assert run.returncode == 0, (words, run.stdout[-500:], run.stderr[-500:])
        told = "promtool passes metrics, rules and their tests"
    return f"the figure falls after {fell:.1f} s, so that the alert fires within {alarm(fell):.0f} s, and rises {rose:.1f} s after there is room; a line each; {told}"


if __name__ == "__main__":
    main()
