internal import Glibc

/// Where the node left its log: signed, in `mark.json` of the store (docs/reference/FORMATS.md).
///
/// `running` is made durable before the first commit of a run is acknowledged, `stopped` after the last head is stored and no WAL is
/// left. So a store tells, when it is opened, whether the run before ended in order, and how far the log must reach.
package struct Mark: Hashable, Sendable {
    package enum State: String, Sendable {
        case running, stopped
    }

    package let state: State
    /// Of the store it is about.
    package let incarnation: UInt64
    /// The log's last position.
    package let position: UInt64
    /// The head signed last of the origin the node appended to.
    package let head: TreeHead
    /// The kernel's name for this run of the machine; `nil` where it has none.
    package let boot: String?
    package let durability: Durability
    /// Of what table `meta` calls the node, its cluster and the folder of its witness: no event repeats them.
    package var settings: Digest

    /// SHA-256(name ‖ 0x00 ‖ cluster ‖ 0x00 ‖ folder of the witness).
    package static func settings(name: String, cluster: String, witness: String) -> Digest {
        SHA256().digest(Array(name.utf8) + [0] + Array(cluster.utf8) + [0] + Array(witness.utf8))
    }

    /// What is signed.
    func text(_ node: NodeID) -> String {
        """
        sillok mark v1
        \(node)
        \(hexText(withUnsafeBytes(of: incarnation.bigEndian) { Array($0) }))
        \(state.rawValue)
        \(position)
        \(head.origin)
        \(head.size)
        \(base64Text(head.root.bytes))
        \(head.hlc)
        \(boot ?? "-")
        \(durability.rawValue)
        \(settings)

        """
    }

    /// Reads the mark of the store in `files`; `nil` if there is none that was signed with `key`.
    package static func read(_ files: StoreFiles, key: VerifyingKey) throws(StoreError) -> Mark? {
        guard let bytes = try SmallFile.read(files.mark), let object = try? JSONObject(validating: bytes),
            let signature = object.string("signature").flatMap({ base64Bytes($0) }), let mark = Mark(object),
            key.isValid(signature: signature, for: Array(mark.text(key.nodeID).utf8)),
            // Each member as it is written: others are no mark (FORMATS.md §1).
            mark.members(key.nodeID, signature).allSatisfy({
                object.string($0.name)?.hasSameBytes(as: $0.value) ?? false
            })
        else { return nil }
        return mark
    }

    private init?(_ object: JSONObject) {
        guard let state = object.string("state").flatMap(State.init(rawValue:)),
            let incarnation = object.string("incarnation").flatMap({ UInt64($0, radix: 16) }),
            let position = object.string("position").flatMap({ UInt64($0) }),
            let origin = object.string("origin").flatMap({ OriginID(text: $0) }),
            let size = object.string("size").flatMap({ UInt64($0) }),
            let root = object.string("root").flatMap({ base64Bytes($0) }).flatMap({ Digest(bytes: $0) }),
            let hlc = object.string("hlc").flatMap({ HybridTime(text: $0) }), let boot = object.string("boot"),
            let durability = object.string("durability").flatMap(Durability.init(rawValue:)),
            let settings = object.string("settings").flatMap({ hexBytes($0) }).flatMap({ Digest(bytes: $0) }),
            size > 0, max(size, position) <= Limits.number
        else { return nil }
        self.init(
            state: state, incarnation: incarnation, position: position,
            head: TreeHead(origin: origin, size: size, root: root, hlc: hlc), boot: boot == "-" ? nil : boot,
            durability: durability, settings: settings)
    }

    package init(
        state: State, incarnation: UInt64, position: UInt64, head: TreeHead, boot: String?, durability: Durability,
        settings: Digest
    ) {
        self.state = state
        self.incarnation = incarnation
        self.position = position
        self.head = head
        self.boot = boot
        self.durability = durability
        self.settings = settings
    }

    /// Signs it and writes it, durably.
    package func write(_ files: StoreFiles, key: SigningKey) throws(StoreError) {
        let node = key.publicKey.nodeID
        let members = members(node, key.sign(Array(text(node).utf8)))
        let json = "{" + members.map { #""\#($0.name)":"\#($0.value)""# }.joined(separator: ",") + "}\n"
        try SmallFile.replace(files.mark, with: Array(json.utf8), mode: 0o600)
    }

    private func members(_ node: NodeID, _ signature: [UInt8]) -> [(name: String, value: String)] {
        [
            ("node", node.description),
            ("incarnation", hexText(withUnsafeBytes(of: incarnation.bigEndian) { Array($0) })),
            ("state", state.rawValue), ("position", String(position)), ("origin", head.origin.description),
            ("size", String(head.size)), ("root", base64Text(head.root.bytes)), ("hlc", head.hlc.description),
            ("boot", boot ?? "-"), ("durability", durability.rawValue), ("settings", settings.description),
            ("signature", base64Text(signature)),
        ]
    }
}

/// Writes the marks of one run.
struct MarkKeeper: Sendable {
    let files: StoreFiles
    let key: SigningKey
    let incarnation: UInt64
    let boot: String?
    let durability: Durability
    let settings: Digest

    func write(_ state: Mark.State, position: UInt64, head: TreeHead) throws(StoreError) {
        try Mark(
            state: state, incarnation: incarnation, position: position, head: head, boot: boot,
            durability: durability,
            settings: settings
        ).write(files, key: key)
    }
}
