import CommandLineKit
import Foundation
import Testing

@testable import syncd

private let idA = String(repeating: "0a", count: 32)
private let idB = String(repeating: "0b", count: 32)

private func load(
    _ text: String?, environment: [String: String] = [:], flags: [(name: String, value: String)] = []
) -> LoadedConfiguration {
    ConfigurationSources(path: "syncd.json5", text: text, environment: environment, flags: flags).load()
}

@Suite struct ConfigurationTests {
    @Test func nothingGivenIsTheBuiltIn() {
        let loaded = load(nil)
        #expect(loaded.configuration == DaemonConfiguration())
        #expect(loaded.problems == [])
        #expect(loaded.effective().allSatisfy { $0.origin == .builtIn })
        #expect(load("{}").configuration == DaemonConfiguration())
    }

    @Test func theExampleShowsEveryKeyAtItsDefault() throws {
        let text = try String(contentsOfFile: "Examples/syncd.json5", encoding: .utf8)
        let loaded = load(text)
        #expect(loaded.problems == [])
        #expect(loaded.configuration == DaemonConfiguration())
        for value in loaded.effective() {
            guard case .file = value.origin else {
                Issue.record("\(value.path) is not in the example")
                continue
            }
        }
    }

    @Test("With --dev the socket is its user's alone, wherever it lies")
    func developmentSocket() throws {
        for (words, path) in [([], "/store/api.sock"), (["--socket", "/run/x.sock"], "/run/x.sock")] {
            guard case .run(let arguments) = try Syncd.table.parse(["--dev", "/store"] + words) else {
                Issue.record("\(words) is understood")
                continue
            }
            let socket = try Settings(arguments).configuration.api.socket
            #expect(socket.path == path && socket.mode == 0o600 && socket.group == nil)
        }
    }

    @Test func everyKeyIsRead() {
        let loaded = load(
            """
            {
              node: { name: 'seoul-1', cluster: 'clinic' },
              storage: { dir: '/srv/log', durability: 'normal', min_free: '512MiB' },
              api: { socket: { path: null, mode: '0600', group: null }, max_body: '64KiB' },
              peers: { listen: '[::]:7460', nodes: [
                { name: 'busan-1', address: '203.0.113.7:7460', id: '\(idA.uppercased())' },
                { name: 'tokyo-1', address: null, id: '\(idB)' },
              ], snapshot_after: 5, offer_snapshots: false },
              log: { level: 'debug' },
            }
            """)
        #expect(loaded.problems == [])
        var expected = DaemonConfiguration()
        expected.node = .init(name: "seoul-1", cluster: "clinic")
        expected.storage = .init(dir: "/srv/log", durability: .normal, minFree: 512 << 20)
        expected.api = .init(socket: .init(path: nil, mode: 0o600, group: nil), maxBody: 65_536)
        expected.peers.listen = NetworkAddress("[::]:7460")
        expected.peers.nodes = [
            .init(name: "busan-1", address: NetworkAddress("203.0.113.7:7460"), id: idA),
            .init(name: "tokyo-1", address: nil, id: idB),
        ]
        expected.peers.snapshotAfter = 5
        expected.peers.offerSnapshots = false
        expected.log.level = .debug
        #expect(loaded.configuration == expected)
    }

    @Test func theStrongerSourceWins() {
        let loaded = load(
            "{\n storage: { dir: '/file', min_free: '1GiB' },\n node: { name: 'file' } }",
            environment: [
                "SYNCD_STORAGE__DIR": "/environment", "SYNCD_NODE__NAME": "environment",
                "SYNCD_API__SOCKET__PATH": "none", "SYNCD_STORAGE__WITNESS": "null", "PATH": "/bin",
            ], flags: [("--data-dir", "/flag")])
        #expect(loaded.problems == [])
        #expect(loaded.configuration.storage.dir == "/flag")
        #expect(loaded.configuration.node.name == "environment")
        #expect(loaded.configuration.storage.minFree == 1 << 30)
        #expect(loaded.configuration.api.socket.path == nil)
        let origins = Dictionary(
            uniqueKeysWithValues: loaded.effective().map { ($0.path, "\($0.value) \($0.origin)") })
        #expect(origins["storage.dir"] == "\"/flag\" --data-dir")
        #expect(origins["node.name"] == "\"environment\" SYNCD_NODE__NAME")
        #expect(origins["storage.min_free"] == "\"1GiB\" syncd.json5:2:37")
        #expect(origins["api.socket.path"] == "null SYNCD_API__SOCKET__PATH")
        #expect(loaded.configuration.storage.witness == .none)
        #expect(origins["storage.witness"] == "null SYNCD_STORAGE__WITNESS")
        #expect(origins["log.level"] == "\"info\" built-in")
    }

