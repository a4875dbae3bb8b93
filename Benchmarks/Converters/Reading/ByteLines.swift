internal import Foundation
internal import Glibc

/// Cuts a stream of bytes into lines without holding more of it than the longest line needs.
struct ByteLines {
    private let descriptor: Int32
    private let path: String

    init(descriptor: Int32, named path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    /// Calls `body` once per non-empty line, without its line feed. The data is valid during the call only.
    func forEach(_ body: (Data) throws -> Void) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var filled = 0
        while true {
            if filled == buffer.count { buffer.append(contentsOf: repeatElement(0, count: filled)) }
            let count = try read(into: &buffer, at: filled)
            if count == 0 { break }
            filled += count
            let used = try buffer.withUnsafeMutableBytes { try Self.lines(in: $0[..<filled], body) }
            buffer.withUnsafeMutableBytes { space in
                guard let base = space.baseAddress else { return }
                _ = memmove(base, base + used, filled - used)
            }
            filled -= used
        }
        if filled > 0 { try body(Data(buffer[..<filled])) }
    }

    /// Fills `buffer` from `offset` on; returns how many bytes came, 0 at the end.
    private func read(into buffer: inout [UInt8], at offset: Int) throws -> Int {
        while true {
            let count = buffer.withUnsafeMutableBytes { space in
                Glibc.read(descriptor, space.baseAddress?.advanced(by: offset), space.count - offset)
            }
            if count >= 0 { return count }
            guard errno == EINTR else {
                throw ConversionError.unreadable(path: path, reason: String(cString: strerror(errno)))
            }
        }
    }

    /// Hands out the complete lines of `bytes`; returns how many bytes they took.
    private static func lines(
        in bytes: Slice<UnsafeMutableRawBufferPointer>, _ body: (Data) throws -> Void
    ) throws -> Int {
        guard let base = bytes.base.baseAddress else { return 0 }
        var start = 0
        while let feed = memchr(base + start, 0x0A, bytes.count - start) {
            let length = feed - (base + start)
            if length > 0 {
                try body(Data(bytesNoCopy: base + start, count: length, deallocator: .none))
            }
            start += length + 1
        }
        return start
    }
}
