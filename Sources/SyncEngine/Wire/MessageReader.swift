internal import EventStore

/// Walks the fields of one message and names the message in every error.
struct MessageReader {
    /// The message's name in docs/reference/sync.proto.
    let name: String
    private var fields: ProtobufReader

    struct Field {
        let number: UInt64
        fileprivate let value: ProtobufReader.Value
    }

    init(_ name: String, _ body: [UInt8]) {
        self.init(name, ProtobufReader(body))
    }

    private init(_ name: String, _ fields: ProtobufReader) {
        self.name = name
        self.fields = fields
    }

    /// The next field; `nil` at the end.
    mutating func next() throws(WireError) -> Field? {
        do {
            return try fields.next().map { Field(number: $0.field, value: $0.value) }
        } catch {
            throw invalid(error)
        }
    }

    // Numbers that something is reckoned with have bounds, so that arithmetic on them cannot overflow (D22). There is no
    // way to read one without.

    /// A seq, size, position or count; over ``Limits/number`` it is refused.
    func number(_ field: Field) throws(WireError) -> UInt64 {
        let value = try uint64(field)
        guard value <= Limits.number else { throw invalid("field \(field.number) is over 2^44 - 1") }
        return value
    }

    /// How much the sender would take, in bytes or events: what is over ``Limits/number`` counts as that.
    func amount(_ field: Field) throws(WireError) -> UInt64 { min(try uint64(field), Limits.number) }

    func flag(_ field: Field) throws(WireError) -> Bool { try uint64(field) != 0 }

    func uint32(_ field: Field) throws(WireError) -> UInt32 {
        guard let value = UInt32(exactly: try uint64(field)) else {
            throw invalid("field \(field.number) is over 32 bits")
        }
        return value
    }

    /// Unix milliseconds within ``Limits/clock``.
    func clock(_ field: Field) throws(WireError) -> Int64 {
        let value = Int64(bitPattern: try uint64(field))
        guard Limits.clock.contains(value) else { throw invalid("field \(field.number) is no clock's time") }
        return value
    }

    /// A hybrid logical time of at most ``Limits/stamp``.
    func stamp(_ field: Field) throws(WireError) -> HybridTime {
        let value = try bits(field)
        guard value <= Limits.stamp else { throw invalid("field \(field.number) is over 63 bits") }
        return HybridTime(rawValue: value)
    }

    /// Bits that are compared and never reckoned with: a random number, a part of a hash, features.
    func bits(_ field: Field) throws(WireError) -> UInt64 {
        do { return try field.value.fixed64(field.number) } catch { throw invalid(error) }
    }

    private func uint64(_ field: Field) throws(WireError) -> UInt64 {
        do { return try field.value.uint(field.number) } catch { throw invalid(error) }
    }

    func text(_ field: Field) throws(WireError) -> String {
        do { return try fields.text(field.value, field.number) } catch { throw invalid(error) }
    }

    func uuid(_ field: Field) throws(WireError) -> UUIDBits {
        do { return try fields.uuid(field.value, field.number) } catch { throw invalid(error) }
    }

    func digest(_ field: Field) throws(WireError) -> Digest {
        do { return try fields.digest(field.value, field.number) } catch { throw invalid(error) }
    }

    func data(_ field: Field) throws(WireError) -> [UInt8] {
        do { return try fields.data(field.value, field.number) } catch { throw invalid(error) }
    }

    /// The bytes where they stand in the message.
    func slice(_ field: Field) throws(WireError) -> ArraySlice<UInt8> {
        do { return fields.bytes[try field.value.range(field.number)] } catch { throw invalid(error) }
    }

    /// Bytes that belong to an event: a length over `limit` has an error of its own.
    func eventData(_ field: Field, limit: Int) throws(WireError) -> [UInt8] {
        let count: Int
        do { count = try field.value.range(field.number).count } catch { throw invalid(error) }
        guard count <= limit else { throw .eventTooLarge(bytes: count, limit: limit) }
        return try data(field)
    }

    /// The nested message in `field`.
    func nested(_ name: String, _ field: Field) throws(WireError) -> MessageReader {
        do {
            return MessageReader(name, try fields.message(field.value, field.number))
        } catch {
            throw invalid(error)
        }
    }

    func invalid(_ reason: String) -> WireError { .malformed(message: name, reason: reason) }

    func missing(_ field: String) -> WireError { .missingField(message: name, field: field) }

    private func invalid(_ error: ProtobufError) -> WireError {
        switch error {
        case .truncated: invalid("it ends in the middle of a field")
        case .overlongVarint: invalid("a varint is longer than it need be")
        case .wrongWireType(let field): invalid("field \(field) has another wire type")
        case .wrongLength(let field): invalid("field \(field) has another length")
        case .notUTF8(let field): invalid("field \(field) is not UTF-8")
        case .fieldOrder(let field): invalid("field \(field) is out of order")
        case .missing(let field): invalid("field \(field) is missing")
        case .outOfRange(let field): invalid("field \(field) is over its bound")
        }
    }
}

extension MessageReader {
    /// Refuses one more element of a list that has as many as it may.
    func checkRoom(_ count: Int, _ field: String, _ limit: Int = WireLimits.events) throws(WireError) {
        guard count < limit else { throw .tooMany(message: name, field: field, limit: limit) }
    }

    /// An origin and a number from 1, which goes by `name`: all that the message has.
    func place(_ name: String) throws(WireError) -> (origin: OriginID, number: UInt64) {
        var reader = self
        var origin: UUIDBits?
        var value = UInt64(0)
        while let field = try reader.next() {
            switch field.number {
            case 1: origin = try reader.uuid(field)
            case 2: value = try reader.number(field)
            default: break
            }
        }
        guard let origin else { throw missing("origin") }
        guard value > 0 else { throw missing(name) }
        return (OriginID(origin), value)
    }

    /// Refuses a list that is not strictly ascending, and so one that names an origin twice.
    func checkAscending<Element>(_ list: [Element], _ origin: (Element) -> OriginID) throws(WireError) {
        for (a, b) in zip(list, list.dropFirst()) where origin(a) >= origin(b) {
            throw invalid("origins do not ascend")
        }
    }
}
