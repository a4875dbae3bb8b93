package import EventStore

/// Where a node that is not known shows its invitation. The daemon keeps the invitations and the peers.
package struct JoinDesk: Sendable {
    /// Whether any invitation is open: else nothing that an unknown node sends is read.
    package let isOpen: @Sendable () -> Bool
    /// Uses up the invitation that is proven and adds the node durably; `nil` if there is none. May block.
    package let admit: @Sendable (JoinAttempt) -> Peer?
    /// This node was let in at that one: the token is of no more use.
    package let joined: @Sendable (NodeID) -> Void

    package init(
        isOpen: @escaping @Sendable () -> Bool, admit: @escaping @Sendable (JoinAttempt) -> Peer?,
        joined: @escaping @Sendable (NodeID) -> Void
    ) {
        self.isOpen = isOpen
        self.admit = admit
        self.joined = joined
    }

    /// Nobody is invited.
    package static let closed = JoinDesk(isOpen: { false }, admit: { _ in nil }, joined: { _ in })
}

/// What a node that wants to be let in has shown.
package struct JoinAttempt: Hashable, Sendable {
    package let node: NodeID
    /// What it calls itself.
    package let name: String
    package let transcript: [UInt8]
    package let proof: [UInt8]

    /// Whether it has shown that it knows `token`.
    package func proves(_ token: [UInt8]) -> Bool { MessageCode.isValid(proof, for: transcript, key: token) }
}

/// A sign of life.
package struct PingResult: Hashable, Sendable {
    /// There and back.
    package let roundTrip: Duration
    /// Their wall clock minus ours, milliseconds.
    package let clockOffset: Int64?
}

/// An unknown caller that may say whether it is invited.
final class Hearing {
    let link: TLSLink
    let address: String
    var timer: TimerToken?

    init(_ link: TLSLink, _ address: String) {
        self.link = link
        self.address = address
    }
}

// Being let in with an invitation, on both sides; pausing; signs of life.
extension SyncNode.Core {
    /// How long an unknown node has to show its invitation.
    private static let hearing = Duration.seconds(5)
    /// How many may be heard at once.
    private static let mostHeard = 16
    /// How long the other side may take to look at an invitation.
    private static let patience = Duration.seconds(10)
    /// How often an invitation is shown again to a node that was busy, before whoever asked is told.
    private static let mostKnocks = 8
    /// How long a sign of life may take.
    private static let pingTimeout = Duration.seconds(5)

    // MARK: Who invites

    /// Reads one frame of at most 4 KiB from a node that is not known: a Join, or nothing. When too many are being heard the
    /// one that has said nothing for longest must go: it may come back.
    func hear(_ link: TLSLink, _ node: NodeID, _ address: String) {
        guard let secret = link.sharedSecret(label: Join.secretLabel) else {
            return refuseUnknown(link, node, address)
        }
        if hearings.count >= Self.mostHeard, let oldest = hearings.first {
            finish(oldest)
            note("\(oldest.address) has said nothing while others called, and is told to come back")
            refuse(oldest.link, .busy, "others called while nothing was said; come back", retryAfter: 1_000)
        }
        let hearing = Hearing(link, address)
        hearings.append(hearing)
        hearing.timer = loop.schedule(after: Self.hearing) { [weak self, weak hearing] in
            guard let self, let hearing, finish(hearing) else { return }
            refuseUnknown(hearing.link, node, address)
        }
        link.onClose = { [weak self, weak hearing] _ in
            if let hearing { self?.finish(hearing) }
        }
        link.onFrame = { [weak self, weak hearing] type, flags, body in
            guard let self, let hearing, finish(hearing) else { return }
            guard case .join(let join)? = try? Message(frame: Frame(type: type, flags: flags, body: body)) else {
                return refuseUnknown(hearing.link, node, address)
            }
            judge(hearing.link, node, address, join, secret)
        }
    }

    /// True for whoever is first.
    @discardableResult
    private func finish(_ hearing: Hearing) -> Bool {
        guard let index = hearings.firstIndex(where: { $0 === hearing }) else { return false }
        hearings.remove(at: index)
        hearing.timer?.cancel()
        return true
    }

    private func judge(_ link: TLSLink, _ node: NodeID, _ address: String, _ join: Join, _ secret: [UInt8]) {
        guard Array(join.cluster.utf8) == Array(local.cluster.utf8) else {
            return refuse(
                link, .wrongCluster, "the peer is of cluster '\(join.cluster)', this node of '\(local.cluster)'")
        }
        link.pauseReading()
        link.onFrame = nil
        link.onClose = nil
        let attempt = JoinAttempt(
            node: node, name: join.name,
            transcript: Join.transcript(secret: secret, inviter: local.node, guest: node), proof: join.proof)
        let this = loop.bind(self)
        let bound = loop.bind(link)
        let desk = desk
        workers.readers.submit { _ in
            let peer = desk.admit(attempt)
            this.post { core in core.judged(bound.value, node, address, peer) }
        }
    }

