internal import Glibc

/// A buffered writer to a file descriptor. It is not shared between threads and does not close the descriptor.
///
/// When the reader has gone away, writing throws ``CommandFailure/brokenPipe``, which ends the program quietly with 141;
/// this needs ``Terminal/ignoreBrokenPipes()``. What is not flushed is lost: call ``flush()`` before the end.
///
/// To a terminal no DEL and no C1 control is written: they stand as `\u007f` and `\u0080` to `\u009f`, in JSON the same text.
/// Elsewhere every byte goes out as it came, for an event is what it was when it was hashed.
package final class Output {
    private var descriptor: Int32
    private let capacity: Int
    private let isTerminal: Bool
    private var buffer: [UInt8] = []
    private var paging: Paging?
    private var pager: Pager?

    /// What has not been written because it may fit on the screen.
    private struct Paging {
        let pager: Pager
        let rows: Int
        let columns: Int
    }

    /// Writes to one of the standard streams.
    package convenience init(_ stream: StandardStream) {
        self.init(descriptor: stream.rawValue)
    }

    /// Writes to any open descriptor, at the latest whenever `capacity` bytes have gathered.
    package init(descriptor: Int32, capacity: Int = 65_536) {
        self.descriptor = descriptor
        self.capacity = capacity
        isTerminal = isatty(descriptor) == 1
    }

    /// Adds text.
    package func write(_ text: String) throws(CommandFailure) {
        buffer += text.utf8
        if buffer.count >= capacity { try flush() }
    }

    /// Adds text and a newline.
    package func line(_ text: String = "") throws(CommandFailure) {
        buffer += text.utf8
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= capacity { try flush() }
    }

    /// Adds a JSON object as one line.
    package func line(_ json: JSONLine) throws(CommandFailure) {
        try write(json.utf8 + [UInt8(ascii: "\n")])
    }

    /// Adds bytes.
    package func write(_ bytes: [UInt8]) throws(CommandFailure) {
        if bytes.count >= capacity, paging == nil {
            try flush()
            return try Self.writeAll(isTerminal ? Self.escaped(bytes) : bytes, to: descriptor)
        }
        buffer += bytes
        if buffer.count >= capacity { try flush() }
    }

    /// From here on what is written waits until it is longer than a screen of this size; then `pager` shows it.
    package func page(through pager: Pager, rows: Int, columns: Int) {
        paging = Paging(pager: pager, rows: rows, columns: columns)
    }

    /// Whether a pager shows what is written.
    package var isPaged: Bool { pager != nil }

    /// Whether the pager that was asked for is not there. Known after ``finish()``.
    package var lacksPager: Bool { pager?.isMissing ?? false }

    /// Writes what is left. With a pager it waits until its reader has left.
    package func finish() throws(CommandFailure) {
        defer { pager?.finish() }
        if !startsPager() { paging = nil }
        try flush()
    }

    /// Starts the pager where what waits is longer than the screen.
    private func startsPager() -> Bool {
        guard let paging, ScreenHeight.of(buffer, columns: paging.columns, atMost: paging.rows) >= paging.rows else {
            return false
        }
        self.paging = nil
        guard let descriptor = paging.pager.start() else { return false }
        self.descriptor = descriptor
        pager = paging.pager
        return true
    }

    /// Hands everything to the system. On an error the rest is dropped, so that it is reported once.
    package func flush() throws(CommandFailure) {
        if paging != nil, !startsPager(), paging != nil { return }
        let bytes = isTerminal ? Self.escaped(buffer) : buffer
        buffer.removeAll(keepingCapacity: true)
        try Self.writeAll(bytes, to: descriptor)
    }

    /// Whole lines of UTF-8 without what a terminal would act on.
    private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte == 0x7F {
                out += "\\u007f".utf8
            } else if (0x80..<0xA0).contains(byte), out.last == 0xC2 {
                // U+0080 to U+009F: a lead byte stands before no other.
                out.removeLast()
                out += "\\u00".utf8
                out += String(byte, radix: 16).utf8
            } else {
                out.append(byte)
            }
        }
        return out
    }

    /// Writes a message to stderr at once. There is no one to tell if that fails.
    package static func message(_ text: String) {
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