    @Test func whatIsShownCanBeReadBack() throws {
        let loaded = load(
            nil,
            environment: [
                "SYNCD_PEERS__NODES": "[{name:'b',id:'\(idA)'}, {name:'c', address:'[::1]:1', id:'\(idB)'}]",
                "SYNCD_STORAGE__MIN_FREE": "1025B", "SYNCD_API__SOCKET__MODE": "0007",
            ], flags: [("--peer-listen", "0.0.0.0:7460"), ("--node-name", "none"), ("--log-level", "error")])
        #expect(loaded.problems == [])
        for value in loaded.effective() {
            let parts = value.path.split(separator: ".")
            let text = parts.map { "{\($0):" }.joined() + value.value + String(repeating: "}", count: parts.count)
            let again = load(text)
            #expect(again.problems == [])
            #expect(again.effective().first { $0.path == value.path }?.value == value.value)
        }
        #expect(loaded.configuration.peers.nodes.count == 2)
    }

    @Test(arguments: [
        ("{", "1:2: expected a name or '}', but the text ends"),
        ("[]", "1:1: the configuration must be an object, not an array"),
        ("{storage: 5}", "1:11: 'storage' must be an object, not a number"),
        ("{api: {socket: null}}", "1:16: 'api.socket' must be an object, not null"),
        ("{storage: {min_fre: '2GiB'}}", "1:12: unknown key 'storage.min_fre'; did you mean 'min_free'?"),
        ("{storge: {}}", "1:2: unknown key 'storge'; did you mean 'storage'?"),
        ("{socket: {}}", "1:2: unknown key 'socket'"),
        ("{node: {max_body: '1MiB'}}", "1:9: unknown key 'node.max_body'; did you mean 'api.max_body'?"),
        (
            "{storage: {min_free: 2147483648}}",
            "1:22: storage.min_free: a size needs a unit; write it as a string like \"2GiB\""
        ),
        ("{api: {max_body: '0B'}}", "1:18: api.max_body: expected at least 4KiB, not 0B"),
        ("{api: {max_body: '1KiB'}}", "1:18: api.max_body: expected at least 4KiB, not 1KiB"),
        ("{storage: {min_free: '200'}}", "1:22: storage.min_free: '200' needs a unit, like \"200MiB\""),
        (
            "{storage: {min_free: '2 parsecs'}}",
            "1:22: storage.min_free: '2 parsecs' is no size; write a whole number and B, KiB, MiB, GiB or TiB"
        ),
        (
            "{storage: {min_free: '99999999999TiB'}}",
            "1:22: storage.min_free: '99999999999TiB' is too large; at most 1024TiB"
        ),
        (
            "{peers: {snapshot_after: '7'}}", "1:26: peers.snapshot_after: expected a whole number, not a string"
        ),
        ("{peers: {snapshot_after: 1.5}}", "1:26: peers.snapshot_after: expected a whole number from 0 to 2^53"),
        ("{peers: {snapshot_after: -1}}", "1:26: peers.snapshot_after: expected a whole number from 0 to 2^53"),
        ("{peers: {offer_snapshots: 1}}", "1:27: peers.offer_snapshots: expected true or false, not a number"),
        ("{storage: {min_free: true}}", "1:22: storage.min_free: expected a string, not true or false"),
        ("{storage: {dir: 'data'}}", "1:17: storage.dir: expected an absolute path, not 'data'"),
        ("{storage: {dir: ''}}", "1:17: storage.dir: expected a string that is not empty"),
        ("{storage: {dir: '/a\\0b'}}", "1:17: storage.dir: control characters are not allowed"),
        ("{storage: {dir: null}}", "1:17: storage.dir: expected a string, not null"),
        (
            "{storage: {durability: 'ful'}}",
            "1:24: storage.durability: 'ful' is not one of \"full\", \"normal\"; did you mean \"full\"?"
        ),
        (
            "{log: {level: 'loud'}}",
            "1:15: log.level: 'loud' is not one of \"error\", \"warning\", \"info\", \"debug\""
        ),
        (
            "{api: {socket: {mode: 660}}}",
            "1:23: api.socket.mode: write the mode as a string of octal digits, like \"0660\""
        ),
        (
            "{api: {socket: {mode: '0888'}}}",
            "1:23: api.socket.mode: '0888' is no mode; write octal digits, like \"0660\""
        ),
        (
            "{api: {socket: {mode: '7777'}}}",
            "1:23: api.socket.mode: '7777' is no mode; write octal digits, like \"0660\""
        ),
        (
            "{node: {name: 'a b'}}",
            "1:15: node.name: 'a b' is no name; it has 1 to 64 bytes without blanks, slashes and control characters"
        ),
        ("{node: {name: 5}}", "1:15: node.name: expected a string, not a number"),
        ("{peers: {listen: '7460'}}", "1:18: peers.listen: '7460' is no address; write HOST:PORT or [IPV6]:PORT"),
        ("{peers: {nodes: {}}}", "1:17: peers.nodes: expected an array, not an object"),
        ("{peers: {nodes: [\n5]}}", "2:1: peers.nodes: expected an object, not a number"),
        ("{peers: {nodes: [{name: 'b'}]}}", "1:18: peers.nodes: peer 'b' has no 'id'"),
        ("{peers: {nodes: [{id: '\(idA)'}]}}", "1:18: peers.nodes: this peer has no 'name'"),
        (
            "{peers: {nodes: [{name: 'b',\n adress: 'x:1', id: '\(idA)'}]}}",
            "2:2: peers.nodes: unknown key 'adress'; did you mean 'address'?"
        ),
        (
            "{peers: {nodes: [{name: 'b', id: '12'}]}}",
            "1:34: peers.nodes: '12' is no node id; it has 64 hexadecimal digits"
        ),
        (
            "{peers: {nodes: [{name:'b', id:'\(idA)'},\n{name:'b', id:'\(idB)'}]}}",
            "2:1: peers.nodes: the name 'b' stands twice"
        ),
        (
            "{peers: {nodes: [{name:'b', id:'\(idA)'},\n{name:'c', id:'\(idA.uppercased())'}]}}",
            "2:1: peers.nodes: the id of 'b' stands twice"
        ),
    ])
    func problems(text: String, expected: String) {
        let loaded = load(text)
        #expect(loaded.problems.map(\.description) == ["syncd.json5:" + expected])
    }

