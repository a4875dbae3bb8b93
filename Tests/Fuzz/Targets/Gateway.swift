internal import EventStore
internal import GatewayKit

/// What a client of the gateway sends: however it is cut it is the same requests, each has an answer that the protocol can send, and what is
/// recorded of them are native lines. Also a data file.
func fuzzRequests(_ bytes: [UInt8]) throws {
    let whole = pieces(bytes, size: max(1, bytes.count))
    for size in [1, 2 + bytes.count % 7] {
        let again = pieces(bytes, size: size)
        try promise(again == whole, "\(whole.count) requests came as \(again.count)")
    }
    for (number, piece) in whole.enumerated() {
        guard case .request(let request) = piece else { continue }
        try promise(request.count <= RequestReader.longest, "a request of \(request.count) bytes")
        try ask(request, UInt64(number))
    }
    if let transit = try? TransitFile.read(String(decoding: bytes, as: UTF8.self)) { try trips(transit) }
}

private let stations = (0..<9).map {
    "[0, 1, \($0), \"\(["a", "b", "c", "d", "e", "f", "g", "h", "i"][$0])\", \($0 * 2)]"
}
private let transit = try? TransitFile.read(
    "{ city: [[0, '가']], line: [[0, 1, '1']], station: [\(stations.joined(separator: ","))] }")

private func pieces(_ bytes: [UInt8], size: Int) -> [RequestReader.Piece] {
    var reader = RequestReader()
    var found: [RequestReader.Piece] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
        reader.append(bytes[start..<min(start + size, bytes.count)])
        while let piece = reader.next() { found.append(piece) }
    }
    return found
}

private func ask(_ bytes: [UInt8], _ number: UInt64) throws {
    guard let transit, let request = try? TripRequest(bytes) else { return }
    let answer = transit.answer(request)
    try promise(
        answer.text.utf8.allSatisfy { $0 != UInt8(ascii: ";") && $0 >= 0x20 },
        "the protocol cannot send \(answer.text)")
    let record = TripRecord(request, answer, of: Trip(random: (1, 2)), number: number, now: 1_785_549_735_120)
    let parser = NativeLineParser()
    let lines = record.lines.split(separator: 0x0a)
    try promise(lines.count == (record.alarm == nil ? 2 : 3), "\(lines.count) lines")
    for line in lines {
        let line = Array(line)
        do { _ = try parser.parse(line, 0..<line.count) } catch {
            throw BrokenPromise(description: "not a native line: \(error): \(String(decoding: line, as: UTF8.self))")
        }
    }
}

/// A file that the checker takes has an answer to each trip, and no minutes are fewer than none.
private func trips(_ transit: Transit) throws {
    guard let city = transit.cities.first, let line = city.lines.first else { return }
    for from in line.stations.prefix(9) {
        for to in line.stations.prefix(9) {
            let text = "3@\(city.name)@\(line.name)@\(from.name)@\(to.name)"
            guard let request = try? TripRequest(Array(text.utf8)) else {
                throw BrokenPromise(description: "the protocol cannot ask \(text)")
            }
            switch transit.answer(request) {
            case .near: continue
            case .alarm(_, let minutes): try promise(minutes >= 0, "\(text): \(minutes)")
            case let other: throw BrokenPromise(description: "\(text): \(other.text)")
            }
        }
    }
}
