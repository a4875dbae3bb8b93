/// One write of a profile field.
public struct ProfileWrite: Hashable, Sendable {
    /// JSON as it was written: text has its quotation marks.
    public let value: String
    /// Who wrote it.
    public let author: String
    /// Display time, Unix milliseconds.
    public let time: Int64
    /// Names the event that says so, on every node.
    public let dot: Dot
    /// Where that event stands in this node's log.
    public let position: UInt64
}

/// A profile field.
public struct ProfileField: Hashable, Sendable {
    /// Its name.
    public let name: String
    /// The write that stands: the last in display order.
    public let winner: ProfileWrite
    /// Other writes that no write since has known of, by display order. Not empty and of other values: a conflict.
    public let concurrent: [ProfileWrite]

    /// Whether people should decide.
    public var isConflict: Bool { concurrent.contains { $0.value != winner.value } }
}
