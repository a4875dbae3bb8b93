import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// Firestore in both of its forms: what node-firestore-import-export writes, and answers of the REST interface.
@Suite struct FirestoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made() }

    private static let root = "projects/p/databases/(default)/documents/"
    private static let messageID = "A87FE713-A0CC-4D4A-8E22-2CD4E4561E6B"

    private func imported(_ text: String, _ options: ImportOptions = .test) throws -> Imported {
        try Imported(try folder.write(text, to: "firestore.json"), as: nil, options)
    }

    /// A document as REST has it. One without its time has none.
    private func rest(_ id: String, _ changed: [String: String?] = [:]) -> String {
        var fields: [String: String?] = [
            "senderId": #"{"stringValue":"uid-A"}"#, "senderName": #"{"stringValue":"User"}"#,
            "messageId": #"{"stringValue":"\#(Self.messageID)"}"#,
            "sentDate": #"{"doubleValue":1686045669.5145922}"#,
            "text": #"{"stringValue":"두통이 \"오래\" 가요"}"#, "botResponse": #"{"stringValue":"쉬세요\n\u00e9"}"#,
        ]
        fields.merge(changed) { $1 }
        let inner = fields.compactMap { name, value in value.map { #""\#(name)":\#($0)"# } }.sorted()
        return #"{"name":"\#(Self.root)chats/\#(id)","fields":{\#(inner.joined(separator: ","))},"#
            + #""createTime":"2023-06-06T10:01:10.000000Z","updateTime":"2023-06-06T10:01:10.000000Z"}"#
    }

    private func list(_ documents: String...) -> String { #"{"documents":[\#(documents.joined(separator: ","))]}"# }

    /// The same document as the tool writes it.
    private func exported(_ id: String, date: String = "1686045669.5145922", messageID: String = messageID) -> String
    {
        #"{"__collections__":{"chats":{"\#(id)":{"senderId":"uid-A","senderName":"User","messageId":"\#(messageID)","#
            + #""sentDate":\#(date),"text":"두통이 \"오래\" 가요","botResponse":"쉬세요\né","__collections__":{}}}}}"#
    }

    @Test(
        "Two documents with one messageId: the second has ids of its own, so that its answer goes with its question")
    func usedID() throws {
        let other = rest("Z", ["text": #"{"stringValue":"또"}"#, "botResponse": #"{"stringValue":"답"}"#])
        let both = try imported(list(rest("K"), other, rest("K")))
        #expect(both.texts == ["두통이 \"오래\" 가요", "쉬세요\né", "또", "답", "두통이 \"오래\" 가요", "쉬세요\né"])
        let (one, two) = (both.events[0], both.events[2])
        #expect(one.id == EventID(text: Self.messageID) && one.id != two.id && both.events[4] == one)
        #expect(both.events.map(\.cause) == [nil, one.id, nil, two.id, nil, one.id])
        #expect(
            both.remarks == [
                "1 time: a document with the messageId of another one: its question has an id of its own (Z)"
            ])
    }

    @Test(
        "Documents as REST answers them are the same events as in an export, so importing both doubles nothing (INV-8)"
    )
    func alike() throws {
        let one = try imported(exported("KByZ")), other = try imported(list(rest("KByZ")))
        #expect(other.format == .firestore && other.counts == ["message.posted": 1, "bot.replied": 1])
        #expect(one.events == other.events && one.passedOver == 0 && other.passedOver == 0)
        #expect(other.events[0].text == "두통이 \"오래\" 가요" && other.events[0].moment == "2023-06-06T10:01:09.514Z")
        #expect(other.events[0].id == EventID(text: Self.messageID))
        // One document alone, as the interface answers it.
        #expect(try imported(rest("KByZ")).events == one.events)
        // Below another document, and without a message's id of its own.
        let inner = exported("m1", messageID: "-")
        let nested = #"{"__collections__":{"rooms":{"r":\#(inner)}}}"#
        let answered = rest("m1", ["messageId": #"{"stringValue":"-"}"#])
            .replacing("/chats/m1", with: "/rooms/r/chats/m1")
        let (below, flat) = (try imported(nested), try imported(list(answered)))
        #expect(below.events == flat.events && flat.events.count == 2)
        #expect(below.skipped == ["a document that is no chat": 1] && flat.passedOver == 0)
    }

    @Test(
        "A time is the same in each form: a number, a timestamp of either",
        arguments: [
            ("1686132000", #"{"integerValue":"1686132000"}"#), ("1686132000", #"{"integerValue":1686132000}"#),
            (#""2023-06-07T10:00:00.123456789Z""#, #"{"timestampValue":"2023-06-07T10:00:00.123456789Z"}"#),
            (
                #"{"__datatype__":"timestamp","value":{"_seconds":1686132000,"_nanoseconds":123999999}}"#,
                #"{"timestampValue":"2023-06-07T10:00:00.123999999Z"}"#
            ),
            (
                #"{"_seconds":1686132000,"_nanoseconds":5000000}"#,
                #"{"mapValue":{"fields":{"_seconds":{"integerValue":"1686132000"},"_nanoseconds":{"integerValue":"5000000"}}}}"#
            ),
        ])
    func times(_ plain: String, _ typed: String) throws {
        let (one, other) = (
            try imported(exported("a", date: plain)), try imported(list(rest("a", ["sentDate": typed])))
        )
        #expect(one.events == other.events && other.events.count == 2, "\(other.skipped)")
    }

    @Test("Values of every type are known; one that names none, or another, is passed over by document and field")
    func values() throws {
        let more = [
            "a": #"{"nullValue":null}"#, "b": #"{"booleanValue":true}"#, "c": #"{"referenceValue":"projects/p"}"#,
            "d": #"{"bytesValue":"AAE="}"#, "e": #"{"geoPointValue":{"latitude":1,"longitude":2}}"#,
            "f": #"{"arrayValue":{"values":[{"stringValue":"x"},{"mapValue":{}},{"arrayValue":{}}]}}"#,
            "g": #"{"mapValue":{"fields":{"x":{"doubleValue":-1e3},"y":{"nullValue":"NULL_VALUE"}}}}"#,
        ]
        let known = try imported(list(rest("k", more)))
        #expect(known.events.count == 2)
        // Of a chat no event has them: that is said, too.
        #expect(known.skipped == ["a field of a chat that no event has": 7])
        let odd = [
            "a": #""bare""#, "b": #"{"stringValue":7}"#, "c": #"{"colourValue":"red"}"#, "d": "{}",
            "e": #"{"integerValue":"7.5"}"#, "f": #"{"arrayValue":{"values":[{"x":1}]}}"#,
            "g": #"{"doubleValue":"NaN"}"#,
            "h": #"{"mapValue":{"fields":{"x":1}}}"#, "i": #"{"booleanValue":"true"}"#,
            "j": #"{"stringValue":"x","integerValue":"1"}"#, "k": #"{"arrayValue":[]}"#,
        ]
        let passed = try imported(list(rest("k", odd)))
        #expect(passed.events == known.events)
        #expect(passed.skipped == ["a field without a value that names its type": odd.count])
        #expect(passed.places == odd.keys.sorted().map { "k.\($0)" })
        // Of the fields of a chat it leaves the document without one.
        let broken = try imported(list(rest("ok"), rest("k", ["text": #"{"textValue":"x"}"#])))
        #expect(broken.events.count == 2 && Set(broken.places) == ["k", "k.text"])
        #expect(broken.skipped["a document of a chat without text"] == 1)
    }

    @Test("What has an unexpected shape is passed over by its place, in both forms")
    func shapes() throws {
        let documents = [
            "7", #"{"fields":{}}"#, #"{"name":7}"#, #"{"name":"a/b","fields":[]}"#, #"{"name":"a/c"}"#,
        ]
        let answer = try imported(
            #"{"documents":[\#(rest("k")),\#(documents.joined(separator: ","))],"nextPageToken":"x"}"#)
        #expect(
            answer.skipped == [
                "a document without a name": 3, "a document whose fields are no object": 1,
                "a document that is no chat": 1, "the documents of the next page: this is an answer in pages": 1,
            ])
        #expect(
            answer.places.sorted() == [
                "$.documents[1]", "$.documents[2]", "$.documents[3]", "$.documents[4] (b)", "$.nextPageToken", "c",
            ])
        let below = #"{"__collections__":7},"e":{"__collections__":{"x":7,"y":{"z":7}}},"f":{"senderId":"u"}"#
        let nested = try imported(#"{"__collections__":{"chats":{"d":\#(below)}}}"#)
        #expect(nested.events.isEmpty)
        #expect(
            nested.skipped == [
                "collections that are no object": 1, "a collection that is no object": 1,
                "a document that is no object": 1, "a document that is no chat": 3,
            ])
        let start = "$.__collections__.chats."
        #expect(
            nested.places.sorted() == [
                start + "d.__collections__", start + "e.__collections__.x", start + "e.__collections__.y.z", "d", "e",
                "f",
            ])
        // A document that is the root of the export has lost its id.
        let bare = try imported(#"{"text":"x","tags":[1],"__collections__":{}}"#)
        #expect(bare.skipped == ["a field of a document whose id is not there": 2])
        #expect(bare.places.sorted() == ["$.tags", "$.text"])
    }

    @Test("A question without its answer is taken from REST as from an export, where that is asked for")
    func partial() throws {
        let text = list(rest("k", ["botResponse": String?.none]))
        #expect(try imported(text).skipped == ["a question without its botResponse; --partial takes it": 1])
        #expect(try imported(text, ImportOptions(takesPartial: true)).counts == ["message.posted": 1])
    }
}
