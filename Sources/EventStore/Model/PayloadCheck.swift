// What a payload may be, said of the JSON that it is.

extension JSONScanner {
    /// Checks that the bytes may be the payload of an event.
    package static func validateObject(_ bytes: [UInt8]) throws(InvalidEvent) {
        if bytes.count > Limits.payload { throw .payloadTooLarge(bytes: bytes.count) }
        do { try checkObject(bytes) } catch {
            throw .payloadNotJSON(reason: error.reason.rawValue, offset: error.offset)
        }
    }
}

extension JSONObject {
    /// The object in `bytes`, which may be the payload of an event.
    package init(validating bytes: [UInt8]) throws(InvalidEvent) {
        try JSONScanner.validateObject(bytes)
        self.init(validated: bytes)
    }
}
