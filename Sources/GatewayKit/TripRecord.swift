internal import CommandLineKit
package import EventStore

/// Whose questions they are: a rider on one trip, as long as a connection or a page lasts.
package struct Trip: Hashable, Sendable {
    private let bits: UUIDBits

    /// - Parameter bits: Random ones; they become a UUID of version 4.
    package init(random bits: (UInt64, UInt64)) {
        self.bits = UUIDBits(
            high: bits.0 & ~0xf000 | 0x4000, low: bits.1 & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000)
    }

    /// Reads ``id``.
    package init?(text: String) {
        guard text.utf8.count == 36, let bits = UUIDBits(text: text) else { return nil }
        self.bits = bits
    }

    package var id: String { bits.description }
    package var user: String { "rider-" + id }
    package var conversation: String { "trip-" + id }
}

/// What a question and its answer become: events that are appended together, or not at all.
///
/// All ids follow from the trip and the number of the question, so that who appends them again is told that they are there.
package struct TripRecord: Sendable {
    /// Who answers.
    package static let bot = "arrive"
    /// How the text of a question is to be read.
    package static let protocolName = "arrive/1"

    /// The type of an alarm's event.
    package static let alarmSet = "alarm.set"

    package let question: EventID
    package let reply: EventID
    /// The alarm's event, where the answer is one.
    package let alarm: EventID?
    /// When the alarm rings, Unix milliseconds.
    package let rings: Int64?
    /// Lines of the native form.
    package let lines: [UInt8]

    /// - Parameters:
    ///   - number: Of the question in its trip.
    ///   - now: Unix milliseconds, when it was asked.
    package init(
        _ request: TripRequest, _ answer: TripAnswer, of trip: Trip, number: UInt64, now: Int64
    ) {
        let question = EventID(record: "\(number)", of: "sillok-gateway " + trip.conversation, time: now)
        let reply = EventID(replyTo: question, by: Self.bot)
        (self.question, self.reply) = (question, reply)
        var bytes: [UInt8] = []
        let asked = try? request.question.get()
        Self.line(question, "message.posted", trip, author: trip.user, cause: nil, to: &bytes) { data in
            data.add("text", request.text)
            data.add("protocol", Self.protocolName)
            if let asked {
                data.add("code", asked.code)
                data.addObject("fields") { fields in
                    for (name, value) in asked.fields { fields.add(name, value) }
                }
            }
        }
        Self.line(reply, "bot.replied", trip, author: Self.bot, cause: question, to: &bytes) { data in
            data.add("text", answer.text)
            data.add("code", answer.code)
            data.add("inReplyTo", question.description)
            if case .alarm(let station, let minutes) = answer {
                data.addObject("fields") { fields in
                    fields.add("alarmStation", station)
                    fields.add("minutes", minutes)
                }
            }
        }
        if case .alarm(let station, let minutes) = answer, let asked {
            let alarm = EventID(replyTo: question, by: Self.bot, label: "alarm")
            let rings = now + Int64(minutes) * 60_000
            Self.line(alarm, Self.alarmSet, trip, author: Self.bot, cause: reply, to: &bytes) { data in
                for (name, value) in asked.fields { data.add(name, value) }
                data.add("alarmStation", station)
                data.add("minutes", minutes)
                data.add("at", Timestamp.text(now))
                data.add("rings", Timestamp.text(rings))
            }
            (self.alarm, self.rings) = (alarm, rings)
        } else {
            (alarm, rings) = (nil, nil)
        }
        lines = bytes
    }

    /// What became of an alarm.
    package enum AlarmState: String, CaseIterable, Sendable {
        case rang, stopped
    }

    /// The line of the event that says so; it is stored once, however often it is appended.
    package static func line(_ state: AlarmState, of alarm: EventID, in trip: Trip) -> [UInt8] {
        var bytes: [UInt8] = []
        let id = EventID(replyTo: alarm, by: bot, label: state.rawValue)
        line(id, "alarm." + state.rawValue, trip, author: trip.user, cause: alarm, to: &bytes) { data in
            data.add("alarm", alarm.description)
        }
        return bytes
    }

    private static func line(
        _ id: EventID, _ type: String, _ trip: Trip, author: String, cause: EventID?, to bytes: inout [UInt8],
        _ fill: (inout JSONLine) -> Void
    ) {
        var line = JSONLine()
        line.add("id", id.description)
        line.add("type", type)
        line.add("user", trip.user)
        line.add("author", author)
        line.add("subject", "conversation/" + trip.conversation)
        if let cause { line.add("cause", cause.description) }
        line.addObject("data", fill)
        line.write(to: &bytes)
    }
}
