import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What events say of attachments: checked when they are appended, kept by a view of its own, and decisive for what goes.
struct AttachmentNamingTests {
    private static func hex(_ number: Int) -> String { SHA256().digest([UInt8(number)]).description }

    private static func item(_ number: Int, _ more: String = "") -> String {
        #"{"sha256":"\#(hex(number))","bytes":\#(number)\#(more)}"#
    }

    private static func posted(
        _ items: [String], user: String = "u", conversation: String? = "c", id: EventID? = nil
    ) -> EventDraft {
        var draft = EventDraft(
            type: "message.posted", conversation: conversation, user: user,
            payload: Array(#"{"text":"사진","attachments":[\#(items.joined(separator: ","))]}"#.utf8))
        draft.id = id
        return draft
    }

    @Test(
        "An item that names bytes is of the one form, or the append is refused with what is wrong",
        arguments: [
            (#"{"sha256":"AB","bytes":1}"#, "sha256"), (#"{"sha256":7,"bytes":1}"#, "sha256"),
            (#"{"sha256":"\#(hex(1).uppercased())","bytes":1}"#, "sha256"), (#"{"sha256":"\#(hex(1))"}"#, "bytes"),
            (#"{"sha256":"\#(hex(1))","bytes":-1}"#, "bytes"), (#"{"sha256":"\#(hex(1))","bytes":1.5}"#, "bytes"),
            (#"{"sha256":"\#(hex(1))","bytes":99999999999999999999}"#, "bytes"),
            (#"{"sha256":"\#(hex(1))","bytes":1,"mediaType":"png"}"#, "mediaType"),
            (#"{"sha256":"\#(hex(1))","bytes":1,"mediaType":3}"#, "mediaType"),
            (#"{"sha256":"\#(hex(1))","bytes":1,"mediaType":"a/b; c"}"#, "mediaType"),
        ])
    func refused(item: String, what: String) throws {
        let (_, store) = try makeStore()
        defer { store.close() }
        let outcome = try #require(try store.appendBlocking([Self.posted([item])]).first)
        guard case .rejected(.invalid(.attachment(let reason))) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason.contains(what) && InvalidEvent.attachment(reason: reason).code == "E_ATTACHMENT_FORM")
    }

    @Test("Items without bytes of their own, empty lists, and other members are as free as ever")
    func free() throws {
        let (_, store) = try makeStore()
        defer { store.close() }
        let drafts = [
            Self.posted([#"{"name":"a.png"}"#]), Self.posted([#"{"sha256":null,"name":"a"}"#]), Self.posted([]),
            Self.posted([Self.item(1, #","mediaType":"image/png","alt":"고양이","width":3,"duration_ms":9,"x":[{}]"#)]),
            EventDraft(type: "custom.thing", user: "u", payload: Array(#"{"attachments":[{"sha256":1}]}"#.utf8)),
        ]
        #expect(try store.appendBlocking(drafts).allSatisfy { $0.receipt != nil })
    }

    @Test(
        "The view answers by bytes, user and conversation; a twin takes the place of another; equal on a rebuild (INV-6)"
    )
    func view() throws {
        let (folder, store) = try makeStore()
        let files = StoreFiles(folder.path)
        _ = try store.appendBlocking([
            Self.posted([Self.item(1), Self.item(2)]), Self.posted([Self.item(1), Self.item(1)], user: "v"),
            EventDraft(
                type: "bot.replied", conversation: "d", user: "u", author: "bot",
                payload: Array(#"{"text":"x","attachments":[\#(Self.item(3))]}"#.utf8)),
            EventDraft(
                type: "profile.changed", user: "u",
                payload: Array(#"{"fields":{"photo":\#(Self.item(4)),"name":"하늘"}}"#.utf8)),
            .message("없음", user: "u"),
        ])
        store.close()
        _ = try Projector.catchUp(files)
        let views = try ViewReader(files)
        func numbers(_ named: [NamedAttachment]) -> [UInt64] { named.map(\.item.bytes) }
        #expect(numbers(try views.attachments(of: .user("u"), limit: 9)) == [4, 3, 2, 1])
        #expect(numbers(try views.attachments(of: .conversation("c"), limit: 9)).sorted() == [1, 1, 2])
        #expect(numbers(try views.attachments(of: .user("nobody"), limit: 9)).isEmpty)
        let named = try views.attachments(naming: SHA256().digest([1]), limit: 9)
        #expect(named.map(\.user) == ["v", "u"] && named.map(\.conversation) == ["c", "c"])
        #expect(try views.isNamed(SHA256().digest([4])) && !views.isNamed(SHA256().digest([9])))
        // In pages of one, nothing is told twice and nothing is left out.
        for owner in [AttachmentOwner.all, .user("u"), .conversation("c")] {
            let whole = try views.attachments(of: owner, limit: 99)
            var pages: [NamedAttachment] = []
            while let next = try views.attachments(of: owner, limit: 1, before: pages.last?.place).first {
                pages.append(next)
                if pages.count > 20 { break }
            }
            #expect(pages == whole, "\(owner)")
        }
        #expect(try ViewsCheck(files).run().differences.isEmpty)
    }

    @Test("An event with a broken item, as a peer may bring it, is quarantined in this view alone")
    func broken() {
        #expect(throws: MalformedAttachment.self) {
            try AttachmentNaming.items(
                type: "message.posted", JSONObject(validated: Array(#"{"attachments":[{"sha256":"x"}]}"#.utf8)))
        }
        #expect(throws: MalformedAttachment.self) {
            try AttachmentNaming.items(
                type: "message.posted",
                JSONObject(
                    validated: Array(
                        #"{"attachments":[\#((0...256).map { Self.item($0 % 200) }.joined(separator: ","))]}"#.utf8)))
        }
    }

    @Test("What events name is wanted until it is here; bytes in the event itself are unpacked")
    func upkeep() throws {
        let (folder, store) = try makeStore()
        defer { store.close() }
        let files = StoreFiles(folder.path)
        let inline = Array("그림".utf8)
        let unpacked = #"{"sha256":"\#(SHA256().digest(inline))","bytes":6,"data":"\#(base64Text(inline))"}"#
        let lie = #"{"sha256":"\#(Self.hex(8))","bytes":6,"data":"\#(base64Text(inline))"}"#
        #expect(try store.attachmentsIfAny() == nil)
        _ = try store.appendBlocking([Self.posted([Self.item(1), unpacked, lie])])
        _ = try Projector.catchUp(files)
        let views = try ViewReader(files)
        let upkeep = AttachmentUpkeep(store, views)
        #expect(try upkeep.follow())
        #expect(try !upkeep.follow())
        let attachments = try #require(try store.attachmentsIfAny())
        #expect(
            Set(try attachments.all(.missing, limit: 9).map(\.digest)) == [
                SHA256().digest([1]), SHA256().digest([8]),
            ])
        let reader = try attachments.open(SHA256().digest(inline))
        #expect(try reader.read(at: 0, most: 99) == inline)
        let writer = try attachments.begin(limit: 9)
        try writer.write([1])
        #expect(try attachments.finish(writer).digest == SHA256().digest([1]))
        #expect(try attachments.standing(of: SHA256().digest([1]))?.state == .present)
    }

    @Test(
        "An erasure takes bytes that only erased events name, zeroed, and leaves those that another event names (INV-11, D27)"
    )
    func erasure() throws {
        let (folder, store) = try makeStore()
        defer { store.close() }
        let files = StoreFiles(folder.path)
        let attachments = try store.attachments()
        let secret = Array("비밀\(UInt64.random(in: 1 << 60 ... .max))".utf8)
        func put(_ bytes: [UInt8]) throws -> String {
            let writer = try attachments.begin(limit: 99)
            try writer.write(bytes[...])
            return try attachments.finish(writer).digest.description
        }
        func named(_ digest: String) -> String { #"{"sha256":"\#(digest)","bytes":9}"# }
        let (own, shared) = (try put(secret), try put([7]))
        _ = try store.appendBlocking([
            Self.posted([named(own), named(shared), Self.item(5)], user: "gone"),
            Self.posted([named(shared)], user: "stays"),
        ])
        _ = try Projector.catchUp(files)
        while try AttachmentUpkeep(store, try ViewReader(files)).follow() {}
        #expect(try attachments.all(.missing, limit: 9).map(\.digest) == [SHA256().digest([5])])
        #expect(ByteScan.find([String(decoding: secret, as: UTF8.self)], in: [files.attachments]).count == 1)

        var erasure = Erasure(subject: .user("gone"))
        (erasure.reason, erasure.who) = ("요청", "kim")
        _ = try store.eraseBlocking([erasure], author: "operator")
        try store.finishErasures()
        #expect(try attachments.all(.leaving, limit: 9).count == 3)
        _ = try Projector.catchUp(files)
        let views = try ViewReader(files)
        // Views that have read the log as it was before it lost more decide nothing, though they are at its end.
        let log = try Connection(path: files.log, mode: .write)
        try log.transaction { () throws(DatabaseError) in try LogUpgrade.noteReread(on: log) }
        #expect(try views.progress() == views.log.top())
        #expect(try AttachmentUpkeep(store, views).settle() == 3)
        _ = try Projector.catchUp(files)
        #expect(try AttachmentUpkeep(store, views).settle() == 0)
        #expect(ByteScan.find([String(decoding: secret, as: UTF8.self)], in: [files.attachments]).isEmpty)
        #expect(try attachments.all(.leaving, limit: 9).isEmpty && attachments.all(.missing, limit: 9).isEmpty)
        let kept = try #require(Digest(hexadecimal: shared))
        #expect(try attachments.standing(of: kept)?.state == .present)
        #expect(try attachments.open(kept).read(at: 0, most: 9) == [7])
        while try AttachmentUpkeep(store, views).follow() {}
        #expect(try attachments.all(.missing, limit: 9).isEmpty)
    }
}
