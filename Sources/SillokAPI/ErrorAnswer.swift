package import CommandLineKit
internal import EventStore

/// An error as the body of an answer: `{"type":"error","v":1,"code":…,"message":…,"hint":…}`.
package struct ErrorAnswer: Equatable, Sendable {
    /// One of ``ErrorCode``, or one of a later release.
    package let code: String
    package let message: String
    /// What to try.
    package let hint: String?

    package init(_ code: ErrorCode, _ message: String, hint: String? = nil) {
        self.code = code.rawValue
        self.message = message
        self.hint = hint
    }

    package var line: JSONLine {
        var line = JSONLine(type: "error")
        line.add("code", code)
        line.add("message", message)
        line.add("hint", hint)
        return line
    }

    /// Reads the body of an answer with this status, whatever has sent it.
    package init(body: [UInt8], status: Int) {
        let object = try? JSONObject(validating: body)
        code = object?.string("code") ?? "E_HTTP_\(status)"
        message = object?.string("message") ?? "syncd answered with HTTP status \(status)"
        hint = object?.string("hint")
    }

    /// What a program makes of it that was answered so.
    package func failure(status: Int) -> CommandFailure {
        let exitCode = ErrorCode(rawValue: code)?.exitCode ?? ErrorCode.exitCode(ofStatus: status)
        return CommandFailure(code: code, message, hint: hint, exitCode: exitCode)
    }
}
