internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

enum WaitCommand {
    static let entry = Subcommand(
        Command(
            "wait", "Waits until events are durable on several nodes", group: "Nodes",
            options: [
                .value(
                    "vector", "V", "<origin>/<seq> of each origin; - reads it (default: what the store holds now)."),
                .value("nodes", "K", "On how many nodes, this one counted (default: 2)."),
                .value("timeout", "SPAN", "Give up after so long, as 30s or 5m (default: never)."),
            ],
            examples: [
                .init("syncctl append -u u-1 --text 안녕 && syncctl wait --nodes 2", "the message is on two nodes"),
                .init("syncctl vector | syncctl wait --vector - --nodes 3 --timeout 30s", "with an end"),
            ],
            discussion: """
                A peer counts when it has acknowledged the events as durable: it has them after a crash too. Exit code 75 \
                when the time is over, 78 where this node knows too few others.
                """), run: run)

    /// Of one request; the daemon answers earlier when there is something to say.
    private static let poll: Int64 = 20_000
    /// After so long it says what it waits for.
    private static let silence: Int64 = 1_000

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let nodes = try usage { try session.arguments.integer("nodes", in: 1...1_000) } ?? 2
        let timeout = try span(session)
        let daemon = try DaemonClient.required(by: session, to: "tell what its peers have")
        let vector = try vector(session)
        let end = timeout.map { session.now + $0 }
        // First how it stands.
        var pause: Int64 = 0
        while true {
            let left = end.map { max(0, $0 - WallClock.now) } ?? .max
            let answer = try ask(daemon, vector, nodes, min(left, pause))
            try requireEnough(answer, nodes)
            if answer.isReached || left <= pause {
                try show(session, answer, nodes)
                guard answer.isReached else {
                    session.remark(.notDurable, String(answer.nodes.count), String(nodes))
                    return .tryAgain
                }
                return .success
            }
            if pause == silence {
                let here = answer.nodes.isEmpty ? "-" : answer.nodes.joined(separator: ", ")
                session.say(.waitsForNodes, String(nodes), here, answer.missing.joined(separator: ", "))
            }
            pause = pause == 0 ? silence : poll
        }
    }

    /// With the nodes that are known here it could not come to an end.
    private static func requireEnough(_ answer: Answer, _ nodes: Int) throws(CommandFailure) {
        let known = answer.nodes.count + answer.missing.count
        guard !answer.isReached, known < nodes else { return }
        throw CommandFailure(
            code: "E_TOO_FEW_NODES", "\(nodes) nodes are wanted; known here, this one counted: \(known)",
            hint: "syncctl peers invite here and syncctl peers join there, or --nodes \(known)",
            exitCode: .configuration)
    }

    private static func span(_ session: Session) throws(CommandFailure) -> Int64? {
        guard let text = session.arguments.value("timeout") else { return nil }
        do { return try TimeSpan.milliseconds(text) } catch {
            throw usageFailure("--timeout '\(text)' is no span, as 30s")
        }
    }

    private static func vector(_ session: Session) throws(CommandFailure) -> VersionVector {
        guard let text = session.arguments.value("vector") else {
            guard session.url == nil else {
                throw usageFailure(
                    "--vector says what is to be durable: of another node it is not known here",
                    hint: "what 'syncctl vector' prints there")
            }
            let files = try StoreLocation.find(for: session).files
            return try stored { try LogReader(files).vector() }
        }
        let words = text == "-" ? try standardInput() : text
        guard let vector = VersionVector(text: words), !vector.entries.isEmpty else {
            throw usageFailure("--vector is <origin>/<seq> of each origin, as 'syncctl vector' prints it")
        }
        return vector
    }

    private static func standardInput() throws(CommandFailure) -> String {
        var reader = LineReader(descriptor: StandardStream.input.rawValue)
        var words: [String] = []
        while let line = try reader.line(of: "stdin") {
            if case .text(let bytes, let range) = line.content {
                words.append(String(decoding: bytes[range], as: UTF8.self))
            }
        }
        return words.joined(separator: " ")
    }

    private struct Answer {
        let isReached: Bool
        let nodes: [String]
        /// Known nodes that do not have it.
        let missing: [String]
    }

    private static func ask(
        _ daemon: DaemonClient, _ vector: VersionVector, _ nodes: Int, _ milliseconds: Int64
    ) throws(CommandFailure) -> Answer {
        let answer = try daemon.ask(
            ClientRequest(
                method: "POST",
                target: Route.wait.path(with: [("nodes", "\(nodes)"), ("timeout_ms", "\(milliseconds)")]),
                body: Array(vector.text.utf8), contentType: "text/plain", timeout: Int(milliseconds) + 10_000))
        let object = JSONObject(validated: answer.body)
        guard let isReached = object.bool("reached"), let names = object.strings("nodes"),
            let missing = object.strings("missing")
        else { throw DaemonClient.misunderstood("no durability") }
        return Answer(isReached: isReached, nodes: names, missing: missing)
    }

    private static func show(_ session: Session, _ answer: Answer, _ nodes: Int) throws(CommandFailure) {
        guard session.isJSON || answer.isReached else { return }
        let names = answer.nodes.joined(separator: ", ")
        try session.line(Sanitizer.line(session.shown(.durableOn, names)), "durability") { line in
            line.add("reached", answer.isReached)
            line.add("wanted", nodes)
            line.add("nodes", answer.nodes)
            line.add("missing", answer.missing)
        }
        try session.end(count: 1)
    }
}
