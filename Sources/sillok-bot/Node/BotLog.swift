internal import CommandLineKit
internal import EventStore

/// One line for each fact, on standard error. No line has what people or models said.
struct BotLog: Sendable {
    let isJSON: Bool

    func info(_ text: String, _ code: String) { write("info", text, code) }
    func warning(_ text: String, _ code: String) { write("warning", text, code) }
    func error(_ text: String, _ code: String) { write("error", text, code) }

    private func write(_ level: String, _ text: String, _ code: String) {
        guard isJSON else {
            Output.message("sillok-bot: \(Sanitizer.line(text))\(level == "info" ? "" : "   [\(code)]")\n")
            return
        }
        var line = JSONLine()
        line.add("time", Timestamp.text(WallClock.now))
        line.add("level", level)
        line.add("code", code)
        line.add("message", text)
        Output.message(line.text + "\n")
    }
}
