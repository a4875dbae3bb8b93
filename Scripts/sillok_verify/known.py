"""What is known of a log beside its events: by the node's own files, by peers, by who asks. Several
modules gather it; the walk over the events and what follows that hold the log against it."""

import typing

# Names of who knows a head, where it is neither a file nor a node.
MARK = 'mark.json'
WITNESS = 'its witness'
WITNESS_OF_ORIGINAL = 'the witness of its original'
REACH = 'table reach'


class Loss(typing.NamedTuple):
    """What an origin's start says of the origin before it (section 2)."""

    is_own: bool
    origin: bytes  # its text
    known: int  # how many events it has had
    what: str


class NamedEvidence(typing.NamedTuple):
    """Evidence that an own origin's start, or the witness, names (sections 1 and 3)."""

    name: str
    at: int  # Unix milliseconds
    origin: typing.Optional[bytes] = None  # the previous one, its text
    had: int = 0
    known: int = 0

    def is_back(self, sizes):
        """Whether as many events of the previous origin are here again as were known."""
        return self.had < self.known <= sizes.get(self.origin, 0)


class CutFile(typing.NamedTuple):
    """A file of evidence that a log was cut, or that a witness was lost (section 1)."""

    text: str
    at: int
    position: int


class Known:
    def __init__(self, store):
        self.store = store
        # Heads: by ref and size who knows it, and the root.
        self.heads = {}
        # Names that know the log of another node, which this one need not have reached yet.
        self.elsewhere = set()
        # Names of which at least one head was found in the log.
        self.reached = set()
        # Origins of which two signed histories are proven.
        self.forks = set()
        # Section 1: mark, log.end, witness.
        self.position = 0  # how far the log went
        self.size_at_end = None  # origin and size that log.end counts
        self.marked = (0, 0)  # ref and size of the mark's head
        self.is_running = False
        self.witness_of_original = None
        # Section 3, "A cut WAL".
        self.cut_files = {}
        self.named_evidence = []
        self.losses = []
        self.lost_origins = set()
        # Section 5, `finding.settled`: by code and subject the time and `of` of each.
        self.settled = {}

    def expects(self, name, origin, size, root):
        """Someone knows a head: the log must have the same root at that size."""
        place = self.store.ref_of(origin), size
        self.heads.setdefault(place, []).append((name, root))
        return place
