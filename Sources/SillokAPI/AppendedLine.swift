package import CommandLineKit
package import EventStore

/// What came of one event that was handed in: a line of the answer to an append, and of what `syncctl append --json` prints.
package enum AppendedLine: Sendable {
    /// Where the event is; its texts are made when they are asked for, which an import never does.
    package enum Place: Sendable {
        case here(AppendReceipt)
        case told(PlaceTexts)

        /// Whether its payload is gone.
        package var isErased: Bool {
            switch self {
            case .told(let texts): texts.isErased
            case .here(let receipt): receipt.isErased
            }
        }

        package var texts: PlaceTexts {
            switch self {
            case .told(let texts): texts
            case .here(let receipt):
                PlaceTexts(
                    position: receipt.position, id: receipt.id.description,
                    origin: receipt.dot.origin.description, sequence: receipt.dot.seq,
                    hlc: receipt.hlc.description, isErased: receipt.isErased)
            }
        }
    }

    /// The place of an event in words, as a daemon tells it.
    package struct PlaceTexts: Equatable, Sendable {
        package var position: UInt64
        package var id: String
        package var origin: String
        package var sequence: UInt64
        package var hlc: String
        /// Whether its payload is gone.
        package var isErased: Bool

        package init(
            position: UInt64 = 0, id: String = "", origin: String = "", sequence: UInt64 = 0, hlc: String = "",
            isErased: Bool = false
        ) {
            self.position = position
            self.id = id
            self.origin = origin
            self.sequence = sequence
            self.hlc = hlc
            self.isErased = isErased
        }
    }

    case appended(Place)
    /// It was there before, with the same id and the same content, as far as that is there still.
    case already(Place)
    case rejected(code: String, message: String)

    package init(_ outcome: AppendOutcome) {
        self =
            switch outcome {
            case .appended(let receipt): .appended(.here(receipt))
            case .already(let receipt): .already(.here(receipt))
            case .rejected(let rejection): .rejected(code: rejection.code, message: rejection.description)
            }
    }

    package func json(line number: Int) -> JSONLine {
        func placed(_ type: String, _ place: Place) -> JSONLine {
            let texts = place.texts
            var line = JSONLine(type: type)
            line.add("line", number)
            line.add("position", texts.position)
            line.add("id", texts.id)
            line.add("origin", texts.origin)
            line.add("sequence", texts.sequence)
            line.add("hlc", texts.hlc)
            if texts.isErased { line.add("erased", true) }
            return line
        }
        switch self {
        case .appended(let place): return placed("appended", place)
        case .already(let place): return placed("already", place)
        case .rejected(let code, let message):
            var line = JSONLine(type: "rejected")
            line.add("line", number)
            line.add("code", code)
            line.add("message", message)
            return line
        }
    }

    /// What stands in a line of an answer.
    package enum Read: Sendable {
        case line(AppendedLine)
        case end
        /// The daemon failed in the middle of its answer.
        case error(ErrorAnswer)
        case unknown(String)
    }

    package static func read(_ line: [UInt8]) -> Read {
        guard let object = try? JSONObject(validating: line), let type = object.string("type") else {
            return .unknown("a line that is no JSON object")
        }
        switch type {
        case "appended", "already":
            guard let place = place(object) else { return .unknown("a receipt without a place") }
            return .line(type == "appended" ? .appended(place) : .already(place))
        case "rejected":
            return .line(
                .rejected(code: object.string("code") ?? "E_REJECTED", message: object.string("message") ?? ""))
        case "end": return .end
        case let type where ErrorAnswer.isOne(type): return .error(ErrorAnswer(body: line, status: 500))
        default: return .unknown("a line of type '\(type)'")
        }
    }

    private static func place(_ object: JSONObject) -> Place? {
        func count(_ name: String) -> UInt64? { object.integer(name).flatMap { UInt64(exactly: $0) } }
        guard let position = count("position"), let id = object.string("id"), let origin = object.string("origin"),
            let sequence = count("sequence"), let hlc = object.string("hlc")
        else { return nil }
        return .told(
            PlaceTexts(
                position: position, id: id, origin: origin, sequence: sequence, hlc: hlc,
                isErased: object.bool("erased") ?? false))
    }
}
