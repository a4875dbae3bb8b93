internal import Glibc

/// How the bytes of an attachment stand on this node.
package enum AttachmentState: Int64, CaseIterable, Sendable {
    /// They are here, and an event names them.
    case present = 0
    /// An event names them, and they are not here: a peer may have them.
    case missing = 1
    /// Their file has other bytes than its name says; peers are asked for them.
    case damaged = 2
    /// What named them is being erased: they go, unless another event names them.
    case leaving = 3
    /// They are here, and no event names them yet.
    case unnamed = 4

    /// As programs read it.
    package var text: String { "\(self)" }
}

/// How many attachments stand so, and how many bytes they have.
package struct AttachmentFigures: Hashable, Sendable {
    package var blobs: UInt64 = 0
    package var bytes: UInt64 = 0

    package init(blobs: UInt64 = 0, bytes: UInt64 = 0) { (self.blobs, self.bytes) = (blobs, bytes) }
}

/// Bytes that an event names.
package struct AttachmentWant: Hashable, Sendable {
    package let digest: Digest
    /// How many there are, as an event says.
    package let bytes: UInt64

    package init(digest: Digest, bytes: UInt64) { (self.digest, self.bytes) = (digest, bytes) }
}

/// Where an attachment stands among those of its state.
package struct AttachmentStanding: Hashable, Sendable {
    /// Unix milliseconds.
    let since: Int64
    let digest: Digest

    /// As a cursor holds it.
    package var names: [String] { [String(since), digest.description] }

    /// `nil` if `names` are of none.
    package init?(names: [String]) {
        guard names.count == 2, let since = Int64(names[0]), let digest = Digest(hexadecimal: names[1]) else {
            return nil
        }
        (self.since, self.digest) = (since, digest)
    }

    init(since: Int64, digest: Digest) { (self.since, self.digest) = (since, digest) }
}

/// `attachments/index.db`: how each attachment stands, so that none has to be looked for among all. What it says of this node's files can be
/// found out again from them and from the views. Not Sendable.
final class AttachmentIndex {
    private let connection: Connection
    /// "SilA".
    private static let applicationID: Int64 = 0x5369_6c41
    private static let version: Int64 = 1
    private static let schema = """
        CREATE TABLE blob(
          sha256 BLOB PRIMARY KEY, state INTEGER NOT NULL, bytes INTEGER NOT NULL, since INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX blob_open ON blob(state, since, sha256) WHERE state > 0;
        CREATE TABLE total(state INTEGER PRIMARY KEY, blobs INTEGER NOT NULL, bytes INTEGER NOT NULL);
        CREATE TABLE place(log TEXT NOT NULL, position INTEGER NOT NULL);
        INSERT INTO place VALUES('', 0);
        """

    /// Opens the file, or makes it. One that cannot be read is made anew: the views tell what is named.
    init(_ folder: AttachmentFolder) throws(StoreError) {
        do throws(DatabaseError) {
            connection = try Self.open(folder.index)
        } catch {
            if case .file(let file) = error { throw file }
            SmallFile.removeDatabase(folder.index)
            connection = try mapped { () throws(DatabaseError) in try Self.open(folder.index) }
        }
    }

    /// Opens the file for reading; `nil` if there is none.
    init?(reading folder: AttachmentFolder) throws(StoreError) {
        guard access(folder.index, F_OK) == 0 else { return nil }
        connection = try openForReading(folder.index)
        let (application, version) = try mapped { () throws(DatabaseError) in
            (try connection.integer("PRAGMA application_id"), try connection.integer("PRAGMA user_version"))
        }
        guard application == Self.applicationID, version == Self.version else { return nil }
    }

