internal import EventStore

/// A call to a peer: the connection that is being made, or its handshake.
struct Call {
    var dialer: Dialer?
    var link: TLSLink?

    func hangUp() {
        dialer?.cancel()
        link?.onClose = nil
        link?.abort()
    }
}

/// A connection whose other end has proven who it is, before there is a session.
struct Connection {
    let link: TLSLink
    /// What an invited node answered.
    var first: Frame?
}

// Connections before they carry a session.
extension SyncNode.Core {
    /// How long the other side may take to look at an invitation.
    private static let patience = Duration.seconds(10)

    func dial(_ node: NodeID, _ target: HostPort) {
        calls[node] = Call(
            dialer: Dialer(loop: loop, host: target.host, port: target.port) { [weak self] result in
                self?.dialed(node, result)
            })
    }

    private func dialed(_ node: NodeID, _ result: Result<Int32, DialError>) {
        calls[node] = nil
        do {
            let descriptor = try result.get()
            let link = try TLSLink(loop: loop, descriptor: descriptor, context: context, role: .client)
            call(node, link)
        } catch {
            input { $0.callFailed(to: node, "\(error)", now: $1, effects: &$2) }
        }
    }

    private func call(_ node: NodeID, _ link: TLSLink) {
        let id = nextLink()
        calls[node] = Call(link: link)
        link.onOpen = { [weak self, weak link] bytes in
            guard let self, let link, let found = NodeID(bytes: bytes) else { return }
            connections[id] = Connection(link: link)
            input { $0.callOpened(id, to: node, as: found, now: $1, effects: &$2) }
        }
        link.onClose = { [weak self] end in
            self?.calls[node] = nil
            self?.connections[id] = nil
            self?.input { $0.callFailed(to: node, end.description, now: $1, effects: &$2) }
        }
    }

    func accepted(_ socket: AcceptedSocket) {
        // Callbacks must not hold the socket: with it they would hold its place among unfinished handshakes.
        let caller = socket.peer
        do throws(TransportError) {
            let link = try TLSLink(
                loop: loop, descriptor: socket.descriptor, context: context, role: .server, ticket: socket.ticket)
            link.onOpen = { [weak self, weak link] bytes in
                guard let self, let link, let node = NodeID(bytes: bytes) else { return }
                let id = nextLink()
                connections[id] = Connection(link: link)
                let isInviting = mesh.entries[node] == nil && desk.isOpen()
                input { $0.dialled(id, by: node, from: caller, isInviting: isInviting, now: $1, effects: &$2) }
            }
            link.onClose = { [weak self] end in self?.note("call from \(caller) ended in the handshake: \(end)") }
        } catch {
            note("call from \(caller): \(error)")
        }
    }

    private func note(_ text: String) { input { $0.note(text, $1, &$2) } }

    func refuse(_ id: LinkID, _ code: SessionErrorCode, _ text: String, _ retryAfter: UInt32) {
        guard let link = connections.removeValue(forKey: id)?.link else { return }
        link.onClose = nil
        link.onFrame = nil
        // What an unlet node sends is never read.
        link.pauseReading()
        let frame = Message.bye(Bye(code, text: text, retryAfter: retryAfter)).frame(compress: false)
        link.send(type: frame.type, flags: frame.flags, body: frame.body, priority: .control)
        link.close(afterFlush: .seconds(2))
    }

    func attach(_ id: LinkID, _ node: NodeID, _ isOutgoing: Bool) {
        guard let connection = connections.removeValue(forKey: id) else { return }
        if isOutgoing { calls[node] = nil }
        takeCommits()
        let options = snapshots.options
        let session = mesh.session(
            with: node, features: [.standings, .sources, .heads, .payloads, .sharedState, .attachments],
            policy: mesh.snapshotPolicy(for: node, offers: options.offers, after: options.after))
        let link = PeerLink(core: self, id: id, link: connection.link, node: node, session: session)
        sessions[id] = link
        link.start(connection.first)
        // From now on each commit matters; also those since the session was made.
        takeCommits()
    }

    func ended(_ link: PeerLink, _ end: SessionEnd) {
        sessions[link.id] = nil
        if let heard = link.session.lastHeard { lastHeard[link.node] = heard }
        input { $0.ended(link.id, of: link.node, end, memory: link.session.memory, now: $1, effects: &$2) }
    }

    // MARK: Invitations

    /// Reads one frame of at most 4 KiB from a node that is not known.
    func hear(_ id: LinkID) {
        guard let link = connections[id]?.link else { return }
        link.onClose = { [weak self] _ in
            self?.connections[id] = nil
            self?.input { mesh, _, _ in mesh.callerLeft(id) }
        }
        link.onFrame = { [weak self] type, flags, body in
            var join: Join?
            if case .join(let shown)? = try? Message(frame: Frame(type: type, flags: flags, body: body)) {
                join = shown
            }
            self?.input { $0.callerSpoke(id, join, now: $1, effects: &$2) }
        }
    }

    func judge(_ id: LinkID, _ caller: Mesh.Caller, _ join: Join) {
        guard let link = connections[id]?.link else { return }
        link.pauseReading()
        link.onFrame = nil
        link.onClose = nil
        var attempt: JoinAttempt?
        if let secret = link.sharedSecret(label: Join.secretLabel) {
            let transcript = Join.transcript(secret: secret, inviter: mesh.local.node, guest: caller.node)
            attempt = JoinAttempt(node: caller.node, name: join.name, transcript: transcript, proof: join.proof)
        }
        let this = loop.bind(self)
        workers.readers.submit { [desk, attempt] _ in
            let peer = attempt.flatMap { desk.admit($0) }
            this.post { core in
                let isOpen = core.connections[id]?.link.isOpen == true
                core.input { $0.judged(id, caller, peer, isOpen: isOpen, now: $1, effects: &$2) }
                core.connections[id] = nil
            }
        }
    }

    /// Shows the invitation. The peer's Hello is its yes.
    func knock(_ id: LinkID, _ node: NodeID, _ token: [UInt8]) {
        guard let link = connections[id]?.link else { return }
        guard let secret = link.sharedSecret(label: Join.secretLabel) else { return link.abort() }
        let local = mesh.local
        let transcript = Join.transcript(secret: secret, inviter: node, guest: local.node)
        let proof = MessageCode.code(transcript, key: token)
        let frame = Message.join(Join(cluster: local.cluster, name: local.name, proof: proof)).frame(compress: false)
        let timer = loop.schedule(after: Self.patience) { [weak link] in link?.abort() }
        link.onFrame = { [weak self] type, flags, body in
            timer.cancel()
            self?.answered(id, node, Frame(type: type, flags: flags, body: body))
        }
        link.send(type: frame.type, flags: frame.flags, body: frame.body, priority: .control)
    }

    private func answered(_ id: LinkID, _ node: NodeID, _ first: Frame) {
        guard let link = connections[id]?.link else { return }
        link.onFrame = nil
        guard first.type != MessageType.hello.rawValue else {
            link.pauseReading()
            connections[id]?.first = first
            return input { $0.welcomed(id, by: node, now: $1, effects: &$2) }
        }
        link.onClose = nil
        link.close(afterFlush: .seconds(2))
        calls[node] = nil
        connections[id] = nil
        var bye: Bye?
        if case .bye(let said)? = try? Message(frame: first) { bye = said }
        input { $0.turnedAway(by: node, bye, now: $1, effects: &$2) }
    }
}
