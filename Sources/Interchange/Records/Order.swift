internal import EventStore

/// Tells records apart that say the same in the same minute: bounded, so that what was said very long ago may count as new.
struct Repeats {
    private var newer: [Digest: Int] = [:]
    private var older: [Digest: Int] = [:]
    private static let most = 50_000

    /// Whether `text` was counted.
    func has(_ text: String) -> Bool {
        let key = SHA256().digest(Array(text.utf8))
        return newer[key] != nil || older[key] != nil
    }

    /// How often `text` came before.
    mutating func count(_ text: String) -> Int {
        let key = SHA256().digest(Array(text.utf8))
        let before = newer[key] ?? older[key] ?? 0
        if newer.count == Self.most { (older, newer) = (newer, [:]) }
        newer[key] = before + 1
        return before
    }
}

/// Moments that are written without a place in the minute or second: the order of the file tells them apart, a millisecond each.
struct FileOrder {
    private var moment: Int64?
    private var count: Int64 = 0

    mutating func time(_ written: Int64, step: Int64) -> Int64 {
        if written != moment { (moment, count) = (written, 0) }
        defer { count = min(count + 1, step - 1) }
        return written + count
    }
}
