internal import CommandLineKit
internal import EventStore
internal import GatewayKit
internal import Glibc
internal import SillokAPI
internal import SillokClient
internal import SyncEngine

/// A gateway from its start to its orderly end.
struct Gateway {
    private let configuration: GatewayConfiguration
    private let transit: Transit
    private let log: GatewayLog
    private let figures = Figures()

    /// The servers, and the ports that they were given.
    private struct Started: Sendable {
        let serving: LoopBound<Serving>
        let lines: UInt16
        let web: UInt16?
    }

    init(_ configuration: GatewayConfiguration) throws(CommandFailure) {
        self.configuration = configuration
        transit = try GatewayConfiguration.transit(configuration.data)
        try configuration.node.check()
        log = GatewayLog(isJSON: configuration.logsJSON)
    }

    func run() throws(CommandFailure) -> ExitCode {
        // Before any thread: all of them have these blocked, and this one waits for them.
        let ending = [SIGINT, SIGTERM]
        EventLoop.blockSignals(ending + [SIGHUP])
        Self.allowDescriptors()
        do throws(TransportError) { try serve(until: ending) } catch {
            throw CommandFailure(
                code: "E_LISTEN", "cannot listen: \(error)", hint: "listen and web of the configuration",
                exitCode: .unreachable)
        }
        log.info("ended", "ended")
        return .success
    }

    private func serve(until ending: [Int32]) throws(TransportError) {
        let loop = try EventLoop()
        try loop.start(name: "gateway-loop")
        defer { loop.stop() }
        let told = Lock<LoopBound<Desk>?>(nil)
        let recorder = Recorder(configuration, figures, log) { outcomes in
            // One job of the loop for all that went out together.
            told.withLock { $0 }?.post { $0.told(outcomes) }
        }
        recorder.start()
        defer { recorder.end() }
        let started = loop.sync { [configuration, transit, figures, log] () -> Result<Started, TransportError> in
            let desk = Desk(transit, recorder, patience: configuration.patience, figures, log)
            let bound = loop.bind(desk)
            told.withLock { $0 = bound }
            let serving = Serving(loop, desk)
            do throws(TransportError) {
                let ports = try serving.listen(configuration)
                return .success(Started(serving: loop.bind(serving), lines: ports.lines, web: ports.web))
            } catch { return .failure(error) }
        }
        guard let started else { throw .loopNotRunning }
        let serving = try started.get().serving
        var place = configuration.listen
        place?.port = try started.get().lines
        log.info(
            "\(transit.cities.count) cities, \(transit.lineCount) lines, \(transit.stationCount) stations; "
                + "listening at \(place?.text ?? "")", "started")
        if let web = try started.get().web, var address = configuration.web {
            address.port = web
            log.info("the page is at http://\(address.text)/arrive/", "page")
        }
        wait(for: ending, serving)
        end(serving)
    }

    /// Until one of the signals comes; figures are written meanwhile.
    private func wait(for ending: [Int32], _ serving: LoopBound<Serving>) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in ending + [SIGHUP] { sigaddset(&signals, signal) }
        while true {
            var pause = timespec(tv_sec: 10, tv_nsec: 0)
            let signal = sigtimedwait(&signals, nil, &pause)
            // Data and configuration are not read again: a gateway is started anew in a moment.
            if ending.contains(signal) { break }
            if signal < 0 { write(serving) }
        }
    }

    /// No more questions; those under way are answered, or their time runs out.
    private func end(_ serving: LoopBound<Serving>) {
        _ = serving.sync { $0.end() }
        let last = MonotonicClock.now + (configuration.patience + 1_000) * 1_000_000
        while MonotonicClock.now < last, serving.sync({ $0.isDone }) == false { sleepMilliseconds(10) }
        write(serving)
    }

    private func write(_ serving: LoopBound<Serving>) {
        guard let path = configuration.metrics else { return }
        _ = serving.sync { $0.note() }
        if !figures.text.write(to: path) { log.warning("the figures cannot be written to \(path)", "E_IO") }
    }

    /// As many file descriptors as the system grants: a client takes one.
    private static func allowDescriptors() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
