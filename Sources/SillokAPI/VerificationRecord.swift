package import CommandLineKit
package import EventStore

/// How the daemon's last proof of the log ended, kept in a small file of the store: a new start tells it, too. No program goes by it, and
/// no signature is on it: who may write there could make it say anything (docs/reference/FORMATS.md, section 1).
package struct VerificationRecord: Hashable, Sendable {
    /// Unix milliseconds.
    package let began: Int64
    package let ended: Int64
    /// When the last one ended that found nothing to contradict, this one or an earlier one.
    package let proven: Int64?
    package let answer: VerifyAnswer
    /// The last position when it began.
    package let position: UInt64
    package let events: UInt64
    package let erased: UInt64
    /// Events that no signed head covered.
    package let unsigned: UInt64
    package let findings: UInt64
    /// The first of them.
    package let finding: String?
    /// What else kept something from being proven, the first of it.
    package let note: String?

    /// - Parameter last: What was known before.
    package init(_ report: VerifyReport, began: Int64, ended: Int64, after last: VerificationRecord?) {
        (self.began, self.ended, answer, position) = (began, ended, report.answer, report.top)
        proven = report.answer == .contradicted ? last?.proven : ended
        (events, erased, unsigned) = (report.events, report.erased, report.unsigned)
        (findings, finding, note) = (report.findingCount, report.findings.first?.description, report.notes.first)
    }

    /// What the store remembers; `nil` if there is nothing, or nothing that can be read.
    package init?(_ files: StoreFiles) {
        guard let bytes = (try? SmallFile.read(files.verified)) ?? nil, let line = try? JSONObject(validating: bytes)
        else { return nil }
        self.init(line)
    }

    /// What ``write(to:)`` has written.
    package init?(_ line: JSONObject) {
        func time(_ name: String) -> Int64? { line.string(name).flatMap { Timestamp.milliseconds($0) } }
        func count(_ name: String) -> UInt64? { line.integer(name).flatMap { UInt64(exactly: $0) } }
        guard let began = time("began"), let ended = time("ended"),
            let answer = line.string("answer").flatMap(VerifyAnswer.init), let position = count("position"),
            let events = count("events"), let erased = count("erased"), let unsigned = count("unsigned"),
            let findings = count("findings")
        else { return nil }
        (self.began, self.ended, self.answer, self.position) = (began, ended, answer, position)
        (self.events, self.erased, self.unsigned, self.findings) = (events, erased, unsigned, findings)
        (finding, note) = (line.string("finding"), line.string("note"))
        // Releases before this member kept the last one alone.
        proven = time("proven") ?? (answer == .contradicted ? nil : ended)
    }

    /// Adds its members to a line.
    package func write(to line: inout JSONLine) {
        line.add("began", Timestamp.text(began))
        line.add("ended", Timestamp.text(ended))
        if let proven { line.add("proven", Timestamp.text(proven)) }
        line.add("answer", answer.rawValue)
        line.add("position", position)
        line.add("events", events)
        line.add("erased", erased)
        line.add("unsigned", unsigned)
        line.add("findings", findings)
        if let finding { line.add("finding", finding) }
        if let note { line.add("note", note) }
    }

    package func keep(_ files: StoreFiles) throws(StoreError) {
        var line = JSONLine(type: "verification")
        write(to: &line)
        try SmallFile.replace(files.verified, with: line.utf8 + [UInt8(ascii: "\n")], mode: 0o600)
    }
}
