extension EventReader {
    /// What this node holds now of each origin, with the word of the nodes that hold the same: a file that `syncctl check-proof` and
    /// `Scripts/verify.py` check without the store, and that `syncctl verify --since` holds a later log against.
    ///
    /// It is signed with the node's key where this user may read that. It speaks of what signed heads cover: ``EventStore/close()`` signs all.
    ///
    /// - Throws: What ``top()`` throws, and `E_CORRUPT` where another hand has written events of this node: it signs nothing then.
    public func receipt() throws(StoreError) -> NodeReceipt {
        let key = (try? SmallFile.read(files.key)).flatMap { $0 }.flatMap { SigningKey(pem: $0) }
        let builder = try ReceiptBuilder(files, key: key)
        let receipt = try builder.receipt(at: WallClock.now)
        return NodeReceipt(
            bytes: builder.bytes(of: receipt), isSigned: builder.isSigned, time: receipt.maker.time,
            position: receipt.maker.position, uncovered: receipt.uncovered)
    }
}

/// What a node held at a moment, in a form that others can check (``EventReader/receipt()``).
public struct NodeReceipt: Hashable, Sendable {
    /// The file: lines of JSON (docs/reference/FORMATS.md, section 9).
    public let bytes: [UInt8]
    /// Whether the node has signed all of it. The heads in it are signed in any case.
    public let isSigned: Bool
    /// When it was made, Unix milliseconds, by this node's clock.
    public let time: Int64
    /// Where the log ended.
    public let position: UInt64
    /// How many events of the log no head covers yet: the receipt proves nothing of those.
    public let uncovered: UInt64
}
