import EventStore
import Foundation
import TestSupport
import Testing

/// What a program is told that names a place, or a node, that cannot be.
struct NamedPlaceTests {
    private struct Case {
        let path: String
        let code: String
        /// In the message.
        let words: String
    }

    private func refusal(_ body: () throws(StoreError) -> Void) -> StoreError? {
        do throws(StoreError) {
            try body()
            return nil
        } catch { return error }
    }

    private func expect(_ error: StoreError?, _ one: Case, _ what: String) {
        let text = error?.description ?? "nothing"
        #expect(error?.code == one.code && text.contains(one.words), "\(what) \(one.path): \(text)")
        // The parameter's message has the way out itself.
        #expect(error?.code == "E_PARAMETER" || error?.hint?.isEmpty == false, "\(what) \(one.path)")
    }

    @Test("Making a store says what is wrong with its place, of which path, and the way out")
    func create() throws {
        let folder = TemporaryFolder()
        let file = folder.file("file")
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(filePath: file))
        let long = folder.file(String(repeating: "a", count: 300))
        let orphan = folder.file("none/store")
        let cases = [
            Case(path: "", code: "E_PARAMETER", words: "is empty"),
            Case(path: folder.file("a\0b"), code: "E_PARAMETER", words: "has a NUL"),
            Case(path: file, code: "E_STORE_FILE", words: "\(file) is no folder"),
            Case(path: file + "/store", code: "E_STORE_FILE", words: "\(file)/store: Not a directory"),
            Case(path: long, code: "E_STORE_FILE", words: "\(long): File name too long"),
            Case(
                path: orphan, code: "E_STORE_FILE",
                words: "there is no folder \(folder.file("none")) to make \(orphan)"),
        ]
        for one in cases {
            expect(refusal { () throws(StoreError) in try EventStore.create(in: one.path, name: "n") }, one, "create")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
    }

    @Test("Opening a store, to write or to read, tells a place that cannot have one from one that has none")
    func open() throws {
        let folder = TemporaryFolder()
        let file = folder.file("file")
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(filePath: file))
        let long = folder.file(String(repeating: "a", count: 300))
        for one in [
            Case(path: "", code: "E_PARAMETER", words: "is empty"),
            Case(path: file, code: "E_STORE_FILE", words: "\(file): Not a directory"),
            Case(path: long, code: "E_STORE_FILE", words: "\(long): File name too long"),
            Case(path: folder.file("none"), code: "E_NO_STORE", words: "no store at \(folder.file("none"))"),
        ] {
            expect(refusal { () throws(StoreError) in _ = try EventStore(opening: one.path) }, one, "open")
            expect(refusal { () throws(StoreError) in _ = try EventReader(open: one.path) }, one, "read")
        }
    }

    @Test("A name that is none is told with the rule, and nothing is made")
    func names() throws {
        let path = TemporaryFolder.unusedPath()
        for name in ["", "a b", "a/b", String(repeating: "n", count: 65)] {
            let one = Case(
                path: path, code: "E_PARAMETER", words: "'\(name)': a name has 1 to 64 bytes without blanks")
            expect(
                refusal { () throws(StoreError) in try EventStore.create(in: path, name: name) }, one, "node \(name)")
            expect(
                refusal { () throws(StoreError) in try EventStore.create(in: path, name: "n", cluster: name) }, one,
                "cluster \(name)")
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
