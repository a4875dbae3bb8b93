internal import EventStore

/// Where the bytes of a file go: a folder, or a command.
protocol ByteSink: AnyObject {
    func write(_ bytes: [UInt8]) throws(BackupError)
}

/// Where the bytes of a file come from.
protocol ByteSource: AnyObject {
    /// The next bytes, some of them; none at the end of the file.
    func read() throws(BackupError) -> [UInt8]
}

/// The form of files in a repository: chunks one after the other, plain or sealed (FORMATS.md §11).
enum ChunkForm {
    static let plain = Array("SilRows1".utf8)
    static let sealed = Array("SilSeal1".utf8)
    /// Bytes of the largest chunk that is read: more than the largest event, alone in its piece, can come to.
    static let largest = 16 << 20
}

/// Writes a file chunk by chunk.
final class ChunkWriter {
    private let sink: any ByteSink
    private let sealing: SealingStream?
    private let digest = RunningSHA256()
    /// Bound to the first chunk: a file under another's name does not open.
    private var bound: [UInt8]
    private(set) var bytes: UInt64 = 0

    /// - Parameter name: Of the file in the repository.
    init(_ sink: any ByteSink, name: String, key: StreamKey?) throws(BackupError) {
        self.sink = sink
        sealing = key.map(SealingStream.init)
        bound = Array(name.utf8)
        try put(sealing.map { ChunkForm.sealed + $0.header } ?? ChunkForm.plain)
    }

    func add(_ chunk: [UInt8]) throws(BackupError) { try add(chunk, isLast: false) }

    /// Ends the file; its SHA-256.
    func finish() throws(BackupError) -> Digest {
        try add([], isLast: true)
        return digest.finish()
    }

    private func add(_ chunk: [UInt8], isLast: Bool) throws(BackupError) {
        let body = sealing?.seal(chunk, bound: bound, isLast: isLast) ?? chunk
        bound = []
        var out: [UInt8] = []
        out.reserveCapacity(4 + body.count)
        out.appendBigEndian(UInt32(body.count))
        try put(out + body)
    }

    private func put(_ bytes: [UInt8]) throws(BackupError) {
        digest.add(bytes[...])
        self.bytes += UInt64(bytes.count)
        try sink.write(bytes)
    }
}

/// Reads a file chunk by chunk.
final class ChunkReader {
    private let source: any ByteSource
    private let name: String
    private let opening: OpeningStream?
    private let digest = RunningSHA256()
    private var bound: [UInt8]
    private var buffer: [UInt8] = []
    private var start = 0
    private(set) var bytes: UInt64 = 0
    private var isOver = false

    init(_ source: any ByteSource, name: String, key: StreamKey?) throws(BackupError) {
        self.source = source
        self.name = name
        bound = Array(name.utf8)
        var buffer = try source.read()
        // What a pipe gives first may be little.
        while buffer.count < 8 + OpeningStream.headerSize {
            let more = try source.read()
            if more.isEmpty { break }
            buffer += more
        }
        let head = buffer.prefix(8)
        if head.elementsEqual(ChunkForm.sealed) {
            guard let key else { throw .key(file: name, isGiven: false) }
            let header = Array(buffer.dropFirst(8).prefix(OpeningStream.headerSize))
            guard let stream = OpeningStream(key, header: header) else {
                throw .damaged(file: name, reason: "it is cut")
            }
            opening = stream
            start = 8 + OpeningStream.headerSize
        } else {
            guard head.elementsEqual(ChunkForm.plain) else {
                throw .damaged(file: name, reason: "it does not begin as such a file does")
            }
            opening = nil
            start = 8
        }
        self.buffer = buffer
        note(buffer[...])
    }

    private func note(_ more: ArraySlice<UInt8>) {
        digest.add(more)
        bytes += UInt64(more.count)
    }

    /// The next chunk; `nil` behind the last one, where nothing may follow.
    func next() throws(BackupError) -> [UInt8]? {
        guard !isOver else { return nil }
        let count = try take(4).reduce(0) { $0 << 8 | Int($1) }
        guard count <= ChunkForm.largest else { throw .damaged(file: name, reason: "a chunk of \(count) bytes") }
        var chunk = try take(count)
        if let opening {
            guard let opened = opening.open(chunk, bound: bound) else {
                if !bound.isEmpty { throw .key(file: name, isGiven: true) }
                throw .damaged(file: name, reason: "a chunk is changed, missing or not in its place")
            }
            bound = []
            chunk = opened.chunk
            isOver = opened.isLast
            guard opened.isLast == chunk.isEmpty else { throw .damaged(file: name, reason: "a chunk is empty") }
        } else {
            isOver = count == 0
        }
        guard isOver else { return chunk }
        guard start == buffer.count, try source.read().isEmpty else {
            throw .damaged(file: name, reason: "bytes follow the last chunk")
        }
        return nil
    }

    /// The SHA-256 of the file. Only behind its end.
    func finish() -> Digest { digest.finish() }

    private func take(_ count: Int) throws(BackupError) -> [UInt8] {
        while buffer.count - start < count {
            let more = try source.read()
            guard !more.isEmpty else { throw .damaged(file: name, reason: "it is cut") }
            note(more[...])
            buffer.removeSubrange(..<start)
            start = 0
            buffer += more
        }
        defer { start += count }
        return Array(buffer[start..<start + count])
    }
}
