"""Hashes and trees (FORMATS.md, section 2, "Leaf" and "Tree"): RFC 6962, section 2.1."""

import hashlib


def sha256(*parts):
    return hashlib.sha256(b''.join(parts)).digest()


def leaf_hash(header, payload_digest):
    return sha256(b'\x00', header, payload_digest)


def node_hash(left, right):
    return sha256(b'\x01', left, right)


def split(size):
    """The k of RFC 6962: the largest power of two that is smaller than `size`."""
    return 1 << (size - 1).bit_length() - 1


class Tree:
    """A tree that grows leaf by leaf. It keeps the roots of its perfect subtrees alone."""

    def __init__(self):
        self.size = 0
        self.stack = []  # the roots, that of the largest subtree first
        self.tile = []  # the last roots of level 4, for table `tile` (section 3)

    def add(self, leaf):
        """Adds a leaf. Of each subtree that it completes: level, number from 0, and root."""
        self.size += 1
        self.stack.append(leaf)
        completed = []
        level = 1
        while self.size >> level << level == self.size:
            right = self.stack.pop()
            self.stack[-1] = node_hash(self.stack[-1], right)
            completed.append((level, (self.size >> level) - 1, self.stack[-1]))
            level += 1
        return completed

    def root(self):
        if not self.stack:
            return sha256()
        root = self.stack[-1]
        for left in reversed(self.stack[:-1]):
            root = node_hash(left, root)
        return root


def is_included(leaf, index, size, path, root):
    """Whether an audit path (RFC 6962, 2.1.1) leads from a leaf to the root of a tree."""
    rest = list(path)
    try:
        return root_by_audit_path(leaf, index, size, rest) == root and not rest
    except IndexError:  # the path is too short
        return False


def root_by_audit_path(leaf, index, size, path):
    """The root that an audit path leads to. Takes what it uses away from the end of `path`."""
    if size == 1:
        return leaf
    sibling = path.pop()
    k = split(size)
    if index < k:
        return node_hash(root_by_audit_path(leaf, index, k, path), sibling)
    return node_hash(sibling, root_by_audit_path(leaf, index - k, size - k, path))


def is_consistent(first, second, first_root, second_root, path):
    """Whether a consistency proof (RFC 6962, 2.1.2) shows that the tree of `first` leaves is the
    beginning of that of `second`."""
    rest = list(path)
    try:
        roots = roots_by_consistency_proof(first, second, first_root, rest)
        return roots == (first_root, second_root) and not rest
    except IndexError:  # the proof is too short
        return False


def roots_by_consistency_proof(first, second, first_root, path, is_whole=True):
    """Both roots that a consistency proof leads to. Takes what it uses away from the end of `path`.

    `is_whole` is the b of the RFC: the smaller tree stands whole in this subtree, so its root is
    known, and is no part of the proof.
    """
    if first == second:
        root = first_root if is_whole else path.pop()
        return root, root
    sibling = path.pop()
    k = split(second)
    if first <= k:
        old, new = roots_by_consistency_proof(first, k, first_root, path, is_whole)
        return old, node_hash(new, sibling)
    old, new = roots_by_consistency_proof(first - k, second - k, first_root, path, False)
    return node_hash(sibling, old), node_hash(sibling, new)
