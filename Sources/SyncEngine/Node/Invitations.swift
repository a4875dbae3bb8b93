package import EventStore

/// Invitations that are open, in the store's file `invitations.json`, readable by its owner alone:
/// `{"invitations":[{"token":"<32 hex digits>","until":<Unix seconds>,"name":"…"}]}`.
///
/// ## Concurrency model
/// One lock; the file is written while it is held. Other processes change the file only while no daemon has the store.
package final class Invitations: Sendable {
    package struct Open: Hashable, Sendable {
        package let token: [UInt8]
        /// Unix seconds.
        package let until: Int64
        /// The guest's name here; `nil`: the one it gives itself.
        package let name: String?
    }

    /// Most that may be open at once.
    package static let capacity = 20

    private let files: StoreFiles
    private let open: Lock<[Open]>

    package init(_ files: StoreFiles) throws(StoreError) {
        self.files = files
        open = Lock(try Self.load(files))
    }

    /// Those that have not expired at `now`, Unix seconds.
    package func current(now: Int64) -> [Open] { open.withLock { $0 }.filter { $0.until > now } }

    /// Opens one. The oldest goes when there are ``capacity`` others.
    package func create(name: String?, until: Int64, now: Int64) throws(StoreError) -> Open {
        try open.withLock { open throws(StoreError) in
            let made = Open(token: randomBytes(16), until: until, name: name)
            let changed = open.filter { $0.until > now }.suffix(Self.capacity - 1) + [made]
            try Self.save(Array(changed), files)
            open = Array(changed)
            return made
        }
    }

    /// Uses up the invitation that `proves` says yes to; `nil` if there is none, or only an expired one. It is gone from
    /// the file before this returns.
    package func redeem(now: Int64, _ proves: (_ token: [UInt8]) -> Bool) throws(StoreError) -> Open? {
        try open.withLock { open throws(StoreError) in
            guard let index = open.firstIndex(where: { $0.until > now && proves($0.token) }) else { return nil }
            var changed = open
            let used = changed.remove(at: index)
            try Self.save(changed.filter { $0.until > now }, files)
            open = changed
            return used
        }
    }

    private static func load(_ files: StoreFiles) throws(StoreError) -> [Open] {
        guard let bytes = try SmallFile.read(files.invitations) else { return [] }
        let object: JSONObject
        do { object = try JSONObject(validating: bytes) } catch {
            throw .badFile(
                "\(files.invitations) cannot be read: \(error)",
                wayOut: "move it away, and invite again whoever has not joined yet: syncctl peers invite")
        }
        return (object.elements("invitations") ?? []).compactMap(\.object).compactMap { object in
            guard let token = object.string("token").flatMap({ hexBytes($0) }), token.count == 16,
                let until = object.integer("until")
            else { return nil }
            return Open(token: token, until: until, name: object.string("name"))
        }
    }

    private static func save(_ open: [Open], _ files: StoreFiles) throws(StoreError) {
        var out = Array("{\"invitations\":[".utf8)
        for (index, item) in open.enumerated() {
            out += Array(
                "\(index == 0 ? "\n" : ",\n"){\"token\":\"\(hexText(item.token))\",\"until\":\(item.until)".utf8)
            if let name = item.name {
                out += Array(",\"name\":".utf8)
                JSONText.append(name, to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
        out += Array("\n]}\n".utf8)
        try SmallFile.replace(files.invitations, with: out, mode: 0o600)
    }
}
