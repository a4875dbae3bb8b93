internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SyncEngine

/// Invitations and joining: `POST /v1/invitations`, `POST /v1/join`.
extension Service {
    /// Most that an invitation may be valid: a week, in seconds.
    static let longestInvitation: Int64 = 7 * 86_400

    func invite(_ exchange: HTTPExchange) throws(StoreError) {
        guard let object = exchange.object(of: [("name", .text), ("valid_s", .whole), ("addresses", .texts)]) else {
            return
        }
        let seconds = object.integer("valid_s") ?? 3_600
        guard (1...Self.longestInvitation).contains(seconds) else {
            return exchange.refuse(.parameter, "valid_s: 1 to \(Self.longestInvitation) seconds")
        }
        let wanted = object.strings("addresses") ?? []
        let addresses = wanted.isEmpty ? ListenAddresses.reachable(listen, port: node.status().listeningPort) : wanted
        guard !addresses.isEmpty else {
            return exchange.refuse(
                .notListening, "this node does not listen for peers: set peers.listen, or name an address")
        }
        guard addresses.count <= Invitation.maximumAddresses, addresses.allSatisfy({ HostPort($0) != nil }) else {
            return exchange.refuse(
                .parameter, "addresses: up to \(Invitation.maximumAddresses) times host:port")
        }
        let now = WallClock.now / 1_000
        let open = try invitations.create(name: object.string("name"), until: now + seconds, now: now)
        let invitation = Invitation(
            node: store.identity.node, addresses: addresses, cluster: store.identity.cluster,
            name: store.identity.name, token: open.token, until: open.until)
        var line = JSONLine(type: "invitation")
        line.add("line", invitation.text)
        line.add("until", Timestamp.text(open.until * 1_000))
        exchange.send(line, status: 201)
    }

    func join(_ exchange: HTTPExchange) {
        guard let object = exchange.object(of: [("line", .text), ("name", .text)]) else { return }
        guard let invitation = object.string("line").flatMap({ Invitation($0) }) else {
            return exchange.refuse(.invitation, "this is no invitation, or a part of one")
        }
        let name = object.string("name") ?? invitation.name
        if let failure = objection(to: invitation, as: name) {
            return exchange.refuse(failure.code, failure.message)
        }
        let before = roster.entry(of: invitation.node)
        attempt(invitation, name, invitation.addresses[...], before, exchange)
    }

    private func objection(
        to invitation: Invitation, as name: String
    ) -> (code: ErrorCode, message: String)? {
        guard invitation.node != store.identity.node else {
            return (.ownInvitation, "this is an invitation of this node itself")
        }
        guard Array(invitation.cluster.utf8) == Array(store.identity.cluster.utf8) else {
            return (
                .cluster,
                "the invitation is of cluster '\(invitation.cluster)', this node of '\(store.identity.cluster)'"
            )
        }
        guard invitation.until > WallClock.now / 1_000 else {
            return (.expired, "the invitation has expired at \(Timestamp.text(invitation.until * 1_000))")
        }
        return nil
    }

    /// Tries one address after the other. When none of them lets this node in, the peer is what it was `before`: unknown, or known.
    private func attempt(
        _ invitation: Invitation, _ name: String, _ addresses: ArraySlice<String>, _ before: Peer?,
        _ exchange: HTTPExchange
    ) {
        guard let address = addresses.first else { return }
        do throws(StoreError) {
            let peer = Peer(name: name, node: invitation.node, address: address, token: invitation.token)
            guard try roster.add(peer) else { return exchange.refuseName(name) }
        } catch {
            return exchange.refuse(error)
        }
        node.setPeers(roster.peers, joining: invitation.node) { reason in
            worker.submit { _ in
                guard let reason else { return joined(invitation, name, address, exchange) }
                let isRefused = reason.contains("the peer refused")
                if !isRefused, addresses.count > 1 {
                    return attempt(invitation, name, addresses.dropFirst(), before, exchange)
                }
                do throws(StoreError) { try roster.restore(invitation.node, before) } catch {
                    return exchange.refuse(error)
                }
                node.setPeers(roster.peers)
                exchange.refuse(
                    isRefused ? .refused : .unreachable, reason,
                    hint: isRefused ? "the line was used, has expired or is unknown there: a new one" : nil)
            }
        }
    }

    private func joined(_ invitation: Invitation, _ name: String, _ address: String, _ exchange: HTTPExchange) {
        var line = JSONLine(type: "joined")
        line.add("name", name)
        line.add("node", invitation.node.description)
        line.add("address", address)
        exchange.send(line, status: 201)
    }

    /// Where nodes show their invitations.
    static func desk(
        _ roster: PeerRoster, _ invitations: Invitations, _ log: Logger
    ) -> JoinDesk {
        JoinDesk(
            isOpen: { !invitations.current(now: WallClock.now / 1_000).isEmpty },
            admit: { attempt in
                do throws(StoreError) {
                    let used = try invitations.redeem(now: WallClock.now / 1_000) { attempt.proves($0) }
                    guard let used else { return nil }
                    return try roster.admit(attempt.node, as: used.name ?? attempt.name)
                } catch {
                    log.error("an invitation could not be used: \(error)", "INVITATION")
                    return nil
                }
            },
            joined: { node in
                do throws(StoreError) { try roster.joined(node) } catch { log.error("\(error)", "PEERS_FILE") }
            })
    }
}

/// Where this machine can be dialled.
enum ListenAddresses {
    /// The address that is listened at; where that is any, those of the interfaces that are up, loopback left out.
    static func reachable(_ listen: NetworkAddress?, port: UInt16) -> [String] {
        guard let listen, port != 0 else { return [] }
        guard listen.host == "0.0.0.0" || listen.host == "::" else {
            return [listen.host.contains(":") ? "[\(listen.host)]:\(port)" : "\(listen.host):\(port)"]
        }
        var hosts: [String] = []
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard let address = entry.ifa_addr, entry.ifa_flags & UInt32(IFF_UP) != 0,
                entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0,
                let host = text(address, isAny6: listen.host == "::")
            else { continue }
            hosts.append(host)
        }
        return hosts.prefix(Invitation.maximumAddresses).map {
            $0.contains(":") ? "[\($0)]:\(port)" : "\($0):\(port)"
        }
    }

    private static func text(_ address: UnsafeMutablePointer<sockaddr>, isAny6: Bool) -> String? {
        let family = Int32(address.pointee.sa_family)
        let size: Int
        switch family {
        case AF_INET: size = MemoryLayout<sockaddr_in>.size
        case AF_INET6 where isAny6: size = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var host = [CChar](repeating: 0, count: 64)
        guard getnameinfo(address, socklen_t(size), &host, 64, nil, 0, NI_NUMERICHOST) == 0 else { return nil }
        let text = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // Link-local addresses mean nothing on another machine.
        return text.hasPrefix("fe80:") || text.hasPrefix("169.254.") ? nil : text
    }
}
