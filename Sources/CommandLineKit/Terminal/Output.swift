internal import Glibc

/// A buffered writer to a file descriptor. It is not shared between threads and does not close the descriptor.
///
/// When the reader has gone away, writing throws ``CommandFailure/brokenPipe``, which ends the program quietly with 141;
/// this needs ``Terminal/ignoreBrokenPipes()``. What is not flushed is lost: call ``flush()`` before the end.
public final class Output {
    private let descriptor: Int32
    private let capacity: Int
    private var buffer: [UInt8] = []

    /// Writes to one of the standard streams.
    public convenience init(_ stream: StandardStream) {
        self.init(descriptor: stream.rawValue)
    }

    /// Writes to any open descriptor, at the latest whenever `capacity` bytes have gathered.
    public init(descriptor: Int32, capacity: Int = 65_536) {
        self.descriptor = descriptor
        self.capacity = capacity
    }

    /// Adds text.
    public func write(_ text: String) throws(CommandFailure) {
        buffer += text.utf8
        if buffer.count >= capacity { try flush() }
    }

    /// Adds text and a newline.
    public func line(_ text: String = "") throws(CommandFailure) {
        buffer += text.utf8
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= capacity { try flush() }
    }

    /// Adds a JSON object as one line.
    public func line(_ json: JSONLine) throws(CommandFailure) {
        try write(json.utf8 + [UInt8(ascii: "\n")])
    }

    /// Adds bytes.
    public func write(_ bytes: [UInt8]) throws(CommandFailure) {
        if bytes.count >= capacity {
            try flush()
            return try Self.writeAll(bytes, to: descriptor)
        }
        buffer += bytes
        if buffer.count >= capacity { try flush() }
    }

    /// Hands everything to the system. On an error the rest is dropped, so that it is reported once.
    public func flush() throws(CommandFailure) {
        let bytes = buffer
        buffer.removeAll(keepingCapacity: true)
        try Self.writeAll(bytes, to: descriptor)
    }

    /// Writes a message to stderr at once. There is no one to tell if that fails.
    public static func message(_ text: String) {
        try? writeAll(Array(text.utf8), to: StandardStream.error.rawValue)
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(CommandFailure) {
        var start = 0
        while start < bytes.count {
            let (count, code) = bytes.withUnsafeBytes { raw in
                let written = Glibc.write(descriptor, raw.baseAddress.map { $0 + start }, raw.count - start)
                return (written, errno)
            }
            if count >= 0 {
                start += count
            } else if code == EAGAIN {
                waitUntilWritable(descriptor)
            } else if code == EPIPE {
                throw .brokenPipe
            } else if code != EINTR {
                throw .system("cannot write", errno: code)
            }
        }
    }

    /// Another process may have set our terminal to non-blocking.
    private static func waitUntilWritable(_ descriptor: Int32) {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&request, 1, -1)
    }
}
