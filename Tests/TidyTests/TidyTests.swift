import Foundation
import Testing

/// The rules that the manifest cannot enforce, read off the files themselves.
struct TidyTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private struct Source {
        /// From the root of the package.
        let path: String
        let lines: [String]

        var folder: String { path.split(separator: "/").dropLast().joined(separator: "/") }
        var imports: [String] {
            lines.compactMap { line in
                let words = line.split(separator: " ")
                guard let index = words.firstIndex(of: "import"), index < words.count - 1,
                    words[..<index].allSatisfy({
                        ["internal", "public", "package", "private", "@testable"].contains($0)
                    })
                else { return nil }
                return String(words[index + 1])
            }
        }
    }

    private static let sources: [Source] = {
        var found: [Source] = []
        for top in ["Sources", "Tests", "Benchmarks"] {
            let folder = root.appending(path: top)
            for case let url as URL in FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
                ?? FileManager.DirectoryEnumerator() where url.pathExtension == "swift"
            {
                let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
                found.append(
                    Source(
                        path: String(url.path.dropFirst(root.path.count + 1)),
                        lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)))
            }
        }
        return found.sorted { $0.path < $1.path }
    }()

    @Test("The files are found at all")
    func found() { #expect(Self.sources.count > 100) }

    @Test("Each C library, and Dispatch, is imported in one folder only (docs/ARCHITECTURE.md, the rooms)")
    func cLibraries() {
        let homes: [String: [String]] = [
            "CSQLite": ["Sources/EventStore/SQLite"],
            "CLibuuid": ["Sources/EventStore/Model"],
            "CCrypto": ["Sources/EventStore/Proofs"],
            "CSodium": ["Sources/EventStore/Proofs"],
            "COpenSSL": ["Sources/SyncEngine/Networking/Links", "Tests/SyncEngineTests/Networking"],
            "CLibevent": ["Sources/SyncEngine/Networking", "Tests/SyncEngineTests/Networking"],
            "CZlib": ["Sources/Interchange/Reading"],
            "CZstd": ["Sources/SyncEngine/Wire", "Tests/SyncEngineTests/Wire"],
            "CCurl": ["Sources/SillokClient"],
            "CPages": ["Sources/syncd/Pages", "Sources/sillok-gateway/Serving"],
            "CProgram": ["Sources/CommandLineKit/Program"],
            "Dispatch": ["Sources/EventStore/Basics/Concurrency"],
        ]
        for source in Self.sources {
            for name in source.imports {
                guard let allowed = homes[name] else { continue }
                #expect(allowed.contains { source.path.hasPrefix($0 + "/") }, "\(source.path) imports \(name)")
            }
        }
    }

    @Test("Layers import downwards only")
    func layers() {
        let forbidden: [String: Set<String>] = [
            "Sources/EventStore": ["SyncEngine", "CommandLineKit", "Foundation", "FoundationEssentials"],
            "Sources/SyncEngine": ["CommandLineKit", "Foundation", "FoundationEssentials", "Dispatch"],
            "Sources/CommandLineKit": ["EventStore", "SyncEngine", "Foundation", "FoundationEssentials"],
            "Sources/Interchange": ["SyncEngine", "SillokAPI", "Foundation", "FoundationEssentials", "Dispatch"],
            "Sources/SillokClient": ["SyncEngine", "Foundation", "FoundationEssentials", "Dispatch"],
            "Sources/SillokAPI": ["SyncEngine", "Foundation", "FoundationEssentials", "Dispatch"],
            "Sources/syncd": ["Foundation", "FoundationEssentials", "Dispatch"],
            "Sources/syncctl": ["Foundation", "FoundationEssentials", "Dispatch"],
            "Sources/BotKit": ["SyncEngine", "SillokAPI", "Foundation", "FoundationEssentials", "Dispatch"],
            "Sources/sillok-bot": ["SyncEngine", "Foundation", "FoundationEssentials", "Dispatch"],
            "Sources/GatewayKit": ["SyncEngine", "SillokAPI", "Foundation", "FoundationEssentials", "Dispatch"],
            "Sources/sillok-gateway": ["Foundation", "FoundationEssentials", "Dispatch"],
        ]
        for source in Self.sources {
            for (folder, names) in forbidden where source.path.hasPrefix(folder + "/") {
                for name in source.imports { #expect(!names.contains(name), "\(source.path) imports \(name)") }
            }
        }
    }

    private static let pure =
        ["SyncEngine/Session/", "SyncEngine/Wire/", "SyncEngine/Mesh/", "Subscriptions/", "BotKit/", "GatewayKit/"]
        .map { "Sources/\($0)" }
        + ["HybridClock", "VersionVector", "ClockSkew"].map { "Sources/EventStore/Model/\($0)" }

    @Test("Pure folders have no clock, randomness, threads or files of their own (D9)")
    func purity() {
        let banned = [
            "WallClock.now", "MonotonicClock.now", "SystemRandomNumberGenerator", "RandomSource(", "WorkerThread(",
            "randomBytes(", "SmallFile.", "LogReader(",
        ]
        for source in Self.sources {
            let isPure = Self.pure.contains { source.path.hasPrefix($0) }
            guard isPure else { continue }
            for name in source.imports {
                #expect(!["Glibc", "CLinux"].contains(name), "\(source.path) imports \(name)")
            }
            for line in source.lines {
                for word in banned { #expect(!line.contains(word), "\(source.path): \(line)") }
            }
        }
    }

    @Test("Programs know nothing of the tests; tests share one source of folders and one generator (CONTRIBUTING.md)")
    func testSupport() {
        for source in Self.sources {
            guard source.path.hasPrefix("Tests/") else {
                let isClean = source.imports.allSatisfy { !$0.hasPrefix("Test") && !$0.hasSuffix("TestKit") }
                #expect(isClean, "\(source.path)")
                continue
            }
            if ["Tests/TestSupport", "Tests/TidyTests", "Tests/SyncTestKit"].contains(source.folder) { continue }
            for line in source.lines {
                for word in ["temporaryDirectory", "NSTemporaryDirectory", ": RandomNumberGenerator"] {
                    #expect(!line.contains(word), "\(source.path): \(line)")
                }
            }
        }
    }

    @Test("No unfinished work and no shortcuts in the sources")
    func shortcuts() {
        let banned = ["TODO", "FIXME", "try!", "fatalError(\"un", "Synchronization.Mutex<"]
        for source in Self.sources where source.path.hasPrefix("Sources/") {
            for line in source.lines {
                for word in banned { #expect(!line.contains(word), "\(source.path): \(line)") }
            }
        }
    }

    @Test("Numbers from outside are decoded with a bound, and summed so that nothing overflows (D22)")
    func numbers() {
        let folders =
            ["SyncEngine", "EventStore/Snapshot", "EventStore/Log", "EventStore/Identity", "EventStore/Replication"]
            .map { "Sources/\($0)/" } + ["Sources/EventStore/Writer/", "Sources/EventStore/Files/"] + Self.pure
        for source in Self.sources where folders.contains(where: source.path.hasPrefix) {
            for line in source.lines {
                let sums =
                    line.contains("reduce(0") || line.contains("reduce(UInt64(0") || line.contains("reduce(into: 0")
                #expect(!line.contains("abs("), "\(source.path): magnitude does not trap: \(line)")
                #expect(!sums || !line.contains("$0 +"), "\(source.path): saturatedSum does not trap: \(line)")
                let isMessage =
                    source.path.hasPrefix("Sources/SyncEngine/") && !source.path.hasSuffix("MessageReader.swift")
                #expect(
                    !isMessage || !line.contains("ProtobufReader"),
                    "\(source.path): MessageReader has bounds: \(line)")
            }
        }
    }

    @Test("Signs are replaced as scalars: as a character, one with a combining mark is another (CSV, SQL, shells)")
    func replacements() {
        for source in Self.sources where source.path.hasPrefix("Sources/") {
            for (index, line) in source.lines.enumerated() {
                // A line end takes no mark.
                let rest = line.replacing(#".replacing("\r\n""#, with: "")
                #expect(!rest.contains(#".replacing(""#), "\(source.path):\(index + 1)")
                #expect(!rest.contains("replacingOccurrences"), "\(source.path):\(index + 1)")
            }
        }
    }

    @Test("Every error code stands in docs/reference/ERRORS.md, and every code there in the sources")
    func errorCodes() throws {
        let code = /\bE_[A-Z][A-Z0-9_]*/
        func codes(_ text: String) -> Set<String> { Set(text.matches(of: code).map { String($0.output) }) }
        var found: Set<String> = []
        for source in Self.sources where source.path.hasPrefix("Sources/") {
            found.formUnion(codes(source.lines.joined(separator: "\n")))
        }
        let program = Self.root.appending(path: "Sources/CProgram/program.c")
        found.formUnion(codes(try String(contentsOf: program, encoding: .utf8)))
        let errors = Self.root.appending(path: "docs/reference/ERRORS.md")
        let page = codes(try String(contentsOf: errors, encoding: .utf8))
        #expect(found.count > 50)
        #expect(found.subtracting(page).sorted() == [], "not in docs/reference/ERRORS.md")
        #expect(page.subtracting(found).sorted() == [], "in docs/reference/ERRORS.md only")
    }

    @Test("No code of SQLite is known, and none made up, outside of the folder that speaks with it")
    func sqliteCodes() {
        for source in Self.sources
        where source.path.hasPrefix("Sources/") && !source.path.hasPrefix("Sources/EventStore/SQLite/") {
            for line in source.lines {
                let isFree = !["SQLiteError(", "DatabaseError(", "extendedCode", "SQLITE_"].contains(
                    where: line.contains)
                #expect(isFree, "\(source.path): \(line)")
            }
        }
    }

    @Test("What is unchecked says why")
    func unchecked() {
        for source in Self.sources where source.path.hasPrefix("Sources/") {
            for (index, line) in source.lines.enumerated() where line.contains("@unchecked Sendable {") {
                let above = source.lines[max(0, index - 25)...index].joined(separator: " ")
                #expect(above.contains("@unchecked Sendable`"), "\(source.path):\(index + 1)")
            }
        }
    }

    @Test("Files stay readable: none is longer than the longest today, and that one may only shrink")
    func length() {
        let lengths = Self.sources.filter {
            $0.path.hasPrefix("Sources/") && !$0.path.hasSuffix("WidthTable.swift")
        }.map { (lines: $0.lines.count - 1, path: $0.path) }
        let longest = lengths.max { $0.lines < $1.lines }
        #expect(
            longest?.lines == 449, "\(longest?.path ?? ""): a smaller bound may be written here, a larger one not")
    }

    /// Where functions of some lines begin, and how many lines they have: up to the brace that stands as far to the left as they do.
    private static func functions(_ lines: [String]) -> [(line: Int, count: Int)] {
        lines.indices.compactMap { index in
            let line = lines[index]
            guard line.contains("func ") || line.contains("init"), !line.hasSuffix("}"),
                line.prefixMatch(of: /\ *(?:[a-z]+(?:\([a-z]+\))?\ )*(?:func\ |init[?(<]|deinit\ )/) != nil
            else { return nil }
            let indentation = line.prefix { $0 == " " }.count
            let end = lines[(index + 1)...].firstIndex { line in
                let text = line.drop { $0 == " " }
                return !text.isEmpty && line.count - text.count <= indentation && text.first != ")"
            }
            guard let end, lines[end].dropFirst(indentation).hasPrefix("}") else { return nil }
            return (index + 1, end - index + 1)
        }
    }

    @Test("So do functions")
    func functionLength() {
        var longest = (lines: 0, place: "")
        for source in Self.sources where source.path.hasPrefix("Sources/") {
            for found in Self.functions(source.lines) where found.count > longest.lines {
                longest = (found.count, "\(source.path):\(found.line)")
            }
        }
        #expect(longest.lines == 77, "\(longest.place): a smaller bound may be written here, a larger one not")
        let planted = [
            "struct A {", "    package static func a(", "        _ b: Int", "    ) -> Int {", "        b", "    }",
            "    init() {}", "    convenience init?(c: Int) throws(E) {", "        return nil", "    }",
            "    func isRequired()", "    func isToo()", "}",
        ]
        #expect(Self.functions(planted).map(\.line) == [2, 8])
        #expect(Self.functions(planted).map(\.count) == [5, 3])
    }
}
