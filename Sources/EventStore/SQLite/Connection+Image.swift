internal import CSQLite

/// What a disk that fails says to SQLite.
package enum DiskRefusal: String, Sendable {
    /// There is no room, another has the lock, or a write failed.
    case full, busy, io

    fileprivate var code: Int32 {
        switch self {
        case .full: SQLITE_FULL
        case .busy: SQLITE_BUSY
        case .io: SQLITE_IOERR | 3 << 8  // _WRITE
        }
    }
}

extension Connection {
    /// A database in memory that begins as the file whose bytes these are.
    convenience init(image: [UInt8]) throws(DatabaseError) {
        try self.init(path: ":memory:", mode: .write)
        guard !image.isEmpty, let bytes = sqlite3_malloc64(UInt64(image.count)) else { return }
        bytes.copyMemory(from: image, byteCount: image.count)
        let code = sqlite3_deserialize(
            handle, "main", bytes.assumingMemoryBound(to: UInt8.self), Int64(image.count), Int64(image.count),
            UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE))
        guard code == SQLITE_OK else { throw error("deserialize") }
    }

    /// The bytes of the database as it was last committed.
    var image: [UInt8] {
        var size: Int64 = 0
        guard let bytes = sqlite3_serialize(handle, "main", &size, 0) else { return [] }
        defer { sqlite3_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(size)))
    }

    /// From now on an event that is put at this position meets a disk that refuses; `nil` ends that. SQLite then does what it does
    /// when a page cannot be written.
    func refuse(_ refusal: DiskRefusal, at position: UInt64?) throws(DatabaseError) {
        try execute("DROP TRIGGER IF EXISTS temp.refusal")
        guard let position else { return }
        sqlite3_create_function_v2(
            handle, "refusal", 0, SQLITE_UTF8, UnsafeMutableRawPointer(bitPattern: Int(refusal.code)),
            { context, _, _ in
                sqlite3_result_error_code(
                    context, Int32(truncatingIfNeeded: Int(bitPattern: sqlite3_user_data(context))))
            }, nil, nil, nil)
        try execute(
            """
            CREATE TEMP TRIGGER refusal BEFORE INSERT ON event WHEN new.position = \(position)
            BEGIN SELECT refusal(); END
            """)
    }
}
