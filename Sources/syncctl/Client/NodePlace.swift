internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

/// Where the API of a node is, and what opens it.
struct NodePlace {
    enum Address {
        /// A Unix socket.
        case socket(String)
        /// `http://` or `https://`, without a path.
        case url(String)
    }

    let address: Address
    /// Whether the user named it.
    let isNamed: Bool
    /// The token that is shown.
    let token: String?
    /// A PEM file with the certificates that are believed besides the system's.
    let authorities: String?
    /// Why an auditor reads.
    let reason: String?

    /// The node whose store is open here.
    init(_ address: Address) {
        (self.address, isNamed, token, authorities, reason) = (address, false, nil, nil, nil)
    }

    /// The node that the user named: `unix:<path>`, `http://host:port` or `https://host:port`.
    init(url: String, _ session: Session) throws(CommandFailure) {
        let arguments = session.arguments
        let environment = session.terminal.environment
        if url.hasPrefix("unix:") {
            address = .socket(String(url.dropFirst("unix:".count)))
        } else if url.hasPrefix("http://") || url.hasPrefix("https://") {
            address = .url(url.hasSuffix("/") ? String(url.dropLast()) : url)
        } else {
            throw usageFailure(
                "--url '\(url)': neither unix:, http:// nor https://",
                hint: "unix:/run/syncd/api.sock, or https://seoul.example:7461")
        }
        isNamed = true
        authorities = arguments.value("ca-file") ?? environment["SYNCCTL_CA_FILE"]
        reason = arguments.value("reason")
        guard let file = arguments.value("token-file") ?? environment["SYNCCTL_TOKEN_FILE"] else {
            token = nil
            return
        }
        token = try Self.token(file)
        if Self.isOpen(file) { session.say(.openFile, file) }
        if case .url(let url) = address, url.hasPrefix("http://"), !Self.isLoopback(url) {
            throw usageFailure(
                "the token would go to \(url) without encryption", hint: "https://, or a proxy on this machine")
        }
    }

    /// Whether others than its owner can read a file. Of a pipe that holds for no one.
    private static func isOpen(_ file: String) -> Bool {
        var status = stat()
        return stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_mode & 0o077 != 0
    }

    /// The token in a file; blanks and line ends around it are passed over.
    private static func token(_ file: String) throws(CommandFailure) -> String {
        let bytes: [UInt8]?
        do throws(StoreError) { bytes = try SmallFile.read(file, .stream) } catch { throw CommandFailure(error) }
        guard let bytes else {
            throw CommandFailure(
                code: "E_IO", "there is no file \(file)", hint: "syncctl tokens create writes one: --out FILE",
                exitCode: .inputMissing)
        }
        let text = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard text.count == 1, let token = text.first else {
            throw CommandFailure(code: "E_USAGE", "\(file) does not hold a token, and nothing else", exitCode: .usage)
        }
        return String(token)
    }

    private static func isLoopback(_ url: String) -> Bool {
        let host = url.dropFirst("http://".count)
        return ["127.", "localhost", "[::1]"].contains { host.hasPrefix($0) }
    }
}
