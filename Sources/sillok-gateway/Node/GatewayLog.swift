internal import CommandLineKit
internal import EventStore

/// One line for each fact, on standard error. No line has what a rider sent, or was answered.
struct GatewayLog: Sendable {
    let isJSON: Bool

    func info(_ text: String, _ code: String) { write("info", text, code) }
    func warning(_ text: String, _ code: String) { write("warning", text, code) }

    /// A question and its answer, by their codes.
    func answered(_ place: String, asked: Int?, answer: String, milliseconds: UInt64) {
        let asked = asked.map { "\($0)" } ?? "-"
        guard isJSON else {
            return Output.message("sillok-gateway: \(place) code \(asked) answer \(answer) in \(milliseconds) ms\n")
        }
        var line = line("info", "answered")
        line.add("connection", place)
        line.add("request", asked)
        line.add("answer", answer)
        line.add("ms", milliseconds)
        Output.message(line.text + "\n")
    }

    private func write(_ level: String, _ text: String, _ code: String) {
        guard isJSON else {
            return Output.message(
                "sillok-gateway: \(Sanitizer.line(text))\(level == "info" ? "" : "   [\(code)]")\n")
        }
        var line = line(level, code)
        line.add("message", text)
        Output.message(line.text + "\n")
    }

    private func line(_ level: String, _ code: String) -> JSONLine {
        var line = JSONLine()
        line.add("time", Timestamp.text(WallClock.now))
        line.add("level", level)
        line.add("code", code)
        return line
    }
}
