internal import Glibc

/// Where the last acknowledged commit ended: `log.end` of the store (docs/reference/FORMATS.md).
///
/// Written after each commit, when the disk has that and before anyone is told, into memory of the kernel: that outlives the process. So a log
/// that ends before it has lost what was acknowledged. After a power cut it may be older than the log; newer only where commits
/// are not synced. A snapshot that takes the log's place has all of that log, so it holds for the new one, too.
struct LogEnd: Hashable, Sendable {
    static let byteCount = 80
    private static let magic = Array("SilEnd1\n".utf8)

    /// Of the store it is about.
    let incarnation: UInt64
    /// The log's last position.
    let position: UInt64
    /// The origin the node appends to, and how many of its events there are.
    let origin: OriginID
    let size: UInt64
    /// Made with the node's key over all that, and over the seal of those events.
    let seal: UUIDBits

    /// What stands in a store's file.
    enum Found: Hashable, Sendable {
        case missing
        /// Not whole, or no such file.
        case unreadable
        case end(LogEnd)

        init(_ files: StoreFiles) throws(StoreError) {
            guard let bytes = try SmallFile.read(files.end) else {
                self = .missing
                return
            }
            self = LogEnd(bytes).map(Found.end) ?? .unreadable
        }
    }

    /// What the file has: 64 bytes, and 16 of their SHA-256.
    let bytes: [UInt8]

    /// - Parameters:
    ///   - history: The ``Sealer/Purpose/events`` seal of the origin's events, as of the last commit that had any.
    ///   - sealer: The node's, of ``Sealer/Purpose/end``.
    init(
        incarnation: UInt64, position: UInt64, origin: OriginID, size: UInt64, history: UUIDBits, _ sealer: Sealer,
        _ sha: SHA256
    ) {
        (self.incarnation, self.position, self.origin, self.size) = (incarnation, position, origin, size)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes += Self.magic
        bytes.appendBigEndian(incarnation)
        bytes.appendBigEndian(position)
        origin.bits.append(to: &bytes)
        bytes.appendBigEndian(size)
        history.append(to: &bytes)
        seal = sealer.seal(bytes)
        bytes.removeLast(16)
        seal.append(to: &bytes)
        let digest = sha.digest(bytes)
        bytes.appendBigEndian(digest.words.0)
        bytes.appendBigEndian(digest.words.1)
        self.bytes = bytes
    }

    /// Whether the node made it of a history with this seal.
    func isSealed(_ history: UUIDBits, by sealer: Sealer) -> Bool {
        var text = Array(bytes.prefix(48))
        history.append(to: &text)
        return sealer.seal(text) == seal
    }

    /// `nil` if those are not the bytes of one.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic),
            SHA256().digest(Array(bytes.prefix(64))).bytes.prefix(16) == bytes.suffix(16)
        else { return nil }
        func word(_ offset: Int) -> UInt64 { bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        (incarnation, position, size) = (word(8), word(16), word(40))
        origin = OriginID(UUIDBits(high: word(24), low: word(32)))
        seal = UUIDBits(high: word(48), low: word(56))
        self.bytes = bytes
    }
}

/// The file, while the store is open for writing.
final class LogEndFile: Sendable {
    private let path: String
    private let descriptor: Int32
    private let held: HeldFiles

    /// Makes the file anew, durably, before the store counts as open.
    init(_ files: StoreFiles, _ end: LogEnd) throws(StoreError) {
        path = files.end
        try SmallFile.replace(path, with: end.bytes, mode: 0o600)
        descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw .system(path) }
        held = HeldFiles([path])
    }

    deinit { close(descriptor) }

    /// What has become of it if its name does not lead to it any more.
    var loss: String? { held.loss }

    func note(_ end: LogEnd) throws(StoreError) {
        let bytes = end.bytes
        while true {
            let count = pwrite(descriptor, bytes, bytes.count, 0)
            if count == bytes.count { return }
            if count < 0, errno == EINTR { continue }
            throw count < 0 ? .system(path) : .io("\(path): no room for \(bytes.count) bytes")
        }
    }
}

/// Knows where the durable log of an open store ends, and says so in ``LogEndFile`` from ``keep(_:)`` on. Looks once a second whether what
/// ends there is still the store's.
final class LogEndKeeper: Sendable {
    private struct State {
        var last: LogEnd?
        var file: LogEndFile?
        /// When it was looked last; nanoseconds of the monotonic clock.
        var looked = MonotonicClock.now
    }

    private static let lookNanoseconds: UInt64 = 1_000_000_000

    private let held: HeldFiles
    private let state: Lock<State>

    /// - Parameter held: The log's files, which are open for writing.
    init(_ last: LogEnd?, _ held: HeldFiles) {
        self.held = held
        state = Lock(State(last: last))
    }

    /// What the run before has left has been looked at: from now on the file is this run's.
    func keep(_ files: StoreFiles) throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            if let last = state.last { state.file = try LogEndFile(files, last) }
        }
    }

    /// The last position that the disk has.
    var position: UInt64 { state.withLock { $0.last?.position ?? 0 } }

    /// What has become of the files, if the name of one does not lead to it any more.
    var loss: String? { state.withLock { look(&$0) } }

    private func look(_ state: inout State) -> String? {
        state.looked = MonotonicClock.now
        return held.loss ?? state.file?.loss
    }

    /// The disk has what ends there. Fails where its files are lost.
    func note(_ end: LogEnd) throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            let isDue = MonotonicClock.now - state.looked >= Self.lookNanoseconds
            if isDue, let loss = look(&state) { throw .lost(loss) }
            state.last = end
            try state.file?.note(end)
        }
    }
}
