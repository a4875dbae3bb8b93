import Foundation
import TestSupport
import Testing

@testable import EventStore
@testable import SyncEngine

struct InvitationTests {
    private func invitation(addresses: [String], cluster: String = "default", name: String = "서울 1") -> Invitation {
        Invitation(
            node: NodeID(SHA256().digest([1])), addresses: addresses, cluster: cluster, name: name,
            token: (0..<16).map { $0 }, until: 1_800_000_000)
    }

    @Test("An invitation is one word that no shell touches, and reads back as it was")
    func text() throws {
        for addresses in [["203.0.113.7:7460"], ["[2001:db8::7]:7460", "seoul-1.example:7460", "10.0.0.1:1"]] {
            let invitation = invitation(addresses: addresses, cluster: "병원/a b", name: "서울 1/x")
            let text = invitation.text
            #expect(Invitation(text) == invitation)
            #expect(Invitation("  \(text) \n") == invitation)
            let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/@,%"
            #expect(text.allSatisfy { plain.contains($0) })
        }
        #expect(
            Invitation(invitation(addresses: ["h:1"], name: "").text)?.name == invitation(addresses: []).node.short)
    }

    @Test("A cut or changed line is no invitation")
    func malformed() {
        let text = invitation(addresses: ["203.0.113.7:7460"]).text
        for count in 0..<text.count { #expect(Invitation(String(text.prefix(count))) == nil, "\(count)") }
        func signed(_ line: String) -> String {
            let rest = line.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
            return rest + "/" + SHA256().digest(Array(rest.utf8)).description.prefix(8)
        }
        #expect(signed(text) == text)
        for bad in [
            text + "x", text + " y", text.replacingOccurrences(of: "sillok:", with: "sillog:"),
            text.replacingOccurrences(of: "@", with: "@,"), text.replacingOccurrences(of: ":7460", with: ""),
            text.replacingOccurrences(of: ":7460", with: ":70000"),
            text.replacingOccurrences(of: "default", with: ""),
            text.replacingOccurrences(of: "default", with: "%ff"),
            text.replacingOccurrences(of: "default", with: "%4"),
            text.replacingOccurrences(of: "0001", with: ""),
            invitation(addresses: (1...5).map { "h:\($0)" }).text, invitation(addresses: []).text,
            "sillok://" + String(repeating: "a", count: 5_000),
        ] {
            #expect(Invitation(bad) == nil, "\(bad)")
            #expect(bad.hasSuffix(" y") || Invitation(signed(bad)) == nil || signed(bad) == text, "\(bad)")
        }
    }

    @Test("Invitations are kept in the store, used once, and forgotten when they expire")
    func book() throws {
        let folder = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try EventStore.create(in: folder, name: "a")
        let files = StoreFiles(folder)
        let book = try Invitations(files)
        #expect(book.current(now: 0).isEmpty)
        let first = try book.create(name: nil, until: 100, now: 0)
        let second = try book.create(name: "b", until: 200, now: 0)
        #expect(first.token != second.token && first.token.count == 16)
        #expect(try Invitations(files).current(now: 0) == [first, second])
        #expect(try book.redeem(now: 100) { $0 == first.token } == nil)
        #expect(try book.redeem(now: 99) { _ in false } == nil)
        #expect(try book.redeem(now: 99) { $0 == first.token } == first)
        #expect(try book.redeem(now: 99) { $0 == first.token } == nil)
        #expect(try Invitations(files).current(now: 0) == [second])
        for _ in 0..<30 { _ = try book.create(name: nil, until: 300, now: 0) }
        #expect(book.current(now: 0).count == Invitations.capacity)
        let attributes = try FileManager.default.attributesOfItem(atPath: files.invitations)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try "nonsense".write(toFile: files.invitations, atomically: true, encoding: .utf8)
        #expect(throws: StoreError.self) { try Invitations(files) }
    }

    @Test("The proof is HMAC-SHA-256 (RFC 4231, test case 2)")
    func code() throws {
        let code = MessageCode.code(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        #expect(hexText(code) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(MessageCode.isValid(code, for: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)))
        #expect(!MessageCode.isValid(code, for: [], key: Array("Jefe".utf8)))
        #expect(!MessageCode.isValid([], for: [], key: []))
    }
}

/// Joining, pausing and pinging between real nodes on loopback.
@Suite(.serialized)
struct JoiningTests {
    /// A desk with one token, as the daemon keeps it.
    private final class Desk: Sendable {
        let token: [UInt8] = randomBytes(16)
        let isOpen = Lock(true)
        let attempts = Lock([JoinAttempt]())
        let joined = Lock([NodeID]())

        var desk: JoinDesk {
            JoinDesk(
                isOpen: { self.isOpen.withLock { $0 } },
                admit: { attempt in
                    self.attempts.withLock { $0.append(attempt) }
                    guard self.isOpen.withLock({ $0 }), attempt.proves(self.token) else { return nil }
                    self.isOpen.withLock { $0 = false }
                    return Peer(name: attempt.name, node: attempt.node, address: nil)
                }, joined: { node in self.joined.withLock { $0.append(node) } })
        }
    }

    private func join(_ guest: TestNode, _ peer: Peer) -> String {
        let outcome = Monitor<String?>(nil)
        guest.node.setPeers([peer], joining: peer.node) { reason in
            outcome.update { outcome in
                outcome = reason ?? "joined"
                return true
            }
        }
        return outcome.wait(milliseconds: 60_000) { $0 } ?? "no answer"
    }

    private func invited(_ host: TestNode, _ token: [UInt8]) -> Peer {
        Peer(name: "host", node: host.store.identity.node, address: host.address, token: token)
    }

    @Test("Who knows the token is let in, once; then both exchange events")
    func joins() throws {
        let (desk, own) = (Desk(), Desk())
        let host = try TestNode("host", desk: desk.desk)
        let guest = try TestNode("guest", desk: own.desk)
        try host.append(5)
        #expect(join(guest, invited(host, desk.token)) == "joined")
        #expect(try eventually { try guest.vector() == host.vector() && guest.vector().entries.count == 2 })
        #expect(eventually { own.joined.withLock { $0 } == [host.store.identity.node] })
        #expect(host.node.status().peers.map(\.peer.name) == ["guest"])
        #expect(desk.attempts.withLock { $0.count } == 1)

        // The token is used up: a second node is refused, listed, and stores nothing.
        let late = try TestNode("late")
        let reason = join(late, invited(host, desk.token))
        #expect(reason.contains("UNKNOWN_PEER"), "\(reason)")
        #expect(eventually { host.node.status().pending.map(\.node) == [late.store.identity.node] })
        #expect(try late.vector().entries.count == 1)
        for node in [host, guest, late] { node.stop() }
    }

    @Test("A wrong token, another cluster, other frames and silence are refused (INV-13)")
    func refused() throws {
        let desk = Desk()
        let host = try TestNode("host", desk: desk.desk)
        let wrong = try TestNode("wrong")
        let reason = join(wrong, invited(host, randomBytes(16)))
        #expect(reason.contains("JOIN_REFUSED"), "\(reason)")
        let foreign = try TestNode("foreign", cluster: "other")
        #expect(join(foreign, invited(host, desk.token)).contains("WRONG_CLUSTER"))
        // A node without an invitation says Hello, and is refused as ever.
        let stranger = try TestNode("stranger", peers: [host.peer()])
        #expect(eventually { stranger.node.status().peers[0].lastError?.contains("UNKNOWN_PEER") == true })
        #expect(host.node.status().peers.isEmpty)
        #expect(try host.vector().entries.count == 1)
        #expect(Set(desk.attempts.withLock { $0.map(\.node) }) == [wrong.store.identity.node])
        // The token still works.
        #expect(join(wrong, invited(host, desk.token)) == "joined")
        for node in [host, wrong, foreign, stranger] { node.stop() }
    }

    @Test(
        "Strangers that say nothing keep no invited guest out: the oldest goes, and a busy host is asked again (INV-13)"
    )
    func crowdedOut() throws {
        let desk = Desk()
        let host = try TestNode("host", desk: desk.desk)
        let port = host.node.status().listeningPort
        let silent = try (0..<24).map { _ in try HostileClient(port: port, key: .generate()) }
        // The first ones were told to come back.
        for stranger in silent.prefix(8) {
            let bye = try stranger.farewell()
            #expect(bye?.knownCode == .busy && bye?.retryAfter ?? 0 > 0)
        }
        let guest = try TestNode("guest")
        #expect(join(guest, invited(host, desk.token)) == "joined")
        #expect(try eventually { try guest.vector() == host.vector() })
        withExtendedLifetime(silent) {
            for node in [host, guest] { node.stop() }
        }
    }

    @Test("Where another node answers than the one named, nothing is shown to it")
    func imposter() throws {
        let desk = Desk()
        let host = try TestNode("host")
        let imposter = try TestNode("imposter", desk: desk.desk)
        let guest = try TestNode("guest")
        let peer = Peer(
            name: "host", node: host.store.identity.node, address: imposter.address, token: desk.token)
        #expect(join(guest, peer).contains("WRONG_CERTIFICATE"))
        #expect(desk.attempts.withLock { $0.isEmpty })
        for node in [host, imposter, guest] { node.stop() }
    }

    @Test("A proof holds for one connection: shown again it is worth nothing")
    func replayed() throws {
        let desk = Desk()
        let host = try TestNode("host", desk: desk.desk)
        let guest = try TestNode("guest")
        #expect(join(guest, invited(host, randomBytes(16))).contains("JOIN_REFUSED"))
        #expect(join(guest, invited(host, randomBytes(16))).contains("JOIN_REFUSED"))
        let attempts = desk.attempts.withLock { $0 }
        #expect(attempts.count >= 2 && Set(attempts.map(\.transcript)).count == attempts.count)
        let right = MessageCode.code(attempts[0].transcript, key: desk.token)
        let copied = JoinAttempt(
            node: attempts[1].node, name: "guest", transcript: attempts[1].transcript, proof: right)
        #expect(!copied.proves(desk.token))
        for node in [host, guest] { node.stop() }
    }

    @Test("A node that was let in while it did not hear of it joins by being known")
    func knownMeanwhile() throws {
        let desk = Desk()
        let host = try TestNode("host", desk: desk.desk)
        let guest = try TestNode("guest")
        host.node.setPeers([guest.peer(calling: false)])
        #expect(join(guest, invited(host, randomBytes(16))) == "joined")
        #expect(try eventually { try guest.vector() == host.vector() })
        for node in [host, guest] { node.stop() }
    }

    @Test("A paused peer is left alone until it is resumed; what was missed then comes")
    func paused() throws {
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false)])
        #expect(try eventually { try a.vector() == b.vector() })
        var peer = b.peer(calling: false)
        peer.isPaused = true
        a.node.setPeers([peer])
        #expect(eventually { a.node.status().peers[0].phase == .paused })
        #expect(eventually { b.node.status().peers[0].lastError?.contains("PAUSED") == true })
        try a.append(5)
        try b.append(5)
        usleep(300_000)
        #expect(try a.vector() != b.vector())
        // The caller may pause as well.
        var called = a.peer()
        called.isPaused = true
        b.node.setPeers([called])
        #expect(b.node.status().peers[0].phase == .paused)
        peer.isPaused = false
        a.node.setPeers([peer])
        b.node.setPeers([a.peer()])
        #expect(try eventually { try a.vector() == b.vector() })
        for node in [a, b] { node.stop() }
    }

    @Test("A ping measures the way there and back over the session; none comes from who is not there")
    func pings() throws {
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false)])
        #expect(try eventually { try a.vector() == b.vector() && a.vector().entries.count == 2 })
        func ping(_ node: NodeID) -> PingResult? {
            let answer = Monitor<PingResult??>(nil)
            a.node.ping(node) { result in
                answer.update { answer in
                    answer = .some(result)
                    return true
                }
            }
            return answer.wait(milliseconds: 10_000) { $0 } ?? nil
        }
        for _ in 0..<5 {
            let result = try #require(ping(b.store.identity.node))
            #expect(result.roundTrip > .zero && result.roundTrip < .seconds(5))
            #expect(abs(try #require(result.clockOffset)) < 5_000)
        }
        #expect(ping(a.store.identity.node) == nil)
        b.stop()
        #expect(ping(b.store.identity.node) == nil)
        a.stop()
    }
}
