internal import CommandLineKit
internal import EventStore
internal import Glibc

/// Where an import puts the lines that it could not take, so that they can be mended and imported again: one JSON object
/// for each, `{"line":12,"code":"E_…","message":"…","text":"<the line>"}`.
final class RejectsFile {
    private let path: String
    private let descriptor: Int32
    private var waiting: [UInt8] = []
    private static let most = 256 << 10

    /// Makes the file, or empties it. The file that is read is refused: emptied, it would have nothing left to read.
    init(_ path: String, reading input: Int32) throws(CommandFailure) {
        self.path = path
        try StoreLocation.requireOutside(path)
        guard !Self.isSame(path, input) else {
            throw usageFailure(
                "--rejects \(path) is the file that is imported, and would empty it", hint: "another file")
        }
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure.system("cannot write \(path)", errno: errno, exitCode: .cannotCreate)
        }
    }

    deinit { close(descriptor) }

    /// Whether the path leads to the open regular file, under whatever name.
    private static func isSame(_ path: String, _ descriptor: Int32) -> Bool {
        var (here, there) = (stat(), stat())
        guard fstat(descriptor, &here) == 0, stat(path, &there) == 0 else { return false }
        return here.st_mode & S_IFMT == S_IFREG && here.st_dev == there.st_dev && here.st_ino == there.st_ino
    }

    /// Adds a rejected line. Where `text` is no UTF-8 it stands as base64 in `bytes`; where it was too long to be kept, its
    /// place and length stand in its place.
    func add(_ rejection: (code: String, message: String), number: Int, _ text: Rejected) throws(CommandFailure) {
        var line = JSONLine()
        line.add("line", number)
        line.add("code", rejection.code)
        line.add("message", rejection.message)
        switch text {
        case .line(let bytes):
            if let text = String(validating: bytes, as: UTF8.self) {
                line.add("text", text)
            } else {
                line.add("bytes", base64Text(bytes))
            }
        case .tooLong(let offset, let count):
            line.add("offset", offset)
            line.add("length", count)
        }
        line.write(to: &waiting)
        if waiting.count >= Self.most { try flush() }
    }

    /// Writes what waits.
    func flush() throws(CommandFailure) {
        var rest = waiting[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw CommandFailure.system("cannot write \(path)", errno: errno) }
            rest = rest.dropFirst(count)
        }
        waiting.removeAll(keepingCapacity: true)
    }
}

/// A line that was not taken.
enum Rejected {
    case line([UInt8])
    /// It was passed over as it came.
    case tooLong(offset: Int, count: Int)
}
