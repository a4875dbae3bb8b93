package import CommandLineKit
package import EventStore

extension ErrorCode {
    package init(_ error: AttachmentError) {
        self =
            switch error {
            case .missing, .damaged: .attachmentMissing
            case .tooLarge: .attachmentSize
            case .otherDigest: .attachmentDigest
            case .mediaType: .attachmentType
            case .store(let error): ErrorCode(error)
            }
    }
}

extension AttachmentError {
    /// What to try; `nil` where the message says all there is.
    package var hint: String? {
        switch self {
        case .missing, .damaged:
            "again later: a peer that has them may come; 'syncctl attachment list --missing' has all such"
        case .tooLarge: "attachments.max_bytes of the configuration"
        case .otherDigest: "send them again"
        case .mediaType: "attachments.media_types of the configuration"
        case .store(let error): error.hint
        }
    }
}

extension CommandFailure {
    /// What went wrong with bytes, as a program tells it.
    package init(_ error: AttachmentError) {
        let code = ErrorCode(error)
        self.init(code: code.rawValue, error.description, hint: error.hint, exitCode: code.exitCode)
    }
}

extension JSONLine {
    /// An event that names bytes: `{"type":"attachment",…}` (docs/reference/CLI-JSON.md).
    ///
    /// - Parameter state: How the bytes stand on the node that tells it.
    package init(_ named: NamedAttachment, _ state: AttachmentState?) {
        self.init(type: "attachment")
        add("sha256", named.item.digest.description)
        add("bytes", named.item.bytes)
        add("mediaType", named.item.mediaType)
        add("state", state.map { $0 == .unnamed ? "present" : $0.text })
        add("user", named.user)
        add("author", named.author)
        add("conversation", named.conversation)
        add("time", Timestamp.text(named.time))
        add("position", named.position)
    }

    /// Bytes that no event of the views names at this moment, or of which only this much is known.
    package init(_ want: AttachmentWant, _ state: AttachmentState) {
        self.init(type: "attachment")
        add("sha256", want.digest.description)
        add("bytes", want.bytes)
        add("state", state.text)
    }

    /// Bytes that were put: `{"type":"stored",…}`.
    package init(stored digest: Digest, bytes: UInt64, mediaType: String, isNew: Bool) {
        self.init(type: "stored")
        add("sha256", digest.description)
        add("bytes", bytes)
        add("mediaType", mediaType)
        add("new", isNew)
    }
}
