/// Who had an event appended, as the node that recorded it has found out: header field 32 (docs/reference/FORMATS.md §2).
///
/// The node sets it, never its client, and signs it with the rest of the header. Each actor has one text, which is what the header,
/// the log and the native line hold: `socket:uid:1000`, `token:bot/medibot:9f3c`.
public struct EventActor: Hashable, Sendable {
    /// How the node knows it.
    public enum Method: String, Sendable, CaseIterable {
        /// The kernel has told whose process is at the other end of a Unix socket.
        case socket
        /// A token of this node or its cluster.
        case token
        /// A JSON Web Token of a provider of identities.
        case jwt = "JWT"
        /// A client's certificate.
        case certificate
        /// The node itself.
        case node
        /// A program has opened the store's files, and says whose process it is.
        case file

        /// Whether a principal has several credentials, so that one must be named; the others have none to name.
        public var hasCredential: Bool {
            switch self {
            case .token, .jwt, .certificate: true
            case .socket, .node, .file: false
            }
        }
    }

    /// Longest principal, bytes of UTF-8.
    public static let longestPrincipal = 256
    /// Longest credential, bytes of UTF-8.
    public static let longestCredential = 64

    /// `method:principal`, and `:credential` where the method has such.
    public let text: String

    /// An actor of these parts; `nil` where one of them is not of its form.
    ///
    /// - Parameters:
    ///   - method: How the node knows it.
    ///   - principal: Whom it stands for: 1 to 256 bytes without control characters.
    ///   - credential: Which of its credentials was shown, without `:`; empty where the method has none, and only there.
    public init?(_ method: Method, principal: String, credential: String = "") {
        guard method.hasCredential != credential.isEmpty, !credential.utf8.contains(UInt8(ascii: ":")) else {
            return nil
        }
        self.init(text: "\(method.rawValue):\(principal)" + (credential.isEmpty ? "" : ":" + credential))
    }

    /// Reads the text of an actor; `nil` where it has another form.
    public init?(text: String) {
        guard text.withUTF8Bytes({ ActorText($0) != nil }) else { return nil }
        self.text = text
    }

    /// How the node knows it.
    public var method: Method { parts.method }
    /// Whom it stands for: `uid:1000`, `bot/medibot`.
    public var principal: String { parts.principal }
    /// Which of its credentials was shown; empty where the method has none.
    public var credential: String { parts.credential }

    private var parts: (method: Method, principal: String, credential: String) {
        text.withUTF8Bytes { bytes in
            guard let found = ActorText(bytes) else { return (.node, "", "") }
            func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
            return (found.method, text(found.principal), text(found.credential))
        }
    }

    /// The same texts have the same bytes: there is no normalisation.
    public static func == (a: EventActor, b: EventActor) -> Bool { a.text.hasSameBytes(as: b.text) }
    /// Feeds the bytes of the text.
    public func hash(into hasher: inout Hasher) { text.withUTF8Bytes { hasher.combine(bytes: $0) } }
}

extension EventActor: CustomStringConvertible {
    /// ``text``.
    public var description: String { text }
}

/// Where the parts of an actor's text stand.
struct ActorText {
    let method: EventActor.Method
    let principal: Range<Int>
    let credential: Range<Int>

    /// `nil` where the bytes, which are UTF-8, are no actor's. Each event that comes has one to be read: one pass.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var (first, last) = (-1, -1)
        for index in 0..<bytes.count {
            let byte = bytes[index]
            if byte < 0x20 || byte == 0x7f { return nil }
            if byte == UInt8(ascii: ":") { (first, last) = (first < 0 ? index : first, index) }
        }
        guard first > 0, let method = Self.method(UnsafeRawBufferPointer(rebasing: bytes[..<first])) else {
            return nil
        }
        self.method = method
        let end = method.hasCredential ? last : bytes.count
        guard end > first + 1, end - first - 1 <= EventActor.longestPrincipal else { return nil }
        principal = first + 1..<end
        credential = min(end + 1, bytes.count)..<bytes.count
        guard method.hasCredential != credential.isEmpty, credential.count <= EventActor.longestCredential else {
            return nil
        }
    }

    private static func method(_ name: UnsafeRawBufferPointer) -> EventActor.Method? {
        func isName(_ wanted: StaticString) -> Bool {
            hasEqualBytes(name, UnsafeRawBufferPointer(start: wanted.utf8Start, count: wanted.utf8CodeUnitCount))
        }
        return switch name.count {
        case 3: isName("JWT") ? .jwt : nil
        case 4: isName("node") ? .node : isName("file") ? .file : nil
        case 5: isName("token") ? .token : nil
        case 6: isName("socket") ? .socket : nil
        case 11: isName("certificate") ? .certificate : nil
        default: nil
        }
    }
}
