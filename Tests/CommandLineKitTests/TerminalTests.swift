import Foundation
import TestSupport
import Testing

@testable import CommandLineKit

@Suite struct TerminalTests {
    @Test("A terminal gets no DEL and no C1 control, and the same JSON; a file gets every byte")
    func controls() throws {
        let json = "{\"text\":\"a\u{7f}\u{80}\u{9b}31m\u{a0}\u{c2}한\"}\n"
        let controller = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var (lock, number) = (Int32(0), Int32(0))
        // TIOCSPTLCK and TIOCGPTN of ioctl_tty(2).
        let answers = [ioctl(controller, 0x4004_5431, &lock), ioctl(controller, 0x8004_5430, &number)]
        try #require(answers == [0, 0])
        let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0)
        let output = Output(descriptor: terminal)
        try output.write(json)
        try output.flush()
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(controller, &bytes, bytes.count)
        close(terminal)
        close(controller)
        let shown = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        #expect(!shown.unicodeScalars.contains { (0x7F..<0xA0).contains($0.value) }, "\(shown.debugDescription)")
        let decoded = try [shown, json].map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])["text"]
        }
        #expect(decoded[0] == decoded[1])
        let folder = try TemporaryFolder.made()
        let path = folder.file("plain")
        defer { withExtendedLifetime(folder) {} }
        let file = open(path, O_RDWR | O_CREAT, 0o600)
        let plain = Output(descriptor: file)
        try plain.write(json)
        try plain.flush()
        close(file)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == json)
    }

    @Test(
        arguments: [
            ([:], true, true), ([:], false, false), (["NO_COLOR": "1"], true, false), (["NO_COLOR": ""], true, true),
            (["TERM": "dumb"], true, false), (["CLICOLOR": "0"], true, false), (["CLICOLOR": "1"], true, true),
            (["CLICOLOR_FORCE": "1"], false, true), (["CLICOLOR_FORCE": "0"], false, false),
            (["CLICOLOR_FORCE": "1", "NO_COLOR": "1"], true, false),
            (["CLICOLOR_FORCE": "1", "TERM": "dumb"], false, true),
        ] as [([String: String], Bool, Bool)])
    func automaticColour(environment: [String: String], isTerminal: Bool, expected: Bool) {
        let terminal = Terminal(interactive: isTerminal ? [.output] : [], environment: environment)
        #expect(terminal.usesColor(.output) == expected)
        #expect(terminal.usesColor(.output, choice: .always))
        #expect(!terminal.usesColor(.output, choice: .never))
    }

    @Test func colourIsDecidedPerStream() {
        let terminal = Terminal(interactive: [.error])
        #expect(terminal.usesColor(.error) && !terminal.usesColor(.output))
    }

    @Test func width() {
        #expect(Terminal(interactive: []).width == 80)
        #expect(Terminal(interactive: [.output], columns: 132).width == 132)
        #expect(Terminal(interactive: [.output], columns: 132, environment: ["COLUMNS": "100"]).width == 100)
        for nonsense in ["", "0", "-5", "wide", "99999999999999999999"] {
            #expect(Terminal(interactive: [], columns: 132, environment: ["COLUMNS": nonsense]).width == 132)
        }
    }

    @Test func accessibility() {
        #expect(Terminal(interactive: [], environment: ["ACCESSIBLE": "1"]).isAccessible)
        #expect(!Terminal(interactive: [], environment: ["ACCESSIBLE": "0"]).isAccessible)
        #expect(!Terminal(interactive: []).isAccessible)
    }

    @Test func theProcessHasAnEnvironment() {
        #expect(Terminal.current().environment["PATH"] == ProcessInfo.processInfo.environment["PATH"])
    }

    private func withPipe(_ body: (_ reader: Int32, _ writer: Int32) throws -> Void) throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends where end >= 0 { close(end) } }
        try body(ends[0], ends[1])
    }

    private func readAvailable(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }

    @Test func outputIsBufferedUntilFlushed() throws {
        try withPipe { reader, writer in
            _ = fcntl(reader, F_SETFL, O_NONBLOCK)
            let output = Output(descriptor: writer, capacity: 64)
            try output.line("안녕")
            try output.line(JSONLine(type: "end"))
            #expect(readAvailable(reader) == "")
            try output.flush()
            #expect(readAvailable(reader) == "안녕\n{\"type\":\"end\",\"v\":1}\n")
            try output.write(String(repeating: "x", count: 64))
            #expect(readAvailable(reader).count == 64, "a full buffer is written")
        }
    }

    @Test func aClosedReaderIsABrokenPipe() throws {
        Terminal.ignoreBrokenPipes()
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        let output = Output(descriptor: ends[1])
        try output.line("x")
        #expect(throws: CommandFailure.brokenPipe) { try output.flush() }
        #expect(throws: Never.self) { try output.flush() }
    }

    @Test func aFullDeviceIsAnError() throws {
        let descriptor = open("/dev/full", O_WRONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let output = Output(descriptor: descriptor)
        try output.line("x")
        let error = #expect(throws: CommandFailure.self) { try output.flush() }
        #expect(error?.exitCode == .cannotCreate && error?.code == "E_DISK")
    }

    @Test func aSlowNonBlockingReaderGetsEverything() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        _ = fcntl(writer, F_SETFL, O_NONBLOCK)
        let length = 1_000_000
        let counter = Thread.detached {
            var bytes = [UInt8](repeating: 0, count: 10_000)
            var total = 0
            while case let count = read(reader, &bytes, bytes.count), count > 0 { total += count }
            return total
        }
        let output = Output(descriptor: writer, capacity: length)
        try output.write([UInt8](repeating: 0x78, count: length))
        try output.flush()
        close(writer)
        #expect(await counter.value == length)
        close(reader)
    }
}

