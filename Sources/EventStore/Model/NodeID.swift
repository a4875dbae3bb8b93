/// Names a node: SHA-256 of its public key's DER SubjectPublicKeyInfo.
public struct NodeID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The 32 bytes.
    public let digest: Digest

    /// The node with this digest.
    public init(_ digest: Digest) { self.digest = digest }

    /// The node in 32 bytes; `nil` for any other count.
    public init?(bytes: some Collection<UInt8>) {
        guard let digest = Digest(bytes: bytes) else { return nil }
        self.digest = digest
    }

    /// The node in 64 hexadecimal digits; `nil` for anything else.
    public init?(text: some StringProtocol) {
        guard let bytes = hexBytes(text), let digest = Digest(bytes: bytes) else { return nil }
        self.digest = digest
    }

    /// The 32 bytes.
    public var bytes: [UInt8] { digest.bytes }
    /// 64 lowercase hexadecimal digits.
    public var description: String { digest.description }
    /// The first 12 digits: enough for people to tell their nodes apart.
    public var short: String { String(description.prefix(12)) }

    /// Byte order.
    public static func < (a: NodeID, b: NodeID) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }
}
