internal import CommandLineKit
internal import EventStore

/// Which time a command was asked about, as it has been understood.
struct TimeRange: Equatable {
    /// From here on, Unix milliseconds.
    var since: Int64?
    /// Up to but not including.
    var until: Int64?
    /// Up to and including: the moment of `--as-of`.
    var asOf: Int64?
    /// The last position of the log that counts, or when the log had what counts.
    var known: Known?

    enum Known: Equatable {
        case position(UInt64)
        case time(Int64)
    }

    /// What the options of that name say. An end before the beginning is refused: it would find nothing without a word.
    init(_ session: Session) throws(CommandFailure) {
        func time(_ option: String, from start: Int64? = nil) throws(CommandFailure) -> Int64? {
            session.has(option) ? try session.time(option, from: start) : nil
        }
        since = try time("since")
        until = try time("until", from: since)
        asOf = try time("as-of")
        if session.has("known-at"), let text = session.arguments.value("known-at") {
            // Times of digits alone have an '@' before them.
            if text.hasPrefix(Session.positionMark) || UInt64(text) != nil {
                // Another node says itself where its log ends.
                let location = session.url == nil ? try StoreLocation.find(for: session) : nil
                let top = try location.map { place throws(CommandFailure) in
                    let log = try place.reader()
                    return try stored { try log.top() }
                }
                known = try session.position("known-at", upTo: top ?? .max).map(Known.position)
            } else {
                known = try session.time("known-at").map(Known.time)
            }
        }
        if let since, let until, since > until {
            throw usageFailure(
                "--since \(session.moment(since)) is after --until \(session.moment(until)) (\(session.zoneName))",
                hint: "the earlier one as --since")
        }
    }

    /// Options of what is asked for as it was at another time.
    static let moments = [EventSelection.asOf, EventSelection.knownAt]

    var isEmpty: Bool { since == nil && until == nil && asOf == nil && known == nil }

    /// The end for a query: `--as-of` is the last moment that counts.
    var end: Int64? {
        let after = asOf.map { $0 == .max ? $0 : $0 + 1 }
        return [until, after].compactMap { $0 }.min()
    }

    /// Of when an answer is asked for.
    var moment: PointInTime {
        var moment = PointInTime()
        moment.asOf = asOf
        switch known {
        case .position(let position)?: moment.knownAt = position
        case .time(let time)?: moment.knownTime = time
        case nil: break
        }
        return moment
    }

    func contains(_ time: Int64) -> Bool {
        if let since, time < since { return false }
        if let end, time >= end { return false }
        return true
    }

    /// `2026-11-22 00:00 to 2026-11-23 00:00 (Asia/Seoul)`, for people.
    func text(_ session: Session) -> String {
        var parts: [String] = []
        let zone = session.zoneName
        switch (since, until) {
        case (let since?, let until?):
            parts.append(session.text(.between, session.moment(since), session.moment(until), zone))
        case (let since?, nil): parts.append(session.text(.from, session.moment(since), zone))
        case (nil, let until?): parts.append(session.text(.before, session.moment(until), zone))
        case (nil, nil): break
        }
        if let asOf { parts.append(session.text(.asOf, session.moment(asOf), zone)) }
        switch known {
        case .position(let position)?: parts.append(session.text(.knownAt, String(position)))
        case .time(let time)?: parts.append(session.text(.knownThen, session.moment(time), zone))
        case nil: break
        }
        return parts.joined(separator: ", ")
    }

    /// Says once how the range was understood. In JSON the last line has it.
    func tell(_ session: Session) {
        if !isEmpty, !session.isJSON { session.say(text(session)) }
    }

    /// The member `range` of the last line, if there is a range.
    func add(to line: inout JSONLine) {
        guard !isEmpty else { return }
        line.addObject("range") { range in
            if let since { range.add("since", Timestamp.text(since)) }
            if let until { range.add("until", Timestamp.text(until)) }
            if let asOf { range.add("as_of", Timestamp.text(asOf)) }
            switch known {
            case .position(let position)?: range.add("known_at", position)
            case .time(let time)?: range.add("known_time", Timestamp.text(time))
            case nil: break
            }
        }
    }
}
