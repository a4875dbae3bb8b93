"""Attachments and the lists of a user, in Python: against a real daemon, and against answers that no healthy one gives."""
import hashlib
import http.server
import io
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, List, Optional

from daemon import ROOT, DaemonTests, texts
from sillok import SillokError, Unreachable
from sillok_messenger import DigestError, Messenger

PNG = b"\x89PNG\r\n\x1a\n" + bytes(5000)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class AttachmentTests(DaemonTests):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.messenger = Messenger(cls.a.base)

    def named(self, data: bytes, media_type: Optional[str] = None) -> str:
        item = self.messenger.put_attachment(data, media_type)
        self.messenger.post("u-1", "사진", "c-1", data={"attachments": [item]})
        return str(item["sha256"])

    def test_puts_and_gets(self) -> None:
        path = self.folder / "사진.png"
        path.write_bytes(PNG)
        expected = {"sha256": sha(PNG), "bytes": len(PNG), "mediaType": "image/png"}
        with open(path, "rb") as file:
            for source in (path, str(path), PNG, memoryview(PNG), file):
                self.assertEqual(self.messenger.put_attachment(source), expected)
            file.seek(8)
            self.assertEqual(self.messenger.put_attachment(file)["sha256"], sha(PNG[8:]))
        self.assertEqual(self.named(PNG), sha(PNG))
        self.assertEqual(self.messenger.get_attachment(sha(PNG)), PNG)
        copy, held = self.folder / "copy.png", io.BytesIO()
        self.assertEqual(self.messenger.get_attachment(sha(PNG), to=copy), expected)
        self.assertEqual(self.messenger.get_attachment(sha(PNG), to=held), expected)
        self.assertEqual((copy.read_bytes(), held.getvalue()), (PNG, PNG))
        self.assertEqual(copy.stat().st_mode, path.stat().st_mode)

    def test_nothing_and_stated_types(self) -> None:
        self.assertEqual(self.messenger.put_attachment(b""), {"sha256": sha(b""), "bytes": 0, "mediaType": "application/octet-stream"})
        self.assertEqual(self.named(b""), sha(b""))
        self.assertEqual(self.messenger.get_attachment(sha(b"")), b"")
        self.assertEqual(self.messenger.put_attachment(b"a,b\n", "text/csv")["mediaType"], "text/csv")

    def test_what_is_refused_names_its_code(self) -> None:
        self.refused("E_NOT_FOUND", self.messenger.get_attachment, sha(b"nowhere"))
        self.refused("E_NOT_FOUND", self.messenger.get_attachment, "../status")
        before = sorted(os.listdir(self.folder))
        self.refused("E_NOT_FOUND", self.messenger.get_attachment, sha(b"nowhere"), self.folder / "nothing")
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        large = self.folder / "large"
        with open(large, "wb") as file:
            file.truncate((100 << 20) + 1)
        self.refused("E_ATTACHMENT_SIZE", self.messenger.put_attachment, large)
        large.unlink()
        with self.assertRaises(OSError):
            self.messenger.put_attachment(os.fdopen(os.pipe()[0], "rb"))

    def test_a_file_that_becomes_shorter_is_not_kept(self) -> None:
        class Shrinking(io.BytesIO):
            def seek(self, *words: int) -> int:
                self.truncate(100_000)
                return super().seek(*words)
        with self.assertRaises(ValueError):
            self.messenger.put_attachment(Shrinking(bytes(300_000)))
        self.assertEqual(self.messenger.put_attachment(PNG)["sha256"], sha(PNG))  # the connection that was cut is not used again

    def test_memory_is_bounded(self) -> None:
        """INV-9: 64 MiB go and come in a process that may have less than that beside what it began with."""
        path, copy = self.folder / "long", self.folder / "long.copy"
        with open(path, "wb") as file:
            for number in range(64):
                file.write(number.to_bytes(4, "big") * (1 << 18))
        code = ("import resource, sys\nfrom sillok_messenger import Messenger\nm = Messenger(sys.argv[1])\n"
                "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\nitem = m.put_attachment(sys.argv[2])\n"
                "m.post('u-2', '길다', data={'attachments': [item]})\nm.get_attachment(item['sha256'], to=sys.argv[3])\n"
                "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)")
        done = subprocess.run([sys.executable, "-B", "-c", code, self.a.base, str(path), str(copy)], text=True, capture_output=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "clients/python")}, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(int(done.stdout), 16 << 10)
        with open(path, "rb") as a, open(copy, "rb") as b:
            self.assertTrue(all(a.read(1 << 20) == b.read(1 << 20) for _ in range(65)))

    def test_the_lists_of_a_user(self) -> None:
        for number in range(5):
            self.client.append({"type": "message.posted", "user": "u-7", "subject": f"conversation/r-{number}", "data": {"text": f"글 {number}"}})
            self.client.append({"type": "contact.added", "user": "u-7", "data": {"contact": f"u-8{number}"}})
        rooms = list(self.messenger.rooms("u-7", limit=2))
        self.assertEqual([room["last_text"] for room in rooms], [f"글 {number}" for number in (4, 3, 2, 1, 0)])
        self.assertEqual([line["contact"] for line in self.messenger.contacts("u-7", limit=2)], [f"u-8{number}" for number in range(5)])
        self.assertEqual(texts(self.messenger.received("u-7", limit=2)), [f"글 {number}" for number in (4, 3, 2, 1, 0)])


