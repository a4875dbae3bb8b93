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

    /// Opens a file whose length is known: of a pipe or a device no one knows when it ends, or whether anyone writes to it.
    init(regular path: String) throws(CommandFailure) {
        // What is no file is not waited for.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        isOpened = true
        guard descriptor >= 0 else {
            throw CommandFailure.system("cannot read \(path)", errno: errno, exitCode: .inputMissing)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            throw CommandFailure(
                code: "E_NOT_A_FILE",
                "\(path) is \(isFolder ? "a folder" : "a pipe, a socket or a device"), and a file is wanted",
                hint: isFolder ? "name the file in it" : "write the bytes into a file first", exitCode: .inputMissing)
        }
        size = UInt64(clamping: status.st_size)
    }

    deinit { if isOpened { close(descriptor) } }
}
