internal import CommandLineKit
internal import EventStore

enum DigestCommand: Subcommand {
    static let command = Command(
        "digest", "The vector, the roots and a digest of every view, to compare nodes.", group: "TRUST",
        examples: [
            .init("diff <(syncctl digest --store a) <(syncctl digest --store b)", "nothing when both hold the same")
        ],
        discussion: "Nodes with equal vectors have equal roots and equal views, whatever order events arrived in.")

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let files = try context.storeFiles()
        let views = try context.views()
        let origins = try stored { () throws(StoreError) in try views.log.origins() }
        let digests = try stored { () throws(StoreError) in try views.digests(files) }
        var count = 0
        for origin in origins where origin.size > 0 {
            let root = try stored { () throws(StoreError) in try views.log.root(of: origin.id, size: origin.size) }
            count += 1
            if context.form == .json {
                var line = JSONLine(type: "origin")
                line.add("origin", origin.id.description)
                line.addExact("size", origin.size)
                line.add("root", root.description)
                try context.output.line(line)
            } else {
                try context.output.line("origin \(origin.id) \(origin.size) \(root)")
            }
        }
        for digest in digests {
            count += 1
            if context.form == .json {
                var line = JSONLine(type: "view")
                line.add("view", digest.view)
                line.addExact("rows", digest.rows)
                line.add("digest", digest.digest.description)
                try context.output.line(line)
            } else {
                try context.output.line("view \(digest)")
            }
        }
        try context.end(count)
        return .success
    }
}
