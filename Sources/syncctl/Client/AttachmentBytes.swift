internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SillokClient

/// Bytes on their way into the attachments of a store: read from their beginning as often as it takes, a piece at a time.
struct AttachmentBytes {
    /// Reads on into a buffer and says how many; 0 at the end.
    typealias Reader = (_ buffer: inout [UInt8]) throws(CommandFailure) -> Int

    let digest: Digest
    let count: Int
    /// What they are, as who gives them says.
    let mediaType: String?
    let open: () throws(CommandFailure) -> Reader
    private static let piece = 256 << 10

    init(
        digest: Digest, count: Int, mediaType: String?, open: @escaping () throws(CommandFailure) -> Reader
    ) {
        (self.digest, self.count, self.mediaType, self.open) = (digest, count, mediaType, open)
    }

    /// Those of a file. What goes wrong on the way to a store is found out there, by the digest.
    init(file path: String, mediaType: String?) throws(CommandFailure) {
        let open = { () throws(CommandFailure) -> Reader in
            let file = try InputFile(regular: path)
            return { buffer throws(CommandFailure) in
                while true {
                    let count = Glibc.read(file.descriptor, &buffer, buffer.count)
                    if count >= 0 { return count }
                    guard errno == EINTR else {
                        throw CommandFailure.system("cannot read \(path)", errno: errno, exitCode: .ioError)
                    }
                }
            }
        }
        let sha = RunningSHA256()
        var total = 0
        try Self.read(open) { piece throws(CommandFailure) in
            sha.add(piece)
            total += piece.count
        }
        self.init(digest: sha.finish(), count: total, mediaType: mediaType, open: open)
    }

    fileprivate func read(_ body: (ArraySlice<UInt8>) throws(CommandFailure) -> Void) throws(CommandFailure) {
        try Self.read(open, body)
    }

    private static func read(
        _ open: () throws(CommandFailure) -> Reader, _ body: (ArraySlice<UInt8>) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        let reader = try open()
        var buffer = [UInt8](repeating: 0, count: piece)
        while case let count = try reader(&buffer), count > 0 { try body(buffer[..<count]) }
    }
}

extension EventStore {
    /// Puts bytes into the store's folder; the line says what stands in an event that names them.
    func put(_ bytes: AttachmentBytes) throws(CommandFailure) -> JSONObject {
        let attachments = try stored { () throws(StoreError) in try self.attachments() }
        let writer = try stored { try attachments.begin(limit: UInt64(Int64.max)) }
        try bytes.read { piece throws(CommandFailure) in try attached { try writer.write(piece) } }
        let (digest, isNew) = try attached { try attachments.finish(writer, stated: bytes.digest) }
        let type = MediaType.name(of: writer.first, declared: bytes.mediaType)
        return JSONLine(stored: digest, bytes: writer.count, mediaType: type, isNew: isNew).object
    }
}

extension DaemonClient {
    /// Has the daemon put bytes into its store, and gives its line.
    func put(_ bytes: AttachmentBytes) throws(CommandFailure) -> JSONObject {
        var request = ClientRequest(
            method: "POST", target: Route.attachments.path, contentType: bytes.mediaType ?? MediaType.unknown,
            timeout: 0)
        request.silence = 120
        request.headers = ["Sillok-Sha256: \(bytes.digest)"]
        var failure: CommandFailure?
        do throws(CommandFailure) {
            let answer = try ask(request) { () throws(CommandFailure) in
                let reader = try bytes.open()
                return ClientRequest.Upload(count: bytes.count) { room in
                    do throws(CommandFailure) {
                        var buffer = [UInt8](repeating: 0, count: room.count)
                        let count = try reader(&buffer)
                        room.copyBytes(from: buffer[..<count])
                        return count
                    } catch {
                        failure = error
                        return nil
                    }
                }
            }
            return Self.object(answer.body)
        } catch {
            throw failure ?? error
        }
    }
}
