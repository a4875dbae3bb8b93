internal import CommandLineKit
internal import EventStore
internal import SyncEngine

/// What passes as a payload can be read to its last value.
func fuzzJSON(_ bytes: [UInt8]) throws {
    let isValue = (try? JSONScanner.validateValue(bytes)) != nil
    guard let object = try? JSONObject(validating: bytes) else {
        // What was not checked leads to missing members, never to harm.
        walk(JSONObject(validated: bytes))
        return
    }
    try promise(isValue, "an object that is no value")
    try promise(String(validating: bytes, as: UTF8.self) != nil, "not UTF-8")
    var names: Set<[UInt8]> = []
    for member in object {
        try promise(names.insert(Array(member.name.utf8)).inserted, "the member '\(member.name)' twice")
        try promise(object[member.name]?.range == member.value.range, "'\(member.name)' is found elsewhere")
        try JSONScanner.validateValue(Array(member.value.raw))
    }
    walk(object)
}

private func walk(_ object: JSONObject) {
    for member in object {
        _ = object.value(path: member.name)
        walk(member.value)
    }
}

private func walk(_ value: JSONValue) {
    _ = (value.kind, value.string, value.integer, value.double, value.bool, value.isNull, value.numberText)
    if let object = value.object { walk(object) }
    for element in value.elements ?? [] { walk(element) }
}

/// What is read from a native line is what its writer would write.
func fuzzLines(_ bytes: [UInt8]) throws {
    let parser = NativeLineParser()
    guard let line = try? parser.parse(bytes) else { return }
    guard (try? JSONScanner.validateObject(line.draft.payload)) != nil else { return }
    var written: [UInt8] = []
    NativeLineWriter.append(line.draft, to: &written)
    try promise(!written.contains(0x0a) && !written.contains(0x0d), "a line of two lines")
    var expected = line.draft
    expected.payload = expected.payload.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
    let again = try parser.parse(written).draft
    try promise(again == expected, "\(again) came of \(expected)")
}

/// Header fields, one to a line, then a path and a query.
func fuzzHTTP(_ bytes: [UInt8]) throws {
    let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false).map {
        String(decoding: $0, as: UTF8.self)
    }
    let fields = lines.dropFirst().map { line in
        let colon = line.firstIndex(of: ":") ?? line.endIndex
        return HTTPField(String(line[..<colon]), String(line[colon...].dropFirst()))
    }
    if faultOfHeaders(fields) == nil {
        let lengths = fields.filter { ["content-length", "transfer-encoding"].contains($0.name.lowercased()) }
        try promise(lengths.count <= 1, "two lengths of one body")
    }
    let target = lines[0]
    let question = target.firstIndex(of: "?") ?? target.endIndex
    let query = String(target[question...].dropFirst())
    if let path = percentDecoded(target[..<question], plusIsSpace: false) {
        try promise(!path.utf8.contains(0), "a NUL in a path")
        try promise(path.utf8.count <= target.utf8.count, "decoding made it longer")
    }
    for item in queryItems(query) ?? [] {
        try promise(!item.name.utf8.contains(0) && !item.value.utf8.contains(0), "a NUL in a query")
    }
}

/// Nothing that steers a terminal gets through, and one line stays one line.
func fuzzTerminal(_ bytes: [UInt8]) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    for safe in [Sanitizer.line(text), Sanitizer.plain(text), Sanitizer.lines(text)] {
        for scalar in safe.unicodeScalars {
            if scalar == "\n" || scalar == "\t" { continue }
            let category = scalar.properties.generalCategory
            try promise(category != .control && category != .lineSeparator, "\(scalar.value) gets through")
            try promise(!scalar.properties.isBidiControl, "\(scalar.value) gets through")
        }
    }
    try promise(!Sanitizer.line(text).unicodeScalars.contains { $0 == "\n" || $0 == "\t" }, "a line of two lines")
    try promise(!Sanitizer.plain(text).unicodeScalars.contains { $0 == "\n" || $0 == "\t" }, "a cell of two lines")
    try promise(DisplayWidth.of(Sanitizer.line(text)) >= 0, "a negative width")
}
