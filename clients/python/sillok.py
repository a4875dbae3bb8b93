"""Client of Sillok's API. Python 3.9 and later, standard library alone; a `Sillok` may be shared between threads.

    from sillok import Sillok
    bot = Sillok("unix:/run/syncd/api.sock")
    for d in bot.work("medibot", start="now", type="message.posted"):
        bot.reply(d, text="안녕하세요")
"""
from __future__ import annotations

import contextlib, hashlib, http.client, json, logging, os, queue, random, re, socket, ssl, threading, time, uuid
from decimal import Decimal
from functools import partial
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, Union
from urllib.parse import quote, urlencode, urlsplit

Json, Body = Dict[str, Any], Union[bytes, Iterable[bytes], None]
log = logging.getLogger("sillok")
NDJSON = "application/x-ndjson"
REPLY_TURNS = 8  # ids that a reply may have, where events of others have the first ones
FAILURES = (OSError, http.client.HTTPException)
PATIENT = 60.0  # seconds without a byte: an answer waits for 25 at most, and a stream has a heartbeat every 15
AWAY = 30.0  # seconds at another node than one's own, where each node delivers its own events
FOREVER = float("inf")
DIGITS = 4300  # of an int at most, as Python itself bounds them: a longer one is a Decimal
TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}\[\]]')  # what tells where a member of JSON begins and ends


class SillokError(Exception):
    """An answer that is an error. `code` never changes its meaning (docs/reference/ERRORS.md), `status` is that of HTTP.
    `is_retriable`: the same request may succeed later. Where events were not taken, `results` has a line for each event of the request."""

    def __init__(self, code: str, message: str, hint: Optional[str] = None, status: int = 0, body: Optional[Json] = None):
        super().__init__(f"{message} [{code}]" + (f": {hint}" if hint else ""))
        self.code, self.message, self.hint, self.status, self.body = code, message, hint, status, body or {}
        self.is_retriable = status in (200, 204, 429, 502, 503, 504, 507) or code in ("E_UNREACHABLE", "E_ELSEWHERE", "E_CURSOR_AHEAD")
        self.results: List[Json] = []


class Unreachable(SillokError):
    """No node answered in time. What was sent may have been stored: repeat it with the same ids."""


class CursorError(SillokError):
    """The place that was kept is of no use any more: begin anew, and pass over events by their ids."""


def _uuid(high: bytes, low: bytes, version: int) -> str:
    number = int.from_bytes(high[:6] + low[6:16], "big") & ~(0xF << 76) & ~(0x3 << 62)
    return str(uuid.UUID(int=number | version << 76 | 0x2 << 62))


def event_id() -> str:
    """A new UUIDv7."""
    return _uuid(int(time.time() * 1000).to_bytes(6, "big"), os.urandom(16), 7)


def reply_id(message: str, bot: str, label: str = "", turn: int = 1) -> str:
    """The id of a bot's reply to a message: the same from every worker (docs/reference/FORMATS.md, "Reply ids").
    `turn`: the next one, 2 to 8, where someone else's event has those before."""
    cause, more = uuid.UUID(message).bytes, [str(turn).encode()] if turn > 1 else []
    return _uuid(cause, hashlib.sha256(b"\0".join([b"sillok-reply-v1", bot.encode(), cause, label.encode(), *more])).digest(), 8)


def encode(value: Any) -> bytes:
    """JSON in UTF-8. Half a surrogate pair, which UTF-8 cannot hold, becomes its escape; a Decimal its digits."""
    mark = uuid.uuid4().hex

    def marked(one: Any) -> str:
        if isinstance(one, Decimal) and one.is_finite():
            return f"{mark}{one}"
        raise TypeError(f"{one!r} has no form in JSON")
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=marked)
    return re.sub(f'"{mark}([^"]*)"', r"\1", text).encode("utf-8", "backslashreplace")


class Line(Dict[str, Any]):
    """A line of an answer. `raw` is its text as it came: a float of its members may have fewer digits than stand there."""
    raw = ""


