/// A place in a text: line and column from 1. A column is one Unicode scalar, as editors count when nothing is combined.
package struct TextPosition: Sendable, Equatable, Comparable, CustomStringConvertible {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) { (self.line, self.column) = (line, column) }

    package var description: String { "\(line):\(column)" }

    package static func < (first: TextPosition, second: TextPosition) -> Bool {
        (first.line, first.column) < (second.line, second.column)
    }
}

/// A JSON5 value and where it begins.
package struct JSON5Value: Sendable, Equatable {
    package let content: Content
    package let position: TextPosition

    package init(content: Content, position: TextPosition) { (self.content, self.position) = (content, position) }

    package enum Content: Sendable, Equatable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([JSON5Value])
        /// In the order of the text; no name stands twice.
        case object([Member])
    }

    /// One name of an object, with the place of the name.
    package struct Member: Sendable, Equatable {
        package let name: String
        package let position: TextPosition
        package let value: JSON5Value
    }

    /// What kind of value it is, for messages.
    package var kind: String {
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
package struct JSON5SyntaxError: Error, Sendable, Equatable {
    package let position: TextPosition
    package let message: String
}
