// Bodies that are handed out as they come, and the limits of time.
extension HTTPConnection {
    /// Whether the client may still be sending what no one reads any more once the request is answered.
    var hasUnreadBody: Bool { upload != nil }

    func takeBody(onPiece: @escaping ([UInt8]) -> Void, onEnd: @escaping (Bool) -> Void) {
        guard let upload else { return onEnd(false) }
        (upload.onPiece, upload.onEnd) = (onPiece, onEnd)
        pump()
    }

    func bodyTaken(_ bytes: Int) {
        upload?.waiting -= bytes
        pump()
    }

    /// Hands on what has come of the body, as far as there is room, and reads on only then.
    func pump() {
        guard case .answering(let transaction) = phase else { return }
        while let upload {
            guard upload.hasRoom(limits) else { return watchReading(false) }
            do throws(HTTPFault) {
                switch try parser.next() {
                case .incomplete: return hasEnded ? close() : watchReading(true)
                case .expectsContinue: send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
                case .piece(let bytes): upload.take(bytes)
                case .ended:
                    self.upload = nil
                    parser.giveBack()
                    if !hasEnded { watchReading(true) }
                    upload.onEnd?(true)
                case .begun, .request: return
                }
            } catch {
                transaction.refuse(error.status, error.reason)
                return endUpload()
            }
        }
    }

    func endUpload() {
        guard let upload = upload.take() else { return }
        upload.onEnd?(false)
    }

    /// Looks at the clock for the limits of time.
    func check(now: UInt64) {
        let isIdle = now > lastProgress && now - lastProgress > idleTimeout
        switch phase {
        case .reading:
            let limit = parser.isInHead ? headDeadline : requestDeadline
            let isLate = begun.map { now > $0 && now - $0 > limit } ?? false
            let isSilent = begun == nil && now > lastProgress && now - lastProgress > patience
            if now >= deadline || isSilent || isLate { close() }
        case .leaving: if now >= deadline { close() }
        // An answer may be quiet for long; but one that is there must be taken.
        case .answering, .flushing:
            let isSlow =
                isReading && upload?.isSlow(now: now, isIdle: isIdle, limits, after: requestDeadline) ?? false
            if isSlow || isIdle && outputLength > 0 { close() }
        case .closed: break
        }
    }
}
