#!/usr/bin/env python3
"""A model server that answers from a table: OpenAI's shape of chat completions, streamed or whole, of pictures and of sound, with faults.

    python3 Tests/ScriptedModel/model.py --port 18080 --table Tests/ScriptedModel/drbot.json --log requests.ndjson

The table is a list of {"match": regex of the last user message, "answer": text}; the first that matches counts, and what matches none is
repeated. An answer may be a list: the first request of a conversation's question gets the first one, and so on. Faults come in order, one a
request: {"kind": "status", "status": 429, "retry_after": 1}, "cut" (the stream breaks off), "close" (no answer), "garbage" (a piece that is
no JSON), "html" (another content type), "error" (an error within the stream), "slow" (`ms` before each piece), "none". Each has `times`.

Pictures, transcripts and sound have these, too: "status", "close", "html", "slow" (before the answer), "cut" (the body breaks off), "garbage"
(no JSON, or base64 that is none), "empty" (nothing of what was asked for), "large" (`bytes` of it). A prompt with "unsafe" is refused. A
picture comes as base64, or with `links` as an address that gives it once; its faults are "gone" (404) and "elsewhere" (it leads on).
What a recording says is the text between its first two `|`. The sound of a text is `ID3|` with the text behind it.
"""
import argparse
import base64
import email.parser
import email.policy
import json
import re
import socket
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, List, Optional

Json = Dict[str, Any]


