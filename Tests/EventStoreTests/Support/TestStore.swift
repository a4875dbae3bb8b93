import Foundation

@testable import EventStore

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        path = FileManager.default.temporaryDirectory.appending(path: "sillok-\(UUID().uuidString)").path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

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
