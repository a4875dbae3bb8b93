internal import CommandLineKit
package import EventStore

/// What came of a request's lines, as the daemon tells it: NDJSON, one ``AppendedLine`` for each line of the request and one of type
/// `end`.
package struct AppendAnswer: Sendable {
    package private(set) var text: [UInt8] = []
    private var accepted = (appended: 0, already: 0)
    private var rejected = 0
    /// Why the first line was rejected that was not rejected for another's sake.
    private var reason: String?

    package init(expecting count: Int) { text.reserveCapacity(count * 224 + 80) }

    /// 200: all lines are stored. 207: some are (only of a request with `atomicity=each`). Nothing is: 409 when another event
    /// or a newer version stands in the way, 403 when who asks may not, else 422.
    package var status: Int {
        guard rejected > 0 else { return 200 }
        guard accepted.appended + accepted.already == 0 else { return 207 }
        return switch reason {
        case "E_ID_REUSED", "E_VERSION", "E_BEGUN": 409
        case "E_AUTHOR", "E_NOT_AUTHOR": 403
        default: 422
        }
    }

    package mutating func reject(_ number: Int, _ rejection: AppendRejection) {
        reject(number, rejection.code, rejection.description)
    }

    package mutating func reject(_ number: Int, _ code: String, _ message: String) {
        rejected += 1
        if reason == nil, code != "E_BATCH" { reason = code }
        AppendedLine.rejected(code: code, message: message).json(line: number).write(to: &text)
    }

    package mutating func append(_ number: Int, _ receipt: AppendReceipt) {
        accepted.appended += 1
        Self.write("appended", number, receipt, to: &text)
    }

    package mutating func find(_ number: Int, _ receipt: AppendReceipt) {
        accepted.already += 1
        Self.write("already", number, receipt, to: &text)
    }

    /// What came of deliveries that were to be acked with it.
    package mutating func tell(_ acked: AckedDeliveries) {
        var line = JSONLine(type: "acked")
        line.add("done", acked.done)
        line.add("late", acked.late)
        if let code = acked.code { line.add("code", code) }
        if let message = acked.message { line.add("message", message) }
        line.write(to: &text)
    }

    /// The last line: an answer without it was cut off.
    package mutating func end() {
        text.append(literal: #"{"type":"end","v":1,"count":"#)
        text.append(decimal: UInt64(accepted.appended + accepted.already + rejected))
        text.append(literal: #","appended":"#)
        text.append(decimal: UInt64(accepted.appended))
        text.append(literal: #","already":"#)
        text.append(decimal: UInt64(accepted.already))
        text.append(literal: #","rejected":"#)
        text.append(decimal: UInt64(rejected))
        text.append(literal: "}\n")
    }

    /// What ``AppendedLine/json(line:)`` says, in a tenth of its time: each append waits for this line, and no text in it can need an
    /// escape.
    private static func write(
        _ type: StaticString, _ line: Int, _ receipt: AppendReceipt, to text: inout [UInt8]
    ) {
        text.append(literal: #"{"type":""#)
        text.append(literal: type)
        text.append(literal: #"","v":1,"line":"#)
        text.append(decimal: UInt64(line))
        text.append(literal: #","position":"#)
        text.append(decimal: receipt.position)
        text.append(literal: #","id":""#)
        receipt.id.bits.appendText(to: &text)
        text.append(literal: #"","origin":""#)
        receipt.dot.origin.bits.appendText(to: &text)
        text.append(literal: #"","sequence":"#)
        text.append(decimal: receipt.dot.seq)
        text.append(literal: #","hlc":""#)
        receipt.hlc.appendText(to: &text)
        text.append(literal: receipt.isErased ? "\",\"erased\":true}\n" : "\"}\n")
    }
}

/// What came of acks: how many count, which of them found another delivery out; or why none does.
package struct AckedDeliveries: Sendable {
    package var done = 0
    package var late: [String] = []
    package var code: String?
    package var message: String?

    package init() {}

    package init(_ code: ErrorCode, _ message: String) { (self.code, self.message) = (code.rawValue, message) }
}
