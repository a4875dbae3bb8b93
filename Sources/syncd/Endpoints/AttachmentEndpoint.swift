internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Takes and gives the bytes of attachments, piece by piece: a hundred at once take a few megabytes of memory, however long they are (INV-9).
///
/// ## Concurrency model
/// Two threads, one that writes what comes and one that reads what goes; each has what it works on as its context. Requests come from the
/// loop, and from threads of the ``ReadPool`` once it is known that their caller may have the bytes.
final class AttachmentEndpoint: Sendable {
    /// Downloads at a time, and requests that wait for bytes; each has a piece in memory.
    private static let mostDownloads = 256
    private static let piece = 64 << 10
    /// So long a request waits for bytes that a peer may have, nanoseconds.
    private static let patience: UInt64 = 10_000_000_000

    private let service: Service
    private let loop: EventLoop
    private let writing = SerialWorker<[UInt64: Upload]>(name: "api-put") { [:] }
    private let reading = SerialWorker<[UInt64: Download]>(name: "api-blob") { [:] }
    private let counts = Lock((last: UInt64(0), downloads: 0))
    /// Of uploads; each has up to ``HTTPLimits/streamedAhead`` and a read in memory.
    private let places = Lock(UploadPlaces())

    init(_ service: Service, on loop: EventLoop) {
        self.service = service
        self.loop = loop
    }

    func stop() {
        writing.stop()
        reading.stop()
    }

    /// Whether the body of a request is taken as it comes.
    static func isStreamed(_ method: String, _ path: [String]) -> Bool {
        method == "POST" && path == ["v1", "attachments"]
    }

    // MARK: What comes

    /// An attachment on its way into the store.
    private struct Upload {
        let request: AdmittedRequest
        let attachments: AttachmentStore
        let writer: AttachmentWriter
        let stated: Digest?
        let declared: String?
    }

    /// Takes a request. On the loop.
    func put(_ request: AdmittedRequest) {
        let exchange = request.exchange
        if let obstacle = service.store.obstacle { return exchange.refuse(obstacle) }
        if let obstacle = service.surroundingObstacles.first { return exchange.refuse(.disk, obstacle.told) }
        let limit = service.live.current.attachments.maxBytes
        let length = exchange.request.header("Content-Length").flatMap { UInt64($0) }
        if let length, length > limit { return exchange.refuse(AttachmentError.tooLarge(limit: limit)) }
        var stated: Digest?
        if let text = exchange.request.header("Sillok-Sha256") {
            stated = Digest(hexadecimal: text)
            guard stated != nil else {
                return exchange.refuse(
                    .parameter, "Sillok-Sha256: no SHA-256",
                    hint: "64 lowercase hexadecimal digits, as sha256sum prints")
            }
        }
        let principal = request.caller.actor.principal
        switch places.withLock({ $0.take(for: principal) }) {
        case .taken: break
        case .full:
            return exchange.refuse(
                .busy, "\(UploadPlaces.most) attachments are coming already",
                hint: "again after the seconds of Retry-After")
        case .enough(let own):
            return exchange.refuse(
                .rate, "\(own) attachments of \(principal) are coming already: the other places are for others",
                hint: "again after the seconds of Retry-After, or when one of them is here")
        }
        let number = counts.withLock { counts in
            counts.last += 1
            return counts.last
        }
        begin(number, request, stated, limit)
        // A body of no length does not come in pieces.
        guard exchange.request.isStreamed else { return submitEnd(number, principal, isWhole: true) }
        exchange.receive { [self] bytes in
            writing.submit { [self] uploads in take(bytes, of: number, &uploads) }
        } onEnd: { [self] isWhole in
            submitEnd(number, principal, isWhole: isWhole)
        }
    }

    private func submitEnd(_ number: UInt64, _ principal: String, isWhole: Bool) {
        let isTaken = writing.submit { [self] uploads in
            places.withLock { $0.giveBack(of: principal) }
            end(number, isWhole, &uploads)
        }
        if !isTaken { places.withLock { $0.giveBack(of: principal) } }
    }

    /// The media type that the client gives, without parameters; `nil` for what programs send when they know none.
    private static func declared(_ request: HTTPRequest) -> String? {
        let text = request.header("Content-Type")?.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        let unknown = [MediaType.unknown, "application/x-www-form-urlencoded"]
        return text.flatMap { !unknown.contains($0) && AttachmentItem.isMediaType($0) ? $0 : nil }
    }

    private func begin(_ number: UInt64, _ request: AdmittedRequest, _ stated: Digest?, _ limit: UInt64) {
        writing.submit { [service] uploads in
            do throws(StoreError) {
                let attachments = try service.store.attachments()
                uploads[number] = Upload(
                    request: request, attachments: attachments, writer: try attachments.begin(limit: limit),
                    stated: stated, declared: Self.declared(request.request))
            } catch {
                request.exchange.refuse(error)
            }
        }
    }

