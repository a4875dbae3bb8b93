internal import CommandLineKit
internal import Glibc

/// Where bytes go: standard output, or a file that is there under its name only when all are.
final class ByteOutput {
    private let path: String?
    private var descriptor: Int32 = -1
    private let session: Session
    private var isFinished = false

    convenience init(_ session: Session) throws(CommandFailure) {
        try self.init(session, to: session.arguments.value("out"))
    }

    /// - Parameter path: The file; `nil`: standard output.
    init(_ session: Session, to path: String?) throws(CommandFailure) {
        (self.session, self.path) = (session, path)
        guard let path else { return }
        try StoreLocation.requireOutside(path)
        // A link that leads nowhere is there, too.
        var entry = stat()
        guard lstat(path, &entry) != 0 else {
            throw CommandFailure(
                code: "E_IO", "\(path) is there already", hint: "another name; nothing is overwritten",
                exitCode: .cannotCreate)
        }
        descriptor = open(path + ".part", O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure.system("cannot make \(path)", errno: errno, exitCode: .cannotCreate)
        }
    }

    deinit {
        guard let path else { return }
        if descriptor >= 0 { close(descriptor) }
        if !isFinished { unlink(path + ".part") }
    }

    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        guard path != nil else { return try session.output.write(bytes) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw CommandFailure.system("cannot write \(path ?? "")", errno: errno, exitCode: .ioError)
            }
            rest = rest.dropFirst(count)
        }
    }

    func finish() throws(CommandFailure) {
        guard let path else { return try session.output.flush() }
        guard fsync(descriptor) == 0, rename(path + ".part", path) == 0 else {
            throw CommandFailure.system("cannot write \(path)", errno: errno, exitCode: .ioError)
        }
        isFinished = true
    }
}
