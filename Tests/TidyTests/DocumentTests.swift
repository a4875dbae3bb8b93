import Foundation
import Testing

/// Documents are read by people: they stay in plain English, and their links lead somewhere (CONTRIBUTING.md, "Plain words").
struct DocumentTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// From the root of the package.
    private static let pages: [(path: String, page: Page)] = {
        var found: [String] = ["README.md", "README.ko.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        for top in ["docs", "Sources", "Tests", "Benchmarks", "Examples", "clients"] {
            let folder = root.appending(path: top)
            for case let url as URL in FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
                ?? FileManager.DirectoryEnumerator() where url.pathExtension == "md"
            {
                found.append(String(url.path.dropFirst(root.path.count + 1)))
            }
        }
        return found.sorted().map { path in
            (path, Page((try? String(contentsOf: root.appending(path: path), encoding: .utf8)) ?? ""))
        }
    }()

    /// How a line begins that is a comment alone, by what the file's name ends with.
    private static let marks = ["swift": ["//"], "mjs": ["//", "/*", "* "], "py": ["#"]]

    /// Lines of Swift, JavaScript and Python that are comments alone, without their marks.
    private static let comments: [(path: String, number: Int, line: String)] = {
        var found: [(String, Int, String)] = []
        for top in ["Sources", "Tests", "Benchmarks", "Scripts", "Examples", "clients"] {
            let folder = root.appending(path: top)
            for case let url as URL in FileManager.default.enumerator(
                at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
                ?? FileManager.DirectoryEnumerator()
            {
                guard let marks = marks[url.pathExtension] else { continue }
                let path = String(url.path.dropFirst(root.path.count + 1))
                let text = (try? String(contentsOf: url, encoding: .utf8)) ?? ""
                for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                    let start = line.drop { $0 == " " }
                    guard marks.contains(where: start.hasPrefix), !start.hasPrefix("#!") else { continue }
                    found.append((path, index + 1, withoutMarks(start)))
                }
            }
        }
        return found.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
    }()

    private static func withoutMarks(_ line: Substring) -> String {
        let rest = line.hasPrefix("#") ? line.dropFirst() : line.drop { $0 == "/" || $0 == "*" }
        let text = rest.hasSuffix("*/") ? rest.dropLast(2) : rest
        return String(text.first == " " ? text.dropFirst() : text)
    }

    /// Comments in a row as a page.
    private static let blocks: [(path: String, first: Int, page: Page)] = {
        var found: [(String, Int, Page)] = []
        var rest = comments[...]
        while let first = rest.first {
            var lines: [String] = []
            while let next = rest.first, next.path == first.path, next.number == first.number + lines.count {
                lines.append(next.line)
                rest.removeFirst()
            }
            found.append((first.path, first.number, Page(lines.joined(separator: "\n"))))
        }
        return found
    }()

    @Test("The documents are found at all")
    func found() {
        #expect(Self.pages.count > 60)
        #expect(Self.pages.allSatisfy { !$0.page.prose.isEmpty || !$0.page.tables.isEmpty })
    }

    @Test("Every relative link leads to a file")
    func links() {
        var count = 0
        for (path, page) in Self.pages {
            let folder = Self.root.appending(path: path).deletingLastPathComponent()
            for target in page.links {
                count += 1
                let file = folder.appending(path: target).standardizedFileURL.path
                #expect(FileManager.default.fileExists(atPath: file), "\(path) links to \(target)")
            }
        }
        #expect(count > 100)
    }

    @Test("Each test that docs/reference/SEEDS.md names is there, and each script names the row")
    func namedTests() throws {
        var texts: [String: String] = [:]
        var places: Set<String> = []
        for case let url as URL in FileManager.default.enumerator(
            at: Self.root.appending(path: "Tests"), includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
            ?? FileManager.DirectoryEnumerator() where ["swift", "py", "mjs"].contains(url.pathExtension)
        {
            texts[url.lastPathComponent, default: ""] += try String(contentsOf: url, encoding: .utf8)
            places.formUnion(url.deletingPathExtension().pathComponents)
        }
        let suites = texts.filter { $0.key.hasSuffix(".swift") }.values.joined()
        let page = try String(contentsOf: Self.root.appending(path: "docs/reference/SEEDS.md"), encoding: .utf8)
        var count = 0
        for row in page.matches(of: /(?m)^\| (\S+-\S+) \|.*\| yes \| (.*) \|$/) {
            for name in row.2.matches(of: /`(\w+)(\.(?:test\.)?(?:py|mjs))?(?:::(\w+))?`/) {
                count += 1
                guard let end = name.2 else {
                    let isThere = places.contains(String(name.1)) || suites.contains(" \(name.1) {")
                    #expect(!name.1.hasSuffix("Tests") || isThere, "\(row.1): \(name.0)")
                    continue
                }
                let text = texts["\(name.1)\(end)"]
                #expect(text != nil, "\(row.1): \(name.0)")
                if let test = name.3 { #expect(text?.contains("def \(test)(") == true, "\(row.1): \(name.0)") }
                if text?.contains("from system import") == true {
                    #expect(text?.contains("\(row.1)") == true, "\(name.0) says nothing of \(row.1)")
                }
            }
        }
        #expect(count > 200)
    }

    @Test("Each check that Tests/Acceptance/README.md names is there, and each of the 35 has its row")
    func namedChecks() throws {
        let folder = Self.root.appending(path: "Tests/Acceptance")
        let page = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
        var count = 0
        for named in page.matches(of: /`(\w+\.py)`((?:,? \d+[a-z]?)+)/) {
            let text = try String(contentsOf: folder.appending(path: String(named.1)), encoding: .utf8)
            for number in named.2.split(whereSeparator: { ", ".contains($0) }) {
                count += 1
                #expect(text.contains("@check(\"\(number) "), "\(named.1) has no check \(number)")
            }
        }
        #expect(count > 40)
        let rows = page.matches(of: /(?m)^\| (\d+) \| .* \| (?:whole|half)/).compactMap { Int($0.1) }
        #expect(rows == Array(1...35))
    }

    @Test("Each thread and queue of the sources stands in docs/internals/threads.md under its name")
    func threads() throws {
        let table = try String(
            contentsOf: Self.root.appending(path: "docs/internals/threads.md"), encoding: .utf8)
        let naming =
            /(?:Thread|Worker(?:<[A-Za-z]+>)?|Queue|Loop)\(.*name: "([a-z-]+)|\.start\(name: "([a-z-]+)|String = "(log-checkpoint|views-checkpt)/
        var names: Set<String> = []
        let folder = Self.root.appending(path: "Sources")
        for case let url as URL in FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
            ?? FileManager.DirectoryEnumerator() where url.pathExtension == "swift"
        {
            let text = try String(contentsOf: url, encoding: .utf8)
            for line in text.split(separator: "\n") {
                guard let found = try naming.firstMatch(in: line) else { continue }
                names.formUnion([found.1, found.2, found.3].compactMap { $0.map(String.init) })
            }
        }
        #expect(names.count > 30)
        for name in names.sorted() where !table.contains("`\(name)") { Issue.record("\(name) is not in the table") }
    }

    @Test("No line above 160 characters, no paragraph above 120 words, no sentence above 40")
    func lengths() {
        for (path, page) in Self.pages {
            for (number, line) in page.prose where line.count > 160 {
                Issue.record("\(path):\(number): \(line.count) characters")
            }
            for (number, what) in page.tooLong { Issue.record("\(path):\(number): \(what)") }
        }
    }

    @Test("Nor in comments")
    func commentLengths() {
        #expect(Self.blocks.count > 10_000)
        for (path, first, page) in Self.blocks {
            for (number, what) in page.tooLong { Issue.record("\(path):\(first + number - 1): \(what)") }
        }
    }

    @Test("Words that make a reader stop have plain ones instead of them")
    func words() {
        for (path, page) in Self.pages {
            for (number, line) in page.prose + page.tables {
                for word in PlainWords.found(in: Page.withoutCode(line)) {
                    Issue.record("\(path):\(number): \(word): \(PlainWords.instead[word] ?? "")")
                }
            }
        }
    }

    @Test("So have comments")
    func commentWords() {
        #expect(Self.comments.count > 5_000)
        for (path, number, comment) in Self.comments {
            for word in PlainWords.found(in: Page.withoutCode(comment)) {
                Issue.record("\(path):\(number): \(word): \(PlainWords.instead[word] ?? "")")
            }
        }
    }

    @Test("A decision has at most 60 lines, the five headings, and a line in the index")
    func decisions() throws {
        let index = try #require(Self.pages.first { $0.path == "docs/decisions/README.md" }).page
        let decisions = Self.pages.filter { $0.path.hasPrefix("docs/decisions/0") }
        #expect(decisions.count > 40)
        for (path, page) in decisions {
            #expect(page.lines.count <= 61, "\(path) has \(page.lines.count) lines")
            let headings = page.lines.filter { $0.hasPrefix("## ") }.map { $0.dropFirst(3) }
            #expect(headings == ["Context", "Decision", "Consequences", "What was tried", "Status"], "\(path)")
            #expect(index.links.contains { path.hasSuffix("/" + $0) }, "\(path) is not in the index")
        }
        #expect(index.links.filter { $0.hasPrefix("0") }.count == decisions.count)
    }

    @Test("Each decision that a comment cites, as D13, has its page")
    func citations() {
        let numbers = Set(Self.pages.compactMap { Int($0.path.dropFirst("docs/decisions/".count).prefix(4)) })
        var count = 0
        for (path, number, comment) in Self.comments where comment.contains("D") {
            for match in comment.matches(of: /\bD(\d\d?)\b/) {
                count += 1
                let isThere = Int(match.output.1).map(numbers.contains) ?? false
                #expect(isThere, "\(path):\(number) cites \(match.output.0)")
            }
        }
        #expect(count > 50)
    }

    @Test("What the rules find in a page that breaks them")
    func planted() {
        let long = Array(repeating: "word", count: 41).joined(separator: " ")
        let page = Page(
            """
            # Whoever reads headings

            Nobody is `somebody`. [A page](there.md#part "title"), [a site](https://sillok.example).

                code called code
            - \(long).

            \(long + "; " + long + " " + long). Few words.

            | a table | is called so |
            """)
        #expect(page.links == ["there.md"])
        #expect(page.prose.map(\.number) == [3, 6, 8])
        #expect(page.paragraphs.map { Page.words($0.text) } == [8, 41, 125])
        #expect(page.paragraphs.map { Page.sentences($0.text).count } == [2, 1, 2])
        #expect(page.tooLong.map(\.number) == [6, 8, 8])
        #expect(page.tooLong.map { $0.what.prefix(15) } == ["41 words: word ", "a paragraph of ", "123 words: word"])
        #expect(Self.withoutMarks("/// # A word") == "# A word" && Self.withoutMarks("/** Says */") == "Says ")
        #expect(Self.withoutMarks("#   more") == "  more")
        #expect(PlainWords.found(in: Page.withoutCode(page.lines[2])) == ["nobody"])
        #expect(page.tables.flatMap { PlainWords.found(in: $0.line) } == ["called"])
    }
}

/// Words that are not said in documents, and what is said instead.
enum PlainWords {
    static let instead: [String: String] = [
        "whoever": "'a thread that', 'anyone who', or the noun",
        "whomever": "the noun",
        "somebody": "the noun: a caller, a reader, a peer",
        "nobody": "'no one', or the noun: no thread, no peer",
        "anybody": "'anyone', or the noun",
        "everybody": "the noun: every peer, every reader",
        "in the place of": "'instead of'",
        "called": "'named', 'dialled', or who calls: 'runs on the loop'",
        "has nothing better to do": "'is idle'",
    ]

    static func found(in text: String) -> [String] {
        let lowercased = text.lowercased()
        guard instead.keys.contains(where: { lowercased.contains($0) }) else { return [] }
        let words = lowercased.split { !$0.isLetter && $0 != "'" }.joined(separator: " ")
        return instead.keys.filter { " \(words) ".contains(" \($0) ") }.sorted()
    }
}

/// A page of Markdown, taken apart as far as the rules need it.
struct Page {
    let lines: [String]
    /// Lines of text, outside of code, tables, headings and parts that a program writes.
    private(set) var prose: [(number: Int, line: String)] = []
    private(set) var tables: [(number: Int, line: String)] = []
    /// Paragraphs and items of lists, each in one line.
    private(set) var paragraphs: [(number: Int, text: String)] = []

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var isCode = false
        var isGenerated = false
        var isOpen = false
        for (index, line) in lines.enumerated() {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("<!-- results") { isGenerated = true }
            if text.hasPrefix("<!-- end of results") { isGenerated = false }
            if text.hasPrefix("```") { isCode.toggle() }
            let isIndented = line.hasPrefix("    ") && !isOpen
            if isCode || isGenerated || isIndented || text.isEmpty || Self.starts.contains(where: text.hasPrefix) {
                if text.hasPrefix("|"), !isGenerated { tables.append((index + 1, line)) }
                isOpen = false
                continue
            }
            prose.append((index + 1, line))
            let item = text.prefixMatch(of: #/([-*]|\d+\.)\ /#)
            if isOpen, item == nil {
                paragraphs[paragraphs.count - 1].text += " " + text
            } else {
                paragraphs.append((index + 1, String(text.dropFirst(item?.output.0.count ?? 0))))
            }
            isOpen = true
        }
    }

    /// Paragraphs above 120 words, and sentences above 40.
    var tooLong: [(number: Int, what: String)] {
        paragraphs.flatMap { number, text in
            let words = Self.words(text)
            let paragraph = words > 120 ? ["a paragraph of \(words) words"] : []
            let sentences = words > 40 ? Self.sentences(text).filter { Self.words($0) > 40 } : []
            return (paragraph + sentences.map { "\(Self.words($0)) words: \($0.prefix(60))" }).map { (number, $0) }
        }
    }

    /// Lines that begin so are no prose.
    private static let starts = ["|", "#", "<!--", "```", "!["]

    /// Targets of links and pictures within the repository, without the part behind '#'.
    var links: [String] {
        lines.filter { $0.contains("](") && !$0.hasPrefix("    ") }.flatMap { line in
            Self.withoutCode(line).matches(of: /\]\(([^)\s#]+)[^)]*\)/).map { String($0.output.1) }
        }.filter { !$0.contains("://") && !$0.hasPrefix("mailto:") }
    }

    /// Inline code counts as one word.
    static func withoutCode(_ text: String) -> String {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        return parts.enumerated().map { $0 % 2 == 0 ? $1 : "x" }.joined()
    }

    static func words(_ text: String) -> Int {
        withoutCode(text).split(whereSeparator: \.isWhitespace).count
    }

    static func sentences(_ text: String) -> [String] {
        let text = withoutCode(text)
        var sentences: [String] = []
        var start = text.startIndex
        for end in text.matches(of: /[.?!]["')*]*\s+/) {
            sentences.append(String(text[start..<end.range.upperBound]))
            start = end.range.upperBound
        }
        if start < text.endIndex { sentences.append(String(text[start...])) }
        return sentences
    }
}
