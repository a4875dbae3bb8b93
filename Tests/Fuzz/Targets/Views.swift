internal import EventStore

/// The first byte says which type of event, the next ones its user, conversation, time and cause; then comes its payload.
func fuzzViews(_ bytes: [UInt8]) throws {
    let world = try ViewWorld.shared()
    var script = Script(bytes)
    var draft = EventDraft(type: ViewWorld.types[script.below(ViewWorld.types.count)], user: "", payload: [])
    draft.user = "u\(script.below(8))"
    if script.bool() { draft.author = "u\(script.below(8))" }
    if script.bool() { draft.conversation = "c\(script.below(8))" }
    if script.bool() { draft.time = Int64(bitPattern: script.number()) }
    if script.bool() { draft.cause = EventID(UUIDBits(high: 0, low: UInt64(script.below(8)))) }
    if script.bool() { draft.id = EventID(UUIDBits(high: 0, low: UInt64(script.below(8)))) }
    draft.payload = script.remainder()
    let user = draft.user
    _ = try world.space.store.appendBlocking([draft])
    try world.projector.catchUp()
    let top = try world.projector.top()
    try promise(world.projector.position == top, "the views stand at \(world.projector.position) of \(top)")
    var query = TimelineQuery()
    query.limit = .last(5)
    try world.reader.history(user: user, query) { _ in true }
}

/// A store with views, made anew before it grows large.
private final class ViewWorld {
    static let types = [
        "conversation.started", "conversation.renamed", "participant.joined", "participant.left", "message.posted",
        "message.edited", "message.retracted", "bot.replied", "survey.answered", "profile.changed", "user.erased",
        "origin.started", "bot.failed", "message.read", "app.own",
    ]

    let space: FuzzStore
    let projector: Projector
    let reader: ViewReader
    private var uses = 0

    private nonisolated(unsafe) static var made: ViewWorld?

    /// Targets are run one at a time.
    static func shared() throws -> ViewWorld {
        if let made, made.uses < 5_000 {
            made.uses += 1
            return made
        }
        made?.space.remove()
        let world = try ViewWorld()
        made = world
        return world
    }

    private init() throws {
        space = try FuzzStore("views")
        try space.store.flushBlocking()
        projector = try Projector(space.store.files)
        try projector.catchUp()
        reader = try ViewReader(space.store.files)
    }
}
