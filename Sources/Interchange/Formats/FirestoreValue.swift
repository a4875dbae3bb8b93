internal import EventStore

/// Values as Firestore's REST interface writes them: each names its type, `{"stringValue":"x"}`.
enum FirestoreValue {
    static let types: Set = [
        "stringValue", "integerValue", "doubleValue", "booleanValue", "timestampValue", "nullValue", "mapValue",
        "arrayValue", "referenceValue", "bytesValue", "geoPointValue",
    ]

    /// The fields as node-firestore-import-export has them.
    ///
    /// - Parameter pass: Is told the name of each field that has no such value.
    static func plain(_ fields: JSONObject, _ pass: (String) -> Void) -> JSONObject {
        var out: [UInt8] = []
        for field in fields {
            var value: [UInt8] = []
            guard append(field.value, to: &value) else {
                pass(field.name)
                continue
            }
            add(field.name, value, to: &out)
        }
        return JSONObject(validated: [UInt8(ascii: "{")] + out + [UInt8(ascii: "}")])
    }

    private static func add(_ name: String, _ value: [UInt8], to out: inout [UInt8]) {
        if !out.isEmpty { out.append(UInt8(ascii: ",")) }
        JSONText.append(name, to: &out)
        out.append(UInt8(ascii: ":"))
        out += value
    }

    /// False: it is no such value. So is a number that JSON has not, as NaN.
    private static func append(_ value: JSONValue, to out: inout [UInt8]) -> Bool {
        let members = value.object.map(Array.init) ?? []
        guard members.count == 1, types.contains(members[0].name) else { return false }
        let inner = members[0].value
        switch (members[0].name, inner.kind) {
        case ("stringValue", .string), ("timestampValue", .string), ("referenceValue", .string),
            ("bytesValue", .string), ("doubleValue", .number), ("geoPointValue", .object):
            out += inner.raw
        case ("booleanValue", _):
            guard let flag = inner.bool else { return false }
            out += (flag ? "true" : "false").utf8
        case ("nullValue", _): out += "null".utf8
        case ("integerValue", _):
            // 64 bits are more than a number of JavaScript has, so it is a text.
            guard let number = inner.integer ?? inner.string.flatMap({ Int64($0) }) else { return false }
            out += String(number).utf8
        case ("mapValue", .object):
            var isKnown = true
            out += plain(inner.object?.object("fields") ?? JSONObject(validated: [])) { _ in isKnown = false }.bytes
            return isKnown
        case ("arrayValue", .object):
            out.append(UInt8(ascii: "["))
            for (index, element) in (inner.object?.elements("values") ?? []).enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                guard append(element, to: &out) else { return false }
            }
            out.append(UInt8(ascii: "]"))
        default: return false
        }
        return true
    }
}
