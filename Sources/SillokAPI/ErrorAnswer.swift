package import CommandLineKit
internal import EventStore

/// An error as the body of an answer: a problem of RFC 9457,
/// `{"type":"urn:sillok:error:E_ROLE","title":"role","status":403,"detail":…,"code":"E_ROLE","hint":…}`.
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

    package static let mediaType = "application/problem+json"
    private static let prefix = "urn:sillok:error:"

    /// Whether the member `type` of an object says that it is one.
    package static func isOne(_ type: String) -> Bool { type == "error" || type.hasPrefix(prefix) }

    /// - Parameter status: Of the answer (RFC 9110 §15).
    package func line(status: Int) -> JSONLine {
        var line = JSONLine()
        line.add("type", Self.prefix + code)
        line.add("title", code.split(separator: "_").dropFirst().joined(separator: " ").lowercased())
        line.add("status", status)
        line.add("detail", message)
        line.add("code", code)
        if let hint { line.add("hint", hint) }
        return line
    }

    /// Reads the body of an answer with this status, whatever has sent it.
    package init(body: [UInt8], status: Int) {
        let object = try? JSONObject(validating: body)
        code = object?.string("code") ?? "E_HTTP_\(status)"
        message = object?.string("detail") ?? object?.string("message") ?? "syncd answered with HTTP status \(status)"
        hint = object?.string("hint")
    }

    /// What a program makes of it that was answered so.
    package func failure(status: Int) -> CommandFailure {
        let exitCode = ErrorCode(rawValue: code)?.exitCode ?? ErrorCode.exitCode(ofStatus: status)
        return CommandFailure(code: code, message, hint: hint, exitCode: exitCode)
    }
}
