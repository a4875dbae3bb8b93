internal import CommandLineKit
internal import Glibc

/// A file that is read, or stdin.
final class InputFile {
    let descriptor: Int32
    /// In bytes, if it is a regular file.
    let size: UInt64?
    private let isOpened: Bool

    /// Opens the file at `path`; `-` is stdin.
    init(_ path: String) throws(CommandFailure) {
        isOpened = path != "-"
        descriptor = isOpened ? open(path, O_RDONLY | O_CLOEXEC) : StandardStream.input.rawValue
        guard descriptor >= 0 else {
            throw CommandFailure.system("cannot read \(path)", errno: errno, exitCode: .inputMissing)
        }
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        size = isKnown && status.st_mode & S_IFMT == S_IFREG ? UInt64(clamping: status.st_size) : nil
        if isKnown, status.st_mode & S_IFMT == S_IFDIR {
            if isOpened { close(descriptor) }
            throw CommandFailure.system("cannot read \(path)", errno: EISDIR, exitCode: .inputMissing)
        }
    }

    deinit { if isOpened { close(descriptor) } }
}
