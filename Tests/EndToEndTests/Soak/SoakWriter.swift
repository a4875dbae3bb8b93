import Foundation

/// Appends to one node through its API, again and again until each batch is acknowledged, and remembers what was.
///
/// ## Concurrency model
/// `@unchecked Sendable`: its thread alone writes; what it remembers is read after ``stop()`` has waited for it, the counters
/// under `lock`.
final class SoakWriter: @unchecked Sendable {
    private let node: SoakNode
    private let number: Int
    private let lock = NSLock()
    private var isStopping = false
    private let ended = DispatchSemaphore(value: 0)
    /// Position by id, as it was acknowledged.
    private(set) var acknowledged: [String: String] = [:]
    /// All ids that were ever sent.
    private(set) var sent = 0
    private(set) var refusals = 0
    /// An answer that no daemon may give.
    private(set) var surprise: String?

    init(_ number: Int, to node: SoakNode) {
        self.number = number
        self.node = node
    }

    func start() {
        Thread.detachNewThread { [self] in
            while !lock.withLock({ isStopping }) {
                let batch = nextBatch()
                while !deliver(batch), !lock.withLock({ isStopping }) { usleep(50_000) }
                usleep(100_000)
            }
            ended.signal()
        }
    }

    func stop() {
        lock.withLock { isStopping = true }
        ended.wait()
    }

    private func id(_ index: Int) -> String {
        "0198e2c4-0000-7000-8\(String(format: "%03d", number))-\(String(format: "%012d", index))"
    }

    private func nextBatch() -> [String] {
        let lines = (0..<20).map { offset -> String in
            let index = sent + offset
            let user = "u-\(index % 13)"
            let subject = #""subject":"conversation/c-\#(index % 5)","#
            let (type, data) =
                switch index % 20 {
                case 0: ("conversation.started", #"{"title":"상담 \#(index)","participants":["\#(user)","bot"]}"#)
                case 1: ("profile.changed", #"{"fields":{"city":"\#(number)-\#(index)"}}"#)
                case 2: ("survey.answered", #"{"survey":"s","question":"q","rating":\#(index % 5)}"#)
                // No view can read this one.
                case 3: ("survey.answered", #"{"survey":7}"#)
                // 65 before it the same user has said something in the same conversation.
                case 4 where index >= 65: ("message.edited", #"{"message":"\#(id(index - 65))","text":"고침"}"#)
                default:
                    ("message.posted", #"{"text":"말 \#(index) \#(String(repeating: "길다 ", count: index % 50))"}"#)
                }
            return #"{"id":"\#(id(index))","type":"\#(type)",\#(subject)"user":"\#(user)","data":\#(data)}"#
        }
        sent += lines.count
        return lines
    }

    /// Sends the batch, the same one after every failure. True when it is acknowledged.
    private func deliver(_ lines: [String]) -> Bool {
        let body = lines.joined(separator: "\n")
        guard let (status, answers, text) = node.api.ask("POST", "/v1/events?atomicity=each", body: body, seconds: 5)
        else {
            return false
        }
        guard status == 200 else {
            refusals += 1
            if status != 503 { surprise = "HTTP \(status) \(text) at \(Date())" }
            return false
        }
        for line in answers where line["type"] as? String != "end" {
            guard let kind = line["type"] as? String, kind == "appended" || kind == "already",
                let id = line["id"] as? String, let place = line["position"] as? Int
            else {
                surprise = "\(line)"
                continue
            }
            let position = String(place)
            if let before = acknowledged.updateValue(position, forKey: id), before != position {
                surprise = "\(id) acknowledged at \(before) and at \(position)"
            }
        }
        return answers.count == lines.count + 1
    }
}
