"""Proves a store: the checks, in their order."""

from . import cosigned, evidence, marks, restored, since
from .ending import Ending
from .erasures import Erasures
from .events import Walk
from .known import Known
from .report import Report
from .store import Store


class Verifier:
    """`evidence_path`: a file with the proof of a fork, or None. `receipts`: what the log is held
    against, as `since.compare` has it."""

    def __init__(self, path, evidence_path=None, receipts=()):
        self.receipts = receipts
        self.asked = []
        if evidence_path:
            self.asked.append((evidence_path, evidence.named_evidence(evidence_path)))
        self.report = Report()
        self.store = Store(path, self.report)
        self.erasures = Erasures(self.store)

    def run(self):
        store = self.store
        if not store.is_log():
            return
        known = Known(store)
        # Before the log: what a running node commits meanwhile is no contradiction.
        witness = marks.witness_file(store)
        lists = cosigned.read_lists(store)
        store.log.execute('BEGIN')
        store.read_tables()
        marks.compare(store, known, witness)
        evidence.gather(store, known, self.asked)
        cosigned.compare(store, known, lists)
        since.compare(store, known, self.receipts)
        walk = Walk(store, known, self.erasures)
        walk.run()
        restored.compare(store, self.erasures)
        self.erasures.check_meta()
        self.erasures.check_progress(is_marked=known.marked[1] > 0)
        self.erasures.check_payloads()
        Ending(store, known, walk).check()

    def origins(self):
        """Of each origin what is reported."""
        return [
            {
                'origin': origin.name,
                'node': origin.node.hex(),
                'events': origin.tree.size,
                'proven': origin.proven,
                'root': origin.tree.root().hex(),
            }
            for origin in self.store.origins.values()
        ]
