"""What is left when the walk has come to the end: what speaks of events that are not here, what was
lost (FORMATS.md, section 3, "A cut WAL"), and what has been settled (section 5)."""

import datetime

from .known import REACH, WITNESS_OF_ORIGINAL
from .report import places
from .values import BLOB_OF_16, kind_of, origin_name

MOST_LISTED = 9
MOST_LOSSES = 20
WRONG_TWINS = (
    'SELECT position FROM event AS later WHERE twin IS NOT NULL AND (twin >= position'
    ' OR twin IS NOT (SELECT position FROM event WHERE id = later.id AND twin IS NULL))'
)


class Ending:
    def __init__(self, store, known, walk):
        self.store = store
        self.report = store.report
        self.known = known
        self.walk = walk

    def check(self):
        self.check_heads_elsewhere()
        self.check_rows_left()
        self.check_signed_beyond()
        unread = self.walk.forms.unread
        if unread:
            self.report.doubts(
                f'kept as what could not be read, and can be read: {places(unread)}:'
                ' no start has looked through the log'
            )
        self.check_end()
        self.check_evidence()
        self.check_losses()
        self.walk.erasures.check_erased()
        self.check_witness_of_original()
        for (position,) in self.store.log.execute(WRONG_TWINS):
            self.report.finds('twins', 'wrongly marked as a twin', position)

    def last_seq(self, ref):
        origin = self.store.origins.get(ref)
        return origin.seq if origin else 0

    # --- Of events that are not here --------------------------------------------------------------

    def must_be_here(self, place):
        """Whether a head that was not found must be here. What other nodes have may come yet."""
        if not place[1]:
            return False
        return any(
            name not in self.known.cut_files
            and name not in (WITNESS_OF_ORIGINAL, REACH)
            and name not in self.known.elsewhere
            for name, _ in self.known.heads[place]
        )

    def check_heads_elsewhere(self):
        for place, heads in sorted(self.known.heads.items()):
            is_elsewhere = any(name in self.known.elsewhere for name, _ in heads)
            if is_elsewhere and not self.must_be_here(place):
                ref, size = place
                self.report.doubts(
                    f'{self.store.label(ref)} ends at seq {self.last_seq(ref)},'
                    f' and {heads[0][0]} knows {size}'
                )

    def check_rows_left(self):
        """The walk has taken away all that it has found events for."""
        for place in sorted(self.store.heads)[:MOST_LISTED]:
            self.finds_cut('head or reach', place)
        for place in sorted(self.store.nodes)[:MOST_LISTED]:
            self.finds_cut('node', place)
        missing = sorted(filter(self.must_be_here, self.known.heads))
        for place in missing[:MOST_LISTED]:
            names = sorted({name for name, _ in self.known.heads[place]})
            who = f', which {", ".join(names)} knows,'
            self.finds_cut('a head known beside the log', place, who)
        for position in sorted(self.store.tiles)[:MOST_LISTED]:
            self.report.finds('tree', 'a tile stands where no 256 events end', position)

    def finds_cut(self, table, place, who=''):
        ref = place[0]
        self.report.finds(
            'cut',
            f'{self.store.label(ref)}: {table} {place[1:]}{who} is of events the log does not have,'
            f' which ends at seq {self.last_seq(ref)}',
        )

    def check_signed_beyond(self):
        """Section 3, `reach`: a node has signed more events than are here."""
        for _, origin in sorted(self.store.origins.items()):
            if origin.signed <= max(origin.seq, 0):
                continue
            what = (
                f'{origin.name}: its node has signed {origin.signed} events,'
                f' of which {origin.seq} are here'
            )
            is_lost = origin.name.encode() in self.known.lost_origins
            if is_lost or origin.id in self.known.forks:
                self.report.remarks(what)
            else:
                self.report.doubts(what)

    # --- The end of the log -----------------------------------------------------------------------

    def check_end(self):
        store, report, known = self.store, self.report, self.known
        if store.events < known.position:
            report.finds(
                'cut',
                f'the log ends at position {store.events}, and the node left it at'
                f' {known.position}{self.shortage()}',
            )
        ref, size = known.marked
        marked = store.origins.get(ref)
        if (marked.proven if marked else 0) < size:
            report.finds('heads', f'the head of {size} events, which mark.json knows, is missing')
        if any(origin.seq == 0 for origin in store.origins.values()):
            report.finds('origins', 'an origin has no events')
        own = store.own_origin()
        is_covered = own is None or own.proven >= own.seq
        # The node alone can check a seal.
        if not is_covered and store.version > 1 and kind_of(self.walk.seal) != BLOB_OF_16:
            report.finds('seals', 'its own newest events have neither head nor seal')

    def shortage(self):
        """What `log.end` counts, and is not here."""
        if not self.known.size_at_end:
            return ''
        origin, size = self.known.size_at_end
        seq = self.last_seq(self.store.ref_of(origin))
        if seq >= size:
            return ''
        return f': {origin_name(origin)} ends at seq {seq} of {size}'

    def check_witness_of_original(self):
        witness = self.known.witness_of_original
        if witness and WITNESS_OF_ORIGINAL not in self.known.reached:
            self.report.doubts(
                'this is a copy of a store, and the witness of that knows more,'
                f' or another history: {witness["size"]} events of origin {witness["origin"]}'
            )

    # --- What was lost ----------------------------------------------------------------------------

    def sizes(self):
        """How many events of each origin are here."""
        return {origin.name.encode(): origin.seq for origin in self.store.origins.values()}

    def check_losses(self):
        """What an origin's start says is lost, until it is back, or the own node has settled it."""
        sizes = self.sizes()
        lost = [loss for loss in self.known.losses if sizes.get(loss.origin, 0) < loss.known]
        for loss in lost[:MOST_LOSSES]:
            what = (
                f'origin {loss.origin.decode()} ends at seq {sizes.get(loss.origin, 0)},'
                f' and has had {loss.known}: {loss.what}'
            )
            is_settled = (b'AMNESIA', loss.origin) in self.known.settled
            if loss.is_own and not is_settled:
                self.report.doubts(what)
            else:
                self.report.remarks(what)

    def check_evidence(self):
        """Evidence of a cut counts until what was lost is back, by the file and by the origin's
        start, or the own node has settled it since."""
        named = {evidence.name for evidence in self.known.named_evidence}
        for name in sorted(self.known.cut_files.keys() | named):
            self.check_named(name)

    def check_named(self, name):
        file = self.known.cut_files.get(name)
        sizes = self.sizes()
        open_since = [
            evidence.at
            for evidence in self.known.named_evidence
            if evidence.name == name and not evidence.is_back(sizes)
        ]
        if not open_since and self.is_back(name, file):
            return
        what = f'{name}: what was found when the log was opened, in evidence/, is missing'
        if file:
            what = f'{name}: {file.text}'
        if self.is_settled(name, file.at if file else open_since[0]):
            self.report.remarks('settled: ' + what)
        elif name.startswith('cut-'):
            self.report.finds('cut', what)
        else:
            self.report.doubts(what)

    def is_back(self, name, file):
        if not file:
            return True
        return name in self.known.reached and self.store.events >= file.position

    def is_settled(self, name, at):
        """Section 5: not before the evidence, or with its very time as `of`."""
        code = b'LOG_CUT' if name.startswith('cut-') else b'WITNESS_LOST'
        settlements = self.known.settled.get((code, name.encode()), ())
        return any(time >= at or of == rfc3339(at) for time, of in settlements)


def rfc3339(milliseconds):
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=milliseconds)
    return moment.isoformat('T', 'milliseconds').encode() + b'Z'
