package import EventStore
internal import Glibc

/// What a drill has shown.
package struct DrillReport: Sendable {
    package let manifest: BackupManifest
    /// Milliseconds.
    package let restoring: Int64
    package let verifying: Int64
    /// Events that were verified.
    package let events: UInt64
    /// Bytes of the restored log.
    package let bytes: UInt64
    /// What keeps the backup from being good.
    package let findings: [DrillFinding]
    /// Rows without payload whose erasure came after the backup.
    package let erasedLater: UInt64
    /// Attachments that were read and are whole.
    package let attachments: Int

    package var isGood: Bool { findings.isEmpty }
}

/// What keeps a backup from being good.
package enum DrillFinding: Sendable, CustomStringConvertible {
    /// The restored store contradicts itself.
    case contradiction(VerifyFinding)
    /// An attachment did not come back.
    case lost(BackupError)
    /// So many events came back that were erased since.
    case cameBack(UInt64)
    /// No signed head covers so many events.
    case uncovered(UInt64)
    /// The log ends here, and the manifest names another position.
    case ends(at: UInt64, named: UInt64)
    /// The log has other events than the manifest names.
    case otherEvents

    package var description: String {
        switch self {
        case .contradiction(let finding): "\(finding)"
        case .lost(let error): "\(error)"
        case .cameBack(let count):
            "\(count) events came back that were erased since: an older copy was put back into the repository; "
                + "'backup create' of its node takes that out"
        case .uncovered(let count): "\(count) events are not covered by signed heads"
        case .ends(let top, let named): "the log ends at position \(top) and not at \(named)"
        case .otherEvents: "the log has other events than the backup names"
        }
    }
}

/// Restores a backup into a scratch folder, proves the store that comes out, compares it with the manifest, and takes it away. Not Sendable.
package final class BackupDrill {
    private let repository: Repository
    private let scratch: String
    private let restoring: (UInt64, UInt64) -> Bool
    private let verifying: (UInt64, UInt64) -> Void

    /// - Parameter scratch: A folder in which there is room for the log.
    package init(
        _ repository: Repository, in scratch: String, restoring: @escaping (UInt64, UInt64) -> Bool,
        verifying: @escaping (UInt64, UInt64) -> Void
    ) {
        (self.repository, self.scratch) = (repository, scratch)
        (self.restoring, self.verifying) = (restoring, verifying)
    }

    package func run(_ manifest: BackupManifest) throws(BackupError) -> DrillReport {
        let scratch = try ScratchFolder(in: scratch)
        defer { withExtendedLifetime(scratch) {} }
        let files = scratch.files
        let start = MonotonicClock.now
        // The key stays in the repository: a copy on a scratch disk is one more to be lost.
        let come = try BackupRestore(
            into: files.folder, withKey: false, withAttachments: false, progress: restoring
        ).run(manifest, of: repository)
        let restored = MonotonicClock.now
        let report = try mapped { () throws(StoreError) in try Verifier(files).run(progress: verifying) }
        let end = MonotonicClock.now
        // What a restore would say of what the backup has, and 'verify' of what comes out: nothing of it is passed over.
        var findings = report.findings.map(DrillFinding.contradiction) + come.missing.map(DrillFinding.lost)
        if come.notErased > 0 { findings.append(.cameBack(come.notErased)) }
        if report.unsigned > 0 { findings.append(.uncovered(report.unsigned)) }
        findings += try compare(manifest, files)
        var entry = stat()
        stat(files.log, &entry)
        return DrillReport(
            manifest: manifest, restoring: Int64((restored - start) / 1_000_000),
            verifying: Int64((end - restored) / 1_000_000), events: report.events,
            bytes: UInt64(clamping: entry.st_size),
            findings: findings, erasedLater: come.erasedLater, attachments: come.attachments)
    }

    /// What of the restored store is not as the manifest says.
    private func compare(_ manifest: BackupManifest, _ files: StoreFiles) throws(BackupError) -> [DrillFinding] {
        try mapped { () throws(StoreError) in
            let source = try BackupSource(files)
            var findings: [DrillFinding] = []
            let top = try source.top()
            if top != manifest.position { findings.append(.ends(at: top, named: manifest.position)) }
            if try !source.continues(manifest.node, manifest.position, manifest.origins.map(\.progress)) {
                findings.append(.otherEvents)
            }
            return findings
        }
    }
}
