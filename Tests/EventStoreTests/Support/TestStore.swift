import Foundation
import TestSupport

@testable import EventStore

func makeStore(name: String = "test") throws -> (TemporaryFolder, EventStore) {
    let folder = TemporaryFolder()
    try EventStore.create(in: folder.path, name: name)
    return (folder, try EventStore(opening: folder.path))
}

extension EventDraft {
    static func message(_ text: String, user: String, conversation: String? = nil) -> EventDraft {
        var payload = Array(#"{"text":"#.utf8)
        JSONText.append(text, to: &payload)
        payload.append(UInt8(ascii: "}"))
        return EventDraft(type: "message.posted", conversation: conversation, user: user, payload: payload)
    }
}
