/// Cuts the bytes of one connection into requests, which end with `;`.
///
/// What it holds is bounded: one unfinished request, as many whole ones as may wait, and what came with the last of these.
package struct RequestReader: Sendable {
    /// What comes next on a connection.
    package enum Piece: Equatable, Sendable {
        /// A request without its `;`.
        case request([UInt8])
        /// More bytes came than a request may have. Nothing after it is read.
        case tooLong
    }

    /// Bytes of a request, without its `;`.
    package static let longest = 1_024
    /// Whole requests that may wait; who sends more is not read until there are fewer.
    package static let mostWaiting = 16

    private var waiting: [Piece] = []
    private var taken = 0
    private var unfinished: [UInt8] = []
    private var isOver = false

    package init() {}

    /// Whether more bytes are wanted now.
    package var wantsMore: Bool { !isOver && waiting.count - taken < Self.mostWaiting }

    /// Whether a request has begun and not ended.
    package var isInRequest: Bool { !unfinished.isEmpty }

    /// Takes bytes as they come, however they were cut.
    package mutating func append(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            guard !isOver else { return }
            switch byte {
            case UInt8(ascii: ";"):
                waiting.append(.request(unfinished))
                unfinished = []
            case _ where unfinished.isEmpty && byte.isBlank: continue
            default:
                unfinished.append(byte)
                guard unfinished.count > Self.longest else { continue }
                (unfinished, isOver) = ([], true)
                waiting.append(.tooLong)
            }
        }
    }

    /// What came first of what was not taken yet; `nil` if nothing is whole.
    package mutating func next() -> Piece? {
        guard taken < waiting.count else { return nil }
        defer {
            taken += 1
            if taken == waiting.count { (waiting, taken) = ([], 0) }
        }
        return waiting[taken]
    }
}

extension UInt8 {
    /// Blanks, and line ends.
    var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0d || self == 0x0a }
}
