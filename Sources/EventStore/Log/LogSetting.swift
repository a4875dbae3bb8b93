/// Keys of table `meta` (FORMATS.md §3).
enum LogSetting {
    private static let texts =
        ["name", "cluster", "incarnation", "file", "machine", "witness"] + ErasureIndex.settings
    private static let numbers = ["origin", LogUpgrade.looked, LogUpgrade.rereads]

    /// What SQLite calls the type of the value that releases so far give a key; `nil` for a key that none has written.
    static func type(of key: String) -> String? {
        if numbers.contains(key) { return "integer" }
        return texts.contains(key) || ErasureIndex.isPlace(key) || isSkew(key) ? "text" : nil
    }

    /// Whether the key is to flag an origin for its clock.
    static func isSkew(_ key: String) -> Bool { key.hasPrefix("skew ") }
}
