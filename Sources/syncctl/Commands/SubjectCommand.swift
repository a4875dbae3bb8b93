internal import Access
internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

/// All that is here of one person, in a folder that they can read and check without any of these programs.
enum SubjectCommand {
    static let entry = Subcommand(
        Command(
            "subject", "Puts together all that is here of a person, to be given to them", group: "Take out",
            arguments: [.init("user", "Whose data.", names: "users")],
            options: [
                .value("out", "DIR", "The folder to make; it must be empty or not there."),
                .value("who", "NAME", "Who asked for it: it is part of the record."),
                .value(
                    "others", "WHAT", "What others have said in the same conversations (default: headers).",
                    allowed: ["headers", "full"]),
            ],
            examples: [
                .init(
                    "syncctl subject u-1029 --out u-1029 --reason 'request 88' --who 'kim, by letter'",
                    "a folder with pages, events and proofs"),
                .init("(cd u-1029 && sha256sum -c SHA256SUMS)", "whether the folder is as it was made"),
            ],
            discussion: """
                The folder has the events of the person's history and what they have written elsewhere, as they are stored; pages in Korean and English; proofs of the events; who has looked at them; and a README that \
                says how each is checked. Events of others in the same conversations are told by type, time and author, also those that \
                name the person; with --others full as they are stored. The folder gets its name when all of it is on the disk; what an interrupted run has left beside it, \
                under the name DIR.unfinished, goes with the next run. That it was asked for, by whom and why, is recorded before the folder gets its name, as an event access.given. \
                The headers of the whole log are looked at once. Exit code 1 when nothing is here of this person.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        guard session.url == nil else {
            throw usageFailure("a package is made on the node's own machine", hint: "the same there, with --store")
        }
        let arguments = session.arguments
        let user = arguments.positional("user") ?? ""
        let (reason, who) = (arguments.value("reason") ?? "", arguments.value("who") ?? "")
        guard AccessGrant.isTold(reason), AccessGrant.isTold(who) else {
            throw usageFailure(
                "a package says who asked for it, and why (at most \(AccessGrant.longestText) bytes each)",
                hint: "--reason TEXT and --who NAME")
        }
        guard let folder = arguments.value("out"), !folder.isEmpty else {
            throw usageFailure("where is it to be made?", hint: "--out DIR")
        }
        let files = try StoreLocation.find(for: session).files
        guard try stored({ try LogReader(files).knows(user) }) else {
            session.say(.noUser, user)
            try session.end(count: 0)
            return .nothingFound
        }
        // Before anything is written.
        try ProofExport.awaitProvenViews(files)
        try StoreLocation.requireOutside(folder)
        let place = try PackageFolder(folder)
        if place.hadRest { session.say(.packageRest, place.part) }
        let package = try SubjectPackage(session, files, user, folder: place.part)
        let (report, record) = try package.make(who: who, reason: reason) { () throws(CommandFailure) in
            try Self.record(user, who, reason, files)
        }
        try place.finish()
        try session.line(
            Sanitizer.line(
                session.shown(.packageMade, folder, session.eventCount(report.events), String(report.files))),
            "package"
        ) { line in
            line.add("folder", folder)
            line.add("user", user)
            line.add("record", record)
            line.add("events", report.events)
            line.add("elsewhere", report.elsewhere)
            line.add("context", report.context)
            line.add("conversations", report.conversations)
            line.add("reads", report.reads)
            line.add("files", report.files)
            line.add("position", report.position)
            line.add("unproven", report.unproven)
        }
        if report.unproven > 0 { session.say(.packageUnproven, String(report.unproven)) }
        try session.end(count: 1)
        return .success
    }

    /// Records that it is given, before it has its name (INV-17). Returns the event's name.
    private static func record(
        _ user: String, _ who: String, _ reason: String, _ files: StoreFiles
    ) throws(CommandFailure) -> String {
        if let daemon = try DaemonClient.running(files) {
            var body = JSONLine()
            body.add("reason", reason)
            body.add("who", who)
            let answer = try daemon.post("/v1/users/\(percentEncoded(user))/package", body)
            guard let event = answer.string("event") else { throw DaemonClient.misunderstood("no event") }
            return event
        }
        return try stored {
            let store = try EventStore(opening: files.folder, owner: "syncctl pid \(getpid())")
            defer { store.close() }
            let draft = AccessGrant.draft(
                giving: user, to: who, reason: reason, by: Appender.actor, at: store.identity.node)
            guard let receipt = try store.recordBlocking([draft]).first?.receipt else {
                throw StoreError.io("the record was not taken")
            }
            return receipt.dot.description
        }
    }
}
