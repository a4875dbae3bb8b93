internal import CommandLineKit
internal import EventStore
internal import Glibc

/// A file of a package, written piece by piece: for its owner alone, never over another one.
final class PackageFile {
    let name: String
    private let path: String
    private let descriptor: Int32
    private var waiting: [UInt8] = []
    private let digest = RunningSHA256()
    private static let most = 256 << 10

    /// Makes `name` in `folder`, which is there.
    init(_ name: String, in folder: String) throws(CommandFailure) {
        self.name = name
        path = folder + "/" + name
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure.system("cannot write \(path)", errno: errno, exitCode: .cannotCreate)
        }
    }

    deinit { close(descriptor) }

    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        waiting += bytes
        if waiting.count >= Self.most { try flush() }
    }

    private func flush() throws(CommandFailure) {
        digest.add(waiting[...])
        var rest = waiting[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw CommandFailure.system("cannot write \(path)", errno: errno) }
            rest = rest.dropFirst(count)
        }
        waiting.removeAll(keepingCapacity: true)
    }

    /// Writes what is left, and gives the line of `SHA256SUMS` for it. Nothing may be written after it.
    func finish() throws(CommandFailure) -> String {
        try flush()
        guard fsync(descriptor) == 0 else { throw CommandFailure.system("cannot write \(path)", errno: errno) }
        return "\(digest.finish())  \(name)\n"
    }
}
