internal import Access
package import CommandLineKit
package import EventStore

/// The API's OpenAPI 3.1 document, made from ``RouteTable``: document and behaviour cannot part.
package enum OpenAPI {
    /// - Parameter version: Of the program.
    package static func document(version: String) -> JSONLine {
        var document = JSONLine()
        document.add("openapi", "3.1.0")
        document.addObject("info") { info in
            info.add("title", "Sillok")
            info.add("version", version)
            info.add("summary", "The record of a chat service: append, read, follow, hand out.")
        }
        document.addObject("paths") { paths in
            for path in unique(RouteTable.all.map(\.path)) {
                paths.addObject(path) { item in
                    for route in RouteTable.all where route.path == path {
                        item.addObject(route.method.lowercased()) { describe(route, &$0) }
                    }
                }
            }
        }
        document.addObject("components") { components in
            components.addObject("schemas") { schemas in
                for (name, schema) in RouteTable.schemas { schemas.addObject(name) { schema.write(to: &$0) } }
            }
            components.addObject("securitySchemes") { schemes in
                schemes.addObject("token") { scheme in
                    scheme.add("type", "http")
                    scheme.add("scheme", "bearer")
                    scheme.add("description", "Needed over TCP; over the Unix socket the process counts.")
                }
            }
        }
        document.addArray("security") { $0.addObject { $0.add("token", [String]()) } }
        return document
    }

    private static func describe(_ route: RouteSpecification, _ item: inout JSONLine) {
        item.add("operationId", route.operation.rawValue)
        item.add("summary", route.summary)
        item.add("x-roles", route.roles.names)
        let names = route.names
        if !names.isEmpty || !route.parameters.isEmpty {
            item.addArray("parameters") { array in
                for name in names {
                    array.addObject { parameter in
                        parameter.add("name", name)
                        parameter.add("in", "path")
                        parameter.add("required", true)
                        let isSubscription = route.path.hasPrefix("/v1/subscriptions/")
                        let schema = isSubscription ? RouteTable.subscriptionName : .words(1 ... .max)
                        parameter.addObject("schema") { schema.write(to: &$0) }
                    }
                }
                for parameter in route.parameters { array.addObject { describe(parameter, &$0) } }
            }
        }
        if let request = route.request {
            item.addObject("requestBody") { body in
                body.add("required", !request.isOptional)
                body.addObject("content") { content in
                    content.addObject(request.mediaType) { media in
                        media.addObject("schema") { request.schema.write(to: &$0) }
                        if request.mediaType == "application/json" {
                            media.addRaw("example", Array(request.example.utf8)[...])
                        } else {
                            media.add("example", request.example)
                        }
                    }
                }
            }
        }
        item.addObject("responses") { describe(answers: route, &$0) }
    }

    private static func describe(_ parameter: RouteParameter, _ object: inout JSONLine) {
        object.add("name", parameter.name)
        object.add("in", "query")
        object.add("description", parameter.summary)
        func write(_ schema: inout JSONLine) {
            switch parameter.kind {
            case .text: Schema.text.write(to: &schema)
            case .place: Schema.words(1 ... .max).write(to: &schema)
            case .time: Schema.time.write(to: &schema)
            case .moment: Schema.oneOf([.integer, .time]).write(to: &schema)
            case .choice(let choices): Schema.choice(choices).write(to: &schema)
            case .number(let range):
                schema.add("type", "integer")
                schema.add("minimum", range.lowerBound)
                schema.add("maximum", range.upperBound)
            }
        }
        object.addObject("schema") { schema in
            guard parameter.isRepeatable else { return write(&schema) }
            schema.add("type", "array")
            schema.addObject("items") { write(&$0) }
        }
        if parameter.isRepeatable { object.add("explode", true) }
    }

    /// Answers of one status stand together, by their media types.
    private static func describe(answers route: RouteSpecification, _ object: inout JSONLine) {
        let codes = Dictionary(grouping: RouteTable.commonErrors + route.errors, by: \.status)
        for status in unique(route.answers.map(\.status)) {
            let answers = route.answers.filter { $0.status == status }
            object.addObject("\(status)") { response in
                response.add("description", answers.map(\.summary).joined(separator: " "))
                guard answers.contains(where: { $0.mediaType != nil }) else { return }
                response.addObject("content") { content in
                    for answer in answers {
                        guard let type = answer.mediaType, let schema = answer.schema else { continue }
                        content.addObject(type) { $0.addObject("schema") { schema.write(to: &$0) } }
                    }
                    if codes[status] != nil { describeProblem(&content) }
                }
            }
        }
        let told = Set(route.answers.map(\.status))
        for status in codes.keys.sorted() where !told.contains(status) {
            object.addObject("\(status)") { response in
                let names = unique((codes[status] ?? []).map(\.rawValue)).joined(separator: ", ")
                response.add("description", names)
                response.addObject("content") { describeProblem(&$0) }
            }
        }
    }

    private static func describeProblem(_ content: inout JSONLine) {
        content.addObject("application/problem+json") { media in
            media.addObject("schema") { Schema.ref("Error").write(to: &$0) }
        }
    }

    private static func unique<Element: Hashable>(_ all: [Element]) -> [Element] {
        var seen: Set<Element> = []
        return all.filter { seen.insert($0).inserted }
    }
}

