import Foundation
import SyncEngine
import Testing

/// The codes of Bye, as docs/reference/sync.proto has them (section 6).
struct ByeCodeTests {
    @Test("The page has the codes that there are, with their names and classes, and each is sent somewhere")
    func page() throws {
        let text = try String(contentsOf: WireFiles.schema, encoding: .utf8)
        let rows = text.matches(of: #/// +(\d+) ([A-Z_]+) +(fatal|retry|stream) /#).map {
            "\($0.output.1) \($0.output.2) \($0.output.3)"
        }
        #expect(rows == SessionErrorCode.allCases.map { "\($0.rawValue) \($0.name) \($0.errorClass.rawValue)" })
        let folder = WireFiles.root.appending(path: "Sources/SyncEngine")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
            $0.hasSuffix(".swift") && !$0.hasSuffix("SessionErrorCode.swift")
        }
        let sources = try files.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
        for code in SessionErrorCode.allCases {
            #expect(sources.contains(".\(code)"), "\(code.name) is sent by nothing")
        }
    }
}
