import EventStore
import Foundation
import TestSupport
import Testing

/// A program that reads a store which other processes write: `EventReader` sees what was acknowledged before it asked.
@Suite(.timeLimit(.minutes(5)))
struct ReaderBesideDaemonTests {
    private func append(_ text: String, to store: String) throws {
        #expect(try Programs.syncctl(store, ["append", "--user", "u-1", "--text", text]).code == 0)
    }

    private func newest(_ reader: EventReader) throws -> String {
        let page = try reader.history(of: "u-1", limit: 1)
        return String(decoding: page.first?.stored.event.payload ?? [], as: UTF8.self)
    }

    @Test("What a daemon, or syncctl without one, has appended is in the next answer")
    func fresh() throws {
        let daemon = try DaemonProcess("seoul")
        try daemon.start()
        let reader = try EventReader(open: daemon.store)
        for number in 1...15 {
            try append("데몬 \(number)", to: daemon.store)
            #expect(try newest(reader) == #"{"text":"데몬 \#(number)"}"#)
        }
        do { _ = try EventStore(opening: daemon.store) } catch {
            #expect(error.code == "E_LOCKED" && error.isRetriable)
        }
        #expect(daemon.terminate() == 0)
        for number in 1...5 {
            try append("혼자 \(number)", to: daemon.store)
            #expect(try newest(reader) == #"{"text":"혼자 \#(number)"}"#)
        }
        // Killed in the midst of it: its views may be behind, and its lock is free.
        try daemon.start()
        try append("죽기 전", to: daemon.store)
        daemon.kill()
        #expect(try newest(reader) == #"{"text":"죽기 전"}"#)
        #expect(try reader.verify().answer != .contradicted)
    }
}
