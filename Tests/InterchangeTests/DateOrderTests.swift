import CommandLineKit
import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// Which number of a date is the day, where WhatsApp leaves it open; and lines that are long.
@Suite struct DateOrderTests {
    private static let open = "01/02/24, 10:00 - Bob: a\n02/03/24, 10:00 - Bob: b\n"
    private static let clear = open + "03/25/24, 10:00 - Bob: c\n"

    private func chat(_ text: String, _ options: ImportOptions = .test) throws -> Imported {
        let folder = try TemporaryFolder.made()
        return try Imported(try folder.write(text, to: "WhatsApp Chat with Bob.txt"), as: nil, options)
    }

    private func options(_ change: (inout ImportOptions) -> Void) -> ImportOptions {
        var options = ImportOptions.test
        change(&options)
        return options
    }

    @Test("An open date has the day first, unless the one who imports says otherwise, or the chat is here otherwise")
    func open() throws {
        let day = try chat(Self.open)
        #expect(day.events.map(\.moment) == ["2024-02-01T01:00:00.000Z", "2024-03-02T01:00:00.000Z"])
        #expect(day.remarks.contains { $0.contains("--dates month-first") })
        #expect(day.openDates == ["whatsapp:Bob"])
        // As the release before has read and named them (INV-8).
        #expect(
            day.events.compactMap { $0.id?.description } == [
                "018d641c-6900-8fcb-b9dd-152bcf1234a0", "018dfe9b-3100-8d91-990a-46b350471147",
            ])
        let month = try chat(Self.open, options { $0.dates = .monthFirst })
        #expect(month.events.map(\.moment).first == "2024-01-02T01:00:00.000Z")
        #expect(month.remarks.isEmpty && month.openDates.isEmpty)
        let here = try chat(Self.open, options { $0.monthFirst = ["whatsapp:Bob"] })
        #expect(here.events == month.events && here.remarks.contains { $0.contains("as in what is here") })
        let clear = try chat(Self.clear)
        #expect(clear.events.prefix(2).map(\.id) == month.events.map(\.id) && clear.openDates.isEmpty)
    }

    @Test("Each message knows its id in the other reading, if there is one; what cannot be read as wanted is refused")
    func other() throws {
        let day = try chat(Self.open), clear = try chat(Self.clear)
        #expect(clear.otherReadings == day.events.map(\.id) + [nil])
        #expect(day.otherReadings == clear.events.prefix(2).map(\.id))
        #expect(try chat("03/03/24, 10:00 - Bob: a\n").otherReadings == [nil])
        #expect {
            try chat(Self.clear, options { $0.dates = .dayFirst })
        } throws: { error in
            "\(error)".contains("its dates do not have the day first")
        }
        // Two digits may be a year elsewhere in the date: that is not what was asked for.
        #expect {
            try chat(
                "01/01/19, 11:25 - Bob: a\n20/01/19, 11:23 - Bob: b\n10/06/20, 15:55 - Bob: c\n",
                options { $0.dates = .monthFirst })
        } throws: { error in
            "\(error)".contains("its dates do not have the month first")
        }
    }

    @Test(
        "A text that begins with a mark that joins what stands before it is said; as the release before has named it")
    func joining() throws {
        let lines = "13/03/24, 10:00 - Bob: a\n13/03/24, 10:01 - Bob: \u{301}b\n13/03/24, 10:02 - Bob:\u{301} c\n"
        let imported = try chat(lines + "13/03/24, 10:03 - Eve: \u{301}d\n")
        #expect(
            imported.texts.map { Array($0.unicodeScalars) }
                == ["a", "\u{301}b", "\u{301} c", "\u{301}d"].map { Array($0.unicodeScalars) })
        #expect(imported.passedOver == 0)
        // That release took the blank before the mark for a part of the text, where the name was known from another line.
        #expect(imported.events[1].id?.description == "018e3742-0f60-8559-94e1-1be19bc4111a")
    }

    @Test("A line of nearly 1 MiB is text, wherever its beginning is cut; a longer one is told as such")
    func longLines() throws {
        let folder = try TemporaryFolder.made()
        for shift in 0..<3 {
            let text = String(repeating: "a", count: shift) + String(repeating: "가", count: 340_000)
            let path = try folder.write("13/03/24, 10:00 - Eve: \(text)\n", to: "WhatsApp Chat with Eve.txt")
            #expect(try Sniffer.look(at: ExportFiles(path)) == .format(.whatsapp))
            #expect(try Imported(path).skipped["larger than 262144 bytes"] == 1)
        }
        let long = try folder.write(
            "13/03/24, 10:00 - Eve: " + String(repeating: "가", count: 400_000) + "\n", to: "WhatsApp Chat with U.txt")
        #expect {
            try Imported(long)
        } throws: { error in
            "\(error)".contains("longer than 1048576 bytes")
        }
        let other = try folder.write(
            Data("13/03/24, 10:00 - Eve: ".utf8) + Data(repeating: 0xb0, count: 100_000),
            to: "WhatsApp Chat with V.txt")
        #expect {
            try Imported(other)
        } throws: { error in
            "\(error)".contains("not UTF-8")
        }
    }
}
