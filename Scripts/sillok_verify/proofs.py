"""`verify.py --proof FILE`: what a receipt or a proven answer shows (FORMATS.md, sections 9 and
10)."""

import datetime
import json

from .answers import SCOPES
from .report import shown
from .values import origin_name

PROVEN, NOT_ALL = 0, 2


class Proof:
    """The answer to a file that has proven itself."""

    def __init__(self, receipt):
        self.receipt = receipt
        self.maker = receipt.maker
        self.about = self.scope()
        self.uncovered = self.events_without_head()
        self.code, self.answer = self.verdict()

    def scope(self):
        """What an answer is about, and whether a part was asked for. Nothing of a receipt."""
        answer = self.receipt.answer
        if answer is None:
            return {}
        member = next(scope.member for scope in SCOPES if scope.member in answer)
        return {member: answer[member], 'filtered': answer['filtered']}

    def events_without_head(self):
        """Section 9: a receipt covers its log where the sizes of its heads come to its position."""
        if self.receipt.answer is not None:
            return 0
        covered = sum(head.size for head in self.receipt.heads.values())
        return max(0, self.maker['position'] - covered)

    def verdict(self):
        if not self.receipt.is_signed:
            return NOT_ALL, 'not signed as a whole'
        if self.uncovered:
            return NOT_ALL, 'not all covered'
        return PROVEN, 'proven'

    def as_json(self):
        report = {
            'answer': self.answer,
            'kind': self.maker['type'],
            'node': self.maker['node'],
            'cluster': self.maker['cluster'],
            'time': self.maker['time'],
            **self.about,
        }
        if self.receipt.answer is None:
            report['uncovered'] = self.uncovered
        report['events'] = self.receipt.events.count
        report['without_payload'] = self.receipt.events.erased
        report['origins'] = [
            {
                'origin': origin_name(origin),
                'node': head.node,
                'size': head.size,
                'cosigned': [one.node for one in head.cosigned],
            }
            for origin, head in self.receipt.heads.items()
        ]
        return json.dumps(report)

    def as_lines(self):
        maker, events = self.maker, self.receipt.events
        for origin, head in self.receipt.heads.items():
            yield f'origin {origin_name(origin)}  {head.size} events, signed by node {head.node}'
            for one in head.cosigned:
                yield f'  cosigned by {one.node} at {moment(one.time)}, {one.size} events'
        is_part = self.about.get('filtered')
        for member in self.about.keys() - {'filtered'}:
            part = ': only a part of its events was asked for' if is_part else ''
            yield shown(f'of {member} {self.about[member]}{part}')
        yield (
            f'{self.answer.upper()}  {maker["type"]} of node {maker["node"]} at {maker["time"]}:'
            f' {events.count} events, {events.erased} without payload'
        )
        if self.uncovered:
            yield (
                f'{self.uncovered} of the {maker["position"]} events of its log are covered by no'
                ' signed head: where the node runs it signs them within a second;'
                ' make another one then'
            )
        if not self.receipt.is_signed:
            yield (
                'not signed as a whole: no one says that nothing was taken out of the file;'
                ' ask for one that is made by a user who may read node.key, or by the daemon'
            )
        if self.about and is_part:
            yield 'not shown: the rest of them, which was not asked for'
        elif self.about and self.receipt.is_signed:
            yield 'not shown: that there are no others; the node states it'


def moment(seconds):
    time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return time.strftime('%Y-%m-%dT%H:%M:%SZ')
