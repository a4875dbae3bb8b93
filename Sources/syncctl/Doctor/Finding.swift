internal import CommandLineKit
internal import EventStore
internal import SyncEngine

/// Something that `syncctl doctor` and `status` tell: what is so, and what to do about it.
struct Finding: Sendable {
    enum Severity: String, Sendable {
        /// Nothing has to be done.
        case information
        /// Something does not work as it should.
        case warning
        /// The record is damaged or has two versions.
        case integrity
    }

    /// A stable name for machines.
    let code: String
    let severity: Severity
    /// What it is about: an origin, a node, a file; empty for the node as a whole.
    var subject = ""
    /// One sentence.
    let text: String
    /// One sentence, or a command; empty where there is nothing to do.
    var action = ""

    /// The daemon's words.
    init(notice: JSONObject) {
        code = notice.string("code") ?? "UNKNOWN"
        severity = notice.string("severity").flatMap(Severity.init) ?? .warning
        subject = notice.string("subject") ?? ""
        text = notice.string("text") ?? ""
        action = notice.string("action") ?? ""
    }

    init(_ notice: NodeNotice) {
        code = notice.code.rawValue
        severity = Severity(rawValue: notice.severity.rawValue) ?? .warning
        subject = notice.subject
        text = notice.text
        action = notice.action
    }

    init(_ code: String, _ severity: Severity, subject: String = "", _ text: String, action: String = "") {
        self.code = code
        self.severity = severity
        self.subject = subject
        self.text = text
        self.action = action
    }

    /// Two lines for people.
    func show(_ session: Session) throws(CommandFailure) {
        try session.output.line(Sanitizer.line("\(code) (\(severity.rawValue)): \(text)"))
        if !action.isEmpty { try session.output.line(Sanitizer.line("  To do: \(action)")) }
    }

    func write(to line: inout JSONLine) {
        line.add("code", code)
        line.add("severity", severity.rawValue)
        line.add("subject", subject)
        line.add("text", text)
        line.add("action", action)
    }
}
