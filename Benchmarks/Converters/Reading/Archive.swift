internal import Foundation
internal import Glibc

/// Unpacks what Debian's `zstd` and `tar` packed, through these programs.
enum Archive {
    /// Calls `body` once per line of a file packed with zstd.
    static func forEachLine(ofZstd path: String, _ body: (Data) throws -> Void) throws {
        let zstd = try unpacking(path)
        try ByteLines(descriptor: zstd.output, named: path).forEach(body)
        try zstd.finish()
    }

    /// Unpacks a tar archive packed with zstd into a new folder, which is removed after `body`.
    static func withFolder(ofTarZstd path: String, _ body: (String) throws -> Void) throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let zstd = try unpacking(path)
        let tar = try ChildProcess(
            ["tar", "--extract", "--file=-", "--directory=" + folder], package: "tar", input: zstd.output)
        try tar.finish()
        try zstd.finish()
        try body(folder)
    }

    /// The long window is what the larger archives were packed with.
    private static func unpacking(_ path: String) throws -> ChildProcess {
        guard access(path, R_OK) == 0 else {
            throw ConversionError.unreadable(path: path, reason: String(cString: strerror(errno)))
        }
        return try ChildProcess(["zstd", "-q", "-dc", "--long=27", path], package: "zstd")
    }

    private static func temporaryFolder() throws -> String {
        var template = Array((NSTemporaryDirectory() + "/sillok-convert.XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ConversionError.unreadable(
                path: NSTemporaryDirectory(), reason: String(cString: strerror(errno)))
        }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
