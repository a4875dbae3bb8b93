internal import EventStore

/// Where a drill restores to. What a killed drill has left, the next one takes away.
final class ScratchFolder {
    let files: StoreFiles
    private let folder: HeldFolder
    private static let prefix = "sillok-drill-"
    private static let store = "/store"

    /// Makes one in `parent`.
    init(in parent: String) throws(BackupError) {
        do throws(StoreError) {
            folder = try HeldFolder(in: parent, prefix: Self.prefix, clearing: [Self.prefix]) { path in
                StoreFolder.remove(path + Self.store)
                StoreFolder.remove(path + Self.store + BackupRestore.suffix)
            }
        } catch { throw .store(error) }
        files = StoreFiles(folder.path + Self.store)
    }
}
