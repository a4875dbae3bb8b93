import CommandLineKit
import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// What an import of a file comes to, without a store.
struct Imported {
    var format: ExportFormat
    var events: [EventDraft] = []
    var skipped: [String: Int] = [:]
    /// Where what was passed over stands.
    var places: [String] = []
    var counts: [String: Int] = [:]
    var remarks: [String] = []
    var openDates: Set<String> = []
    /// The id of each event in the other reading of its date.
    var otherReadings: [EventID?] = []
    /// What each event may be there as.
    var others: [[EventDraft]] = []
    /// What the events name that the export has, in order.
    var attachments: [ImportedAttachment] = []

    /// Recognises the file, unless told what it is, and reads it twice.
    init(_ path: String, as format: ExportFormat? = nil, _ options: ImportOptions = .test) throws {
        let files = try ExportFiles(path)
        if let format {
            self.format = format
        } else {
            guard case .format(let found)? = try Sniffer.look(at: files) else { throw NotRecognised(path: path) }
            self.format = found
        }
        let importing = ExportImport(files, as: self.format, options)
        let first = Drafts()
        _ = try importing.check { first.take($0) }
        let second = Drafts()
        let output = try importing.run { second.take($0) }
        // What was checked is what is handed in, but for what only the first reading can tell.
        #expect(first.all.map(\.id) == second.all.map(\.id))
        events = second.all
        counts = output.counts
        skipped = output.skipped.mapValues(\.count)
        places = output.skipped.sorted { $0.key < $1.key }.flatMap(\.value.places)
        remarks = output.remarks
        openDates = output.openDates
        otherReadings = second.others
        others = second.known
        attachments = second.attachments
    }

    var passedOver: Int { skipped.values.reduce(0, +) }
    var texts: [String] { events.compactMap { JSONObject(validated: $0.payload).string("text") } }
}

struct NotRecognised: Error { let path: String }

private final class Drafts {
    var all: [EventDraft] = []
    var others: [EventID?] = []
    var known: [[EventDraft]] = []
    var attachments: [ImportedAttachment] = []
    func take(_ event: ImportedEvent) -> Bool {
        all.append(event.draft)
        others.append(event.otherReading)
        known.append(event.others)
        attachments += event.attachments
        return true
    }
}

extension ImportedAttachment {
    func bytes() throws -> [UInt8] {
        let reader = try open()
        var (all, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 1_000))
        while case let count = try reader.fill(&chunk), count > 0 { all += chunk[..<count] }
        return all
    }
}

extension ImportOptions {
    static let test = ImportOptions(user: "hana", zone: .fixed(seconds: 9 * 3_600))
}

extension EventDraft {
    var object: JSONObject { JSONObject(validated: payload) }
    var text: String? { object.string("text") }
    var items: [JSONObject] { object.elements("attachments")?.compactMap(\.object) ?? [] }
    var moment: String { Timestamp.text(time ?? 0) }
}

/// Data of others that lie beside the package, if they are there.
enum Shared {
    static let folder = URL(filePath: #filePath).appending(path: "../../../../shared").standardized.path
    static let formats = folder + "/data/formats"
    static let areFormatsThere = FileManager.default.fileExists(atPath: formats + "/FORMATS.md")
    static let makeSamples = folder + "/design/seed_samples/make_samples.py"
    static let conformance = folder + "/data/conformance"
}

extension TemporaryFolder {
    func write(_ text: String, to name: String) throws -> String { try write(Data(text.utf8), to: name) }
}

/// Runs a script of Python, which the tests of the programs need as well.
func python(_ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-B"] + arguments
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
}
