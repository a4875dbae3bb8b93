internal import CommandLineKit
internal import EventStore

/// Events with what proves them, as a file is made of them (FORMATS.md §10).
enum ProofExport {
    /// The events at these positions, once heads cover them.
    static func make(
        _ session: Session, _ files: StoreFiles, _ scope: AnswerScope, _ positions: [UInt64], isFiltered: Bool
    ) throws(CommandFailure) -> AnswerExport {
        let now = session.now
        return try covered {
            switch scope {
            case .event: break
            case .user, .conversation: try ViewsMark.requireProven(files)
            }
            return try AnswerExport(
                files, scope, at: positions, isFiltered: isFiltered, key: ReceiptFile.key(files),
                ownHead: ReceiptFile.headOfDaemon(files), time: now)
        }
    }

    /// What was appended just now has no head yet: a daemon signs it within moments.
    private static func covered(_ make: () throws -> AnswerExport) throws(CommandFailure) -> AnswerExport {
        for _ in 0..<20 {
            do throws(CommandFailure) { return try stored(make) } catch {
                guard error.code == StoreError.busy("").code else { throw error }
            }
            sleep(milliseconds: 100)
        }
        return try stored(make)
    }
}
