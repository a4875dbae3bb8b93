import EventStore
import Foundation
import SyncEngine
import TestSupport
import Testing

/// The published schema, read by Google's own compiler, says what our bytes say.
@Suite(.enabled(if: Protoc.isInstalled, "protoc is absent: install protobuf-compiler"))
struct SchemaTests {
    @Test func protocReadsAndWritesTheGoldenBytes() throws {
        var pairs = try Golden.all().map { (file: $0.file, schema: $0.schema, bytes: $0.message.body) }
        for file in ["header", "header-minimal", "header-actor"] {
            let header = try EventHeader(canonicalBytes: try WireFiles.hex("\(file).hex"))
            pairs.append((file, "EventHeader", header.canonicalBytes))
        }
        for pair in pairs {
            let text = try WireFiles.text("\(pair.file).textproto")
            #expect(try Protoc.run("decode", pair.schema, Data(pair.bytes)) == Data(text.utf8), "\(pair.file)")
            #expect(try Protoc.run("encode", pair.schema, Data(text.utf8)) == Data(pair.bytes), "\(pair.file)")
        }
    }

    @Test(
        arguments: zip(
            MessageType.allCases,
            [
                "Hello", "Vector", "Events", "Ack", "Credit", "Ping", "Pong", "Bye", "StateDelta", "Resync", "Want",
                "Fork", "Join", "HeadAsk", "HeadTold", "PayloadAsk", "PayloadTold", "SnapshotOffer", "SnapshotGet",
                "SnapshotRows", "SnapshotEnd", "SnapshotDone", "SharedState", "AttachmentAsk",
                "AttachmentTold",
            ]))
    func protocKeepsRandomMessages(type: MessageType, schema: String) throws {
        var generator = MessageGenerator(seed: UInt64(type.rawValue))
        for _ in 0..<3 {
            let bytes = Data(try generator.message(of: type).body)
            let text = try Protoc.run("decode", schema, bytes)
            // Protoc prints fields it does not know by number.
            #expect(
                !String(decoding: text, as: UTF8.self).split(separator: "\n").contains { $0.first?.isNumber == true })
            #expect(try Protoc.run("encode", schema, text) == bytes)
        }
    }
}

enum Protoc {
    static let path = "/usr/bin/protoc"
    static let isInstalled = FileManager.default.isExecutableFile(atPath: path)

    static func run(_ direction: String, _ schema: String, _ input: Data) throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = ["--\(direction)=sillok.sync.v1.\(schema)", "sync.proto"]
        process.currentDirectoryURL = WireFiles.schema.deletingLastPathComponent()
        let file = URL(filePath: TemporaryFolder.unusedPath())
        try input.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let output = Pipe()
        process.standardInput = try FileHandle(forReadingFrom: file)
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Unexpected() }
        return data
    }
}

@Suite struct SchemaTextTests {
    @Test func codesAreThoseOfTheSchema() throws {
        let text = try String(contentsOf: WireFiles.schema, encoding: .utf8)
        let rows = text.split(separator: "\n").compactMap { line -> String? in
            let words = line.split(separator: " ")
            guard words.count > 4, words[0] == "//", UInt32(words[1]) != nil,
                ["retry", "fatal", "stream"].contains(words[3])
            else { return nil }
            return words[1...3].joined(separator: " ")
        }
        #expect(rows == SessionErrorCode.allCases.map { "\($0.rawValue) \($0.name) \($0.errorClass)" })
        #expect(rows.count == 26)
    }

    @Test func everyWireErrorHasItsCode() {
        let expected: [(WireError, SessionErrorCode)] = [
            (.frameTooLarge(bytes: 2, limit: 1), .frameTooLarge), (.unknownFlags(2), .badFrame),
            (.reservedNotZero(1), .badFrame), (.decompressionBomb(declared: 9, compressed: 1), .frameTooLarge),
            (.zstd("x"), .badFrame), (.malformed(message: "Hello", reason: "x"), .badFrame),
            (.missingField(message: "Hello", field: "node"), .badFrame),
            (.tooMany(message: "Vector", field: "entries", limit: 1), .badFrame),
            (.eventTooLarge(bytes: 2, limit: 1), .eventTooLarge),
        ]
        for (error, code) in expected { #expect(error.code == code, "\(error)") }
        #expect(Set(expected.map { "\($0.0)" }).count == expected.count)
    }
}
