package import EventStore

/// What `syncctl peers invite` prints and `syncctl peers join` takes: who invites, where, and a secret that lets one node in
/// once. One line without characters that a shell would touch:
/// `sillok://<node id>@<host:port>,<host:port>/<cluster>/<name>/<token>/<Unix seconds>/<check>`; cluster, name and
/// addresses percent-encoded; check is the first 8 hexadecimal digits of the SHA-256 of everything before its slash.
package struct Invitation: Hashable, Sendable {
    /// Whose certificate must answer.
    package let node: NodeID
    /// Where, most promising first; 1 to 4.
    package let addresses: [String]
    package let cluster: String
    /// The inviting node's name.
    package let name: String
    /// 16 random bytes. A node that has them may join, once.
    package let token: [UInt8]
    /// Unix seconds.
    package let until: Int64

    package static let maximumAddresses = 4

    package init(node: NodeID, addresses: [String], cluster: String, name: String, token: [UInt8], until: Int64) {
        self.node = node
        self.addresses = addresses
        self.cluster = cluster
        self.name = name
        self.token = token
        self.until = until
    }

    /// The line.
    package var text: String {
        let places = addresses.map { Self.encoded($0, but: ":") }.joined(separator: ",")
        let line =
            "sillok://\(node)@\(places)/\(Self.encoded(cluster))/\(Self.encoded(name))/\(hexText(token))/\(until)"
        return line + "/" + Self.check(line)
    }

    /// So that a line that was cut or mistyped is told from one that has expired.
    private static func check(_ text: some StringProtocol) -> String {
        String(SHA256().digest(Array(text.utf8)).description.prefix(8))
    }

    /// Reads a line; `nil` if it is no invitation, or was cut.
    package init?(_ line: String) {
        let text = line.drop { $0 == " " }.split(whereSeparator: \.isWhitespace)
        guard text.count == 1, let word = text.first, word.hasPrefix("sillok://"), word.utf8.count <= 2_000 else {
            return nil
        }
        let parts = word.dropFirst(9).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 6, Self.check(word.dropLast(parts[5].count + 1)) == parts[5],
            let at = parts[0].firstIndex(of: "@"), let node = NodeID(text: parts[0][..<at]),
            let cluster = Self.decoded(parts[1]), let name = Self.decoded(parts[2]), !cluster.isEmpty,
            let token = hexBytes(parts[3]), token.count == 16, let until = Int64(parts[4]), until > 0
        else { return nil }
        let places = parts[0][parts[0].index(after: at)...].split(separator: ",", omittingEmptySubsequences: false)
            .map { Self.decoded($0) }
        let addresses = places.compactMap { $0 }.filter { HostPort($0) != nil }
        guard !addresses.isEmpty, addresses.count == places.count, addresses.count <= Self.maximumAddresses else {
            return nil
        }
        self.init(
            node: node, addresses: addresses, cluster: cluster, name: name.isEmpty ? node.short : name, token: token,
            until: until)
    }

    /// Everything but the unreserved characters of RFC 3986 §2.3, and those in `plain`.
    private static func encoded(_ text: String, but plain: String = "") -> String {
        var out: [UInt8] = []
        for byte in text.utf8 {
            let isPlain =
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-._~\(plain)".utf8.contains(byte)
                }
            if isPlain { out.append(byte) } else { out += Array("%\(hexText([byte]))".utf8) }
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static func decoded(_ text: some StringProtocol) -> String? {
        var out: [UInt8] = []
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                out.append(byte)
                continue
            }
            guard bytes.count >= 2,
                let value = hexBytes(String(decoding: bytes.prefix(2), as: UTF8.self))?.first
            else { return nil }
            out.append(value)
            bytes.removeFirst(2)
        }
        return String(validating: out, as: UTF8.self)
    }
}
