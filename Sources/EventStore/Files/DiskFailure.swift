internal import Glibc

/// That the disk has failed under a store, remembered in a file of it until the next start has written everything anew (D23).
/// `{"reason":"…","at":"<RFC 3339>"}`
package struct DiskFailure: Hashable, Sendable {
    /// What failed, for people.
    package let reason: String
    /// When, Unix milliseconds.
    package let at: Int64

    init(reason: String, at: Int64) {
        self.reason = reason
        self.at = at
    }

    /// What the store remembers; `nil` if nothing has failed. A file that cannot be read says that something has.
    package init?(_ files: StoreFiles) {
        guard access(files.diskFailure, F_OK) == 0 else { return nil }
        let object = (try? SmallFile.read(files.diskFailure))
            .flatMap { bytes in bytes.flatMap { try? JSONObject(validating: $0) } }
        reason = object?.string("reason") ?? "the file that says it cannot be read"
        at = object?.string("at").flatMap { Timestamp.milliseconds($0) } ?? 0
    }

    /// Keeps it, as well as a failing disk lets it.
    func keep(_ files: StoreFiles) {
        var text = Array(#"{"reason":"#.utf8)
        JSONText.append(reason, to: &text)
        text.append(contentsOf: #","at":"\#(Timestamp.text(at))"}"#.utf8)
        text.append(UInt8(ascii: "\n"))
        try? SmallFile.replace(files.diskFailure, with: text, mode: 0o600)
    }

    static func forget(_ files: StoreFiles) throws(StoreError) {
        guard unlink(files.diskFailure) == 0 || errno == ENOENT else { throw .system(files.diskFailure) }
        try SmallFile.syncFolder(of: files.diskFailure)
    }
}
