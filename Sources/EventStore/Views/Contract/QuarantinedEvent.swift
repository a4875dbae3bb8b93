/// An event that a view refused, or that this release cannot read at all (D13): stored, relayed, and hidden from that
/// view or from all that would interpret it.
package struct QuarantinedEvent: Hashable, Sendable {
    /// Stands for all views.
    package static let everyView = "*"
    /// The name of the quarantine among the digests.
    static let digest = "quarantine"

    package let position: UInt64
    /// Which view, or ``everyView``.
    package let view: String
    package let reason: String
}
