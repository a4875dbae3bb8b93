internal import Glibc

/// An item of `attachments` in a payload (FORMATS.md, section 5): bytes that are stored apart, by their SHA-256.
package struct AttachmentItem: Hashable, Sendable {
    /// Of the bytes.
    package let digest: Digest
    /// How many bytes there are, as the event says.
    package let bytes: UInt64
    /// What they are, as the event says.
    package let mediaType: String?

    /// Most items of one event that are looked at.
    package static let most = 256
    /// Longest media type, bytes.
    static let longestType = 127

    package init(digest: Digest, bytes: UInt64, mediaType: String?) {
        (self.digest, self.bytes, self.mediaType) = (digest, bytes, mediaType)
    }

    /// Reads an item; `nil` if it names no bytes: items of exports that lack them have no `sha256`.
    ///
    /// - Throws: Why it is of another form, as a sentence.
    package init?(_ value: JSONValue) throws(MalformedAttachment) {
        guard let item = value.object else { throw MalformedAttachment("an item is no object") }
        guard let named = item["sha256"], !named.isNull else { return nil }
        guard let text = named.string, let digest = Digest(hexadecimal: text) else {
            throw MalformedAttachment("sha256 is not 64 lowercase hexadecimal digits")
        }
        guard let count = item.integer("bytes"), count >= 0, count <= Int64(Limits.number) else {
            throw MalformedAttachment("bytes is missing or not a whole number from 0 on")
        }
        let mediaType = item["mediaType"].flatMap { $0.isNull ? nil : $0 }
        if let mediaType {
            guard let text = mediaType.string, Self.isMediaType(text) else {
                throw MalformedAttachment("mediaType is not a type and a subtype, as image/png")
            }
        }
        self.init(digest: digest, bytes: UInt64(count), mediaType: mediaType?.string)
    }

    /// The items of a list, each digest once. What is no list has none.
    ///
    /// - Throws: Why one is of another form.
    package static func items(_ list: JSONValue?) throws(MalformedAttachment) -> [AttachmentItem] {
        guard let list, !list.isNull else { return [] }
        guard let elements = list.elements else { throw MalformedAttachment("it is no list") }
        guard elements.count <= most else { throw MalformedAttachment("more than \(most) items") }
        var items: [AttachmentItem] = []
        for element in elements {
            guard let item = try AttachmentItem(element),
                !items.contains(where: { $0.digest == item.digest })
            else {
                continue
            }
            items.append(item)
        }
        return items
    }

    /// Whether the text is a media type without parameters (RFC 6838 §4.2).
    package static func isMediaType(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return text.utf8.count <= longestType && parts.count == 2
            && parts.allSatisfy { part in !part.isEmpty && part.allSatisfy(isNameByte) }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, 65...90, 97...122: true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "&"),
            UInt8(ascii: "-"),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "+"):
            true
        default: false
        }
    }
}

/// Why an item of `attachments` is none.
package struct MalformedAttachment: Error, Hashable {
    /// A sentence for people.
    package let reason: String
    init(_ reason: String) { self.reason = reason }
}

/// What events say of attachments, by their type.
package enum AttachmentNaming {
    /// Whether a payload may name bytes: nearly none does, and this looks at it as text.
    package static func isLikely(_ payload: [UInt8]) -> Bool {
        payload.withUnsafeBytes { isLikely($0) }
    }

    static func isLikely(_ payload: UnsafeRawBufferPointer) -> Bool { payload.containsDigestName }

    /// The bytes that the payload of an event of this type names: those of `attachments` of a message or an answer, and fields of a
    /// profile that are such items.
    package static func items(type: String, _ payload: JSONObject) throws(MalformedAttachment)
        -> [AttachmentItem]
    {
        switch type {
        case "message.posted", "bot.replied": return try AttachmentItem.items(payload["attachments"])
        case "profile.changed":
            var items: [AttachmentItem] = []
            guard let fields = payload.object("fields") else { return [] }
            for field in fields {
                let value = field.value
                guard value.object?["sha256"] != nil, let item = try AttachmentItem(value),
                    !items.contains(where: { $0.digest == item.digest })
                else { continue }
                guard items.count < AttachmentItem.most else {
                    throw MalformedAttachment("more than \(AttachmentItem.most) items")
                }
                items.append(item)
            }
            return items
        default: return []
        }
    }

    /// Why a payload that is about to be appended is refused, if it is: items that name bytes are of the form that all nodes read.
    static func refusal(type: String, _ payload: [UInt8]) -> String? {
        guard isLikely(payload) else { return nil }
        do throws(MalformedAttachment) {
            _ = try items(type: type, JSONObject(validated: payload))
            return nil
        } catch {
            return error.reason
        }
    }
}

extension UnsafeRawBufferPointer {
    /// `"sha256"`, as a word that is read from memory.
    private static let name = Array(#""sha256""#.utf8).withUnsafeBytes {
        $0.loadUnaligned(as: UInt64.self)
    }

    /// Whether the name of a digest stands somewhere in it: a word for each quotation mark.
    fileprivate var containsDigestName: Bool {
        guard let base = baseAddress else { return false }
        let (name, size) = (Self.name, MemoryLayout<UInt64>.size)
        var start = 0
        while start + size <= count {
            guard let found = memchr(base + start, Int32(UInt8(ascii: "\"")), count - size - start + 1)
            else { return false }
            if UnsafeRawPointer(found).loadUnaligned(as: UInt64.self) == name { return true }
            start = UnsafeRawPointer(found) - base + 1
        }
        return false
    }
}

extension Digest {
    /// The digest of 64 lowercase hexadecimal digits; `nil` for any other text.
    package init?(hexadecimal text: some StringProtocol) {
        guard text.utf8.count == 64,
            text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
            let bytes = hexBytes(text)
        else { return nil }
        self.init(bytes: bytes)
    }
}
