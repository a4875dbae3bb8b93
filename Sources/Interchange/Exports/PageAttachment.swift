internal import CommandLineKit
internal import EventStore

/// What a page has of the bytes that an event names.
package enum PageBytes {
    /// All of a picture, as its SHA-256 says; no more than were asked for.
    case picture([UInt8])
    /// A picture with too many bytes for the page, in a file beside it: its path from there.
    case beside(String)
    /// A picture with too many bytes for the page.
    case tooLarge
    /// They are there, and no page draws them.
    case present
    case missing, damaged, erased
}

/// An item of `attachments` on a page: a picture that is drawn, or what it is, with what it shows or says as text.
struct PageAttachment {
    let item: JSONObject
    let language: Language

    private func word(_ word: PageWords, _ values: String...) -> String { word.phrase.text(language, values) }

    private var name: String? { item.string("name") ?? item.string("url") }

    /// Most bytes of a picture that stands in the page.
    static let mostBytes = 2 << 20
    /// Most bytes of all pictures of a page: a browser holds them all.
    static let mostOfPage = 64 << 20

    /// Its bytes as far as the page is to have them: those in the event, else those of the store. What a picture is its own bytes say, not its name.
    ///
    /// - Parameter most: So many of a picture may stand in the page.
    func bytes(
        _ most: Int, from store: (_ digest: Digest, _ item: JSONObject, _ most: Int) -> PageBytes?
    ) -> PageBytes? {
        let digest = item.string("sha256").flatMap { Digest(hexadecimal: $0) }
        if let bytes = item.string("data").flatMap(base64Bytes), bytes.count <= most, Self.picture(bytes) != nil,
            digest.map({ SHA256().digest(bytes) == $0 }) ?? true
        {
            return .picture(bytes)
        }
        return digest.flatMap { store($0, item, most) }
    }

    /// The media type of a picture that a page shows; `nil`: it is none.
    private static func picture(_ bytes: [UInt8]) -> String? {
        guard let type = MediaType.found(in: bytes), type.hasPrefix("image/"), MediaType.inline.contains(type) else {
            return nil
        }
        return type
    }

    func write(_ bytes: PageBytes?, to out: inout PageMarkup) {
        if case .picture(let bytes) = bytes, let type = Self.picture(bytes) { return draw(bytes, type, &out) }
        let type = item.string("mediaType")
        out.raw("<div class=\"file\">\n<p dir=\"auto\">")
        let digest = item.string("sha256").map { "SHA-256 \($0)" }
        let parts = [
            name, type, item.integer("bytes").map { word(.bytes, String($0)) }, duration, digest, state(bytes),
        ].compactMap(\.self)
        out.text(Sanitizer.line("\(word(Self.kind(type))): \(parts.joined(separator: " · "))"))
        if case .beside(let path) = bytes {
            out.raw(" · <a href=\"")
            out.text(path)
            out.raw("\">")
            out.text(word(.beside))
            out.raw("</a>")
        }
        out.raw("</p>\n")
        if let alt = text("alt") {
            out.element("p", "dir=\"auto\"", Sanitizer.line(word(.shows, alt)))
            out.raw("\n")
        }
        if let transcript = text("transcript") {
            out.element("p", "", word(.transcript))
            out.raw("\n")
            out.said(transcript)
        }
        out.raw("</div>\n")
    }

    private func draw(_ bytes: [UInt8], _ type: String, _ out: inout PageMarkup) {
        out.raw("<figure><img alt=\"")
        out.text(Sanitizer.line(text("alt") ?? name ?? word(.picture)))
        out.raw("\"")
        for side in ["width", "height"] {
            if let value = item.integer(side), (1...100_000).contains(value) { out.raw(" \(side)=\"\(value)\"") }
        }
        out.raw(" src=\"data:\(type);base64,\(base64Text(bytes))\">")
        if let name { out.element("figcaption", "dir=\"auto\"", Sanitizer.line(name)) }
        out.raw("</figure>\n")
    }

    private func text(_ member: String) -> String? { item.string(member).flatMap { $0.isEmpty ? nil : $0 } }

    private static func kind(_ type: String?) -> PageWords {
        switch type?.prefix(6) {
        case "image/": .picture
        case "audio/": .voice
        default: .file
        }
    }

    private var duration: String? {
        guard let milliseconds = item.integer("duration_ms"), milliseconds >= 0 else { return nil }
        let seconds = milliseconds / 1_000 % 60
        return word(.duration, "\(milliseconds / 60_000):\(seconds < 10 ? "0" : "")\(seconds)")
    }

    private func state(_ bytes: PageBytes?) -> String? {
        switch bytes {
        case .tooLarge, .beside: word(.tooLarge)
        case .missing: word(.missing)
        case .damaged: word(.damaged)
        case .erased: word(.bytesErased)
        case .picture, .present, nil: nil
        }
    }
}
