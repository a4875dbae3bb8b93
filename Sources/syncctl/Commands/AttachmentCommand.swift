internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SillokClient

/// The bytes that events name: put, got, listed and checked.
enum AttachmentCommand {
    static let put = Subcommand(
        Command(
            "attachment put", "Keeps a file's bytes for an event to name", group: "Attachments",
            arguments: [.init("file", "The file.")],
            options: [
                .value("media-type", "TYPE", "What it is, as image/png; its first bytes say it where they tell.")
            ],
            examples: [
                .init("syncctl attachment put photo.jpg", "prints its SHA-256"),
                .init(
                    #"syncctl append --user u-1 --conversation c-1 --data '{"attachments":[{"sha256":"…","bytes":184320}]}'"#,
                    "names it"),
            ],
            discussion: """
                The answer has what stands in the event: sha256, bytes and mediaType. Bytes that no event names within a day are taken \
                away again. A folder, a pipe or a device is refused.
                """), run: runPut)

    static let get = Subcommand(
        Command(
            "attachment get", "Writes the bytes of an attachment", group: "Attachments",
            arguments: [.init("sha256", "The 64 digits in the event.")],
            options: [
                .value("out", "FILE", "Writes them there, and not to standard output; the file must not exist.")
            ],
            examples: [.init("syncctl attachment get 3a1f… --out photo.jpg", "the file appears when it is whole")],
            discussion: """
                What has other bytes than its name says is not given out. Exit code 1: no event names it. Exit code 75: its bytes are not \
                here yet.
                """), run: runGet)

    static let list = Subcommand(
        Command(
            "attachment list", "Attachments that events name, the newest first", group: "Attachments",
            options: [
                .value("user", short: "u", "USER", "Only what stands in this user's history."),
                .value("conversation", "ID", "Only what stands in this conversation."),
                .flag("missing", "Only whose bytes are not here."),
                .flag("damaged", "Only whose bytes are damaged here."),
                .value("last", short: "n", "N", "How many (default: 50)."),
            ],
            examples: [
                .init("syncctl attachment list --user u-1029", "of one user"),
                .init("syncctl attachment list --missing", "what has to come from a peer"),
            ]), run: runList)

    static let verify = Subcommand(
        Command(
            "attachment verify", "Compares the bytes of all attachments with their names", group: "Attachments",
            examples: [.init("syncctl attachment verify", "reads every file")],
            discussion: """
                A file with other bytes is put aside, and the node asks its peers for the right ones. Beside a daemon the daemon does \
                so. Exit code 2 when bytes are missing, 3 when a file is damaged.
                """), run: runVerify)

    // MARK: put

    private static func runPut(_ session: Session) throws(CommandFailure) -> ExitCode {
        let path = session.arguments.positional("file") ?? ""
        let declared = session.arguments.value("media-type")
        if let declared, !AttachmentItem.isMediaType(declared) {
            throw usageFailure("--media-type '\(declared)' is none", hint: "a type and a subtype, as image/png")
        }
        // Before anything is made for it.
        let bytes = try AttachmentBytes(file: path, mediaType: declared)
        let line: JSONObject
        switch try NodeOrFiles(session) {
        case .daemon(let daemon): line = try daemon.put(bytes)
        case .files(let files):
            let store = try stored { try EventStore(opening: files.folder, owner: "syncctl pid \(getpid())") }
            defer { store.close() }
            line = try store.put(bytes)
        }
        if session.isJSON {
            try session.print(line)
        } else {
            try session.output.line(line.string("sha256") ?? "")
        }
        try session.end(count: 1)
        return .success
    }

    // MARK: get

