/// What bytes are, by the first of them: who sends them may say something else, and browsers act on it.
package enum MediaType {
    /// What is known of nothing.
    package static let unknown = "application/octet-stream"
    /// Files within a file, as older office programs make them.
    private static let compound = "application/x-ole-storage"
    /// So many of the first bytes are looked at.
    package static let looked = 512
    /// What a page may show in place: no code runs in any of them.
    package static let inline: Set<String> = [
        "image/png", "image/jpeg", "image/webp", "image/gif", "audio/mpeg", "audio/mp4", "video/webm", "audio/webm",
        "audio/ogg",
    ]

    /// By the first bytes; `nil` where those do not tell.
    package static func found(in bytes: some Collection<UInt8>) -> String? {
        let bytes = Array(bytes.prefix(looked))
        func begins(_ signature: [UInt8], at offset: Int = 0) -> Bool {
            bytes.dropFirst(offset).starts(with: signature)
        }
        func begins(_ text: StaticString, at offset: Int = 0) -> Bool {
            let signature = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            return bytes.dropFirst(offset).starts(with: signature)
        }
        if begins([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return "image/png" }
        if begins([0xff, 0xd8, 0xff]) { return "image/jpeg" }
        if begins("GIF87a") || begins("GIF89a") { return "image/gif" }
        if begins("RIFF"), begins("WEBP", at: 8) { return "image/webp" }
        if begins("RIFF"), begins("WAVE", at: 8) { return "audio/wav" }
        if begins("ID3") || isMPEGAudio(bytes) { return "audio/mpeg" }
        if begins("ftypM4A", at: 4) || begins("ftypM4B", at: 4) { return "audio/mp4" }
        if begins("ftypheic", at: 4) || begins("ftypmif1", at: 4) { return "image/heic" }
        if begins("ftypavif", at: 4) { return "image/avif" }
        if begins("ftypqt  ", at: 4) { return "video/quicktime" }
        if begins("ftyp", at: 4) { return "video/mp4" }
        if begins([0x1a, 0x45, 0xdf, 0xa3]) { return bytes.containsText("webm") ? "video/webm" : "video/x-matroska" }
        if begins("OggS") { return "audio/ogg" }
        if begins("%PDF-") { return "application/pdf" }
        if begins([0x50, 0x4b, 0x03, 0x04]) { return "application/zip" }
        if begins([0x1f, 0x8b]) { return "application/gzip" }
        if begins([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]) { return compound }
        if begins("#!") { return "application/x-sh" }
        if begins("MZ") { return "application/vnd.microsoft.portable-executable" }
        if begins([0x7f, 0x45, 0x4c, 0x46]) { return "application/x-executable" }
        return markup(bytes)
    }

    /// The media type of bytes: by the first of them where those tell, else as who sends them says. That counts for none that the first
    /// bytes would have told.
    package static func name(of bytes: some Collection<UInt8>, declared: String?) -> String {
        if let found = found(in: bytes) { return found }
        guard let declared, !told.contains(declared.prefix { $0 != ";" }.lowercased()) else { return unknown }
        return declared
    }

    /// Types that always begin alike, beside ``inline``.
    private static let told = inline.union([
        "image/heic", "image/avif", "audio/wav", "video/mp4", "video/quicktime", "video/x-matroska",
        "application/pdf",
        "application/zip", "application/gzip",
    ])

    /// As what bytes are given out: what the first of them tell, not what an event claims. A claim counts where they tell nothing that it
    /// would show in, and where they tell no more than how a file is packed, as of an office document.
    package static func served(_ bytes: some Collection<UInt8>, claimed: String?) -> String {
        let found = found(in: bytes)
        guard let claim = claimed?.lowercased(), !inline.contains(claim), !shown.contains(claim) else {
            return found ?? unknown
        }
        return found.map { packings.contains($0) ? claim : $0 } ?? claim
    }

    /// Types that the first bytes would show, beside ``inline``, and such as a browser might run.
    private static let shown: Set<String> = [
        "text/html", "application/xhtml+xml", "image/svg+xml", "text/xml", "application/xml", "text/javascript",
        "application/javascript", "application/pdf", "application/zip", "application/gzip",
    ]
    /// What many types of files are packed as.
    private static let packings: Set<String> = ["application/zip", "application/gzip", "video/mp4", compound]

    /// Whether a list of types, as `image/png` and `image/*`, has this one; an empty list has all.
    package static func isAllowed(_ type: String, by list: [String]) -> Bool {
        let type = type.lowercased()
        return list.isEmpty
            || list.contains { entry in
                let entry = entry.lowercased()
                return entry == type || entry == "*/*" || entry.hasSuffix("/*") && type.hasPrefix(entry.dropLast())
            }
    }

    /// A frame of MPEG audio without a head before it: eleven bits set, a version and a layer that exist.
    private static func isMPEGAudio(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 4 && bytes[0] == 0xff && bytes[1] & 0xe0 == 0xe0 && bytes[1] & 0x18 != 0x08
            && bytes[1] & 0x06 != 0 && bytes[2] & 0xf0 != 0xf0
    }

    /// What a browser could take for a page, behind blanks and a byte order mark.
    private static func markup(_ bytes: [UInt8]) -> String? {
        var rest = bytes[...]
        if rest.starts(with: [0xef, 0xbb, 0xbf]) { rest = rest.dropFirst(3) }
        rest = rest.drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
        guard rest.first == UInt8(ascii: "<") else { return nil }
        let text = String(decoding: rest, as: UTF8.self).lowercased()
        if text.contains("<svg") { return "image/svg+xml" }
        let tags = [
            "<!doctype html", "<html", "<head", "<body", "<script", "<iframe", "<!--", "<title", "<h1", "<div", "<p>",
            "<a ",
        ]
        if tags.contains(where: text.hasPrefix) { return "text/html" }
        return text.hasPrefix("<?xml") ? "text/xml" : nil
    }
}

extension [UInt8] {
    fileprivate func containsText(_ text: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return indices.contains { self[$0...].starts(with: wanted) }
    }
}
