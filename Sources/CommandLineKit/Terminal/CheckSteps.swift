/// Tells what came of each step of a program's `check`: 'ok', or what is wrong and what helps.
package struct CheckSteps {
    private let output: Output
    private let isJSON: Bool
    /// Of the first step that failed.
    private var failure: CommandFailure?

    package init(_ output: Output, isJSON: Bool) { (self.output, self.isJSON) = (output, isJSON) }

    /// Runs a step, and tells what it found. Returns whether it was fine.
    @discardableResult
    package mutating func step(
        _ name: String, _ body: () throws(CommandFailure) -> String
    ) throws(CommandFailure) -> Bool {
        let found: String
        do throws(CommandFailure) { found = try body() } catch {
            try tell(name, error.what, error)
            failure = failure ?? error
            return false
        }
        try tell(name, found, nil)
        return true
    }

    /// The code that the program ends with: that of the first step that failed.
    package func end() throws(CommandFailure) -> ExitCode {
        if isJSON { try output.line(JSONLine(type: "end")) }
        return failure?.exitCode ?? .success
    }

    /// Where hints stand: behind a name and how it came out.
    private static let (nameWidth, indent) = (14, 19)

    private func tell(_ step: String, _ text: String, _ failure: CommandFailure?) throws(CommandFailure) {
        guard isJSON else {
            let hint = failure?.hint.map { "\n" + String(repeating: " ", count: Self.indent) + "Try: " + $0 } ?? ""
            let name = step + String(repeating: " ", count: max(1, Self.nameWidth - step.count))
            return try output.line("\(name)\(failure == nil ? "ok  " : "!!  ") \(Sanitizer.lines(text + hint))")
        }
        var line = JSONLine(type: "check")
        line.add("step", step)
        line.add("ok", failure == nil)
        line.add("message", text)
        if let failure {
            line.add("code", failure.code)
            line.add("hint", failure.hint)
        }
        try output.line(line)
    }
}
