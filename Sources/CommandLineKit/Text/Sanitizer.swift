/// Makes text from strangers safe to print: what could move the cursor, recolour, reorder or hide text is shown as an
/// escape (`\x1b`, `\u{202e}`) instead.
///
/// Escaped are C0 and C1 controls and DEL, and every invisible format character: bidi controls, zero-width characters outside emoji
/// sequences, and tags. So are line and paragraph separators; private use characters and noncharacters (stand-ins for broken input); a
/// variation selector that selects nothing. The result is for eyes: only ``plain(_:)`` can be turned back into the original without
/// doubt.
package enum Sanitizer {
    /// Text that must stay on one line: newline and tab become `\n` and `\t`.
    package static func line(_ text: String) -> String {
        sanitize(text, keepingLines: false, escapingBackslash: false)
    }

    /// Text that may have several lines: newline and tab are kept.
    package static func lines(_ text: String) -> String {
        sanitize(text, keepingLines: true, escapingBackslash: false)
    }

    /// One cell of tab-separated output: like ``line(_:)``, and a backslash becomes two, so it can be read back.
    package static func plain(_ text: String) -> String {
        sanitize(text, keepingLines: false, escapingBackslash: true)
    }

    private static func sanitize(_ text: String, keepingLines: Bool, escapingBackslash: Bool) -> String {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) && !(escapingBackslash && $0 == UInt8(ascii: "\\")) }) {
            return text
        }
        // Not its view of scalars: appending several to that copies all of it.
        var result = ""
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            if keepingLines && (scalar == "\n" || scalar == "\t") {
                result.unicodeScalars.append(scalar)
            } else if scalar == "\\" && escapingBackslash {
                result += "\\\\"
            } else if isHarmless(scalar, at: index, of: scalars) {
                result.unicodeScalars.append(scalar)
            } else {
                result += escape(scalar)
            }
        }
        return result
    }

    private static func isHarmless(_ scalar: Unicode.Scalar, at index: Int, of scalars: [Unicode.Scalar]) -> Bool {
        let value = scalar.value
        if (0x20..<0x7F).contains(value) { return true }
        if value < 0xA0 { return false }
        if scalar == "\u{200D}" { return joinsEmoji(at: index, of: scalars) }
        if scalar.properties.isVariationSelector {
            return index > 0 && !scalars[index - 1].properties.isVariationSelector
        }
        // Letters by their category, which show nothing where no syllable is made of them.
        if value == 0x3164 || value == 0xFFA0 { return false }
        switch scalar.properties.generalCategory {
        case .format: return DisplayWidth.of(scalar) > 0 && value != 0xAD
        case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: return false
        case .unassigned:
            return !scalar.properties.isNoncharacterCodePoint && !scalar.properties.isDefaultIgnorableCodePoint
        default: return true
        }
    }

    /// Whether the zero-width joiner at `index` stands between two emoji, as in a family (UTS #51, ED-16).
    private static func joinsEmoji(at index: Int, of scalars: [Unicode.Scalar]) -> Bool {
        var before = index - 1
        while before > 0, scalars[before] == "\u{FE0F}" || scalars[before].properties.isEmojiModifier {
            before -= 1
        }
        guard before >= 0, index + 1 < scalars.count else { return false }
        return isPictograph(scalars[before]) && isPictograph(scalars[index + 1])
    }

    private static func isPictograph(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value > 0xFF && scalar.properties.isEmoji
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return "\\n"
        case "\t": return "\\t"
        case "\r": return "\\r"
        default: break
        }
        let digits = String(scalar.value, radix: 16)
        if scalar.value < 0x100 {
            return digits.count == 1 ? "\\x0" + digits : "\\x" + digits
        }
        return "\\u{\(digits)}"
    }
}
