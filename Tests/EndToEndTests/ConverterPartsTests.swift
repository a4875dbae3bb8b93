import Foundation
import TestSupport
import Testing

@testable import Converters

/// The parts under the converters, with made-up and broken input; none of this needs the real sets.
struct ConverterPartsTests {
    // MARK: Writing

    @Test func textIsEscapedNoMoreThanNeeded() {
        let text = "따옴표 \" 역슬래시 \\ 탭\t 줄\n\r\u{8}\u{C} 널\u{0} 끝\u{1F} del\u{7F} / 😀 e\u{301}"
        let line = NativeLine(
            type: .messagePosted, source: "/datasets/s", recordID: "r", time: Timestamp(milliseconds: 1),
            conversation: "c", user: "u", author: "b", cause: "e", data: [JSONValue.Member("text", .string(text))])
        let escaped =
            #"따옴표 \" 역슬래시 \\ 탭\t 줄\n\r\b\f 널\u0000 끝\u001f del"# + "\u{7F} / 😀 e\u{301}"
        #expect(
            encoded(line)
                == #"{"specversion":"1.0","type":"message.posted","source":"/datasets/s","recordid":"r","#
                + #""time":"1970-01-01T00:00:00.001Z","subject":"conversation/c","user":"u","author":"b","#
                + #""cause":"e","data":{"text":""# + escaped + "\"}}\n")
    }

    @Test func absentMembersAreLeftOut() {
        let line = NativeLine(
            type: .profileChanged, source: "/datasets/s", recordID: "r", time: Timestamp(milliseconds: 0), user: "u",
            data: [])
        #expect(
            encoded(line)
                == #"{"specversion":"1.0","type":"profile.changed","source":"/datasets/s","recordid":"r","#
                + #""time":"1970-01-01T00:00:00.000Z","user":"u","data":{}}"# + "\n")
    }

