import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What a package of a person tells of others (docs/operating/auditing.md, "What is here of a person").
@Suite(.serialized)
struct SubjectOthersTests {
    private static let secrets = ["이가 준 제목", "이가 쓴 쪽지", "이의 말", "이의 이름"]
    private static let lines = [
        #"{"type":"profile.changed","user":"lee","data":{"fields":{"name":"이의 이름"}}}"#,
        #"{"type":"conversation.started","user":"lee","subject":"conversation/a","data":{"title":"이가 준 제목","participants":["lee","kim"],"note":"이가 쓴 쪽지"}}"#,
        #"{"type":"participant.joined","user":"lee","subject":"conversation/a","data":{"user":"kim","note":"이가 쓴 쪽지"}}"#,
        #"{"type":"message.posted","user":"lee","subject":"conversation/a","data":{"text":"이의 말"}}"#,
        #"{"type":"message.posted","user":"kim","subject":"conversation/a","data":{"text":"김의 말"}}"#,
        #"{"type":"conversation.started","user":"kim","subject":"conversation/b","data":{"title":"김이 준 제목"}}"#,
    ]

    @Test("Without --others full nothing that others have said is in it: no title, no name, no member of an event")
    func others() throws {
        let daemon = try DaemonProcess("n")
        #expect(try daemon.syncctl("init", "--name", "n").code == 0)
        #expect(try daemon.syncctl("append", "-", input: Self.lines.joined(separator: "\n")).code == 0)
        for isFull in [false, true] {
            let out = TemporaryFolder.unusedPath()
            let more = isFull ? ["--others", "full"] : []
            let run = try Programs.syncctl(
                daemon.store, ["subject", "kim", "--out", out, "--reason", "r", "--who", "w"] + more)
            #expect(run.code == 0, "\(run.errors)")
            var all = ""
            for name in try FileManager.default.subpathsOfDirectory(atPath: out) {
                let bytes = FileManager.default.contents(atPath: out + "/" + name) ?? Data()
                all += String(decoding: bytes, as: UTF8.self)
            }
            for secret in Self.secrets { #expect(all.contains(secret) == isFull, "\(secret) \(isFull)") }
            #expect(all.contains("김의 말") && all.contains("김이 준 제목"))
            #expect(all.contains(#""names_person":true"#) == !isFull)
        }
    }

    @Test(
        "What others did to the person's messages is left out of the pages as it is of context.ndjson; what the person did stays (INV-13)"
    )
    func amended() throws {
        let (mine, theirs) = ("33333333-3333-4333-8333-333333333333", "44444444-4444-4444-8444-444444444444")
        func line(_ type: String, _ user: String, _ data: String, author: String? = nil, id: String? = nil) -> String
        {
            let names = (id.map { #","id":"\#($0)""# } ?? "") + (author.map { #","author":"\#($0)""# } ?? "")
            return #"{"type":"\#(type)","user":"\#(user)","subject":"conversation/c"\#(names),"data":\#(data)}"#
        }
        let lines = [
            line("conversation.started", "kim", #"{"participants":["kim","lee"],"moderators":["lee"]}"#),
            line("message.posted", "kim", #"{"text":"김의 말"}"#, id: mine),
            line("message.posted", "lee", #"{"text":"비밀 원문"}"#, id: theirs),
            line("message.edited", "kim", #"{"message":"\#(mine)","text":"김이 고친 말"}"#),
            line("message.edited", "lee", #"{"message":"\#(mine)","text":"비밀 수정"}"#),
            line("message.edited", "lee", #"{"message":"\#(theirs)","text":"비밀 정정"}"#),
            line("message.edited", "kim", #"{"message":"\#(theirs)","text":"김의 제안"}"#),
            line("message.edited", "kim", #"{"message":"\#(mine)","text":"대신 고친 말"}"#, author: "lee"),
            line("message.retracted", "lee", #"{"message":"\#(mine)","reason":"비밀 사유"}"#),
        ]
        let daemon = try DaemonProcess("n")
        #expect(try daemon.syncctl("init", "--name", "n").code == 0)
        #expect(try daemon.syncctl("import", "-", input: lines.joined(separator: "\n")).code == 0)
        for isFull in [false, true] {
            let out = try package(daemon, isFull: isFull)
            defer { try? FileManager.default.removeItem(atPath: out) }
            for name in try FileManager.default.subpathsOfDirectory(atPath: out) {
                let text = String(
                    decoding: FileManager.default.contents(atPath: out + "/" + name) ?? Data(), as: UTF8.self)
                let isPage = name.hasPrefix("conversations/0")
                #expect(text.contains("비밀") == (isFull && (isPage || name == "context.ndjson")), "\(name) \(isFull)")
                guard isPage else { continue }
                // The rule is that of events.ndjson: whose history, or whose words.
                for own in ["김의 말", "김이 고친 말", "김의 제안", "대신 고친 말"] { #expect(text.contains(own), "\(own)") }
            }
        }
    }

    /// Makes a package of kim's data. Returns its folder.
    private func package(_ daemon: DaemonProcess, isFull: Bool) throws -> String {
        let out = TemporaryFolder.unusedPath()
        let others = ["--others", isFull ? "full" : "headers"]
        let run = try Programs.syncctl(
            daemon.store, ["subject", "kim", "--out", out, "--reason", "r", "--who", "w"] + others)
        #expect(run.code == 0, "\(run.errors)")
        return out
    }

    @Test("As whom others keep the person is told with a package, and before an erasure, which leaves it (INV-13)")
    func contacts() throws {
        let lines = [
            #"{"type":"message.posted","user":"kim","data":{"text":"김의 말"}}"#,
            #"{"type":"contact.added","user":"lee","data":{"contact":"kim","name":"옛 이름","phoneNumber":"010-1"}}"#,
            #"{"type":"contact.added","user":"lee","data":{"contact":"kim","name":"새 이름","phoneNumber":"010-2"}}"#,
            #"{"type":"contact.added","user":"lee","data":{"contact":"park","name":"박","phoneNumber":"010-3"}}"#,
        ]
        let daemon = try DaemonProcess("n")
        #expect(try daemon.syncctl("init", "--name", "n").code == 0)
        #expect(try daemon.syncctl("append", "-", input: lines.joined(separator: "\n")).code == 0)
        let plan = try daemon.syncctl("erase", "user", "kim", "--dry-run", "--json")
        let told = plan.lines.filter { $0["type"] as? String == "erasure_contact" }
        #expect(told.count == 2 && told.allSatisfy { $0["user"] as? String == "lee" }, "\(plan.output)\(plan.errors)")
        let people = try daemon.syncctl("erase", "user", "kim", "--dry-run")
        let ids = told.compactMap { $0["event"] as? String }
        #expect(people.output.contains("syncctl erase events \(ids.joined(separator: " "))"), "\(people.output)")
        for isFull in [false, true] {
            let out = try package(daemon, isFull: isFull)
            defer { try? FileManager.default.removeItem(atPath: out) }
            func text(_ name: String) throws -> String {
                try String(contentsOfFile: out + "/" + name, encoding: .utf8)
            }
            let context = try text("context.ndjson").split(separator: "\n")
            #expect(context.count == (isFull ? 0 : 2), "\(context)")
            #expect(context.allSatisfy { $0.contains(#""names_person":true"#) && !$0.contains("010-") }, "\(context)")
            #expect(try text("events.ndjson").contains("010-1") == isFull && !text("events.ndjson").contains("010-3"))
        }
        // Alone they can be erased, and then nothing is told.
        let store = daemon.store
        let file = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: file) }
        #expect(
            try Programs.syncctl(store, ["erase", "events"] + ids + ["--reason", "r", "--who", "w", "--plan", file])
                .code == 0)
        #expect(try Programs.syncctl(store, ["erase", "events"] + ids + ["--confirm", file]).code == 0)
        #expect(try !daemon.syncctl("erase", "user", "kim", "--dry-run", "--json").output.contains("erasure_contact"))
    }

    @Test("A package that cannot be made is on record for no one (INV-17)")
    func notGiven() throws {
        let daemon = try DaemonProcess("n")
        #expect(try daemon.syncctl("init", "--name", "n").code == 0)
        #expect(try daemon.syncctl("append", "-", input: Self.lines.joined(separator: "\n")).code == 0)
        #expect(try daemon.syncctl("history", "kim").code == 0)
        do {
            let log = try Connection(path: daemon.store + "/log.db", mode: .write)
            try log.execute("UPDATE event SET payload = '{\"text\":\"다른 말\"}' WHERE position = 6")
        }
        let out = TemporaryFolder.unusedPath()
        let run = try daemon.syncctl("subject", "kim", "--out", out, "--reason", "r", "--who", "w")
        #expect(run.code == 65 && run.errors.contains("E_CORRUPT"), "\(run.code) \(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: out))
        #expect(try !daemon.syncctl("access", "--json").output.contains("package"))
    }

    @Test("Nothing of what a store says is made within its own folder, where no erasure reaches it (INV-11)")
    func inside() throws {
        let daemon = try DaemonProcess("n")
        #expect(try daemon.syncctl("init", "--name", "n").code == 0)
        #expect(try daemon.syncctl("append", "-", input: Self.lines.joined(separator: "\n")).code == 0)
        let (link, picture, repository) = (
            TemporaryFolder.unusedPath(), TemporaryFolder.unusedPath(), TemporaryFolder.unusedPath()
        )
        defer { for path in [link, picture, repository] { try? FileManager.default.removeItem(atPath: path) } }
        try Data("GIF89a".utf8).write(to: URL(filePath: picture))
        let digest = try daemon.syncctl("attachment", "put", picture).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try daemon.syncctl("backup", "create", repository).code == 0)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: daemon.store)
        for place in [
            daemon.store + "/x", link + "/x/",
            daemon.store + "/../" + (daemon.store as NSString).lastPathComponent + "/x",
        ] {
            for command in [
                ["subject", "kim", "--out", place, "--reason", "r", "--who", "w"],
                ["replay", "--all", "--into", place],
                ["backup", "create", place], ["backup", "copy", place],
                ["backup", "restore", repository, "--into", place],
                ["receipt", "--out", place], ["attachment", "get", digest, "--out", place],
                ["export", "--format", "html", "--conversation", "a", "--out", place],
                ["export", "--format", "html", "--conversation", "a", "--out", place, "--proof"],
                ["import", "-", "--rejects", place],
                ["erase", "user", "kim", "--reason", "r", "--who", "w", "--plan", place],
            ] {
                let run = try Programs.syncctl(daemon.store, command)
                #expect(run.code == 73 && run.errors.contains("own folder"), "\(command): \(run.code) \(run.errors)")
            }
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: daemon.store).filter { $0.hasPrefix("x") }
        #expect(left.isEmpty, "\(left)")
        // A name that only begins as the store's is another place.
        let beside = daemon.store + "2"
        defer { try? FileManager.default.removeItem(atPath: beside) }
        #expect(try daemon.syncctl("backup", "copy", beside).code == 0)
    }

    @Test("What stands beside findings is told where an erasure finds nothing in the log (INV-11)")
    func copies() throws {
        let daemon = try DaemonProcess("n")
        #expect(try daemon.syncctl("init", "--name", "n").code == 0)
        #expect(try daemon.syncctl("append", "-", input: Self.lines.joined(separator: "\n")).code == 0)
        let none = try daemon.syncctl("erase", "user", "choi", "--dry-run")
        #expect(none.code == 1 && !none.errors.contains("copies"), "\(none.errors)")
        let folder = daemon.store + "/evidence"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(filePath: folder + "/cut-0123456789abcdef.wal"))
        let some = try daemon.syncctl("erase", "user", "choi", "--dry-run")
        #expect(some.code == 1 && some.errors.contains("cut-0123456789abcdef.wal in \(folder)"), "\(some.errors)")
    }

    @Test("Of a copy without a key no daemon is promised that would sign what no head covers (INV-19)")
    func keyless() throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        #expect(try daemon.syncctl("append", "-", input: Self.lines.joined(separator: "\n")).code == 0)
        #expect(daemon.terminate() == 0)
        let (repository, copy) = (TemporaryFolder.unusedPath(), TemporaryFolder.unusedPath())
        defer { for path in [repository, copy] { try? FileManager.default.removeItem(atPath: path) } }
        #expect(try daemon.syncctl("backup", "create", repository).code == 0)
        let restored = try daemon.syncctl(
            "backup", "restore", repository, "--to", "seq:6", "--without-key", "--into", copy)
        #expect(restored.code == 0, "\(restored.errors)")
        let proof = try Programs.syncctl(copy, ["history", "kim", "--proof"])
        #expect(proof.code == 65 && proof.errors.contains("without node.key"), "\(proof.code) \(proof.errors)")
        #expect(!proof.errors.contains("E_BUSY") && proof.errors.contains("without --to"), "\(proof.errors)")
    }

    @Test("A user whose id is a dot or two is one of the daemon's users, too", arguments: [".", ".."])
    func dots(user: String) throws {
        let daemon = try DaemonProcess("n")
        try daemon.start()
        let line = #"{"type":"message.posted","user":"\#(user)","data":{"text":"점의 말"}}"#
        #expect(try daemon.syncctl("append", "-", input: line + "\n").code == 0)
        let out = TemporaryFolder.unusedPath()
        let run = try daemon.syncctl("subject", user, "--out", out, "--reason", "r", "--who", "w")
        #expect(run.code == 0, "\(run.errors)")
        let events = FileManager.default.contents(atPath: out + "/events.ndjson") ?? Data()
        #expect(String(decoding: events, as: UTF8.self).contains("점의 말"))
        #expect(daemon.terminate() == 0)
    }
}
