/// The form of a JSON value, as OpenAPI 3.1 and JSON Schema 2020-12 have it.
package indirect enum Schema: Sendable {
    case text
    /// Of so many characters.
    case words(ClosedRange<Int>)
    /// A regular expression says of which.
    case matching(String)
    /// RFC 3339.
    case time
    case uuid
    case integer
    /// A whole number within bounds.
    case whole(ClosedRange<Int64>)
    case number
    case boolean
    case array(Schema)
    /// Of so many elements.
    case list(Schema, ClosedRange<Int>)
    case choice([String])
    /// Members; those whose names end with `?` may be missing. Others may be there, too.
    case object([(String, Schema)])
    /// An object of which nothing more is said.
    case anyObject
    /// Any JSON value.
    case any
    /// It, or `null`.
    case nullable(Schema)
    /// One of several.
    case oneOf([Schema])
    /// One of ``RouteTable/schemas``.
    case ref(String)
}
