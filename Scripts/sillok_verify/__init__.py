"""The verifier of Sillok stores, receipts and proofs, for auditors. `verify.py` is its command.

Written from FORMATS.md alone, and without any of Sillok's code; "section" means one of that page.
Begin with `verifier`, which has all checks of a store in their order, and `events`, which has what
each event is held to. A module uses only those above it:

    values      the one form of numbers, base64 and UUIDs; kinds of values in columns
    signatures  Ed25519 (section 2)
    trees       hashes and trees, RFC 6962 (section 2)
    payloads    JSON objects (section 2)
    headers     canonical headers, and what cannot be read (section 2)
    heads       node ids and heads (sections 1 and 2)
    lines       lines of NDJSON (sections 9 to 11)
    notes       signed notes and cosignatures (sections 2 and 9)
    report      findings, doubts and notes
    files       files and databases, opened to be read alone (section 1)
    answers     the events of proven answers (section 10)
    receipts    receipts and proven answers as a whole (sections 9 and 10)
    proofs      what is said of them: `verify.py --proof`

    rows        rows of table `event` (section 3)
    schema      the statements of a log (section 3)
    store       the folder and its tables (sections 1 and 3)
    known       what is known of a log beside its events
    marks       mark, `log.end` and witness (section 1)
    evidence    proofs of forks, and of cuts (sections 1 to 3)
    cosigned    `cosigned.db` (section 9)
    since       a log held against receipts (section 9)
    erasures    what may be without payload, and what must be (section 2)
    restored    `erasures.ndjson` (section 11)
    forms       the one form of an event (sections 2 and 3)
    starts      the first event of an origin (section 2)
    events      the walk over the log (sections 2 and 3)
    ending      what is left at its end: what was lost, what is settled (sections 3 and 5)
    verifier    all checks of a store, in their order
"""
