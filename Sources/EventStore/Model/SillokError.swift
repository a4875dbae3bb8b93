/// What the public functions of `EventStore` and `SyncEngine` throw, as a `StoreError` or a `NodeError`: both have a code.
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
    /// Whether the same call may succeed later without any repair.
    var isRetriable: Bool { get }
    /// One sentence for people.
    var description: String { get }
}

extension StoreError: SillokError {}
