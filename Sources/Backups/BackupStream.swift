package import EventStore
internal import Glibc

/// The files of a backup one after the other, for a command's standard input (FORMATS.md §11). Records: a type byte and four bytes of length, then
/// so many bytes.
enum StreamForm {
    static let magic = Array("SilStrm1".utf8)
    static let file = UInt8(ascii: "F")
    static let data = UInt8(ascii: "D")
    static let endOfFile = UInt8(ascii: "E")
    static let end = UInt8(ascii: ".")
    /// Bytes of the largest record that is read.
    static let largest = ChunkForm.largest + 64
}

/// Writes a stream.
package final class StreamWriter: ByteSink {
    private let descriptor: Int32

    package init(_ descriptor: Int32) throws(BackupError) {
        self.descriptor = descriptor
        try writeAll(StreamForm.magic, to: descriptor, named: "the stream")
    }

    private func record(_ type: UInt8, _ bytes: [UInt8]) throws(BackupError) {
        var out = [type]
        out.appendBigEndian(UInt32(bytes.count))
        try writeAll(out + bytes, to: descriptor, named: "the stream")
    }

    func begin(_ name: String) throws(BackupError) { try record(StreamForm.file, Array(name.utf8)) }
    func write(_ bytes: [UInt8]) throws(BackupError) {
        for start in stride(from: 0, to: bytes.count, by: ChunkForm.largest) {
            try record(StreamForm.data, Array(bytes[start..<min(start + ChunkForm.largest, bytes.count)]))
        }
    }
    func endFile() throws(BackupError) { try record(StreamForm.endOfFile, []) }
    func end() throws(BackupError) { try record(StreamForm.end, []) }
}

/// Reads one stream, or several, one behind the other. Not Sendable.
package final class StreamReader {
    enum File {
        case segment(SegmentReader)
        case attachment(ChunkReader, name: String)
        case manifest(BackupManifest)
    }

    /// What errors name it.
    package static let name = "the stream"
    private let descriptor: Int32
    let key: StreamKey?
    private var buffer: [UInt8] = []
    private var start = 0
    private var isInStream = false

    package init(_ descriptor: Int32, key: StreamKey?) { (self.descriptor, self.key) = (descriptor, key) }

    /// Whether all was read that there is.
    package private(set) var hasEnded = false
    /// Whether nothing follows. Behind a manifest.
    private(set) var isAtEnd = false

    /// The next file, to be read before the one behind it; `nil` at the end.
    func next() throws(BackupError) -> File? {
        if !isInStream {
            guard try hasMore() else { return nil }
            guard try take(8) == StreamForm.magic else { throw Self.damaged("it does not begin as one does") }
            isInStream = true
        }
        let (type, bytes) = try record()
        guard type == StreamForm.file else { throw Self.damaged("a file is missing") }
        let name = String(decoding: bytes, as: UTF8.self)
        let source = StreamedFile(self)
        let segments = Repository.name(ofSegment: "")
        if name.hasPrefix(segments), BackupManifest.isPlain(String(name.dropFirst(segments.utf8.count))) {
            return .segment(try SegmentReader(source, file: name, key: key))
        }
        if AttachmentForm.isName(name) {
            return .attachment(try ChunkReader(source, name: name, key: key), name: name)
        }
        var all: [UInt8] = []
        while case let more = try source.read(), !more.isEmpty {
            all += more
            guard all.count <= SmallFile.largest else { throw Self.damaged("a manifest is too large") }
        }
        let manifest = try ManifestFile.manifest(in: all, named: name, id: nil, key: key)
        guard Repository.name(ofManifest: manifest.id) == name else {
            throw Self.damaged("a manifest under another's name")
        }
        guard try record().type == StreamForm.end else { throw Self.damaged("it goes on behind its manifest") }
        isInStream = false
        isAtEnd = try !hasMore()
        return .manifest(manifest)
    }

    private static func damaged(_ reason: String) -> BackupError { .damaged(file: name, reason: reason) }

    fileprivate func data() throws(BackupError) -> [UInt8]? {
        let (type, bytes) = try record()
        switch type {
        case StreamForm.data where !bytes.isEmpty: return bytes
        case StreamForm.endOfFile: return nil
        default: throw Self.damaged("a file is cut")
        }
    }

    private func record() throws(BackupError) -> (type: UInt8, bytes: [UInt8]) {
        let head = try take(5)
        let count = head.dropFirst().reduce(0) { $0 << 8 | Int($1) }
        guard count <= StreamForm.largest else { throw Self.damaged("a record of \(count) bytes") }
        return (head[0], try take(count))
    }

    private func hasMore() throws(BackupError) -> Bool {
        if start < buffer.count { return true }
        buffer = try readMore()
        start = 0
        return !buffer.isEmpty
    }

    private func readMore() throws(BackupError) -> [UInt8] {
        let bytes = try readSome(descriptor, named: Self.name)
        hasEnded = bytes.isEmpty
        return bytes
    }

    private func take(_ count: Int) throws(BackupError) -> [UInt8] {
        while buffer.count - start < count {
            let more = try readMore()
            guard !more.isEmpty else { throw Self.damaged("it is cut") }
            buffer.removeSubrange(..<start)
            start = 0
            buffer += more
        }
        defer { start += count }
        return Array(buffer[start..<start + count])
    }
}