    private func take(_ bytes: [UInt8], of number: UInt64, _ uploads: inout [UInt64: Upload]) {
        // Refused already: what comes still is passed over.
        guard let exchange = uploads[number]?.request.exchange else { return }
        do throws(AttachmentError) {
            try uploads[number]?.writer.write(bytes[...])
            exchange.received(bytes.count)
        } catch {
            uploads[number] = nil
            exchange.refuse(error)
        }
    }

    private func end(_ number: UInt64, _ isWhole: Bool, _ uploads: inout [UInt64: Upload]) {
        guard let request = uploads[number]?.request else { return }
        let exchange = request.exchange
        guard service.authenticator.stands(request.caller) else {
            uploads[number] = nil
            return exchange.refuse(.unauthenticated, Authenticator.noLonger)
        }
        // What was not kept is gone before its client is told so.
        switch kept(uploads.removeValue(forKey: number), isWhole) {
        case .success(let stored?):
            exchange.send(
                JSONLine(stored: stored.digest, bytes: stored.bytes, mediaType: stored.type, isNew: stored.isNew),
                status: stored.isNew ? 201 : 200,
                headers: [HTTPField("Location", "/v1/attachments/\(stored.digest)")])
        case .success(nil): break
        case .failure(let error): exchange.refuse(error)
        }
    }

    /// What was stored; nothing, if the client has left.
    private func kept(
        _ upload: consuming Upload?, _ isWhole: Bool
    ) -> Result<(digest: Digest, bytes: UInt64, type: String, isNew: Bool)?, AttachmentError> {
        guard let upload, isWhole else { return .success(nil) }
        let type = MediaType.name(of: upload.writer.first, declared: upload.declared)
        do throws(AttachmentError) {
            guard MediaType.isAllowed(type, by: service.live.current.attachments.mediaTypes) else {
                throw .mediaType(type)
            }
            let (digest, isNew) = try upload.attachments.finish(upload.writer, stated: upload.stated)
            return .success((digest, upload.writer.count, type, isNew))
        } catch {
            return .failure(error)
        }
    }

    // MARK: What goes

    /// An attachment on its way to a client.
    private struct Download {
        let caller: Caller
        let stream: HTTPStream
        let file: AttachmentReader
        let attachments: AttachmentStore
        var rest: Range<UInt64>
    }

    /// Most events of one attachment that are looked at for one that the caller sees, the newest first.
    private static let mostNames = 1_000

    /// Finds out whether the caller may have the bytes, and has them sent. On a thread of the pool.
    func get(_ request: AdmittedRequest, _ reader: ReadPool.Reader) {
        let exchange = request.exchange
        do throws(StoreError) {
            guard let digest = request.values.first.flatMap({ Digest(hexadecimal: $0) }),
                let named = try find(digest, for: request.caller, reader)
            else { return exchange.refuse(.notFound, "there is no \(exchange.request.path)") }
            if request.caller.isRecorded {
                guard let reason = AccessLog.reason(exchange.request) else {
                    return exchange.refuse(
                        .reason, "an auditor says why: the header Sillok-Reason, 1 to 1,024 bytes of UTF-8",
                        hint: "Sillok-Reason: complaint 4711")
                }
                try service.accessLog.record(
                    request.caller, route: "/v1/attachments/{}", subject: exchange.request.path,
                    users: [named.user, named.author], reason: reason)
            }
            let isTaken = counts.withLock { counts in
                guard counts.downloads < Self.mostDownloads else { return false }
                counts.downloads += 1
                return true
            }
            guard isTaken else {
                return exchange.refuse(.busy, "\(Self.mostDownloads) attachments are going already")
            }
            send(request, digest, named.item.mediaType, until: MonotonicClock.now + Self.patience)
        } catch {
            exchange.refuse(error)
        }
    }

    /// The newest event that names the bytes and that the caller sees.
    private func find(
        _ digest: Digest, for caller: Caller, _ reader: ReadPool.Reader
    ) throws(StoreError) -> NamedAttachment? {
        try reader.fresh { views, _ throws(StoreError) in
            var sight = Sight(caller)
            let limit = sight.isWhole ? 1 : Self.mostNames
            for named in try views.attachments(naming: digest, limit: limit) {
                if sight.isWhole { return named }
                guard let event = try views.log.event(at: named.position)?.event else { continue }
                if try sight.sees(event.header, views) { return named }
            }
            return nil
        }
    }

