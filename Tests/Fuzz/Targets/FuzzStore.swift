internal import EventStore
internal import Glibc

/// A store for as long as the process lives, in memory where the system has a place for that. Used by one thread.
struct FuzzStore {
    let folder: String
    let store: EventStore

    init(_ name: String) throws {
        let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(parent)/sillok-fuzz-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BrokenPromise(description: "no temporary folder") }
        folder = template.withUnsafeBufferPointer { text in text.baseAddress.map { String(cString: $0) } ?? "" }
        try EventStore.create(in: folder, name: name)
        store = try EventStore(opening: folder, durability: .full)
    }

    func remove() {
        store.close()
        Self.removeFolder(folder)
    }

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
