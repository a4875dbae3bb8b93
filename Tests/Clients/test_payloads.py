"""Payloads that are hard to read arrive by each way of the Python client and of sillok-hook ("nothing is lost", INV-8)."""
import base64
import contextlib
import json
import subprocess
import unittest
from decimal import Decimal
from pathlib import Path
from typing import Dict, List

from daemon import DaemonTests, ROOT, until
from sillok import SillokError, event_id
from test_hook import HOOK, KEY, Target

CONFORMANCE = ROOT.parent / "shared/data/conformance"
NUMBERS = {"long": "1" * 4301, "negative": "-" + "7" * 9000, "huge": "1e999", "exact": "0.1000000000000000055511151231257827", "zero": "-0",
           "large": "123456789012345678901234567890"}


class PayloadTests(DaemonTests):
    def store(self, user: str, values: List[bytes]) -> Dict[str, bytes]:
        """Events with these values, as many as the node takes: their payloads by their ids."""
        found = {}
        for value in values:
            id, data = event_id(), b'{"text":"a","v":%s}' % value.replace(b"\n", b" ").replace(b"\r", b" ")
            head = json.dumps({"id": id, "type": "message.posted", "user": user, "subject": f"conversation/{user}"}).encode()
            with contextlib.suppress(SillokError):  # what is no JSON is refused
                self.client.request("POST", "/v1/events", body=head[:-1] + b',"data":' + data + b"}")
                found[id] = data
        return found

    def arrive(self, user: str, values: List[bytes], least: int) -> None:
        stored = self.store(user, values)
        self.assertGreaterEqual(len(stored), least)
        ids = list(stored)
        followed = []
        for event in self.client.follow("first", user=user, type="message.posted"):
            followed.append(event)
            if event["id"] == ids[-1]:
                break
        self.assertEqual([event["id"] for event in followed], ids)
        for event in followed:
            self.assertIn(stored[event["id"]], event.raw.encode())
        for rows in (self.client.rows(user, order="oldest"), self.client.history(user, order="oldest")):
            self.assertEqual([row["event"]["id"] for row in rows], ids)
        page, after = [], "first"
        while len(page) < len(ids):
            answer = self.client.changes(after, user=user, type="message.posted")
            page, after = page + answer["items"], answer["cursor"]
        self.assertEqual([event["id"] for event in page], ids)
        self.assertEqual([self.client.event(id)["id"] for id in ids[-3:]], ids[-3:])
        worked = []
        for d in self.client.work(f"work-{user}", start="first", user=user, type="message.posted"):
            worked.append(d.id)
            self.assertIn(stored[d.id], d.raw.encode())
            if d.id == ids[-1]:
                break
        self.assertEqual(worked, ids)
        self.client.subscribe(f"pull-{user}", start="first", user=user, type="message.posted", order="none")
        pulled = self.client.pull(f"pull-{user}", max=len(ids))
        self.assertEqual([d.id for d in pulled], ids)
        for d in pulled:
            self.assertIn(stored[d.id], d.raw.encode())
            self.assertEqual(json.loads(d.raw, parse_int=str)["id"], d.id)

    def test_numbers(self) -> None:
        self.arrive("u-numbers", [number.encode() for number in NUMBERS.values()], len(NUMBERS))
        values = [row["event"]["data"]["v"] for row in self.client.rows("u-numbers", order="oldest")]
        self.assertEqual(values[0], Decimal("1" * 4301))
        self.assertEqual(values[5], 123456789012345678901234567890)
        self.client.append({"type": "a", "user": "u-again", "data": {"v": values[:2]}})
        self.assertIn(f'"v":[{NUMBERS["long"]},{NUMBERS["negative"]}]', next(self.client.follow("first", user="u-again")).raw)

    @unittest.skipUnless(CONFORMANCE.exists(), "shared/data/conformance is not there")
    def test_the_corpora(self) -> None:
        folder = self.folder / "corpus"
        folder.mkdir()
        subprocess.run(["tar", "--zstd", "-xf", str(CONFORMANCE / "json_test_suite/json_test_suite.tar.zst"), "-C", str(folder)], check=True)
        self.arrive("u-suite", [file.read_bytes() for file in sorted(Path(folder, "test_parsing").iterdir())], 95)
        naughty = json.loads((CONFORMANCE / "naughty_strings/blns.json").read_text("utf-8"))
        self.arrive("u-naughty", [json.dumps(text, ensure_ascii=False).encode() for text in naughty], len(naughty))
        decoys = ['{"event":{"event":{}}}', '[{"event":{"id":"x"}}]', r'"\"event\":{"', r'{"\\":"}{][","a\"":"\\"}', '"]}"']
        self.arrive("u-decoys", [decoy.encode() for decoy in decoys], len(decoys))

    def test_a_hook_posts_the_bytes_of_the_event(self) -> None:
        target, user = Target(), "u-hook"
        target.start()
        secret = self.folder / "payloads.secret"
        secret.write_text(base64.b64encode(KEY).decode() + "\n")
        secret.chmod(0o600)
        stored = self.store(user, [number.encode() for number in NUMBERS.values()] + [rb'"\u0041\ud83d\ude00\/"'])
        process = subprocess.Popen([str(HOOK), "payloads", f"http://127.0.0.1:{target.port}/", "--secret", str(secret), "--node", self.a.base,
                                    "--start", "first", "--user", user], stderr=subprocess.PIPE)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        until(lambda: len(target.got) >= len(stored), 30)
        for _, headers, body in target.got:
            self.assertIn(stored[headers["webhook-id"]], body)
            self.assertTrue(body.startswith(b"{") and body.endswith(b"}"))


if __name__ == "__main__":
    unittest.main()
