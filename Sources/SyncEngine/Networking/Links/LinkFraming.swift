/// The header in front of every frame of a ``TLSLink``: `u32 body length | u8 type | u8 flags | u16 zero`, big-endian.
struct LinkFrameHeader: Equatable {
    static let length = 8

    var type: UInt8
    var flags: UInt8
    /// Of the body alone.
    var bodyLength: Int

    init(type: UInt8, flags: UInt8, bodyLength: Int) {
        self.type = type
        self.flags = flags
        self.bodyLength = bodyLength
    }

    /// Reads 8 bytes and judges them, before anything is allocated for the body.
    /// - Throws: ``LinkEnd/badFrame(_:)``, ``LinkEnd/frameTooLarge(bytes:limit:)``.
    init(_ bytes: [UInt8], maximumBody: Int) throws(LinkEnd) {
        precondition(bytes.count == LinkFrameHeader.length)
        let length = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
        guard bytes[6] == 0, bytes[7] == 0 else { throw .badFrame("the reserved bytes are not zero") }
        guard length <= maximumBody else { throw .frameTooLarge(bytes: length, limit: maximumBody) }
        self.init(type: bytes[4], flags: bytes[5], bodyLength: length)
    }

    var bytes: [UInt8] {
        let length = UInt32(bodyLength)
        return [
            UInt8(length >> 24), UInt8(length >> 16 & 0xff), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), type,
            flags, 0, 0,
        ]
    }
}
