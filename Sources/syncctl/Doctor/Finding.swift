internal import CommandLineKit
internal import EventStore
internal import SyncEngine

/// Something that `syncctl doctor` and `status` tell: what is so, and what to do about it.
struct Finding: Sendable {
    typealias Severity = NodeNotice.Severity

    /// A stable name for machines.
    let code: String
    let severity: Severity
    /// What it is about: an origin, a node, a file; empty for the node as a whole.
    var subject = ""
    /// One sentence.
    let text: String
    /// One sentence, or a command; empty where there is nothing to do.
    var action = ""
    /// What a settlement of it has to name; `nil` if it tells of a state, which ends when its reason does.
    var of: String?
    /// Who has dealt with it, when, and what was said; `nil`: no one.
    var settled: Settled?

    /// That an operator has dealt with a finding.
    struct Settled: Sendable {
        /// RFC 3339.
        let at: String
        let node: String
        let note: String
    }

    /// That the log is not what its node has signed.
    static func ownHead(_ files: StoreFiles) -> Finding? {
        do throws(StoreError) {
            let pem = try? SmallFile.read(files.key)
            try LogReader(files).checkForSigning(files, pem.flatMap { SigningKey(pem: $0) })
            return nil
        } catch {
            return Finding(
                "LOG_DAMAGED", .integrity, subject: files.log, error.description,
                action: "stop syncd; bring log.db back from a backup, or set the folder aside and join anew with "
                    + "the same key: operating/trouble.md, 'Damage'")
        }
    }

    /// Whether the log is not as the last run left it. The next start finds the same, and keeps it as evidence.
    static func cut(_ files: StoreFiles) throws(CommandFailure) -> Finding? {
        guard let text = try stored({ try Outside.cut(of: files) }) else { return nil }
        return Finding(
            "LOG_CUT", .integrity, subject: files.log, text,
            action:
                "a copy of the folder first; then start syncd, which keeps evidence and goes on with a new origin: "
                + "operating/trouble.md, 'A log that was cut'")
    }

    /// What the files of a store say without their daemon, and which of it is settled. What cannot be looked up is open.
    static func standing(_ files: StoreFiles, _ session: Session) throws(CommandFailure) -> [Finding] {
        let refusals = try stored { try Cosigner.refusals(in: files) }
        let notices =
            try stored { try NodeNotice.standing(files) }
            + refusals.map { NodeNotice.refused($0.origin, $0.why, at: WallClock.now) }
        guard !notices.isEmpty else { return [] }
        let settlements = try? Settlement.all(in: FreshViews.open(session, files))
        return notices.map { Finding($0, among: settlements ?? []) }
    }

    /// The daemon's words.
    init(notice: JSONObject) {
        code = notice.string("code") ?? "UNKNOWN"
        severity = notice.string("severity").flatMap(Severity.init) ?? .warning
        subject = notice.string("subject") ?? ""
        text = notice.string("text") ?? ""
        action = notice.string("action") ?? ""
        of = notice.string("of")
        if let object = notice.object("settled") {
            settled = Settled(
                at: object.string("at") ?? "", node: object.string("node") ?? "", note: object.string("note") ?? "")
        }
    }

    init(_ notice: NodeNotice, among settlements: [Settlement]) {
        code = notice.code.rawValue
        severity = notice.severity
        subject = notice.subject
        text = notice.text
        action = notice.action
        of = notice.of
        if let settlement = notice.settlement(among: settlements) {
            settled = Settled(
                at: Timestamp.text(settlement.at), node: settlement.node.description, note: settlement.note)
        }
    }

    init(_ code: String, _ severity: Severity, subject: String = "", _ text: String, action: String = "") {
        self.code = code
        self.severity = severity
        self.subject = subject
        self.text = text
        self.action = action
    }

    /// Two lines for people, or three.
    func show(_ session: Session) throws(CommandFailure) {
        let gravity = session.shown(severity.wording)
        if session.outputLanguage == .korean, let meaning = KoreanFindings.meanings[code] {
            // The text stays English below it, as that of an error: others search for it.
            try session.output.line(Sanitizer.line("\(code) (\(gravity)): \(meaning)"))
            try session.output.line(Sanitizer.line("  \(text)"))
        } else {
            try session.output.line(Sanitizer.line("\(code) (\(gravity)): \(text)"))
        }
        if let settled {
            let note = settled.note.isEmpty ? "" : ": \(settled.note)"
            let told = session.shown(.settledAt, settled.at, String(settled.node.prefix(12)))
            try session.output.line(Sanitizer.line("  " + told + note))
        } else if !action.isEmpty {
            try session.output.line(Sanitizer.line("  " + session.shown(.toDo, session.translated(action))))
        }
    }

    func write(to line: inout JSONLine) {
        line.add("code", code)
        line.add("severity", severity.rawValue)
        line.add("subject", subject)
        line.add("text", text)
        line.add("action", action)
        guard let settled else { return }
        line.addObject("settled") { line in
            line.add("at", settled.at)
            line.add("node", settled.node)
            line.add("note", settled.note)
        }
    }
}

extension Finding.Severity {
    fileprivate var wording: Wording {
        switch self {
        case .integrity: .gravityIntegrity
        case .warning: .gravityWarning
        case .information: .gravityInformation
        }
    }
}

extension [Finding] {
    /// Those of the daemon's problems that none of these has told.
    func untold(_ problems: [String]) -> [String] {
        problems.filter { problem in
            !contains { $0.code == NodeNotice.Code.refusing.rawValue && $0.text.contains(problem) }
        }
    }

    /// What an operator has to look at.
    var open: [Finding] { filter { $0.settled == nil } }

    /// How `doctor` and `status` end with these.
    var exitCode: ExitCode {
        switch open.map(\.severity).min(by: { $0.rank < $1.rank }) {
        case .integrity: .integrityFailure
        case .warning: .degraded
        case .information, nil: .success
        }
    }
}
