internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// Where the bytes of attachments are read: a daemon, or the files of a store. Both are held against the name of the bytes.
struct AttachmentSource {
    private enum Place {
        case daemon(DaemonClient)
        case files(ViewReader, AttachmentCopy)
    }

    private let place: Place

    init(_ session: Session, _ place: NodeOrFiles) throws(CommandFailure) {
        switch place {
        case .daemon(let daemon): self.place = .daemon(daemon)
        case .files(let files):
            let views = try FreshViews.open(session, files)
            try stored { try AttachmentUpkeep.catchUp(files, views) }
            self.place = .files(views, try stored { try AttachmentCopy(files) })
        }
    }

    /// Gives the bytes to `body`, piece by piece, until that wants no more. False if it did not want all of them. Where all were given they are
    /// what the name says.
    func read(
        _ digest: Digest, _ body: @escaping ([UInt8]) throws(CommandFailure) -> Bool
    ) throws(CommandFailure) -> Bool {
        switch place {
        case .daemon(let daemon): return try fetch(digest, from: daemon, body)
        case .files(let views, let copy):
            guard try stored({ try views.isNamed(digest) }) else { throw Self.unnamed(digest) }
            let reader = try attached { try copy.open(digest) }
            var offset: UInt64 = 0
            while offset < reader.count {
                let piece = try attached { [offset] in try reader.read(at: offset, most: 256 << 10) }
                guard try body(piece) else { return false }
                offset += UInt64(piece.count)
            }
            return true
        }
    }

    /// How what a conversation names stands, by its SHA-256: so who reads it waits for no bytes that are not there.
    func states(of conversation: String) throws(CommandFailure) -> [Digest: AttachmentState] {
        var states: [Digest: AttachmentState] = [:]
        switch place {
        case .daemon(let daemon):
            let pages = DaemonPages(client: daemon)
            _ = try pages.lines(
                .attachments, [("conversation", conversation)], limit: Self.mostStates, hasFiles: false
            ) { line throws(CommandFailure) in
                guard let digest = line.string("sha256").flatMap({ Digest(hexadecimal: $0) }) else { return }
                states[digest] = AttachmentState.allCases.first { $0.text == line.string("state") }
            }
        case .files(let views, let copy):
            var last: AttachmentPlace?
            while states.count < Self.mostStates {
                let page = try stored { [last] in
                    try views.attachments(of: .conversation(conversation), limit: 500, before: last)
                }
                for named in page {
                    states[named.item.digest] = try stored { try copy.state(of: named.item.digest) }
                }
                guard let place = page.last?.place else { break }
                last = place
            }
        }
        return states
    }

    /// A conversation that names more has some of which it is found out when they are read.
    private static let mostStates = 100_000

    private static func unnamed(_ digest: Digest) -> CommandFailure {
        CommandFailure(
            code: ErrorCode.notFound.rawValue, "no event names \(digest)",
            hint: "syncctl attachment list; what named it may have been erased", exitCode: .nothingFound)
    }

    private func fetch(
        _ digest: Digest, from daemon: DaemonClient, _ body: @escaping ([UInt8]) throws(CommandFailure) -> Bool
    ) throws(CommandFailure) -> Bool {
        let taken = AnswerTaker()
        var request = ClientRequest(target: Route.attachments.path(digest.description), timeout: 0)
        request.accept = "*/*"
        request.silence = 120
        let listener = ClientRequest.Listener(
            begins: { status, _ in taken.status = status }, takes: { taken.take($0, body) }, goesOn: { true })
        do {
            _ = try request.send(to: daemon.place, listener)
        } catch {
            if let failure = taken.failure { throw failure }
            if taken.isEnough { return false }
            throw CommandFailure(
                code: "E_UNREACHABLE", "the bytes broke off: \(error.reason)", hint: "the same once more",
                exitCode: .unreachable)
        }
        if taken.isEnough { return false }
        guard taken.status == 200 else {
            if taken.status == 404 { throw Self.unnamed(digest) }
            throw ErrorAnswer(body: taken.body, status: taken.status).failure(status: taken.status)
        }
        guard taken.sha.finish() == digest else {
            throw CommandFailure(
                code: ErrorCode.attachmentDigest.rawValue, "other bytes came than the name says",
                hint: "the same once more",
                exitCode: .badInput)
        }
        return true
    }
}

/// Runs what works on the bytes of attachments, as ``stored(_:)``.
@discardableResult
func attached<Value>(_ body: () throws -> Value) throws(CommandFailure) -> Value {
    do { return try body() } catch let error as AttachmentError { throw CommandFailure(error) } catch {
        throw CommandFailure(code: "E_INTERNAL", String(describing: error), exitCode: .internalError)
    }
}

/// Takes an answer's bytes as they come.
private final class AnswerTaker {
    let sha = RunningSHA256()
    var status = 0
    /// Of an answer that is an error.
    private(set) var body: [UInt8] = []
    private(set) var failure: CommandFailure?
    /// Whether no more was wanted.
    private(set) var isEnough = false

    func take(_ piece: UnsafeRawBufferPointer, _ give: ([UInt8]) throws(CommandFailure) -> Bool) -> Bool {
        guard status == 200 else {
            body += piece.prefix(max(0, (64 << 10) - body.count))
            return true
        }
        sha.add(piece)
        do throws(CommandFailure) { isEnough = try !give(Array(piece)) } catch { failure = error }
        return failure == nil && !isEnough
    }
}
