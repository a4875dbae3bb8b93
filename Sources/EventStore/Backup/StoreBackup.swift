internal import Glibc

/// Copies a store that may be open and written meanwhile: the log as it is when the copying begins, the node's key and its peers. Views
/// are built anew where the copy is opened. Attachments are copied apart.
package enum StoreBackup {
    /// What a backup has.
    package struct Report: Sendable {
        /// The last position.
        package let position: UInt64
        /// Of its log.
        package let bytes: UInt64
        package let hasKey: Bool
    }

    /// Writes the copy into the folder of `copy`, which is there and empty. It is on the disk when this returns. What a copy that failed has
    /// left is up to who has made the folder.
    ///
    /// - Parameters:
    ///   - withKey: Else the copy can be read, verified and exported, and no node can be started on it.
    ///   - progress: Runs with the pages of the log copied and all of its pages.
    /// - Throws: `E_NO_STORE`, `E_PERMISSION`, `E_DISK`, `E_IO`.
    package static func make(
        of files: StoreFiles, into copy: StoreFiles, withKey: Bool, progress: (Int, Int) -> Void = { _, _ in }
    ) throws(StoreError) -> Report {
        guard files.exists else { throw .notFound(path: files.folder) }
        let log = try LogReader(files)
        let key = withKey ? try SmallFile.read(files.key) : nil
        let peers = try SmallFile.read(files.peers)
        // Before the log: once it is gone, the log has what it says.
        let erasures = try SmallFile.read(files.laterErasures)
        var position = UInt64(0)
        let unfinished = copy.log + ".new"
        try log.inOneTransaction { () throws(StoreError) in
            position = try log.top()
            try mapped { () throws(DatabaseError) in try log.connection.copy(to: unfinished, progress) }
        }
        var entry = stat()
        guard stat(unfinished, &entry) == 0, rename(unfinished, copy.log) == 0 else { throw .system(copy.log) }
        if let peers { try SmallFile.replace(copy.peers, with: peers, mode: 0o600) }
        if let erasures { try SmallFile.replace(copy.laterErasures, with: erasures, mode: 0o600) }
        if let key { try SmallFile.replace(copy.key, with: key, mode: 0o600) }
        try SmallFile.syncFolder(of: copy.log)
        return Report(position: position, bytes: UInt64(clamping: entry.st_size), hasKey: key != nil)
    }
}
