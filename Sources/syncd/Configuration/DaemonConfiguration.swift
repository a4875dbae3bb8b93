/// What the daemon is told: every key with its built-in value. A plain value, without files or clocks.
struct DaemonConfiguration: Sendable, Equatable {
    /// Who this node is.
    var node = Node()
    /// Where its data lives.
    var storage = Storage()
    /// How programs on this machine reach it.
    var api = API()
    /// What users may do beside what is theirs by their role.
    var users = Users()
    /// Bytes that events name.
    var attachments = Attachments()
    /// With whom it exchanges events.
    var peers = Peers()
    /// What it proves by itself.
    var verify = Verify()
    /// Who may watch it.
    var metrics = Metrics()
    /// What it tells.
    var log = Log()

    struct Node: Sendable, Equatable {
        /// The name people know the node by; `nil` is the machine's short host name.
        var name: String?
        /// Nodes of different clusters refuse each other.
        var cluster = "default"
    }

    struct Storage: Sendable, Equatable {
        /// The directory of the databases.
        var dir = "/var/lib/syncd"
        /// What an accepted append has survived.
        var durability = Durability.full
        /// Free bytes below which the node refuses appends.
        var minFree: UInt64 = 2 << 30
        /// Who remembers how far this node was.
        var witness = Witness.beside

        /// The folder of the witness; `nil` for none.
        var witnessFolder: String? {
            switch witness {
            case .beside: dir + "-witness"
            case .none: nil
            case .folder(let path): path
            }
        }
    }

    enum Witness: Sendable, Equatable {
        /// A folder beside ``Storage/dir``, with `-witness` behind its name.
        case beside
        case none
        /// Another folder, best on another disk.
        case folder(String)
    }

    enum Durability: String, Sendable, CaseIterable {
        /// A power failure: the log is synced before an append is answered.
        case full
        /// The end of the process; a power failure may take the last moments.
        case normal
    }

    struct API: Sendable, Equatable {
        /// The Unix socket of the HTTP API.
        var socket = Socket()
        /// Where it is served over TCP, to those who show a token; `nil` for nowhere.
        var listen: NetworkAddress?
        /// With what TCP is encrypted.
        var tls = TLS()
        /// Whether tokens that other nodes of the cluster have given count here.
        var trustGrants = true
        /// Identity providers whose tokens count.
        var issuers: [Issuer] = []
        /// The largest request body in bytes.
        var maxBody: UInt64 = 8 << 20
        /// The bytes of all requests that are coming or not answered yet.
        var maxPending: UInt64 = 64 << 20
        /// Connections at a time.
        var maxConnections: UInt64 = 1_024
        /// Milliseconds between two requests of a connection, and between two bytes of one.
        var idleTimeout: Int64 = 60_000
    }

    struct TLS: Sendable, Equatable {
        /// A PEM file: the certificate, then those that lead to a root; `nil` for no TLS.
        var certificate: String?
        /// A PEM file: its private key.
        var key: String?
    }

    struct Socket: Sendable, Equatable {
        /// Its path; `nil` for no socket.
        var path: String? = "/run/syncd/api.sock"
        /// Its permission bits.
        var mode: UInt16 = 0o660
        /// The group it belongs to; `nil` for the group of the process.
        var group: String? = "syncd-clients"
        /// What its callers may do, but for the daemon's user and root, who may do all.
        var roles: [SocketGrant] = []
    }

    struct Users: Sendable, Equatable {
        /// Whether users may list the ids and names of all users.
        var listed = false
        /// Whether users may erase all that is theirs, on all nodes.
        var eraseOwn = false

        /// As `GET /v1/me` tells it.
        var permissions: [String] { (listed ? ["list_users"] : []) + (eraseOwn ? ["erase_own"] : []) }
    }

    struct Attachments: Sendable, Equatable {
        /// The largest attachment in bytes.
        var maxBytes: UInt64 = 100 << 20
        /// Media types that are taken, as `image/png` and `image/*`; none: all.
        var mediaTypes: [String] = []
        /// When bytes that events name are fetched from peers.
        var fetch = Fetch.eager
        /// Milliseconds that bytes stay which no event has named.
        var keepUnnamed: Int64 = 86_400_000
    }

    enum Fetch: String, Sendable, CaseIterable {
        /// As soon as an event names them.
        case eager
        /// When someone asks for them.
        case onDemand = "on_demand"
    }

    struct Peers: Sendable, Equatable {
        /// Where peers may connect; `nil` for nowhere.
        var listen: NetworkAddress?
        /// The nodes to exchange events with.
        var nodes: [Peer] = []
        /// An empty node takes a copy of a peer's log when it has at least so many events; 0: never.
        var snapshotAfter: UInt64 = 100_000
        /// Whether empty peers are offered a copy of the log.
        var offerSnapshots = true
    }

    struct Peer: Sendable, Equatable {
        /// The name people know the peer by.
        var name: String
        /// Where to connect to; `nil` if the peer connects to us.
        var address: NetworkAddress?
        /// The peer's node id: the SHA-256 of its public key in 64 lowercase hexadecimal digits.
        var id: String
    }

    struct Verify: Sendable, Equatable {
        /// Seconds from one proof of the log to the next; 0: none.
        var log: UInt64 = 0
        /// Seconds from one proof of the views to the next; 0: none.
        var views: UInt64 = 0
    }

    struct Metrics: Sendable, Equatable {
        /// Where `/metrics`, `/livez` and `/readyz` are served over TCP; `nil` for nowhere.
        var listen: NetworkAddress?
    }

    struct Log: Sendable, Equatable {
        /// The least important messages that are written.
        var level = LogLevel.info
        /// How they are written.
        var format = LogFormat.text
    }

    enum LogFormat: String, Sendable, CaseIterable {
        case text, json
    }

    enum LogLevel: String, Sendable, CaseIterable {
        case error, warning, info, debug
    }
}

/// A host name or address and a port.
struct NetworkAddress: Sendable, Equatable, CustomStringConvertible {
    var host: String
    var port: UInt16

    init(host: String, port: UInt16) { (self.host, self.port) = (host, port) }

    /// Reads `name:7460`, `203.0.113.7:7460` or `[2001:db8::7]:7460`.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.utf8.allSatisfy({ $0.isHexadecimal || ":.%".utf8.contains($0) }), host.contains(":") else {
                return nil
            }
        } else {
            guard host.utf8.allSatisfy({ $0.isLetterOrDigit || "-._".utf8.contains($0) }) else { return nil }
        }
        guard !host.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits)
        else { return nil }
        self.host = String(host)
        self.port = port
    }

    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether only programs of this machine reach it (RFC 6890).
    var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }
}

extension UInt8 {
    var isLetterOrDigit: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) || (0x30...0x39).contains(self)
    }

    var isHexadecimal: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20) || (0x30...0x39).contains(self)
    }
}
