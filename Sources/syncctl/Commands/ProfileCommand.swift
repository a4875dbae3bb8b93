internal import CommandLineKit
internal import EventStore

enum ProfileCommand: Subcommand {
    static let command = Command(
        "profile", "A user's profile: the last writer's values, and conflicts.", group: "READ",
        arguments: [.init("uid", "The user.")],
        examples: [.init("syncctl profile u-1029", "each field with who set it, and concurrent values")],
        discussion: """
            Two nodes that set a field without knowing of each other are a conflict: the later value counts, the other \
            stays visible until somebody who has seen both sets the field again.
            """)

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let user = context.arguments.positional("uid") ?? ""
        let views = try context.views()
        let fields = try stored { () throws(StoreError) in try views.profile(user: user) }
        var table = TextTable([.left("FIELD"), .left("SET"), .left("BY"), .left("STATE"), .left("VALUE")])
        for field in fields {
            if context.form == .json {
                try context.output.line(json(field))
                continue
            }
            table.add(row(field.name, field.winner, field.isConflict ? "CONFLICT" : "", context))
            for write in field.concurrent where write.value != field.winner.value {
                table.add(row("", write, "concurrent", context))
            }
        }
        if context.form != .json, !fields.isEmpty { try context.show(table) }
        let conflicts = fields.count { $0.isConflict }
        try context.end(fields.count) { $0.add("conflicts", conflicts) }
        if fields.isEmpty { context.remark("user \(user) has no profile") }
        return fields.isEmpty ? .nothingFound : .success
    }

    private static func row(
        _ name: String, _ write: ProfileWrite, _ state: String, _ context: Context
    ) -> [TextTable.Cell] {
        [
            .init(name), .init(TimeFormat.local(write.time, in: context.zone)), .init(write.author),
            .init(state, style: state.isEmpty ? nil : .yellow), .init(text(write.value)),
        ]
    }

    /// A text without its quotes, anything else as JSON.
    private static func text(_ json: String) -> String {
        let object = JSONObject(validated: Array("{\"v\":\(json)}".utf8))
        return object.string("v") ?? json
    }

    private static func json(_ field: ProfileField) -> JSONLine {
        var line = JSONLine(type: "field")
        line.add("field", field.name)
        add(field.winner, to: &line)
        line.add("conflict", field.isConflict)
        line.addArray("concurrent") { array in
            for write in field.concurrent { array.addObject { add(write, to: &$0) } }
        }
        return line
    }

    private static func add(_ write: ProfileWrite, to line: inout JSONLine) {
        line.addRaw("value", write.value)
        line.add("author", write.author)
        line.add("time", TimeFormat.rfc3339(write.time))
        line.add("origin", write.dot.origin.description)
        line.addExact("sequence", write.dot.seq)
    }
}
