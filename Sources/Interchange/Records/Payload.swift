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

    /// Adds a value of the file; nothing if it is missing or `null`. How deep it stands there says nothing of it.
    package mutating func add(_ name: String, _ value: JSONValue?) {
        guard let value, !value.isNull else { return }
        begin(name)
        value.append(to: &bytes)
    }

    /// Where the record came from. What names the file itself is no part of it: the same record stands in later exports, too.
    package mutating func addSource(_ format: String, _ id: String?) {
        var source = Payload()
        source.add("format", format)
        source.add("id", id)
        add("source", source)
    }
}

extension JSONValue {
    /// The value in one spelling: without blanks, and with no escapes but those that JSON needs. Numbers stay as they are written.
    package var plain: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    fileprivate func append(to out: inout [UInt8]) {
        if let text {
            JSONText.append(text, to: &out)
        } else if let elements {
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                element.append(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        } else if let object {
            out.append(UInt8(ascii: "{"))
            for (index, member) in object.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                JSONText.append(member.name, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.append(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        } else {
            out += raw
        }
    }
}
