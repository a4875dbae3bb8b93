internal import GatewayKit
internal import SyncEngine

/// One client of the line protocol: its questions are answered one after the other, and each stands alone.
///
/// A client that does not take its answers is asked for nothing more: at most one answer waits for it.
final class TripLink {
    private let link: LineLink
    private let desk: Desk
    private let replyEnd: [UInt8]
    private let trip = Trip(random: (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)))
    private var reader = RequestReader()
    private var asked: UInt64 = 0
    private var isAsking = false
    /// It has sent what is no text. The log is told once: it must not grow by what costs a stranger nothing.
    private var hasFaulted = false
    private var isServing = false
    private var isOver = false

    /// - Parameter gone: Told when the client is.
    init(_ link: LineLink, _ desk: Desk, replyEnd: String, gone: @escaping () -> Void) {
        (self.link, self.desk, self.replyEnd) = (link, desk, Array(replyEnd.utf8))
        // The link holds this object until it is closed, and lets go of all four then.
        link.onBytes = { [self] bytes in
            reader.append(bytes)
            serve()
        }
        link.onEnd = { [self] in serve() }
        link.onDrained = { [self] in serve() }
        link.onClosed = { [self] in
            isOver = true
            gone()
        }
    }

    /// No more questions are taken; the one that is under way is answered.
    func end() {
        isOver = true
        if !isAsking { link.finish() }
    }

    private func serve() {
        guard !isServing else { return }
        isServing = true
        defer { isServing = false }
        while !isOver, !isAsking, link.isDrained {
            guard let piece = reader.next() else {
                // Half a request is none.
                if link.hasEnded { end() }
                break
            }
            ask(piece)
        }
        if !isOver { link.isReading = reader.wantsMore && !link.hasEnded }
    }

    private func ask(_ piece: RequestReader.Piece) {
        isAsking = true
        asked += 1
        let place = hasFaulted ? nil : "connection \(link.number)"
        desk.ask(piece, of: trip, number: asked, at: place) { [self] answered in
            isAsking = false
            hasFaulted = answered.answer == .refused(.encoding)
            link.touch()
            link.send(Array(answered.answer.text.utf8) + replyEnd)
            if isOver || piece == .tooLong { end() }
            serve()
        }
    }
}
