"""What messengers need beside `sillok.py`: attachments and the lists of a user. Python 3.9 and later, standard library alone.

    from sillok_messenger import Messenger
    sillok = Messenger("unix:/run/syncd/api.sock")
    photo = sillok.put_attachment("photo.jpg")
    sillok.post("u-1029", "사진", "c-88", data={"attachments": [photo]})
    sillok.get_attachment(photo["sha256"], to="copy.jpg")
"""
from __future__ import annotations

import hashlib, io, os, tempfile, time
from contextlib import contextmanager
from typing import Any, BinaryIO, Callable, Iterator, Optional, Union
from urllib.parse import quote

from sillok import FAILURES, Answer, Json, Sillok, SillokError, Unreachable, log

PIECE = 64 << 10  # bytes in memory at a time
Source = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, BinaryIO]


class DigestError(SillokError):
    """The bytes that came are not those that the SHA-256 names. Nothing of them stands where `to` names a path."""


class _Body:
    """The bytes of an open file from where it stands, as often as they are asked for: a request may be repeated."""

    def __init__(self, file: BinaryIO):
        self._file, self._start, self.bytes, digest = file, file.tell(), 0, hashlib.sha256()
        for piece in iter(lambda: file.read(PIECE), b""):
            digest.update(piece)
            self.bytes += len(piece)
        self.sha256 = digest.hexdigest()

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(self._start)
        left = self.bytes
        while left:
            piece = self._file.read(min(PIECE, left))
            if not piece:
                raise ValueError("the file became shorter while it was sent")
            left -= len(piece)
            yield piece


@contextmanager
def _opened(source: Source) -> Iterator[BinaryIO]:
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            yield file
    elif isinstance(source, (bytes, bytearray, memoryview)):
        yield io.BytesIO(source)
    else:
        yield source  # of the caller, who closes it


@contextmanager
def _written(path: Union[str, "os.PathLike[str]"]) -> Iterator[BinaryIO]:
    """A file that gets its name when all is well, and else is taken away."""
    folder, name = os.path.split(os.path.abspath(path))
    number, part = tempfile.mkstemp(prefix=f".{name[:40]}.", suffix=".part", dir=folder)
    try:
        with open(number, "wb") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(part, 0o666 & ~mask)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


class Messenger(Sillok):
    """A `Sillok` that puts and gets attachments (docs/operating/attachments.md) and tells the lists of a user."""

    def put_attachment(self, source: Source, media_type: Optional[str] = None) -> Json:
        """Keeps the bytes of a path, of an open file that can seek (from where it stands), or of `bytes`.

        Answers `sha256`, `bytes` and `mediaType`, which an item of `attachments` takes as they are. The file is read twice: once for
        its SHA-256, which goes along, and once to send it. Bytes that no event names are taken away after a day."""
        with _opened(source) as file:
            body = _Body(file)
            headers = {"Content-Type": media_type or "application/octet-stream", "Content-Length": str(body.bytes), "Sillok-Sha256": body.sha256}
            line = self.request("POST", "/v1/attachments", body=body, headers=headers).lines[0]
        return {key: line[key] for key in ("sha256", "bytes", "mediaType")}

    def get_attachment(self, sha256: str, to: Union[str, "os.PathLike[str]", BinaryIO, None] = None) -> Any:
        """The bytes, or with `to` (a path, or an open file) `sha256`, `bytes` and `mediaType` of what was written there.

        Where the connection breaks it goes on behind what has come, for `patience` seconds without a byte. Other bytes than the
        SHA-256 names raise `DigestError`; an open file has got them then, a path has not. Without `to` all of it is in memory."""
        if to is None:
            held = io.BytesIO()
            self._fetch(sha256, held.write)
            return held.getvalue()
        if isinstance(to, (str, os.PathLike)):
            with _written(to) as file:
                return self._fetch(sha256, file.write)
        return self._fetch(sha256, to.write)

    def _fetch(self, sha256: str, write: Callable[[bytes], Any]) -> Json:
        count, total, media_type, digest = 0, None, "", hashlib.sha256()  # type: ignore[var-annotated]
        until, pause = time.monotonic() + self.patience, 0.1
        while total is None or count < total:
            answer = self.request("GET", f"/v1/attachments/{quote(sha256, safe='')}", accept="*/*", stream=True,
                                  patience=max(0.0, until - time.monotonic()), headers={"Range": f"bytes={count}-"} if count else None)
            total, before = _length(answer, count), count
            media_type = answer.headers.get("Content-Type", "application/octet-stream")
            skip = 0 if answer.status == 206 else count  # who does not know ranges sends all again
            for piece in _pieces(answer):
                skip, piece = max(0, skip - len(piece)), piece[skip:]
                digest.update(piece)
                write(piece)
                count += len(piece)
            if total is None or count >= total:
                break
            if count > before:
                until, pause = time.monotonic() + self.patience, 0.1
            if time.monotonic() + pause > until:
                raise Unreachable("E_UNREACHABLE", f"{answer.base}: attachment {sha256} broke off behind {count} of {total} bytes", "again later")
            log.warning("attachment %s broke off behind %d bytes; on in %.1f s", sha256, count, pause)
            time.sleep(pause)
            pause = min(pause * 2, 5.0)
        if digest.hexdigest() != sha256:
            raise DigestError("E_ATTACHMENT_DIGEST", f"attachment {sha256} came as {digest.hexdigest()}", "get it again, or at another node")
        return {"sha256": sha256, "bytes": count, "mediaType": media_type}

    def rooms(self, user: str, **query: Any) -> Iterator[Json]:
        """A user's conversations, the latest message first: `last_text`, `unread`, `others` … (docs/operating/api.md, "Rooms").
        `all=1`: those, too, that were hidden or left."""
        return self._pages(f"/v1/users/{quote(user, safe='')}/conversations", query)

    def contacts(self, user: str, **query: Any) -> Iterator[Json]:
        """Whom a user keeps, by id."""
        return self._pages(f"/v1/users/{quote(user, safe='')}/contacts", query)

    def received(self, user: str, **query: Any) -> Iterator[Json]:
        """Messages of all conversations of a user, the newest first: what the user saw. `since`, `until`, `author` go with it."""
        return self.history(user, **{**query, "received": 1})


def _length(answer: Answer, count: int) -> Optional[int]:
    """How many bytes the attachment has; `None` where a proxy keeps it to itself."""
    stated = answer.headers.get("Content-Length", "")
    if not stated.isdigit() or answer.headers.get("Content-Encoding"):
        return None
    return int(stated) + (count if answer.status == 206 else 0)


def _pieces(answer: Answer) -> Iterator[bytes]:
    """What comes of a body, until it ends or breaks off."""
    try:
        yield from iter(lambda: answer._response.read(PIECE), b"")
    except FAILURES:
        pass
    finally:
        answer.close()
