/// The attachments of a store as they lie in its folder, for who reads alone: an auditor, or a program beside a daemon. Not Sendable.
package final class AttachmentCopy {
    package let folder: AttachmentFolder
    private let index: AttachmentIndex?

    package init(_ files: StoreFiles) throws(StoreError) {
        folder = AttachmentFolder(files)
        index = try AttachmentIndex(reading: folder)
    }

    /// Opens bytes that are what their name says: all of them are read for that.
    package func open(_ digest: Digest) throws(AttachmentError) -> AttachmentReader {
        guard let reader = try attaching({ () throws(StoreError) in try AttachmentReader(folder, digest) }) else {
            throw .missing(digest)
        }
        try reader.check()
        return reader
    }

    /// The file as it is; `nil` if there is none. Who reads all of it finds out whether it is what its name says.
    package func file(_ digest: Digest) throws(AttachmentError) -> AttachmentReader? {
        try attaching { () throws(StoreError) in try AttachmentReader(folder, digest) }
    }

    /// All whole files, ascending, but those whose names are being erased.
    package func files() throws(StoreError) -> [AttachmentWant] {
        let leaving = Set(try all(.leaving, limit: .max).map(\.digest))
        return try folder.files().filter { !leaving.contains($0.digest) }
    }

    /// Whether anything was found out of what events name.
    package var isKnown: Bool { index != nil }

    /// Whether an event is known to name these bytes, be they here or not.
    package func isNamed(_ digest: Digest) throws(StoreError) -> Bool {
        switch try index?.state(of: digest)?.state {
        case .present, .missing, .damaged: true
        case .leaving, .unnamed, nil: false
        }
    }

    /// How an attachment that an event names stands here.
    package func state(of digest: Digest) throws(StoreError) -> AttachmentState {
        folder.state(of: digest, try index?.state(of: digest)?.state ?? .missing)
    }

    /// The first of those that stand so; none where nothing was found out yet. Files that are gone are among those that are missing, be it
    /// noted or not.
    package func all(_ state: AttachmentState, limit: Int) throws(StoreError) -> [AttachmentWant] {
        guard let index else { return [] }
        let known = try index.standing(state, limit: limit).map(\.want)
        guard state == .missing else { return known }
        let (lost, found) = try changes(of: index)
        let isBack = Set(found.map(\.digest))
        return Array((known.filter { !isBack.contains($0.digest) } + lost).prefix(limit))
    }

    /// How many there are, by how they stand.
    package func figures() throws(StoreError) -> [AttachmentState: AttachmentFigures] {
        guard let index else { return [:] }
        var figures = try index.figures()
        let (lost, found) = try changes(of: index)
        let moves = [(lost, AttachmentState.present, AttachmentState.missing), (found, .missing, .present)]
        for (wants, from, to) in moves where !wants.isEmpty {
            let (blobs, bytes) = (UInt64(wants.count), wants.saturatedSum(of: \.bytes))
            let (before, after) = (figures[from] ?? .init(), figures[to] ?? .init())
            figures[from] = AttachmentFigures(
                blobs: before.blobs - min(before.blobs, blobs), bytes: before.bytes - min(before.bytes, bytes))
            figures[to] = AttachmentFigures(
                blobs: after.blobs + blobs, bytes: [after.bytes, bytes].saturatedSum { $0 })
        }
        return figures
    }

    /// Files that are gone, and those that are there again, of which the index does not know yet.
    private func changes(
        of index: AttachmentIndex
    ) throws(StoreError) -> (lost: [AttachmentWant], found: [AttachmentWant]) {
        var (lost, found): ([AttachmentWant], [AttachmentWant]) = ([], [])
        for first in UInt8.min ... .max {
            for (want, state) in try folder.changes(of: index, first) {
                if state == .present {
                    found.append(want)
                } else if try index.state(of: want.digest)?.state == .present {
                    // Else an erasure has taken it meanwhile.
                    lost.append(want)
                }
            }
        }
        return (lost, found)
    }

    /// What a check of all files has found.
    package struct Report: Sendable {
        package var blobs: UInt64 = 0
        package var bytes: UInt64 = 0
        /// Files with other bytes than their names say; at most ``most`` are named.
        package var damaged: [Digest] = []
        /// How many there are.
        package var damagedCount: UInt64 = 0

        package static let most = 1_000
    }

    /// Reads every file, and compares its bytes with its name.
    ///
    /// - Parameters:
    ///   - found: Told of each file with other bytes.
    ///   - progress: Told of the bytes that were read, now and then.
    package func verify(
        found: (Digest) -> Void = { _ in }, progress: (UInt64) -> Void = { _ in }
    ) throws(StoreError) -> Report {
        var report = Report()
        for prefix in try SmallFile.names(in: folder.path) where prefix.utf8.count == 2 {
            for name in try SmallFile.names(in: "\(folder.path)/\(prefix)") {
                guard let digest = Digest(hexadecimal: name), name.hasPrefix(prefix) else { continue }
                do throws(AttachmentError) {
                    let reader = try attaching { () throws(StoreError) in try AttachmentReader(folder, digest) }
                    guard let reader else { continue }
                    report.blobs += 1
                    try reader.check { count in
                        report.bytes += UInt64(count)
                        progress(report.bytes)
                    }
                } catch {
                    // What is no file there is no file with these bytes either.
                    if case .store(let error) = error {
                        guard case .unsafe = error else { throw error }
                    }
                    report.damagedCount += 1
                    if report.damaged.count < Report.most { report.damaged.append(digest) }
                    found(digest)
                }
            }
        }
        return report
    }
}
