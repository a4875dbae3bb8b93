import Foundation
import Testing

/// What the two libraries show to a program is documented, and listed in docs/reference/LIBRARIES.md.
struct PublicSymbolTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let libraries = ["EventStore", "SyncEngine"]

    private static func symbols(of library: String) throws -> PublicSymbols {
        let folder = root.appending(path: "Sources/\(library)")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return PublicSymbols(try paths.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) })
    }

    @Test("Every public symbol says what it is", arguments: libraries)
    func documented(library: String) throws {
        let all = try Self.symbols(of: library).all
        #expect(all.count > 20)
        #expect(all.filter { $0.summary.isEmpty || $0.summary.hasPrefix("- ") }.map(\.name) == [])
    }

    @Test("docs/reference/LIBRARIES.md lists them (make rooms)", arguments: libraries)
    func listed(library: String) throws {
        let page = Self.root.appending(path: "docs/reference/LIBRARIES.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.range(of: "<!-- \(library) -->\n"))
        let stop = try #require(text.range(of: "<!-- /\(library) -->", range: start.upperBound..<text.endIndex))
        let range = start.upperBound..<stop.lowerBound
        let list = try Self.symbols(of: library).markdown
        guard ProcessInfo.processInfo.environment["SILLOK_WRITE_ROOMS"] != nil else {
            #expect(text[range] == list, "make rooms writes it anew")
            return
        }
        try text.replacingCharacters(in: range, with: list).write(to: page, atomically: true, encoding: .utf8)
    }

    @Test("docs/reference/LIBRARIES.md says of each call that throws what it gives, and which codes")
    func throwing() throws {
        func text(_ page: String) throws -> String {
            try String(contentsOf: Self.root.appending(path: "docs/reference/\(page).md"), encoding: .utf8)
        }
        var told: [Substring] = []
        let codes = try text("ERRORS")
        for row in try text("LIBRARIES").split(separator: "\n").filter({ $0.hasPrefix("| `") }) {
            let cells = row.split(separator: "|").map { $0.matches(of: #/`([^`]+)`/#).map(\.output.1) }
            told += cells[0]
            for code in cells[2] where code.hasPrefix("E_") {
                #expect(codes.contains("`\(code)`"), "\(code) is not in ERRORS.md")
            }
        }
        let all = try Self.libraries.flatMap { try Self.symbols(of: $0).all }.filter(\.isThrowing).map(\.name)
        #expect(all.count > 20)
        #expect(told.map(String.init).sorted() == all.sorted())
    }

    @Test("Public declarations are told from others, with what they stand in")
    func reading() {
        let found = PublicSymbols([
            """
            /// A box. It holds one thing.
            public struct Box: Sendable {
                /// What is in it.
                public private(set) var thing: Int
                let other: Int
                /// Puts: a thing.
                @discardableResult
                public mutating func put(
                    _ thing: Int, at place: (x: Int, y: Int) = (0, 0)
                ) throws -> Int { 1 }
                /// Takes.
                public func take(_ body: () -> Void = {}) throws(Wrong) {}
                public init() {}
                /// By what is in them.
                public static func < (a: Self, b: Self) -> Bool { a.thing < b.thing }
                /// How.
                public enum Way {
                    /// Two.
                    case up, down(by: Int)
                }
            }
            struct Hidden { func put() {} }
            extension Box.Way {
                /// Back.
                public static func back(_ count: Int) -> Self { .up }
                enum Inner { case none }
            }
            """
        ])
        #expect(
            found.all.map { "\($0.name) \($0.summary)" } == [
                "Box A box.", "Box.<(_:_:) By what is in them.", "Box.Way How.", "Box.Way.back(_:) Back.",
                "Box.Way.down Two.", "Box.Way.up Two.",
                "Box.init() ",
                "Box.put(_:at:) Puts: a thing.", "Box.take(_:) Takes.",
                "Box.thing What is in it.",
            ])
        #expect(found.all.filter(\.isThrowing).map(\.name) == ["Box.put(_:at:)", "Box.take(_:)"])
    }
}
