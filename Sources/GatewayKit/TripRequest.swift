/// A request of the line protocol as it was sent, and what it asks for (docs/reference/GATEWAY.md).
package struct TripRequest: Equatable, Sendable {
    package enum Question: Equatable, Sendable {
        /// `1@city`: the lines of a city.
        case lines(city: String)
        /// `2@city@line`: its stations, in their order.
        case stations(city: String, line: String)
        /// `3@city@line@from@to`: where to ring, and after how many minutes.
        case alarm(city: String, line: String, from: String, to: String)

        package var code: Int {
            switch self {
            case .lines: 1
            case .stations: 2
            case .alarm: 3
            }
        }

        /// Names and values, for the record.
        package var fields: [(name: String, value: String)] {
            switch self {
            case .lines(let city): [("city", city)]
            case .stations(let city, let line): [("city", city), ("line", line)]
            case .alarm(let city, let line, let from, let to):
                [("city", city), ("line", line), ("from", from), ("to", to)]
            }
        }
    }

    /// With its `;`, without blanks around it.
    package let text: String
    package let question: Result<Question, TripFault>

    /// - Parameter bytes: Without the `;`.
    /// - Throws: ``TripFault/encoding``, where there is no text that could be kept as it was sent.
    package init(_ bytes: [UInt8]) throws(TripFault) {
        guard let whole = String(validating: bytes, as: UTF8.self),
            !whole.unicodeScalars.contains(where: { $0.properties.generalCategory == .control && $0 != "\t" })
        else { throw .encoding }
        let fields = whole.split(separator: "@", omittingEmptySubsequences: false).map(\.withoutBlanks)
        text = whole.withoutBlanks + ";"
        question = Self.question(fields)
    }

    private static func question(_ fields: [String]) -> Result<Question, TripFault> {
        let counts = ["1": 2, "2": 3, "3": 5]
        guard let code = fields.first, let count = counts[code] else { return .failure(.unknownCode) }
        guard fields.count == count, fields.allSatisfy({ !$0.isEmpty }) else { return .failure(.fields) }
        return switch count {
        case 2: .success(.lines(city: fields[1]))
        case 3: .success(.stations(city: fields[1], line: fields[2]))
        default: .success(.alarm(city: fields[1], line: fields[2], from: fields[3], to: fields[4]))
        }
    }
}

/// Why a request has no answer but `9@` and this word.
package enum TripFault: String, Error, CaseIterable, Sendable {
    case unknownCode = "unknown_code"
    case unknownCity = "unknown_city"
    case unknownLine = "unknown_line"
    case unknownStation = "unknown_station"
    /// Too few of them, too many, or an empty one.
    case fields
    /// Not UTF-8, or with control characters.
    case encoding
    case tooLong = "too_long"
    /// The node keeps nothing now, or there are too many clients.
    case busy

    package var text: String { "9@" + rawValue }
}

extension StringProtocol {
    fileprivate var withoutBlanks: String {
        let bytes = Array(utf8)
        let start = bytes.firstIndex { !$0.isBlank } ?? bytes.endIndex
        let end = bytes.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? start
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }
}
