internal import Glibc

/// What a long task shows while it works, as text for stderr. Pure: time comes in, text comes out.
package struct ProgressMeter: Sendable {
    /// In what form.
    package enum Style: Sendable, Equatable {
        /// One line redrawn in place, for a terminal of so many columns.
        case bar(columns: Int)
        /// A line every ten seconds.
        case lines
        /// A JSON line (`"type":"progress"`) every second.
        case json
        /// Nothing.
        case off
    }

    private let style: Style
    private let label: String
    private let unit: String
    private var started: Int64?
    private var shown: Int64?
    private var drawn = 0

    /// A meter for the task `label`, counting `unit` ("events").
    package init(_ label: String, unit: String, style: Style) {
        self.style = style
        self.label = Sanitizer.line(label)
        self.unit = unit
    }

    /// The style that fits: nothing if quiet, JSON if asked for, a bar on a terminal that may be animated, else lines.
    package static func style(terminal: Terminal, json: Bool, quiet: Bool) -> Style {
        if quiet { return .off }
        if json { return .json }
        let animated = terminal.isTerminal(.error) && !terminal.isAccessible && terminal.environment["TERM"] != "dumb"
        return animated ? .bar(columns: terminal.width) : .lines
    }

    /// Tells how far the task is; returns what to write to stderr, or `nil` when it is too early to show anything new.
    ///
    /// - Parameters:
    ///   - done: how much is done.
    ///   - total: how much there is, if known.
    ///   - now: milliseconds of a clock that never goes back.
    package mutating func update(done: UInt64, total: UInt64?, now: Int64) -> String? {
        let begin = started ?? now
        started = begin
        if let last = shown ?? (style == .lines ? begin : nil), now - last < interval { return nil }
        shown = now
        return text(done: done, total: total, elapsed: now - begin)
    }

    /// Shows the last state and ends the line; with a bar that was never drawn, nothing.
    package mutating func finish(done: UInt64, total: UInt64?, now: Int64) -> String? {
        guard let begin = started, shown != nil else { return nil }
        shown = now
        guard let last = text(done: done, total: total, elapsed: now - begin) else { return nil }
        if case .bar = style { return last + "\n" }
        return last
    }

    private var interval: Int64 {
        switch style {
        case .bar: 100
        case .lines: 10_000
        case .json: 1_000
        case .off: .max
        }
    }

    private mutating func text(done: UInt64, total: UInt64?, elapsed: Int64) -> String? {
        let rate = elapsed > 0 ? Double(done) * 1_000 / Double(elapsed) : 0
        let left = remaining(done: done, total: total, rate: rate)
        switch style {
        case .off: return nil
        case .json:
            var line = JSONLine(type: "progress")
            line.add("label", label)
            line.add("unit", unit)
            line.add("done", done)
            if let total { line.add("total", total) }
            line.add("per_second", rate.rounded())
            if let left { line.add("remaining_ms", left) }
            return line.text + "\n"
        case .lines:
            return sentence(done: done, total: total, rate: rate, left: left) + "\n"
        case .bar(let columns):
            return redraw(done: done, total: total, rate: rate, left: left, columns: columns)
        }
    }

    private func sentence(done: UInt64, total: UInt64?, rate: Double, left: Int64?) -> String {
        let share = total.map { " of \($0)" } ?? ""
        let rest = left.map { ", \(TimeSpan.text($0)) left" } ?? ""
        return "\(label): \(done)\(share) \(unit), \(UInt64(rate))/s\(rest)"
    }

    /// Draws over the line before: back to its start, the new text, and spaces over what was longer.
    private mutating func redraw(
        done: UInt64, total: UInt64?, rate: Double, left: Int64?, columns: Int
    ) -> String {
        var line = sentence(done: done, total: total, rate: rate, left: left)
        let room = columns - DisplayWidth.of(line) - 4
        if let total, total > 0, room >= 10 {
            let cells = min(room, 40)
            let filled = Int(Double(cells) * min(1, Double(done) / Double(total)))
            let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: cells - filled)
            line = "[\(bar)] \(line)"
        }
        // The last column stays free: some terminals wrap as soon as it is written.
        line = DisplayWidth.truncate(line, to: max(1, columns - 1))
        let width = DisplayWidth.of(line)
        let padded = DisplayWidth.pad(line, to: drawn)
        drawn = width
        return "\r" + padded
    }

    private func remaining(done: UInt64, total: UInt64?, rate: Double) -> Int64? {
        guard let total, total > done, rate > 0 else { return nil }
        let milliseconds = Double(total - done) / rate * 1_000
        return milliseconds < 1e15 ? Int64(milliseconds) : nil
    }
}

/// A ``ProgressMeter`` that reads the clock and writes to stderr by itself.
package struct Progress {
    private var meter: ProgressMeter

    /// Shows the task `label`, counting `unit`.
    package init(_ label: String, unit: String, style: ProgressMeter.Style) {
        meter = ProgressMeter(label, unit: unit, style: style)
    }

    /// Tells how far the task is. Cheap: it may be used for every item.
    package mutating func update(done: UInt64, total: UInt64?) {
        if let text = meter.update(done: done, total: total, now: Self.now()) { Output.message(text) }
    }

    /// Ends the display.
    package mutating func finish(done: UInt64, total: UInt64?) {
        if let text = meter.finish(done: done, total: total, now: Self.now()) { Output.message(text) }
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}
