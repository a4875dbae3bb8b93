package import CommandLineKit
package import EventStore

/// When `syncctl backup create` last made a backup of the store, up to where and in what place, kept in a small file of the store: the
/// daemon beside it tells it, too. No program goes by it (docs/reference/FORMATS.md, section 1).
package struct BackupRecord: Hashable, Sendable {
    /// Unix milliseconds, when it was on the disk or the command that took it had ended well.
    package let time: Int64
    /// The backup's name.
    package let id: String
    /// The last position in it.
    package let position: UInt64
    /// The repository; `nil`: a command took it.
    package let repository: String?

    package init(_ id: String, to position: UInt64, in repository: String?, at time: Int64) {
        (self.id, self.position, self.repository, self.time) = (id, position, repository, time)
    }

    /// What the store remembers; `nil` if there is nothing, or nothing that can be read.
    package init?(_ files: StoreFiles) {
        guard let bytes = (try? SmallFile.read(files.backedUp)) ?? nil, let line = try? JSONObject(validating: bytes)
        else { return nil }
        self.init(line)
    }

    /// What ``write(to:)`` has written.
    package init?(_ line: JSONObject) {
        guard let time = line.string("time").flatMap({ Timestamp.milliseconds($0) }), let id = line.string("id"),
            let position = line.integer("position").flatMap({ UInt64(exactly: $0) })
        else { return nil }
        (self.time, self.id, self.position, repository) = (time, id, position, line.string("repository"))
    }

    /// Adds its members to a line.
    package func write(to line: inout JSONLine) {
        line.add("time", Timestamp.text(time))
        line.add("id", id)
        line.add("position", position)
        line.add("repository", repository)
    }

    /// What root keeps in the folder of another user that user can read.
    package func keep(_ files: StoreFiles) throws(StoreError) {
        var line = JSONLine(type: "backup")
        write(to: &line)
        try SmallFile.replace(
            files.backedUp, with: line.utf8 + [UInt8(ascii: "\n")],
            mode: StoreLock.isForeign(files.folder) ? 0o644 : 0o600)
    }
}