    @Test func parsedValuesKeepTheirKind() throws {
        let text = #"{"z":true,"a b":[1,0,-7,1.5,null],"m":{"y":"","x":12345678901234567890},"f":false}"#
        let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8))
        let value = try #require(JSONValue(parsed: parsed))
        #expect(
            value
                == .object([
                    JSONValue.Member("a b", .array([.integer(1), .integer(0), .integer(-7), .number(1.5), .null])),
                    JSONValue.Member("f", .bool(false)),
                    JSONValue.Member(
                        "m",
                        .object([
                            JSONValue.Member("x", .number(12_345_678_901_234_567_168)),
                            JSONValue.Member("y", .string("")),
                        ])),
                    JSONValue.Member("z", .bool(true)),
                ]))
        let line = NativeLine(
            type: .profileChanged, source: "s", recordID: "r", time: Timestamp(milliseconds: 0), user: "u",
            data: [JSONValue.Member("v", value), JSONValue.Member("n", .number(.nan))])
        #expect(
            encoded(line).hasSuffix(
                #""data":{"v":{"a b":[1,0,-7,1.5,null],"f":false,"m":{"x":1.2345678901234567e+19,"y":""},"z":true},"#
                    + #""n":null}}"# + "\n"))
    }

    private func encoded(_ line: NativeLine) -> String {
        var encoder = LineEncoder()
        encoder.append(line)
        return String(decoding: encoder.bytes, as: UTF8.self)
    }

    // MARK: Times

    @Test(arguments: [
        (1970, 1, 1, "1970-01-01T00:00:00.000Z"), (2000, 2, 29, "2000-02-29T00:00:00.000Z"),
        (1969, 12, 31, "1969-12-31T00:00:00.000Z"), (2026, 3, 1, "2026-03-01T00:00:00.000Z"),
        (1600, 3, 1, "1600-03-01T00:00:00.000Z"), (9999, 12, 31, "9999-12-31T00:00:00.000Z"),
    ])
    func daysAreWrittenAsTheyWereRead(_ year: Int, _ month: Int, _ day: Int, _ text: String) {
        #expect(Timestamp(year: year, month: month, day: day)?.description == text)
    }

    @Test func timesAgreeWithFoundation() throws {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        for step in 0..<2_000 {
            let time = Timestamp(milliseconds: -2_000_000_000_123 + Int64(step) * 2_345_678_901)
            let date = try style.parse(time.description)
            #expect(Int64((date.timeIntervalSince1970 * 1000).rounded()) == time.milliseconds)
        }
    }

    @Test func daysThatDoNotExistAreRefused() {
        #expect(Timestamp(year: 2023, month: 2, day: 29) == nil)
        #expect(Timestamp(year: 1900, month: 2, day: 29) == nil)
        #expect(Timestamp(year: 2024, month: 4, day: 31) == nil)
        #expect(Timestamp(year: 2024, month: 13, day: 1) == nil)
        #expect(Timestamp(year: 2024, month: 1, day: 0) == nil)
    }

    @Test func reviewDaysAreKorean() {
        #expect(NSMCConverter.midnightInKorea("03.01.01")?.description == "2002-12-31T15:00:00.000Z")
        for day in ["", "15.08", "15.08.25.01", "15-08-25", "2015.08.25", "15.8.25", "15.02.30", "ab.cd.ef"] {
            #expect(NSMCConverter.midnightInKorea(day) == nil, "\(day)")
        }
    }

    // MARK: Reading

    @Test func rowsAreReadAsTheRFCSays() {
        let text = "Q,A\r\n\"a,\"\"b\"\"\r\nc\",d\n,\n\"\",\"x\"y\nlast,한글"
        #expect(
            CSVRows.parse(text.utf8)
                == [["Q", "A"], ["a,\"b\"\r\nc", "d"], ["", ""], ["", "xy"], ["last", "한글"]])
        #expect(CSVRows.parse("a,\"b".utf8) == nil)
        #expect(CSVRows.parse("".utf8)?.isEmpty == true)
    }

    @Test func linesLongerThanTheBufferArriveWhole() throws {
        let long = String(repeating: "가", count: 900_000)
        let lines = ["첫째", long, "셋째", "끝"]
        let file = try temporaryFile(Data((lines.prefix(3).joined(separator: "\n") + "\n\n끝").utf8))
        defer { try? FileManager.default.removeItem(atPath: file) }
        let handle = try #require(FileHandle(forReadingAtPath: file))
        var seen: [String] = []
        try ByteLines(descriptor: handle.fileDescriptor, named: file).forEach {
            seen.append(String(decoding: $0, as: UTF8.self))
        }
        #expect(seen == lines)
    }

    @Test func aMissingProgramIsNamedWithItsPackage() {
        #expect(throws: ConversionError.missingProgram(name: "no-such-program-here", package: "zstd")) {
            _ = try ChildProcess(["no-such-program-here"], package: "zstd")
        }
        let error = ConversionError.missingProgram(name: "zstd", package: "zstd")
        #expect(error.description.contains("apt-get install zstd"))
    }

    @Test func aFailedProgramIsReported() throws {
        let failing = try ChildProcess(["sh", "-c", "exit 3"], package: "dash")
        #expect(throws: ConversionError.programFailed(name: "sh", status: 3)) { try failing.finish() }
        let killed = try ChildProcess(["sh", "-c", "kill -TERM $$"], package: "dash")
        #expect(throws: ConversionError.programFailed(name: "sh", status: 143)) { try killed.finish() }
    }

    @Test(.timeLimit(.minutes(5))) func anEndlessProgramEndsWhenItsReaderStops() throws {
        struct Enough: Error {}
        let endless = try ChildProcess(["yes"], package: "coreutils")
        #expect(throws: Enough.self) {
            try ByteLines(descriptor: endless.output, named: "yes").forEach { _ in throw Enough() }
        }
    }

    // MARK: Broken sets

    @Test(arguments: ConverterRegistry.all.map { $0.name })
    func anAbsentFolderIsNamed(_ set: String) throws {
        let converter = try #require(ConverterRegistry.converter(named: set))
        let error = #expect(throws: ConversionError.self) {
            try converter.init(options: ConversionOptions()).convert(from: "/no/such/folder") { _ in }
        }
        guard case .unreadable(let path, _) = error else {
            Issue.record("expected an unreadable file, got \(String(describing: error))")
            return
        }
        #expect(path.hasPrefix("/no/such/folder/"))
    }

    @Test(arguments: [
        ("", "expected CSV"), ("Q;A;label\n", "expected CSV"), ("Q,A,label\na,b\n", "row 1"),
        ("Q,A,label\na,b,0\nc,d,x\n", "row 2"), ("Q,A,label\n\"a,b,0\n", "expected CSV"),
    ])
    func brokenRowsAreRefused(_ text: String, _ detail: String) throws {
        try refused(SongysConverter(), ["ChatbotData.csv": text], detail)
    }

    @Test(arguments: [
        ("{", "not JSON"), ("{}", "the root"), ("[1]", "expected an object"), ("[{}]", "no member persona"),
        (#"[{"persona":[],"dialogue":[["a"]]}]"#, "not a pair"), (#"[{"persona":[],"dialogue":"a"}]"#, "no member"),
    ])
    func brokenDialoguesAreRefused(_ text: String, _ detail: String) throws {
        try refused(XPersonaConverter(), ["Ko_persona_split_test_human_annotated.json": text], detail)
    }

    @Test func aProfileThatIsNoObjectIsRefused() throws {
        try refused(HGTODSConverter(), ["personal.json": #"{"u":1}"#], "profile of u")
    }

    @Test func theLimitEndsAConversionAndErrorsOfTheReceiverPassThrough() throws {
        let folder = try temporaryFolder(["ChatbotData.csv": "Q,A,label\r\nq,a,0\r\nq2,a2,2   \r\n"])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var ids: [String] = []
        let whole = try SongysConverter().convert(from: folder) { ids.append($0.recordID) }
        #expect(ids == ["songys-1", "songys-2"].flatMap { ["\($0)/started", "\($0)/1", "\($0)/2"] })
        #expect(whole.description == "6 lines, 4 messages, 2 conversations, 0 profiles, 0 surveys")
        let some = try SongysConverter(options: ConversionOptions(limit: 4)).convert(from: folder) { _ in }
        #expect(some.lines == 4 && some.messages == 2 && some.conversations == 2)
        let none = try SongysConverter(options: ConversionOptions(limit: 0)).convert(from: folder) { _ in }
        #expect(none == ConversionCounts())
        struct Full: Error {}
        #expect(throws: Full.self) { try SongysConverter().convert(from: folder) { _ in throw Full() } }
    }

    private func refused(_ converter: some DatasetConverter, _ files: [String: String], _ detail: String) throws {
        let folder = try temporaryFolder(files)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let error = #expect(throws: ConversionError.self) { try converter.convert(from: folder) { _ in } }
        #expect(error?.description.contains(detail) == true, "\(String(describing: error))")
    }

    private func temporaryFolder(_ files: [String: String]) throws -> String {
        let folder = TemporaryFolder.unusedPath()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, text) in files {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        return folder
    }

    private func temporaryFile(_ data: Data) throws -> String {
        let path = TemporaryFolder.unusedPath()
        try data.write(to: URL(fileURLWithPath: path))
        return path
    }
}
