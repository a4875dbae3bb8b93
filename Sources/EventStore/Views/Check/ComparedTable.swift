/// A part of the views as it is compared: rows in the order of their keys.
struct ComparedTable {
    /// A column, and how people read it.
    struct Field {
        enum Kind { case plain, name, stamp, uuid, position, word, time, hlc }

        let name: String
        let kind: Kind

        init(_ name: String, _ kind: Kind = .plain) { (self.name, self.kind) = (name, kind) }
    }

    let view: String
    let key: [Field]
    let values: [Field]
    let rows: (Connection, ViewNames) throws(DatabaseError) -> ComparedRows

    /// All of them, but for what only says where rows stand.
    static var all: [ComparedTable] {
        [
            ordered(.timeline, "conversation"),
            ordered(.history, "user"),
            ComparedTable(
                view: ConversationsView.name, key: [Field("conversation", .name)], values: conversationFields,
                rows: { connection, _ throws(DatabaseError) in try .conversations(connection) }),
            plain(
                ParticipantsView.name, "member", [Field("conversation", .name), Field("user")],
                [Field("joined"), Field("stamp", .stamp)]),
            ComparedTable(
                view: ParticipantsView.name, key: [Field("conversation", .name), Field("speaker")],
                values: [Field("messages")],
                rows: { connection, names throws(DatabaseError) in try .speakers(connection, names) }),
            ComparedTable(
                view: ParticipantsView.name, key: [Field("conversation", .name)], values: [Field("people")],
                rows: { connection, names throws(DatabaseError) in try .people(connection, names) }),
            plain(
                ProfilesView.name, "profile", [Field("user", .name), Field("field"), Field("stamp", .stamp)],
                [Field("value"), Field("author", .name), Field("maximal"), Field("position")]),
            plain(ProfilesView.name, UserNames.table, [Field("folded"), Field("user")], []),
            plain(
                SurveysView.name, "survey_count", [Field("survey"), Field("question"), Field("value")],
                [Field("count")]),
            plain(
                SurveysView.name, "survey_answer",
                [
                    Field("survey"), Field("question"), Field("time", .time), Field("hlc", .hlc),
                    Field("position", .position), Field("value"),
                ], [Field("user", .name)]),
            plain(
                MessagesView.name, "amendment", [Field("message", .uuid), Field("stamp", .stamp)],
                [Field("author", .name), Field("conversation", .name), Field("edit"), Field("position")]),
            ComparedTable(
                view: SearchView.name, key: [Field("word", .word)], values: [Field("times"), Field("places")],
                rows: { connection, _ throws(DatabaseError) in try .words(connection) }),
            plain(SearchView.name, SearchZones.table, [Field("zone")], [Field("newest"), Field("oldest")]),
            ComparedTable(
                view: SearchView.name, key: [Field("position", .position)], values: [Field("length")],
                rows: { connection, _ throws(DatabaseError) in try .lengths(connection) }),
            ComparedTable(
                view: SearchView.name, key: [Field("setting")], values: [Field("value")],
                rows: { connection, _ throws(DatabaseError) in try .settings(connection) }),
            plain(
                CausesView.name, "effect",
                [Field("cause", .uuid), Field("time", .time), Field("hlc", .hlc), Field("position", .position)], []),
            plain(
                RoomsView.name, "room", [Field("conversation", .name)],
                [Field("hour"), Field("occupants")]),
            plain(
                RoomsView.name, "occupant", [Field("conversation", .name), Field("user")],
                [
                    Field("words"), Field("place"), Field("read", .uuid), Field("read_stamp", .stamp),
                    Field("hidden"),
                    Field("hidden_stamp", .stamp),
                ]),
            ComparedTable(
                view: RoomsView.name, key: [Field("user", .name), Field("room", .name)], values: [Field("hour")],
                rows: { connection, _ throws(DatabaseError) in try .ownRooms(connection) }),
            plain(
                ContactsView.name, "contact", [Field("user", .name), Field("contact"), Field("stamp", .stamp)],
                [Field("added"), Field("name"), Field("phone"), Field("source")]),
            plain(
                ContactsView.name, ContactsView.clocks, [Field("origin", .uuid), Field("other", .uuid)],
                [Field("seq")]),
            plain(
                RecentSearchesView.name, "recent_search", [Field("user", .name), Field("query"), Field("scope")],
                [Field("stamp", .stamp)]),
            plain(
                RecentSearchesView.name, "forgotten_search", [Field("user", .name), Field("query"), Field("scope")],
                [Field("stamp", .stamp)]),
            plain(
                AttachmentsView.name, "attachment",
                [Field("sha256"), Field("time", .time), Field("hlc", .hlc), Field("position", .position)],
                [
                    Field("user", .name), Field("author", .name), Field("conversation", .name), Field("bytes"),
                    Field("media"),
                ]),
            plain("versions", "view", [Field("name")], [Field("version"), Field("position")]),
            plain("digests", "digest", [Field("view")], [Field("rows"), Field("sum")]),
            plain("quarantine", "quarantine", [Field("position", .position), Field("view")], [Field("reason")]),
            plain("clocks", OriginClocks.table, [Field("origin", .uuid), Field("other", .uuid)], [Field("seq")]),
        ]
    }

