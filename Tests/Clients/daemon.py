"""A real daemon in a folder of its own, for the tests of the clients."""
from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Callable, List, Optional

ROOT = Path(__file__).resolve().parent.parent.parent
BINARIES = Path(os.environ.get("SILLOK_BIN") or ROOT / ".build" / "debug")
sys.path.insert(0, str(ROOT / "clients" / "python"))

from sillok import Sillok, SillokError  # noqa: E402


class Daemon:
    """`syncd` with store and socket in `folder`; `kill` is kill -9, `stop` SIGTERM."""

    def __init__(self, folder: Path, name: str, peers: bool = False):
        self.store, self.socket, self.name, self.peers = folder / name, folder / f"{name}.sock", name, peers
        self.process: Optional[subprocess.Popen[bytes]] = None
        self.settings = self.store.with_suffix(".json5")
        self.settings.write_text("{}")
        self.start()

    def start(self) -> None:
        flags = ["--config", str(self.settings), "--data-dir", str(self.store), "--socket", str(self.socket), "--node-name", self.name, "--log-level", "warning"]
        flags += ["--peer-listen", "127.0.0.1:0"] if self.peers else []
        with open(self.store.with_suffix(".log"), "ab") as log:
            self.process = subprocess.Popen([str(BINARIES / "syncd"), *flags], stdout=log, stderr=log)
        until(self.is_ready, 60)

    def is_ready(self) -> bool:
        try:
            return Sillok(self.base, patience=0).request("GET", "/readyz").status == 200
        except SillokError:
            return False

    def full(self, is_full: bool = True) -> None:
        """What the daemon takes for a full disk: appends are refused with 507."""
        assert self.process
        self.settings.write_text('{ storage: { min_free: "900TiB" } }' if is_full else "{}")
        self.process.send_signal(signal.SIGHUP)
        until(lambda: self.is_ready() != is_full)

    @property
    def base(self) -> str:
        return f"unix:{self.socket}"

    def client(self, **options: Any) -> Sillok:
        return Sillok(self.base, **options)

    def ctl(self, *words: str, input: Optional[str] = None) -> str:
        done = subprocess.run([str(BINARIES / "syncctl"), *words, "--store", str(self.store)], capture_output=True, text=True,
                              input=input, timeout=120, check=False)
        if done.returncode:
            raise AssertionError(f"syncctl {words}: {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: int) -> None:
        if self.process:
            if self.process.poll() is not None:
                told = self.store.with_suffix(".log").read_text("utf-8", "replace")
                print(f"{self.name} ended by itself: {self.process.returncode}\n{told[-6000:]}", file=sys.stderr)
            self.process.send_signal(how)
            self.process.wait(60)
        self.process = None


def until(what: Callable[[], Any], seconds: float = 60.0, *passing: type) -> Any:
    """Waits for something that holds."""
    end = time.monotonic() + seconds
    while True:
        try:
            found = what()
            if found:
                return found
        except passing:
            pass
        if time.monotonic() > end:
            raise AssertionError("it did not come to hold in time")
        time.sleep(0.02)


class DaemonTests(unittest.TestCase):
    """A folder for all tests of a class, and one daemon `a` in it; `started` makes more."""

    peers = False

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="sillok-clients-"))
        cls.daemons: List[Daemon] = []
        cls.addClassCleanup(cls._cleanup)
        cls.a = cls.started("a")
        cls.client = cls.a.client()

    @classmethod
    def started(cls, name: str) -> Daemon:
        cls.daemons.append(Daemon(cls.folder, name, cls.peers))
        return cls.daemons[-1]

    @classmethod
    def _cleanup(cls) -> None:
        for daemon in cls.daemons:
            daemon.kill()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def refused(self, code: str, what: Callable[..., Any], *words: Any, **options: Any) -> SillokError:
        with self.assertRaises(SillokError) as caught:
            what(*words, **options)
        self.assertEqual(caught.exception.code, code, caught.exception)
        return caught.exception


def joined(a: Daemon, b: Daemon) -> None:
    """Makes two daemons peers, and waits until each has all that the other has."""
    line = re.search(r"sillok://\S+", a.ctl("peers", "invite"))
    assert line
    b.ctl("peers", "join", line[0])
    settled(a, b)


def vector(daemon: Daemon) -> str:
    return " ".join(sorted(f"{line['origin']}/{line['seq']}" for line in map(json.loads, daemon.ctl("vector", "--json").splitlines())
                           if line["type"] == "origin"))


def settled(a: Daemon, b: Daemon) -> None:
    until(lambda: vector(a) == vector(b), 30)


def texts(lines: Any) -> List[str]:
    return [(line.get("event") or line)["data"]["text"] for line in lines]
