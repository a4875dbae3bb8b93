internal import CommandLineKit
internal import EventStore

/// Events with what proves them, as a file is made of them (FORMATS.md §10).
enum ProofExport {
    /// The events at these positions, once heads cover them.
    static func make(
        _ session: Session, _ files: StoreFiles, _ scope: AnswerScope, _ positions: [UInt64], isFiltered: Bool
    ) throws(CommandFailure) -> AnswerExport {
        let now = session.now
        return try patiently {
            try AnswerExport(
                files, scope, at: positions, isFiltered: isFiltered, key: ReceiptFile.key(files),
                ownHead: ReceiptFile.headOfDaemon(files), time: now)
        }
    }

    /// Waits a moment until it is known that the views follow from the log. To be asked before they are: what was read of them earlier may lack
    /// events, also where they are proven by now.
    static func awaitProvenViews(_ files: StoreFiles) throws(CommandFailure) {
        try patiently { try ViewsMark.requireProven(files) }
    }

    /// A daemon signs what was appended just now within moments, and compares the views of a small store as quickly.
    private static func patiently<Value>(_ make: () throws -> Value) throws(CommandFailure) -> Value {
        for _ in 0..<20 {
            do throws(CommandFailure) { return try stored(make) } catch {
                guard error.code == StoreError.busy("").code else { throw error }
            }
            sleep(milliseconds: 100)
        }
        return try stored(make)
    }
}
