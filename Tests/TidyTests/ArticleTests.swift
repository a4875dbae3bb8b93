import Foundation
import Testing

/// What the articles and the README show of Swift is code that is built and run: it stands in Examples/Embedding.
struct ArticleTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Lines without their indentation, and without empty ones.
    private static func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    private static func contents(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The pieces of Swift of a page.
    private static func snippets(_ page: String) -> [[String]] {
        page.components(separatedBy: "```swift\n").dropFirst().map { lines($0.components(separatedBy: "```")[0]) }
    }

    private static func isPart(_ snippet: [String], of source: [String]) -> Bool {
        guard snippet.count <= source.count else { return false }
        return (0...(source.count - snippet.count)).contains { Array(source[$0...].prefix(snippet.count)) == snippet }
    }

    private static func example() throws -> [[String]] {
        let folder = "Examples/Embedding/Sources/embedding"
        let names = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
        return try names.filter { $0.hasSuffix(".swift") }.map { lines(try contents("\(folder)/\($0)")) }
    }

    @Test(
        "Each piece of Swift on a page stands in the example, line by line",
        arguments: [
            "README.md", "Sources/EventStore/EventStore.docc/AppendAndRead.md",
            "Sources/SyncEngine/SyncEngine.docc/TwoNodes.md",
        ])
    func snippets(page: String) throws {
        let sources = try Self.example()
        let snippets = Self.snippets(try Self.contents(page))
        #expect(!snippets.isEmpty)
        for snippet in snippets where !sources.contains(where: { Self.isPart(snippet, of: $0) }) {
            Issue.record("\(page): not in Examples/Embedding: \(snippet.first ?? "")")
        }
    }

    @Test("A piece that is not in the example is found")
    func planted() {
        let source = Self.lines("let a = 1\n\n    let b = 2\nlet c = 3")
        #expect(Self.isPart(Self.snippets("text\n```swift\nlet b = 2\n  let c = 3\n```\n")[0], of: source))
        #expect(!Self.isPart(["let a = 1", "let c = 3"], of: source))
    }
}
