package import EventStore

/// A picture or file of an export, which an event names. Its bytes stay in the export until who takes the event asks for them, and are read from
/// their beginning as often as that takes.
package struct ImportedAttachment {
    package typealias Source = () throws(ImportError) -> ByteReader

    package let digest: Digest
    /// How many bytes there are.
    package let count: Int
    /// What they are: by the first of them, else as the export says.
    package let mediaType: String
    private let size: (width: Int64, height: Int64)?
    private let source: Source

    /// Reads all of it, once.
    ///
    /// - Parameter claimed: The media type that the export states.
    init(claimed: String? = nil, _ source: @escaping Source) throws(ImportError) {
        let reader = try source()
        let sha = RunningSHA256()
        var chunk = try reader.next(64 << 10)
        let first = Array(chunk.prefix(MediaType.looked))
        var (count, total) = (chunk.count, 0)
        while count > 0 {
            sha.add(chunk[..<count])
            total += count
            count = try reader.fill(&chunk)
        }
        (digest, self.count, self.source) = (sha.finish(), total, source)
        mediaType = MediaType.name(
            of: first, declared: claimed.flatMap { AttachmentItem.isMediaType($0) ? $0 : nil })
        size = Self.pngSize(first)
    }

    /// Its bytes from the beginning on.
    package func open() throws(ImportError) -> ByteReader { try source() }

    /// The item of `attachments` that names it.
    func item(name: String?, width: Int64? = nil, height: Int64? = nil) -> Payload {
        var item = Payload()
        item.add("sha256", digest.description)
        item.add("bytes", Int64(count))
        item.add("mediaType", mediaType)
        item.add("name", name)
        item.add("width", width ?? size?.width)
        item.add("height", height ?? size?.height)
        return item
    }

    private static func pngSize(_ first: [UInt8]) -> (Int64, Int64)? {
        guard MediaType.found(in: first) == "image/png", first.count >= 24 else { return nil }
        func number(_ at: Int) -> Int64 { first[at..<at + 4].reduce(0) { $0 << 8 | Int64($1) } }
        return (number(16), number(20))
    }
}

extension ExportFiles {
    /// The picture or file that the file `name` of a folder or an archive names by a path from its own folder on; `nil`: it is not there. Of
    /// what lies beside a single file nothing is taken: an export of a stranger could name any file.
    func attachment(_ path: String, of name: String, claimed: String? = nil) throws(ImportError)
        -> ImportedAttachment?
    {
        let folder = name.lastIndex(of: "/").map { name[...$0] } ?? ""
        return try isFile ? nil : attachment(folder + path, claimed: claimed)
    }

    /// A picture or file by its whole name; `nil`: it is not there.
    func attachment(_ name: String, claimed: String? = nil) throws(ImportError) -> ImportedAttachment? {
        guard has(name) else { return nil }
        return try ImportedAttachment(claimed: claimed) { () throws(ImportError) in try self.bytes(name) }
    }
}
