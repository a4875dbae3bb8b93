package import EventStore

/// A payload as it is written: members in the order in which they are added.
package struct Payload {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    package init() {}

    /// The JSON object.
    package var json: [UInt8] { bytes + [UInt8(ascii: "}")] }

    private mutating func begin(_ name: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        JSONText.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Adds a text; nothing if there is none.
    package mutating func add(_ name: String, _ text: String?) {
        guard let text else { return }
        begin(name)
        JSONText.append(text, to: &bytes)
    }

    package mutating func add(_ name: String, _ number: Int64?) {
        guard let number else { return }
        begin(name)
        bytes += String(number).utf8
    }

    package mutating func add(_ name: String, _ flag: Bool) {
        begin(name)
        bytes += (flag ? "true" : "false").utf8
    }

    package mutating func add(_ name: String, _ texts: [String]) {
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for (index, text) in texts.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONText.append(text, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    package mutating func add(_ name: String, _ object: Payload) {
        begin(name)
        bytes += object.json
    }

    package mutating func add(_ name: String, _ objects: [Payload]) {
        begin(name)
        bytes.append(UInt8(ascii: "["))
        for (index, object) in objects.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += object.json
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Adds a value as it stands in the file; nothing if it is missing or `null`.
    package mutating func add(_ name: String, _ value: JSONValue?) {
        guard let value, !value.isNull else { return }
        begin(name)
        bytes += value.raw
    }

    /// Where the record came from. What names the file itself is no part of it: the same record stands in later exports, too.
    package mutating func addSource(_ format: String, _ id: String?) {
        var source = Payload()
        source.add("format", format)
        source.add("id", id)
        add("source", source)
    }
}