    private static func runGet(_ session: Session) throws(CommandFailure) -> ExitCode {
        let name = session.arguments.positional("sha256") ?? ""
        guard let digest = Digest(hexadecimal: name) else {
            throw usageFailure("'\(name)' is no SHA-256", hint: "64 lowercase hexadecimal digits, as in the event")
        }
        if session.isJSON, session.arguments.value("out") == nil {
            throw usageFailure("--json says what was written: with --out", hint: "--out FILE")
        }
        let output = try ByteOutput(session)
        var count: UInt64 = 0
        _ = try AttachmentSource(session, NodeOrFiles(session)).read(digest) { piece throws(CommandFailure) in
            try output.write(piece)
            count += UInt64(piece.count)
            return true
        }
        try output.finish()
        if session.isJSON {
            try session.line("", "written") { line in
                line.add("sha256", digest.description)
                line.add("bytes", count)
                line.add("file", session.arguments.value("out"))
            }
        }
        try session.end(count: 1)
        return .success
    }

    // MARK: list

    private static func runList(_ session: Session) throws(CommandFailure) -> ExitCode {
        let arguments = session.arguments
        let limit = try usage { try arguments.integer("last", in: 1...1_000_000) } ?? 50
        let filters = ["user", "conversation"].compactMap { name in arguments.value(name).map { (name, $0) } }
        let states = [AttachmentState.missing, .damaged].filter { arguments.flag($0.text) }
        guard filters.count + states.count <= 1 else {
            throw usageFailure(
                "--user, --conversation, --missing and --damaged do not go together", hint: "one of them")
        }
        var table = TextTable([
            .left(session.heading(.digest)), .right(session.heading(.bytes)), .left(session.heading(.type)),
            .left(session.heading(.state)), .left(session.heading(.user)), .left(session.heading(.conversation)),
            .left(session.headingOfTimes(.time)),
        ])
        var count = 0
        func take(_ line: JSONObject) throws(CommandFailure) {
            count += 1
            if session.isJSON { return try session.print(line) }
            table.add(
                [
                    line.string("sha256") ?? "", line.integer("bytes").map { String($0) } ?? "",
                    line.string("mediaType") ?? "", Self.shown(line.string("state") ?? "", session),
                    line.string("user") ?? "",
                    line.string("conversation") ?? "", line["time"] == nil ? "" : session.clock(line.moment("time")),
                ].map { .init(Sanitizer.line($0)) })
        }
        let reads = try Reads(session)
        var isAnswered = false
        if let pages = reads.pages {
            let parameters = filters + states.map { ("state", $0.text) }
            isAnswered = try pages.lines(.attachments, parameters, limit: limit, take)
        }
        if !isAnswered { try listFiles(session, filters.first, states.first, limit, take) }
        if count == 0 { session.say(.noAttachments) }
        if !session.isJSON, count > 0 { try session.print(table) }
        try session.end(count: count)
        return .success
    }

    /// How an attachment stands, in the language of the answer.
    private static func shown(_ state: String, _ session: Session) -> String {
        switch state {
        case "present": session.shown(.isPresent)
        case "missing": session.shown(.isMissing)
        case "damaged": session.shown(.isDamagedHere)
        case "leaving": session.shown(.isLeaving)
        default: state
        }
    }

    private static func shown(_ state: AttachmentState, _ digest: Digest, _ session: Session) -> String {
        session.shown(.attachmentState, shown(state.text, session), digest.description)
    }

    private static func listFiles(
        _ session: Session, _ filter: (name: String, value: String)?, _ state: AttachmentState?, _ limit: Int,
        _ take: (JSONObject) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let files = try StoreLocation.find(for: session).files
        let views = try FreshViews.open(session, files)
        try stored { try AttachmentUpkeep.catchUp(files, views) }
        let copy = try stored { try AttachmentCopy(files) }
        if let state {
            for want in try stored({ try copy.all(state, limit: limit) }) {
                let named = try stored { try views.attachments(naming: want.digest, limit: 1).first }
                try take((named.map { JSONLine($0, state) } ?? JSONLine(want, state)).object)
            }
            return
        }
        let owner: AttachmentOwner =
            filter.map { $0.name == "user" ? .user($0.value) : .conversation($0.value) } ?? .all
        var (left, place) = (limit, AttachmentPlace?.none)
        while left > 0 {
            let page = try stored { try views.attachments(of: owner, limit: min(left, 500), before: place) }
            for named in page {
                let state = try stored { try copy.state(of: named.item.digest) }
                try take(JSONLine(named, state).object)
            }
            (left, place) = (left - page.count, page.last?.place)
            if page.isEmpty { return }
        }
    }

