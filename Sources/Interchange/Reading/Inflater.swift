internal import CZlib

/// The bytes of an entry of an archive as they were before they were packed. They are checked when the end is reached.
final class EntryReader: ByteReader {
    private let packed: FileReader
    private let isDeflated: Bool
    private let size: Int
    private let expected: UInt32
    private var stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var input: [UInt8] = []
    private var inputStart = 0
    private var done = 0
    private var sum: UInt32 = 0
    private var isEnded = false
    /// Whether the last bytes were unpacked.
    private var isDone = false

    init(_ packed: FileReader, isDeflated: Bool, size: Int, sum expected: UInt32, name: String) throws(ImportError) {
        (self.packed, self.isDeflated, self.size, self.expected) = (packed, isDeflated, size, expected)
        stream.initialize(to: z_stream())
        super.init(name, length: size)
        if isDeflated, sillok_zlib_inflate_raw(stream) != Z_OK {
            throw ImportError(.unreadable, name, "out of memory")
        }
    }

    deinit {
        if isDeflated { inflateEnd(stream) }
        stream.deallocate()
    }

    override func read(into room: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
        if isEnded { return 0 }
        let count = isDeflated ? try inflate(into: room) : try packed.read(into: room)
        sum = UInt32(
            truncatingIfNeeded: crc32(UInt(sum), room.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt32(count))
        )
        done += count
        guard done <= size else { throw ImportError(.malformed, name, "it unpacks to more than the archive says") }
        if count == 0 {
            isEnded = true
            guard done == size, sum == expected else {
                throw ImportError(.malformed, name, "its bytes are not those that the archive's checksum says")
            }
        }
        return count
    }

    private func inflate(into room: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
        var made = 0
        while made == 0, !isDone {
            if inputStart == input.count {
                var chunk = [UInt8](repeating: 0, count: 64 << 10)
                let count = try packed.fill(&chunk)
                chunk.removeLast(chunk.count - count)
                (input, inputStart) = (chunk, 0)
                if count == 0 { throw ImportError(.malformed, name, "it ends too early") }
            }
            let code = input.withUnsafeMutableBytes { raw -> Int32 in
                stream.pointee.next_in = raw.baseAddress?.advanced(by: inputStart).assumingMemoryBound(to: UInt8.self)
                stream.pointee.avail_in = UInt32(raw.count - inputStart)
                stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.pointee.avail_out = UInt32(min(room.count, 1 << 30))
                let before = stream.pointee.avail_out
                let code = CZlib.inflate(stream, Z_NO_FLUSH)
                made = Int(before - stream.pointee.avail_out)
                inputStart = raw.count - Int(stream.pointee.avail_in)
                return code
            }
            isDone = code == Z_STREAM_END
            guard code == Z_OK || isDone || code == Z_BUF_ERROR else {
                throw ImportError(.malformed, name, "it cannot be unpacked: its bytes are damaged")
            }
        }
        return made
    }
}
