import Testing

@testable import EventStore
@testable import SyncEngine

/// Attachments between two sessions: one piece at a time, behind every event, and only between nodes that both can.
struct AttachmentSessionTests {
    private let a = AttachmentSessionTests.local(1)
    private let b = AttachmentSessionTests.local(2)
    private let digest = SHA256().digest([1, 2, 3])

    private static func local(_ number: UInt64) -> SyncSession.Local {
        SyncSession.Local(
            StoreIdentity(
                node: NodeID(SHA256().digest([UInt8(number)])), name: "n\(number)",
                cluster: "default", origin: OriginID(UUIDBits(high: number, low: number)), incarnation: number),
            software: "test")
    }

    private func moment(_ milliseconds: UInt64 = 0) -> Moment {
        Moment(monotonic: 1_000 + milliseconds, wall: 1_760_000_000_000)
    }

    /// A session of `a` with `b`, open.
    private func opened(
        features: Features = [.attachments], theirs: Features = [.attachments], mine: UInt64 = 0
    ) -> SyncSession {
        let progress = mine == 0 ? [] : [OriginProgress(origin: a.origin, seq: mine, rootPrefix: 7)]
        var session = SyncSession(local: a, remote: b.node, progress: LocalVector(progress), features: features)
        var effects: [SessionEffect] = []
        session.started(now: moment(), effects: &effects)
        var hello = Hello(cluster: b.cluster, node: b.node, incarnation: b.incarnation, clock: moment().wall)
        hello.features = theirs
        session.frameReceived(Message.hello(hello).frame(compress: false), now: moment(), effects: &effects)
        session.frameReceived(Message.vector([]).frame(compress: false), now: moment(), effects: &effects)
        return session
    }

    private func messages(_ effects: [SessionEffect]) throws -> [Message] {
        try effects.compactMap { if case .send(let frame, _) = $0 { try Message(frame: frame) } else { nil } }
    }

    private func asks(_ effects: [SessionEffect]) throws -> [AttachmentAsk] {
        try messages(effects).compactMap { if case .attachmentAsk(let ask) = $0 { ask } else { nil } }
    }

    private func inspections(_ effects: [SessionEffect]) -> [(RequestID, Inspection)] {
        effects.compactMap { if case .inspect(let id, let it) = $0 { (id, it) } else { nil } }
    }

    private func told(_ ask: AttachmentAsk, _ bytes: [UInt8], total: UInt64) -> Frame {
        Message.attachmentTold(AttachmentTold(digest: ask.digest, offset: ask.offset, total: total, bytes: bytes))
            .frame(compress: false)
    }

