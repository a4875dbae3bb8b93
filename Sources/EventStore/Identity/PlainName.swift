/// The names of nodes, clusters and peers, as people give them on command lines and in configurations.
package enum PlainName {
    /// What they are, for messages.
    package static let rule = "1 to 64 bytes without blanks, slashes and control characters"

    /// Whether a store takes `text` for a name, and so do all that speak of it.
    package static func isOne(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }
    }
}
