import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A start notices what another process has written into the views since the node let go of them (VIEWS.md, "Proving them").
struct ViewsMarkTests {
    @Test(
        "Views and places of an event that the log has lost are those of another log, also where another event stands there now (INV-10)"
    )
    func lostEvent() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let files = store.files
        func shown() throws -> [String] {
            let projector = try Projector(files)
            try projector.catchUp()
            var texts: [String] = []
            try ViewReader(files).history(user: "u", TimelineQuery()) { entry in
                texts.append(entry.stored.event.payload.map { String(decoding: $0, as: UTF8.self) } ?? "")
                return true
            }
            return texts
        }
        _ = try store.appendBlocking([.message("old", user: "u")])
        store.close()
        let log = try #require(FileManager.default.contents(atPath: files.log))
        let going = try EventStore(opening: folder.path)
        _ = try going.appendBlocking([.message("lost", user: "u")])
        #expect(try shown().count == 2)
        let place = try LogReader(files).place(at: 3)
        #expect(try LogReader(files).has(place) && LogPlace(text: place.text) == place)
        going.close()
        // One event less: that which begins the new origin takes its position.
        try log.write(to: URL(fileURLWithPath: files.log))
        let cut = try EventStore(opening: folder.path)
        #expect(try cut.originChange != nil && LogReader(files).top() == 3)
        #expect(try shown().count == 1)
        #expect(try !LogReader(files).has(place))
        cut.close()
    }

    private func filled() throws -> (TemporaryFolder, StoreFiles) {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([
            .json("profile.changed", #"{"fields":{"name":"김"}}"#, user: "kim"),
            .json("survey.answered", #"{"survey":"pain","question":"q","rating":3}"#, user: "kim"),
        ])
        store.close()
        try Projector.catchUp(store.files)
        return (folder, store.files)
    }

    private func name(_ files: StoreFiles) throws -> String? {
        try ViewReader(files).profile(user: "kim").first?.winner.value
    }

    private func forge(_ files: StoreFiles) throws {
        let connection = try Connection(path: files.views, mode: .write)
        try connection.execute(#"UPDATE profile SET value = '"위조"'"#)
    }

    @Test(
        "Views as the node left them are taken up; what somebody else has written leads to new ones, and it is said")
    func changed() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        // Reading changes nothing.
        #expect(try name(files) == #""김""#)
        #expect(ViewsMark(files)?.verdict() == .asLeft)
        #expect(try Projector.catchUp(files) == nil)
        try forge(files)
        #expect(try name(files) == #""위조""#)
        #expect(ViewsMark(files)?.verdict() != .asLeft)
        let thread = ProjectorThread(files, top: 3)
        #expect(thread.wait(for: 3, milliseconds: 60_000))
        #expect(thread.distrust?.contains("views.db") == true)
        #expect(try name(files) == #""김""#)
        thread.stop()
        #expect(ViewsMark(files)?.verdict() == .asLeft)
        let again = ProjectorThread(files, top: 3)
        #expect(again.wait(for: 3, milliseconds: 60_000))
        #expect(again.distrust == nil)
        again.stop()
    }

    @Test("Views that a killed process had open stay unproven until they are compared or built anew (INV-6)")
    func killed() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        let mark = try #require(ViewsMark(files))
        func mayProve() -> Bool { (try? ViewsMark.requireProven(files)) != nil }
        #expect(!mark.isUnproven && mayProve())
        // What `kill -9` leaves, and then a hand.
        try mark.begin(isProven: true)
        try forge(files)
        #expect(mark.verdict() == .unproven)
        try Projector.catchUp(files)
        #expect(mark.verdict() == .unproven && mark.isUnproven)
        #expect(!mayProve())
        let standing = mark.standing
        #expect(try !ViewsCheck(files).run().isIntact)
        // The mark of another moment proves nothing.
        try mark.prove(since: "none none")
        #expect(mark.isUnproven)
        // Built anew, they follow from the log.
        try Projector.catchUp(files, anew: true)
        #expect(mark.verdict() == .asLeft && mayProve())
        #expect(try name(files) == #""김""#)
        // Compared, too.
        try mark.begin(isProven: true)
        try Projector.catchUp(files)
        #expect(mark.isUnproven && mark.standing != standing)
        let now = mark.standing
        #expect(try ViewsCheck(files).run().isIntact)
        try mark.prove(since: now)
        #expect(mark.verdict() == .asLeft && mayProve())
    }

    @Test("A file that the node did not have open gets no mark when it ends")
    func replaced() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        let thread = ProjectorThread(files, top: 3)
        #expect(thread.wait(for: 3, milliseconds: 60_000))
        try forge(files)
        let copy = files.views + ".copy"
        try FileManager.default.copyItem(atPath: files.views, toPath: copy)
        for suffix in ["-wal", "-shm"] { unlink(files.views + suffix) }
        #expect(rename(copy, files.views) == 0)
        thread.stop()
        #expect(ViewsMark(files)?.verdict() != .asLeft)
        let again = ProjectorThread(files, top: 3)
        #expect(again.wait(for: 3, milliseconds: 60_000))
        #expect(again.distrust != nil)
        #expect(try name(files) == #""김""#)
        again.stop()
    }

    @Test("Views with a trigger or a view of SQL are built anew, also after a run that did not end in order")
    func storedCode() throws {
        for code in ["TRIGGER t AFTER INSERT ON profile BEGIN DELETE FROM profile; END", "VIEW v AS SELECT 1"] {
            let (folder, files) = try filled()
            defer { withExtendedLifetime(folder) {} }
            try ViewsMark(files)?.begin(isProven: true)
            let connection = try Connection(path: files.views, mode: .write)
            try connection.execute("CREATE \(code)")
            let projector = try Projector(files)
            #expect(projector.distrust?.contains(code.prefix(1) == "T" ? "the trigger t" : "the view v") == true)
            try projector.catchUp()
            #expect(ViewDatabase.storedCode(at: files.views) == nil)
            #expect(try name(files) == #""김""#)
        }
    }

    @Test(
        "The same size and the same times of the content do not deceive; a mark of another key, or none, is not believed"
    )
    func disguised() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        let before = try FileManager.default.attributesOfItem(atPath: files.views)
        try forge(files)
        let after = try FileManager.default.attributesOfItem(atPath: files.views)
        #expect(before[.size] as? Int == after[.size] as? Int)
        try FileManager.default.setAttributes(
            [.modificationDate: try #require(before[.modificationDate])], ofItemAtPath: files.views)
        #expect(ViewsMark(files)?.verdict() != .asLeft)
        #expect(try Projector.catchUp(files) != nil)
        #expect(try name(files) == #""김""#)
        // Another node's mark, and none at all.
        let (other, strange) = try filled()
        defer { withExtendedLifetime(other) {} }
        let mark = try Data(contentsOf: URL(filePath: files.viewsMark))
        try forge(files)
        try Data(contentsOf: URL(filePath: strange.viewsMark)).write(to: URL(filePath: files.viewsMark))
        #expect(ViewsMark(files)?.verdict() != .asLeft)
        try mark.write(to: URL(filePath: files.viewsMark))
        #expect(ViewsMark(files)?.verdict() != .asLeft)
        try FileManager.default.removeItem(atPath: files.viewsMark)
        #expect(try Projector.catchUp(files) != nil)
        #expect(try name(files) == #""김""#)
    }

    @Test("Views that were under construction are not gone on with unless the node itself left them so")
    func planted() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        try forge(files)
        try FileManager.default.moveItem(atPath: files.views, toPath: files.newViews)
        #expect(ViewsMark(files)?.verdict() != .asLeft)
        try Projector.catchUp(files)
        #expect(try name(files) == #""김""#)
    }

    @Test(
        "What a killed process has left beside the views goes when they are taken up, and the store is clean then (INV-11)"
    )
    func leftBeside() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        do {
            let projector = try Projector(files)
            try projector.beginRebuild()
            try projector.step(limit: 1)
        }
        // As one leaves it that is killed while views get their name.
        try FileManager.default.copyItem(atPath: files.newViews, toPath: files.newViews + ".done")
        let log = try LogReader(files)
        #expect(try !files.areCleared(log))
        #expect(try EventReader(open: files.folder).views(isIndexed: true).progress() == log.top())
        #expect(try files.areCleared(log) && ViewsMark(files)?.verdict() == .unproven)
        let names = try FileManager.default.contentsOfDirectory(atPath: files.folder)
        #expect(!names.contains { $0.hasPrefix("views.new") }, "\(names)")
        #expect(try name(files) == #""김""#)
    }

    @Test("After a kill the views are taken up where they are; a store without a key has no mark")
    func unclean() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        let store = try EventStore(opening: files.folder)
        _ = try store.appendBlocking([.message("뒤", user: "kim")])
        store.close()
        // As a killed process leaves them: they are not let go of.
        do { _ = try Projector(files).step() }
        #expect(ViewsMark(files)?.verdict() == .unproven)
        let projector = try Projector(files)
        #expect(projector.distrust == nil && projector.position >= 4)
        try FileManager.default.removeItem(atPath: files.key)
        #expect(ViewsMark(files) == nil)
    }
}
