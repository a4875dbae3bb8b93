import Foundation
import TestSupport
import Testing

@testable import EventStore

/// `views.db` is thrown away rather than trusted (D1), and never ahead of the log (INV-10).
struct RebuildTests {
    private func filled() throws -> (TemporaryFolder, StoreFiles, [ViewDigest]) {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking(
            (0..<300).map { .message("글 \($0)", user: "u-\($0 % 5)", conversation: "c-\($0 % 7)") })
        store.close()
        let projector = try Projector(store.files)
        try projector.catchUp()
        return (folder, store.files, try projector.allDigests())
    }

    private func overwrite(_ path: String, at offset: UInt64, _ bytes: [UInt8]) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seek(toOffset: offset)
        file.write(Data(bytes))
        try file.close()
    }

    @Test("Views that are missing, of another release, cut off, or no database are built anew", arguments: 0..<5)
    func unusable(kind: Int) throws {
        let (folder, files, digests) = try filled()
        defer { withExtendedLifetime(folder) {} }
        switch kind {
        case 0: try FileManager.default.removeItem(atPath: files.views)
        case 1: try overwrite(files.views, at: 60, [0, 0, 0, 99])
        case 2: try overwrite(files.views, at: 0, Array("no database, no database".utf8))
        case 3: try Data(contentsOf: URL(filePath: files.views)).prefix(5_000).write(to: URL(filePath: files.views))
        default: try overwrite(files.views, at: 68, [1, 2, 3, 4])
        }
        if kind != 3 { #expect(throws: StoreError.self) { try ViewReader(files).progress() } }
        let projector = try Projector(files)
        try projector.catchUp()
        #expect(!projector.isRebuilding && projector.position == 301)
        #expect(try projector.allDigests() == digests)
        #expect(try ViewReader(files).progress() == 301)
    }

    @Test("Damage that shows only while projecting leads to new views, not to an endless error")
    func damagedWithin() throws {
        let (folder, files, _) = try filled()
        defer { withExtendedLifetime(folder) {} }
        // All pages but the first are overwritten: the header and the progress may look fine, the tables do not.
        let size = try Data(contentsOf: URL(filePath: files.views)).count
        for page in stride(from: 3 * 4_096, to: size, by: 4_096) {
            try overwrite(files.views, at: UInt64(page), [UInt8](repeating: 0x5a, count: 4_096))
        }
        let store = try EventStore(opening: files.folder)
        _ = try store.appendBlocking([.message("뒤", user: "u-1", conversation: "c-1")])
        let thread = ProjectorThread(files, top: 302)
        defer { thread.stop() }
        #expect(thread.wait(for: 302, milliseconds: 60_000))
        #expect(thread.lastError == nil)
        let reader = try ViewReader(files)
        #expect(try reader.progress() == 302)
        #expect(try reader.conversationSummary("c-1")?.events == 44)
    }

    @Test("Views of another log, or ahead of a log that was put back, are built anew (INV-10)")
    func otherLog() throws {
        let (folder, files, _) = try filled()
        let (other, store) = try makeStore()
        store.close()
        defer { withExtendedLifetime((folder, other)) {} }
        try FileManager.default.copyItem(atPath: files.views, toPath: store.files.views)
        #expect(throws: StoreError.self) { try ViewReader(store.files) }
        let projector = try Projector(store.files)
        try projector.catchUp()
        #expect(projector.position == 1)
        #expect(try ViewReader(store.files).progress() == 1)
    }

    @Test("Reopening goes on where the views were; a reader sees a rebuilt file without being opened again")
    func resume() throws {
        let (folder, files, digests) = try filled()
        defer { withExtendedLifetime(folder) {} }
        #expect(try Projector(files).position == 301)
        let reader = try ViewReader(files)
        #expect(try reader.progress() == 301)
        let store = try EventStore(opening: files.folder)
        _ = try store.appendBlocking([.message("뒤", user: "u-1", conversation: "c-1")])
        try overwrite(files.views, at: 60, [0, 0, 0, 99])
        let projector = try Projector(files)
        #expect(projector.isRebuilding)
        try projector.catchUp()
        #expect(try reader.progress() == 302)
        #expect(try projector.allDigests() != digests)
    }

    @Test("A rebuild is not announced before readers can see it")
    func announced() throws {
        let (folder, files, _) = try filled()
        defer { withExtendedLifetime(folder) {} }
        for _ in 0..<5 {
            try FileManager.default.removeItem(atPath: files.views)
            let thread = ProjectorThread(files, top: 301)
            #expect(thread.wait(for: 301, milliseconds: 60_000))
            #expect(try ViewReader(files).progress() == 301)
            thread.stop()
        }
    }

    @Test("A rebuild that has no room is tried again, and what kept it is forgotten once there is some (INV-10)")
    func noRoom() throws {
        let (folder, files, _) = try filled()
        defer { withExtendedLifetime(folder) {} }
        let thread = ProjectorThread(files, top: 301)
        defer { thread.stop() }
        #expect(thread.wait(for: 301, milliseconds: 60_000))
        let inode = try ViewReader(files).inode
        // No file can be made where a folder stands.
        try FileManager.default.createDirectory(atPath: files.newViews + "/x", withIntermediateDirectories: true)
        thread.rebuild()
        awaitTrue { thread.lastError != nil }
        try FileManager.default.removeItem(atPath: files.newViews)
        awaitTrue { thread.lastError == nil && !thread.isRebuilding }
        #expect(thread.lastError == nil)
        #expect(thread.wait(for: 301, milliseconds: 60_000))
        #expect(try ViewReader(files).inode != inode, "it was made after all")
    }

    private func awaitTrue(_ isTrue: () -> Bool) {
        waitWhile(!isTrue())
        #expect(isTrue())
    }

    @Test("Who waits for views that are fresh already is woken, not left to the end of the wait")
    func freshFromTheStart() throws {
        let (folder, files, _) = try filled()
        defer { withExtendedLifetime(folder) {} }
        try Projector(files).catchUp()
        let start = MonotonicClock.now
        let thread = ProjectorThread(files, top: 301)
        #expect(thread.wait(for: 301, milliseconds: 120_000))
        #expect(MonotonicClock.now - start < 60_000_000_000)
        thread.stop()
    }

    @Test("The thread follows the log, and waiting ends with it")
    func thread() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let thread = ProjectorThread(store.files, top: 1)
        let token = store.observeCommits { thread.logAdvanced(to: $0.top) }
        for round in 0..<20 {
            let outcome = try store.appendBlocking([.message("\(round)", user: "u", conversation: "c")])
            let position = try #require(outcome.first?.receipt?.position)
            #expect(thread.wait(for: position, milliseconds: 10_000))
            let reader = try ViewReader(store.files)
            #expect(try reader.conversationVersion("c").version == UInt64(round + 1))
            #expect(try reader.progress() <= reader.log.top())
        }
        #expect(!thread.wait(for: 1_000, milliseconds: 20))
        store.removeObserver(token)
        let waiting = Thread { thread.stop() }
        waiting.start()
        let start = MonotonicClock.now
        #expect(!thread.wait(for: 1_000, milliseconds: 30_000))
        #expect(MonotonicClock.now - start < 20_000_000_000)
    }

    @Test("A thread with nothing to do sleeps (INV-12)")
    func idle() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([.message("x", user: "u")])
        let thread = ProjectorThread(StoreFiles(folder.path), top: 2)
        #expect(thread.wait(for: 2, milliseconds: 10_000))
        // Processor time of the thread named "projector", in hundredths of a second: fields 14 and 15 of proc(5) stat.
        func ticks() throws -> Int {
            var total = 0
            for task in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task") {
                guard let text = try? String(contentsOfFile: "/proc/self/task/\(task)/stat", encoding: .utf8),
                    text.contains("(projector)"), let rest = text.split(separator: ")").last
                else { continue }
                let fields = rest.split(separator: " ")
                total += (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
            }
            return total
        }
        usleep(200_000)
        let before = try ticks()
        usleep(500_000)
        // Other suites have projectors too; a spinning one takes 50.
        #expect(try ticks() - before < 40)
        thread.stop()
    }
}
