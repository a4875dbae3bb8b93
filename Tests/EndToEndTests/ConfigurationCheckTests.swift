import Foundation
import TestSupport
import Testing

/// `syncd --check-config` names what a start would refuse (docs/operating/configuration.md).
struct ConfigurationCheckTests {
    private let folder: TemporaryFolder
    private let syncd: Tool

    init() throws {
        folder = try TemporaryFolder.made()
        syncd = try Tool.named("syncd")
    }

    @Test(
        "--check-config names all that is wrong at once: contradictions beside bad values, keys and certificates that are none"
    )
    func allAtOnce() async throws {
        let file = folder.file("all.json5")
        try Data("no PEM".utf8).write(to: URL(filePath: folder.file("c.pem")))
        try """
        { storage: { dir: "\(folder.file("new"))", nope: 1 },
          metrics: { listen: "127.0.0.1:7461" },
          api: { listen: "127.0.0.1:7461" } }
        """.write(toFile: file, atomically: true, encoding: .utf8)
        let contradicted = try await syncd.run(["--config", file, "--check-config"])
        #expect(contradicted.code == 78 && contradicted.errors.contains(":1:"), "\(contradicted.text)")
        #expect(contradicted.errors.contains("nope") && contradicted.errors.contains("are both 127.0.0.1:7461"))
        try """
        { storage: { dir: "\(folder.file("new"))" },
          api: { tls: { certificate: "\(folder.file("c.pem"))", key: "\(folder.file("c.pem"))" },
            jwt: [{ name: "p", issuer: "https://p.example", audience: "a", jwks_file: "/nope.jwks", uid: "{sub}",
              roles_claim: "roles", allow: ["reader"] }] } }
        """.write(toFile: file, atomically: true, encoding: .utf8)
        for (text, said) in [
            (#"storage: { dir: "\#(file)" }"#, "is no folder"),
            (#"storage: { dir: "\#(folder.file("no/where"))" }"#, "there is no folder \(folder.file("no")) to make"),
            (#"peers: { listen: "203.0.113.9:7460" }"#, "EADDRNOTAVAIL"),
            (#"api: { socket: { path: "\#(file)" } }"#, "is not a socket"),
            (#"api: { socket: { path: "\#(folder.file("no/where.sock"))" } }"#, "there is no folder"),
        ] {
            let file = folder.file("place.json5")
            try #"{ \#(text) }"#.write(toFile: file, atomically: true, encoding: .utf8)
            let run = try await syncd.run(["--config", file, "--check-config"])
            #expect(run.code == 78 && run.errors.contains(said), "\(text): \(run.code) \(run.text)\(run.errors)")
            guard text.hasPrefix("storage") else { continue }
            let start = try await syncd.run(["--config", file, "--socket", "none"])
            #expect(start.code == 73 && start.errors.contains(said), "\(text): \(start.code) \(start.errors)")
        }
        let unusable = try await syncd.run(["--config", file, "--check-config", "--json"])
        let lines = unusable.text.split(separator: "\n")
        #expect(unusable.code == 78 && lines.count == 3, "\(unusable.text)\(unusable.errors)")
        #expect(unusable.text.contains("/nope.jwks is not there") && unusable.text.contains("api.tls"))
    }
}
