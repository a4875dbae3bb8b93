internal import Converters
internal import Glibc

/// Standard output refused the bytes; `code` is the errno.
struct OutputError: Error, CustomStringConvertible {
    var code: Int32

    var description: String { "cannot write: " + String(cString: strerror(code)) }
}

/// Encodes lines and writes them to standard output, about a megabyte at a time.
struct StandardOutput {
    private var encoder = LineEncoder()

    mutating func write(_ line: NativeLine) throws(OutputError) {
        encoder.append(line)
        if encoder.bytes.count >= 1 << 20 { try flush() }
    }

    mutating func flush() throws(OutputError) {
        var start = 0
        while start < encoder.bytes.count {
            let count = encoder.bytes.withUnsafeBytes { bytes in
                Glibc.write(STDOUT_FILENO, bytes.baseAddress?.advanced(by: start), bytes.count - start)
            }
            if count >= 0 {
                start += count
            } else if errno != EINTR {
                throw OutputError(code: errno)
            }
        }
        encoder.removeAll()
    }
}
