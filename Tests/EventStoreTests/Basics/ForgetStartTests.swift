import Foundation
import Testing

@testable import EventStore

struct ForgetStartTests {
    /// KiB of mapped files that this process has in memory.
    private func mapped() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssFile:") })
        return try #require(Int(line.split(separator: " ")[1]))
    }

    @Test("Text that was used so far leaves memory, and comes back where it is used")
    func forget() throws {
        let before = try mapped()
        forgetStart()
        #expect(try mapped() < before * 3 / 4)
        // Other tests go on beside this one; what they and this one need is there again.
        #expect(String(describing: UUIDBits(high: 1, low: 2)).isEmpty == false)
        #expect(try JSONSerialization.jsonObject(with: Data("{}".utf8)) is [String: Any])
    }
}
