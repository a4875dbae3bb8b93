internal import EventStore
internal import Glibc

/// A store in the folder that TMPDIR names, gone when the process ends. Used by one thread.
struct FuzzStore {
    let folder: String
    let store: EventStore

    init(_ name: String) throws {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/sillok-fuzz-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BrokenPromise(description: "no temporary folder") }
        folder = template.withUnsafeBufferPointer { text in text.baseAddress.map { String(cString: $0) } ?? "" }
        if Self.folders.isEmpty { atexit { for folder in FuzzStore.folders { FuzzStore.removeFolder(folder) } } }
        Self.folders.append(folder)
        try EventStore.create(in: folder, name: name)
        store = try EventStore(opening: folder)
    }

    func remove() {
        store.close()
        Self.removeFolder(folder)
    }

    /// What is there to remove at the end.
    private nonisolated(unsafe) static var folders: [String] = []

    private static func removeFolder(_ folder: String) {
        guard let directory = opendir(folder) else { return }
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
                String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            unlink("\(folder)/\(name)")
        }
        closedir(directory)
        rmdir(folder)
    }
}
