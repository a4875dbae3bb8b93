"""Origins, events, heads and proofs of FORMATS.md §2: what a node writes that keeps to the rules, or bends them."""
import base64
import hashlib
import hmac
import os
import sys
import time
import uuid

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import wire

sys.dont_write_bytecode = True
sys.path.insert(0, str(wire.ROOT / 'Scripts'))
from sillok_verify.heads import head_text, node_id  # noqa: E402,F401
from sillok_verify.report import Report  # noqa: E402
from sillok_verify.signatures import is_signed  # noqa: E402,F401
from sillok_verify.store import Store  # noqa: E402
from sillok_verify.trees import Tree, is_consistent, leaf_hash, node_hash, sha256, split  # noqa: E402,F401


def tables(folder):
    """A store with its tables as Scripts/verify.py reads them."""
    store = Store(str(folder), Report())
    store.is_log()
    store.read_tables()
    return store


class Identity:
    def __init__(self, seed=None):
        self.private = Ed25519PrivateKey.from_private_bytes(seed or os.urandom(32))
        self.key = self.private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        self.node = node_id(self.key)
        self.incarnation = int.from_bytes(os.urandom(8), 'big')
        self.run = int.from_bytes(os.urandom(8), 'big') | 1


def header(**values):
    return wire.encode('EventHeader', values)


def digest_of(event):
    return event.get('payload_digest') or sha256(event['salt'], event['payload'])


def leaf(event):
    return leaf_hash(event['header'], digest_of(event))


def root_over(leaves):
    tree = Tree()
    for one in leaves:
        tree.add(one)
    return tree.root()


def short(root):
    """As in VectorEntry: the first 8 bytes, big-endian."""
    return int.from_bytes(root[:8], 'big')


def audit_path(index, leaves):
    """RFC 6962, 2.1.1"""
    if len(leaves) == 1:
        return []
    k = split(len(leaves))
    if index < k:
        return audit_path(index, leaves[:k]) + [root_over(leaves[k:])]
    return audit_path(index - k, leaves[k:]) + [root_over(leaves[:k])]


def consistency(first, leaves, whole=True):
    """RFC 6962, 2.1.2"""
    if first == len(leaves):
        return [] if whole else [root_over(leaves)]
    k = split(len(leaves))
    if first <= k:
        return consistency(first, leaves[:k], whole) + [root_over(leaves[k:])]
    return consistency(first - k, leaves[k:], False) + [root_over(leaves[:k])]


def follows(first, second, root, later, proof):
    """Whether a consistency proof leads from one root to the other."""
    return is_consistent(first, second, root, later, proof)


class Origin:
    """One writer's sequence. `start` False leaves its first event out."""

    def __init__(self, identity, name='python', start=True, origin=None, stamp=None):
        self.identity, self.id, self.events, self.leaves = identity, origin or uuid.uuid4().bytes, [], []
        self.hlc = stamp or int(time.time() * 1000) << 16
        if start:
            self.append('origin.started', 'node/' + identity.node.hex(),
                        b'{"node":"%s","key":"%s","name":"%s"}' % (identity.node.hex().encode(), base64.b64encode(identity.key),
                                                                   name.encode()))

    def append(self, type, user, payload, **more):
        """Fields of EventHeader in `more` replace or add to what belongs there."""
        self.hlc += 1
        values = {'origin': self.id, 'seq': len(self.events) + 1, 'hlc': self.hlc, 'id': uuid.uuid4().bytes, 'type': type,
                  'user': user, **more}
        return self.push(header(**values), payload)

    def push(self, header, payload):
        event = {'header': header, 'salt': os.urandom(16), 'payload': payload}
        self.events.append(event)
        self.leaves.append(leaf(event))
        return event

    def say(self, user, text='hello', **more):
        return self.append('message.posted', user, ('{"text":"%s"}' % text).encode(), conversation='c-py', **more)

    def root(self, size=None):
        return root_over(self.leaves[:size])

    def head(self, size=None, root=None, hlc=None, key=None):
        size = len(self.events) if size is None else size
        if hlc is None:
            hlc = wire.decode('EventHeader', self.events[min(size, len(self.events)) - 1]['header'])['hlc']
        root = root or self.root(size)
        signature = (key or self.identity.private).sign(head_text(self.id, size, root, hlc))
        return {'origin': self.id, 'size': size, 'root': root, 'hlc': hlc, 'signature': signature}

    def entry(self, seq=None):
        seq = len(self.events) if seq is None else seq
        return {'origin': self.id, 'seq': seq, 'root': short(self.root(seq))}

    def batch(self, first=1, last=None, head=None):
        """An Events message: those from `first` to `last`, with the head of all."""
        last = len(self.events) if last is None else last
        proof = consistency(last, self.leaves)
        return {'events': self.events[first - 1:last], 'coverage': [{'head': head or self.head(), 'proof': proof}]}

    def branch(self, seq, size=None):
        """A ForkBranch."""
        size = size or len(self.events)
        event = self.events[seq - 1]
        return {'head': self.head(size), 'header': event['header'], 'payload_digest': digest_of(event),
                'proof': audit_path(seq - 1, self.leaves[:size])}


def join_proof(token, exported, host, guest):
    return hmac.new(token, b'sillok join v1\n' + exported + host + guest, hashlib.sha256).digest()
