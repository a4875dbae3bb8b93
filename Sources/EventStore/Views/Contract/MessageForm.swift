/// Whether a payload is that of a message: with a text, or without one beside attachments. Read in place and only as far as needed,
/// for every message passes here.
enum MessageForm {
    /// Why it is none, if so.
    static func refusal(_ payload: UnsafeRawBufferPointer) -> String? {
        var scanner = JSONTextScanner<ByteView>(ByteView(payload))
        var hasAttachments = false
        do throws(JSONError) {
            try scanner.start()
            try scanner.openObject()
            var isFirst = true
            while let name = try scanner.nextName(isFirst: isFirst) {
                isFirst = false
                let first = scanner.peek()
                if JSONText.equal(name, "text", of: scanner.bytes) {
                    return first == UInt8(ascii: "\"") ? nil : "text is not text"
                }
                let value = try scanner.value()
                if JSONText.equal(name, "attachments", of: scanner.bytes) {
                    hasAttachments = first == UInt8(ascii: "[") && !scanner.isEmptyList(value)
                }
            }
        } catch {}
        return hasAttachments ? nil : "text is missing"
    }
}

extension JSONTextScanner {
    /// Whether the list in `range`, which was passed before, has no elements.
    fileprivate func isEmptyList(_ range: Range<Int>) -> Bool {
        bytes[(range.lowerBound + 1)..<(range.upperBound - 1)].allSatisfy(isBlank)
    }
}