extension Thread {
    /// Runs blocking work on a thread of its own.
    fileprivate static func detached(_ work: @escaping @Sendable () -> Int) -> Task<Int, Never> {
        let stream = AsyncStream<Int> { continuation in
            Thread.detachNewThread {
                continuation.yield(work())
                continuation.finish()
            }
        }
        return Task {
            for await value in stream { return value }
            return -1
        }
    }
}

@Suite struct ProgressTests {
    @Test func theBarIsDrawnAtMostTenTimesASecond() {
        var meter = ProgressMeter("verify", unit: "events", style: .bar(columns: 80))
        var drawn = 0
        for now in stride(from: Int64(0), through: 1_000, by: 5) {
            if meter.update(done: UInt64(now), total: 1_000, now: now) != nil { drawn += 1 }
        }
        #expect(drawn == 11)
    }

    @Test func aBarShowsRateAndRemainingTime() {
        var meter = ProgressMeter("확인", unit: "events", style: .bar(columns: 80))
        _ = meter.update(done: 0, total: 1_000, now: 0)
        let text = meter.update(done: 500, total: 1_000, now: 5_000) ?? ""
        #expect(text.hasPrefix("\r[###############"))
        #expect(text.contains("확인: 500 of 1000 events, 100/s, 5s left"))
        let last = meter.finish(done: 1_000, total: 1_000, now: 10_000) ?? ""
        #expect(last.hasSuffix("\n") && !last.contains("left"))
        #expect(!last.contains("-"))
    }

    @Test(arguments: [1, 5, 20, 40, 60, 200])
    func theBarFitsTheTerminal(columns: Int) {
        var meter = ProgressMeter("두통 label \u{1B}[2J", unit: "events", style: .bar(columns: columns))
        for now in [0, 1_000, 2_000] as [Int64] {
            let text = meter.update(done: UInt64(now), total: 5_000, now: now) ?? ""
            #expect(DisplayWidth.of(text) <= max(1, columns - 1))
            #expect(!text.contains("\u{1B}"))
        }
    }

    @Test func aShorterLineCoversTheLongerOne() {
        var meter = ProgressMeter("x", unit: "events", style: .bar(columns: 80))
        let long = meter.update(done: 1, total: nil, now: 0) ?? ""
        _ = meter.update(done: 1_000_000_000, total: nil, now: 1_000)
        let short = meter.update(done: 1, total: nil, now: 2_000) ?? ""
        #expect(short.count > long.count)
        #expect(short.hasSuffix(" "))
    }

    @Test func linesComeEveryTenSeconds() {
        var meter = ProgressMeter("import", unit: "events", style: .lines)
        let shown = (0...35).compactMap { meter.update(done: UInt64($0 * 10), total: nil, now: Int64($0) * 1_000) }
        #expect(shown == ["import: 100 events, 10/s\n", "import: 200 events, 10/s\n", "import: 300 events, 10/s\n"])
        var quick = ProgressMeter("import", unit: "events", style: .lines)
        #expect(quick.update(done: 1, total: 2, now: 0) == nil)
        #expect(quick.finish(done: 2, total: 2, now: 50) == nil)
    }

    @Test func jsonLines() {
        var meter = ProgressMeter("verify", unit: "events", style: .json)
        _ = meter.update(done: 0, total: 100, now: 0)
        #expect(meter.update(done: 1, total: 100, now: 999) == nil)
        #expect(
            meter.update(done: 10, total: 100, now: 1_000) == """
                {"type":"progress","v":1,"label":"verify","unit":"events","done":10,"total":100,\
                "per_second":10.0,"remaining_ms":9000}

                """)
    }

    @Test func quietSaysNothing() {
        var meter = ProgressMeter("x", unit: "y", style: .off)
        #expect(meter.update(done: 1, total: 2, now: 0) == nil)
        #expect(meter.finish(done: 1, total: 2, now: 100_000) == nil)
    }

    @Test func extremesDoNotCrash() {
        for style in [ProgressMeter.Style.bar(columns: 80), .lines, .json] {
            var meter = ProgressMeter("x", unit: "y", style: style)
            for now in [0, 1, 20_000, 40_000_000] as [Int64] {
                _ = meter.update(done: .max, total: 0, now: now)
                _ = meter.update(done: 1, total: .max, now: now + 20_000)
            }
        }
    }

    @Test func styles() {
        let terminal = Terminal(interactive: [.error], columns: 100)
        #expect(ProgressMeter.style(terminal: terminal, json: false, quiet: false) == .bar(columns: 100))
        #expect(ProgressMeter.style(terminal: terminal, json: true, quiet: false) == .json)
        #expect(ProgressMeter.style(terminal: terminal, json: true, quiet: true) == .off)
        var accessible = terminal
        accessible.environment["ACCESSIBLE"] = "1"
        #expect(ProgressMeter.style(terminal: accessible, json: false, quiet: false) == .lines)
        #expect(ProgressMeter.style(terminal: Terminal(interactive: []), json: false, quiet: false) == .lines)
    }
}
