#!/usr/bin/env python3
"""Writes receipt.ndjson and answer.ndjson, the vectors of FORMATS.md, sections 9 and 10: made from that page with Python's hashlib and the
`openssl` command, not with Sillok's code. The origins are those of make-evidence.py: the node of the second one has cosigned the first, a third
node a smaller head of it; of the three events of user u-1029 one is erased."""
import base64, json, os, runpy

here = os.path.dirname(os.path.abspath(__file__))
made = runpy.run_path(os.path.join(here, "make-evidence.py"))
Origin, root, consistency, sha, b64, split = (made[name] for name in ("Origin", "root", "consistency", "sha", "b64", "split"))
one, two = made["one"], made["two"]
third = Origin("7ba7b810-9dad-11d1-80b4-00c04fd430c8", bytes(range(64, 96)))


def sign(origin, text): return origin.openssl("pkeyutl", "-sign", "-rawin", text=text)
def dump(value): return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
def path(index, leaves):  # RFC 6962, 2.1.1
    if len(leaves) == 1: return []
    k = split(len(leaves))
    if index < k: return path(index, leaves[:k]) + [root(leaves[k:])]
    return path(index - k, leaves[k:]) + [root(leaves[:k])]


def checkpoint(origin, size):
    stamp = (1785549735000 + size) << 16 | 3
    return f"sillok/{origin.id}\n{size}\n{b64(root(origin.leaves[:size]))}\nhlc {stamp >> 16:012x}-{stamp & 65535:04x}\n"


def note_line(origin, kind, data): return f"— {origin.node} {b64(sha(origin.node.encode() + bytes([10, kind]) + origin.key)[:4] + data)}\n"
def cosignature(origin, text, time): return note_line(origin, 4, time.to_bytes(8, "big") + sign(origin, f"cosignature/v1\ntime {time}\n{text}".encode()))


def head(origin, size, witnesses=()):
    text = checkpoint(origin, size)
    note = text + "\n" + note_line(origin, 1, sign(origin, text.encode())) + "".join(cosignature(node, text, time) for node, time in witnesses)
    return {"type": "head", "origin": str(origin.id), "node": origin.node, "key": b64(origin.key), "events": len(origin.leaves), "size": size,
            "arrived": "2026-08-01T02:02:15.007Z", "note": note}


def maker(kind, **more):
    return {"type": kind, "v": 1, "node": one.node, "name": "n", "cluster": "default", "key": b64(one.key), "time": "2026-08-01T02:02:20.000Z",
            "position": 9, **more}


size = len(one.leaves)
smaller = checkpoint(one, 2)
witnesses = [{"type": "witness", "node": node.node, "key": b64(node.key)} for node in sorted((two, third), key=lambda node: node.node)]
heads = [head(one, size, [(two, 1785549738)]),
         {"type": "cosigned", "origin": str(one.id), "size": 2, "note": smaller + "\n" + note_line(one, 1, sign(one, smaller.encode())) + cosignature(third, smaller, 1785549736),
          "proof": [digest.hex() for digest in consistency(2, one.leaves)]}]
events = [line | {"proof": [digest.hex() for digest in path(line["seq"] - 1, one.leaves)]}
          for line in one.lines[1:4]]


def write(name, lines, count):
    body = "".join(dump(line) + "\n" for line in lines).encode()
    digest = sha(body).hex()
    kind = lines[0]["type"]
    signature = b64(sign(one, f"sillok {kind} v1\n{digest}\n".encode()))
    end = {"type": "end", "v": 1, "count": count, "sha256": digest, "signature": signature}
    with open(os.path.join(here, name), "wb") as file: file.write(body + (dump(end) + "\n").encode())


write("receipt.ndjson", [maker("receipt", origins=2)] + witnesses + heads + [head(two, len(two.leaves))], 2)
write("answer.ndjson", [maker("answer", user="u-1029", filtered=False, events=len(events), origins=1)] + witnesses + heads + events, len(events))
