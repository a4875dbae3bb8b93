internal import EventStore
internal import Glibc

/// The bytes of one file of an export, from its beginning on.
package class ByteReader {
    /// As errors name it.
    package let name: String

    /// How many bytes there are, where that is known before they are read.
    let length: Int?

    init(_ name: String, length: Int? = nil) { (self.name, self.length) = (name, length) }

    /// Reads on into `room`; 0 at the end.
    package func read(into room: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int { 0 }
}

extension ByteReader {
    /// Up to `most` of the next bytes; fewer only at the end.
    func next(_ most: Int) throws(ImportError) -> [UInt8] {
        var bytes: [UInt8] = []
        var count = 0
        while count < most {
            // Most are short: room is made as it is needed.
            if count == bytes.count {
                bytes += [UInt8](repeating: 0, count: min(most - count, max(4_096, count)))
            }
            let added = try fill(&bytes, from: count)
            if added == 0 { break }
            count += added
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// Reads on into `bytes` from `start` on; 0 at the end.
    package func fill(_ bytes: inout [UInt8], from start: Int = 0) throws(ImportError) -> Int {
        let result = bytes.withUnsafeMutableBytes { raw in
            Result { () throws(ImportError) in
                try read(into: UnsafeMutableRawBufferPointer(rebasing: raw[start...]))
            }
        }
        return try result.get()
    }
}

/// A file, or a part of it. Reads of several readers do not disturb each other.
final class FileReader: ByteReader {
    private let file: OpenFile
    private var offset: Int
    private let end: Int

    init(_ file: OpenFile, range: Range<Int>, name: String) {
        self.file = file
        offset = range.lowerBound
        end = range.upperBound
        super.init(name, length: range.count)
    }

    override func read(into room: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
        let count = try file.read(
            into: UnsafeMutableRawBufferPointer(rebasing: room[..<min(room.count, end - offset)]), at: offset, name)
        offset += count
        return count
    }
}

/// Bytes in memory.
package final class MemoryReader: ByteReader {
    private var rest: ArraySlice<UInt8>
    private let most: Int

    /// - Parameter most: Bytes handed out at a time.
    package init(_ bytes: [UInt8], name: String = "memory", most: Int = .max) {
        rest = bytes[...]
        self.most = most
        super.init(name)
    }

    override package func read(into room: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
        let count = min(rest.count, room.count, most)
        room.copyBytes(from: rest.prefix(count))
        rest = rest.dropFirst(count)
        return count
    }
}

/// A value of a database, as it lies there.
final class ValueReader: ByteReader {
    private let value: ForeignValue
    private var offset = 0

    init(_ value: ForeignValue, name: String) {
        self.value = value
        super.init(name)
    }

    override func read(into room: UnsafeMutableRawBufferPointer) throws(ImportError) -> Int {
        do throws(DatabaseError) {
            let count = try value.read(into: room, at: offset)
            offset += count
            return count
        } catch {
            throw ImportError(.malformed, name, error.description)
        }
    }
}

/// An open regular file; closed with the last reader.
package final class OpenFile {
    package let descriptor: Int32
    package let size: Int
    private let changed: timespec

    /// Opens what stands at `path`. In a folder of strangers a symbolic link is not followed.
    init(_ path: String, followsLink: Bool, name: String) throws(ImportError) {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW)
        descriptor = open(path, flags)
        guard descriptor >= 0 else {
            let code = errno
            let kind: ImportError.Kind = code == ENOENT ? .missing : .unreadable
            throw ImportError(
                kind, name,
                code == ELOOP ? "it is a symbolic link; those are not followed" : String(cString: strerror(code)))
        }
        var entry = stat()
        guard fstat(descriptor, &entry) == 0, entry.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw ImportError(.unreadable, name, "it is no regular file")
        }
        (size, changed) = (Int(entry.st_size), entry.st_mtim)
    }

    deinit { close(descriptor) }

    /// Whether it was not written to since it was opened.
    var isUnchanged: Bool {
        var entry = stat()
        return fstat(descriptor, &entry) == 0 && Int(entry.st_size) == size
            && entry.st_mtim.tv_sec == changed.tv_sec && entry.st_mtim.tv_nsec == changed.tv_nsec
    }

    func read(into room: UnsafeMutableRawBufferPointer, at offset: Int, _ name: String) throws(ImportError) -> Int {
        guard room.count > 0 else { return 0 }
        while true {
            let count = pread(descriptor, room.baseAddress, room.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw ImportError(.unreadable, name, String(cString: strerror(errno))) }
        }
    }

    /// Exactly these bytes.
    func bytes(_ range: Range<Int>, _ name: String) throws(ImportError) -> [UInt8] {
        guard range.lowerBound >= 0, range.upperBound <= size else {
            throw ImportError(.malformed, name, "it ends too early")
        }
        let reader = FileReader(self, range: range, name: name)
        var out = [UInt8](repeating: 0, count: range.count)
        var done = 0
        while done < range.count {
            let count = try reader.fill(&out, from: done)
            done += count
            if count == 0 { throw ImportError(.malformed, name, "it ends too early") }
        }
        return out
    }
}
