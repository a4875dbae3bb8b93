/// Why the bytes of an attachment cannot be kept or given.
package enum AttachmentError: Error, Hashable, Sendable {
    /// They are not here. A peer may have them.
    case missing(Digest)
    /// The file that should have them has others. It was put aside, and peers are asked for them.
    case damaged(Digest)
    /// There are more bytes than the limit allows.
    case tooLarge(limit: UInt64)
    /// The bytes have another digest than was said.
    case otherDigest(stated: Digest, found: Digest)
    /// The configuration takes no bytes of this media type.
    case mediaType(String)
    case store(StoreError)
}

extension AttachmentError: CustomStringConvertible {
    /// One sentence for people.
    package var description: String {
        switch self {
        case .missing(let digest): "the bytes of \(digest) are not here"
        case .damaged(let digest): "the bytes of \(digest) are damaged here"
        case .tooLarge(let limit): "an attachment has at most \(limit) bytes here"
        case .otherDigest(let stated, let found):
            "the bytes have the SHA-256 \(found), and not \(stated) as was said: nothing was kept"
        case .mediaType(let type): "no bytes of type \(type) are taken here"
        case .store(let error): error.description
        }
    }
}

/// Runs `body`; what fails in it is an error of the store.
func attaching<Result>(_ body: () throws(StoreError) -> Result) throws(AttachmentError) -> Result {
    do throws(StoreError) { return try body() } catch { throw .store(error) }
}
