/// What the public functions of `EventStore` and `SyncEngine` throw; each has a code. It is a ``StoreError``, of
/// `SyncNode` a `NodeError`, and for words that cannot be looked for a ``SearchWords/Refusal``.
///
/// ```swift
/// do {
///     outcomes = try await store.append([draft])
/// } catch where error.isRetriable {
///     // The same draft with the same id again: if it was stored meanwhile the outcome is `already`.
/// }
/// ```
public protocol SillokError: Error, Sendable, CustomStringConvertible {
    /// A stable name for machines, as `E_LOCKED`: docs/reference/ERRORS.md has them all.
    var code: String { get }
    /// Whether the same call may succeed later without any repair of the store.
    ///
    /// So it is for `E_BUSY`, for `E_LOCKED`, which waits for another process to end, and for `E_DISK`, which waits
    /// for room. It is false for `E_CLOSED`: what was closed stays so, and a call succeeds once the store is opened
    /// again.
    var isRetriable: Bool { get }
    /// One sentence for people.
    var description: String { get }
}

extension StoreError: SillokError {}
