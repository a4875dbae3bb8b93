import Foundation
import Testing

@testable import SyncEngine

@Suite struct TLSHandshakeTests {
    @Test func identityIsTheDigestOfThePublicKey() throws {
        let one = try TLSIdentity(privateKeyPEM: TestKeys.ed25519(1))
        let again = try TLSIdentity(privateKeyPEM: TestKeys.ed25519(1))
        let two = try TLSIdentity(privateKeyPEM: TestKeys.ed25519(2))
        #expect(one.nodeID == again.nodeID)
        #expect(one.nodeID != two.nodeID)
        // From: openssl pkey -pubout -outform DER | sha256sum
        #expect(
            one.nodeID.map { String(format: "%02x", $0) }.joined()
                == "fd110d301d2f077de1414b8f99f441b1403fab207b2052fbd2c065e4ee8e7dc2")
    }

    @Test func otherKeysAndRubbishAreRefused() {
        #expect(throws: TLSSetupError.wrongKeyType) { try TLSIdentity(privateKeyPEM: TestKeys.p256) }
        for bytes in [[], Array("hello".utf8), Array(TestKeys.ed25519(1).dropLast(40))] as [[UInt8]] {
            #expect {
                try TLSIdentity(privateKeyPEM: bytes)
            } throws: { error in
                guard case .unreadableKey(let reason) = error as? TLSSetupError else { return false }
                return !reason.isEmpty
            }
        }
    }

    @Test func bothSidesLearnTheOther() async throws {
        let pair = try LinkPair()
        #expect(await pair.bothOpen())
        #expect(pair.server.log.peer == (try TestKeys.context(2).identity.nodeID))
        #expect(pair.client.log.peer == (try TestKeys.context(1).identity.nodeID))
        pair.client.send(7, Array("hello".utf8), .control, flags: 3)
        #expect(await eventually { !pair.server.log.frames.isEmpty })
        #expect(pair.server.log.frames == [ReceivedFrame(type: 7, flags: 3, body: Array("hello".utf8))])
    }

    @Test(arguments: [TLSLink.Role.server, .client])
    func otherKindOfKeyIsNamed(honest: TLSLink.Role) async throws {
        let loop = try TestLoop()
        let ends = try socketPair()
        let key = try #require(TLSIdentity.readKey(TestKeys.p256))
        let stranger = try TLSContext(identity: TLSIdentity(owning: key))
        let judge = try LinkEndpoint(loop, descriptor: ends.0, context: TestKeys.context(1), role: honest)
        let other = try LinkEndpoint(
            loop, descriptor: ends.1, context: stranger, role: honest == .server ? .client : .server)
        #expect(await eventually { judge.log.end != nil && other.log.end != nil })
        #expect(judge.log.end == .wrongKeyType)
        #expect(other.log.end == .rejectedByPeer(alert: 40))
        #expect(judge.log.peer == nil)
    }

    @Test(arguments: [TLSLink.Role.server, .client])
    func certificateWithoutItsKeyCannotConnect(honest: TLSLink.Role) async throws {
        let loop = try TestLoop()
        let ends = try socketPair()
        let thief = try ForgedIdentity.context(victim: 3, own: 4)
        let judge = try LinkEndpoint(loop, descriptor: ends.0, context: TestKeys.context(1), role: honest)
        let other = try LinkEndpoint(
            loop, descriptor: ends.1, context: thief, role: honest == .server ? .client : .server)
        #expect(await eventually { judge.log.end != nil && other.log.end != nil })
        #expect(judge.log.end == .tls("bad signature"))
        #expect(other.log.end == .rejectedByPeer(alert: 51))
        #expect(judge.log.peer == nil)
    }

    @Test func plainHTTPIsNamed() async throws {
        let loop = try TestLoop()
        let ends = try socketPair()
        let server = try LinkEndpoint(loop, descriptor: ends.0, context: TestKeys.context(1), role: .server)
        let request = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        #expect(write(ends.1, request, request.count) == request.count)
        #expect(await eventually { server.log.end != nil })
        #expect(server.log.end == .tls("http request"))
        close(ends.1)
    }

    @Test(arguments: [0, 1, 5, 6, 100, 300])
    func rubbishAndSilenceEndNamed(count: Int) async throws {
        let loop = try TestLoop()
        let ends = try socketPair()
        let server = try LinkEndpoint(loop, descriptor: ends.0, context: TestKeys.context(1), role: .server)
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 22) }
        #expect(write(ends.1, bytes, count) == count)
        close(ends.1)
        #expect(await eventually { server.log.end != nil })
        #expect(server.log.ends == 1)
        #expect(server.log.peer == nil)
    }

    @Test func silentHandshakeTimesOut() async throws {
        let loop = try TestLoop()
        let ends = try socketPair()
        var limits = TLSLink.Limits()
        limits.handshakeTimeout = .milliseconds(100)
        let server = try LinkEndpoint(
            loop, descriptor: ends.0, context: TestKeys.context(1), role: .server, limits: limits)
        #expect(await eventually { server.log.end != nil })
        #expect(server.log.end == .handshakeTimeout)
        close(ends.1)
    }

    @Test func everyEndDescribesItself() {
        let ends: [LinkEnd] = [
            .peerClosed, .truncated, .rejectedByPeer(alert: 40), .wrongKeyType, .tls("x"), .socket("ECONNRESET"),
            .handshakeTimeout, .slowPeer, .badFrame("x"),
            .frameTooLarge(bytes: 2, limit: 1), .crowdedOut, .closedByUs,
        ]
        #expect(Set(ends.map(\.description)).count == ends.count)
        #expect(
            LinkEnd.rejectedByPeer(alert: 40).description == "the peer refused us: handshake failure (TLS alert 40)")
    }
}