    // MARK: verify

    private static func runVerify(_ session: Session) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.find(for: session).files
        let views = try FreshViews.open(session, files)
        try stored { try AttachmentUpkeep.catchUp(files, views) }
        let copy = try stored { try AttachmentCopy(files) }
        var progress = Progress("attachments", unit: "bytes", style: session.isJSON ? .off : session.style())
        let report = try stored { try copy.verify(progress: { progress.update(done: $0, total: nil) }) }
        progress.finish(done: report.bytes, total: report.bytes)
        // What was put aside before, and came from no peer since, has no file to be read any more.
        let found = Set(report.damaged)
        let aside = try stored { try AttachmentCopy(files).all(.damaged, limit: AttachmentCopy.Report.most) }
            .map(\.digest).filter { !found.contains($0) }
        let damagedCount = report.damagedCount + UInt64(aside.count)
        try tell(report.damaged, files)
        for digest in report.damaged + aside {
            try session.line(shown(.damaged, digest, session), "attachment") { line in
                line.add("sha256", digest.description)
                line.add("state", AttachmentState.damaged.text)
            }
        }
        let missing = try stored { try Self.missing(views, AttachmentCopy(files)) }
            .filter { !found.contains($0.digest) }
        for want in missing.prefix(AttachmentCopy.Report.most) {
            if session.isJSON {
                try session.output.line(JSONLine(want, .missing))
            } else {
                try session.output.line(shown(.missing, want.digest, session))
            }
        }
        if !session.isJSON {
            let text = session.shown(
                .attachmentsVerified, String(report.blobs), String(report.bytes), String(damagedCount),
                String(missing.count))
            try session.output.line(text)
        }
        try session.end(count: report.damaged.count + aside.count + missing.count) { line in
            line.add("blobs", report.blobs)
            line.add("bytes", report.bytes)
            line.add("damaged", damagedCount)
            line.add("missing", missing.count)
        }
        if damagedCount > 0 { return .integrityFailure }
        return missing.isEmpty ? .success : .degraded
    }

    /// What events name and has no file here, as the views tell it: files that are gone need not be noted yet.
    private static func missing(_ views: ViewReader, _ copy: AttachmentCopy) throws(StoreError) -> [AttachmentWant] {
        var (missing, seen, position): ([AttachmentWant], Set<Digest>, UInt64) = ([], [], 0)
        while case let page = try views.attachments(after: position, limit: 500), let last = page.last {
            for named in page where try copy.state(of: named.item.digest) == .missing {
                guard seen.insert(named.item.digest).inserted else { continue }
                missing.append(AttachmentWant(digest: named.item.digest, bytes: named.item.bytes))
            }
            position = last.position
        }
        return missing
    }

    /// Has damaged files put aside: by the daemon, which looks at a file when it is asked for it, or here.
    private static func tell(_ damaged: [Digest], _ files: StoreFiles) throws(CommandFailure) {
        guard !damaged.isEmpty else { return }
        if let daemon = try DaemonClient.running(files) {
            for digest in damaged {
                let request = ClientRequest(method: "HEAD", target: Route.attachments.path(digest.description))
                _ = try? request.send(to: daemon.place)
            }
            return
        }
        guard let lock = try? StoreLock(files, owner: "syncctl pid \(getpid())") else { return }
        defer { withExtendedLifetime(lock) {} }
        let attachments = try stored { try AttachmentStore(files) }
        for digest in damaged { attachments.note(damaged: digest) }
    }
}
