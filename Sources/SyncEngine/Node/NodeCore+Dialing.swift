internal import EventStore

// Whom this node calls, and when it calls again.
extension SyncNode.Core {
    func dial(_ node: NodeID) {
        guard !isStopping, obstacle(for: node) == nil, var entry = entries[node], !entry.peer.isPaused,
            !entry.isSuspended, entry.link == nil, entry.dialer == nil, !entry.isHandshaking,
            let address = entry.peer.address
        else { return }
        entry.timer?.cancel()
        entry.timer = nil
        entry.dueAt = nil
        guard let target = HostPort(address) else {
            entry.lastError = "'\(address)' is not host:port"
            entries[node] = entry
            return
        }
        entry.dialer = Dialer(loop: loop, host: target.host, port: target.port) { [weak self] result in
            self?.dialed(node, result)
        }
        entries[node] = entry
    }

    /// Calls now, whatever pause was due.
    func redial(_ node: NodeID) {
        entries[node]?.timer?.cancel()
        entries[node]?.timer = nil
        dial(node)
    }

    private func dialed(_ node: NodeID, _ result: Result<Int32, DialError>) {
        entries[node]?.dialer = nil
        switch result {
        case .failure(let error): retry(node, because: error.description)
        case .success(let descriptor): call(node, descriptor)
        }
    }

    private func call(_ node: NodeID, _ descriptor: Int32) {
        do throws(TransportError) {
            let link = try TLSLink(loop: loop, descriptor: descriptor, context: context, role: .client)
            entries[node]?.isHandshaking = true
            link.onOpen = { [weak self, weak link] bytes in
                guard let self, let link, let found = NodeID(bytes: bytes) else { return }
                entries[node]?.isHandshaking = false
                guard entries[node] != nil, !isStopping, obstacle(for: node) == nil else { return link.abort() }
                guard found == node else {
                    let text = "\(entries[node]?.peer.address ?? "") is node \(found), expected \(node)"
                    refuse(link, .wrongCertificate, text)
                    retry(node, because: "WRONG_CERTIFICATE: \(text)")
                    return
                }
                if entries[node]?.peer.token != nil { return knock(link, node) }
                attach(link, node, isOutgoing: true)
            }
            link.onClose = { [weak self] end in
                self?.entries[node]?.isHandshaking = false
                self?.retry(node, because: end.description)
            }
        } catch {
            retry(node, because: error.description)
        }
    }

    /// Calls again later.
    ///
    /// - Parameter wait: How long to wait; `nil`: a pause that grows.
    func retry(_ node: NodeID, because reason: String, after wait: Duration? = nil) {
        guard !isStopping, var entry = entries[node] else { return }
        entry.lastError = reason
        if wait == nil {
            entry.onJoin?(reason)
            entry.onJoin = nil
        }
        if entry.link == nil, !entry.peer.isPaused, !entry.isSuspended, entry.peer.address != nil,
            entry.timer?.isPending != true
        {
            let wait = wait ?? entry.backoff.next(using: &random)
            entry.dueAt = PeerLink.now().monotonic + UInt64(wait / .milliseconds(1))
            entry.timer = loop.schedule(after: wait) { [weak self] in self?.dial(node) }
        }
        entries[node] = entry
    }
}
