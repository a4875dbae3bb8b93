package import Access

/// A parameter of a query.
package struct RouteParameter: Sendable, Equatable {
    package enum Kind: Sendable, Equatable {
        case number(ClosedRange<UInt64>)
        case text
        /// A text that is not empty.
        case place
        /// RFC 3339.
        case time
        /// A position of the log, or a time.
        case moment
        case choice([String])
    }

    package let name: String
    package let kind: Kind
    /// Whether it may be given more than once: any of the values will do.
    package let isRepeatable: Bool
    package let summary: String

    init(_ name: String, _ kind: Kind, repeatable: Bool = false, _ summary: String) {
        (self.name, self.kind, self.isRepeatable, self.summary) = (name, kind, repeatable, summary)
    }
}

/// One thing that the API does: its path, who may ask for it, what with, and what comes back.
package struct RouteSpecification: Sendable {
    /// One part of a path.
    enum Segment: Sendable, Equatable {
        case word(String)
        /// What names one of many: `{conversation}`.
        case name(String)
    }

    package let operation: Operation
    /// `HEAD` is answered where `GET` is.
    package let method: String
    /// `/v1/conversations/{conversation}/rows`.
    package let path: String
    let segments: [Segment]
    /// Who may ask; what they get is narrowed further by who they are.
    package let roles: RoleKinds
    package let parameters: [RouteParameter]
    package let summary: String
    package let request: RouteBody?
    package let answers: [RouteAnswer]
    /// Beside those that every route may answer with (``RouteTable/commonErrors``).
    package let errors: [ErrorCode]

    init(
        _ operation: Operation, _ method: String, _ path: String, _ roles: RoleKinds, _ summary: String,
        parameters: [RouteParameter] = [], request: RouteBody? = nil, answers: [RouteAnswer],
        errors: [ErrorCode] = []
    ) {
        (self.operation, self.method, self.path, self.roles) = (operation, method, path, roles)
        (self.parameters, self.summary, self.request) = (parameters, summary, request)
        self.answers = answers
        // What an auditor reads is recorded first; what operators see, too, is no one's.
        let isRecorded = method == "GET" && roles.contains(.auditor) && !roles.contains(.operator)
        let isOfPast = parameters.contains { $0.name == "known_at" }
        self.errors =
            errors + (isOfPast ? [.position] : [])
            + (isRecorded ? [.reason, .disk] : method == "GET" ? [] : [.disk])
        segments = path.split(separator: "/").map { part in
            part.hasPrefix("{") ? .name(String(part.dropFirst().dropLast())) : .word(String(part))
        }
    }

    /// What the path's names stand for; `nil` if it is another path.
    func values(in path: [String]) -> [String]? {
        guard path.count == segments.count else { return nil }
        var values: [String] = []
        for (segment, part) in zip(segments, path) {
            switch segment {
            case .word(let word): guard word == part else { return nil }
            case .name:
                guard !part.isEmpty else { return nil }
                values.append(part)
            }
        }
        return values
    }

    /// The path with each name as `{}`: a label of metrics.
    package var label: String {
        segments.map { if case .word(let word) = $0 { "/" + word } else { "/{}" } }.joined()
    }
}

/// The body of a request.
package struct RouteBody: Sendable {
    package let mediaType: String
    package let schema: Schema
    /// Whether the request may come without one.
    package let isOptional: Bool
    /// What works as it stands.
    package let example: String

    init(
        _ mediaType: String = "application/json", schema: Schema, optional: Bool = false, example: String
    ) {
        (self.mediaType, self.schema, self.isOptional, self.example) = (mediaType, schema, optional, example)
    }
}

/// An answer that is no error.
package struct RouteAnswer: Sendable {
    package let status: Int
    package let summary: String
    /// `nil`: no body.
    package let mediaType: String?
    /// Of the body; of NDJSON and server-sent events, of one line.
    package let schema: Schema?

    init(_ status: Int, _ summary: String, _ mediaType: String? = nil, _ schema: Schema? = nil) {
        (self.status, self.summary, self.mediaType, self.schema) = (status, summary, mediaType, schema)
    }

    static func lines(_ summary: String, _ schema: Schema) -> RouteAnswer {
        RouteAnswer(200, summary, "application/x-ndjson", schema)
    }
    static func json(_ status: Int, _ summary: String, _ schema: Schema) -> RouteAnswer {
        RouteAnswer(status, summary, "application/json", schema)
    }
    static func json(_ summary: String, _ schema: Schema) -> RouteAnswer { json(200, summary, schema) }
}

/// What a path and a method lead to.
package enum RouteMatch: Sendable {
    /// With what the path's names stand for, in their order.
    case found(RouteSpecification, [String])
    /// The path is there for these methods.
    case otherMethod([String])
    case none
}
