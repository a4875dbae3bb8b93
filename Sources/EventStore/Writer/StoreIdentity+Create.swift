internal import Glibc

extension StoreIdentity {
    /// Makes an empty store in `files`: key, log, origin and its first event.
    static func create(
        in files: StoreFiles, name: String, cluster: String
    ) throws(StoreError) {
        guard !files.exists else { throw .exists(path: files.folder) }
        try checkName(name, "node name")
        try checkName(cluster, "cluster")
        try makeFolder(files.folder)
        try StoreLock.requirePrivate(files.folder)
        // Where the folder's own folder may not be read, its maker has to see to it.
        do throws(StoreError) { try SmallFile.syncFolder(of: files.folder) } catch {
            guard case .forbidden = error else { throw error }
        }
        let key: SigningKey
        if let pem = try SmallFile.read(files.key) {
            guard let known = SigningKey(pem: pem) else { throw .noEd25519(files.key) }
            key = known
        } else {
            key = SigningKey.generate()
            try SmallFile.replace(files.key, with: key.pem, mode: 0o600)
        }
        // The log gets its name when it is complete: an interrupted creation leaves no half of a store.
        let unfinished = files.folder + "/log.new"
        SmallFile.removeDatabase(unfinished)
        try mapped { () throws(DatabaseError) in
            let connection = try Connection(path: unfinished, mode: .write)
            try connection.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;")
            try Schema.create(on: connection)
            try writeIdentity(key: key, name: name, cluster: cluster, on: connection)
        }
        let made = try LogReader(path: unfinished)
        let identity = try StoreIdentity(made)
        if let head = try made.head(of: identity.origin, atLeast: 1, largest: true) {
            try Mark(
                state: .stopped, incarnation: identity.incarnation, position: try made.top(), head: head.head,
                boot: nil,
                durability: .full, settings: Mark.settings(name: name, cluster: cluster, witness: "")
            ).write(files, key: key)
        }
        guard rename(unfinished, files.log) == 0 else {
            throw .system(files.log)
        }
        try SmallFile.syncFolder(of: files.log)
    }

    /// Makes the node's origin and its first event, and notes whose log it is.
    static func writeIdentity(
        key: SigningKey, name: String, cluster: String, on connection: Connection,
        wall: @escaping WallTime = { WallClock.now }, random: consuming RandomSource = RandomSource()
    ) throws(DatabaseError) {
        try connection.execute("BEGIN IMMEDIATE")
        let incarnation = hexText(withUnsafeBytes(of: random.next().bigEndian) { Array($0) })
        for (key, value) in [("name", name), ("cluster", cluster), ("incarnation", incarnation)] {
            try Schema.setMeta(key, .text(value), on: connection)
        }
        let appender = try Appender(connection: connection, wall: wall, random: random)
        let start = OriginStart(key: key.publicKey, name: name)
        let index = try appender.addOrigin(.random(from: &appender.ids.random), start)
        try Schema.setMeta("origin", .integer(appender.state.origins[index].ref), on: connection)
        appender.setOwn(index)
        try appender.appendStart(start, signedWith: key)
        try appender.seal(with: key.sealer)
        try connection.execute("COMMIT")
    }

    private static func checkName(_ name: String, _ what: String) throws(StoreError) {
        guard PlainName.isOne(name) else { throw .parameter("\(what) '\(name)': a name has \(PlainName.rule)") }
    }

    private static func makeFolder(_ folder: String) throws(StoreError) {
        guard mkdir(folder, 0o700) != 0, errno != EEXIST else { return }
        switch errno {
        case ENOENT:
            let parent = SmallFile.folder(of: folder)
            throw .badFile("there is no folder \(parent) to make \(folder) in", wayOut: "make \(parent) first")
        case EACCES, EPERM: throw .forbidden(path: SmallFile.folder(of: folder))
        default: throw .system(folder)
        }
    }
}
