/// Which events a row of a view is made of: what an auditor looks at where the row is another one than the log says.
extension ComparedTable {
    /// Events that are named for one row.
    static let mostEvents = 10

    /// Positions of the events behind rows of one key, ascending. A row says of itself from which event it is; of one that only counts, the last events
    /// that it counts are looked for.
    func events(
        behind rows: [ComparedRow], _ field: String?, _ expected: Connection, _ names: ViewNames
    ) throws(DatabaseError) -> [UInt64] {
        var positions: Set<UInt64> = []
        for row in rows {
            for (column, cell) in zip(key + values, row.key + row.values) {
                guard Self.tells(column, field) else { continue }
                if let position = Self.position(column, cell, names), names.has(position) {
                    positions.insert(position)
                }
            }
        }
        if positions.isEmpty, let row = rows.first {
            positions = Set(try counted(row, expected, names)).filter(names.has)
        }
        return positions.sorted().suffix(Self.mostEvents).map { $0 }
    }

    /// Whether a column says from which event a value is: the key's, the row's, or the value's own.
    private static func tells(_ column: Field, _ field: String?) -> Bool {
        guard column.kind == .stamp || column.name == "position" else { return false }
        guard let field, column.name.hasSuffix("_stamp") else { return true }
        return column.name == field || column.name == field + "_stamp"
    }

    private static func position(_ column: Field, _ cell: Cell, _ names: ViewNames) -> UInt64? {
        switch (column.kind, cell) {
        case (.stamp, .blob(let bytes)): Stamp(bytes).flatMap { names.position($0.key.dot) }
        case (_, .integer(let position)): UInt64(exactly: position)
        default: nil
        }
    }

    /// Positions of the last events that a row counts.
    private func counted(
        _ row: ComparedRow, _ expected: Connection, _ names: ViewNames
    ) throws(DatabaseError) -> [UInt64] {
        let limit = Self.mostEvents
        switch (view, row.key.first) {
        case (SurveysView.name, .text(let survey)?):
            guard row.key.count == 3, case .text(let question) = row.key[1], case .text(let value) = row.key[2] else {
                return []
            }
            let select = try expected.statement(
                """
                SELECT position FROM survey_answer WHERE survey = ? AND question = ? AND value = ?
                ORDER BY time DESC, hlc DESC LIMIT ?
                """)
            defer { select.reset() }
            for (index, text) in [survey, question, value].enumerated() { try select.bind(index + 1, text: text) }
            try select.bind(4, Int64(limit))
            var positions: [UInt64] = []
            while try select.step() { positions.append(select.uint64(0)) }
            return positions
        case (ConversationsView.name, .integer(let owner)?), (ParticipantsView.name, .integer(let owner)?),
            (RoomsView.name, .integer(let owner)?):
            // Rooms of their own are of a history; all else is of a conversation.
            let isHistory = key.first?.name == "user"
            var rows = OwnerRows(isHistory ? .history : .timeline, Memtables(), owner: owner)
            var range = RowRange.all(of: owner, isBackward: true)
            range.most = 100_000
            if isHistory, case .integer(let room)? = row.key.last {
                range.condition = { $0.room == room }
            } else if view == ParticipantsView.name, case .text(let name)? = row.key.dropFirst().first {
                let speaker = names.ref(name)
                range.condition = { $0.speaker != nil && $0.speaker == speaker }
            }
            return try rows.rows(in: range, limit: limit, expected).rows.map(\.position)
        default: return []
        }
    }
}
