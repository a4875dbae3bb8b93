/// Reads JSON5 (https://spec.json5.org, version 1.0.0) by recursive descent.
///
/// Stricter than the specification in one point: a name that stands twice in an object is an error.
package struct JSON5Reader {
    /// How deep arrays and objects may be nested.
    package static let depthLimit = 64

    private var scanner: JSON5Scanner

    /// The value a text means.
    package static func read(_ text: String) throws(JSON5SyntaxError) -> JSON5Value {
        var reader = JSON5Reader(scanner: JSON5Scanner(text))
        try reader.scanner.skipBlank()
        let value = try reader.value(depth: 0)
        try reader.scanner.skipBlank()
        if reader.scanner.next != nil { throw reader.scanner.unexpected("the end of the text") }
        return value
    }

    private mutating func value(depth: Int) throws(JSON5SyntaxError) -> JSON5Value {
        let position = scanner.position
        let content: JSON5Value.Content
        switch scanner.next {
        case "{", "[":
            if depth == Self.depthLimit {
                throw scanner.error("nested more than \(Self.depthLimit) levels deep", at: position)
            }
            content = scanner.next == "{" ? try object(depth: depth + 1) : try array(depth: depth + 1)
        case "\"", "'":
            content = .string(try scanner.string())
        case let scalar? where scalar == "+" || scalar == "-" || scalar == "." || scalar.isDigit:
            content = .number(try scanner.number())
        case let scalar? where scalar.startsIdentifier:
            content = try word()
        default:
            throw scanner.unexpected("a value")
        }
        return JSON5Value(content: content, position: position)
    }

    private mutating func word() throws(JSON5SyntaxError) -> JSON5Value.Content {
        let position = scanner.position
        let word = try scanner.identifier()
        switch word {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "Infinity": return .number(.infinity)
        case "NaN": return .number(.nan)
        default: throw scanner.error("'\(word)' is no value; a string needs quotes", at: position)
        }
    }

    private mutating func array(depth: Int) throws(JSON5SyntaxError) -> JSON5Value.Content {
        scanner.advance()
        var elements: [JSON5Value] = []
        try scanner.skipBlank()
        while !scanner.take("]") {
            elements.append(try value(depth: depth))
            try separator(before: "]", after: "array element")
        }
        return .array(elements)
    }

    private mutating func object(depth: Int) throws(JSON5SyntaxError) -> JSON5Value.Content {
        scanner.advance()
        var members: [JSON5Value.Member] = []
        var places: [String: TextPosition] = [:]
        try scanner.skipBlank()
        while !scanner.take("}") {
            let position = scanner.position
            let name = try memberName()
            if let first = places.updateValue(position, forKey: name) {
                throw scanner.error("'\(name)' stands twice, first at \(first)", at: position)
            }
            try scanner.skipBlank()
            guard scanner.take(":") else { throw scanner.unexpected("':' after name") }
            try scanner.skipBlank()
            members.append(JSON5Value.Member(name: name, position: position, value: try value(depth: depth)))
            try separator(before: "}", after: "value")
        }
        return .object(members)
    }

    private mutating func memberName() throws(JSON5SyntaxError) -> String {
        switch scanner.next {
        case "\"", "'": return try scanner.string()
        case let scalar? where scalar.startsIdentifier || scalar == "\\": return try scanner.identifier()
        default: throw scanner.unexpected("a name or '}'")
        }
    }

    /// A comma, or nothing before the closing bracket.
    private mutating func separator(before end: Unicode.Scalar, after what: String) throws(JSON5SyntaxError) {
        try scanner.skipBlank()
        if scanner.take(",") {
            try scanner.skipBlank()
        } else if scanner.next != end {
            throw scanner.unexpected("',' or '\(end)' after \(what)")
        }
    }
}
