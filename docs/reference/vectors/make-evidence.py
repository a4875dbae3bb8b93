#!/usr/bin/env python3
"""Writes evidence.ndjson, the vector of FORMATS.md, section 8: made from that page with Python's hashlib and the
`openssl` command, not with Sillok's code. Two origins that depend on each other; an erased event, an unreadable payload, an
opaque header; one origin's head is of more events than are here."""
import base64, hashlib, json, os, subprocess, tempfile, uuid

def sha(data): return hashlib.sha256(data).digest()
def varint(n):
    out = b""
    while n > 127: out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
def field(number, data): return varint(number << 3 | 2) + varint(len(data)) + data
def b64(data): return base64.b64encode(data).decode()

class Origin:
    def __init__(self, name, seed):
        self.id, self.leaves, self.lines, self.hlc = uuid.UUID(name), [], [], 0
        der = bytes.fromhex("302e020100300506032b657004220420") + seed
        self.pem = f"-----BEGIN PRIVATE KEY-----\n{b64(der)}\n-----END PRIVATE KEY-----\n"
        public = self.openssl("pkey", "-pubout", "-outform", "DER")
        self.key, self.node = public[-32:], sha(public).hex()

    def openssl(self, command, *arguments, text=b""):
        with tempfile.TemporaryDirectory() as folder:
            key, data = os.path.join(folder, "key"), os.path.join(folder, "text")
            open(key, "w").write(self.pem)
            open(data, "wb").write(text)
            name = "-in" if command == "pkey" else "-inkey"
            more = [] if command == "pkey" else ["-in", data]
            return subprocess.run(["openssl", command, name, key, *arguments, *more], check=True, capture_output=True).stdout

    def header(self, kind, user, deps=(), extra=b""):
        seq = len(self.leaves) + 1
        self.hlc = (1785549735000 + seq) << 16 | 3
        event = uuid.UUID(int=self.id.int + seq)
        out = field(1, self.id.bytes) + varint(2 << 3) + varint(seq) + varint(3 << 3 | 1) + self.hlc.to_bytes(8, "little")
        out += field(5, event.bytes) + field(6, kind.encode()) + field(8, user.encode())
        for origin, count in deps: out += field(11, field(1, origin.id.bytes) + varint(2 << 3) + varint(count))
        return out + extra

    def add(self, header, payload, form="payload"):
        seq = len(self.leaves) + 1
        salt = bytes([seq] * 16)
        digest = sha(salt + payload)
        self.leaves.append(sha(b"\0" + header + digest))
        line = {"type": "event", "origin": str(self.id), "seq": seq, "header": b64(header)}
        if form == "erased": line["digest"] = digest.hex()
        else:
            line["salt"] = salt.hex()
            line[form] = payload.decode() if form == "payload" else b64(payload)
        self.lines.append(line)

    def start(self):
        payload = f'{{"node":"{self.node}","key":"{b64(self.key)}","name":"n"}}'
        self.add(self.header("origin.started", "node/" + self.node), payload.encode())

    def line(self, size):
        text = f"sillok/{self.id}\n{len(self.leaves)}\n{b64(root(self.leaves))}\nhlc {self.hlc >> 16:012x}-{self.hlc & 65535:04x}\n"
        signature = self.openssl("pkeyutl", "-sign", "-rawin", text=text.encode())
        return {"type": "origin", "origin": str(self.id), "node": self.node, "key": b64(self.key), "size": size,
                "head": text, "signature": b64(signature)}

def split(n): return 1 << (n - 1).bit_length() - 1
def root(leaves):
    if len(leaves) == 1: return leaves[0]
    k = split(len(leaves))
    return sha(b"\1" + root(leaves[:k]) + root(leaves[k:]))
def consistency(m, leaves, whole=True):  # RFC 6962, 2.1.2
    if m == len(leaves): return [] if whole else [root(leaves)]
    k = split(len(leaves))
    if m <= k: return consistency(m, leaves[:k], whole) + [root(leaves[k:])]
    return consistency(m - k, leaves[k:], False) + [root(leaves[:k])]

one = Origin("1b4e28ba-2fa1-11d2-883f-0016d3cca427", bytes(range(32)))
two = Origin("6ba7b810-9dad-11d1-80b4-00c04fd430c8", bytes(range(32, 64)))
one.start()
one.add(one.header("message.posted", "u-1029"), '{\n "text": "어제부터 \\"두통\\""}'.encode())
two.start()
two.add(two.header("message.posted", "u-7", [(one, 2)]), b'{"text":"2"}')
one.add(one.header("message.posted", "u-1029", [(two, 2)]), b'{"text":"gone"}', "erased")
one.add(one.header("note", "u-1029"), b"[1,\xff]", "payload_base64")
two.add(two.header("later", "u-7", extra=field(6, b"a")), b"{}")
one.add(one.header("later", "u-1029", extra=field(6, b"a")), b"{}")
# Of the second origin two events are here, and the head of three.
order = [one.lines[0], one.lines[1], two.lines[0], two.lines[1], *one.lines[2:]]
lines = [{"type": "evidence", "v": 1, "origins": 2, "events": 7}, one.line(5), two.line(2), *order]
lines.append({"type": "proof", "origin": str(one.id), "size": 5, "proof": []})
lines.append({"type": "proof", "origin": str(two.id), "size": 2, "proof": [d.hex() for d in consistency(2, two.leaves)]})
text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines).encode()
end = {"type": "end", "v": 1, "count": 7, "origins": 2, "sha256": sha(text).hex()}
open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "evidence.ndjson"), "wb").write(
    text + json.dumps(end, separators=(",", ":")).encode() + b"\n")