    private func send(_ request: AdmittedRequest, _ digest: Digest, _ type: String?, until deadline: UInt64) {
        let exchange = request.exchange
        let isTaken = reading.submit { [self] downloads in
            do throws(AttachmentError) {
                guard let attachments = try opened() else { throw .missing(digest) }
                try begin(request, attachments, attachments.open(digest), type, &downloads)
                return
            } catch {
                switch error {
                case .missing, .damaged:
                    if wait(request, digest, type, until: deadline) { return }
                    exchange.refuse(error)
                default: exchange.refuse(error)
                }
                done()
            }
        }
        if !isTaken { done() }
    }

    private func done() { counts.withLock { $0.downloads -= 1 } }

    private func opened() throws(AttachmentError) -> AttachmentStore? {
        do throws(StoreError) { return try service.store.attachmentsIfAny() } catch { throw .store(error) }
    }

    /// Tries again in a moment: a peer may send them.
    private func wait(_ request: AdmittedRequest, _ digest: Digest, _ type: String?, until deadline: UInt64) -> Bool {
        guard service.awaitsAttachment(digest), MonotonicClock.now < deadline else { return false }
        loop.post { [self] in
            _ = loop.schedule(after: .milliseconds(100)) { [self] in send(request, digest, type, until: deadline) }
        }
        return true
    }

    private func begin(
        _ admitted: AdmittedRequest, _ attachments: AttachmentStore, _ file: AttachmentReader, _ type: String?,
        _ downloads: inout [UInt64: Download]
    ) throws(AttachmentError) {
        let (exchange, request) = (admitted.exchange, admitted.request)
        let tag = "\"\(file.digest)\""
        let first = try file.read(at: 0, most: MediaType.looked)
        var headers = Self.headers(tag, MediaType.found(in: first))
        if let known = request.header("If-None-Match"), known == "*" || known.contains(tag) {
            exchange.reply(status: 304, contentType: nil, headers: headers)
            return done()
        }
        // What is stated of it may not make a page of it.
        let contentType = MediaType.served(first, claimed: type)
        let rest: Range<UInt64>
        switch ByteRange(request, of: file.count, tag: tag) {
        case .whole: rest = 0..<file.count
        case .none:
            exchange.refuse(
                .range, "Range: there are \(file.count) bytes",
                headers: [HTTPField("Content-Range", "bytes */\(file.count)")])
            return done()
        case .part(let part):
            rest = part
            headers.append(
                HTTPField("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.count)"))
        }
        let number = counts.withLock { counts in
            counts.last += 1
            return counts.last
        }
        let isPart = headers.contains { $0.name == "Content-Range" }
        let stream = exchange.startStream(
            status: isPart ? 206 : 200, contentType: contentType, headers: headers,
            length: rest.count
        ) { [self] in
            _ = reading.submit { [self] downloads in if downloads.removeValue(forKey: number) != nil { done() } }
        }
        if request.method == "HEAD" { return done() }
        downloads[number] = Download(
            caller: admitted.caller, stream: stream, file: file, attachments: attachments, rest: rest)
        step(number, &downloads)
    }

    /// What every answer with the bytes says: they never change, and no page may run anything of them.
    private static func headers(_ tag: String, _ found: String?) -> [HTTPField] {
        let isInline = found.map(MediaType.inline.contains) ?? false
        return [
            HTTPField("ETag", tag), HTTPField("Accept-Ranges", "bytes"),
            HTTPField("Cache-Control", "private, max-age=31536000, immutable"),
            HTTPField("Content-Disposition", isInline ? "inline" : "attachment"),
            HTTPField("Content-Security-Policy", "sandbox; default-src 'none'"),
            HTTPField("X-Content-Type-Options", "nosniff"),
        ]
    }

    /// Sends the next piece, and goes on when the client has taken it.
    private func step(_ number: UInt64, _ downloads: inout [UInt64: Download]) {
        guard var download = downloads[number] else { return }
        guard service.authenticator.stands(download.caller) else {
            // Dropped, the stream breaks off: its client sees that something is missing.
            downloads[number] = nil
            return done()
        }
        do throws(AttachmentError) {
            let most = min(Self.piece, download.rest.count)
            let bytes = try download.file.read(at: download.rest.lowerBound, most: most)
            download.rest = download.rest.lowerBound + UInt64(bytes.count)..<download.rest.upperBound
            downloads[number] = download
            if !download.rest.isEmpty {
                download.stream.write(bytes) { [self] in
                    _ = reading.submit { [self] downloads in step(number, &downloads) }
                }
                return
            }
            if !bytes.isEmpty { download.stream.write(bytes) }
            download.stream.end()
        } catch {
            // The stream is dropped: its client sees that something is missing.
            if case .damaged(let digest) = error { download.attachments.note(damaged: digest) }
        }
        downloads[number] = nil
        done()
    }
}
