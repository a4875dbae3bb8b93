/// What one node says it holds, a cosignature for each origin: the value that it tells all other nodes (FORMATS.md §9).
package struct CosignatureList: Hashable, Sendable {
    /// Ascending by origin.
    package let entries: [Cosignature]

    /// Most entries of a list: those of origins beyond them wait until they are among the last that grew.
    package static let most = 1_024
    /// What lists are about, for those who carry them.
    package static let key =
        UUIDBits(
            bytes: SHA256().digest(Array("sillok cosignatures v1\n".utf8)).bytes.prefix(16))
        ?? UUIDBits(high: 0, low: 0)

    private static let version: UInt64 = 1
    private static let entryBytes = 200

    package init(_ entries: [Cosignature]) { self.entries = entries.sorted { $0.head.origin < $1.head.origin } }

    /// Numbers of eight bytes, the most significant first: version and count, then of each entry origin (16 bytes), size, root (32), hlc, the
    /// signature of the origin's node (64), time and the cosignature (64).
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendBigEndian(Self.version)
        bytes.appendBigEndian(UInt64(entries.count))
        for entry in entries {
            entry.head.origin.bits.append(to: &bytes)
            bytes.appendBigEndian(entry.head.size)
            entry.head.root.append(to: &bytes)
            bytes.appendBigEndian(entry.head.hlc.rawValue)
            bytes += entry.signed.signature
            bytes.appendBigEndian(entry.time)
            bytes += entry.signature
        }
        return bytes
    }

    /// Reads the list of `node`; `nil` for anything that ``bytes`` does not write. Signatures are not checked here.
    package init?(_ bytes: [UInt8], of node: NodeID) {
        func number(_ at: Int) -> UInt64 { bytes[at..<(at + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
        guard bytes.count >= 16, number(0) == Self.version, number(8) <= UInt64(Self.most),
            bytes.count == 16 + Int(number(8)) * Self.entryBytes
        else { return nil }
        var entries: [Cosignature] = []
        for at in stride(from: 16, to: bytes.count, by: Self.entryBytes) {
            guard let origin = OriginID(bytes: bytes[at..<(at + 16)]),
                let root = Digest(bytes: bytes[(at + 24)..<(at + 56)]),
                case let size = number(at + 16), size > 0, size <= Limits.number,
                case let hlc = HybridTime(rawValue: number(at + 56)), hlc.rawValue >> 63 == 0,
                case let time = number(at + 128), time <= Cosignature.latest
            else { return nil }
            if let last = entries.last, last.head.origin >= origin { return nil }
            let head = TreeHead(origin: origin, size: size, root: root, hlc: hlc)
            entries.append(
                Cosignature(
                    node: node, signed: SignedHead(head: head, signature: Array(bytes[(at + 64)..<(at + 128)])),
                    time: time, signature: Array(bytes[(at + 136)..<(at + Self.entryBytes)])))
        }
        self.entries = entries
    }
}
