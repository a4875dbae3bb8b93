/// One write of a profile field.
package struct ProfileWrite: Hashable, Sendable {
    /// JSON as it was written.
    package let value: String
    package let author: String
    /// Display time, Unix milliseconds.
    package let time: Int64
    package let dot: Dot
    package let position: UInt64
}

/// A profile field.
package struct ProfileField: Hashable, Sendable {
    package let name: String
    /// The last writer's value.
    package let winner: ProfileWrite
    /// Other writes that no write since has known of, by display order. Not empty and of other values: a conflict.
    package let concurrent: [ProfileWrite]

    /// Whether people should decide.
    package var isConflict: Bool { concurrent.contains { $0.value != winner.value } }
}
