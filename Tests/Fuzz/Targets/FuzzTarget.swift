/// Code that reads what strangers wrote, driven by arbitrary bytes. libFuzzer looks for bytes that make it fail
/// (Scripts/fuzz); the tests replay those it has kept.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// A stream of bytes from a peer, cut into frames and these read as messages.
    case frames
    /// The body of one message of any type, compressed or not.
    case messages
    /// A script of frames, answers and timers for one session.
    case session
    /// Events of a peer with heads and proofs, changed on the way; some signed by the changer.
    case ingest
    /// Rows of a snapshot.
    case rows
    /// A canonical header.
    case headers
    /// A consistency proof.
    case proofs
    /// A JSON payload and the values in it.
    case json
    /// A native line, as an import or the append endpoint reads it.
    case lines
    /// What a request over HTTP says in its header fields, path and query.
    case http
    /// Events with any payload in the views.
    case views
    /// Text from a chat, before it reaches a terminal.
    case terminal
    /// Tokens of identity providers, sets of their keys, and grants.
    case tokens
    /// What callers and peers keep and bring back: cursors, deliveries, done sets.
    case places
    /// What a model's endpoint answers, and what a bot makes of it.
    case answers
    /// A manifest, or a segment, of a backup.
    case backups
    /// What a client of the gateway sends, and its data file.
    case requests

    /// Runs the target once. Throws if a promise of the code under test was broken; a trap ends the process.
    package func run(_ bytes: [UInt8]) throws {
        switch self {
        case .frames: try fuzzFrames(bytes)
        case .messages: try fuzzMessages(bytes)
        case .session: try fuzzSession(bytes)
        case .ingest: try fuzzIngest(bytes)
        case .rows: try fuzzRows(bytes)
        case .headers: try fuzzHeaders(bytes)
        case .proofs: try fuzzProofs(bytes)
        case .json: try fuzzJSON(bytes)
        case .lines: try fuzzLines(bytes)
        case .http: try fuzzHTTP(bytes)
        case .views: try fuzzViews(bytes)
        case .terminal: try fuzzTerminal(bytes)
        case .tokens: try fuzzTokens(bytes)
        case .places: try fuzzPlaces(bytes)
        case .answers: try fuzzAnswers(bytes)
        case .backups: try fuzzBackups(bytes)
        case .requests: try fuzzRequests(bytes)
        }
    }
}

/// A promise that was broken.
struct BrokenPromise: Error, CustomStringConvertible {
    let description: String
}

func promise(_ isKept: Bool, _ text: @autoclosure () -> String) throws {
    if !isKept { throw BrokenPromise(description: text()) }
}
