package import CommandLineKit

extension NodePlace {
    /// The node that a program's configuration names. The token is read anew with each call.
    package static func configured(
        url: String, tokenFile: String?, authorities: String?
    ) throws(CommandFailure) -> NodePlace {
        guard let address = Address(text: url) else {
            throw CommandFailure(
                code: "E_CONFIG", "'\(url)' is no node: neither unix:, http:// nor https://",
                hint: "unix:/run/syncd/api.sock, or https://seoul.example:7461", exitCode: .configuration)
        }
        let token = try tokenFile.map { (path) throws(CommandFailure) in
            try CredentialFile(path).secret("a token", hint: "syncctl tokens create writes one: --out FILE")
        }
        if token != nil, address.isOpenToOthers {
            throw CommandFailure(
                code: "E_CONFIG", "the token would go to \(url) without encryption",
                hint: "https://, or a proxy on this machine", exitCode: .configuration)
        }
        return NodePlace(named: address, token: token, authorities: authorities, reason: nil)
    }
}
