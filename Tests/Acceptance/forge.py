"""An origin that no daemon wrote, made from docs/reference/FORMATS.md and the program openssl alone: a peer may assert anything."""
import base64, hashlib, json, os, subprocess, tempfile, time, uuid


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def text(field, value):
    value = value if isinstance(value, bytes) else value.encode()
    return varint(field << 3 | 2) + varint(len(value)) + value


def digest(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def root(leaves):
    """RFC 6962, 2.1."""
    if len(leaves) == 1:
        return leaves[0]
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return digest(b"\x01", root(leaves[:half]), root(leaves[half:]))


class Origin:
    def __init__(self, name="forged"):
        self.folder = tempfile.mkdtemp(prefix="sillok-forge-")
        self.key = os.path.join(self.folder, "key.pem")
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.key], check=True, capture_output=True)
        public = subprocess.run(["openssl", "pkey", "-in", self.key, "-pubout", "-outform", "DER"], check=True, capture_output=True).stdout
        self.public, self.node = public[-32:], hashlib.sha256(public).hexdigest()
        self.id, self.events, self.leaves = uuid.uuid4(), [], []
        self.hlc = int(time.time() * 1000 - 5000) << 16
        self.add("origin.started", "node/" + self.node, {
            "node": self.node, "key": base64.b64encode(self.public).decode(), "name": name})

    def add(self, kind, user, payload, conversation=None, author=None, cause=None, actor=None, fields=b"", deps=(), id=None):
        """`fields`: further fields above 12 but the actor, in canonical bytes; those below 32 first."""
        self.hlc += 1 << 16
        id = id or uuid.uuid4()
        header = text(1, self.id.bytes) + b"\x10" + varint(len(self.events) + 1) + b"\x19" + self.hlc.to_bytes(8, "little")
        header += text(5, id.bytes) + text(6, kind)
        if conversation:
            header += text(7, conversation)
        header += text(8, user)
        if author and author != user:
            header += text(9, author)
        if cause:
            header += text(10, cause.bytes)
        for origin, seq in sorted(deps, key=lambda dot: dot[0].bytes):
            header += text(11, text(1, origin.bytes) + b"\x10" + varint(seq))
        header += (text(32, actor) if actor else b"") + fields
        salt, data = os.urandom(16), json.dumps(payload, ensure_ascii=False).encode()
        self.events.append((header, salt, data))
        self.leaves.append(digest(b"\x00", header, digest(salt, data)))
        return id

    def evidence(self):
        """FORMATS, section 8: at most 1,024 events, one piece."""
        clock = f"{self.hlc >> 16:012x}-{self.hlc & 0xffff:04x}"
        head = f"sillok/{self.id}\n{len(self.events)}\n{base64.b64encode(root(self.leaves)).decode()}\nhlc {clock}\n"
        place = os.path.join(self.folder, "head")
        with open(place, "w") as file:
            file.write(head)
        signature = subprocess.run(["openssl", "pkeyutl", "-sign", "-inkey", self.key, "-rawin", "-in", place],
                                   check=True, capture_output=True).stdout
        count = len(self.events)
        lines = [{"type": "evidence", "v": 1, "origins": 1, "events": count},
                 {"type": "origin", "origin": str(self.id), "node": self.node, "key": base64.b64encode(self.public).decode(),
                  "size": count, "head": head, "signature": base64.b64encode(signature).decode()}]
        lines += [{"type": "event", "origin": str(self.id), "seq": number + 1, "header": base64.b64encode(header).decode(),
                   "salt": salt.hex(), "payload": data.decode()} for number, (header, salt, data) in enumerate(self.events)]
        lines.append({"type": "proof", "origin": str(self.id), "size": count, "proof": []})
        body = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
        end = {"type": "end", "v": 1, "count": count, "origins": 1, "sha256": hashlib.sha256(body.encode()).hexdigest()}
        path = os.path.join(self.folder, "evidence")
        with open(path, "w") as file:
            file.write(body + json.dumps(end, separators=(",", ":")) + "\n")
        return path