    private static func open(_ path: String) throws(DatabaseError) -> Connection {
        let connection = try Connection(path: path, mode: .write)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;")
        let found = try connection.integer("PRAGMA user_version") ?? 0
        if found == version, try connection.integer("PRAGMA application_id") == applicationID { return connection }
        guard found == 0, try connection.integer("SELECT count(*) FROM sqlite_schema") == 0 else {
            throw .damaged(.file(path), "it is of version \(found)")
        }
        try connection.transaction { () throws(DatabaseError) in
            try connection.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version);")
            try connection.execute(schema)
        }
        return connection
    }

    // MARK: Changes

    private struct Row {
        let state: AttachmentState
        let bytes: UInt64
    }

    private func row(_ digest: Digest) throws(DatabaseError) -> Row? {
        try connection.first("SELECT state, bytes FROM blob WHERE sha256 = ?", [.blob(digest.bytes)]) { row in
            AttachmentState(rawValue: row.int64(0)).map { Row(state: $0, bytes: row.uint64(1)) }
        }
    }

    /// Runs changes that come together in one transaction.
    func change(_ body: () throws(DatabaseError) -> Void) throws(StoreError) {
        try mapped { () throws(DatabaseError) in
            try connection.transaction { () throws(DatabaseError) in try body() }
        }
    }

    /// How an attachment stands from now on. Within ``change(_:)``.
    func set(_ digest: Digest, _ state: AttachmentState, bytes: UInt64) throws(DatabaseError) {
        if let before = try row(digest) {
            if before.state == state, before.bytes == bytes { return }
            try count(before.state, by: -1, before.bytes)
        }
        try count(state, by: 1, bytes)
        try connection.run(
            "INSERT OR REPLACE INTO blob VALUES(?, ?, ?, ?)", .blob(digest.bytes), .integer(state.rawValue),
            .unsigned(bytes), .integer(WallClock.now))
    }

    /// Forgets an attachment. Within ``change(_:)``.
    func forget(_ digest: Digest) throws(DatabaseError) {
        guard let before = try row(digest) else { return }
        try count(before.state, by: -1, before.bytes)
        try connection.run("DELETE FROM blob WHERE sha256 = ?", .blob(digest.bytes))
    }

    /// Takes what was forgotten out of the WAL, too: a SHA-256 would let a guess be tried. While someone reads the index it stays until the next
    /// time.
    func scrub() { _ = try? connection.checkpoint(truncate: true) }

    private func count(_ state: AttachmentState, by sign: Int64, _ bytes: UInt64) throws(DatabaseError) {
        try connection.run(
            """
            INSERT INTO total VALUES(?, ?, ?)
            ON CONFLICT(state) DO UPDATE SET blobs = blobs + excluded.blobs, bytes = bytes + excluded.bytes
            """, .integer(state.rawValue), .integer(sign), .integer(sign * Int64(clamping: bytes)))
    }

    /// From where on the views are to be followed. Within ``change(_:)``.
    func setPlace(_ position: UInt64, of log: String) throws(DatabaseError) {
        try connection.run("UPDATE place SET log = ?, position = ?", .text(log), .unsigned(position))
    }

    // MARK: Questions

    /// Up to which position of this log's views it was looked at what they name.
    func place(of log: String) throws(StoreError) -> UInt64 {
        try mapped { () throws(DatabaseError) in
            let found = try connection.first("SELECT position FROM place WHERE log = ?", [.text(log)]) {
                $0.uint64(0)
            }
            return found ?? 0
        }
    }

    func state(of digest: Digest) throws(StoreError) -> (state: AttachmentState, bytes: UInt64)? {
        try mapped { () throws(DatabaseError) in try row(digest).map { ($0.state, $0.bytes) } }
    }

    /// Those that stand so, who have for longest first.
    ///
    /// - Parameters:
    ///   - before: Only those that have since before then, Unix milliseconds.
    ///   - place: Only what comes behind this one.
    func standing(
        _ state: AttachmentState, limit: Int, before: Int64 = .max, after place: AttachmentStanding? = nil
    ) throws(StoreError) -> [(want: AttachmentWant, place: AttachmentStanding)] {
        try mapped { () throws(DatabaseError) in
            try connection.all(
                """
                SELECT sha256, bytes, since FROM blob
                WHERE state = ?1 AND state > 0 AND since < ?2 AND (since, sha256) > (?3, ?4)
                ORDER BY since, sha256 LIMIT ?5
                """,
                [
                    .integer(state.rawValue), .integer(before), .integer(place?.since ?? .min),
                    .blob(place?.digest.bytes ?? []), .integer(Int64(limit)),
                ]
            ) { row in
                row.digest(0).map { digest in
                    (
                        AttachmentWant(digest: digest, bytes: row.uint64(1)),
                        AttachmentStanding(since: row.int64(2), digest: digest)
                    )
                }
            }
        }
    }

    /// Those whose SHA-256 begins with this byte and whose bytes an event names: whether they are here, or not.
    func named(_ first: UInt8) throws(StoreError) -> [(want: AttachmentWant, isPresent: Bool)] {
        try mapped { () throws(DatabaseError) in
            try connection.all(
                "SELECT sha256, bytes, state FROM blob WHERE sha256 BETWEEN ? AND ? AND state IN (?, ?)",
                [
                    .blob([first]), .blob([first] + [UInt8](repeating: .max, count: 32)),
                    .integer(AttachmentState.present.rawValue), .integer(AttachmentState.missing.rawValue),
                ]
            ) { row in
                row.digest(0).map { digest in
                    (
                        AttachmentWant(digest: digest, bytes: row.uint64(1)),
                        row.int64(2) == AttachmentState.present.rawValue
                    )
                }
            }
        }
    }

    func figures() throws(StoreError) -> [AttachmentState: AttachmentFigures] {
        try mapped { () throws(DatabaseError) in
            var figures: [AttachmentState: AttachmentFigures] = [:]
            try connection.rows("SELECT state, blobs, bytes FROM total") { row in
                guard let state = AttachmentState(rawValue: row.int64(0)) else { return }
                figures[state] = AttachmentFigures(
                    blobs: UInt64(max(0, row.int64(1))), bytes: UInt64(max(0, row.int64(2))))
            }
            return figures
        }
    }
}
