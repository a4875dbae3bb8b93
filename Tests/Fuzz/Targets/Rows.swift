internal import EventStore

/// How many rows, where two origins begin, a few lengths; names and columns; then the payloads.
func fuzzRows(_ bytes: [UInt8]) throws {
    var script = Script(bytes)
    var rows = SnapshotRows(after: script.number() >> 1)
    rows.count = 1 + script.below(6)
    rows.runs = (1...2).map { number in
        SnapshotRows.Run(origin: OriginID(UUIDBits(high: 0, low: UInt64(number))), first: max(1, script.number()))
    }
    rows.salts = [UInt8](repeating: 7, count: 16 * (rows.count + script.below(4)))[...]
    rows.names = script.bytes()[...]
    rows.columns = script.bytes()[...]
    rows.ids = (0..<rows.count * 16).map { _ in script.byte() }[...]
    rows.payloads = script.remainder()[...]
    let checked: CheckedRows
    do { checked = try CheckedRows(rows, using: SHA256()) } catch { return }
    try promise(checked.list.count == rows.count, "\(checked.list.count) of \(rows.count) rows")
    let again = try CheckedRows(rows, using: SHA256())
    try promise(again.list.map(\.leaf) == checked.list.map(\.leaf), "other leaves the second time")
}