    @Test func allProblemsAreReported() {
        let loaded = load(
            "{ node: { name: 5, nmae: 1 },\n  storage: { dir: 'x', min_free: 7 },\n  extra: 1 }",
            environment: ["SYNCD_LOG__LEVEL": "loud", "SYNCD_LOG__LEVLE": "info", "SYNCD_PEERS__NODES": "[1"],
            flags: [("--socket", "relative"), ("--bogus", "x")])
        #expect(
            loaded.problems.map { "\($0.origin)" } == [
                "syncd.json5:1:17", "syncd.json5:1:20", "syncd.json5:2:19", "syncd.json5:2:34", "syncd.json5:3:3",
                "SYNCD_LOG__LEVEL", "SYNCD_LOG__LEVLE", "SYNCD_PEERS__NODES", "--socket", "--bogus",
            ])
        #expect(loaded.problems[6].message == "this variable sets no configuration; did you mean SYNCD_LOG__LEVEL?")
        #expect(loaded.configuration == DaemonConfiguration(), "what is wrong changes nothing")
    }

    @Test func hostileTextInProblemsIsShownSafely() {
        let loaded = load("{ '\\x1b[2J': 1 }")
        #expect(loaded.problems.map(\.description) == ["syncd.json5:1:3: unknown key '\\x1b[2J'"])
    }

    @Test func spansNeedAUnit() throws {
        func read(_ text: String) throws -> Int64 {
            try ConfigurationKind<Int64>.span.read(try JSON5Reader.read(text))
        }
        #expect(try read("'15s'") == 15_000)
        #expect(try read("'1h30m'") == 5_400_000)
        let refused = [
            ("15", "a time span needs a unit; write it as a string like \"15s\""),
            ("'15'", "'15' needs a unit, like \"15s\""),
            ("'1mo'", "'mo' has no fixed length; use days or weeks"),
            ("'99999999999999999w'", "'99999999999999999w' is too long"),
            ("'fast'", "'fast' is no time span; write it like \"15s\" or \"1h30m\""),
        ]
        for (text, message) in refused {
            #expect(throws: ConfigurationFailure(message)) { try read(text) }
        }
        #expect(ConfigurationKind<Int64>.span.show(15_000) == "\"15000ms\"")
    }

    @Test(arguments: ["host:1", "203.0.113.7:65535", "[2001:db8::7]:7460", "a-b.example_1:80"])
    func addresses(text: String) {
        #expect(NetworkAddress(text)?.description == text)
    }

    @Test(arguments: [
        "", "host", ":1", "host:", "host:65536", "host:+1", "host:-1", "host: 1", "2001:db8::7:7460",
        "[]:1", "[host]:1",
        "ho st:1", "http://host:1", "[::1:5", "host:99999999999999999999", "호스트:1",
    ])
    func refusedAddresses(text: String) {
        #expect(NetworkAddress(text) == nil)
    }

    @Test func variablesAreNamedAfterTheirKeys() {
        #expect(ConfigurationSetting.all.map(\.variable).contains("SYNCD_API__SOCKET__PATH"))
        #expect(Set(ConfigurationSetting.all.map(\.path)).count == ConfigurationSetting.all.count)
    }
}
