import Foundation
import Testing

/// The folders of `Sources` as rooms of a house, with arrows that run one way.
struct RoomTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let page = root.appending(path: "docs/ARCHITECTURE.md")
    private static let (begin, end) = ("<!-- rooms -->\n", "<!-- /rooms -->")

    private static func texts() throws -> [String: String] {
        let folder = root.appending(path: "Sources")
        var texts: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
            texts[path] = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
        }
        return texts
    }

    @Test("Each folder names only what the table of rooms lets it name, and there is no circle")
    func house() throws {
        let arrows = Arrows(try Self.texts())
        #expect(arrows.all.count > 1_000, "the arrows are not found")
        #expect(arrows.problems(Rooms.all, except: Rooms.exemptions) == [])
    }

    @Test("Each exception has a reason")
    func reasons() { for exemption in Rooms.exemptions { #expect(exemption.reason.count > 20) } }

    @Test("docs/images/rooms.svg draws every room, and no arrow that the table does not have")
    func picture() throws {
        let svg = try String(contentsOf: Self.root.appending(path: "docs/images/rooms.svg"), encoding: .utf8)
        #expect(RoomPicture(svg).problems(Rooms.all) == [])
    }

    @Test("The table in docs/ARCHITECTURE.md is the one that is checked (make rooms)")
    func table() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(text.range(of: Self.begin), "no \(Self.begin)")
        let stop = try #require(text.range(of: Self.end, range: start.upperBound..<text.endIndex))
        let range = start.upperBound..<stop.lowerBound
        guard ProcessInfo.processInfo.environment["SILLOK_WRITE_ROOMS"] != nil else {
            #expect(text[range] == Self.markdown, "make rooms writes it anew")
            return
        }
        try text.replacingCharacters(in: range, with: Self.markdown).write(
            to: Self.page, atomically: true, encoding: .utf8)
    }

    private static var markdown: String {
        func code(_ text: String) -> String { "`\(text)`" }
        let rows = Rooms.all.map { room in
            let names = room.mayName.isEmpty ? "nothing of ours" : room.mayName.map(code).joined(separator: ", ")
            return "| \(code(room.folder)) | \(room.purpose) | \(names) |"
        }
        return (["| folder of `Sources` | what is in it | may name |", "| --- | --- | --- |"] + rows)
            .joined(separator: "\n") + "\n"
    }

    // The checker itself, on small trees that are made up.

    private static let rooms = [Room("Kit/Low", "below"), Room("Kit/High", "above", ["Kit/Low"])]
    private static let tree = [
        "Kit/Low/Value.swift": "struct Value {}\nprivate struct Hidden {}\nfunc make() -> Value { Value() }",
        "Kit/High/Shell.swift": "final class Shell { let value = make() }\nextension Value { func grow() {} }",
    ]

    @Test(
        "In a picture a forbidden arrow is found, one that no box has at an end, and a room that is not drawn",
        arguments: [
            ("M10 30 L10 50", []), ("M10 50 L10 30", ["Kit/Low may not name Kit/High"]),
            ("M10 30 L10 49", ["M10 30 … L10 49 has no box at an end"]),
            ("M10 30 L5 30 L5 60 L0 60", []),
        ] as [(String, [String])])
    func drawn(_ way: String, _ problems: [String]) {
        let high = #"<rect class="box" data-rooms="Kit/High" x="0" y="10" width="20" height="20" rx="5"/>"#
        let low = #"<rect class="box" data-rooms="Kit/Low" x="0" y="50" width="20" height="20" rx="5"/>"#
        #expect(RoomPicture(high + low + #"<path class="edge" d="\#(way)"/>"#).problems(Self.rooms) == problems)
        #expect(RoomPicture(high).problems(Self.rooms) == ["Kit/Low is not drawn"])
    }

    private func problems(_ change: [String: String], except: [Exemption] = []) -> [String] {
        Arrows(Self.tree.merging(change) { _, new in new }).problems(Self.rooms, except: except)
    }

    @Test("A tree that keeps to its table has no problems")
    func sound() { #expect(problems([:]) == []) }

    @Test(
        "An arrow upward is found wherever a name can stand",
        arguments: [
            "struct Bad { let shell: Shell }", "extension Shell {}", "func bad(_ shell: [Shell?]) {}",
            "let bad = \"\\(Shell.self)\"", "typealias Bad = Result<Shell, Never>", "let bad = #\"\\#(Shell())\"#",
            "let bad = \"\"\"\n  \\(Shell())\n  \"\"\"",
        ])
    func planted(_ text: String) {
        #expect(problems(["Kit/Low/Bad.swift": text]) == ["Kit/Low/Bad.swift names Shell of Kit/High/Shell.swift"])
    }

    @Test("A function that is called counts like a type")
    func function() {
        #expect(
            problems(["Kit/High/More.swift": "func lift() {}", "Kit/Low/Bad.swift": "let bad = lift()"])
                == ["Kit/Low/Bad.swift names lift of Kit/High/More.swift"])
    }

    @Test(
        "What is no name of another file's is no arrow",
        arguments: [
            "// Shell", "/* Shell */ let a = 1", "let a = \"Shell\"", "let a = \"\"\"\n  Shell\n  \"\"\"",
            "struct Own { struct Shell {}; let a: Shell }", "let a = value.Shell", "struct Shelled {}",
            "import Shell",
            "private struct Shell {}; private let a = Shell()", "let a = #\"\\(Shell)\"#",
        ])
    func innocent(_ text: String) { #expect(problems(["Kit/Low/Good.swift": text]) == []) }

    @Test("A name that two files declare belongs to neither, and what is private to none")
    func ambiguous() {
        #expect(problems(["Kit/High/Other.swift": "class Shell {}", "Kit/Low/A.swift": "let a: Shell"]) == [])
        #expect(problems(["Kit/High/Other.swift": "private class Box {}", "Kit/Low/A.swift": "let a: Box"]) == [])
    }

    @Test("Between modules a name counts where the module is imported")
    func modules() {
        let tree = ["A/Shell.swift": "public class Shell {}", "B/Use.swift": "internal import A\nlet a: Shell"]
        let rooms = [Room("A", "first"), Room("B", "second")]
        #expect(Arrows(tree).problems(rooms, except: []) == ["B/Use.swift names Shell of A/Shell.swift"])
        #expect(Arrows(tree).problems([rooms[0], Room("B", "second", ["A/*"])], except: []) == [])
        let apart = Arrows(tree.merging(["B/Use.swift": "let a: Shell"]) { _, new in new })
        #expect(apart.problems(rooms, except: []) == [])
    }

    @Test("An exception silences its arrow, and is a problem itself when it is not needed any longer")
    func exceptions() {
        let except = [Exemption("Kit/Low/Bad.swift", "Shell", "until it is moved")]
        #expect(problems(["Kit/Low/Bad.swift": "let bad: Shell"], except: except) == [])
        #expect(
            problems([:], except: except) == ["no exception is needed any longer for Kit/Low/Bad.swift and Shell"])
    }

    @Test("The table has every folder, none that is not there, and no row that names one below it")
    func tables() {
        #expect(problems(["Kit/New/A.swift": ""]) == ["Kit/New is not in the table of rooms"])
        let arrows = Arrows(Self.tree)
        #expect(arrows.problems(Self.rooms + [Room("Kit/Gone", "")], except: []) == ["Kit/Gone has no files"])
        #expect(
            arrows.problems([Room("Kit/Low", "", ["Kit/High"]), Self.rooms[1]], except: [])
                == ["Kit/Low may name Kit/High, which does not stand above it in the table"])
    }
}
