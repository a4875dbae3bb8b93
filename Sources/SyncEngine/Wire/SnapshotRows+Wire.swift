internal import EventStore

extension SnapshotRows {
    func write(to writer: inout ProtobufWriter) {
        writer.bytes.reserveCapacity(size + 128)
        writer.uint(1, after)
        writer.uint(2, UInt64(count))
        for run in runs {
            writer.message(3) { inner in
                inner.uuid(1, run.origin.bits)
                inner.uint(2, run.first)
            }
        }
        for head in heads { writer.message(4) { head.write(to: &$0) } }
        writer.data(5, names)
        writer.data(6, columns)
        writer.data(7, ids)
        writer.data(8, salts)
        writer.data(9, payloads)
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        self.init(after: 0)
        while let field = try message.next() {
            switch field.number {
            case 1: after = try message.number(field)
            case 2: count = Int(clamping: try message.number(field))
            case 3:
                try message.checkRoom(runs.count, "runs")
                runs.append(try Run(try message.nested("Run", field)))
            case 4:
                try message.checkRoom(heads.count, "heads")
                heads.append(try SignedHead(try message.nested("Head", field)))
            case 5: names = try message.slice(field)
            case 6: columns = try message.slice(field)
            case 7: ids = try message.slice(field)
            case 8: salts = try message.slice(field)
            case 9: payloads = try message.slice(field)
            default: break
            }
        }
        guard count > 0 else { throw message.missing("count") }
        guard count <= Self.limit else { throw .tooMany(message: message.name, field: "rows", limit: Self.limit) }
    }
}

extension SnapshotRows.Run {
    fileprivate init(_ message: MessageReader) throws(WireError) {
        let (origin, first) = try message.place("first")
        self.init(origin: origin, first: first)
    }
}
