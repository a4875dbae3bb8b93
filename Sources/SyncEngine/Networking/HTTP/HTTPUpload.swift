internal import EventStore

/// A body that is handed out as it comes. Loop thread only.
final class HTTPUpload {
    var onPiece: (([UInt8]) -> Void)?
    var onEnd: ((Bool) -> Void)?
    /// Bytes that were handed out and not told to be done with.
    var waiting = 0
    private var count: UInt64 = 0
    private let began = MonotonicClock.now

    /// Whether who takes it has asked for it, and has room.
    func hasRoom(_ limits: HTTPLimits) -> Bool { onPiece != nil && waiting < limits.streamedAhead }

    func take(_ bytes: [UInt8]) {
        waiting += bytes.count
        count += UInt64(bytes.count)
        onPiece?(bytes)
    }

    /// Whether its client sends nothing, or too little to be waited for.
    ///
    /// - Parameter grace: So long it may take to become faster, nanoseconds.
    func isSlow(now: UInt64, isIdle: Bool, _ limits: HTTPLimits, after grace: UInt64) -> Bool {
        if isIdle { return true }
        guard waiting == 0, now > began, now - began > grace else { return false }
        let (needed, isOver) = ((now - began) / 1_000_000).multipliedReportingOverflow(by: limits.streamedRate)
        return isOver || count < needed / 1_000
    }
}
