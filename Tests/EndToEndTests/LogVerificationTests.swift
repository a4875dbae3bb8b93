import Foundation
import TestSupport
import Testing

@testable import EventStore
@testable import SillokAPI

/// The daemon proves its log, and says when backups were made: what an operator watches (decision 0116).
struct LogVerificationTests {
    private func eventually(_ holds: () throws -> Bool) rethrows -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            if try holds() { return true }
            usleep(100_000)
        }
        return false
    }

    /// What the status says of the last verification that has ended.
    private func verification(_ node: DaemonProcess) throws -> [String: Any]? {
        let told = try node.status()["verification"] as? [String: Any]
        return told?["answer"] == nil ? nil : told
    }

    private func post(_ node: DaemonProcess) throws -> Int? {
        APIClient(socket: node.store + "/api.sock").ask("POST", "/v1/verifications")?.0
    }

    private func metrics(_ node: DaemonProcess) throws -> [Substring] {
        try #require(APIClient(socket: node.store + "/api.sock").ask("GET", "/metrics")).2.split(separator: "\n")
    }

    @Test("A daemon that is asked verifies its log, says what was proven, and knows it after a new start")
    func asked() throws {
        let node = try DaemonProcess("a")
        try node.start(isTalking: true)
        for number in 0..<3 {
            #expect(try node.syncctl("append", "-u", "u", "--conversation", "c", "--text", "m\(number)").code == 0)
        }
        // Until a head covers the newest.
        #expect(try node.verified() == 0)
        #expect(try verification(node) == nil)
        let run = try node.syncctl("verify", "--daemon")
        #expect(run.code == 0 && run.output.contains("syncctl status"), "\(run.output)\(run.errors)")
        #expect(try eventually { try verification(node) != nil })
        let told = try #require(try verification(node))
        #expect(told["answer"] as? String == "proven" && told["findings"] as? Int == 0, "\(told)")
        #expect(told["position"] as? Int == told["events"] as? Int && told["events"] as? Int ?? 0 >= 4, "\(told)")
        #expect(node.said.contains("verified the log to position"))
        let screen = try node.syncctl("status")
        #expect(screen.output.contains("  verified to position \(told["position"] as? Int ?? 0), at "))
        // The key is off: no series that an alert could find old.
        #expect(try !metrics(node).contains { $0.hasPrefix("syncd_log_proven_timestamp_seconds") })
        #expect(node.terminate() == 0)
        #expect(try verification(node)?["ended"] as? String == told["ended"] as? String, "from the files")
        try node.start()
        #expect(try verification(node)?["ended"] as? String == told["ended"] as? String)
        #expect(try post(node) == 202)
        #expect(try eventually { try verification(node)?["ended"] as? String != told["ended"] as? String })
        #expect(try node.syncctl("verify", "--daemon", "--views").code == 64)
        #expect(try node.syncctl("verify", "--daemon", "--since", "x").code == 64)
        #expect(node.terminate() == 0)
        #expect(try node.syncctl("verify", "--daemon").errors.contains("E_NO_DAEMON"))
    }

    @Test("A running daemon finds an event that a hand has changed, names it until it is mended, and goes on (INV-4)")
    func changed() throws {
        let node = try DaemonProcess("a")
        try node.start(isTalking: true, environment: ["SYNCD_VERIFY__LOG": "1"])
        #expect(try node.syncctl("append", "-u", "u", "--conversation", "c", "--text", "원문").code == 0)
        #expect(try eventually { try verification(node)?["answer"] as? String == "proven" })
        #expect(
            try metrics(node).contains { line in
                line.hasPrefix("syncd_log_proven_timestamp_seconds ") && !line.hasSuffix(" 0")
            })
        let log = try Connection(path: node.store + "/log.db", mode: .write)
        func replace(_ old: String, _ new: String) throws {
            try log.execute("UPDATE event SET payload = replace(payload, '\(old)', '\(new)') WHERE position = 2")
        }
        try replace("원문", "위조")
        #expect(try eventually { try verification(node)?["answer"] as? String == "contradicted" })
        let told = try #require(try verification(node))
        #expect((told["finding"] as? String)?.contains("position 2") == true, "\(told)")
        // The last that found nothing stays the last, however often one contradicts, and across a new start.
        func proven() throws -> Substring? {
            try metrics(node).first { $0.hasPrefix("syncd_log_proven_timestamp_seconds ") }
        }
        let last = try proven()
        #expect(last?.hasSuffix(" 0") == false && told["proven"] as? String != nil)
        #expect(try eventually { try verification(node)?["ended"] as? String != told["ended"] as? String })
        #expect(try verification(node)?["proven"] as? String == told["proven"] as? String)
        #expect(try proven() == last)
        let kept = VerificationRecord(StoreFiles(node.store))?.proven
        #expect(kept.map { Timestamp.text($0) } == told["proven"] as? String)
        let doctor = try node.syncctl("doctor")
        #expect(doctor.code == 3 && doctor.output.contains("LOG_DAMAGED"), "\(doctor.output)\(doctor.errors)")
        #expect(try metrics(node).contains(#"syncd_finding{code="LOG_DAMAGED"} 1"#))
        #expect(node.said.contains("LOG_DAMAGED: "))
        #expect(try node.syncctl("append", "-u", "u", "--conversation", "c", "--text", "다음").code == 0)
        try replace("위조", "원문")
        #expect(try eventually { try metrics(node).contains(#"syncd_finding{code="LOG_DAMAGED"} 0"#) })
        #expect(node.terminate() == 0)
    }

    @Test("A verification that is under way keeps no daemon from its end")
    func stopped() throws {
        let node = try DaemonProcess("a")
        try node.start()
        let lines = (0..<20_000).map { #"{"type":"note","user":"u-\#($0 % 9)","data":{"n":\#($0)}}"# }
        #expect(try node.syncctl("append", "-", input: lines.joined(separator: "\n")).code == 0)
        #expect(try post(node) == 202)
        #expect(try eventually { (try node.status()["verification"] as? [String: Any])?["under_way_since"] != nil })
        #expect(node.terminate() == 0)
        #expect(try verification(node) == nil)
    }

    @Test("Status, metrics and doctor say when the last backup was made, up to where and in what place")
    func backup() throws {
        let node = try DaemonProcess("a")
        let folder = try TemporaryFolder.made()
        try node.start()
        #expect(try node.syncctl("append", "-u", "u", "--conversation", "c", "--text", "말").code == 0)
        #expect(try node.status()["backup"] == nil)
        #expect(try node.syncctl("status").output.contains("  backup   none was made"))
        #expect(try metrics(node).contains("syncd_backup_last_success_timestamp_seconds 0"))
        let repository = folder.file("repository")
        let made = try node.syncctl("backup", "create", repository, "--json").lines.first ?? [:]
        let told = try #require(try node.status()["backup"] as? [String: Any])
        #expect(told["id"] as? String == made["id"] as? String && told["repository"] as? String == repository)
        #expect(told["position"] as? Int == made["position"] as? Int)
        #expect(try !metrics(node).contains("syncd_backup_last_success_timestamp_seconds 0"))
        #expect(try !node.syncctl("doctor", "--json").output.contains("BACKUP_OLD"))
        // One that fails changes nothing; what a command took has no place.
        #expect(try node.syncctl("backup", "create", "--to-command", "cat >/dev/null; exit 9").code != 0)
        #expect(try (node.status()["backup"] as? [String: Any])?["repository"] as? String == repository)
        #expect(try node.syncctl("backup", "create", "--to-command", "cat >/dev/null").code == 0)
        #expect(try (node.status()["backup"] as? [String: Any])?["repository"] is NSNull)
        #expect(node.terminate() == 0)
        let note = node.store + "/backup.json"
        let old = #"{"type":"backup","v":1,"time":"2026-01-02T03:04:05Z","id":"x","position":2,"repository":"/b"}"#
        try Data(old.utf8).write(to: URL(filePath: note))
        #expect(try node.syncctl("status").output.contains("in /b"))
        let doctor = try node.syncctl("doctor")
        #expect(doctor.code == 0 && doctor.output.contains("BACKUP_OLD"), "\(doctor.output)\(doctor.errors)")
    }
}
