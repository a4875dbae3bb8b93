/// Comma-separated rows as RFC 4180 has them: quoted fields, doubled quotes, CRLF or LF.
struct CSVRows {
    private enum State {
        case plain
        case quoted
        case quoteInQuoted
    }

    /// All rows, the header included; nil when a quoted field is never closed.
    static func parse(_ bytes: some Sequence<UInt8>) -> [[String]]? {
        var rows: [[String]] = []
        var row: [String] = []
        var field: [UInt8] = []
        var state = State.plain
        func endField() {
            row.append(String(decoding: field, as: UTF8.self))
            field.removeAll(keepingCapacity: true)
        }
        func endRow() {
            endField()
            rows.append(row)
            row.removeAll(keepingCapacity: true)
        }
        for byte in bytes {
            switch (state, byte) {
            case (.quoted, UInt8(ascii: "\"")): state = .quoteInQuoted
            case (.quoted, _): field.append(byte)
            case (.quoteInQuoted, UInt8(ascii: "\"")):
                field.append(byte)
                state = .quoted
            case (.plain, UInt8(ascii: "\"")) where field.isEmpty: state = .quoted
            case (_, UInt8(ascii: ",")):
                endField()
                state = .plain
            case (_, UInt8(ascii: "\n")):
                if field.last == UInt8(ascii: "\r") { field.removeLast() }
                endRow()
                state = .plain
            default:
                field.append(byte)
                state = .plain
            }
        }
        guard state != .quoted else { return nil }
        if !field.isEmpty || !row.isEmpty { endRow() }
        return rows
    }
}
