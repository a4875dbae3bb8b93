/// The few colours used, as SGR sequences (ECMA-48 §8.3.117). Colour never carries meaning alone.
package enum TextStyle: String, Sendable, CaseIterable {
    /// Headings.
    case bold = "1"
    /// What matters less.
    case dim = "2"
    /// Failures.
    case red = "31"
    /// Good news.
    case green = "32"
    /// Warnings.
    case yellow = "33"
    /// Names and identifiers.
    case cyan = "36"

    /// `text` in this style; an empty text stays empty.
    package func applied(to text: String) -> String {
        text.isEmpty ? text : "\u{1B}[\(rawValue)m\(text)\u{1B}[0m"
    }
}
