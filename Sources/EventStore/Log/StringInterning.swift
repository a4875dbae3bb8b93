/// Interned strings on the writing side: text → small integer. Bounded memory: the cache is emptied when it is full, the
/// table is the truth.
struct StringInterner {
    private var cache = NameTable()
    /// Whether the last text that was not in the cache stood in the table, as most do after a start; later most are new. So
    /// mostly there is one search of the index, not two.
    private var wasStored = false
    /// One actor appends many events, one after another.
    private var lastActor: (actor: EventActor, ref: Int64)?

    /// The ref of an actor's text.
    mutating func ref(_ actor: EventActor, on connection: Connection) throws(DatabaseError) -> Int64 {
        if let lastActor, lastActor.actor == actor { return lastActor.ref }
        let ref = try ref(actor.text, on: connection)
        lastActor = (actor, ref)
        return ref
    }

    mutating func ref(_ text: String, on connection: Connection) throws(DatabaseError) -> Int64 {
        if let known = cache[text] { return known }
        let ref = try stored(text, on: connection)
        cache.insert(text, ref)
        return ref
    }

    private mutating func stored(_ text: String, on connection: Connection) throws(DatabaseError) -> Int64 {
        if wasStored, let ref = try find(text, on: connection) { return ref }
        let insert = try connection.statement("INSERT INTO name(text) VALUES(?) ON CONFLICT DO NOTHING")
        try insert.bind(1, text: Array(text.utf8))
        try insert.run()
        wasStored = connection.changes == 0
        if !wasStored { return connection.lastInsertedRow }
        guard let ref = try find(text, on: connection) else {
            throw .damaged(.table("name"), "a text that is there cannot be found")
        }
        return ref
    }

    private func find(_ text: String, on connection: Connection) throws(DatabaseError) -> Int64? {
        try connection.integer("SELECT ref FROM name WHERE text = ?", .text(text))
    }
}

/// Interned strings and origins on the reading side: small integer → what it stands for.
struct InternedStrings {
    private struct Slot {
        var ref: Int64 = 0
        var text = ""
    }

    /// Most slots: bounds the memory, as texts are short.
    private static let capacity = 1 << 17
    /// How many neighbours are read with a name: refs are given in the order of first use, and a reader of one event reads
    /// the next ones.
    private static let block: Int64 = 16
    /// Refs count from 1, so the slot is the ref without its upper bits; where two meet, the later one stays.
    private var slots = [Slot](repeating: Slot(), count: 1 << 8)
    /// What was asked for by its text.
    private var refs = NameTable()
    private var origins: [Int64: OriginID] = [:]
    private var lastOrigin: (ref: Int64, id: OriginID)?
    private var lastActor: (ref: Int64, actor: EventActor)?

    /// The actor whose text has this ref; `nil` where that is the text of none.
    mutating func actor(_ ref: Int64, on connection: Connection) throws(DatabaseError) -> EventActor? {
        if let lastActor, lastActor.ref == ref { return lastActor.actor }
        guard let actor = EventActor(text: try text(ref, on: connection)) else { return nil }
        lastActor = (ref, actor)
        return actor
    }

    mutating func text(_ ref: Int64, on connection: Connection) throws(DatabaseError) -> String {
        let index = Int(truncatingIfNeeded: ref) & (slots.count - 1)
        if slots[index].ref == ref, ref != 0 { return slots[index].text }
        return try read(ref, on: connection)
    }

    private mutating func read(_ ref: Int64, on connection: Connection) throws(DatabaseError) -> String {
        while ref >= slots.count, slots.count < Self.capacity {
            let known = slots.filter { $0.ref != 0 }
            slots = [Slot](repeating: Slot(), count: slots.count * 2)
            for slot in known { slots[Int(truncatingIfNeeded: slot.ref) & (slots.count - 1)] = slot }
        }
        let select = try connection.statement("SELECT ref, text FROM name WHERE ref >= ? AND ref < ?")
        defer { select.reset() }
        try select.bind(1, ref & ~(Self.block - 1))
        try select.bind(2, (ref & ~(Self.block - 1)) &+ Self.block)
        var found: String?
        while try select.step() {
            let slot = Slot(ref: select.int64(0), text: select.text(1))
            slots[Int(truncatingIfNeeded: slot.ref) & (slots.count - 1)] = slot
            if slot.ref == ref { found = slot.text }
        }
        guard let found else {
            throw .damaged(.table("name"), "there is no name \(ref)")
        }
        return found
    }

    /// The ref of `text`, which it keeps for ever, if it has one.
    mutating func ref(_ text: String, on connection: Connection) throws(DatabaseError) -> Int64? {
        if let known = refs[text] { return known }
        guard let ref = try connection.integer("SELECT ref FROM name WHERE text = ?", .text(text)) else { return nil }
        refs.insert(text, ref)
        return ref
    }

    mutating func origin(_ ref: Int64, on connection: Connection) throws(DatabaseError) -> OriginID {
        if let lastOrigin, lastOrigin.ref == ref { return lastOrigin.id }
        let id: OriginID
        if let known = origins[ref] { id = known } else { id = try readOrigin(ref, on: connection) }
        lastOrigin = (ref, id)
        return id
    }

    private mutating func readOrigin(_ ref: Int64, on connection: Connection) throws(DatabaseError) -> OriginID {
        guard let bits = try connection.first("SELECT id FROM origin WHERE ref = ?", [.integer(ref)], { $0.uuid(0) })
        else { throw .damaged(.table("origin"), "there is no origin \(ref)") }
        origins[ref] = OriginID(bits)
        return OriginID(bits)
    }

    func originRef(_ origin: OriginID, on connection: Connection) throws(DatabaseError) -> Int64? {
        try connection.integer("SELECT ref FROM origin WHERE id = ?", .blob(origin.bytes))
    }
}