def picture(text: str) -> bytes:
    """A PNG of one pixel, whose color follows from the text."""
    def chunk(name: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")
    color = zlib.crc32(text.encode()).to_bytes(4, "big")[1:]
    head = (1).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" + color)) + chunk(b"IEND", b"")


def sound(text: str) -> bytes:
    return b"ID3|" + text.encode()


class ScriptedModel:
    """The server; `requests` has what was asked, with its time."""

    def __init__(self, port: int = 0, table: Optional[List[Json]] = None, key: Optional[str] = None, log: Optional[str] = None,
                 links: bool = False):
        self.table, self.key, self.requests, self.log = table or [], key, [], log  # type: ignore[var-annotated]
        self.links, self._pictures, self._drawn = links, {}, 0  # type: ignore[var-annotated]
        self._faults: List[Json] = []
        self._asked: Dict[str, int] = {}
        self._lock = threading.Lock()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.answer(model.form(self, body) if self.headers["Content-Type"].startswith("multipart/") else json.loads(body))

            def do_GET(self) -> None:
                self.answer({})

            def answer(self, body: Json) -> None:
                try:
                    model.answer(self, body)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass
        self._handler, self.port, self._server = Handler, port, None  # type: ignore[var-annotated]
        self.start()

    def start(self) -> None:
        class Server(ThreadingHTTPServer):
            allow_reuse_address, daemon_threads = True, True

            def handle_error(self, *_: Any) -> None:
                pass  # a client that is killed leaves in the middle
        self._server = Server(("127.0.0.1", self.port), self._handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def fault(self, kind: str, times: int = 1, **more: Any) -> None:
        with self._lock:
            self._faults += [{"kind": kind, **more}] * times

    def answer(self, handler: BaseHTTPRequestHandler, body: Json) -> None:
        with self._lock:
            fault = self._faults.pop(0) if self._faults else {"kind": "none"}
            self.requests.append({"time": time.time(), "path": handler.path, "body": body, "fault": fault["kind"],
                                  "authorization": handler.headers.get("Authorization")})
            if self.log:
                with open(self.log, "a", encoding="utf-8") as file:
                    file.write(json.dumps(self.requests[-1], ensure_ascii=False) + "\n")
        media = {"/v1/images/generations": self._picture, "/v1/audio/transcriptions": self._transcript, "/v1/audio/speech": self._speech}
        if handler.path.startswith("/pictures/"):
            return self._link(handler, fault)
        if handler.path != "/v1/chat/completions" and handler.path not in media and not handler.path.startswith("/v1/models/"):
            return self._error(handler, 404, {"message": "no such path"})
        if self.key and handler.headers.get("Authorization") != f"Bearer {self.key}":
            said = handler.headers.get("Authorization", "").replace("Bearer ", "")
            return self._error(handler, 401, {"message": f"Incorrect API key provided: {said}", "code": "invalid_api_key"})
        if fault["kind"] == "close":
            handler.close_connection = True
            return handler.connection.shutdown(socket.SHUT_RDWR)
        if fault["kind"] == "status":
            return self._error(handler, fault["status"], {"message": "a fault", "code": fault.get("code")}, fault.get("retry_after"))
        if fault["kind"] == "html":
            return self._whole(handler, 200, b"<html>a portal</html>", "text/html")
        if handler.path in media:
            time.sleep(fault["ms"] / 1000 if fault["kind"] == "slow" else 0)
            return media[handler.path](handler, body, fault)
        if handler.path.startswith("/v1/models/"):
            return self._whole(handler, 200, b'{"object":"model"}', "application/json")
        text = self._text(body)
        if body.get("stream"):
            return self._stream(handler, body, text, fault)
        if fault["kind"] == "slow":
            time.sleep(fault["ms"] / 1000)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        whole = {**self._head(body, "chat.completion"), "choices": [choice], "usage": self._usage(body, text)}
        data = json.dumps(whole, ensure_ascii=False).encode()
        if fault["kind"] in ("cut", "garbage"):
            data = data[:len(data) // 2]
        self._whole(handler, 200, data, "application/json")

    @staticmethod
    def form(handler: BaseHTTPRequestHandler, body: bytes) -> Json:
        """The fields of a form; of a file its name, type and bytes, as Latin-1."""
        head = f"Content-Type: {handler.headers['Content-Type']}\r\n\r\n".encode()
        fields: Json = {}
        for one in email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body).iter_parts():  # type: ignore[attr-defined]
            name, data = one.get_param("name", header="content-disposition"), one.get_payload(decode=True)
            file = one.get_filename()
            fields[name] = {"name": file, "type": one.get_content_type(), "bytes": data.decode("latin-1")} if file else data.decode()
        return fields

    def _picture(self, handler: BaseHTTPRequestHandler, body: Json, fault: Json) -> None:
        if "unsafe" in body["prompt"]:
            return self._error(handler, 400, {"message": "Your request was rejected.", "code": "content_policy_violation"})
        data = picture(body["prompt"]) + bytes(fault.get("bytes", 0))
        if self.links:
            with self._lock:
                path = f"/pictures/{self._drawn}?sig=1"
                self._drawn += 1
            self._pictures[path] = data
            one = {"url": self.url[:-3] + path}
        else:
            text = base64.b64encode(data).decode()
            one = {"b64_json": "*" + text[1:] if fault["kind"] == "garbage" else text}
        whole = {"created": int(time.time()), "data": [] if fault["kind"] == "empty" else [{**one, "revised_prompt": "a picture of " + body["prompt"]}]}
        self._bytes(handler, json.dumps(whole, ensure_ascii=False).encode(), "application/json", fault)

    def _link(self, handler: BaseHTTPRequestHandler, fault: Json) -> None:
        data = self._pictures.pop(handler.path, None)
        if data is None or fault["kind"] == "gone":
            return self._error(handler, 404, {"message": "the link has expired"})
        if fault["kind"] == "elsewhere":
            path = f"{handler.path}&{len(self.requests)}"
            self._pictures[path] = data
            return self._whole(handler, 302, b"", "text/plain", location=fault.get("to", "") + path)
        self._bytes(handler, data, "text/html" if fault["kind"] == "html" else "image/png", fault)

    def _transcript(self, handler: BaseHTTPRequestHandler, body: Json, fault: Json) -> None:
        said = body["file"]["bytes"].encode("latin-1").decode("utf-8", "replace").split("|")
        text = "" if fault["kind"] == "empty" or len(said) < 2 else said[1]
        data = json.dumps({"text": text}, ensure_ascii=False).encode()
        self._bytes(handler, data[:-3] if fault["kind"] == "garbage" else data, "application/json", fault)

    def _speech(self, handler: BaseHTTPRequestHandler, body: Json, fault: Json) -> None:
        data = b"" if fault["kind"] == "empty" else sound(body["input"]) + bytes(fault.get("bytes", 0))
        self._bytes(handler, data, "audio/mpeg", fault)

    def _bytes(self, handler: BaseHTTPRequestHandler, data: bytes, kind: str, fault: Json) -> None:
        """A whole body, or one that breaks off in the middle."""
        if fault["kind"] != "cut":
            return self._whole(handler, 200, data, kind)
        self._head_of(handler, 200, kind, len(data))
        handler.wfile.write(data[:len(data) // 2])
        handler.close_connection = True

    def _text(self, body: Json) -> str:
        asked = next(m["content"] for m in reversed(body["messages"]) if m["role"] == "user")
        for entry in self.table:
            if re.search(entry["match"], asked):
                answers = entry["answer"] if isinstance(entry["answer"], list) else [entry["answer"]]
                with self._lock:
                    count = self._asked[entry["match"]] = self._asked.get(entry["match"], 0) + 1
                return answers[min(count, len(answers)) - 1]
        return "답: " + asked

    @staticmethod
    def _head(body: Json, kind: str) -> Json:
        return {"id": "chatcmpl-1", "object": kind, "created": int(time.time()), "model": body["model"] + "-0125"}

    @staticmethod
    def _usage(body: Json, text: str) -> Json:
        prompt, said = sum(len(m["content"]) for m in body["messages"]), len(text)
        return {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said}

    def _stream(self, handler: BaseHTTPRequestHandler, body: Json, text: str, fault: Json) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        head = self._head(body, "chat.completion.chunk")
        pieces: List[Json] = [{"delta": {"role": "assistant"}}]
        pieces += [{"delta": {"content": piece}} for piece in re.findall(r"\s*\S+|\s+$", text)]
        lines = [json.dumps({**head, "choices": [{"index": 0, **piece}]}, ensure_ascii=False) for piece in pieces]
        lines.append(json.dumps({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
        lines.append(json.dumps({**head, "choices": [], "usage": self._usage(body, text)}))
        lines.append("[DONE]")
        for number, line in enumerate(lines):
            if fault["kind"] == "slow":
                time.sleep(fault["ms"] / 1000)
            if number == 2 and fault["kind"] == "cut":
                handler.close_connection = True
                return handler.connection.shutdown(socket.SHUT_RDWR)
            if number == 2 and fault["kind"] == "ends":  # in good order, but without the end of an answer
                return self._chunk(handler, b"")
            if number == 2 and fault["kind"] == "garbage":
                line = '{"choices":[{"delta":{"content":'
            if number == 2 and fault["kind"] == "error":
                line = json.dumps({"error": {"message": "overloaded"}})
            data = f": a comment\ndata: {line}\n\n".encode()
            self._chunk(handler, data[:7])  # cut anywhere
            self._chunk(handler, data[7:])
        self._chunk(handler, b"")

    @staticmethod
    def _chunk(handler: BaseHTTPRequestHandler, data: bytes) -> None:
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        handler.wfile.flush()

    @staticmethod
    def _head_of(handler: BaseHTTPRequestHandler, status: int, kind: str, length: int, **more: Any) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(length))
        for name, value in more.items():
            if value is not None:
                handler.send_header(name.replace("_", "-"), str(value))
        handler.end_headers()

    def _whole(self, handler: BaseHTTPRequestHandler, status: int, data: bytes, kind: str, retry_after: Optional[int] = None,
               location: Optional[str] = None) -> None:
        self._head_of(handler, status, kind, len(data), Retry_After=retry_after, Location=location)
        handler.wfile.write(data)

    def _error(self, handler: BaseHTTPRequestHandler, status: int, error: Json, retry_after: Optional[int] = None) -> None:
        self._whole(handler, status, json.dumps({"error": error}).encode(), "application/json", retry_after)


def main() -> None:
    parser = argparse.ArgumentParser(description="A model server that answers from a table.")
    parser.add_argument("--port", type=int, default=18080)
    parser.add_argument("--table", help="JSON: a list of objects with match and answer")
    parser.add_argument("--log", help="requests, one a line")
    parser.add_argument("--links", action="store_true", help="pictures are given as addresses that work once")
    parser.add_argument("--key", help="the key that a request must have")
    parser.add_argument("--fault", action="append", default=[], help='as {"kind":"status","status":500,"times":2}')
    arguments = parser.parse_args()
    table = json.load(open(arguments.table, encoding="utf-8")) if arguments.table else None
    model = ScriptedModel(arguments.port, table, arguments.key, arguments.log, arguments.links)
    for fault in map(json.loads, arguments.fault):
        model.fault(**fault)
    print(model.url, flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
