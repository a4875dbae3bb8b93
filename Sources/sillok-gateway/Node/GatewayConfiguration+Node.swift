internal import CommandLineKit
internal import SillokClient

extension GatewayConfiguration.Node {
    /// The node. The token is read anew with each call.
    func place() throws(CommandFailure) -> NodePlace {
        try NodePlace.configured(url: url, tokenFile: tokenFile, authorities: authorities)
    }

    /// Refuses what would make each request fail: what is wrong with address and files is told at the start.
    func check() throws(CommandFailure) {
        _ = try place()
        if let authorities { try AuthoritiesFile(authorities).requireCertificate() }
    }
}
