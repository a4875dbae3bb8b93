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
    /// Whether a running daemon takes a new value (SIGHUP); for any other a new start is needed.
    let isReloadable: Bool
    /// How the text of a flag or a variable becomes a value.
    let form: ConfigurationTextForm
    /// Sets the value.
    let read: @Sendable (JSON5Value, inout DaemonConfiguration) throws(ConfigurationFailure) -> Void
    /// The value as JSON5.
    let show: @Sendable (DaemonConfiguration) -> String

    /// `SYNCD_STORAGE__MIN_FREE`.
    var variable: String {
        "SYNCD_" + path.split(separator: ".").joined(separator: "__").uppercased()
    }

    private init<Value>(
        _ path: String, _ place: any WritableKeyPath<DaemonConfiguration, Value> & Sendable,
        _ kind: ConfigurationKind<Value>, flag: String? = nil, reload isReloadable: Bool = false
    ) {
        self.path = path
        self.flag = flag
        self.isReloadable = isReloadable
        form = kind.form
        read = { (value, configuration) throws(ConfigurationFailure) in
            configuration[keyPath: place] = try kind.read(value)
        }
        show = { kind.show($0[keyPath: place]) }
    }

    /// Every key there is, in the order of the example file.
    static let all: [ConfigurationSetting] = [
        ConfigurationSetting("node.name", \.node.name, .optional(.name), flag: "--node-name"),
        ConfigurationSetting("node.cluster", \.node.cluster, .name, flag: "--cluster"),
        ConfigurationSetting("storage.dir", \.storage.dir, .path, flag: "--data-dir"),
        ConfigurationSetting("storage.durability", \.storage.durability, .choice()),
        ConfigurationSetting("storage.min_free", \.storage.minFree, .size, reload: true),
        ConfigurationSetting("storage.witness", \.storage.witness, .witness),
        ConfigurationSetting("api.socket.path", \.api.socket.path, .optional(.path), flag: "--socket"),
        ConfigurationSetting("api.socket.mode", \.api.socket.mode, .mode),
        ConfigurationSetting("api.socket.group", \.api.socket.group, .optional(.string)),
        ConfigurationSetting("api.socket.roles", \.api.socket.roles, .socketRoles, reload: true),
        ConfigurationSetting("api.listen", \.api.listen, .optional(.address)),
        ConfigurationSetting("api.tls.certificate", \.api.tls.certificate, .optional(.path)),
        ConfigurationSetting("api.tls.key", \.api.tls.key, .optional(.path)),
        ConfigurationSetting("api.trust_grants", \.api.trustGrants, .bool),
        ConfigurationSetting("api.jwt", \.api.issuers, .issuers, reload: true),
        ConfigurationSetting("api.max_body", \.api.maxBody, .size(atLeast: 4 << 10)),
        ConfigurationSetting("api.max_pending", \.api.maxPending, .size),
        ConfigurationSetting("api.max_connections", \.api.maxConnections, .connections),
        ConfigurationSetting("api.idle_timeout", \.api.idleTimeout, .patience),
        ConfigurationSetting("users.listed", \.users.listed, .bool, reload: true),
        ConfigurationSetting("users.erase_own", \.users.eraseOwn, .bool, reload: true),
        ConfigurationSetting("attachments.max_bytes", \.attachments.maxBytes, .size, reload: true),
        ConfigurationSetting("attachments.media_types", \.attachments.mediaTypes, .mediaTypes, reload: true),
        ConfigurationSetting("attachments.fetch", \.attachments.fetch, .choice()),
        ConfigurationSetting("attachments.keep_unnamed", \.attachments.keepUnnamed, .span),
        ConfigurationSetting("peers.listen", \.peers.listen, .optional(.address), flag: "--peer-listen"),
        ConfigurationSetting("peers.nodes", \.peers.nodes, .peers, reload: true),
        ConfigurationSetting("peers.snapshot_after", \.peers.snapshotAfter, .count),
        ConfigurationSetting("peers.offer_snapshots", \.peers.offerSnapshots, .bool),
        ConfigurationSetting("verify.log", \.verify.log, .count),
        ConfigurationSetting("verify.views", \.verify.views, .count),
        ConfigurationSetting("metrics.listen", \.metrics.listen, .optional(.address)),
        ConfigurationSetting("log.level", \.log.level, .choice(), flag: "--log-level", reload: true),
        ConfigurationSetting("log.format", \.log.format, .choice(), reload: true),
    ]
}
