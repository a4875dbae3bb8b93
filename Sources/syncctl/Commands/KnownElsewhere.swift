internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// What is known of a log outside of it: receipts that the user has kept, and what peers have told.
struct KnownElsewhere {
    /// A receipt, and where it lies.
    struct Kept {
        let path: String
        let receipt: Receipt
        let isSigned: Bool

        /// Whether a note tells of it.
        func isNamed(in note: String) -> Bool {
            note.contains("; \(path) knows") || note.contains("; \(path) counts")
        }
    }

    let receipts: [Kept]
    let heads: [KnownHead]
    let ends: [KnownEnd]
    /// What the node has kept of its peers' words and cannot be read, a sentence each.
    let unread: [String]
    /// What cannot be compared.
    private let remarks: [(wording: Wording, values: [String])]

    /// Reads them before the log, so that a writer's later commits are no contradiction.
    ///
    /// - Throws: `E_RECEIPT_OTHER` for a receipt of another cluster.
    init(_ files: StoreFiles, _ session: Session) throws(CommandFailure) {
        var receipts: [Kept] = []
        for path in session.arguments.values("since") {
            let (receipt, check) = try ReceiptFile.check(path)
            receipts.append(Kept(path: path, receipt: receipt, isSigned: check.isSigned))
        }
        self.receipts = receipts
        guard files.exists, let log = try? LogReader(files) else {
            (heads, ends, unread, remarks) = ([], [], [], [])
            return
        }
        // A log that was changed is held against them, too: of table `meta` and the names of nodes nothing is taken on trust.
        let origins = (try? log.origins()) ?? []
        let own = log.holder
        let cluster = (try? log.meta("cluster")) ?? nil
        let told = KnownHead.told(to: files)
        var heads = told.heads
        var remarks: [(wording: Wording, values: [String])] = []
        for kept in receipts {
            let (maker, isSigned) = (kept.receipt.maker, kept.isSigned)
            guard origins.isEmpty || maker.cluster == cluster || kept.receipt.shares(origins) else {
                throw CommandFailure(
                    code: "E_RECEIPT_OTHER",
                    "\(kept.path) is a receipt of node \(maker.key.nodeID.short) of cluster \(maker.cluster); this store is of node "
                        + "\(own?.short ?? "?") of cluster \(cluster ?? "?")",
                    hint: "a store of that cluster: --store DIR", exitCode: .badInput)
            }
            if let own, maker.key.nodeID != own {
                remarks.append((.receiptLacking, [kept.path, maker.key.nodeID.short, own.short]))
            }
            if !isSigned { remarks.append((.receiptUnsigned, [kept.path])) }
            heads += kept.receipt.known(to: own, isSigned: isSigned, as: kept.path)
        }
        ends = receipts.compactMap { $0.receipt.end(of: own, isSigned: $0.isSigned, as: $0.path) }
        (self.heads, unread, self.remarks) = (heads, told.unread, remarks)
    }

    /// Lines of the answer for people.
    func texts(_ report: VerifyReport, _ session: Session) -> [String] {
        var lines = remarks.map { remark in
            VerifyCommand.remark(
                .remarkOf, remark.wording.phrase.text(session.outputLanguage, remark.values), session)
        }
        for kept in receipts where report.count(of: .ends) == 0 && !report.notes.contains(where: kept.isNamed(in:)) {
            let maker = kept.receipt.maker
            let text = session.shown(
                .receiptAgrees, kept.path, maker.key.nodeID.short, Timestamp.text(maker.time),
                session.counted(kept.receipt.heads.count, .origin))
            lines.append(VerifyCommand.remark(.sinceReceipt, text, session))
        }
        return lines
    }
}
