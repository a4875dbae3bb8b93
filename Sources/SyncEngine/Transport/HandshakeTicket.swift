/// One place among the connections that a ``Listener`` allows to be without a finished handshake.
/// It is given back when the last reference goes, which must happen on the loop thread.
package final class HandshakeTicket {
    /// Ends the connection, because newer callers need its place.
    var onCrowdedOut: (() -> Void)?
    private let giveBack: () -> Void

    init(giveBack: @escaping () -> Void) { self.giveBack = giveBack }

    deinit { giveBack() }
}