    @Test("What is wanted is asked for piece by piece, each where the last one ended; quick ones grow")
    func asking() throws {
        var session = opened()
        var effects: [SessionEffect] = []
        session.attachmentsWanted(now: moment(), effects: &effects)
        let (id, question) = try #require(inspections(effects).first)
        #expect(question == .nextAttachment(b.node, nil))
        // Once more changes nothing while the shell chooses.
        effects = []
        session.attachmentsWanted(now: moment(), effects: &effects)
        #expect(effects.isEmpty)
        session.inspected(
            id, .success(.nextAttachment(.init(digest: digest, offset: 100))), now: moment(), effects: &effects)
        let first = try #require(try asks(effects).first)
        #expect(first.offset == 100 && first.most == UInt32(AttachmentExchange.least))
        effects = []
        session.frameReceived(told(first, [1, 2], total: 200), now: moment(10), effects: &effects)
        let (next, kept) = try #require(inspections(effects).first)
        #expect(
            kept == .nextAttachment(b.node, AttachmentTold(digest: digest, offset: 100, total: 200, bytes: [1, 2])))
        effects = []
        session.inspected(
            next, .success(.nextAttachment(.init(digest: digest, offset: 102))), now: moment(10), effects: &effects)
        let second = try #require(try asks(effects).first)
        #expect(second.offset == 102 && second.most == UInt32(2 * AttachmentExchange.least))
        // A slow one makes the next smaller.
        effects = []
        session.frameReceived(told(second, [1], total: 200), now: moment(5_000), effects: &effects)
        let (third, _) = try #require(inspections(effects).first)
        effects = []
        session.inspected(
            third, .success(.nextAttachment(.init(digest: digest, offset: 103))), now: moment(5_000),
            effects: &effects)
        #expect(try asks(effects).first?.most == UInt32(AttachmentExchange.least))
    }

    @Test("A peer that does not answer is given up, and its late answer is passed over")
    func late() throws {
        var session = opened()
        var effects: [SessionEffect] = []
        session.attachmentsWanted(now: moment(), effects: &effects)
        let (id, _) = try #require(inspections(effects).first)
        session.inspected(
            id, .success(.nextAttachment(.init(digest: digest, offset: 0))), now: moment(), effects: &effects)
        let ask = try #require(try asks(effects).first)
        #expect(try #require(session.nextDeadline) <= moment(10_000).monotonic)
        effects = []
        session.timerFired(now: moment(10_000), effects: &effects)
        let (next, question) = try #require(inspections(effects).first)
        #expect(question == .nextAttachment(b.node, AttachmentTold(lacking: ask)))
        effects = []
        session.inspected(next, .success(.nextAttachment(nil)), now: moment(10_000), effects: &effects)
        session.frameReceived(told(ask, [1], total: 1), now: moment(11_000), effects: &effects)
        #expect(inspections(effects).isEmpty && session.hello != nil)
    }

    @Test(
        "The peer's question waits until no event is to be sent and none is on its way; two at once end the session")
    func answering() throws {
        var session = opened(mine: 5)
        var effects: [SessionEffect] = []
        let ask = AttachmentAsk(digest: digest, offset: 0, most: 1 << 20)
        session.frameReceived(Message.attachmentAsk(ask).frame(compress: false), now: moment(), effects: &effects)
        // The five events are being read for the peer.
        #expect(inspections(effects).isEmpty)
        let read = RequestID(number: 1)
        let events = Frame(type: MessageType.events.rawValue, body: [UInt8](repeating: 0, count: 1_000))
        var number = read.number
        while case .open(_, let outgoing, _) = session.state, outgoing.reading != nil, number < 50 {
            let frame = OutgoingFrame(
                frame: events, events: 5, advanced: [Dot(origin: a.origin, seq: 5)], through: 9, isAtTop: true)
            session.eventsRead(RequestID(number: number), .success(frame), now: moment(), effects: &effects)
            number += 1
        }
        #expect(inspections(effects).isEmpty, "an event is on its way")
        session.frameReceived(
            Message.credit(UInt64(events.count)).frame(compress: false), now: moment(5), effects: &effects)
        let (id, question) = try #require(inspections(effects).first)
        #expect(question == .attachment(ask, most: WireLimits.attachmentPiece))
        effects = []
        session.inspected(
            id, .success(.attachment(AttachmentTold(digest: digest, offset: 0, total: 3, bytes: [1, 2, 3]))),
            now: moment(5), effects: &effects)
        guard case .send(let frame, .data) = try #require(effects.first) else {
            Issue.record("\(effects)")
            return
        }
        #expect(frame.type == MessageType.attachmentTold.rawValue)
        effects = []
        for _ in 0..<2 {
            session.frameReceived(
                Message.attachmentAsk(ask).frame(compress: false), now: moment(6), effects: &effects)
        }
        guard case .closed(.failed(let failure)) = session.state else {
            Issue.record("two questions at once")
            return
        }
        #expect(failure.code == .rateLimited)
    }

    @Test("With a node of an earlier release nothing is asked, and its frames of that kind are out of turn")
    func earlier() throws {
        for (mine, theirs) in [(Features.attachments, Features([])), ([], .attachments)] {
            var session = opened(features: mine, theirs: theirs)
            var effects: [SessionEffect] = []
            session.attachmentsWanted(now: moment(), effects: &effects)
            #expect(effects.isEmpty && !session.takesAttachments)
            let ask = AttachmentAsk(digest: digest, offset: 0, most: 1)
            session.frameReceived(Message.attachmentAsk(ask).frame(compress: false), now: moment(), effects: &effects)
            guard case .closed(.failed(let failure)) = session.state else {
                Issue.record("taken")
                return
            }
            #expect(failure.code == .badFrame)
        }
    }
}
