package import EventStore

/// What a node tells all others and no event tells: of use until its next value comes, and signed, so that it can be passed on.
package struct SharedState: Hashable, Sendable {
    /// What hears of it.
    package enum Topic: Hashable, Sendable {
        /// What nodes have cosigned.
        case cosignatures
        /// What is done of subscriptions.
        case subscriptions
    }

    /// Longest value, bytes.
    package static let longest = 256 << 10

    /// What it is about.
    package let key: UUIDBits
    /// Who tells it.
    package let node: NodeID
    /// A later value has a larger number.
    package let number: UInt64
    package let value: [UInt8]
    /// Ed25519, by the node's key, over ``message``.
    package let signature: [UInt8]

    /// What the node with the key `signing` tells.
    package init(key: UUIDBits, node: NodeID, number: UInt64, value: [UInt8], signing: SigningKey) {
        let signature = signing.sign(Self.message(key, node, number, value))
        self.init(key: key, node: node, number: number, value: value, signature: signature)
    }

    /// As it came, unchecked.
    package init(key: UUIDBits, node: NodeID, number: UInt64, value: [UInt8], signature: [UInt8]) {
        (self.key, self.node, self.number, self.value) = (key, node, number, value)
        self.signature = signature
    }

    private static func message(_ key: UUIDBits, _ node: NodeID, _ number: UInt64, _ value: [UInt8]) -> [UInt8] {
        var bytes = Array("sillok shared v1\n".utf8)
        key.append(to: &bytes)
        node.digest.append(to: &bytes)
        bytes.appendBigEndian(number)
        return bytes + value
    }

    package var topic: Topic { key == CosignatureList.key ? .cosignatures : .subscriptions }

    /// Whether the node with this key has said so.
    package func isValid(for key: VerifyingKey) -> Bool {
        key.isValid(signature: signature, for: Self.message(self.key, node, number, value))
    }

    func write(to writer: inout ProtobufWriter) {
        writer.uuid(1, key)
        writer.data(2, node.digest.bytes)
        writer.uint(3, number)
        writer.presentData(4, value)
        writer.data(5, signature)
    }

    init(_ message: consuming MessageReader) throws(WireError) {
        var key: UUIDBits?
        var node: Digest?
        var number = UInt64(0)
        var value: [UInt8] = []
        var signature: [UInt8] = []
        while let field = try message.next() {
            switch field.number {
            case 1: key = try message.uuid(field)
            case 2: node = try message.digest(field)
            case 3: number = try message.number(field)
            case 4: value = try message.data(field)
            case 5: signature = try message.data(field)
            default: break
            }
        }
        guard let key else { throw message.missing("key") }
        guard let node else { throw message.missing("node") }
        guard value.count <= Self.longest else { throw message.invalid("its value has \(value.count) bytes") }
        guard signature.count == 64 else { throw message.invalid("its signature has \(signature.count) bytes") }
        self.init(key: key, node: NodeID(node), number: number, value: value, signature: signature)
    }
}
