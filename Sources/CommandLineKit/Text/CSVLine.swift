/// Records of comma-separated values (RFC 4180): fields in quotes where they need them, lines that end with CR LF, UTF-8 without a mark.
///
/// Spreadsheets take a field that begins with `=`, `+`, `-` or `@` for a formula, also one with a tab or a line end before it, and the
/// wide forms of these characters. OWASP's advice ("CSV Injection") is an apostrophe in front. So it is done here; a field that begins with
/// an apostrophe gets a second one, and so who takes one away from every field that has one gets what was there.
package enum CSVLine {
    /// A field.
    package enum Field: Sendable, Equatable {
        /// Text from anywhere.
        case text(String)
        /// Digits of ours, which are no formula.
        case number(String)
        /// Nothing.
        case none
    }

    /// JSON as a field. What would become visible in the middle of it has its escapes of JSON instead, so that it stays JSON.
    package static func json(_ bytes: [UInt8]) -> Field {
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.unicodeScalars.contains(where: isEscaped) else { return .text(text) }
        var out = ""
        for scalar in text.unicodeScalars {
            if isEscaped(scalar) {
                out += "\\u00" + String(scalar.value, radix: 16)
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
        return .text(out)
    }

    /// The controls that JSON lets stand in a text.
    private static func isEscaped(_ scalar: Unicode.Scalar) -> Bool { (0x7F...0x9F).contains(scalar.value) }

    /// The record with its line end.
    package static func record(_ fields: [Field]) -> String {
        fields.map(written).joined(separator: ",") + "\r\n"
    }

    private static let dangerous: Set<Unicode.Scalar> = [
        "=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}", "'",
    ]

    private static func written(_ field: Field) -> String {
        switch field {
        case .none: return ""
        case .number(let digits): return digits
        case .text(let text):
            var safe = withoutControls(text)
            if let first = text.unicodeScalars.first, dangerous.contains(first) { safe = "'" + safe }
            let needsQuotes = safe.unicodeScalars.contains { [",", "\"", "\r", "\n", "\t"].contains($0) }
            let hasEdge = safe.unicodeScalars.first == " " || safe.unicodeScalars.last == " "
            return needsQuotes || hasEdge ? "\"" + safe.replacing(scalar: "\"", with: "\"\"") + "\"" : safe
        }
    }

    /// What a terminal would act on becomes visible; line ends and tabs stay.
    private static func withoutControls(_ text: String) -> String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool {
            scalar.properties.generalCategory == .control && !["\t", "\r", "\n"].contains(scalar)
        }
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var out = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar) {
                out += Sanitizer.line(String(scalar))
            } else {
                out.unicodeScalars.append(scalar)
            }
        }
        return out
    }
}
