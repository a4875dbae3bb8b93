internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum CheckProofCommand {
    static let entry = Subcommand(
        Command(
            "check-proof", "Checks a proven answer or a receipt, with no store and no network", group: "Trust",
            arguments: [.init("file", "What --proof or 'receipt --out' wrote; - reads it from stdin.")],
            options: [
                .value("witness", "NODE", "Only if this node has cosigned each origin.", repeatable: true)
            ],
            examples: [
                .init("syncctl history u-1029 --proof > u-1029.proof", "on the node"),
                .init("syncctl check-proof u-1029.proof", "anywhere"),
            ],
            discussion: """
                Every event must be, byte for byte, part of a history that its origin's node has signed. No file can show that a \
                node has left no events out: the answer says what the node states. Compare the nodes' ids with those that you know. Exit \
                code 0 when all is proven, 2 when the file is not signed as a whole, a receipt does not cover all of its log or a node of --witness \
                has not cosigned it, 3 when something contradicts.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let path = session.arguments.positional("file") ?? ""
        let (receipt, check) = try ReceiptFile.check(path)
        for text in session.arguments.values("witness") {
            guard let node = NodeID(text: text) else {
                throw usageFailure("--witness '\(text)': no id of a node, 64 hexadecimal digits")
            }
            try require(node, receipt)
        }
        if session.isJSON {
            try json(receipt, check, session)
        } else {
            for line in text(receipt, check, session) { try session.output.line(Sanitizer.line(line)) }
        }
        let uncovered = check.answer == nil ? receipt.uncovered : 0
        if uncovered > 0 {
            session.remark(.receiptUncovered, String(uncovered), String(receipt.maker.position))
        }
        return check.isSigned && uncovered == 0 ? .success : .degraded
    }

    /// Of each origin the node has cosigned all that the file shows.
    private static func require(_ node: NodeID, _ receipt: Receipt) throws(CommandFailure) {
        func refuse(_ what: String) -> CommandFailure {
            CommandFailure(
                code: "E_RECEIPT_WITNESS", "node \(node.short) has cosigned \(what)",
                why: "What the file has is as it was signed.",
                hint: "syncctl receipt --wait K waits for the word of peers", exitCode: .degraded)
        }
        guard receipt.heads.contains(where: { $0.key.nodeID != node }) else {
            throw refuse("nothing: the file has no origin of another node")
        }
        for head in receipt.heads where head.key.nodeID != node {
            let (origin, size) = (head.head.head.origin, head.head.head.size)
            let said = head.cosignatures.first { $0.cosignature.node == node }?.cosignature.head.size ?? 0
            guard said < size else { continue }
            throw refuse("\(said) of \(size) events of origin \(origin)")
        }
    }

    private static func text(_ receipt: Receipt, _ check: ReceiptCheck, _ session: Session) -> [String] {
        let maker = receipt.maker
        var lines: [String] = []
        if let answer = check.answer {
            let scope = "\(answer.scope.member.name) \(answer.scope.member.value)"
            let headline: Wording = check.isSigned ? .provenEvents : .unsignedEvents
            lines.append(session.shown(headline, session.eventCount(answer.events), scope))
            if answer.withoutPayload > 0 {
                lines.append(session.shown(.provenWithoutPayload, String(answer.withoutPayload)))
            }
        } else {
            lines.append(session.shown(.provenHeads, String(receipt.heads.count)))
        }
        lines.append(
            session.shown(
                .receiptOf, "\(maker.name) (\(maker.key.nodeID))", maker.cluster, session.clock(maker.time),
                String(maker.position)))
        for head in receipt.heads {
            lines.append(session.shown(head))
            for one in head.cosignatures.map(\.cosignature) {
                let at = session.clock(Int64(clamping: one.time) * 1_000)
                lines.append(session.shown(.cosignedBy, one.node.description, at, String(one.head.size)))
            }
        }
        if !check.isSigned { lines.append(session.shown(.notSignedWhole)) }
        if let answer = check.answer {
            if answer.isFiltered {
                lines.append(session.shown(.answerIsPart))
            } else if check.isSigned {
                lines.append(session.shown(.answerIsStated))
            }
        }
        return lines
    }

    private static func json(
        _ receipt: Receipt, _ check: ReceiptCheck, _ session: Session
    ) throws(CommandFailure) {
        for head in receipt.heads {
            var line = JSONLine(head)
            line.add("cosigned", head.cosignatures.map(\.cosignature.node.description))
            try session.output.line(line)
        }
        try session.end(count: receipt.heads.count) { line in
            line.add("kind", check.answer == nil ? "receipt" : "answer")
            line.add("signed", check.isSigned)
            line.add("node", receipt.maker.key.nodeID.description)
            line.add("cluster", receipt.maker.cluster)
            line.add("time", Timestamp.text(receipt.maker.time))
            line.add("position", receipt.maker.position)
            guard let answer = check.answer else { return line.add("uncovered", receipt.uncovered) }
            line.add(answer.scope.member.name, answer.scope.member.value)
            line.add("filtered", answer.isFiltered)
            line.add("events", answer.events)
            line.add("without_payload", answer.withoutPayload)
        }
    }
}

extension JSONLine {
    /// An origin of a receipt or a proven answer, as far as its head covers it.
    init(_ head: WitnessedHead) {
        self.init(type: "origin")
        add("origin", head.head.head.origin.description)
        add("node", head.key.nodeID.description)
        add("size", head.head.head.size)
        add("root", head.head.head.root.description)
    }
}

extension Session {
    /// The same for people.
    func shown(_ head: WitnessedHead) -> String {
        let tree = head.head.head
        return shown(.provenOrigin, tree.origin.description, String(tree.size), head.key.nodeID.description)
    }
}