extension RouteSpecification {
    /// The names in the path, in order.
    package var names: [String] {
        segments.compactMap { if case .name(let name) = $0 { name } else { nil } }
    }
}

extension Schema {
    /// Adds its keywords of JSON Schema 2020-12 to an object.
    func write(to object: inout JSONLine) {
        switch self {
        case .text: object.add("type", "string")
        case .words(let count):
            object.add("type", "string")
            object.add("minLength", count.lowerBound)
            if count.upperBound < .max { object.add("maxLength", count.upperBound) }
        case .matching(let pattern):
            object.add("type", "string")
            object.add("pattern", pattern)
        case .whole(let range):
            object.add("type", "integer")
            object.add("minimum", range.lowerBound)
            object.add("maximum", range.upperBound)
        case .time: write("string", format: "date-time", to: &object)
        case .uuid: write("string", format: "uuid", to: &object)
        case .integer: object.add("type", "integer")
        case .number: object.add("type", "number")
        case .boolean: object.add("type", "boolean")
        case .anyObject: object.add("type", "object")
        case .any: break
        case .array(let element):
            object.add("type", "array")
            object.addObject("items") { element.write(to: &$0) }
        case .list(let element, let count):
            Schema.array(element).write(to: &object)
            object.add("minItems", count.lowerBound)
            object.add("maxItems", count.upperBound)
        case .choice(let values):
            object.add("type", "string")
            object.add("enum", values)
        case .ref(let name): object.add("$ref", "#/components/schemas/\(name)")
        case .nullable(let schema):
            object.addArray("anyOf") { array in
                array.addObject { schema.write(to: &$0) }
                array.addObject { $0.add("type", "null") }
            }
        case .oneOf(let schemas):
            object.addArray("anyOf") { array in
                for schema in schemas { array.addObject { schema.write(to: &$0) } }
            }
        case .object(let members):
            object.add("type", "object")
            object.addObject("properties") { properties in
                for (name, schema) in members { properties.addObject(Self.bare(name)) { schema.write(to: &$0) } }
            }
            let required = members.map(\.0).filter { !$0.hasSuffix("?") }
            if !required.isEmpty { object.add("required", required) }
        }
    }

    private static func bare(_ name: String) -> String { name.hasSuffix("?") ? String(name.dropLast()) : name }

    private func write(_ type: String, format: String, to object: inout JSONLine) {
        object.add("type", type)
        object.add("format", format)
    }

    /// Why a value has not this form; `nil` if it has. For tests of what the API answers.
    package func problem(_ value: JSONValue, at path: String = "$") -> String? {
        func wrong(_ wanted: String) -> String { "\(path): not \(wanted)" }
        switch self {
        case .any: return nil
        case .text, .words, .matching, .time, .uuid: return value.string == nil ? wrong("a text") : nil
        case .integer, .whole: return value.integer == nil ? wrong("a whole number") : nil
        case .number: return value.double == nil ? wrong("a number") : nil
        case .boolean: return value.bool == nil ? wrong("true or false") : nil
        case .anyObject: return value.object == nil ? wrong("an object") : nil
        case .choice(let values): return values.contains(value.string ?? "") ? nil : wrong("one of \(values)")
        case .array(let element), .list(let element, _):
            guard let elements = value.elements else { return wrong("a list") }
            return elements.enumerated().lazy.compactMap { element.problem($0.element, at: "\(path)[\($0.offset)]") }
                .first
        case .ref(let name):
            guard let schema = RouteTable.schemas.first(where: { $0.0 == name })?.1 else {
                return wrong("a schema that is there: \(name)")
            }
            return schema.problem(value, at: path)
        case .nullable(let schema): return value.isNull ? nil : schema.problem(value, at: path)
        case .oneOf(let schemas):
            let problems = schemas.map { $0.problem(value, at: path) }
            return problems.contains { $0 == nil } ? nil : problems.compactMap { $0 }.joined(separator: "; ")
        case .object(let members):
            guard let object = value.object else { return wrong("an object") }
            for (name, schema) in members {
                guard let member = object[Self.bare(name)] else {
                    if name.hasSuffix("?") { continue }
                    return "\(path): no member \(name)"
                }
                if let problem = schema.problem(member, at: "\(path).\(Self.bare(name))") { return problem }
            }
            return nil
        }
    }
}