    private static let conversationFields = [
        Field("events"), Field("messages"), Field("title"), Field("title_stamp", .stamp), Field("category"),
        Field("category_stamp", .stamp), Field("starter", .name), Field("moderators"), Field("opening_stamp", .stamp),
        Field("first_time", .time), Field("first_hlc", .hlc), Field("last_time", .time), Field("last_hlc", .hlc),
        Field("recent"),
    ]

    private static func plain(_ view: String, _ table: String, _ key: [Field], _ values: [Field]) -> ComparedTable {
        let columns = (key + values).map(\.name).joined(separator: ", ")
        let order = key.map(\.name).joined(separator: ", ")
        let sql = "SELECT \(columns) FROM \(table) ORDER BY \(order)"
        return ComparedTable(
            view: view, key: key, values: values,
            rows: { connection, _ throws(DatabaseError) in
                try .query(sql, connection, key: key.count, values: values.count)
            })
    }

    private static func ordered(_ table: SortedTable, _ owner: String) -> ComparedTable {
        ComparedTable(
            view: table.name,
            key: [Field(owner, .name), Field("time", .time), Field("hlc", .hlc), Field("position", .position)],
            values: [
                Field("type", .name), Field("author", .name), Field("context", .name), Field("message"),
                Field("counts"), Field("hidden"),
            ], rows: { connection, _ throws(DatabaseError) in try .ordered(table, connection) })
    }

    /// Compares what `found` has with what `expected` has, as of their open transactions.
    func compare(
        _ found: Connection, _ expected: Connection, _ names: ViewNames, _ report: inout ViewsReport
    ) throws(DatabaseError) {
        let (left, right) = (try rows(found, names), try rows(expected, names))
        var (mine, theirs) = (try left.next(), try right.next())
        var last: ComparedRow?
        func add(_ row: ComparedRow, _ other: ComparedRow?, _ difference: (String?, String?, String?))
            throws(DatabaseError)
        {
            var told = ViewDifference(
                view: view, row: words(row, names), field: difference.0, found: difference.1, expected: difference.2)
            if report.hasRoom {
                told.events = try self.events(behind: [row, other].compactMap { $0 }, difference.0, expected, names)
            }
            report.add(told)
        }
        while mine != nil || theirs != nil {
            report.rows += 1
            if let row = mine, let before = last, !(before < row) {
                try add(row, nil, (nil, "it stands out of order", nil))
                (last, mine) = (row, try left.next())
            } else if let row = mine, theirs.map({ row < $0 }) ?? true {
                try add(row, nil, (nil, "", nil))
                (last, mine) = (row, try left.next())
            } else if let row = theirs, mine.map({ row < $0 }) ?? true {
                try add(row, nil, (nil, nil, ""))
                theirs = try right.next()
            } else if let row = mine, let wanted = theirs {
                for (index, field) in values.enumerated() where row.values[index] != wanted.values[index] {
                    let cells = (text(row.values[index], field, names), text(wanted.values[index], field, names))
                    try add(wanted, row, (field.name, cells.0, cells.1))
                }
                (last, mine, theirs) = (row, try left.next(), try right.next())
            }
        }
    }

    private func words(_ row: ComparedRow, _ names: ViewNames) -> String {
        zip(key, row.key).map { field, cell in "\(field.name) \(text(cell, field, names))" }.joined(separator: ", ")
    }

    func text(_ cell: Cell, _ field: Field, _ names: ViewNames) -> String {
        switch (field.kind, cell) {
        case (.name, .integer(let ref)): names.text(ref)
        case (.position, .integer(let position)): "\(position) (\(names.dot(position)))"
        case (.time, .integer(let time)) where Timestamp.range.contains(time): Timestamp.text(time)
        case (.hlc, .integer(let hlc)): HybridTime(ordered: hlc).description
        case (.stamp, .blob(let bytes)): Stamp(bytes)?.key.dot.description ?? cell.description
        case (.word, .text(let bytes)): SearchTag(bytes).map { $0.description(names) } ?? cell.description
        case (.uuid, .blob(let bytes)): EventID(bytes: bytes)?.description ?? cell.description
        default: cell.description
        }
    }
}

extension SearchTag {
    /// Whose texts they are, for people.
    fileprivate func description(_ names: ViewNames) -> String {
        switch self {
        case .user(let ref): "user \(names.text(ref))"
        case .conversation(let ref): "conversation \(names.text(ref))"
        case .author(let ref): "author \(names.text(ref))"
        case .type(let ref): "type \(names.text(ref))"
        }
    }
}

/// Words of the log for what stands in views; what the log does not have is given as it stands.
final class ViewNames {
    private let log: LogReader?

    init(_ log: LogReader?) { self.log = log }

    func text(_ ref: Int64) -> String {
        if ref == 0 { return "nobody" }
        return (try? log?.text(ref)) ?? "number \(ref), which the log does not have"
    }

    /// The ref of a text; `nil` if the log does not have it.
    func ref(_ name: [UInt8]) -> Int64? { (try? log?.ref(String(decoding: name, as: UTF8.self))) ?? nil }

    /// Where the event of a dot stands; `nil` if the log does not have it.
    func position(_ dot: Dot) -> UInt64? { (try? log?.event(dot))?.position }

    /// Whether the log has an event there.
    func has(_ position: UInt64) -> Bool { (try? log?.dot(at: position)) != nil }

    func dot(_ position: Int64) -> String {
        (try? log?.dot(at: UInt64(bitPattern: position)).description) ?? "not in the log"
    }
}
