package import Foundation
internal import Glibc
internal import Synchronization

/// A folder that goes with the test.
package final class TemporaryFolder: Sendable {
    package let path: String

    /// Nothing is there yet: the test, or the program it runs, makes the folder.
    package init() { path = Self.unusedPath() }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A folder that is there.
    package static func made() throws -> TemporaryFolder {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        return folder
    }

    /// The path of `name` in it.
    package func file(_ name: String) -> String { path + "/" + name }

    /// Writes a file into it and tells its path.
    package func write(_ data: Data, to name: String) throws -> String {
        try data.write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }
}

extension TemporaryFolder {
    /// A path where nothing is yet. Whatever is put there, and beside it under a longer name, is removed when the process
    /// ends: whether the test passed, failed or threw, and whatever a thread still wrote while its own folder was removed.
    package static func unusedPath() -> String {
        "\(root)/\(last.add(1, ordering: .relaxed).newValue)"
    }

    private static let last = Atomic(0)

    /// The folder of this process. Its name is short: sockets lie in it, and their paths have at most 107 bytes.
    private static let root: String = {
        var template = Array("\(FileManager.default.temporaryDirectory.path)/sillok-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            preconditionFailure("no temporary folder: \(String(cString: strerror(errno)))")
        }
        atexit { try? FileManager.default.removeItem(atPath: TemporaryFolder.root) }
        return template.withUnsafeBufferPointer { text in text.baseAddress.map { String(cString: $0) } ?? "" }
    }()
}
