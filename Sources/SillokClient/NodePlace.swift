/// Where the API of a node is, and what opens it.
package struct NodePlace: Sendable {
    package enum Address: Sendable {
        /// A Unix socket.
        case socket(String)
        /// `http://` or `https://`, without a slash at its end.
        case url(String)
    }

    package let address: Address
    /// Whether the user named it.
    package let isNamed: Bool
    /// The token that is shown.
    package let token: String?
    /// A PEM file with the certificates that are believed besides the system's.
    package let authorities: String?
    /// Why an auditor reads.
    package let reason: String?

    /// The node whose store is open here.
    package init(_ address: Address) {
        (self.address, isNamed, token, authorities, reason) = (address, false, nil, nil, nil)
    }

    /// A node that the user named.
    package init(named address: Address, token: String?, authorities: String?, reason: String?) {
        (self.address, self.token, self.authorities, self.reason) = (address, token, authorities, reason)
        isNamed = true
    }
}
