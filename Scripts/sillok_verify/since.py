"""A log held against receipts (FORMATS.md, section 9, "Held against a log")."""

from .heads import node_id
from .values import TEXT, kind_of, origin_name

LAST_POSITION = 'SELECT coalesce(max(position), 0) FROM event'
LAST_SEQ = 'SELECT coalesce(max(seq), 0) FROM event WHERE origin = ?'


def compare(store, known, receipts):
    """`receipts`: the path of each, and what was read of it."""
    for path, receipt in receipts:
        Comparison(store, known, path, receipt).run()


class Comparison:
    """A log that was changed is held against a receipt, too: whose its origins are, their keys
    say."""

    def __init__(self, store, known, path, receipt):
        self.store = store
        self.report = store.report
        self.known = known
        self.path = path
        self.receipt = receipt
        own = store.own_origin()
        self.own_key = own.key if own else b''
        self.is_own = receipt.key == self.own_key
        # Origins that have another key here.
        self.strange = {
            origin
            for origin, head in receipt.heads.items()
            if store.keys.get(origin, head.key) != head.key
        }

    def run(self):
        self.compare_cluster()
        for origin in sorted(self.strange):
            here = node_id(self.store.keys[origin]).hex()
            there = self.receipt.heads[origin].node
            self.report.finds(
                'cut',
                f'origin {origin_name(origin)} has the key of node {here:.12} here;'
                f' {self.path} has a head of it that node {there:.12} has signed',
            )
        if not self.is_own:
            node = self.receipt.maker['node']
            self.report.remarks(f'{self.path} is a receipt of another node, {node:.12}')
        if self.receipt.is_signed:
            self.compare_ends()
        for origin, head in self.receipt.heads.items():
            if origin not in self.strange:
                self.expect(origin, head)

    def compare_cluster(self):
        """A receipt of another cluster that shares nothing with this store says nothing of it."""
        theirs = self.receipt.maker['cluster']
        ours = self.store.meta.get(b'cluster')
        if theirs.encode() == ours:
            return
        keys = self.store.keys
        is_shared = self.receipt.key in keys.values() or keys.keys() & self.receipt.heads.keys()
        if keys and not is_shared:
            raise OSError(f'{self.path} is a receipt of another cluster, {theirs}')
        if self.receipt.is_signed and kind_of(ours) == TEXT:
            self.report.finds(
                'cut',
                f'table meta names cluster {ours.decode(errors="replace")};'
                f' {self.path} was made in cluster {theirs}',
            )

    def compare_ends(self):
        """A receipt that its maker has signed as a whole says where the log ended. That of its own
        node only grows; another need not have all yet."""
        (top,) = self.store.log.execute(LAST_POSITION).fetchone()
        then = self.receipt.maker['position']
        if self.is_own and top < then:
            self.report.finds(
                'cut', f'the log ends at position {top}; {self.path} was made at position {then}'
            )
        refs = {origin.id: ref for ref, origin in self.store.origins.items()}
        for origin, head in self.receipt.heads.items():
            (seq,) = self.store.log.execute(LAST_SEQ, (refs.get(origin),)).fetchone()
            if seq < head.events:
                self.tells(
                    f'origin {origin_name(origin)} ends at seq {seq};'
                    f' {self.path} counts {head.events} events of it',
                    is_finding=self.is_own,
                )

    def expect(self, origin, head):
        """What the node has signed binds it, whoever made the receipt: a head, or the whole."""
        is_bound = head.key == self.own_key or self.is_own and self.receipt.is_signed
        name = self.path
        if not is_bound:
            name += " (not this node's word)"
            self.known.elsewhere.add(name)
        if origin not in self.store.keys:
            self.tells(
                f'{self.path} knows {head.size} events of origin {origin_name(origin)},'
                ' of which none is here',
                is_finding=is_bound,
            )
            return
        self.known.expects(name, origin, head.size, head.root)
        for cosigned in head.cosigned:
            self.known.expects(name, origin, cosigned.size, cosigned.root)

    def tells(self, what, is_finding):
        if is_finding:
            self.report.finds('cut', what)
        else:
            self.report.doubts(what)
