/// A place in a text: line and column from 1. A column is one Unicode scalar, as editors count when nothing is combined.
struct TextPosition: Sendable, Equatable, Comparable, CustomStringConvertible {
    var line: Int
    var column: Int

    var description: String { "\(line):\(column)" }

    static func < (first: TextPosition, second: TextPosition) -> Bool {
        (first.line, first.column) < (second.line, second.column)
    }
}

/// A JSON5 value and where it begins.
struct JSON5Value: Sendable, Equatable {
    let content: Content
    let position: TextPosition

    enum Content: Sendable, Equatable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([JSON5Value])
        /// In the order of the text; no name stands twice.
        case object([Member])
    }

    /// One name of an object, with the place of the name.
    struct Member: Sendable, Equatable {
        let name: String
        let position: TextPosition
        let value: JSON5Value
    }

    /// What kind of value it is, for messages.
    var kind: String {
        switch content {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// A text that is not JSON5, and the first place where it shows.
struct JSON5SyntaxError: Error, Sendable, Equatable {
    let position: TextPosition
    let message: String
}
