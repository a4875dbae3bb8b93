internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SillokClient

enum ReceiptCommand {
    static let entry = Subcommand(
        Command(
            "receipt", "What a node holds, signed, and who else holds it", group: "Trust",
            options: [
                .value("wait", "K", "Until K other nodes hold all that is in the log now."),
                .value("timeout", "SPAN", "Give up after so long, as 30s or 5m (default: never)."),
                .value("out", "FILE", "Writes it there, to be kept elsewhere; the file must not exist."),
            ],
            examples: [
                .init("syncctl receipt --out today.receipt", "keep it where no operator of the node can write"),
                .init("syncctl receipt --wait 2 --timeout 30s --out today.receipt", "with the word of two peers"),
                .init("syncctl verify --since today.receipt", "later: the log still says the same, and more"),
            ],
            discussion: """
                A receipt has the signed head of each origin, when this node had it, and cosignatures of the nodes that hold the same. \
                --out and --json write it as a file that 'verify --since' and 'check-proof' read. Without a daemon it is made of the files: \
                what no head covers yet is missing. Exit code 75 when the time is over, 2 when not all is covered.
                """), run: run)

    /// Between two looks, milliseconds.
    private static let poll = 250

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let wanted = try usage { try session.arguments.integer("wait", in: 1...1_000) } ?? 0
        let timeout = try span(session)
        // Asked before the wait for peers.
        let output = try ByteOutput(session)
        let place = try NodeOrFiles(session)
        if case .files = place, wanted > 0 {
            _ = try DaemonClient.required(by: session, to: "ask its peers")
        }
        var made = try ReceiptFile.make(place, session)
        // What was there when the command began.
        let vector = VersionVector(made.receipt.heads.map { Dot(origin: $0.head.head.origin, seq: $0.events) })
        while made.receipt.witnesses(of: vector) < wanted {
            if let timeout, WallClock.now >= session.now + timeout {
                session.say(.waitedFor, String(made.receipt.witnesses(of: vector)), String(wanted))
                return .tryAgain
            }
            sleep(milliseconds: poll)
            made = try ReceiptFile.make(place, session)
        }
        if case .files = place { session.say(.receiptOfFiles) }
        try write(made, to: output, session)
        let (uncovered, position) = (made.receipt.uncovered, made.receipt.maker.position)
        guard uncovered > 0 else { return .success }
        session.remark(.receiptUncovered, String(uncovered), String(position))
        return .degraded
    }

    private static func span(_ session: Session) throws(CommandFailure) -> Int64? {
        guard let text = session.arguments.value("timeout") else { return nil }
        do { return try TimeSpan.milliseconds(text) } catch {
            throw usageFailure("--timeout '\(text)' is no span, as 30s")
        }
    }

    private static func write(
        _ made: (receipt: Receipt, bytes: [UInt8]), to output: ByteOutput, _ session: Session
    ) throws(CommandFailure) {
        if let path = session.arguments.value("out") {
            try output.write(made.bytes)
            try output.finish()
            return session.say(.receiptWritten, path)
        }
        if session.isJSON { return try session.output.write(made.bytes) }
        for line in text(made.receipt, session) { try session.output.line(Sanitizer.line(line)) }
    }

    private static func text(_ receipt: Receipt, _ session: Session) -> [String] {
        let maker = receipt.maker
        var lines = [
            session.shown(
                .receiptOf, "\(maker.name) (\(maker.key.nodeID))", maker.cluster, session.clock(maker.time),
                String(maker.position))
        ]
        for head in receipt.heads { lines += [""] + text(head, session) }
        return lines
    }

    private static func text(_ head: WitnessedHead, _ session: Session) -> [String] {
        let note = SignedNote(head.head.head, [head.head.noteSignature(head.key)])
        var lines = note.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        if let arrived = head.arrived { lines.append(session.shown(.heldSince, session.clock(arrived))) }
        let open = head.events - min(head.events, head.head.head.size)
        if open > 0 { lines.append(session.shown(.notCoveredYet, String(open))) }
        for one in head.cosignatures.map(\.cosignature) {
            let at = session.clock(Int64(clamping: one.time) * 1_000)
            lines.append(session.shown(.cosignedBy, one.node.description, at, String(one.head.size)))
        }
        if head.cosignatures.isEmpty { lines.append(session.shown(.noCosignature)) }
        return lines
    }
}
