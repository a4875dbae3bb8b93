internal import Foundation

/// A JSON value whose objects keep the order in which their members are written.
public indirect enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A fraction, or an integer beyond 64 bits; JSON has no NaN or infinity, they are written as null.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// One name and value of an object.
    public struct Member: Sendable, Hashable {
        /// The member's name, as it stands in the JSON text after unescaping.
        public var name: String
        /// The member's value.
        public var value: JSONValue

        /// Makes a member.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }
}

extension JSONValue {
    /// Takes over a tree made by `JSONSerialization`; nil when it holds something JSON does not have.
    ///
    /// The reader loses the order of object members, so they are sorted by name: equal input, equal output.
    init?(parsed: Any) {
        switch parsed {
        case let text as String: self = .string(text)
        case let list as [Any]:
            let values = list.compactMap(JSONValue.init(parsed:))
            guard values.count == list.count else { return nil }
            self = .array(values)
        case let object as [String: Any]:
            var members: [Member] = []
            members.reserveCapacity(object.count)
            for name in object.keys.sorted() {
                guard let value = object[name].flatMap(JSONValue.init(parsed:)) else { return nil }
                members.append(Member(name, value))
            }
            self = .object(members)
        case let number as NSNumber: self.init(number)
        case is NSNull: self = .null
        default: return nil
        }
    }

    /// `NSNumber` tells booleans, integers and fractions apart only by its Objective-C type code.
    private init(_ number: NSNumber) {
        switch String(cString: number.objCType) {
        case "c", "B": self = .bool(number.boolValue)
        case "d", "f": self = .number(number.doubleValue)
        case "Q" where number.uint64Value > UInt64(Int64.max): self = .number(number.doubleValue)
        default: self = .integer(number.int64Value)
        }
    }
}
