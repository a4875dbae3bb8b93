"""What the holder of a node's key can do to its own log: another payload, with hashes, tree, heads and mark made right (FORMATS.md)."""

import base64
import json
import os
import sqlite3
import sys
import uuid

from cryptography.hazmat.primitives.serialization import load_pem_private_key

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Scripts"))
from sillok_verify.heads import head_text  # noqa: E402
from sillok_verify.marks import MARK_TEXT  # noqa: E402
from sillok_verify.rows import Row, header_of  # noqa: E402
from sillok_verify.trees import Tree, leaf_hash, sha256  # noqa: E402
from sillok_verify.values import Text  # noqa: E402


def key_of(store):
    with open(os.path.join(store, "node.key"), "rb") as file:
        return load_pem_private_key(file.read(), None)


def _log(store):
    log = sqlite3.connect(os.path.join(store, "log.db"), isolation_level=None)
    log.text_factory = Text
    return log


def own_origin(store):
    """(ref, id as text, count of its events) of the origin that the node appends to."""
    log = _log(store)
    try:
        ref, origin = log.execute("SELECT ref, id FROM origin, meta WHERE meta.key = 'origin' AND ref = value").fetchone()
        count = log.execute("SELECT max(seq) FROM event WHERE origin = ?", (ref,)).fetchone()[0]
        return ref, str(uuid.UUID(bytes=origin)), count
    finally:
        log.close()


def rewritten(store, position, payload):
    """Puts another payload into the log, and all that the holder of the node's key can make right by it."""
    _made_right(store, lambda log, _: log.execute("UPDATE event SET payload = ? WHERE position = ?", (payload, position)))


def shortened(store, seq):
    """Takes the newest events of the node's own origin away, those behind `seq`, and what came after them; all else is made right."""

    def cut(log, ref):
        top = log.execute("SELECT position FROM event WHERE origin = ? AND seq = ?", (ref, seq)).fetchone()[0]
        log.execute("DELETE FROM event WHERE position > ?", (top,))
        log.execute("DELETE FROM arrival WHERE position > ?", (top,))
        log.execute("DELETE FROM tile WHERE position > ?", (top,))
        for origin, most in log.execute("SELECT origin, max(seq) FROM event GROUP BY origin").fetchall():
            log.execute("DELETE FROM head WHERE origin = ? AND size > ?", (origin, most))
            log.execute("DELETE FROM node WHERE origin = ? AND (number + 1) << level > ?", (origin, most))

    _made_right(store, cut)


def _made_right(store, change):
    key, log = key_of(store), _log(store)
    ref = log.execute("SELECT value FROM meta WHERE key = 'origin'").fetchone()[0]
    change(log, ref)
    names = dict(log.execute("SELECT * FROM name"))
    origins = {number: origin for number, origin, *_ in log.execute("SELECT * FROM origin")}
    tree, roots, tile = Tree(), {}, b""
    for values in log.execute("SELECT * FROM event WHERE origin = ? ORDER BY seq", (ref,)).fetchall():
        row = Row(*values)
        leaf = leaf_hash(header_of(row, names, origins), row.digest or sha256(row.salt, row.payload))
        log.execute("UPDATE event SET leaf = ? WHERE position = ?", (int.from_bytes(leaf[:4], "big", signed=True), row.position))
        for level, number, root in tree.add(leaf):
            tile = tile + root if level == 4 else tile
            if level == 8:
                log.execute("UPDATE tile SET hashes = ? WHERE position = ?", (tile, row.position))
                tile = b""
            log.execute("UPDATE node SET hash = ? WHERE origin = ? AND level = ? AND number = ?", (root, ref, level, number))
        roots[tree.size] = tree.root(), row.hlc
    own = origins[ref]
    sign = lambda size: key.sign(head_text(own, size, *roots[size]))
    for (size,) in log.execute("SELECT size FROM head WHERE origin = ?", (ref,)).fetchall():
        log.execute("UPDATE head SET root = ?, signature = ? WHERE origin = ? AND size = ?", (roots[size][0], sign(size), ref, size))
    values = ref, tree.size, *roots[tree.size], sign(tree.size)
    log.execute("INSERT OR REPLACE INTO head(origin, size, root, hlc, signature) VALUES(?, ?, ?, ?, ?)", values)
    log.execute("DELETE FROM reach")
    top = log.execute("SELECT max(position) FROM event").fetchone()[0]
    log.close()
    _mark(store, key, top, tree.size, *roots[tree.size])


def _mark(store, key, position, size, root, hlc):
    path = os.path.join(store, "mark.json")
    with open(path) as file:
        mark = json.load(file)
    head = head_text(uuid.UUID(mark["origin"]).bytes, size, root, hlc).decode()
    mark["position"], mark["size"], mark["root"] = str(position), str(size), base64.b64encode(root).decode()
    mark["hlc"] = head.splitlines()[3].removeprefix("hlc ")
    mark["signature"] = base64.b64encode(key.sign(MARK_TEXT.format(**mark).encode())).decode()
    with open(path, "w") as file:
        json.dump(mark, file)
