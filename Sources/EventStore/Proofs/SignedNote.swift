/// The line of a C2SP signed note that carries one signature: `— <name> <base64(key hash ‖ bytes)>`.
package struct NoteSignature: Hashable, Sendable {
    /// What a key signs, as the note's key hash has it.
    package enum Kind: UInt8, Sendable {
        /// Ed25519 over the note's text: of the log itself.
        case head = 0x01
        /// A time and Ed25519 over a text with it: `cosignature/v1`.
        case cosignature = 0x04
    }

    /// Who has signed: a node's id.
    package let name: String
    /// The first four bytes of SHA-256(name ‖ "\n" ‖ kind ‖ 32 bytes of public key).
    package let keyHash: [UInt8]
    /// What follows the key hash.
    package let bytes: [UInt8]

    /// The signature in `bytes`, made by the node with this key.
    package init(_ kind: Kind, by key: VerifyingKey, _ bytes: [UInt8]) {
        name = key.nodeID.description
        keyHash = Self.keyHash(kind, name, key)
        self.bytes = bytes
    }

    fileprivate init?(line: Substring) {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "—", let bytes = base64Bytes(parts[2]), bytes.count > 4 else {
            return nil
        }
        name = String(parts[1])
        keyHash = Array(bytes[..<4])
        self.bytes = Array(bytes[4...])
    }

    private static func keyHash(_ kind: Kind, _ name: String, _ key: VerifyingKey) -> [UInt8] {
        Array(SHA256().digest(Array(name.utf8) + [0x0a, kind.rawValue] + key.rawBytes).bytes.prefix(4))
    }

    /// Whether it names this key, for this use.
    package func isOf(_ key: VerifyingKey, _ kind: Kind) -> Bool {
        name == key.nodeID.description && keyHash == Self.keyHash(kind, name, key)
    }

    /// The line with its newline.
    package var line: String { "— \(name) \(base64Text(keyHash + bytes))\n" }
}

/// A checkpoint with its signatures, as a C2SP signed note (c2sp.org/signed-note).
package struct SignedNote: Hashable, Sendable {
    /// What is signed.
    package let head: TreeHead
    /// By whom; nothing is checked here.
    package let signatures: [NoteSignature]
    /// Most signatures of a note that is read.
    private static let most = 4_096

    package init(_ head: TreeHead, _ signatures: [NoteSignature]) {
        self.head = head
        self.signatures = signatures
    }

    /// Reads what ``text`` writes; `nil` for anything else, byte for byte.
    package init?(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 7, lines.count <= Self.most + 6, lines[4].isEmpty,
            let head = TreeHead(checkpointText: lines[..<4].joined(separator: "\n") + "\n")
        else { return nil }
        let signatures = lines[5..<(lines.count - 1)].compactMap { NoteSignature(line: $0) }
        self.init(head, signatures)
        guard self.text.hasSameBytes(as: text) else { return nil }
    }

    /// The head with its first signature, if that is of the node with `key`; `nil` else.
    package func signed(by key: VerifyingKey) -> SignedHead? {
        guard let line = signatures.first, line.isOf(key, .head),
            case let signed = SignedHead(head: head, signature: line.bytes), signed.isValid(for: key)
        else { return nil }
        return signed
    }

    /// The checkpoint, an empty line and the signatures.
    package var text: String { head.checkpointText + "\n" + signatures.map(\.line).joined() }
}
