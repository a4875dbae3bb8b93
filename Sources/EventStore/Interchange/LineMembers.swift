/// The members a native line may have.
enum LineMember: Int, CaseIterable {
    case specversion, id, type, source, time, subject, user, author, cause, datacontenttype, dataversion, recordid,
        data
    case sequence, position, hlc, leaf, twinof, origin, erased, dataBase64, headerbytes, actor

    var name: String { self == .dataBase64 ? "data_base64" : String(describing: self) }

    private static let packedNames = allCases.map { packed(Array($0.name.utf8)[...]) }

    /// A name of up to 15 bytes as one integer; the 1 before it tells lengths apart.
    private static func packed(_ name: ArraySlice<UInt8>) -> UInt128 {
        name.reduce(1) { $0 << 8 | UInt128($1) }
    }

    init?(_ name: ArraySlice<UInt8>) {
        guard name.count <= 15, let index = Self.packedNames.firstIndex(of: Self.packed(name)) else { return nil }
        self.init(rawValue: index)
    }
}

/// Where the values of a native line stand; `null` is as good as nothing.
struct LineMembers {
    private let bytes: [UInt8]
    private var places = InlineArray<23, Range<Int>>(repeating: 0..<0)

    init(_ bytes: [UInt8], _ range: Range<Int>) throws(InvalidLine) {
        self.bytes = bytes
        var scanner = JSONScanner(bytes, range)
        var unknown: JSONStringRange?
        var duplicate: LineMember?
        do throws(JSONError) {
            try scanner.start()
            try scanner.openObject()
            var isFirst = true
            var seen = UInt32(0)
            while let name = try scanner.nextName(isFirst: isFirst) {
                isFirst = false
                let member = member(name)
                let place = try Self.place(of: member, &scanner)
                let isNull = bytes[place.lowerBound] == UInt8(ascii: "n")
                guard let member else {
                    if !isNull, unknown == nil { unknown = name }
                    continue
                }
                let bit = UInt32(1) << UInt32(member.rawValue)
                if seen & bit != 0 { duplicate = duplicate ?? member }
                seen |= bit
                if !isNull { places[member.rawValue] = place }
            }
            try scanner.finish()
        } catch {
            throw .notJSON(reason: error.reason.rawValue, offset: error.offset - range.lowerBound)
        }
        if let duplicate { throw .duplicate(member: duplicate.name) }
        if let unknown { throw .unknown(member: JSONText.string(unknown, of: bytes)) }
    }

    private func member(_ name: JSONStringRange) -> LineMember? {
        name.isEscaped ? LineMember(JSONText.decoded(name, of: bytes)[...]) : LineMember(bytes[name.range])
    }

    /// Passes the member's value. `data` counts its nesting from itself, and its members must differ.
    private static func place(of member: LineMember?, _ scanner: inout JSONScanner) throws(JSONError) -> Range<Int> {
        member == .data && scanner.peek() == UInt8(ascii: "{") ? try scanner.distinctObject() : try scanner.value()
    }

    /// Where the member's value stands.
    private subscript(member: LineMember) -> Range<Int>? {
        let place = places[member.rawValue]
        return place.isEmpty ? nil : place
    }

    private func value(_ member: LineMember) -> JSONValue? {
        self[member].map { JSONValue(bytes: bytes, range: $0) }
    }

    /// Refuses what could not be read where it was exported.
    func requireReadable() throws(InvalidLine) {
        guard self[.dataBase64] == nil, self[.headerbytes] == nil else { throw .unreadable }
    }

    /// Where the payload stands.
    func payload() throws(InvalidLine) -> Range<Int> {
        guard let place = self[.data] else { throw isErased ? .erased : .missing(member: "data") }
        guard bytes[place.lowerBound] == UInt8(ascii: "{") else {
            throw .wrongType(member: "data", expected: "a JSON object")
        }
        return place
    }

    func string(_ member: LineMember) throws(InvalidLine) -> String? {
        guard let value = value(member) else { return nil }
        guard let text = value.string, let range = value.stringRange else {
            throw .wrongType(member: member.name, expected: "a string")
        }
        // It would become U+FFFD, and so would others: several users would be one.
        if JSONText.hasLoneSurrogate(range, of: bytes) {
            throw .wrongValue(member: member.name, expected: "text; half a surrogate pair is none")
        }
        return text
    }

    /// A string that may decide an id: without U+0000, which separates two of them there; `nil` when it is empty.
    func name(_ member: LineMember) throws(InvalidLine) -> String? {
        guard let text = try string(member), !text.isEmpty else { return nil }
        if text.utf8.contains(0) { throw .wrongValue(member: member.name, expected: "without U+0000") }
        return text
    }

    func uuid(_ member: LineMember) throws(InvalidLine) -> UUIDBits? {
        guard let value = value(member) else { return nil }
        guard let text = value.stringRange else { throw .wrongType(member: member.name, expected: "a string") }
        let bits =
            text.isEscaped ? UUIDBits(utf8: JSONText.decoded(text, of: bytes)) : UUIDBits(utf8: bytes[text.range])
        guard let bits else { throw .notUUID(member: member.name) }
        return bits
    }

    func version() throws(InvalidLine) -> UInt32 {
        guard let value = value(.dataversion) else { return 1 }
        guard let number = value.integer, let version = UInt32(exactly: number) else {
            throw .wrongType(member: "dataversion", expected: "an integer from 1 to \(UInt32.max)")
        }
        return version
    }

    /// A member that says `text` if it is there at all.
    func require(_ text: String, _ member: LineMember) throws(InvalidLine) {
        guard let found = try string(member) else { return }
        if found != text { throw .wrongValue(member: member.name, expected: "\"\(text)\"") }
    }

    /// Whether another event with the same id counts in its place.
    var isTwin: Bool { self[.twinof] != nil }

    private var isErased: Bool { value(.erased)?.bool ?? false }
}
