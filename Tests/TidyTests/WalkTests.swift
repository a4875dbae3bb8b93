import Foundation
import Testing

/// What one has to read to follow a request, an append, a frame, a query and a projection through the code (``Walks``).
struct WalkTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let page = root.appending(path: "docs/internals/walks.md")
    private static let (begin, end) = ("<!-- walks -->\n", "<!-- /walks -->")

    private static let files: [String: String] = {
        let folder = root.appending(path: "Sources")
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        return Dictionary(
            uniqueKeysWithValues: paths.filter { $0.hasSuffix(".swift") }.map { path in
                (path, (try? String(contentsOf: folder.appending(path: path), encoding: .utf8)) ?? "")
            })
    }()

    @Test("Each file of a walk is named by one before it, none climbs back, and they are no more than they were")
    func ways() {
        #expect(Self.files.count > 400)
        for walk in Walks.all { #expect(walk.problems(Self.files, Rooms.all) == [], "\(walk.title)") }
    }

    @Test("docs/internals/walks.md shows the walks that are checked (make rooms)")
    func table() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(text.range(of: Self.begin), "no \(Self.begin)")
        let stop = try #require(text.range(of: Self.end, range: start.upperBound..<text.endIndex))
        let range = start.upperBound..<stop.lowerBound
        guard ProcessInfo.processInfo.environment["SILLOK_WRITE_ROOMS"] != nil else {
            #expect(text[range] == Walks.markdown, "make rooms writes it anew")
            return
        }
        try text.replacingCharacters(in: range, with: Walks.markdown).write(
            to: Self.page, atomically: true, encoding: .utf8)
    }

    // The checker itself, on a small tree that is made up.

    private static let rooms = [
        Room("Kit/Low", ""), Room("Kit/Middle", "", ["Kit/Low"]), Room("Kit/High", "", ["Kit/Middle"]),
        Room("Kit/Other", ""),
    ]
    private static let tree = [
        "Kit/High/Desk.swift": "struct Desk { let queue: Queue; func take() { queue.put(1) } }",
        "Kit/High/Bell.swift": "struct Bell {}",
        "Kit/Middle/Queue.swift": "struct Queue { let page: Page }",
        "Kit/Middle/Queue+Put.swift": "extension Queue { func put(_ value: Int) { write() } }",
        "Kit/Low/Page.swift": "struct Page {}\nfunc write() { _ = Bell.self }",
        "Kit/Other/Lamp.swift": "struct Lamp { let page: Page }",
    ]

    private func problems(_ files: String..., most: Int = 4) -> [String] {
        Walk("made up", most: most, "", files.map { Step("Kit/\($0).swift", "") }).problems(Self.tree, Self.rooms)
    }

    @Test("A walk down has no problems; a file of extensions counts as named where its members are used")
    func sound() {
        #expect(problems("High/Desk", "Middle/Queue", "Middle/Queue+Put", "Low/Page") == [])
        #expect(problems("Middle/Queue", "Low/Page") == [])
    }

    @Test("A walk with a file that is not there, that comes twice or that no file before it names is found")
    func unnamed() {
        #expect(problems("High/Desk", "Low/Gone") == ["Kit/Low/Gone.swift: there is no such file"])
        #expect(
            problems("High/Desk", "Middle/Queue", "High/Desk") == ["Kit/High/Desk.swift: comes twice"])
        #expect(problems("High/Desk", "Low/Page") == ["Kit/Low/Page.swift: no file before it names it"])
        #expect(
            problems("Middle/Queue", "Middle/Queue+Put")
                == ["Kit/Middle/Queue+Put.swift: no file before it names it"])
    }

    @Test("A walk with too many files is found")
    func long() {
        #expect(problems("Middle/Queue", "Low/Page", most: 2) == [])
        #expect(problems("Middle/Queue", "Low/Page", most: 1) == ["made up: 2 files, at most 1"])
    }

    @Test("A walk that climbs back, or goes where no arrow leads, is found")
    func climbing() {
        #expect(
            problems("High/Desk", "Middle/Queue", "Low/Page", "Middle/Queue+Put")
                == ["Kit/Middle/Queue+Put.swift: climbs back above Kit/Low"])
        #expect(
            problems("Middle/Queue", "Low/Page", "High/Bell") == [
                "Kit/High/Bell.swift: no arrow leads there from a room before it",
                "Kit/High/Bell.swift: climbs back above Kit/Middle",
            ])
        #expect(
            problems("Other/Lamp", "Low/Page")
                == ["Kit/Low/Page.swift: no arrow leads there from a room before it"])
    }
}
