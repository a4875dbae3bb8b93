internal import EventStore

/// A picture or file of an export as an item of `attachments`.
///
/// Its digest always stands there. Its bytes do, too, in base64 as `data`, where the event then still fits; larger ones stay in the export.
enum Picture {
    /// Most bytes that an event carries itself.
    static let mostInline = 160 << 10
    private static let mostRead = 64 << 20
    private static let tooLarge =
        "a picture of more than \(mostInline >> 10) KiB: its digest is taken, and 'syncctl attachment put FILE' brings its bytes"

    /// - Parameters:
    ///   - reader: Its bytes, if the export has them.
    ///   - note: Told what of it is not taken.
    static func payload(
        name: String?, width: Int64? = nil, height: Int64? = nil, bytes: Int64? = nil, reader: ByteReader?,
        _ note: (String) -> Void
    ) throws(ImportError) -> Payload {
        guard let reader else {
            note("a picture that is not in what was given: its name is taken")
            var item = Payload()
            item.add("name", name)
            item.add("bytes", bytes)
            item.add("width", width)
            item.add("height", height)
            return item
        }
        let sha = RunningSHA256()
        var kept: [UInt8] = []
        var count = 0
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let added = try reader.fill(&chunk)
            if added == 0 { break }
            sha.add(chunk[..<added])
            count += added
            if kept.count <= mostInline { kept += chunk[..<added] }
        }
        if count > mostInline { note(tooLarge) }
        return item(name, kept, count, sha.finish(), width, height)
    }

    /// An item of bytes that are at hand.
    static func payload(name: String?, _ bytes: [UInt8], _ note: (String) -> Void) -> Payload {
        if bytes.count > mostInline { note(tooLarge) }
        return item(name, bytes, bytes.count, SHA256().digest(bytes), nil, nil)
    }

    private static func item(
        _ name: String?, _ kept: [UInt8], _ count: Int, _ digest: Digest, _ width: Int64?, _ height: Int64?
    ) -> Payload {
        let size = pngSize(kept)
        var item = Payload()
        item.add("sha256", digest.description)
        item.add("bytes", Int64(count))
        item.add("mediaType", mediaType(kept))
        item.add("name", name)
        item.add("width", width ?? size?.0)
        item.add("height", height ?? size?.1)
        if count <= mostInline { item.add("data", base64Text(kept)) }
        return item
    }

    /// By its first bytes: a category or a name may say something else.
    static func mediaType(_ bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return "image/png" }
        if bytes.starts(with: [0xff, 0xd8, 0xff]) { return "image/jpeg" }
        if bytes.starts(with: "GIF87a".utf8) || bytes.starts(with: "GIF89a".utf8) { return "image/gif" }
        if bytes.count >= 12, bytes.starts(with: "RIFF".utf8), bytes[8..<12].elementsEqual("WEBP".utf8) {
            return "image/webp"
        }
        return nil
    }

    private static func pngSize(_ bytes: [UInt8]) -> (Int64, Int64)? {
        guard mediaType(bytes) == "image/png", bytes.count >= 24 else { return nil }
        func number(_ at: Int) -> Int64 { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int64($1) } }
        return (number(16), number(20))
    }
}