class FaultTests(unittest.TestCase):
    """Answers that break off, lie or forget the range. Each of `plan` is one: how many bytes of what was asked come."""

    def serve(self, data: bytes, plan: List[Any], ranges: bool = True) -> Messenger:
        asked: List[Optional[str]] = []
        self.asked = asked

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                step = plan[min(len(asked), len(plan) - 1)]
                asked.append(self.headers["Range"])
                if step == "busy":
                    body = b'{"code":"E_BUSY","detail":"busy"}'
                    self.send_response(503)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                    return
                start = int(self.headers["Range"][6:-1]) if ranges and self.headers["Range"] else 0
                self.send_response(206 if start else 200)
                self.send_header("Content-Length", str(len(data) - start))
                self.send_header("Content-Type", "image/png")
                self.end_headers()
                self.wfile.write(data[start:start + step])
                self.close_connection = True

            def log_message(self, *words: Any) -> None:
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return Messenger(f"http://127.0.0.1:{server.server_address[1]}", patience=5)

    def test_goes_on_where_it_broke_off(self) -> None:
        data = os.urandom(300_000)
        self.assertEqual(self.serve(data, [100_000, "busy", 0, 150_000, 300_000]).get_attachment(sha(data)), data)
        self.assertEqual(self.asked, [None] + ["bytes=100000-"] * 3 + ["bytes=250000-"])

    def test_a_proxy_that_knows_no_ranges(self) -> None:
        data = os.urandom(300_000)
        self.assertEqual(self.serve(data, [100_000, 50_000, 300_000], ranges=False).get_attachment(sha(data)), data)

    def test_does_not_go_on_without_end(self) -> None:
        messenger = self.serve(bytes(1000), [500, 0])
        messenger.patience = 0.5
        with self.assertRaises(Unreachable) as caught:
            messenger.get_attachment(sha(bytes(1000)))
        self.assertIn("500 of 1000", str(caught.exception))

    def test_other_bytes_are_told_and_not_left(self) -> None:
        """A path keeps what it had; nothing of the wrong bytes stands beside it."""
        messenger = self.serve(b"other bytes", [1000])
        for to in (None, io.BytesIO()):
            with self.assertRaises(DigestError) as caught:
                messenger.get_attachment(sha(b"bytes"), to=to)
            self.assertEqual(caught.exception.code, "E_ATTACHMENT_DIGEST")
            self.assertIsInstance(caught.exception, SillokError)
        with tempfile.TemporaryDirectory() as folder:
            kept = Path(folder, "kept")
            kept.write_bytes(b"old")
            with self.assertRaises(DigestError):
                messenger.get_attachment(sha(b"bytes"), to=kept)
            self.assertEqual((os.listdir(folder), kept.read_bytes()), (["kept"], b"old"))


if __name__ == "__main__":
    unittest.main()
