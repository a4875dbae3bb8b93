package import EventStore

/// All tokens that the log tells of, kept up to date by reading what came since.
///
/// What a node has granted counts at that node, and at others where they trust their peers' grants; never for the roles that a node's own file
/// alone can give (``Role/isOfNodeAlone``). Of several grants with one id a node's own counts, else the one that was
/// recorded first. A revocation is for good. One that has lost its payload may be of any token that was granted before: until it can be
/// read, none of these counts.
package struct AccessRecords: Sendable {
    private struct Granted {
        let grant: AccessGrant
        let verifier: Digest?
        let key: DisplayKey
        let node: NodeID
    }

    private let own: NodeID
    private let trustsPeers: Bool
    private var events = NodeEvents(types: [AccessGrant.granted, AccessGrant.revoked])
    private var granted: [CredentialID: [NodeID: Granted]] = [:]
    private var revoked: [CredentialID: Set<NodeID>] = [:]
    private var unreadable: [Unreadable] = []

    /// A grant or a revocation that has lost its payload.
    private struct Unreadable {
        let node: NodeID
        let hlc: HybridTime
        let isRevocation: Bool
    }

    /// Nothing was read yet.
    package init(own: NodeID, trustsPeers: Bool) { (self.own, self.trustsPeers) = (own, trustsPeers) }

    /// Reads what nodes have written since the last time.
    package mutating func update(_ views: ViewReader) throws(StoreError) {
        var (events, lost) = (events, [Unreadable]())
        try events.update(views) { header, object, node in
            guard let object else {
                let isRevocation = header.type == AccessGrant.revoked
                return lost.append(Unreadable(node: node, hlc: header.hlc, isRevocation: isRevocation))
            }
            take(header, object, node)
        }
        (self.events, unreadable) = (events, lost)
    }

    private mutating func take(_ header: EventHeader, _ object: JSONObject, _ node: NodeID) {
        guard header.type == AccessGrant.granted else {
            if let id = object.string("credential").flatMap(CredentialID.init) {
                revoked[id, default: []].insert(node)
            }
            return
        }
        guard let grant = AccessGrant(object) else { return }
        let verifier = object.string("verifier").flatMap { hexBytes($0) }.flatMap { Digest(bytes: $0) }
        let new = Granted(grant: grant, verifier: verifier, key: header.displayKey, node: node)
        if let old = granted[grant.credential]?[node], old.key.hlc <= new.key.hlc { return }
        granted[grant.credential, default: [:]][node] = new
    }

    /// Whether what a node says of credentials counts here.
    private func counts(_ node: NodeID) -> Bool { trustsPeers || node == own }

    /// Whether it was taken back, or may have been, as far as this node listens.
    package func isRevoked(_ id: CredentialID) -> Bool {
        revoked[id]?.contains(where: counts) == true || granted(id).map(isInDoubt) == true
    }

    /// Whether it may have been taken back: nothing tells of what.
    private func isInDoubt(_ one: Granted) -> Bool {
        unreadable.contains { $0.isRevocation && counts($0.node) && one.key.hlc < $0.hlc }
    }

    /// How many grants and revocations that count here cannot be read.
    package var lost: Int { unreadable.count { counts($0.node) } }

    private func granted(_ id: CredentialID) -> Granted? {
        let all = (granted[id] ?? [:]).values.filter { counts($0.node) }
        return all.first { $0.node == own } ?? all.min { ($0.key.hlc, $0.node) < ($1.key.hlc, $1.node) }
    }

    /// The grant of a token that events make count here; `nil` if there is none.
    package func grant(of token: AccessToken, at now: Int64) -> AccessGrant? {
        guard let one = granted(token.id), let verifier = one.verifier, !isRevoked(token.id),
            !one.grant.isOver(at: now), !one.grant.roles.contains(where: \.isOfNodeAlone), token.matches(verifier)
        else { return nil }
        return one.grant
    }

    /// Whether a credential that counted counts still.
    package func stands(_ id: CredentialID, at now: Int64) -> Bool {
        guard let one = granted(id) else { return false }
        return !isRevoked(id) && !one.grant.isOver(at: now)
    }

    /// What was granted under this id, whether it still counts or not; `nil` if nothing was.
    package func grant(_ id: CredentialID) -> AccessGrant? { granted(id)?.grant }

    /// One that was granted.
    package struct Listed {
        package let grant: AccessGrant
        package let node: NodeID
        /// When, Unix milliseconds.
        package let at: Int64
        package let isRevoked: Bool
        /// Whether that is because it may have been taken back.
        package let isInDoubt: Bool
    }

    /// All that count here, also what is over or taken back, in the order of their ids.
    package var all: [Listed] {
        granted.keys.sorted().compactMap { id in
            granted(id).map { one in
                let isTakenBack = revoked[id]?.contains(where: counts) == true
                return Listed(
                    grant: one.grant, node: one.node, at: one.key.hlc.milliseconds, isRevoked: isRevoked(id),
                    isInDoubt: !isTakenBack && isInDoubt(one))
            }
        }
    }
}
