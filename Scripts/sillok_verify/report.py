"""What is found, and how it is said."""

import typing


class Finding(typing.NamedTuple):
    """A contradiction: the check that has found it, and where in the log, if that is known."""

    check: str
    position: typing.Optional[int]
    what: str


class Report:
    """Findings contradict. Doubts do not, but nothing is proven with them. Notes say what else an
    auditor should know; doubts stand among them."""

    def __init__(self):
        self.findings = []
        self.notes = []
        self.has_doubts = False

    def finds(self, check, what, position=None):
        self.findings.append(Finding(check, position, what))

    def doubts(self, what):
        self.notes.append(what)
        self.has_doubts = True

    def remarks(self, what):
        self.notes.append(what)

    def sorted_findings(self):
        """By position, those without one last."""
        return sorted(
            self.findings, key=lambda finding: (finding.position is None, finding.position)
        )


def shown(what):
    """A text for a terminal: nothing of a file moves its cursor."""
    return ''.join(mark if mark.isprintable() else '?' for mark in str(what))


def places(positions):
    """How many positions, and the first nine."""
    listed = ', '.join(map(str, positions[:9]))
    return f'{len(positions)}, at position {listed}' + (', …' if len(positions) > 9 else '')
