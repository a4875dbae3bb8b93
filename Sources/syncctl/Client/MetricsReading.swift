internal import CommandLineKit
internal import EventStore
internal import SillokClient

/// What `GET /metrics` of a node told at one moment.
struct MetricsReading {
    struct Sample {
        let labels: [(name: String, value: String)]
        let value: Double

        func label(_ name: String) -> String { labels.first { $0.name == name }?.value ?? "" }
    }

    /// When it was read, monotonic nanoseconds.
    let time: UInt64
    private var samples: [String: [Sample]] = [:]

    /// Asks the node. No answer reads its log.
    init(_ client: DaemonClient) throws(CommandFailure) {
        let answer = try client.ask(ClientRequest(target: "/metrics", timeout: 5_000))
        self.init(answer.body, time: MonotonicClock.now)
    }

    /// - Parameter text: The format 0.0.4 of Prometheus. Lines that are none are passed over.
    init(_ text: [UInt8], time: UInt64) {
        self.time = time
        for line in text.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
            guard let blank = line.lastIndex(of: UInt8(ascii: " ")),
                let value = Double(String(decoding: line[line.index(after: blank)...], as: UTF8.self))
            else { continue }
            let name = line[..<blank].prefix { $0 != UInt8(ascii: "{") }
            let labels = Self.labels(line[name.endIndex..<blank])
            samples[String(decoding: name, as: UTF8.self), default: []].append(Sample(labels: labels, value: value))
        }
    }

    /// `{a="b",c="d"}`; values may have any character, with a backslash before the quote, the backslash and the line's end (`\n`).
    private static func labels(_ bytes: ArraySlice<UInt8>) -> [(name: String, value: String)] {
        var labels: [(name: String, value: String)] = []
        var rest = bytes.dropFirst()
        while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
            let name = rest[..<equals].drop { $0 == UInt8(ascii: ",") }
            rest = rest[rest.index(after: equals)...].dropFirst()
            var value: [UInt8] = []
            while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
                guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                    value.append(byte)
                    continue
                }
                value.append(escaped == UInt8(ascii: "n") ? UInt8(ascii: "\n") : escaped)
            }
            labels.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
        }
        return labels
    }

    func all(_ name: String) -> [Sample] { samples[name] ?? [] }

    /// The value of a figure without labels; `nil` where the node has none.
    func value(_ name: String) -> Double? { samples[name]?.first?.value }

    /// That of the one whose label is so.
    func value(_ name: String, _ label: String, _ value: String) -> Double? {
        samples[name]?.first { $0.label(label) == value }?.value
    }

    /// As a number of things; `nil` where the node has none.
    func count(_ name: String) -> UInt64? { value(name).map { UInt64(max(0, $0)) } }

    func sum(_ name: String) -> Double { all(name).reduce(0) { $0 + $1.value } }

    /// How a counter has grown since `before`, a second. A node that was started in between counts from 0.
    func rate(_ name: String, since before: MetricsReading) -> Double {
        Self.rate(sum(name) - before.sum(name), sum(name), seconds(since: before))
    }

    /// The same for each value of a label.
    func rates(_ name: String, by label: String, since before: MetricsReading) -> [(String, Double)] {
        func sums(_ reading: MetricsReading) -> [String: Double] {
            reading.all(name).reduce(into: [:]) { $0[$1.label(label), default: 0] += $1.value }
        }
        let (now, then) = (sums(self), sums(before))
        return now.map { ($0.key, Self.rate($0.value - (then[$0.key] ?? 0), $0.value, seconds(since: before))) }
            .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }

    private static func rate(_ grown: Double, _ whole: Double, _ seconds: Double) -> Double {
        seconds > 0 ? (grown < 0 ? whole : grown) / seconds : 0
    }

    private func seconds(since before: MetricsReading) -> Double {
        Double(time - min(time, before.time)) / 1e9
    }

    /// Below how many seconds this share of what was noted since `before` lay: the bound of a range. `nil` where nothing was.
    func quantile(_ share: Double, of name: String, since before: MetricsReading) -> Double? {
        func counts(_ reading: MetricsReading) -> [(bound: Double, count: Double)] {
            reading.all(name + "_bucket").map { (Double($0.label("le")) ?? .infinity, $0.value) }
        }
        let then = counts(before)
        let grown = counts(self).enumerated().map { index, one in
            (one.bound, count: one.count - (index < then.count ? min(then[index].count, one.count) : 0))
        }
        guard let all = grown.last?.count, all > 0 else { return nil }
        return grown.first { $0.count >= all * share }?.0
    }
}
