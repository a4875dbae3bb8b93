import EventStore

/// Appends a question and its answer, reads them back, follows the store, and proves it. The article "Append and read".
@MainActor
func appendAndRead(in folder: String) async throws {
    // Opening and closing block: on the main thread or one of your own, not in a task of the pool.
    try EventStore.create(in: folder, name: "seoul")
    let store = try EventStore(opening: folder)
    defer { store.close() }

    let question = EventDraft(
        type: "message.posted", conversation: "c-88", user: "u-1029",
        payload: Array(#"{"text":"어제부터 두통이 심해요"}"#.utf8))
    let outcome = try await store.append([question])[0]
    guard let receipt = outcome.receipt else { throw NotSo("a question is stored: \(outcome)") }

    // The same id with the same content is stored once, however often it is sent.
    var again = question
    again.id = receipt.id
    try expect(await store.append([again]) == [.already(receipt)], "a repeated append is stored once")

    let answer = EventDraft(
        type: "bot.replied", conversation: "c-88", user: "u-1029", author: "medibot", cause: receipt.id,
        payload: Array(#"{"text":"언제부터 아프셨나요?"}"#.utf8))
    _ = try await store.append([answer])

    // Written for a conversation of one event; the answer has come meanwhile.
    let seen = ExpectedVersion(conversation: "c-88", version: 1)
    let late = try await store.append([answer], expecting: seen)[0]
    try expect(
        late == .rejected(.conversationMoved(expected: 1, actual: 2)), "an append may expect what it has seen")

    // Always fresh: a query sees all that was in the log when it began.
    let reader = try EventReader(store)
    let history = try await reader.read { try $0.history(of: "u-1029", limit: 20) }
    for entry in history {
        let event = entry.stored.event
        print("  \(Timestamp.text(entry.key.time))  \(event.header.author)  \(text(event))")
    }
    try expect(
        history.map { text($0.stored.event) } == [
            #"{"text":"언제부터 아프셨나요?"}"#, #"{"text":"어제부터 두통이 심해요"}"#,
        ], "a history has the newest first")
    let older = try await reader.read { try $0.history(of: "u-1029", before: history[0].key) }
    try expect(older.map(\.stored.position) == [receipt.position], "the next page goes on after the first")
    let summary = try await reader.read { try $0.summary(of: "c-88") }
    try expect(summary?.events == 2, "a conversation is counted")
    let found = try await reader.read { try $0.event(receipt.id) }
    try expect(found?.position == receipt.position, "an event is found by its id")

    let page = try await reader.read { try $0.search(SearchQuery(SearchWords("두통"))) }
    try expect(page.hits.map(\.stored.position) == [receipt.position], "a text is found by its words")
    let then = try await reader.read { try $0.asOf(PointInTime(knownAt: receipt.position)).summary(of: "c-88") }
    try expect(then?.events == 1, "a conversation is told as it stood")

    try await follow(store, after: receipt.position)

    let report = try await reader.read { try $0.verify() }
    try expect(report.answer != .contradicted, "every event has the hash it was stored with")
    let held = try await reader.read { try $0.receipt() }
    try expect(held.isSigned && held.position > receipt.position, "a receipt says what the node holds")
}

/// Follows a store while another task appends to it.
func follow(_ store: EventStore, after position: UInt64) async throws {
    let appending = Task {
        for number in 1...100 {
            let draft = EventDraft(type: "note.taken", user: "u-7", payload: Array(#"{"n":\#(number)}"#.utf8))
            _ = try await store.append([draft])
        }
    }
    var last = position
    var seen: EventID?
    for try await stored in store.subscribe(after: last, id: seen) {
        try expect(stored.position == last + 1, "nothing is lost, nothing comes twice", isQuiet: true)
        (last, seen) = (stored.position, stored.event.header.id)
        if text(stored.event) == #"{"n":100}"# { break }
    }
    try await appending.value
    try expect(last == position + 101, "a subscription gives what is stored, then what is committed")
}

/// The payload, as it was sent.
func text(_ event: Event) -> String { String(decoding: event.payload ?? [], as: UTF8.self) }
