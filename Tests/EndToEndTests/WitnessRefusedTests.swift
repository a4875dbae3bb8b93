import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A node that finds another history of a peer than it has cosigned says so to its operator (INV-18).
@Suite(.timeLimit(.minutes(5)))
struct WitnessRefusedTests {
    private func key(_ daemon: DaemonProcess) throws -> SigningKey {
        let pem = try #require(try SmallFile.read(StoreFiles(daemon.store).key))
        return try #require(SigningKey(pem: pem))
    }

    @Test("doctor, status and metrics tell of a witness that refuses, until it is settled")
    func told() throws {
        let (a, b) = try makePair()
        #expect(try a.syncctl("append", "--user", "kim", "--text", "하나").code == 0)
        _ = try converge(a, b)
        let (busan, port) = (try a.node(), try b.port())
        #expect(b.terminate() == 0)
        // What it has cosigned before its store was put back: as many events, and others.
        let files = StoreFiles(b.store)
        let origin = try #require(try LogReader(files).origins().first { $0.node.description == busan })
        let head = TreeHead(origin: origin.id, size: origin.size, root: .zero, hlc: HybridTime(rawValue: 1))
        let said = Cosignature(
            signing: SignedHead(signing: head, with: try key(a)), at: UInt64(Date().timeIntervalSince1970),
            with: try key(b))
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: files.cosignatures + suffix)
        }
        try CosignatureFile(files).remember([said])
        try b.start(port: port)
        #expect(try a.syncctl("append", "--user", "kim", "--text", "둘").code == 0)
        _ = try converge(a, b)
        func findings(_ arguments: String...) throws -> [[String: Any]] {
            try Programs.syncctl(b.store, ["doctor", "--json"] + arguments).lines
                .filter { $0["code"] as? String == "WITNESS_REFUSED" }
        }
        try waitWhile(every: 100_000, findings().isEmpty)
        let found = try #require(try findings().first)
        #expect(found["severity"] as? String == "integrity" && found["subject"] as? String == origin.id.description)
        #expect((found["text"] as? String)?.contains("cosigned") == true, "\(found)")
        #expect((found["action"] as? String)?.contains("A witness that refuses") == true, "\(found)")
        #expect(try b.syncctl("doctor").code == 3 && b.syncctl("status").output.contains("WITNESS_REFUSED"))
        let metrics = APIClient(socket: b.store + "/api.sock").ask("GET", "/metrics")?.2 ?? ""
        #expect(metrics.contains(#"syncd_finding{code="WITNESS_REFUSED"} 1"#))
        #expect(try b.syncctl("doctor", "settle", "WITNESS_REFUSED", "--note", "the disk was put back").code == 0)
        #expect(try findings().isEmpty && findings("--all").count == 1)
        // Its files say so, too, when no daemon runs.
        #expect(b.terminate() == 0)
        let alone = try #require(try findings().first)
        #expect(
            alone["text"] as? String == found["text"] as? String
                && alone["subject"] as? String == origin.id.description)
        #expect(try b.syncctl("status").output.contains("WITNESS_REFUSED"))
        // Without what contradicts nothing is said.
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: files.cosignatures + suffix)
        }
        #expect(try findings().isEmpty)
    }
}
