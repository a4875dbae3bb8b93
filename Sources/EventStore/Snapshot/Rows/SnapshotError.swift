/// Why a snapshot, or the offer of one, is refused. Nothing of it reaches the log; the node catches up event by event.
package enum SnapshotError: Error, Hashable, Sendable {
    /// Bytes that are not what docs/reference/FORMATS.md §7 says.
    case malformed(String)
    /// An event, its order, dependencies, signature or proof is wrong.
    case event(IngestError)
    /// It holds less than what this node knows to exist.
    case stale(String)
    /// It is of another cluster, or not from the node that offered it.
    case foreign(String)
    /// This node's log has events already that a snapshot would have to be merged with.
    case notEmpty(String)
    /// Another snapshot is being received, or it was cancelled.
    case busy(String)
    /// The disk has no room for it.
    case noSpace(String)
    /// The store could not take it.
    case store(StoreError)

    package init(_ error: DatabaseError) { self = .store(StoreError(error)) }

    /// A stable name for machines.
    package var code: String {
        switch self {
        case .malformed: "E_SNAPSHOT_FORMAT"
        case .event: "E_SNAPSHOT_PROOF"
        case .stale: "E_SNAPSHOT_STALE"
        case .foreign: "E_SNAPSHOT_FOREIGN"
        case .notEmpty: "E_SNAPSHOT_NOT_EMPTY"
        case .busy: "E_SNAPSHOT_BUSY"
        case .noSpace: "E_SNAPSHOT_SPACE"
        case .store: "E_SNAPSHOT_STORE"
        }
    }
}

extension SnapshotError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed(let what): "a malformed snapshot: \(what)"
        case .event(let error): error.description
        case .stale(let what): "a stale snapshot: \(what)"
        case .foreign(let what): "a foreign snapshot: \(what)"
        case .notEmpty(let what), .busy(let what), .noSpace(let what): what
        case .store(let error): error.description
        }
    }
}
