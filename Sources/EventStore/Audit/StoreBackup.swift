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

    /// Makes `folder`, which must not be there, and writes the copy into it. It is on the disk when this returns. What a copy that failed
    /// has left is taken away.
    ///
    /// - Parameters:
    ///   - withKey: Else the copy can be read, verified and exported, and no node can be started on it.
    ///   - progress: Runs with the pages of the log copied and all of its pages.
    /// - Throws: `E_STORE_FILE` if `folder` is there; `E_NO_STORE`, `E_PERMISSION`, `E_DISK`, `E_IO`.
    package static func make(
        of files: StoreFiles, in folder: String, withKey: Bool, progress: (Int, Int) -> Void = { _, _ in }
    ) throws(StoreError) -> Report {
        guard files.exists else { throw .notFound(path: files.folder) }
        let log = try LogReader(files)
        let key = withKey ? try SmallFile.read(files.key) : nil
        let peers = try SmallFile.read(files.peers)
        // Before the log: once it is gone, the log has what it says.
        let erasures = try SmallFile.read(files.laterErasures)
        let copy = StoreFiles(folder)
        guard mkdir(copy.folder, 0o700) == 0 else {
            guard errno == EEXIST else { throw .system(copy.folder) }
            throw .badFile("\(copy.folder) is there already", wayOut: "name a folder that is not there yet")
        }
        do throws(StoreError) {
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
            for path in [copy.log, copy.folder] { try SmallFile.syncFolder(of: path) }
            return Report(position: position, bytes: UInt64(clamping: entry.st_size), hasKey: key != nil)
        } catch {
            for path in [copy.key, copy.peers, copy.laterErasures] { unlink(path) }
            for path in [copy.log + ".new", copy.log] { SmallFile.removeDatabase(path) }
            rmdir(copy.folder)
            throw error
        }
    }
}
