import EventStore

/// The lines of the README.
@MainActor
func embedded(in folder: String) async throws {
    try EventStore.create(in: folder, name: "seoul")
    let store = try EventStore(opening: folder)
    let payload = Array(#"{"text":"어제부터 두통이 심해요"}"#.utf8)
    let draft = EventDraft(type: "message.posted", conversation: "c-88", user: "u-1029", payload: payload)
    _ = try await store.append([draft])  // durable when it returns
    let reader = try EventReader(store)
    let history = try await reader.read { try $0.history(of: "u-1029") }  // newest first, always fresh
    for try await stored in store.subscribe(after: 0) {  // what is stored, then what comes
        if stored.event.header.user == "u-1029" { break }
    }
    store.close()
    try expect(history.count == 1, "the lines of the README do what they say")
}
