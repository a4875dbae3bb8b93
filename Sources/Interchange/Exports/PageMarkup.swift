internal import CommandLineKit

/// HTML, piece by piece. All text goes through ``text(_:)``: nothing that was said becomes markup.
struct PageMarkup {
    private(set) var bytes: [UInt8] = []

    /// Adds markup of ours.
    mutating func raw(_ markup: String) { bytes += markup.utf8 }

    /// Adds text. What would reorder or hide other text, and controls, become visible.
    mutating func text(_ text: String) {
        for byte in Sanitizer.lines(text.replacing("\r\n", with: "\n")).utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            default: bytes.append(byte)
            }
        }
    }

    /// `<name attributes>text</name>`
    mutating func element(_ name: String, _ attributes: String = "", _ inside: String) {
        raw(attributes.isEmpty ? "<\(name)>" : "<\(name) \(attributes)>")
        text(inside)
        raw("</\(name)>")
    }

    /// The beginning of a page, up to the open list of what it is about; `language` by its code.
    mutating func head(_ title: String, language: String) {
        raw(
            """
            <!doctype html>
            <html lang="\(language)">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(PageStyle.policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta name="color-scheme" content="light dark">

            """)
        element("title", "", title)
        raw("\n<style>\(PageStyle.css)</style>\n</head>\n<body>\n<header>\n")
        element("h1", "dir=\"auto\"", title)
        raw("\n<dl>\n")
    }

    /// A text as it was said: its lines, its direction, its language, its `https` addresses as links.
    mutating func said(_ said: String, _ element: String = "div", _ name: String = "text") {
        raw("<\(element) class=\"\(name)\" dir=\"auto\"\(Self.isKorean(said) ? " lang=\"ko\"" : "")>")
        var rest = said[...]
        while let found = rest.firstBytes(of: "https://") {
            text(String(rest[..<found.lowerBound]))
            let address = Self.address(rest[found.lowerBound...])
            if address.utf8.count > "https://".utf8.count {
                raw("<a rel=\"noreferrer noopener\" href=\"")
                text(String(address))
                raw("\">")
                text(String(address))
                raw("</a>")
            } else {
                text(String(address))
            }
            rest = rest[address.endIndex...]
        }
        text(String(rest))
        raw("</\(element)>\n")
    }

    /// The address at the beginning of a text: ASCII alone, so that what is shown is what is opened, without the point behind it.
    private static func address(_ text: Substring) -> Substring {
        var end = text.startIndex
        for index in text.indices {
            guard let byte = text[index].asciiValue, byte > 0x20, byte < 0x7f,
                !"<>\"'`\\^{|}".utf8.contains(byte)
            else { break }
            end = text.index(after: index)
        }
        var address = text[..<end]
        while let last = address.last, ".,:;!?)]*_".contains(last) { address.removeLast() }
        return address.count < "https://".count ? text.prefix("https://".count) : address
    }

    /// Whether it has Hangul in it: fonts and voices follow from that.
    static func isKorean(_ text: String) -> Bool {
        text.unicodeScalars.contains { (0xac00...0xd7a3).contains($0.value) || (0x1100...0x11ff).contains($0.value) }
    }
}
