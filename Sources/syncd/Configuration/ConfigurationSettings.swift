internal import CommandLineKit

/// One key: how it is written, read into the configuration, and shown.
///
/// The table of all keys drives the file reader, the environment, the flags, `--print-config` and the check for unknown
/// keys, so that none of them can forget one.
struct ConfigurationSetting: Sendable {
    /// The key, from the outside in: `storage.min_free`.
    let path: String
    /// The daemon's flag for it, if it has one.
    let flag: String?
    /// Whether `none` in a flag or variable means `null`.
    let isNullable: Bool
    /// Sets the value.
    let read: @Sendable (JSON5Value, inout DaemonConfiguration) throws(ConfigurationText.Failure) -> Void
    /// The value as JSON5.
    let show: @Sendable (DaemonConfiguration) -> String

    /// `SYNCD_STORAGE__MIN_FREE`.
    var variable: String {
        "SYNCD_" + path.split(separator: ".").joined(separator: "__").uppercased()
    }

    private init(
        _ path: String, flag: String? = nil, isNullable: Bool = false,
        read: @escaping @Sendable (JSON5Value, inout DaemonConfiguration) throws(ConfigurationText.Failure) -> Void,
        show: @escaping @Sendable (DaemonConfiguration) -> String
    ) {
        self.path = path
        self.flag = flag
        self.isNullable = isNullable
        self.read = read
        self.show = show
    }

    /// Every key there is, in the order of the example file.
    static let all: [ConfigurationSetting] = [
        ConfigurationSetting("node.name", flag: "--node-name", isNullable: true) {
            (value, config) throws(ConfigurationText.Failure) in
            let text = try ConfigurationText.optional(value)
            config.node.name = if let text { try ConfigurationText.name(text) } else { nil }
        } show: { quoted($0.node.name) },
        ConfigurationSetting("node.cluster") { (value, config) throws(ConfigurationText.Failure) in
            config.node.cluster = try ConfigurationText.name(try ConfigurationText.string(value))
        } show: { quoted($0.node.cluster) },
        ConfigurationSetting("storage.dir", flag: "--data-dir") { (value, config) throws(ConfigurationText.Failure) in
            config.storage.dir = try ConfigurationText.absolutePath(try ConfigurationText.string(value))
        } show: { quoted($0.storage.dir) },
        ConfigurationSetting("storage.durability") { (value, config) throws(ConfigurationText.Failure) in
            config.storage.durability = try ConfigurationText.choice(value, DaemonConfiguration.Durability.self)
        } show: { quoted($0.storage.durability.rawValue) },
        ConfigurationSetting("storage.min_free") { (value, config) throws(ConfigurationText.Failure) in
            config.storage.minFree = try ConfigurationText.size(value)
        } show: { quoted(ByteSize.exactText($0.storage.minFree)) },
        ConfigurationSetting("api.socket.path", flag: "--socket", isNullable: true) {
            (value, config) throws(ConfigurationText.Failure) in
            let text = try ConfigurationText.optional(value)
            config.api.socket.path = if let text { try ConfigurationText.absolutePath(text) } else { nil }
        } show: { quoted($0.api.socket.path) },
        ConfigurationSetting("api.socket.mode") { (value, config) throws(ConfigurationText.Failure) in
            config.api.socket.mode = try ConfigurationText.mode(value)
        } show: { quoted("0" + String($0.api.socket.mode, radix: 8)) },
        ConfigurationSetting("api.socket.group", isNullable: true) {
            (value, config) throws(ConfigurationText.Failure) in
            config.api.socket.group = try ConfigurationText.optional(value)
        } show: { quoted($0.api.socket.group) },
        ConfigurationSetting("api.max_body") { (value, config) throws(ConfigurationText.Failure) in
            config.api.maxBody = try ConfigurationText.size(value)
        } show: { quoted(ByteSize.exactText($0.api.maxBody)) },
        ConfigurationSetting("peers.listen", flag: "--peer-listen", isNullable: true) {
            (value, config) throws(ConfigurationText.Failure) in
            let text = try ConfigurationText.optional(value)
            config.peers.listen = if let text { try ConfigurationText.address(text) } else { nil }
        } show: { quoted($0.peers.listen?.description) },
        ConfigurationSetting("peers.nodes") { (value, config) throws(ConfigurationText.Failure) in
            config.peers.nodes = try PeerList.read(value)
        } show: { PeerList.text($0.peers.nodes) },
        ConfigurationSetting("log.level", flag: "--log-level") { (value, config) throws(ConfigurationText.Failure) in
            config.log.level = try ConfigurationText.choice(value, DaemonConfiguration.LogLevel.self)
        } show: { quoted($0.log.level.rawValue) },
    ]

    /// A string as JSON5, which JSON is; `null` for none.
    static func quoted(_ text: String?) -> String {
        var array = JSONArray()
        array.add(text)
        return String(decoding: array.utf8.dropFirst().dropLast(), as: UTF8.self)
    }
}

/// The value of `peers.nodes`.
enum PeerList {
    static func read(_ value: JSON5Value) throws(ConfigurationText.Failure) -> [DaemonConfiguration.Peer] {
        guard case .array(let elements) = value.content else {
            throw ConfigurationText.Failure(message: "expected an array, not \(value.kind)")
        }
        var peers: [DaemonConfiguration.Peer] = []
        for element in elements {
            let peer = try peer(element)
            for other in peers where other.name == peer.name || other.id == peer.id {
                let what = other.name == peer.name ? "the name '\(peer.name)'" : "the id of '\(other.name)'"
                throw ConfigurationText.Failure(message: "\(what) stands twice", position: element.position)
            }
            peers.append(peer)
        }
        return peers
    }

    private static func peer(_ value: JSON5Value) throws(ConfigurationText.Failure) -> DaemonConfiguration.Peer {
        guard case .object(let members) = value.content else {
            throw ConfigurationText.Failure(message: "expected an object, not \(value.kind)", position: value.position)
        }
        var fields: [String: String] = [:]
        for member in members {
            do throws(ConfigurationText.Failure) {
                switch member.name {
                case "name": fields["name"] = try ConfigurationText.name(try ConfigurationText.string(member.value))
                case "id": fields["id"] = try ConfigurationText.nodeID(try ConfigurationText.string(member.value))
                case "address":
                    guard let text = try ConfigurationText.optional(member.value) else { continue }
                    fields["address"] = try ConfigurationText.address(text).description
                default:
                    let nearest = Suggestion.nearest(to: member.name, among: ["name", "address", "id"])
                    let question = nearest.map { "; did you mean '\($0)'?" } ?? ""
                    throw ConfigurationText.Failure(
                        message: "unknown key '\(member.name)'\(question)", position: member.position)
                }
            } catch {
                throw ConfigurationText.Failure(
                    message: error.message, position: error.position ?? member.value.position)
            }
        }
        guard let name = fields["name"], let id = fields["id"] else {
            let missing = fields["name"] == nil ? "name" : "id"
            throw ConfigurationText.Failure(message: "this peer has no '\(missing)'", position: value.position)
        }
        return DaemonConfiguration.Peer(name: name, address: fields["address"].flatMap(NetworkAddress.init), id: id)
    }

    static func text(_ peers: [DaemonConfiguration.Peer]) -> String {
        var array = JSONArray()
        for peer in peers {
            array.addObject { line in
                line.add("name", peer.name)
                line.add("address", peer.address?.description)
                line.add("id", peer.id)
            }
        }
        return String(decoding: array.utf8, as: UTF8.self)
    }
}
