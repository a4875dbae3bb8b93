/// Why bytes from a peer are refused. Sizes in bytes.
package enum WireError: Error, Hashable, Sendable {
    /// The body is longer than its type or the announced limit allows.
    case frameTooLarge(bytes: Int, limit: Int)
    /// Flags this version does not know.
    case unknownFlags(UInt8)
    /// The two bytes of the frame header that must be zero are not.
    case reservedNotZero(UInt16)
    /// The declared length is over 8 MiB or more than 64 times the compressed one.
    case decompressionBomb(declared: Int, compressed: Int)
    /// The compressed part is not what it should be.
    case zstd(String)
    /// The message breaks a rule of docs/reference/sync.proto.
    case malformed(message: String, reason: String)
    /// A field that must be there is not.
    case missingField(message: String, field: String)
    /// More elements than a message may have.
    case tooMany(message: String, field: String, limit: Int)
    /// A header or payload is longer than what may be stored.
    case eventTooLarge(bytes: Int, limit: Int)

    /// The code to answer with.
    package var code: SessionErrorCode {
        switch self {
        case .frameTooLarge, .decompressionBomb: .frameTooLarge
        case .unknownFlags, .reservedNotZero, .zstd, .malformed, .missingField, .tooMany: .badFrame
        case .eventTooLarge: .eventTooLarge
        }
    }
}

extension WireError: CustomStringConvertible {
    /// One sentence for people.
    package var description: String {
        switch self {
        case .frameTooLarge(let bytes, let limit): "a body of \(bytes) bytes, at most \(limit) are taken"
        case .unknownFlags(let flags): "unknown frame flags \(flags)"
        case .reservedNotZero(let bits): "the reserved part of the frame header is \(bits), not 0"
        case .decompressionBomb(let declared, let compressed):
            "\(compressed) compressed bytes declare \(declared), over the limit"
        case .zstd(let reason): "compressed body: \(reason)"
        case .malformed(let message, let reason): "\(message): \(reason)"
        case .missingField(let message, let field): "\(message): \(field) is missing"
        case .tooMany(let message, let field, let limit): "\(message): more than \(limit) \(field)"
        case .eventTooLarge(let bytes, let limit): "an event's part has \(bytes) bytes, at most \(limit) are taken"
        }
    }
}
