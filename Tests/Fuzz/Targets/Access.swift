internal import Access
internal import EventStore
internal import SillokAPI
internal import Subscriptions

/// Anyone who reaches the port sends tokens; an operator's file has keys; any node's log has grants.
func fuzzTokens(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    if let token = try? JSONWebToken(text) {
        let points = text.utf8.count { $0 == UInt8(ascii: ".") }
        try promise(points == 2, "a token of other than three parts: \(token)")
    }
    _ = try? JSONWebKeys(bytes)
    _ = AccessToken(text: text)
    if (try? JSONScanner.validateObject(bytes)) != nil, let grant = AccessGrant(JSONObject(validated: bytes)) {
        try promise(!grant.roles.isEmpty, "a grant of no role")
    }
}

/// What is read is what was written.
func fuzzPlaces(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    if let cursor = FeedCursor(text: text) {
        try promise(FeedCursor(text: cursor.text) == cursor, "a cursor of a feed changes: \(text)")
    }
    if let cursor = PageCursor(text: text) {
        try promise(PageCursor(text: cursor.text) == cursor, "a cursor of pages changes: \(text)")
    }
    if let token = DeliveryToken(text: text) {
        try promise(DeliveryToken(text: token.text) == token, "a delivery changes: \(text)")
    }
    if let vector = VersionVector(text: text) {
        try promise(VersionVector(text: vector.text) == vector, "a vector changes: \(text)")
    }
    if let state = SubscriptionState(bytes: bytes) {
        try promise(SubscriptionState(bytes: state.bytes) == state, "a done set changes: \(hexText(bytes))")
    }
    if let note = SignedNote(text) { try promise(SignedNote(note.text) == note, "a note changes: \(text)") }
    if let list = CosignatureList(bytes, of: NodeID(.zero)) {
        try promise(list.bytes == bytes, "a list of cosignatures changes: \(hexText(bytes))")
    }
    let check = ReceiptCheck()
    for line in bytes.split(separator: UInt8(ascii: "\n")) where (try? check.take(Array(line), 0..<line.count)) == nil
    {
        return
    }
    _ = try? check.finish()
}
