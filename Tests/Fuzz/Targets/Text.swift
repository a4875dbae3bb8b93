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

/// The bytes of a connection: read whole and in small pieces they are the same requests, and none is larger than allowed.
func fuzzHTTP(_ bytes: [UInt8]) throws {
    var limits = HTTPLimits()
    (limits.maximumHeaderBytes, limits.maximumBodyBytes) = (512, 64)
    let whole = requests(in: bytes, limits, piece: max(1, bytes.count))
    for piece in [1, 3 + bytes.count % 7] {
        let again = requests(in: bytes, limits, piece: piece)
        try promise(again.found == whole.found && again.fault == whole.fault, "\(whole) came as \(again)")
    }
    for request in whole.found {
        try promise(request.body.count <= limits.maximumBodyBytes, "a body that is too large")
        try promise(request.path.hasPrefix("/") && !request.path.utf8.contains(0), "the path '\(request.path)'")
        try promise(request.headers.count { $0.name.lowercased() == "host" } == 1, "not one Host")
        let names = ["content-length", "transfer-encoding"]
        let lengths = request.headers.count { names.contains($0.name.lowercased()) }
        try promise(lengths <= 1, "two lengths of one body")
        for item in request.query + request.headers {
            try promise(!item.name.utf8.contains(0) && !item.value.utf8.contains(0), "a NUL in \(item.name)")
        }
    }
}

private func requests(
    in bytes: [UInt8], _ limits: HTTPLimits, piece: Int
) -> (found: [HTTPRequest], fault: HTTPFault?) {
    var parser = HTTPParser(limits: limits)
    var found: [HTTPRequest] = []
    for start in stride(from: 0, to: bytes.count, by: piece) {
        Array(bytes[start..<min(start + piece, bytes.count)]).withUnsafeBytes { parser.append($0) }
        do throws(HTTPFault) {
            reading: while true {
                switch try parser.next() {
                case .incomplete: break reading
                case .expectsContinue: continue
                case .request(let request, _): found.append(request)
                case .begun(let request, _): found.append(request)
                case .piece(let bytes): found[found.count - 1].body += bytes
                case .ended: break
                }
            }
        } catch {
            return (found, error)
        }
    }
    return (found, nil)
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
