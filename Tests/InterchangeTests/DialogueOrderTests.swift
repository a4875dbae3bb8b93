import CommandLineKit
import EventStore
import Interchange
import TestSupport
import Testing

/// The documents of `chats`, a question and its answer in one, are read by date, each answer behind its question (S0-15), whatever their
/// order in the export and wherever they are imported (INV-8).
@Suite struct DialogueOrderTests {
    /// Two of the same moment, and one before them, which the export has last.
    private static let documents = [
        (id: "b", second: "1686045670.25", text: "둘"), (id: "c", second: "1686045670.25", text: "셋"),
        (id: "a", second: "1686045669.5145922", text: "하나"),
    ]

    private func export(_ order: [Int]) -> String {
        let documents = order.map { Self.documents[$0] }.map { document in
            #""\#(document.id)":{"senderId":"uid1","senderName":"User","messageId":"00000000-0000-4000-8000-00000000000\#(document.id)","#
                + #""sentDate":\#(document.second),"text":"\#(document.text)","botResponse":"답 \#(document.text)"}"#
        }
        return #"{"__collections__":{"chats":{\#(documents.joined(separator: ","))}}}"#
    }

    /// What the user's history shows after an import, oldest first.
    private func history(_ order: [Int]) throws -> [(text: String, time: Int64)] {
        let folder = try TemporaryFolder.made()
        let imported = try Imported(try folder.write(export(order), to: "chats.json"))
        #expect(imported.format == .firestore && imported.passedOver == 0)
        let place = TemporaryFolder()
        try EventStore.create(in: place.path, name: "test")
        let store = try EventStore(opening: place.path)
        _ = try store.appendBlocking(imported.events, atomicity: .each)
        let events = try EventReader(store).history(of: "uid1").reversed()
        return events.map { entry in
            let event = entry.stored.event
            return (JSONObject(validated: event.payload ?? []).string("text") ?? "", event.header.time)
        }
    }

    @Test("Documents stand by their dates, and an answer a millisecond behind its question (S0-15)")
    func byDate() throws {
        let shown = try history([0, 1, 2])
        #expect(shown.map(\.text).prefix(2) == ["하나", "답 하나"])
        #expect(Set(shown.map(\.text)) == ["하나", "둘", "셋", "답 하나", "답 둘", "답 셋"])
        #expect(shown.map(\.time) == shown.map(\.time).sorted())
        for text in ["하나", "둘", "셋"] {
            let asked = try #require(shown.first { $0.text == text })
            let said = try #require(shown.first { $0.text == "답 " + text })
            #expect(said.time == asked.time + 1)
            let places = shown.map(\.text)
            #expect(places.firstIndex(of: text)! < places.firstIndex(of: "답 " + text)!)
        }
    }

    @Test("The order of lines in the export changes nothing where dates differ (S0-15)")
    func whateverTheOrder() throws {
        for order in [[0, 2], [2, 0]] {
            #expect(try history(order).map(\.text) == ["하나", "답 하나", "둘", "답 둘"])
        }
    }
}
