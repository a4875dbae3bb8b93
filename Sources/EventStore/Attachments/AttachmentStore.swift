/// The bytes of attachments in a store's folder, by their SHA-256.
///
/// ## Concurrency model
/// Any thread may call anything, and waits for the disk. One lock guards the index; files are written and read outside of it. Only the
/// owner of the store's lock has one: others read with an ``AttachmentCopy``.
package final class AttachmentStore: Sendable {
    private struct State {
        let index: AttachmentIndex
        /// Files whose bytes were found to be what their names say, since the start.
        var checked: [Digest: FileIdentity] = [:]
        var temporaries: UInt64 = 0
        /// Files that were found to be gone, and of which it was not told yet.
        var lost = 0
    }

    package let folder: AttachmentFolder
    private let state: Lock<State>
    /// Most files that are remembered as checked (INV-9).
    private static let mostChecked = 10_000

    /// Opens the folder, or makes it, and takes away what writers have left that did not come to their end.
    package init(_ files: StoreFiles) throws(StoreError) {
        let folder = AttachmentFolder(files)
        try folder.make()
        try folder.sweep()
        self.folder = folder
        let index = try AttachmentIndex(folder)
        state = Lock(State(index: index))
    }

    private func indexed<Value>(
        _ body: (AttachmentIndex) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try state.withLock { state throws(StoreError) in try body(state.index) }
    }

    // MARK: Bytes that come whole

    /// Begins to take bytes.
    package func begin(limit: UInt64) throws(StoreError) -> AttachmentWriter {
        let number = state.withLock { state in
            state.temporaries += 1
            return state.temporaries
        }
        return try AttachmentWriter(folder, number, limit: limit)
    }

    /// Puts what was written under its name, durably. Returns the name, and whether it was not here before.
    package func finish(
        _ writer: AttachmentWriter, stated: Digest? = nil
    ) throws(AttachmentError) -> (digest: Digest, isNew: Bool) {
        let (digest, isNew) = try writer.finish(stated: stated)
        let count = writer.count
        try attaching { () throws(StoreError) in
            try indexed { index throws(StoreError) in
                let known = try index.state(of: digest)?.state
                // What an event names is there now. What was leaving comes back by the hand of who puts it.
                let state: AttachmentState =
                    switch known {
                    case .present, .missing, .damaged: .present
                    case .leaving, .unnamed, nil: .unnamed
                    }
                try index.change { () throws(DatabaseError) in try index.set(digest, state, bytes: count) }
            }
        }
        return (digest, isNew)
    }

    // MARK: Reading

    /// Opens the bytes, which are what their name says; read anew if they were not since the start, or if the file was changed.
    ///
    /// - Throws: ``AttachmentError/missing(_:)`` and ``AttachmentError/damaged(_:)``, which is noted.
    package func open(_ digest: Digest) throws(AttachmentError) -> AttachmentReader {
        guard let reader = try reader(digest) else {
            throw AttachmentFolder.stands(folder.damaged(digest)) ? .damaged(digest) : .missing(digest)
        }
        let identity = reader.identity
        if let identity, state.withLock({ $0.checked[digest] }) == identity { return reader }
        do throws(AttachmentError) {
            try reader.check()
        } catch {
            if case .damaged = error { note(damaged: digest) }
            throw error
        }
        state.withLock { state in
            if state.checked.count >= Self.mostChecked { state.checked = [:] }
            state.checked[digest] = identity
        }
        return reader
    }

    /// Opens the file; `nil` if there is none. A link that stands there is put aside as damage is: its bytes are another's.
    private func reader(_ digest: Digest) throws(AttachmentError) -> AttachmentReader? {
        guard AttachmentFolder.isLink(folder.blob(digest)) else {
            return try attaching { () throws(StoreError) in try AttachmentReader(folder, digest) }
        }
        note(damaged: digest)
        throw .damaged(digest)
    }

    /// The file of this digest has other bytes: it is put aside, and no one is given them.
    package func note(damaged digest: Digest) {
        let blob = folder.blob(digest)
        state.withLock { state in
            state.checked[digest] = nil
            guard AttachmentFolder.putAside(blob, folder.damaged(digest)) else { return }
            try? SmallFile.syncFolder(of: blob)
            guard let known = try? state.index.state(of: digest), known.state == .present else { return }
            try? state.index.change { () throws(DatabaseError) in
                try state.index.set(digest, .damaged, bytes: known.bytes)
            }
        }
    }

    /// Up to `most` bytes at `offset`, and how many there are in all: at least one, but of an attachment that has none. `nil` if it is not
    /// here or not so long. The bytes are not compared with the name: who gets all of them does that.
    package func piece(
        _ digest: Digest, at offset: UInt64, most: Int
    ) throws(AttachmentError) -> (total: UInt64, bytes: [UInt8])? {
        guard let reader = try reader(digest), offset < reader.count || reader.count == 0 && offset == 0 else {
            return nil
        }
        return (reader.count, try reader.read(at: offset, most: most))
    }

    // MARK: Bytes that a peer sends piece by piece

    /// How many bytes of it have come.
    package func partCount(_ digest: Digest) throws(StoreError) -> UInt64 {
        try AttachmentFolder.size(of: folder.part(digest)) ?? 0
    }

    /// From where on a peer is asked that was not asked before: the last byte that has come is asked for again. A process that ended between the
    /// last byte of all and its name has left no other to ask for, and no peer answers for what stands behind the end.
    package func resume(_ digest: Digest) throws(StoreError) -> UInt64 {
        let come = try partCount(digest)
        return come - min(come, 1)
    }

    /// What comes of a piece.
    package enum PartOutcome: Hashable, Sendable {
        /// So many bytes have come.
        case more(UInt64)
        /// They are whole, and under their name.
        case whole
        /// They are not those that the name says: what had come is thrown away.
        case wrong
        /// There are more than there may be.
        case tooLarge
        /// No event needs them any more.
        case unwanted
    }

    /// Keeps a piece of what a peer sends.
    ///
    /// - Parameters:
    ///   - total: How many bytes there are, as the peer says.
    ///   - limit: How many there may be.
    package func keep(
        _ digest: Digest, at offset: UInt64, _ bytes: [UInt8], total: UInt64, limit: UInt64
    ) throws(StoreError) -> PartOutcome {
        let part = folder.part(digest)
        let known = try indexed { index throws(StoreError) in try index.state(of: digest)?.state }
        guard known == .missing || known == .damaged else {
            AttachmentFolder.drop(part)
            return .unwanted
        }
        guard total <= limit else {
            AttachmentFolder.drop(part)
            return .tooLarge
        }
        guard offset <= total, UInt64(bytes.count) <= total - offset, !bytes.isEmpty || total == 0
        else {
            AttachmentFolder.drop(part)
            return .wrong
        }
        let come = try AttachmentFolder.write(bytes, to: part, at: offset)
        guard come >= total else { return .more(come) }
        return try finishPart(digest, total)
    }

    private func finishPart(_ digest: Digest, _ total: UInt64) throws(StoreError) -> PartOutcome {
        let part = folder.part(digest)
        guard try AttachmentFolder.size(of: part) == total, try AttachmentFolder.digest(of: part) == digest else {
            AttachmentFolder.drop(part)
            return .wrong
        }
        try folder.makePlace(of: digest)
        let blob = folder.blob(digest)
        return try state.withLock { state throws(StoreError) in
            // What named it may have been erased meanwhile: then it must not come back.
            guard let known = try state.index.state(of: digest)?.state, known == .missing || known == .damaged else {
                AttachmentFolder.drop(part)
                return .unwanted
            }
            try AttachmentFolder.move(part, to: blob)
            AttachmentFolder.drop(folder.damaged(digest))
            try state.index.change { () throws(DatabaseError) in
                try state.index.set(digest, .present, bytes: total)
            }
            return .whole
        }
    }

    // MARK: What events name

    /// Up to which position of the log with this mark it was looked at what its events name.
    package func place(of log: String) throws(StoreError) -> UInt64 {
        try indexed { index throws(StoreError) in try index.place(of: log) }
    }

    /// Events up to `position` name these bytes, and no others that were not told before.
    package func named(_ wants: [AttachmentWant], through position: UInt64, of log: String) throws(StoreError) {
        try indexed { index throws(StoreError) in
            var states: [(AttachmentWant, AttachmentState, UInt64)] = []
            for want in wants {
                let known = try index.state(of: want.digest)
                guard known == nil || known?.state == .unnamed else { continue }
                let size = try AttachmentFolder.size(of: folder.blob(want.digest))
                states.append((want, size == nil ? .missing : .present, size ?? want.bytes))
            }
            try index.change { () throws(DatabaseError) in
                for (want, state, bytes) in states { try index.set(want.digest, state, bytes: bytes) }
                try index.setPlace(position, of: log)
            }
        }
    }

    /// What names these bytes is about to be erased. Durable when it returns: the payloads that say so may go then.
    package func leaving(_ wants: [AttachmentWant]) throws(StoreError) {
        guard !wants.isEmpty else { return }
        try indexed { index throws(StoreError) in
            try index.change { () throws(DatabaseError) in
                for want in wants { try index.set(want.digest, .leaving, bytes: want.bytes) }
            }
        }
    }

    /// Decides of bytes whose names are erased.
    ///
    /// - Parameter isNamed: Whether an event that is left names them.
    /// - Returns: Whether they are gone.
    package func settle(_ want: AttachmentWant, isNamed: Bool) throws(StoreError) -> Bool {
        try state.withLock { state throws(StoreError) in
            let blob = folder.blob(want.digest)
            guard !isNamed else {
                let size = try AttachmentFolder.size(of: blob)
                try state.index.change { () throws(DatabaseError) in
                    try state.index.set(
                        want.digest, size == nil ? .missing : .present, bytes: size ?? want.bytes)
                }
                return false
            }
            try remove(want.digest, state.index)
            state.checked[want.digest] = nil
            state.index.scrub()
            return true
        }
    }

    /// Takes note of files of which nothing is known: a hand has put them there, as what was erased, or the index was made anew. Where no event
    /// names them they go as what was put and never named.
    ///
    /// - Parameter isNamed: Whether an event names these bytes.
    package func noteStrays(isNamed: (Digest) throws(StoreError) -> Bool) throws(StoreError) {
        for file in try folder.files() where try standing(of: file.digest) == nil {
            let state: AttachmentState = try isNamed(file.digest) ? .present : .unnamed
            try indexed { index throws(StoreError) in
                guard try index.state(of: file.digest) == nil else { return }
                try index.change { () throws(DatabaseError) in
                    try index.set(file.digest, state, bytes: file.bytes)
                }
            }
        }
    }

    /// Takes bytes away that were put before `then`, Unix milliseconds, and that no event has named.
    ///
    /// - Parameter isNamed: Asked once more of each: what names it may have been seen before the bytes came.
    package func dropUnnamed(
        before then: Int64, limit: Int = 1_000, isNamed: (Digest) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let old = try indexed { index throws(StoreError) in try index.standing(.unnamed, limit: limit, before: then) }
        for (want, _) in old {
            let isKept = try isNamed(want.digest)
            try state.withLock { state throws(StoreError) in
                guard try state.index.state(of: want.digest)?.state == .unnamed else { return }
                if isKept {
                    try state.index.change { () throws(DatabaseError) in
                        try state.index.set(want.digest, .present, bytes: want.bytes)
                    }
                } else {
                    try remove(want.digest, state.index)
                    state.checked[want.digest] = nil
                }
            }
        }
    }

    private func remove(_ digest: Digest, _ index: AttachmentIndex) throws(StoreError) {
        let blob = folder.blob(digest)
        for path in [folder.part(digest), folder.damaged(digest), blob] { try AttachmentFolder.shred(path) }
        if try AttachmentFolder.hasPlace(of: blob) { try SmallFile.syncFolder(of: blob) }
        try index.change { () throws(DatabaseError) in try index.forget(digest) }
    }

    // MARK: Questions

    /// How an attachment stands; `nil` if nothing is known of it.
    package func standing(of digest: Digest) throws(StoreError) -> (state: AttachmentState, bytes: UInt64)? {
        let known = try indexed { index throws(StoreError) in try index.state(of: digest) }
        return known.map { (folder.state(of: digest, $0.state), $0.bytes) }
    }

    /// The first of those that stand so.
    package func all(_ state: AttachmentState, limit: Int) throws(StoreError) -> [AttachmentWant] {
        try indexed { index throws(StoreError) in try index.standing(state, limit: limit).map(\.want) }
    }

    /// Those that stand so, who have for longest first: at most `limit`, behind `place`.
    package func standing(
        _ state: AttachmentState, limit: Int, after place: AttachmentStanding? = nil
    ) throws(StoreError) -> [(want: AttachmentWant, place: AttachmentStanding)] {
        try indexed { index throws(StoreError) in try index.standing(state, limit: limit, after: place) }
    }

    /// How many there are, by how they stand.
    package func figures() throws(StoreError) -> [AttachmentState: AttachmentFigures] {
        try indexed { index throws(StoreError) in try index.figures() }
    }

    /// Looks which files are gone, and which are there again, of what begins with these bytes.
    package func noteLost(_ range: ClosedRange<UInt8> = .min ... .max) throws(StoreError) {
        for first in range {
            try state.withLock { state throws(StoreError) in
                let changes = try folder.changes(of: state.index, first)
                guard !changes.isEmpty else { return }
                try state.index.change { () throws(DatabaseError) in
                    for (want, found) in changes { try state.index.set(want.digest, found, bytes: want.bytes) }
                }
                state.lost += changes.count { $0.1 == .missing }
            }
        }
    }

    /// How many files were found to be gone since this was asked last.
    package func takeLost() -> Int {
        state.withLock { state in
            defer { state.lost = 0 }
            return state.lost
        }
    }

    /// The file of bytes that should be here is gone.
    package func note(missing digest: Digest) throws(StoreError) {
        try indexed { index throws(StoreError) in
            guard let known = try index.state(of: digest), known.state == .present,
                try AttachmentFolder.size(of: folder.blob(digest)) == nil
            else { return }
            try index.change { () throws(DatabaseError) in try index.set(digest, .missing, bytes: known.bytes) }
        }
    }
}
