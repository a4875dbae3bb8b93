internal import CommandLineKit
internal import EventStore

/// A peer or a subscription, with what metrics tell of it.
struct NodeRow {
    let name: String
    let values: [(name: String, value: Double)]

    subscript(_ name: String) -> Double { values.first { $0.name == name }?.value ?? 0 }

    static func peers(_ reading: MetricsReading) -> [NodeRow] {
        rows(
            reading, "peer",
            [
                ("connected", "syncd_peer_connected"), ("paused", "syncd_peer_paused"),
                ("lacks", "syncd_peer_lacks_events"), ("lacks_oldest_s", "syncd_peer_lacks_oldest_seconds"),
                ("owes", "syncd_peer_owes_events"),
            ])
    }

    static func subscriptions(_ reading: MetricsReading) -> [NodeRow] {
        rows(
            reading, "subscription",
            [
                ("behind", "syncd_subscription_behind_events"), ("open", "syncd_subscription_open_events"),
                ("in_flight", "syncd_subscription_in_flight"), ("oldest_s", "syncd_subscription_oldest_seconds"),
                ("parked", "syncd_subscription_parked"), ("stalled", "syncd_subscription_stalled"),
                ("workers", "syncd_subscription_workers"),
            ])
    }

    /// Those that the first figure names.
    private static func rows(_ reading: MetricsReading, _ label: String, _ figures: [(String, String)]) -> [NodeRow] {
        reading.all(figures[0].1).map { sample in
            let name = sample.label(label)
            return NodeRow(name: name, values: figures.map { ($0.0, reading.value($0.1, label, name) ?? 0) })
        }
    }

    func write(to line: inout JSONLine) {
        line.add("name", name)
        for (key, value) in values { line.add(number: value, as: key) }
    }

    // MARK: For people

    static func table(ofPeers peers: [NodeRow], _ session: Session) -> TextTable {
        var table = TextTable([
            .left(session.heading(.peer)), .left(session.heading(.state)), .right(session.heading(.lacks)),
            .right(session.heading(.oldest)), .right(session.heading(.owes)),
        ])
        for peer in peers {
            let isConnected = peer["connected"] > 0
            let state = session.shown(peer["paused"] > 0 ? .isPaused : isConnected ? .isConnected : .isAway)
            table.add([
                .init(peer.name), .init(state, style: isConnected ? .green : .yellow),
                .init(Figures.grouped(peer["lacks"])), .init(Figures.age(peer["lacks_oldest_s"], session)),
                .init(Figures.grouped(peer["owes"])),
            ])
        }
        return table
    }

    static func table(ofSubscriptions subscriptions: [NodeRow], _ session: Session) -> TextTable {
        var table = TextTable([
            .left(session.heading(.subscription)), .right(session.heading(.behind)), .right(session.heading(.open)),
            .right(session.heading(.out)), .right(session.heading(.oldest)), .right(session.heading(.parked)),
            .right(session.heading(.workers)),
        ])
        for one in subscriptions {
            table.add([
                .init(one.name, style: one["stalled"] > 0 ? .yellow : nil), .init(Figures.grouped(one["behind"])),
                .init(Figures.grouped(one["open"])), .init(Figures.grouped(one["in_flight"])),
                .init(Figures.age(one["oldest_s"], session)),
                .init(Figures.grouped(one["parked"]), style: one["parked"] > 0 ? .yellow : nil),
                .init(Figures.grouped(one["workers"])),
            ])
        }
        return table
    }
}

/// How numbers are shown.
enum Figures {
    static func number(_ value: Double) -> String {
        value.rounded() == value && value.magnitude < 9e15 ? String(Int64(value)) : String(value)
    }

    /// `1,234,567`.
    static func grouped(_ value: some BinaryInteger) -> String {
        var digits = Array(String(value))
        var at = digits.count - 3
        while at > 0 {
            digits.insert(",", at: at)
            at -= 3
        }
        return String(digits)
    }

    static func grouped(_ value: Double) -> String { grouped(UInt64(max(0, min(value, 9e15)))) }

    /// So many a second: with a digit behind the point where there are few.
    static func rate(_ value: Double) -> String {
        guard value < 10 else { return grouped(value.rounded()) }
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    static func age(_ seconds: Double, _ session: Session) -> String {
        seconds > 0 ? session.span(Int64(seconds) * 1_000) : "-"
    }

    /// `3.4 MiB`.
    static func size(_ bytes: Double) -> String {
        var (value, unit) = (bytes, 0)
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        while value >= 1_024, unit < units.count - 1 { (value, unit) = (value / 1_024, unit + 1) }
        return "\(rate(value)) \(units[unit])"
    }
}

extension JSONLine {
    /// Whole numbers without a point.
    mutating func add(number value: Double, as key: String) {
        addRaw(key, value.isFinite ? Figures.number(value) : "null")
    }
}
