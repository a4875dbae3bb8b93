import Foundation
import Testing

/// The feed and subscriptions of real daemons, from outside, in short: `make acceptance` does more of the same (docs/operating/following.md).
@Suite(.serialized)
struct FollowingTests {
    /// What the script says of each check; `nil` where Python is missing.
    private func run(_ script: String, _ checks: [String], _ settings: [String: String]) async throws -> Tool.Run? {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Acceptance/\(script).py")
        let environment = ProcessInfo.processInfo.environment.merging(settings) { $1 }
            .merging(["SILLOK_BIN": Programs.folder.path]) { $1 }
        let env = Tool(path: "/usr/bin/env", environment: environment)
        let run = try await env.run(["python3", "-B", path.path] + checks)
        if run.code == 127 { print("skipped: no python3") }
        return run.code == 127 ? nil : run
    }

    @Test("Workers and the daemon die: nothing is missing, nothing acked comes again, order holds (INV-14, INV-16)")
    func subscriptions() async throws {
        let settings = ["EVENTS": "600", "KILLS": "4", "ACK_WAIT": "5000"]
        guard let run = try await run("subscriptions", ["1", "2", "4", "6", "10"], settings) else { return }
        #expect(run.code == 0, "\(run.output) \(run.errors)")
    }

    @Test("Three faces say the same; a place of one node is understood by another; followers get each event once")
    func feed() async throws {
        let settings = ["RESUMES": "10", "FOLLOWERS": "50", "SECONDS": "2"]
        guard let run = try await run("feed", ["1", "2", "3", "4", "6"], settings) else { return }
        #expect(run.code == 0, "\(run.output) \(run.errors)")
    }
}
