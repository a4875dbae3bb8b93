import CommandLineKit
import Foundation
import TestSupport
import Testing

@testable import syncctl

/// Both languages are whole, and programs are spoken to in English.
struct SyncctlLanguageTests {
    static func isHangul(_ text: String) -> Bool {
        text.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) }
    }

    /// `{0}`, `{1}` …
    private static func places(_ text: String) -> Set<Int> {
        Set((0...9).filter { text.contains("{\($0)}") })
    }

    @Test("Every text is there in both languages, with the same places for values", arguments: Wording.allCases)
    func wording(_ wording: Wording) {
        let phrase = wording.phrase
        #expect(!phrase.english.isEmpty)
        #expect(!Self.isHangul(phrase.english))
        #expect(Self.isHangul(phrase.korean) || [.id, .labelID, .labelHLC].contains(wording))
        // Who edited and when is told in either order; nothing is left out.
        #expect(Self.places(phrase.english) == Self.places(phrase.korean))
    }

    /// Every text that some help shows, in English: of the program, its groups, its commands, and all that can be given.
    private static var helpTexts: Set<String> {
        let table = Syncctl.table
        var texts = [table.summary] + (table.globalOptions + [CommandTable.helpOption]).map(\.help)
        for command in table.commands {
            texts += [command.summary, command.group, command.discussion]
            texts += command.options.map(\.help) + command.arguments.map(\.help) + command.examples.map(\.shows)
        }
        return Set(texts.filter { !$0.isEmpty })
    }

    /// What a person types or compares: options, codes, names in capitals, numbers.
    private static func exactWords(_ text: String) -> Set<String> {
        Set(text.matches(of: /--[a-z][a-z-]*|E_[A-Z_]+|[A-Z]{3,}|[0-9]+/).map { String($0.output) })
    }

    @Test("The help of every command is there in Korean, whole: options, arguments, examples and discussions")
    func help() {
        let english = Self.helpTexts
        #expect(english.count > 450)
        for text in english.sorted() {
            #expect(KoreanHelp.texts[text].map(Self.isHangul) == true, "no Korean for: \(text)")
        }
        for text in KoreanHelp.texts.keys where !english.contains(text) {
            Issue.record("not in the help any longer: \(text)")
        }
        let names = KoreanHelp.tables.flatMap(\.keys)
        #expect(names.count == KoreanHelp.texts.count, "a text has two translations, of which one is never seen")
        for (text, korean) in KoreanHelp.texts {
            let lost = Self.exactWords(text).subtracting(Self.exactWords(korean))
            #expect(lost.isEmpty, "\(lost.sorted()) is not in the Korean for: \(text)")
            let paragraphs = [text, korean].map { $0.split(separator: "\n\n").count }
            #expect(paragraphs[0] == paragraphs[1], "other paragraphs: \(text)")
        }
    }

    @Test("No text of the help has two blanks in a row, or white space at its ends", arguments: Language.allCases)
    func blanks(_ language: Language) {
        for text in Self.helpTexts.map({ language == .korean ? KoreanHelp.texts[$0] ?? $0 : $0 }).sorted() {
            #expect(text.trimmingCharacters(in: .whitespacesAndNewlines) == text, "\(text.debugDescription)")
            // An empty line parts paragraphs.
            let paragraphs = text.replacing("\n\n", with: "\n")
            #expect(paragraphs.firstMatch(of: /\s\s|\t/) == nil, "\(text.debugDescription)")
        }
    }

    /// Codes of `syncd` alone, and of what is not told.
    private static let untold: Set<String> = [
        "E_ARGUMENTS", "E_PIPE", "E_SOCKET", "E_LISTEN", "E_METRICS", "E_API", "E_PEERS", "E_CRASH", "E_HTTP_",
        "E_KEY_OPEN", "E_MODEL", "E_PARKED",
    ]

    @Test("No heading stands in the code in English alone")
    func headings() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../../Sources/syncctl")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var looked = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            looked += 1
            let text = try String(contentsOf: file, encoding: .utf8)
            for found in text.matches(of: /\.(?:left|right|whole)\("([^"\\]+)"\)/) {
                Issue.record("\(file.lastPathComponent): the heading \(found.output.1) is no Wording")
            }
        }
        #expect(looked > 60)
    }

    @Test("The codes with a Korean meaning are codes of ERRORS.md, and those that syncctl may tell have one")
    func errors() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/reference/ERRORS.md")
        let documented = try String(contentsOf: page, encoding: .utf8)
        for (code, meaning) in KoreanErrors.meanings {
            #expect(documented.contains("`\(code)`"), "\(code)")
            #expect(Self.isHangul(meaning) && meaning.hasSuffix("."))
        }
        for row in documented.split(separator: "\n") where row.hasPrefix("| `E_") {
            let codes = row.split(separator: "|").first?.matches(of: /`(E_[A-Z0-9_]+)`/).map { String($0.output.1) }
            for code in codes ?? [] where !Self.untold.contains(code) {
                #expect(KoreanErrors.meanings[code] != nil, "no Korean for \(code)")
            }
        }
    }

    @Test("Every code of a finding has a Korean meaning, and no other; what is counted has both languages")
    func findings() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
        var codes: Set<String> = []
        for (path, pattern) in [
            ("syncctl/Doctor/Doctor.swift", /"([A-Z][A-Z_]+)", (?:\.warning|\.information|\.integrity|")/),
            ("syncctl/Doctor/Finding.swift", /"([A-Z][A-Z_]+)", (?:\.warning|\.information|\.integrity)/),
            ("SyncEngine/Mesh/NodeNotice.swift", /case \w+ = "([A-Z_]+)"/),
        ] {
            let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
            codes.formUnion(text.matches(of: pattern).map { String($0.output.1) })
        }
        #expect(codes.count > 30 && codes == Set(KoreanFindings.meanings.keys))
        for (code, meaning) in KoreanFindings.meanings {
            #expect(Self.isHangul(meaning) && meaning.hasSuffix("."), "\(code)")
        }
        for noun in CountedNoun.allCases {
            #expect(Self.isHangul(noun.phrase.korean) && noun.phrase.korean.contains("{0}"), "\(noun)")
        }
    }

    @Test("What a node says of itself is in Korean for people, and in English for scripts")
    func node() async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        #expect(try await tool.run(["init", "--name", "n"]).code == 0)
        #expect(try await tool.run(["append", "--user", "u", "--text", "말"]).code == 0)
        tool.environment["SILLOK_LANG"] = "ko"
        let verified = try await tool.run(["verify", "--views", "--actors"])
        #expect(verified.code == 0 && verified.text.contains("\n증명됨  위치 1..") && verified.text.contains("뷰 증명됨"))
        let checks = verified.lines.filter { $0.contains(" 정상 ") }
        #expect(checks.count == 13 && checks.allSatisfy(Self.isHangul), "\(verified.text)")
        let status = try await tool.run(["status"])
        #expect(status.text.contains("데몬이 실행 중이 아님") && status.text.contains("  뷰 ") && status.text.contains("최신"))
        #expect(!status.text.contains("events") && status.text.contains("이 노드"), "\(status.text)")
        chmod(folder.file("store/node.key"), 0o644)
        let doctor = try await tool.run(["doctor"])
        #expect(doctor.text.contains("KEY_MODE (경고): 다른 사용자가") && doctor.text.contains("  할 일: chmod 600"))
        #expect(doctor.text.contains("the node's key can be read by others"), "the English text stays below it")
        #expect(doctor.errors.hasPrefix("syncctl: 문제 "), "\(doctor.errors)")
        for words in [["verify"], ["status"], ["doctor"]] {
            for form in ["--plain", "--json"] {
                #expect(!Self.isHangul(try await tool.run(words + [form]).text), "\(words) \(form)")
            }
        }
        let daemon = try DaemonProcess("n")
        try daemon.start(environment: ["SILLOK_LANG": "ko"])
        tool.environment["SYNCCTL_STORE"] = daemon.store
        #expect(try await tool.run(["whoami"]).text.contains("역할: "))
        let running = try await tool.run(["status"])
        #expect(running.text.contains("정상") && running.text.contains("연결을 받는 포트: "), "\(running.text)")
        #expect(daemon.terminate() == 0)
    }

    @Test("Why an event is not taken is said in Korean, too")
    func rejected() async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        #expect(try await tool.run(["init", "--name", "n"]).code == 0)
        let lines = ["a", "b"].map {
            #"{"id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f","type":"t","user":"u","data":{"text":"\#($0)"}}"#
        }.joined(separator: "\n")
        let again = try await tool.run(["append", "-", "--lang", "ko"], input: Data(lines.utf8))
        let meaning = try #require(KoreanErrors.meanings["E_ID_REUSED"])
        #expect(again.errors.contains("2번째 줄: \(meaning)\n  id: already used"), "\(again.errors)")
        #expect(again.errors.contains("[E_ID_REUSED]"))
    }

    @Test("--lang wins over the environment, and machines read English")
    func choice() async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncctl")
        tool.environment["SYNCCTL_STORE"] = folder.file("store")
        #expect(try await tool.run(["init", "--name", "n"]).code == 0)
        let line = #"{"type":"message.posted","user":"u","subject":"conversation/c","data":{"text":"안녕"}}"# + "\n"
        #expect(try await tool.run(["append", "-"], input: Data(line.utf8)).code == 0)
        tool.environment["LANG"] = "ko_KR.UTF-8"
        #expect(try await tool.run(["history", "u"]).text.hasPrefix("시각 (+09:00)"))
        #expect(try await tool.run(["history", "u", "--lang", "en"]).text.hasPrefix("TIME (+09:00)"))
        #expect(try await tool.run(["history", "u", "--plain"]).text.hasPrefix("TIME (+09:00)\t"))
        #expect(try await tool.run(["history", "u", "--csv"]).text.hasPrefix("time,position,"))
        let nobody = try await tool.run(["history", "nobody"])
        #expect(nobody.errors == "syncctl: 사용자를 찾을 수 없습니다: nobody\n")
        let machine = try await tool.run(["history", "nobody", "--json"])
        #expect(machine.errors == #"{"type":"message","v":1,"message":"there is no user nobody"}"# + "\n")
        let wrong = try await tool.run(["history", "u", "--since", "얼마 전"])
        #expect(wrong.errors.hasPrefix("syncctl: 명령을 이대로 실행할 수 없습니다.\n  --since '얼마 전': 시각으로 읽을 수 없습니다."))
        #expect(wrong.errors.hasSuffix("[E_USAGE]\n") && wrong.code == 64)
        // What is wrong with a command line is said in Korean, too; machines read English.
        for (words, korean) in [
            (["history", "u", "--sinse", "1h"], "--sinse 옵션은 없습니다. 혹시 --since입니까?"),
            (["history"], "인자 <user> 값이 없습니다."), (["history", "u", "v"], "인자 'v'은(는) 필요하지 않습니다."),
            (["history", "u", "--role", "x"], "쓸 수 있는 값: "),
            (["histori", "u"], "'histori' 명령은 없습니다. 혹시 'syncctl history'입니까?"),
            (["history", "u", "--since"], "--since 옵션에 값이 없습니다"),
        ] {
            let run = try await tool.run(words)
            #expect(run.code == 64 && run.errors.contains(korean), "\(run.errors)")
            #expect(!(try await tool.run(words + ["--json"]).errors.contains("습니다")))
        }
        let ranged = try await tool.run(["history", "u", "--since", "2026-08-01"])
        #expect(ranged.errors == "syncctl: 2026-08-01 00:00부터 (Asia/Seoul)\n")
        #expect(try await tool.run(["history", "--help"]).text.contains("\n옵션:\n"))
        #expect(try await tool.run(["--help", "--lang=en"]).text.contains("\nRead:\n"))
    }
}
