internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// `verify --user`: the events of one user, each held against the heads that its node has signed. The rest of the log is not read.
enum UserVerification {
    static let option = Command.Option.value(
        "user", short: "u", "USER", "Only this user's events: quick, and says nothing of others.", names: "users")

    /// Whether no other option asks for more than one user's events.
    private static func requireAlone(_ session: Session) throws(CommandFailure) {
        for other in ["views", "diff", "actors", "daemon"] where session.arguments.flag(other) {
            throw usageFailure("--user does not go with --\(other), which is about all events")
        }
        guard session.arguments.values("since").isEmpty else {
            throw usageFailure("--user does not go with --since: a receipt is held against all events")
        }
    }

    static func run(_ user: String, _ session: Session) throws(CommandFailure) -> ExitCode {
        try requireAlone(session)
        let start = MonotonicClock.now
        let files = try StoreLocation.find(for: session).files
        let positions = try ProofOutput.positions(session, files, .user(user), TimelineQuery())
        guard !positions.isEmpty else {
            try session.end(count: 0) { line in line.add("user", user) }
            session.say(.noUser, user)
            return .nothingFound
        }
        let (receipt, answer) = try check(session, files, .user(user), positions)
        let milliseconds = Int64((MonotonicClock.now - start) / 1_000_000)
        if session.isJSON {
            try json(receipt, answer, milliseconds, session)
        } else {
            for line in text(receipt, answer, milliseconds, session) {
                try session.output.line(Sanitizer.line(line))
            }
        }
        return .success
    }

    /// What `check-proof` says of the file that `history --proof` writes now, without the file.
    private static func check(
        _ session: Session, _ files: StoreFiles, _ scope: AnswerScope, _ positions: [UInt64]
    ) throws(CommandFailure) -> (Receipt, ReceiptCheck.Answer) {
        do throws(CommandFailure) {
            let export = try ProofExport.make(session, files, scope, positions, isFiltered: false)
            let check = ReceiptCheck()
            var progress = Progress("verify", unit: "events", style: session.style())
            while let piece = try stored({ try export.next() }) {
                try contradicted { () throws(ReceiptError) in try check.take(lines: piece) }
                progress.update(done: export.written, total: export.count)
            }
            let receipt = try contradicted { () throws(ReceiptError) in try check.finish() }
            progress.finish(done: export.written, total: export.count)
            guard let answer = check.answer else { throw CommandFailure(.corrupt("no answer was made")) }
            return (receipt, answer)
        } catch {
            var failure = VerifyCommand.damage(error)
            // No head covers the newest of them: the same exit code as without --user.
            if failure.code == StoreError.busy("").code { failure.exitCode = .degraded }
            throw failure
        }
    }

    private static func contradicted<Value>(
        _ body: () throws(ReceiptError) -> Value
    ) throws(CommandFailure) -> Value {
        do { return try body() } catch { throw CommandFailure(.corrupt("\(error)")) }
    }

    private static func text(
        _ receipt: Receipt, _ answer: ReceiptCheck.Answer, _ milliseconds: Int64, _ session: Session
    ) -> [String] {
        let user = "\(answer.scope.member.name) \(answer.scope.member.value)"
        var lines: [String] = []
        if answer.withoutPayload > 0 {
            lines.append(session.shown(.provenWithoutPayload, String(answer.withoutPayload)))
        }
        lines += receipt.heads.map { session.shown($0) }
        lines.append(session.shown(.othersOfUserUnread))
        let verdict = session.shown(.provenEvents, session.eventCount(answer.events), user)
        return lines + [verdict + "   " + session.shown(.tookTime, TimeSpan.text(milliseconds))]
    }

    private static func json(
        _ receipt: Receipt, _ answer: ReceiptCheck.Answer, _ milliseconds: Int64, _ session: Session
    ) throws(CommandFailure) {
        for head in receipt.heads { try session.output.line(JSONLine(head)) }
        try session.end(count: receipt.heads.count) { line in
            line.add("user", answer.scope.member.value)
            line.add("answer", VerifyAnswer.proven.rawValue)
            line.add("position", receipt.maker.position)
            line.add("events", answer.events)
            line.add("without_payload", answer.withoutPayload)
            line.add("took_ms", milliseconds)
        }
    }
}
