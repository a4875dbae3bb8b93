import Foundation
import TestSupport
import Testing

/// The API over TCP, with TLS: certificates that are believed, are renewed while it runs, and end. `Certificates` has two of them for
/// localhost, made with `openssl req -x509` for a hundred years.
@Suite(.serialized)
struct TLSListenerTests {
    private func file(_ name: String) -> String {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Certificates/\(name)").path
    }

    @Test(
        "A token opens it to those who believe the certificate; a new one counts after SIGHUP; figures say when it ends"
    )
    func listener() async throws {
        let folder = try TemporaryFolder.made()
        let (certificate, key) = (folder.file("cert.pem"), folder.file("key.pem"))
        func install(_ name: String) throws {
            for (from, to) in [(file(name + ".pem"), certificate), (file(name + ".key"), key)] {
                try Data(contentsOf: URL(filePath: from)).write(to: URL(filePath: to))
            }
        }
        try install("first")
        let port = try freePort()
        let daemon = try DaemonProcess("n")
        try daemon.start(
            isTalking: true,
            environment: [
                "SYNCD_API__LISTEN": "127.0.0.1:\(port)", "SYNCD_API__TLS__CERTIFICATE": certificate,
                "SYNCD_API__TLS__KEY": key,
            ])
        let api = APIClient(socket: daemon.store + "/api.sock")
        let made = try #require(
            api.ask("POST", "/v1/credentials", body: #"{"principal":"app/x","roles":["app"]}"#)?.1.first)
        let token = folder.file("token")
        try Data((try #require(made["token"] as? String) + "\n").utf8).write(to: URL(filePath: token))

        let tool = try Tool.named("syncctl")
        func asked(_ scheme: String = "https", believing name: String? = "first", token: String?) async throws
            -> Tool.Run
        {
            var words = ["whoami", "--url", "\(scheme)://localhost:\(port)", "--json"]
            if let name { words += ["--ca-file", file(name + ".pem")] }
            if let token { words += ["--token-file", token] }
            return try await tool.run(words)
        }
        var run = try await asked(token: token)
        for _ in 0..<50 where run.code != 0 { run = try await asked(token: token) }
        #expect(run.code == 0 && run.text.contains(#""app""#), "\(run)")
        let stranger = try await asked(token: nil)
        #expect(stranger.code == 77 && stranger.errors.contains("E_UNAUTHENTICATED"), "\(stranger)")
        #expect(stranger.errors.contains("--token-file FILE") && !stranger.errors.contains("Bearer"), "\(stranger)")
        for (scheme, name) in [("https", nil), ("https", "second")] as [(String, String?)] {
            let refused = try await asked(scheme, believing: name, token: token)
            #expect(refused.code == 69, "\(scheme) \(name ?? "-"): \(refused)")
        }
        // Who speaks plainly is told so, and not by a connection that breaks off.
        let plain = try await asked("http", token: token)
        #expect(plain.code == 65 && plain.errors.contains("this port speaks TLS: https://"), "\(plain)")
        let figures = try #require(api.ask("GET", "/metrics")?.2)
        #expect(figures.contains("syncd_certificate_not_after_timestamp_seconds 4949082235"), "\(figures)")
        #expect(figures.contains(#"syncd_auth_failures_total{method="none",reason="missing"} 1"#))

        // A key of another certificate changes nothing, and is told; a whole pair does.
        try Data(contentsOf: URL(filePath: file("second.key"))).write(to: URL(filePath: key))
        daemon.signal(SIGHUP)
        waitWhile(!daemon.said.contains("reload refused"))
        #expect(daemon.said.contains("reload refused"))
        let still = try await asked(token: token)
        #expect(still.code == 0, "\(still)")
        try install("second")
        daemon.signal(SIGHUP)
        var renewed = try await asked(believing: "second", token: token)
        for _ in 0..<50 where renewed.code != 0 { renewed = try await asked(believing: "second", token: token) }
        #expect(renewed.code == 0, "\(renewed)")
        let before = try await asked(token: token)
        #expect(before.code == 69, "\(before)")
        #expect(daemon.terminate() == 0)
    }

    @Test("Without TLS only a loopback address can be listened at; one of a pair is refused, and what is no pair")
    func configuration() async throws {
        let folder = try TemporaryFolder.made()
        var tool = try Tool.named("syncd")
        for (more, word) in [
            (["SYNCD_API__LISTEN": "0.0.0.0:7461"], "TLS"), (["SYNCD_API__TLS__KEY": file("first.key")], "not both"),
            (
                ["SYNCD_API__TLS__CERTIFICATE": file("first.pem"), "SYNCD_API__TLS__KEY": file("second.key")],
                "key values mismatch"
            ),
            (
                ["SYNCD_API__TLS__CERTIFICATE": file("first.pem"), "SYNCD_API__TLS__KEY": file("first.pem")],
                "api.tls: read "
            ),
        ] {
            tool.environment.merge(more) { $1 }
            let run = try await tool.run(["--check-config", "--dev"], in: folder.path)
            #expect(run.code == 78 && run.errors.contains(word), "\(run)")
            for name in more.keys { tool.environment[name] = nil }
        }
    }
}
