internal import BotKit
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

extension NodeAPI {
    /// The bytes of an attachment; no more of them than `longest`. `nil` where `goesOn` has ended it.
    func attachment(
        _ item: AttachmentItem, longest: Int, goesOn: @escaping () -> Bool
    ) -> Result<[UInt8], ModelFault>? {
        let received = Received(longest: longest)
        let listener = ClientRequest.Listener(
            begins: { status, _ in received.isError = status != 200 }, takes: received.take, goesOn: goesOn)
        var request = ClientRequest(
            target: Route.attachments.path(item.digest.description), timeout: Self.attachmentPatience)
        request.accept = "*/*"
        let answer: ClientRequest.Answer
        do throws(ClientRequest.Failure) { answer = try request.send(to: place, listener) } catch {
            if received.isTooLong { return .failure(.tooLarge("the recording", received.bytes.count, longest)) }
            if error.isEnded { return nil }
            return .failure(ModelFault(.missing, "the node does not give the recording", words: error.reason))
        }
        guard answer.status == 200 else {
            return .failure(
                ModelFault(
                    .missing, "the node does not give the recording: HTTP status \(answer.status)",
                    status: answer.status, retryAfter: answer.retryAfter))
        }
        guard SHA256().digest(received.bytes) == item.digest else {
            return .failure(ModelFault(.missing, "the node gave other bytes than those of the recording"))
        }
        return .success(received.bytes)
    }

    /// Gives the node bytes that an event will name.
    func keep(
        _ media: Media, meanwhile: () -> Bool
    ) throws(CommandFailure) -> Result<AttachmentItem, CommandFailure> {
        let digest = SHA256().digest(media.bytes)
        var request = ClientRequest(
            method: "POST", target: Route.attachments.path, body: media.bytes, contentType: media.mediaType,
            timeout: Self.attachmentPatience)
        request.headers = ["Sillok-Sha256: \(digest)"]
        let answer = try ask(request, accepting: [400, 403, 413, 415, 422], meanwhile: meanwhile)
        guard (200..<300).contains(answer.status) else {
            return .failure(ErrorAnswer(body: answer.body, status: answer.status).failure(status: answer.status))
        }
        return .success(
            AttachmentItem(digest: digest, bytes: UInt64(media.bytes.count), mediaType: media.mediaType))
    }

    /// Milliseconds: the node itself may ask a peer for the bytes.
    private static let attachmentPatience = 60_000
}

/// Bytes as they come, within a bound.
private final class Received {
    var isError = false
    private(set) var isTooLong = false
    private(set) var bytes: [UInt8] = []
    private let longest: Int

    init(longest: Int) { self.longest = longest }

    func take(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard !isError else { return true }
        isTooLong = bytes.count + piece.count > longest
        bytes += piece
        return !isTooLong
    }
}