    private func judged(_ link: TLSLink, _ node: NodeID, _ address: String, _ peer: Peer?) {
        guard let peer else {
            note("node \(node) called from \(address) with no valid invitation")
            return refuse(link, .joinRefused, "the invitation is unknown, used or expired")
        }
        log("node \(node) has joined as \(peer.name) from \(address)")
        pending[peer.node] = nil
        entries[peer.node, default: Entry(peer: peer)].peer = peer
        guard link.isOpen else { return }
        attach(link, node, isOutgoing: false)
    }

    // MARK: Who is invited

    /// Shows the invitation. The peer's Hello is its yes.
    func knock(_ link: TLSLink, _ node: NodeID) {
        guard let token = entries[node]?.peer.token, let secret = link.sharedSecret(label: Join.secretLabel) else {
            return link.abort()
        }
        let proof = MessageCode.code(
            Join.transcript(secret: secret, inviter: node, guest: local.node), key: token)
        let frame = Message.join(Join(cluster: local.cluster, name: local.name, proof: proof)).frame(compress: false)
        entries[node]?.isHandshaking = true
        let timer = loop.schedule(after: Self.patience) { [weak link] in link?.abort() }
        link.onFrame = { [weak self, weak link] type, flags, body in
            guard let self, let link else { return }
            timer.cancel()
            entries[node]?.isHandshaking = false
            let first = Frame(type: type, flags: flags, body: body)
            guard type == MessageType.hello.rawValue else { return turnedAway(link, node, first) }
            link.onFrame = nil
            link.pauseReading()
            entries[node]?.peer.token = nil
            let desk = desk
            workers.readers.submit { _ in desk.joined(node) }
            attach(link, node, isOutgoing: true, first: first)
        }
        link.send(type: frame.type, flags: frame.flags, body: frame.body, priority: .control)
    }

    private func turnedAway(_ link: TLSLink, _ node: NodeID, _ frame: Frame) {
        var reason = "the peer answered an invitation with nonsense"
        var wait: Duration?
        if case .bye(let bye)? = try? Message(frame: frame) {
            reason = SessionEnd.refused(code: bye.code, text: bye.text, retryAfter: bye.retryAfter).description
            // It has not looked at the invitation.
            if bye.knownCode == .busy, entries[node]?.knocks ?? 0 < Self.mostKnocks {
                entries[node]?.knocks += 1
                wait = .milliseconds(Int64(min(max(bye.retryAfter, 200), 5_000)))
            }
        }
        link.onClose = nil
        link.close(afterFlush: .seconds(2))
        retry(node, because: reason, after: wait)
    }

    func setPeers(_ peers: [Peer], joining node: NodeID, _ completion: @escaping @Sendable (String?) -> Void) {
        entries[node]?.onJoin?("another attempt was begun")
        setPeers(peers)
        guard entries[node] != nil else { return completion("the peer was removed") }
        if entries[node]?.link?.session.hello != nil { return completion(nil) }
        entries[node]?.onJoin = completion
        entries[node]?.knocks = 0
        redial(node)
    }

    // MARK: Pausing and signs of life

    func pause(_ node: NodeID, _ reason: String? = nil) {
        entries[node]?.timer?.cancel()
        entries[node]?.timer = nil
        entries[node]?.dueAt = nil
        entries[node]?.dialer?.cancel()
        entries[node]?.dialer = nil
        for link in [entries[node]?.link, entries[node]?.candidate] {
            link?.stop(SessionFailure(.paused, reason ?? "paused by the operator of \(local.name)"))
        }
    }

    /// Goes on with a peer that was suspended for what it claimed.
    func resume(_ node: NodeID) {
        guard let claims = entries[node]?.unproven, claims > 0 else { return }
        entries[node]?.unproven = 0
        board.remove(.unprovenClaim, node.description)
        dial(node)
    }

    func ping(_ node: NodeID, _ completion: @escaping @Sendable (PingResult?) -> Void) {
        guard let link = entries[node]?.link else { return completion(nil) }
        var isDone = false
        let timer = loop.schedule(after: Self.pingTimeout) {
            if !isDone { completion(nil) }
            isDone = true
        }
        link.ping { [weak link] elapsed in
            timer.cancel()
            guard !isDone else { return }
            isDone = true
            completion(elapsed.map { PingResult(roundTrip: $0, clockOffset: link?.session.clockOffset) })
        }
    }
}
