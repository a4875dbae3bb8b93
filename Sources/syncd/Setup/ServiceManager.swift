internal import EventStore
internal import Glibc

/// systemd, where it has started the daemon: what it hands over, and what it wants to hear (sd_notify(3), sd_listen_fds(3),
/// sd_watchdog_enabled(3)). Each is a few lines of a stable protocol; no library is needed for that.
struct ServiceManager: Sendable {
    /// A socket that listens already and outlives a start of the daemon.
    struct Given: Sendable, Equatable {
        enum Kind: Sendable { case unix, tcp, other }

        let descriptor: Int32
        /// `FileDescriptorName=` of the unit.
        let name: String
        let kind: Kind
    }

    /// The address to tell; `nil` where none wants to hear.
    private let address: String?
    /// Nanoseconds within which it wants a sign of life; `nil` if it wants none.
    let watchdog: UInt64?
    /// What listens already.
    let given: [Given]

    /// systemd's first descriptor.
    private static let firstDescriptor: Int32 = 3

    /// - Parameters:
    ///   - environment: What the process was started with.
    ///   - process: Its number: variables that speak of another were inherited and are not meant for it.
    init(environment: [String: String], process: Int32 = getpid()) {
        address = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
        let isWatched = environment["WATCHDOG_PID"].map { Int32($0) == process } ?? true
        let limit = environment["WATCHDOG_USEC"].flatMap { UInt64($0) }.flatMap { $0 > 0 ? $0 : nil }
        watchdog = isWatched ? limit.map { min($0, 1 << 40) * 1_000 } : nil
        guard environment["LISTEN_PID"].flatMap({ Int32($0) }) == process,
            let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), (1...64).contains(count)
        else {
            given = []
            return
        }
        let names = environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        given = (0..<count).map { index in
            let descriptor = Self.firstDescriptor + index
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let name = Int(index) < names.count ? String(names[Int(index)]) : ""
            return Given(descriptor: descriptor, name: name, kind: Self.kind(of: descriptor))
        }
    }

    /// The socket of the API; `nil` if the daemon makes its own.
    var api: Given? { given.first { $0.kind == .unix } }
    /// The socket for metrics over TCP; `nil` if the daemon makes its own, or has none.
    var metrics: Given? { given.first { $0.kind == .tcp } }
    /// What the daemon has no use for.
    var useless: [Given] { given.filter { $0 != api && $0 != metrics } }

    /// A second descriptor of the same socket, for a server that closes its own at its end.
    static func copy(of given: Given) -> Int32 { fcntl(given.descriptor, F_DUPFD_CLOEXEC, 16) }

    private static func kind(of descriptor: Int32) -> Given.Kind {
        func option(_ name: Int32) -> Int32? {
            var value: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : nil
        }
        guard option(SO_ACCEPTCONN) == 1, option(SO_TYPE) == Int32(SOCK_STREAM.rawValue) else { return .other }
        switch option(SO_DOMAIN) {
        case AF_UNIX: return .unix
        case AF_INET, AF_INET6: return .tcp
        default: return .other
        }
    }

    // MARK: What it is told

    /// What the daemon tells by itself.
    enum News {
        /// Clients are served.
        case ready
        /// The configuration is read again; ``ready`` ends that.
        case reloading
        case stopping
        /// The threads that clients wait for answer.
        case alive
        /// A start that takes long goes on.
        case starting(String)
        /// A sentence for `systemctl status`.
        case status(String)

        var text: String {
            switch self {
            case .ready: "READY=1\nSTATUS=ready"
            // The time is for units of Type=notify-reload, which wait for it.
            case .reloading: "RELOADING=1\nMONOTONIC_USEC=\(MonotonicClock.now / 1_000)"
            case .stopping: "STOPPING=1\nSTATUS=stopping"
            case .alive: "WATCHDOG=1"
            case .starting(let what): "EXTEND_TIMEOUT_USEC=60000000\nWATCHDOG=1\nSTATUS=\(what)"
            case .status(let text): "STATUS=" + text
            }
        }
    }

    /// One datagram. That it does not arrive stops nothing.
    func tell(_ news: News) {
        guard let address else { return }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var path = Array(address.utf8)
        guard path.count < MemoryLayout.size(ofValue: name.sun_path) else { return }
        // An abstract address begins with a zero.
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
        let line = news.text.split(separator: "\n").map { $0.filter { $0 >= " " } }.joined(separator: "\n")
        let bytes = Array(line.utf8)
        _ = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(
                    descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT), $0,
                    length)
            }
        }
    }

    /// While something goes on that may take long, as recovery, asks for more time every ten seconds: for an hour at most, so that a
    /// start that hangs is ended some time.
    func whileStarting<Value, Failure: Error>(
        _ what: String, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard address != nil else { return try body() }
        let isOver = Monitor(false)
        let pause = Int(min(10_000, (watchdog ?? .max) / 3_000_000))
        let thread = WorkerThread(name: "start") {
            for _ in 0..<(3_600_000 / max(pause, 1)) {
                if isOver.wait(milliseconds: pause, for: { $0 ? true : nil }) != nil { return }
                tell(.starting(what))
            }
        }
        defer {
            isOver.wakeAll { $0 = true }
            thread.join()
        }
        return try body()
    }
}
