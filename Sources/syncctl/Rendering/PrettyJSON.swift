internal import EventStore

/// JSON with one member a line, for people. Numbers stay as they are written; strings are decoded and written again, so
/// that escaped Hangul becomes readable.
enum PrettyJSON {
    static func lines(_ object: JSONObject) -> [String] {
        var text = ""
        append(object, indent: "", to: &text)
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private static func append(_ object: JSONObject, indent: String, to text: inout String) {
        let members = object.map { member in
            var line = indent + "  " + quoted(member.name) + ": "
            append(member.value, indent: indent + "  ", to: &line)
            return line
        }
        text += members.isEmpty ? "{}" : "{\n" + members.joined(separator: ",\n") + "\n\(indent)}"
    }

    private static func append(_ value: JSONValue, indent: String, to text: inout String) {
        let inner = indent + "  "
        if let object = value.object {
            append(object, indent: indent, to: &text)
        } else if let elements = value.elements {
            let lines = elements.map { element in
                var line = inner
                append(element, indent: inner, to: &line)
                return line
            }
            text += lines.isEmpty ? "[]" : "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
        } else if let string = value.string {
            text += quoted(string)
        } else {
            text += String(decoding: value.raw, as: UTF8.self)
        }
    }

    private static func quoted(_ string: String) -> String {
        var bytes: [UInt8] = []
        JSONText.append(string, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
