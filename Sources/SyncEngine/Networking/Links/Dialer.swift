internal import Glibc

/// Why a call to another node did not get through.
package enum DialError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The name has no address; `reason` is the resolver's.
    case unknownHost(String, reason: String)
    /// No one listens there.
    case refused
    /// No answer in time, neither from the resolver nor from the host.
    case timedOut
    /// Another failure; the name of the `errno`.
    case socket(String)

    package var description: String {
        switch self {
        case .unknownHost(let host, let reason): "cannot find '\(host)': \(reason)"
        case .refused: "connection refused"
        case .timedOut: "no answer in time"
        case .socket(let name): "cannot connect: \(name)"
        }
    }
}

/// One attempt to reach a host over TCP: every address it has, in order, within one time limit.
///
/// ## Concurrency model
/// Not `Sendable`: belongs, with its completion, to the thread of its ``EventLoop``. Names are looked up by
/// `getaddrinfo(3)`, which blocks, on a thread of its own that ends with the answer; numeric addresses need none.
package final class Dialer: LoopResource {
    /// The descriptor is connected and non-blocking, and belongs to the receiver.
    package typealias Completion = (Result<Int32, DialError>) -> Void

    private let loop: EventLoop
    private let host: String
    private let deadline: ContinuousClock.Instant
    private var completion: Completion?
    private var addresses: ArraySlice<SocketAddress> = []
    private var descriptor: Int32 = -1
    private var watch: DescriptorWatch?
    private var timer: TimerToken?
    private var lastError = DialError.timedOut

    /// Starts dialling. `completion` runs once, in a later turn of the loop, unless ``cancel()`` comes first.
    package init(
        loop: EventLoop, host: String, port: UInt16, timeout: Duration = .seconds(5), completion: @escaping Completion
    ) {
        loop.assertOnLoop()
        self.loop = loop
        self.host = host
        self.completion = completion
        deadline = .now + timeout
        loop.adopt(self)
        timer = loop.schedule(after: timeout) { [unowned self] in finish(.failure(.timedOut)) }
        if case .success(let found) = SocketAddress.lookUp(host, port: port, numericOnly: true) {
            loop.schedule(after: .zero) { [weak self] in self?.connect(to: found) }
        } else {
            let this = loop.bind(self)
            lookUpOnThread(host, port: port) { answer in
                this.post { $0.resolved(answer) }
            }
        }
    }

    /// Gives up; the completion does not run.
    package func cancel() {
        loop.assertOnLoop()
        release()
    }

    func loopIsStopping() { release() }

    private func resolved(_ answer: Result<[SocketAddress], LookUpFailure>) {
        guard completion != nil else { return }
        switch answer {
        case .success(let found): connect(to: found)
        case .failure(let failure): finish(.failure(.unknownHost(host, reason: failure.reason)))
        }
    }

    private func connect(to found: [SocketAddress]) {
        guard completion != nil else { return }
        addresses = found[...]
        tryNext()
    }

    private func tryNext() {
        drop()
        guard let address = addresses.popFirst() else {
            finish(.failure(lastError))
            return
        }
        descriptor = socket(address.family, SocketType.nonBlockingStream, 0)
        guard descriptor >= 0 else { return failed(errno) }
        let result = address.withPointer { Glibc.connect(descriptor, $0, address.length) }
        guard result == 0 || errno == EINPROGRESS else { return failed(errno) }
        watch = DescriptorWatch(loop: loop, descriptor: descriptor, interest: .writable) { [unowned self] in
            answered()
        }
        // One dead address must not use up the time of those behind it.
        let share = (deadline - .now) / (addresses.count + 1)
        timer?.cancel()
        timer = loop.schedule(after: share) { [unowned self] in
            lastError = .timedOut
            tryNext()
        }
    }

    private func answered() {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        guard code == 0 else { return failed(code) }
        let connected = descriptor
        descriptor = -1
        finish(.success(connected))
    }

    private func failed(_ code: Int32) {
        lastError =
            switch code {
            case ECONNREFUSED: .refused
            case ETIMEDOUT: .timedOut
            default: .socket(errnoName(code))
            }
        tryNext()
    }

    private func finish(_ result: Result<Int32, DialError>) {
        guard let completion else { return }
        release()
        completion(result)
    }

    private func drop() {
        watch?.cancel()
        watch = nil
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
        descriptor = -1
    }

    private func release() {
        drop()
        timer?.cancel()
        timer = nil
        completion = nil
        loop.forget(self)
    }
}

/// What the resolver's thread takes along.
private final class LookUp {
    typealias Answer = @Sendable (Result<[SocketAddress], LookUpFailure>) -> Void
    let host: String
    let port: UInt16
    let answer: Answer

    init(host: String, port: UInt16, answer: @escaping Answer) {
        self.host = host
        self.port = port
        self.answer = answer
    }
}

private func lookUpOnThread(_ host: String, port: UInt16, answer: @escaping LookUp.Answer) {
    let context = Unmanaged.passRetained(LookUp(host: host, port: port, answer: answer))
    var thread = pthread_t()
    let code = pthread_create(
        &thread, nil,
        { context in
            guard let context else { return nil }
            let lookUp = Unmanaged<LookUp>.fromOpaque(context).takeRetainedValue()
            lookUp.answer(SocketAddress.lookUp(lookUp.host, port: lookUp.port, numericOnly: false))
            return nil
        }, context.toOpaque())
    guard code == 0 else {
        context.release()
        answer(.failure(LookUpFailure(code: EAI_AGAIN)))
        return
    }
    pthread_detach(thread)
}
