/// What a later export, or the same one with other options, may tell otherwise of a record that is there already. In every case what
/// was imported first stays.
package enum Variance: Hashable, Sendable {
    /// Nothing: it is there with other content.
    case none
    /// Where it stands in its minute or second, which the order of the file alone says: an export may begin in the middle of one. And the name
    /// that the exporter has there.
    case time(within: Int64)
    /// What it says: an event of its own says how it was changed.
    case content
    /// How a conversation or a profile is described, and when: that is told, with what is there.
    case description
    /// As ``description``, of a profile whose values have no time: what it says is one event whenever it is said.
    case value
}
