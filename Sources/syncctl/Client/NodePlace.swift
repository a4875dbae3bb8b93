internal import CommandLineKit
internal import SillokClient

extension NodePlace {
    /// The node that the user named: `unix:<path>`, `http://host:port` or `https://host:port`.
    init(url: String, _ session: Session) throws(CommandFailure) {
        let arguments = session.arguments
        let environment = session.terminal.environment
        guard let address = Address(text: url) else {
            throw usageFailure(
                "--url '\(url)': neither unix:, http:// nor https://",
                hint: "unix:/run/syncd/api.sock, or https://seoul.example:7461")
        }
        let file = (arguments.value("token-file") ?? environment["SYNCCTL_TOKEN_FILE"]).map { CredentialFile($0) }
        let token = try file.map { (file) throws(CommandFailure) in
            try file.secret("a token", hint: "syncctl tokens create writes one: --out FILE")
        }
        let authorities = arguments.value("ca-file") ?? environment["SYNCCTL_CA_FILE"]
        if let authorities, try !AuthoritiesFile(authorities).hasCertificate() {
            throw usageFailure("--ca-file '\(authorities)': no certificate is in it, as PEM")
        }
        self.init(
            named: address, token: token, authorities: authorities,
            reason: arguments.value("reason"))
        guard let file else { return }
        if file.isOpen { session.say(.openFile, file.path) }
        if address.isOpenToOthers {
            throw usageFailure(
                "the token would go to \(url) without encryption", hint: "https://, or a proxy on this machine")
        }
    }
}