def _refused(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON")


def _read(data: bytes) -> Line:
    try:
        text = data.decode()
        line = Line(json.loads(text, parse_int=lambda number: (int if len(number) <= DIGITS else Decimal)(number), parse_constant=_refused))
    except (ValueError, RecursionError) as why:
        names = dict(re.findall(rb'"(cursor|delivery|id)":"([^"]*)"', data)[::-1])  # the first of each
        place = ", ".join(f"{name.decode()} {value.decode(errors='replace')}" for name, value in sorted(names.items()))
        raise SillokError("E_PROTOCOL", f"a line cannot be read ({place or data[:80]!r}): {why}") from why
    line.raw = text
    return line


def _objects(text: str, name: str, depth: int) -> List[str]:
    """The objects under `name`, `depth` brackets deep, as they stand in the text."""
    found, level, key, start = [], 0, "", -1
    for token in TOKENS.finditer(text):
        level -= token[0] in "}]"
        if level == depth and token[0] == "}" and start >= 0:
            found, start = found + [text[start:token.end()]], -1
        elif level == depth and token[0] == "{" and key == name:
            start = token.start()
        key = token[0].split('"')[1] if token[1] and level == depth else ""
        level += token[0] in "{["
    return found


class _UnixConnection(http.client.HTTPConnection):
    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(PATIENT)
        self.sock.connect(self.path)  # type: ignore[attr-defined]


class Answer:
    """What a node answered: read whole, or a stream whose lines come one by one."""

    def __init__(self, base: str, connection: http.client.HTTPConnection, response: http.client.HTTPResponse, stream: bool):
        self.base, self.status, self.headers = base, response.status, response.headers
        self._connection, self._response, self._socket = connection, response, connection.sock
        data = b"" if stream and self.status < 300 else response.read()
        self.lines: List[Line] = []
        self.is_cut = False
        for line in (one for one in data.split(b"\n") if one.startswith(b"{")):
            try:
                self.lines.append(_read(line))
            except SillokError:
                self.is_cut = data.endswith(line)  # no line end is behind it
                if self.status < 300 and not self.is_cut:
                    raise

    def stream(self) -> Iterator[Line]:
        """Lines as they come, until the stream ends or breaks off, also within a line."""
        try:
            for line in iter(self._response.readline, b""):
                if line.startswith(b"{") and line.endswith(b"\n"):
                    yield _read(line)
        except FAILURES + (ValueError, AttributeError):
            pass  # the last two are what a reader sees whose stream another thread closes
        finally:
            self.close()

    def close(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def error(self) -> SillokError:
        # A proxy may have answered, in a form of its own.
        why = next((line for line in self.lines if str(line.get("code", "")).startswith("E_") and line["code"] != "E_BATCH"), {})
        code, where = why.get("code", f"E_HTTP_{self.status}"), why or next(iter(self.lines), {})
        message = next((where[name] for name in ("detail", "message") if isinstance(where.get(name), str)), "")
        message = message or f"an answer {'that is cut off, or not of a node' if self.status < 300 else 'without a message'}"
        error = (CursorError if code == "E_CURSOR" else SillokError)(code, message, why.get("hint"), self.status, why)
        error.results = [line for line in self.lines if line.get("type") in ("appended", "already", "rejected")]
        return error


def _pause(before: float, began: float, last: Line) -> float:
    """Seconds until a stream is asked for again: what its last line says; else longer each time while streams end soon."""
    soon = time.monotonic() - began < 10
    return last["retry_ms"] / 1000 if "retry_ms" in last else min(before * 2 or 0.1, 5.0) if soon else 0.1


class Sillok:
    """One node or several, as "unix:/run/syncd/api.sock" or "https://seoul:7461". Where one fails the next is asked.
    All requests can be repeated safely, appends by the ids that they get here. So what a node refuses for now, or does not answer, is
    repeated, for `patience` seconds; what once followed or worked goes on without end. Each pause is told to `logging`.
    """
    def __init__(self, *bases: str, token_file: str = "", patience: float = 30.0, headers: Optional[Mapping[str, str]] = None,
                 ca_file: str = ""):
        self.bases = [base.rstrip("/") for base in bases or ("unix:/run/syncd/api.sock",)]
        for base in self.bases:
            if not base.startswith(("unix:", "http://", "https://")) or base.endswith(":"):
                raise ValueError(f"{base}: neither unix:PATH nor http://HOST:PORT nor https://HOST:PORT")
        self.patience, self.headers, self._token_file = patience, {"Content-Type": "application/json"}, token_file
        self._token()
        self.headers.update(headers or {})
        self._tls = ssl.create_default_context(cafile=ca_file) if ca_file else None
        self._kept = threading.local()
        self._preferred: Dict[str, str] = {}  # the node that answered last; for a subscription, its home

    def _token(self) -> Optional[str]:
        if self._token_file:
            with open(self._token_file, encoding="ascii") as file:
                self.headers["Authorization"] = "Bearer " + file.read().strip()
        return self.headers.get("Authorization")

    def _exchange(self, base: str, method: str, target: str, body: Body, headers: Mapping[str, str], stream: bool) -> Answer:
        url, kept = urlsplit(base), self._kept.__dict__
        kinds: Dict[str, Callable[..., http.client.HTTPConnection]] = {
            "unix": _UnixConnection, "http": http.client.HTTPConnection, "https": partial(http.client.HTTPSConnection, context=self._tls)}
        connection = None if stream else kept.get(base)
        if not connection:
            connection = kinds[url.scheme](url.hostname or "syncd", url.port, timeout=PATIENT)
            connection.path = url.path
            kept.update({} if stream else {base: connection})
        target = target if url.scheme == "unix" else url.path + target
        for fresh in (connection.sock is None, True):
            try:
                if fresh:
                    connection.connect()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a node may refuse a long body before it has all
                    connection.request(method, target, body, {**self.headers, **headers})
                return Answer(base, connection, connection.getresponse(), stream)
            except FAILURES:
                connection.close()
                if fresh:
                    raise  # but one that was kept may have ended since
        raise AssertionError

    def request(self, method: str, path: str, query: Optional[Mapping[str, Any]] = None, body: Body = None, *, accept: str = "application/json",
                base: Optional[str] = None, headers: Optional[Mapping[str, str]] = None, stream: bool = False, group: str = "",
                patience: Optional[float] = None, ended: Optional[threading.Event] = None, delivery: Optional[Delivery] = None) -> Answer:
        """Any request. Asks the nodes in turn, with growing pauses, while that makes sense, and until `ended` is set."""
        pairs = {key: value for key, value in (query or {}).items() if value is not None}
        target = path + ("?" + urlencode(pairs, doseq=True, quote_via=quote) if pairs else "")
        deadline, pause = time.monotonic() + (self.patience if patience is None else patience), 0.1
        errors: Dict[str, SillokError] = {}  # what each node said last
        ready: Dict[str, float] = {}  # when one wants to be asked again
        while True:
            first, wait = base or self._preferred.get(group, self.bases[0]), pause * random.uniform(0.7, 1.0)
            nodes = [first] + [other for other in self.bases if other != first and not base]
            for at in nodes:
                if ready.get(at, 0.0) > time.monotonic():
                    continue
                shown, words = self.headers.get("Authorization"), {"Accept": accept, **(headers or {})}
                try:
                    answer = self._exchange(at, method, target, body, words, stream)
                    if answer.status in (401, 429) and self._token() != shown:  # the file may have another one by now: 429 is also for wrong ones
                        answer = self._exchange(at, method, target, body, words, stream)
                except FAILURES as failure:
                    errors[at] = Unreachable("E_UNREACHABLE", f"{at}: {failure or type(failure).__name__}", "is the daemon running?")
                    continue
                has_end = accept != NDJSON or answer.lines[-1:] and answer.lines[-1].get("type") == "end"
                has_lines = answer.lines or not path.startswith("/v1/") or answer.status == 204 and method == "DELETE"
                is_stream = stream and (accept != NDJSON or answer.headers.get_content_type() == NDJSON)
                if answer.status < 300 and (is_stream or has_lines and has_end and not answer.is_cut):
                    self._preferred[group] = at
                    return answer
                if stream:
                    answer.close()
                errors[at] = error = answer.error()  # 200: it was cut off, or a proxy gave it
                if not error.is_retriable:
                    raise error
                after = answer.headers.get("Retry-After", "")
                if after.isascii() and after.isdigit():  # never sooner than that; the node may have told it to many
                    ready[at] = time.monotonic() + min(float(after), 86_400.0) * random.uniform(1.0, 1.1)
            wait = max(wait, min(ready.get(at, 0.0) for at in nodes) - time.monotonic())
            worth = [errors[at] for at in nodes if errors[at].code != "E_ELSEWHERE"]
            why = (worth or [errors[first]])[0]
            if not worth and deadline < FOREVER or time.monotonic() + wait > deadline:
                raise why  # but one of the nodes takes over when the home is silent
            log.warning("%s %s: %s; again in %.1f s", method, path, why, wait)
            if delivery:
                delivery.until += wait  # it is the node that takes so long
            if (ended or threading.Event()).wait(wait):
                raise why
            pause = min(pause * 2, 5.0)

    def append(self, events: Union[Mapping[str, Any], Iterable[Mapping[str, Any]]], *, expect: Optional[Tuple[str, int]] = None,
               each: bool = False, derived: bool = False, ack: Optional[Delivery] = None, patience: Optional[float] = None) -> List[Json]:
        """Stores events (docs/reference/FORMATS.md §4), all or none unless `each`: a line for each, `appended` or `already`.
        An event without id gets one here; `derived`: from the content, by the node. `expect`: (conversation, count). `ack`: is done with it."""
        lines = [{**({} if derived else {"id": event_id()}), **one} for one in ([events] if isinstance(events, Mapping) else events)]
        query = {"expect": expect and "%s:%s" % expect, "atomicity": "each" if each else None, "ids": "derived" if derived else None,
                 "ack": ack and ack.token}
        body, group = b"\n".join(map(encode, lines)), f"subscription {ack.subscription}" if ack else ""
        return self.request("POST", "/v1/events", query, body, accept=NDJSON, patience=patience, group=group, delivery=ack).lines[:-1]

    def post(self, user: str, text: str, conversation: Optional[str] = None, **members: Any) -> Json:
        """Stores one message."""
        event = {"type": "message.posted", "user": user, **members, "data": {**members.get("data", {}), "text": text}}
        return self.append({**event, "subject": f"conversation/{conversation}"} if conversation else event)[0]

    def _pages(self, path: str, query: Mapping[str, Any]) -> Iterator[Json]:
        end, base = dict(query, next=query.get("cursor"), more=True), None
        while end.get("more"):  # the cursor of a list belongs to the node that gave it
            answer = self.request("GET", path, {**query, "cursor": end["next"]}, accept=NDJSON, base=base)
            yield from answer.lines[:-1]
            end, base = answer.lines[-1], answer.base

    def history(self, user: str, **query: Any) -> Iterator[Json]:
        """Rows of a user, newest first. `order`, `since`, `role`, `type` … as docs/operating/api.md has them; `limit` is a page's."""
        return self._pages(f"/v1/users/{quote(user, safe='')}/history", query)

    def rows(self, conversation: str, **query: Any) -> Iterator[Json]:
        """Rows of a conversation, as of a history."""
        return self._pages(f"/v1/conversations/{quote(conversation, safe='')}/rows", query)

    def conversations(self, **query: Any) -> Iterator[Json]:
        """All conversations, the latest active first."""
        return self._pages("/v1/conversations", query)

    def profile(self, user: str) -> Dict[str, Json]:
        """The fields of a profile by their names, each with `value`, `author`, `time`, `conflict` …"""
        return {row["name"]: row for row in self._pages(f"/v1/users/{quote(user, safe='')}", {}) if row["type"] == "field"}

    def event(self, id: str) -> Json:
        """One event; E_NOT_FOUND where there is none."""
        return next(self._pages(f"/v1/events/{quote(id, safe='')}", {}))

    def changes(self, after: str = "now", **query: Any) -> Json:
        """A page of the feed: `items`, `cursor`, `more`. Parameters: docs/operating/following.md."""
        return self.request("GET", "/v1/changes", {**query, "after": after}).lines[0]

    def follow(self, after: str = "now", *, controls: bool = False, **filters: Any) -> Iterator[Json]:
        """Events as they are stored, without end. Keep `event["cursor"]` when the event is dealt with, and begin there again.
        Connects again by itself, also to another node; there some events may come again. CursorError: begin anew. With `controls`
        also `caught-up` and `heartbeat` come, whose cursors may be kept, too."""
        patience, pause = None, 0.0
        while True:
            answer = self.request("GET", "/v1/changes", {**filters, "after": after}, accept=NDJSON, stream=True, patience=patience)
            began, last, patience = time.monotonic(), Line(), FOREVER
            for line in answer.stream():
                last, control, after = line, line.get("control"), line.get("cursor", after)
                if control == "reset":
                    raise CursorError("E_CURSOR", f"the log was replaced: {line.get('reason')}", "begin anew", 409, line)
                if control is None or controls and control != "closing":
                    yield line
            self._turn("", answer)
            pause = _pause(pause, began, last)
            time.sleep(pause)

    def _on(self, name: str, verb: str, body: Optional[Json] = None, method: str = "POST", **more: Any) -> Answer:
        data = None if body is None else encode({key: value for key, value in body.items() if value is not None})
        return self.request(method, f"/v1/subscriptions/{quote(name, safe='')}{verb}", body=data, group="subscription " + name, **more)

    def _turn(self, group: str, answer: Answer) -> None:
        """A stream has ended: the next node is asked first, for this one may have been silent."""
        self._preferred[group] = (self.bases * 2)[self.bases.index(answer.base) + 1]

    def _goes_back(self, group: str, since: float) -> bool:
        """Whether another node than the first one has answered for half a minute: then that is asked first again."""
        is_over = self._preferred.get(group, self.bases[0]) != self.bases[0] and time.monotonic() - since > AWAY
        return is_over and self._preferred.pop(group, None) is not None

    def subscribe(self, name: str, *, start: str, **members: Any) -> Json:
        """Makes the subscription, if it is not there. `type`, `user`, `author`, `conversation`: what it wants; the rest as documented."""
        words = {key: members.pop(key) for key in ("type", "user", "author", "conversation") if members.get(key) is not None}
        return self._on(name, "", {"start": start, "filter": {k: [v] if isinstance(v, str) else list(v) for k, v in words.items()} or None,
                                   **members}, "PUT").lines[0]

    def subscriptions(self) -> Iterator[Json]:
        """All subscriptions; those at home there with `open`, `in_flight`, `parked`, `behind` and `conversations_behind`."""
        return self._pages("/v1/subscriptions", {})

    def unsubscribe(self, name: str) -> None:
        """Ends the subscription for all nodes."""
        self._on(name, "", method="DELETE")

    def pull(self, name: str, max: int = 1, wait_ms: int = 20_000) -> List[Delivery]:
        """Up to `max` deliveries. They come again if they are not settled within `ack_wait_ms`."""
        answer = self._on(name, "/pull", {"max": max, "wait_ms": wait_ms})
        texts = _objects(answer.lines[0].raw, "event", 3)
        return [Delivery(self, name, line, texts[n]) for n, line in enumerate(answer.lines[0]["deliveries"])]

    def settle(self, name: str, verb: str, tokens: Iterable[str], *, patience: Optional[float] = None, **body: Any) -> Json:
        """`ack`, `release` (`delay_ms`, `error`, `untried`), `extend` or `park` (`reason`) of several deliveries, by their tokens."""
        return next(iter(self._on(name, "/" + verb, {"deliveries": list(tokens), **body}, patience=patience).lines), {})

    def parked(self, name: str) -> List[Json]:
        """Events that were set aside: `event`, `attempts`, `reason`, `error`, `at`."""
        return list(self._pages(f"/v1/subscriptions/{quote(name, safe='')}/parked", {}))

    def retry(self, name: str, *events: str) -> None:
        """Parked events, by their ids, are delivered again."""
        self._on(name, "/retry", {"events": events})

    def work(self, name: str, *, start: Optional[str] = None, late_ms: Optional[int] = 600_000, longest: float = 600.0,
             **members: Any) -> Work:
        """Deliveries of a subscription, which is made if `start` is given and it is not there: `for d in bot.work(…)`.
        One is held at a time. It is extended until it is settled, for `longest` seconds at most, and acked when the body goes on."""
        line = self.subscribe(name, start=start, late_ms=late_ms, **members) if start else self._on(name, "", method="GET").lines[0]
        definition = line.get("definition", line)
        return Work(self, name, definition["ack_wait_ms"] / 1000, longest, definition.get("home") == "local")

    def run(self, name: str, handler: Callable[[Delivery], Any], *, parallel: int = 1, **options: Any) -> None:
        """Calls the handler for each delivery, in `parallel` threads. What it raises releases the delivery, and work goes on.
        Ends by an error of the node, or by SystemExit and the like from the handler. Options: those of `work`."""
        def loop(work: Work) -> None:
            try:
                for delivery in work:
                    with delivery:
                        handler(delivery)
            except BaseException as end:
                ends.put(end)
        ends: queue.Queue[BaseException] = queue.Queue()
        works = [self.work(name, **options) for _ in range(parallel)]
        try:
            for work in works:
                threading.Thread(target=loop, args=(work,), daemon=True).start()
            raise ends.get()
        finally:
            for work in works:
                work.close()

    def reply(self, delivery: Delivery, text: Optional[str] = None, *, author: Optional[str] = None, label: str = "",
              data: Optional[Mapping[str, Any]] = None, ack: bool = True) -> Json:
        """Answers a message once, whichever worker is first, and acks. The author is named as the subscription, unless said.
        An answer in other words, which another worker has stored before, stays: then the line is of type `rejected`. Where someone
        else's event has the id the next one is taken; where they have all eight the delivery is parked, and E_ID_REUSED raised."""
        bot, event = author or delivery.subscription, delivery.event
        answer = {"type": "bot.replied", "user": event["user"], "author": bot, "cause": delivery.id,
                  "data": {**(data or {}), **({} if text is None else {"text": text})}, **{k: event[k] for k in ("subject",) if k in event}}
        for turn in range(1, REPLY_TURNS + 1):
            answer["id"] = reply_id(delivery.id, bot, label, turn)
            try:
                lines = self.append(answer, ack=delivery if ack else None, patience=delivery.patience)
                break
            except SillokError as error:
                if error.code != "E_ID_REUSED":
                    raise
                lines, refusal = error.results, error
            if self._said(answer, delivery.patience):
                break
            log.warning("%s: event %s: someone else's event has the id of the reply, %s", delivery.subscription, delivery.id, answer["id"])
        else:
            log.error("%s: event %s is not answered, and parked", delivery.subscription, delivery.id)
            delivery.park("events of others have all ids that the reply could have")
            raise refusal
        if ack:
            delivery.settled |= lines[-1].get("done") == 1
            delivery.ack()
        return lines[0]

    def _said(self, answer: Json, patience: Optional[float]) -> bool:
        """Whether the event that has the id of an answer is one: of its author, about its cause. The id alone proves nothing."""
        try:
            found = self.request("GET", f"/v1/events/{answer['id']}", accept=NDJSON, patience=patience).lines[0]
        except SillokError as error:
            if error.code != "E_NOT_FOUND":
                raise
            return False  # one that the bot may not see
        return (found.get("author", found.get("user")), found.get("cause")) == (answer["author"], answer["cause"])


class Delivery:
    """An event that was given out, `raw` as it stands in the answer. `ack`, `release` or `park` settles it; the first of them counts.
    `with delivery:` acks it at the end; an exception within releases it with its text, is logged and goes no further. It counts as
    an attempt, unless it is what a node refused for now."""

    def __init__(self, client: Sillok, subscription: str, line: Json, raw: str):
        self.raw = raw
        self.subscription, self.token, self.event = subscription, line["delivery"], line["event"]
        self.attempt, self.age_ms = line["attempt"], line.get("age_ms")
        self.id, self.type, self.user = self.event["id"], self.event["type"], self.event["user"]
        self.author, self.data = self.event.get("author", self.user), self.event.get("data", {})
        self.conversation = self.event.get("subject", "").partition("conversation/")[2] or None
        self.settled, self.until, self.patience, self._client = False, 0.0, client.patience, client

    def settle(self, verb: str, **body: Any) -> None:
        """Tells the node, once. `ack` counts also when the event was given to another worker meanwhile; all else is of no use then."""
        try:
            if not self.settled:
                self._client._on(self.subscription, "/" + verb, {"deliveries": [self.token], **body}, patience=self.patience, delivery=self)
        except SillokError as error:
            if error.code != "E_DELIVERY_STALE":
                raise
            log.warning("%s: event %s: %s: %s", self.subscription, self.id, verb, error)
        self.settled = True

    def ack(self) -> None:
        self.settle("ack")

    def release(self, error: Optional[str] = None, delay_ms: Optional[int] = None, untried: Optional[bool] = None) -> None:
        self.settle("release", error=error and error[:1000], delay_ms=delay_ms, untried=untried)

    def park(self, reason: str) -> None:
        self.settle("park", reason=reason)

    def __enter__(self) -> Delivery:
        return self

    def __exit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> bool:
        if error is None:
            self.ack()
        elif isinstance(error, Exception):
            log.warning("%s: event %s, attempt %s: it comes again", self.subscription, self.id, self.attempt, exc_info=error)
            try:
                self.release(f"{type(error).__name__}: {error}", untried=isinstance(error, SillokError) and error.is_retriable)
            except SillokError as why:
                log.warning("%s: event %s was not released: %s", self.subscription, self.id, why)
            self.settled = True
        return isinstance(error, Exception)


class Work:
    """What `Sillok.work` gives: deliveries in a loop, without end. When the loop is left, what it had comes again."""

    def __init__(self, client: Sillok, name: str, wait: float, longest: float, is_local: bool = False):
        self._client, self._name, self._wait, self._longest, self._is_local = client, name, wait, longest, is_local
        self._closed = threading.Event()
        self._current: Optional[Delivery] = None
        self._stream: Optional[Answer] = None

    def __iter__(self) -> Iterator[Delivery]:
        threading.Thread(target=self._extend, daemon=True).start()
        patience, pause = None, 0.0
        try:
            while not self._closed.is_set():
                try:
                    self._stream = self._client._on(self._name, "/deliveries?window=1", None, "GET", accept=NDJSON, stream=True,
                                                    patience=patience, ended=self._closed)
                except SillokError:
                    if self._closed.is_set():
                        return
                    raise
                began, last, patience = time.monotonic(), Line(), FOREVER
                for line in self._stream.stream():
                    last = line
                    if self._closed.is_set():
                        if "delivery" in line:  # given before the node saw the end
                            with contextlib.suppress(SillokError):
                                self._client.settle(self._name, "release", [line["delivery"]], patience=0.0, untried=True)
                        return
                    if "delivery" in line:
                        delivery = Delivery(self._client, self._name, line, _objects(line.raw, "event", 1)[0])
                        delivery.patience, delivery.until, self._current = FOREVER, time.monotonic() + self._longest, delivery
                        yield delivery
                        delivery.ack()
                    if self._is_local and self._client._goes_back("subscription " + self._name, began):
                        self._stream.close()
                        break
                else:
                    # A node that ends it says so. Who knows the home names it.
                    if "retry_ms" not in last:
                        self._client._turn("subscription " + self._name, self._stream)
                pause = _pause(pause, began, last)
                self._closed.wait(pause)
        finally:
            self.close()

    def _extend(self) -> None:
        while not self._closed.wait(self._wait / 3):
            current = self._current
            if current and not current.settled and time.monotonic() < current.until:
                try:
                    self._client.settle(self._name, "extend", [current.token], patience=self._wait / 3)
                except SillokError as error:
                    log.info("%s: event %s was not extended: %s", self._name, current.id, error)

    def close(self) -> None:
        """Ends the loop, from any thread."""
        self._closed.set()
        if self._stream:
            self._stream.close()
