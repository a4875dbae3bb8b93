import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What a killed check has left of payloads goes with the next one (INV-11).
struct HeldFolderTests {
    private func made(_ parent: String) throws -> HeldFolder {
        try HeldFolder(in: parent, prefix: "sillok-views-", clearing: ["sillok-views-", "sillok-log-"]) { path in
            SmallFile.removeDatabase(path + "/views.db")
        }
    }

    @Test("Folders that no one holds are taken away, those at work and other people's files are not")
    func clears() throws {
        let parent = try TemporaryFolder.made()
        for name in ["sillok-views-killed", "sillok-log-killed", "sillok-views-full", "sillok-other"] {
            try FileManager.default.createDirectory(atPath: parent.file(name), withIntermediateDirectories: false)
            try Data("비밀".utf8).write(to: URL(filePath: parent.file(name + "/views.db")))
        }
        try Data("x".utf8).write(to: URL(filePath: parent.file("sillok-views-full/mine")))
        let first = try made(parent.path)
        try Data("x".utf8).write(to: URL(filePath: first.path + "/views.db"))
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: parent.path).sorted() }
        let working = URL(filePath: first.path).lastPathComponent
        #expect(try names() == (["sillok-other", "sillok-views-full", working]).sorted())
        let files = try FileManager.default.contentsOfDirectory(atPath: parent.file("sillok-views-full"))
        #expect(files == ["mine"])
        do {
            let second = try made(parent.path)
            #expect(FileManager.default.fileExists(atPath: first.path + "/views.db"))
            withExtendedLifetime(second) {}
        }
        #expect(try names().count == 3)
        withExtendedLifetime(first) {}
    }

    @Test("A folder that another process takes away before it is held is made once more")
    func madeWhileCleared() async throws {
        let parent = try TemporaryFolder.made()
        await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<500 {
                        let folder = try made(parent.path)
                        #expect(FileManager.default.fileExists(atPath: folder.path))
                        withExtendedLifetime(folder) {}
                    }
                }
            }
            while let result = await group.nextResult() {
                if case .failure(let error) = result { Issue.record("\(error)") }
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path).isEmpty)
    }
}
