/// One place among the callers that a ``Listener`` bears before they are let in: in their handshake, or being told that
/// they may not stay.
/// It is given back when the last reference goes, which must happen on the loop thread.
package final class HandshakeTicket {
    /// Ends the connection, because newer callers need its place.
    var onCrowdedOut: (() -> Void)?
    private let giveBack: () -> Void

    init(giveBack: @escaping () -> Void) { self.giveBack = giveBack }

    deinit { giveBack() }
}
