internal import EventStore

// Who calls this node: peers are let in, others are told no.
extension SyncNode.Core {
    /// Most unknown callers remembered.
    private static let pendingCapacity = 100

    func accepted(_ socket: AcceptedSocket) {
        // Callbacks must not hold the socket: with it they would hold its place among unfinished handshakes.
        let caller = socket.peer
        do throws(TransportError) {
            let link = try TLSLink(
                loop: loop, descriptor: socket.descriptor, context: context, role: .server, ticket: socket.ticket)
            link.onOpen = { [weak self, weak link] bytes in
                guard let self, let link, let node = NodeID(bytes: bytes) else { return }
                answered(link, node, caller)
            }
            link.onClose = { [weak self] end in self?.note("call from \(caller) ended in the handshake: \(end)") }
        } catch {
            note("call from \(caller): \(error)")
        }
    }

    private func answered(_ link: TLSLink, _ node: NodeID, _ address: String) {
        guard !isStopping else { return refuse(link, .shutdown, "the node is stopping") }
        guard node != local.node else { return refuse(link, .metSelf, "this is the node itself") }
        guard let peer = entries[node]?.peer else {
            if desk.isOpen() { return hear(link, node, address) }
            return refuseUnknown(link, node, address)
        }
        guard entries[node]?.calls.admits(at: PeerLink.now().monotonic) == true else {
            let text = "\(peer.name) calls too often: over \(CallRate.burst) times, then once a second"
            note("RATE_LIMITED: \(text)")
            entries[node]?.lastError = "RATE_LIMITED: \(text)"
            return refuse(link, .rateLimited, text)
        }
        if peer.isPaused { return refuse(link, .paused, "paused by the operator of \(local.name)") }
        if entries[node]?.isSuspended == true { return refuse(link, .paused, Self.suspension) }
        if let reason = obstacle(for: node) { return refuse(link, .busy, reason) }
        attach(link, node, isOutgoing: false)
    }

    func refuseUnknown(_ link: TLSLink, _ node: NodeID, _ address: String) {
        noteUnknown(node, address)
        refuse(link, .unknownPeer, "node \(node) is not among the peers of \(local.name)")
    }

    private func noteUnknown(_ node: NodeID, _ address: String) {
        note("unknown node \(node) called from \(address): pending")
        if let known = pending[node] {
            pending[node]?.calls = known.calls + 1
            pending[node]?.lastSeen = WallClock.now
        } else if pending.count < Self.pendingCapacity {
            pending[node] = PendingPeer(node: node, address: address, lastSeen: WallClock.now, calls: 1)
        }
    }

    /// Logs what strangers make happen, but not as often as they like.
    func note(_ text: String) {
        if let line = strangers.text(text, now: PeerLink.now().monotonic) { log(line) }
    }

    func refuse(_ link: TLSLink, _ code: SessionErrorCode, _ text: String, retryAfter: UInt32 = 0) {
        link.onClose = nil
        // What an unlet node sends is never read.
        link.pauseReading()
        let frame = Message.bye(Bye(code, text: text, retryAfter: retryAfter)).frame(compress: false)
        link.send(type: frame.type, flags: frame.flags, body: frame.body, priority: .control)
        link.close(afterFlush: .seconds(2))
    }
}
