import EventStore
import GatewayKit
import Testing

/// S3-13, S3-14, S3-20: what a question and its answer become (docs/reference/GATEWAY.md).
struct TripRecordTests {
    private static let trip = Trip(random: (0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210))

    private func record(
        _ text: String, _ answer: TripAnswer, number: UInt64 = 1, now: Int64 = 1_785_549_735_120
    ) throws -> (record: TripRecord, events: [JSONObject]) {
        let record = TripRecord(
            try TripRequest(Array(text.utf8)), answer, of: Self.trip, number: number, now: now)
        let events = try record.lines.split(separator: 0x0a).map { try JSONObject(validating: Array($0)) }
        return (record, events)
    }

    @Test("A trip is a UUID of version 4, and reads itself")
    func trips() {
        #expect(Self.trip.id == "01234567-89ab-4def-bedc-ba9876543210")
        #expect(Trip(text: Self.trip.id) == Self.trip)
        for text in ["", "x", "01234567-89ab-4def-bedc-ba987654321", Self.trip.id + " ", "trip-" + Self.trip.id] {
            #expect(Trip(text: text) == nil, "\(text)")
        }
    }

    @Test("A question and its answer are two events, the answer's cause is the question")
    func pair() throws {
        let (record, events) = try record(" 1@ 대구", .lines(["1호선", "2호선"]))
        #expect(events.map { $0.string("type") } == ["message.posted", "bot.replied"])
        let (asked, said) = (events[0], events[1])
        #expect(asked.string("author") == "rider-" + Self.trip.id && said.string("author") == "arrive")
        for event in events {
            #expect(event.string("user") == "rider-" + Self.trip.id)
            #expect(event.string("subject") == "conversation/trip-" + Self.trip.id)
        }
        #expect(asked.object("data")?.string("text") == "1@ 대구;")
        #expect(asked.object("data")?.string("protocol") == "arrive/1")
        #expect(asked.object("data")?.integer("code") == 1)
        #expect(asked.object("data")?.object("fields")?.string("city") == "대구")
        #expect(said.string("cause") == asked.string("id") && said.string("id") == record.reply.description)
        #expect(said.object("data")?.string("text") == "1@1호선@2호선")
        #expect(said.object("data")?.string("inReplyTo") == record.question.description)
        #expect(record.alarm == nil && record.rings == nil)
    }

    @Test("S3-13: an alarm has all that the rider has chosen, and when it rings")
    func alarm() throws {
        let (record, events) = try record("3@대구@1호선@설화명곡@안심", .alarm(station: "반야월", minutes: 47))
        #expect(events.count == 3)
        let set = try #require(events.last)
        #expect(set.string("type") == "alarm.set" && set.string("author") == "arrive")
        #expect(set.string("cause") == record.reply.description)
        let data = try #require(set.object("data"))
        let names = ["city", "line", "from", "to", "alarmStation"]
        #expect(names.map { data.string($0) } == ["대구", "1호선", "설화명곡", "안심", "반야월"])
        #expect(data.integer("minutes") == 47)
        #expect(data.string("at") == "2026-08-01T02:02:15.120Z")
        #expect(data.string("rings") == "2026-08-01T02:49:15.120Z")
        let rings: Int64 = 1_785_549_735_120 + 47 * 60_000
        #expect(record.rings == rings)
        #expect(events[1].object("data")?.object("fields")?.string("alarmStation") == "반야월")
    }

    @Test("INV-8: ids follow from trip and number, so that the same lines again are the same events")
    func ids() throws {
        let first = try record("3@대구@1호선@설화명곡@안심", .alarm(station: "반야월", minutes: 47)).record
        let again = try record("3@대구@1호선@설화명곡@안심", .alarm(station: "반야월", minutes: 47)).record
        #expect(first.lines == again.lines)
        #expect(first.reply == EventID(replyTo: first.question, by: "arrive"))
        #expect(first.alarm == EventID(replyTo: first.question, by: "arrive", label: "alarm"))
        #expect(
            first.question
                == EventID(record: "1", of: "sillok-gateway " + Self.trip.conversation, time: 1_785_549_735_120))
        let next = try record("3@대구@1호선@설화명곡@안심", .alarm(station: "반야월", minutes: 47), number: 2).record
        #expect(Set([first.question, first.reply, next.question, next.reply]).count == 4)
    }

    @Test("A question that has no answer is recorded as it was sent")
    func refusals() throws {
        let (_, events) = try record("7@x", .refused(.unknownCode))
        #expect(events.count == 2)
        #expect(events[0].object("data")?.string("text") == "7@x;")
        #expect(events[0].object("data")?["code"] == nil && events[0].object("data")?["fields"] == nil)
        #expect(events[1].object("data")?.string("text") == "9@unknown_code")
        #expect(events[1].object("data")?.integer("code") == 9)
    }

    @Test("S3-16: that an alarm rang, and was stopped, are events of their own, once each")
    func states() throws {
        let alarm = try #require(try record("3@a@b@c@d", .alarm(station: "e", minutes: 1)).record.alarm)
        let rang = try JSONObject(validating: Array(TripRecord.line(.rang, of: alarm, in: Self.trip).dropLast()))
        let stopped = try JSONObject(
            validating: Array(TripRecord.line(.stopped, of: alarm, in: Self.trip).dropLast()))
        #expect(rang.string("type") == "alarm.rang" && stopped.string("type") == "alarm.stopped")
        #expect(
            rang.string("cause") == alarm.description && rang.object("data")?.string("alarm") == alarm.description)
        #expect(rang.string("author") == Self.trip.user)
        #expect(rang.string("id") != stopped.string("id"))
        #expect(TripRecord.line(.rang, of: alarm, in: Self.trip) == TripRecord.line(.rang, of: alarm, in: Self.trip))
    }
}