/// A file of a stream.
private final class StreamedFile: ByteSource {
    private let stream: StreamReader
    private var isOver = false

    init(_ stream: StreamReader) { self.stream = stream }

    func read() throws(BackupError) -> [UInt8] {
        guard !isOver else { return [] }
        guard let bytes = try stream.data() else {
            isOver = true
            return []
        }
        return bytes
    }
}

extension BackupWriter {
    /// Makes a backup as a stream.
    ///
    /// - Parameters:
    ///   - base: The backup that went before, whose rows are not sent again; the log must go on from it.
    ///   - key: The files are sealed with it.
    package func run(
        _ plan: BackupPlan, into stream: StreamWriter, behind base: BackupManifest?, key: StreamKey?
    ) throws(BackupError) -> BackupReport {
        let applied = try awaitErasures()
        if let base {
            guard isOwn(base) else {
                throw .noBackup("the backup \(base.id) is not signed by this node: a full one is due")
            }
            guard try continues(base) else {
                throw .noBackup("the log does not go on from the backup \(base.id): a full one is due")
            }
            // A stream cannot be changed: what it holds of erased events is to be sent again without them.
            for segment in base.segments where segment.erasures < applied {
                let holes = try logged { () throws(StoreError) in
                    try source.holes(after: segment.after, through: segment.last)
                }
                guard holes == segment.holes else {
                    throw .noBackup("events of the backup \(base.id) have been erased since: a full one is due")
                }
            }
        }
        let parts = try self.parts(plan)
        let (position, origins, top) = try awaitHead()
        guard position >= base?.position ?? 0 else { throw .unsigned }
        var segments = base?.segments ?? []
        var bytes: UInt64 = 0
        try writeSegments(after: base?.position ?? 0, through: position, applied, key: key) {
            file throws(BackupError) in
            try stream.begin(Repository.name(ofSegment: file))
            return stream
        } written: { stream, segment throws(BackupError) in
            try stream.endFile()
            bytes += segment.bytes
            segments.append(segment)
        }
        let sent = Set(base?.attachments ?? [])
        let attachments = try writeAttachments(before: base?.attachments ?? []) {
            sent.contains($0)
        } write: {
            attachment, copy throws(BackupError) in
            // What was begun cannot be taken back: it is looked at as a whole before.
            do throws(AttachmentError) { _ = try copy.open(attachment.digest) } catch { throw BackupError(error) }
            guard let reader = try Self.open(attachment, copy) else { throw Self.gone(attachment) }
            let name = AttachmentForm.name(of: attachment.digest, key: key)
            try stream.begin(name)
            do throws(BackupError) {
                try AttachmentForm.write(reader, to: stream, name: name, key: key, goesOn: goesOn)
            } catch {
                guard case .damaged = error else { throw error }
                throw .store(.io("attachment \(attachment.digest) has changed while it was sent"))
            }
            try stream.endFile()
            return AttachmentForm.size(of: attachment.bytes, isSealed: key != nil)
        }
        let manifest = try self.manifest(parts, position, origins, segments, attachments.list)
        try stream.begin(Repository.name(ofManifest: manifest.id))
        try stream.write(ManifestFile.bytes(of: manifest, signedWith: signer, key: key))
        try stream.endFile()
        try stream.end()
        return BackupReport(
            manifest: try signed(manifest), after: base?.position ?? 0, bytes: bytes + attachments.bytes,
            attachments: attachments, uncovered: top - min(top, position),
            base: base?.id, isOtherHistory: false, broken: [], rewritten: 0, unreached: [])
    }

    /// Keeps a manifest beside a stream, for the next one to go on behind it.
    package func keep(_ manifest: BackupManifest, at path: String, key: StreamKey?) throws(BackupError) {
        let bytes = try ManifestFile.bytes(of: manifest, signedWith: signer, key: key, name: Self.kept)
        try mapped { () throws(StoreError) in try SmallFile.replace(path, with: bytes, mode: 0o600) }
    }

    /// Reads a manifest that ``keep(_:at:key:)`` has written; `nil` if there is none.
    package static func kept(at path: String, key: StreamKey?) throws(BackupError) -> BackupManifest? {
        var found: [UInt8]?
        try mapped { () throws(StoreError) in found = try SmallFile.read(path) }
        guard let bytes = found else { return nil }
        return try ManifestFile.manifest(in: bytes, named: kept, id: nil, key: key)
    }

    /// The name that such a manifest is sealed under: its own is not known before it is opened.
    private static let kept = "base"
}
