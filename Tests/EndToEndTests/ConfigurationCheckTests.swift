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
        #expect(contradicted.errors.contains("nope") && contradicted.errors.contains("are one place"))
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
            (#"api: { socket: { path: "\#(folder.file("no/where.sock"))" } }"#, "No such file or directory"),
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

    @Test("Flags and variables are checked without a file, as a start takes them; of nothing the file is missed")
    func withoutFile() async throws {
        let place = ["--data-dir", folder.file("s"), "--socket", folder.file("a.sock")]
        let good = try await syncd.run(place + ["--check-config"])
        #expect(good.code == 0 && good.text.hasSuffix("fine\n"), "\(good.text)\(good.errors)")
        var other = syncd
        other.environment["SYNCD_STORAGE__MIN_FRE"] = "1B"
        let bad = try await other.run(place + ["--check-config"])
        #expect(bad.code == 78 && bad.errors.contains("SYNCD_STORAGE__MIN_FREE"), "\(bad.errors)")
        guard access("/etc/syncd", F_OK) != 0 else { return }
        #expect(!good.text.contains("/etc/syncd"))
        let none = try await syncd.run(["--check-config"])
        #expect(none.code == 78 && none.errors.contains("/etc/syncd/syncd.json5"), "\(none.errors)")
    }

    private func check(_ text: String, _ environment: [String: String] = [:]) async throws -> (
        code: Int32, said: String
    ) {
        let file = folder.file("c.json5")
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        var syncd = syncd
        syncd.environment.merge(environment) { $1 }
        let run = try await syncd.run(["--config", file, "--check-config"])
        return (run.code, run.text + run.errors)
    }

    @Test(
        "Places that a start refuses are refused: links, folders of all, long names, ports that another listener has")
    func places() async throws {
        let (link, open) = (folder.file("link"), folder.file("open"))
        symlink("/nowhere/at/all", link)
        mkdir(open, 0o777)
        chmod(open, 0o777)
        for (text, said) in [
            (#"storage: { dir: "\#(link)" }"#, "link that leads nowhere"),
            (#"storage: { dir: "\#(open)" }"#, "others may write in"),
            (#"storage: { dir: "/dev/null/x" }"#, "/dev/null"),
            (#"storage: { dir: "\#(folder.file(String(repeating: "n", count: 256)))" }"#, "File name too long"),
            (#"peers: { listen: "0.0.0.0:7471" }, metrics: { listen: "127.0.0.1:7471" }"#, "7471"),
            (#"api: { listen: "127.0.0.1:7471" }, metrics: { listen: "localhost:7471" }"#, "7471"),
        ] {
            let found = try await check("{ \(text) }")
            #expect(found.code == 78 && found.said.contains(said), "\(text): \(found)")
        }
        let inside = folder.file("new")
        let fine = try await check(
            #"{ storage: { dir: "\#(inside)" }, api: { socket: { path: "\#(inside)/api.sock", group: null } } }"#)
        #expect(fine.code == 0 && !fine.said.contains("note: api:"), "\(fine)")
        let mute = try await check(#"{ storage: { dir: "\#(inside)" }, api: { socket: { path: null } } }"#)
        #expect(mute.code == 0 && mute.said.contains("note: api: neither socket.path nor listen"), "\(mute)")
    }

    @Test("Each fault of a list is named, and each variable that sets nothing")
    func each() async throws {
        let faults = try await check(
            #"{ peers: { nodes: [{ name: "a" }, { address: "x" }] }, api: { socket: { roles: { kim: ["king"], "uid:1": ["queen"] } } } }"#
        )
        for said in ["peer 'a' has no 'id'", "this peer has no 'name'", "'kim' names no one"] {
            #expect(faults.said.contains(said), "\(said): \(faults)")
        }
        #expect(faults.code == 78 && faults.said.components(separatedBy: "a role is").count == 3, "\(faults)")
        for (name, right) in [("SYNCD_LOG_LEVEL", "SYNCD_LOG__LEVEL"), ("SYNCD_API_LISTEN", "SYNCD_API__LISTEN")] {
            // What an orchestrator sets for a service of that name is none of these.
            let found = try await check(
                "{}", [name: "debug", "SYNCD_SERVICE_HOST": "10.0.0.1", "SYNCD_PORT": "tcp://x"])
            #expect(!found.said.contains("SERVICE"))
            #expect(found.code == 78 && found.said.contains(name) && found.said.contains(right), "\(found)")
        }
    }
}
