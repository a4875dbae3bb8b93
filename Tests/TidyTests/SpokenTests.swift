import Foundation
import Testing

/// What `syncctl` says to people stands in `Wording`, in both languages (decision 0065), and not where it is said.
struct SpokenTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func sources(_ folder: String) throws -> [(name: String, text: String)] {
        let folder = root.appending(path: "Sources/\(folder)")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().filter {
            $0.hasSuffix(".swift")
        }.map { ($0, try String(contentsOf: folder.appending(path: $0), encoding: .utf8)) }
    }

    /// What prints its first argument.
    private static func isSaying(_ call: String) -> Bool {
        let names = call.split(separator: ".").map(String.init)
        if names.last == "say" { return true }
        return [["output", "line"], ["session", "line"], ["Output", "message"]].contains(Array(names.suffix(2)))
    }

    /// Literals with an English word that are said where they stand. The program's name is the same in both languages.
    private static func spoken(_ text: String) -> [String] {
        SwiftLiterals(text, isCall: isSaying).all.filter(\.isSaid).map(\.text).filter { said in
            said.matches(of: /[A-Za-z]{2,}/).contains { $0.output != "syncctl" }
        }
    }

    /// What may be said so, and why. The list only shrinks.
    private static let allowed: [(file: String, text: String, why: String)] = [
        ("Commands/Nodes/StatsCommand.swift", "FIGURE VALUE", "the heading of --plain, which programs read")
    ]

    @Test("No sentence for people bypasses the table of both languages")
    func bypasses() throws {
        var unused = Set(Self.allowed.map(\.file))
        let files = try Self.sources("syncctl")
        #expect(files.count > 60)
        for (file, text) in files {
            for said in Self.spoken(text) {
                if Self.allowed.contains(where: { $0.file == file && $0.text == said }) {
                    unused.remove(file)
                } else {
                    Issue.record("\(file): '\(said)' is no Wording")
                }
            }
        }
        #expect(unused.isEmpty, "the list may only shrink")
    }

    @Test(
        "A sentence beside the table is found, whatever stands around it",
        arguments: [
            (#"session.say("interrupted; nothing is stored")"#, ["interrupted; nothing is stored"]),
            (#"try session.output.line(Sanitizer.line("made the store \(files.folder)"))"#, ["made the store {}"]),
            (#"session.say("\(count(n, "event")) left" + " out: " /* … */ + why)"#, ["{} left out: "]),
            (
                #"try session.line("\(isGood ? "GOOD" : "BAD ") \(id)  fine", "drill") { $0.add("id", id) }"#,
                ["{} {}  fine"]
            ),
            (#"session.say(path == "-" ? "Give it again" : "Run it again")"#, ["Give it again", "Run it again"]),
            (#"session.say(offset.map { ", its clock \($0)" } ?? "")"#, [", its clock {}"]),
            (#"Output.message("syncctl: line \(number): \(text)\n")"#, ["syncctl: line {}: {} "]),
            ("voice.say(\n    // why\n    \"the views \"\n        + \"lag\")", ["the views lag"]),
            (#"session.say(.usingStore, folder)"#, []), (#"session.say(session.shown(.noneOf, "two words"))"#, []),
            (#"try session.line(told, "settled") { line in line.add("code", "a word") }"#, []),
            (#"Output.message("syncctl: \(Sanitizer.line(text))\n")"#, []),
            (#"try session.output.line(line.string("sha256") ?? "")"#, []),
            (#"try session.output.line("  ! \(session.explained(finding))")"#, []),
        ])
    func planted(source: String, said: [String]) {
        #expect(Self.spoken(source) == said)
    }

    // MARK: Sentences of other modules

    /// Without what is filled in: the modules interpolate where the table has numbers.
    private static func blank(_ text: String) -> String { text.replacing(/\{[0-9]?\}/, with: "{}") }

    /// The English texts of `KoreanTexts`.
    private static func known() throws -> [String] {
        let files = try sources("syncctl/Korean").filter { $0.name.hasPrefix("KoreanTexts+") }
        return files.flatMap { _, text in
            SwiftLiterals(text) { $0 == "Phrase" }.all.filter(\.isSaid).map { blank($0.text) }
        }
    }

    @Test("Why a record of an export is passed over, or read otherwise, has a Korean text")
    func reasons() throws {
        let known = try Self.known()
        #expect(known.count > 90)
        var looked = 0
        for (file, text) in try Self.sources("Interchange") {
            let literals = SwiftLiterals(text) { call in
                ["skip", "note", "remark", "pass", "passed"].contains(call.split(separator: ".").last ?? "")
            }
            for said in literals.all where said.isSaid && said.text.contains(/[A-Za-z]{2,}/) {
                looked += 1
                let reason = Self.blank(said.text)
                #expect(known.contains { $0.contains(reason) }, "\(file): no Korean for '\(reason)'")
            }
        }
        #expect(looked > 40)
    }

    @Test("Why an event is quarantined has a Korean text")
    func unread() throws {
        let known = Set(try Self.known())
        var looked = 0
        for (file, text) in try Self.sources("EventStore/Views") where !file.hasPrefix("Search/") {
            for said in SwiftLiterals(text).all.map({ Self.blank($0.text) })
            where said.contains(/is (missing|not (text|a|an)\b|none of)|do not go together/) {
                looked += 1
                #expect(known.contains(said), "\(file): no Korean for '\(said)'")
            }
        }
        #expect(looked > 20)
    }

    // MARK: Hints

    /// Where hints come from that `syncctl` tells; those of a node are answers of its API.
    private static let hinting = [
        "syncctl", "CommandLineKit", "SillokClient", "SillokAPI", "Backups", "EventStore/Model",
    ]

    /// The hints of a source: behind a label, in what is named for them, or given to an error that has another one. And
    /// what led to an error.
    private static func hints(_ text: String) -> [String] {
        let bodies = text.matches(of: /(?:func|var|let) hints?\b[^\n]*[{\[]\n(?s:(.*?))\n    [}\]]/).map(\.output.1)
        let given = text.matches(of: /\.hint = (.*)/).map(\.output.1)
        let labelled = ["hint", "why"].flatMap { SwiftLiterals(text, label: $0).all.filter(\.isSaid) }
        let others = (bodies + given).flatMap { SwiftLiterals(String($0)).all }
        return (labelled + others).map { blank($0.text) }.filter { $0.contains(/[A-Za-z]{2,}/) && !isCommandLine($0) }
    }

    /// Whether it has no word of a language: options, their values and commands are the same in both.
    private static func isCommandLine(_ hint: String) -> Bool {
        let words = hint.replacing(/'[^']*'|\bu-1029\b/, with: "X").replacing(
            /\bsyncctl( [a-z]+){1,2}(?= [^a-z]|;|$)/, with: "")
        return words.split(separator: " ").allSatisfy { $0.hasPrefix("-") || !$0.contains(/[a-z]/) }
    }

    /// What needs no Korean. The list only shrinks.
    private static let unhinted = [
        "user:ID, bot:ID, app, reader, auditor, operator, admin"  // What `--role` takes.
    ]

    @Test("What syncctl tells one to try, and why, has a Korean text, unless it is a command line")
    func hints() throws {
        let known = Set(try Self.known() + Self.unhinted)
        var looked = 0
        for (file, text) in try Self.hinting.flatMap(Self.sources) {
            for hint in Self.hints(text) {
                looked += 1
                #expect(known.contains(hint), "\(file): no Korean for '\(hint)'")
            }
        }
        #expect(looked > 120)
    }

    @Test(
        "A hint is found wherever it stands, and a command line is none",
        arguments: [
            (#"throw usageFailure("no words", hint: "say \(count) of them")"#, ["say {} of them"]),
            (
                #"CommandFailure(code: "E_X", what, hint: isOne ? "one" : "a " + "few", exitCode: .usage)"#,
                ["one", "a few"]
            ),
            (#"failure.hint = "again later""#, ["again later"]),
            (
                "    var hint: String? {\n        switch self {\n        case .a: \"again\"\n        }\n    }",
                ["again"]
            ),
            (#"usageFailure("none", hint: "syncctl peers list")"#, []),
            (#"usageFailure("none", hint: "--reason 'complaint 4711'")"#, []),
            (
                #"usageFailure("none", hint: "syncctl subscriptions has their names")"#,
                ["syncctl subscriptions has their names"]
            ),
            (#"struct Failure { var hint: String? ; let code = "another word" }"#, []),
        ])
    func plantedHint(source: String, hints: [String]) {
        #expect(Self.hints(source) == hints)
    }

    @Test("No Korean text is kept of a sentence that no module says any longer")
    func stale() throws {
        let modules = ["Interchange", "EventStore", "SyncEngine", "Access", "syncd"] + Self.hinting
        let literals = try modules.flatMap { try Self.sources($0) }.filter { !$0.name.contains("KoreanTexts") }
            .flatMap { SwiftLiterals($0.text).all.map { Self.blank($0.text) } }
        // One of them counts in front of a reason.
        for text in try Self.known() where !text.hasPrefix("{} time") {
            // Some are put together where a semicolon stands.
            for part in text.split(separator: "; ") {
                #expect(literals.contains { $0.contains(part) }, "nothing says '\(part)'")
            }
        }
    }
}
