package import EventStore

/// Compares who had events appended with what the log says was granted: each event of a token needs a grant in its causal past, for this
/// principal and for what it did. Takes events in the order of a node's log.
///
/// What is said over a socket, over the files, or by an identity provider is no matter of grants: the node that recorded it asserts it.
package struct ActorsAudit {
    package enum Problem: String, Hashable, Sendable, CaseIterable {
        /// No event before it, as far as its node had seen, grants the token.
        case neverGranted = "never_granted"
        /// The token was granted to another one.
        case otherPrincipal = "other_principal"
        /// Its time was over.
        case over
        /// It was taken back before.
        case revoked
        /// Its roles do not let speak as this author.
        case author
    }

    /// What was found of one actor, of all events alike.
    package struct Finding: Hashable, Sendable {
        package let actor: EventActor
        package let problem: Problem
        /// The first of them.
        package let position: UInt64
        package fileprivate(set) var events: UInt64
    }

    private struct Known: Hashable {
        let actor: EventActor
        let problem: Problem
    }

    private struct Grant {
        let grant: AccessGrant
        let dot: Dot
    }

    /// A request may be under way when its token ends, and clocks may differ: milliseconds.
    private static let leeway: Int64 = 60_000
    private static let mostFindings = 1_000

    private var grants: [CredentialID: [Grant]] = [:]
    private var revocations: [CredentialID: [(dot: Dot, time: Int64)]] = [:]
    /// What each origin had seen with its last event.
    private var clocks: [OriginID: [OriginID: UInt64]] = [:]
    private var places: [Known: Int] = [:]
    package private(set) var findings: [Finding] = []
    /// Findings beyond ``mostFindings``.
    package private(set) var hidden: UInt64 = 0
    /// Events of tokens.
    package private(set) var checked: UInt64 = 0
    /// Events whose actor is asserted by their node alone.
    package private(set) var asserted: UInt64 = 0
    /// Events without an actor, as earlier builds wrote them.
    package private(set) var nameless: UInt64 = 0

    package init() {}

    package mutating func take(_ stored: StoredEvent) {
        let header = stored.event.header
        var clock = clocks[header.dot.origin] ?? [:]
        for dependency in header.dependencies {
            clock[dependency.origin] = max(clock[dependency.origin] ?? 0, dependency.seq)
        }
        clock[header.dot.origin] = header.dot.seq
        clocks[header.dot.origin] = clock
        guard !header.isOpaque else { return }
        if let payload = stored.event.payload { note(header, payload) }
        guard let actor = header.actor else { return nameless += 1 }
        guard actor.method == .token else { return asserted += 1 }
        checked += 1
        guard let problem = problem(of: actor, header, clock) else { return }
        let known = Known(actor: actor, problem: problem)
        if let place = places[known] { return findings[place].events += 1 }
        guard findings.count < Self.mostFindings else { return hidden += 1 }
        places[known] = findings.count
        findings.append(Finding(actor: actor, problem: problem, position: stored.position, events: 1))
    }

    /// Grants and revocations, which nodes alone can write.
    private mutating func note(_ header: EventHeader, _ payload: [UInt8]) {
        switch header.type {
        case AccessGrant.granted:
            guard let grant = AccessGrant(JSONObject(validated: payload)) else { return }
            grants[grant.credential, default: []].append(Grant(grant: grant, dot: header.dot))
        case AccessGrant.revoked:
            guard let id = JSONObject(validated: payload).string("credential").flatMap(CredentialID.init) else {
                return
            }
            revocations[id, default: []].append((header.dot, header.hlc.milliseconds))
        default: break
        }
    }

    private func problem(of actor: EventActor, _ header: EventHeader, _ clock: [OriginID: UInt64]) -> Problem? {
        func isBefore(_ dot: Dot) -> Bool { (clock[dot.origin] ?? 0) >= dot.seq }
        guard let id = CredentialID(actor.credential) else { return .neverGranted }
        let given = (grants[id] ?? []).filter { isBefore($0.dot) }.map(\.grant)
        guard !given.isEmpty else { return .neverGranted }
        let own = given.filter { $0.principal.hasSameBytes(as: actor.principal) }
        guard !own.isEmpty else { return .otherPrincipal }
        let time = header.hlc.milliseconds
        guard own.contains(where: { !$0.isOver(at: time - Self.leeway) }) else { return .over }
        let isRevoked = (revocations[id] ?? []).contains { isBefore($0.dot) && time - $0.time > Self.leeway }
        guard !isRevoked else { return .revoked }
        return own.contains { Self.lets($0, header) } ? nil : .author
    }

    /// Whether a grant's roles let its holder have this appended. What a node writes about itself for a caller, as a token or a
    /// subscription that was asked for, is of the node.
    private static func lets(_ grant: AccessGrant, _ header: EventHeader) -> Bool {
        header.user.hasPrefix("node/")
            || grant.roles.contains { role in
                switch role {
                case .app: true
                case .user(let id), .bot(let id): id.hasSameBytes(as: header.author)
                default: false
                }
            }
    }
}
