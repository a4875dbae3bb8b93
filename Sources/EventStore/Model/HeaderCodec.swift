/// The canonical header: `message EventHeader` of sync.proto with fields in ascending order, each at most once
/// (but `deps`), shortest varints, and nothing written that equals its default. These bytes are hashed into the leaf
/// and sent; one header has exactly one form.
extension EventHeader {
    private enum Field {
        static let origin: UInt64 = 1
        static let seq: UInt64 = 2
        static let hlc: UInt64 = 3
        static let time: UInt64 = 4
        static let id: UInt64 = 5
        static let type: UInt64 = 6
        static let conversation: UInt64 = 7
        static let user: UInt64 = 8
        static let author: UInt64 = 9
        static let cause: UInt64 = 10
        static let dependencies: UInt64 = 11
        static let version: UInt64 = 12
        static let last = version
        /// The first that changes nothing of what an event means: fields from here on are ancillary.
        static let ancillary: UInt64 = 32
        static let actor = ancillary
    }

    static let actorField = Field.actor

    /// The bytes that are hashed and sent.
    package var canonicalBytes: [UInt8] {
        // What cannot be read is kept, hashed and relayed as it came.
        if isOpaque { return unknownFields }
        var writer = ProtobufWriter()
        writer.bytes.reserveCapacity(128 + user.utf8.count + dependencies.count * 24)
        writeCanonical(to: &writer)
        return writer.bytes
    }

    /// Adds the bytes that are hashed and sent.
    func writeCanonical(to writer: inout ProtobufWriter) {
        writer.uuid(Field.origin, dot.origin.bits)
        writer.uint(Field.seq, dot.seq)
        writer.fixed64(Field.hlc, hlc.rawValue)
        if time != hlc.milliseconds { writer.presentSint(Field.time, time) }
        writer.uuid(Field.id, id.bits)
        writer.text(Field.type, type)
        if let conversation { writer.text(Field.conversation, conversation) }
        writer.text(Field.user, user)
        if !author.hasSameBytes(as: user) { writer.text(Field.author, author) }
        if let cause { writer.uuid(Field.cause, cause.bits) }
        for dependency in dependencies {
            writer.message(Field.dependencies) { inner in
                inner.uuid(1, dependency.origin.bits)
                inner.uint(2, dependency.seq)
            }
        }
        if version != 1 { writer.uint(Field.version, UInt64(version)) }
        guard let actor else { return writer.bytes.append(contentsOf: unknownFields) }
        if unknownFields.isEmpty { return writer.text(Field.actor, actor.text) }
        let critical = Self.criticalCount(unknownFields)
        writer.bytes.append(contentsOf: unknownFields[..<critical])
        writer.text(Field.actor, actor.text)
        writer.bytes.append(contentsOf: unknownFields[critical...])
    }

    /// Whether it has critical fields of a later format: what it says may mean something else then.
    package var isOfLaterFormat: Bool { !isOpaque && Self.isOfLaterFormat(unknownFields) }

    /// Whether all its fields of later formats are ancillary, and it has some.
    var hasAncillaryAlone: Bool { !isOpaque && !unknownFields.isEmpty && !isOfLaterFormat }

    /// Whether these are fields of later formats alone: none that a header has a member for.
    static func areOfLater(_ unknownFields: [UInt8]) -> Bool {
        var reader = ProtobufReader(unknownFields)
        guard let key = try? reader.varint() else { return false }
        return key >> 3 > Field.last
    }

    /// Whether these unknown fields, which are in ascending order, have critical ones among them.
    static func isOfLaterFormat(_ unknownFields: [UInt8]) -> Bool {
        var reader = ProtobufReader(unknownFields)
        guard let key = try? reader.varint() else { return false }
        return key >> 3 < Field.ancillary
    }

    /// How many bytes of unknown fields stand before those that are ancillary.
    static func criticalCount(_ unknownFields: [UInt8]) -> Int {
        if unknownFields.isEmpty { return 0 }
        var reader = ProtobufReader(unknownFields)
        var end = 0
        while let (field, _) = try? reader.next(), field < Field.ancillary { end = reader.index }
        return end
    }

    /// Reads a canonical header. Any other byte sequence is refused, so that equal events have equal hashes.
    package init(canonicalBytes bytes: [UInt8]) throws(InvalidHeader) {
        try self.init(bytes)
        guard canonicalBytes == bytes else { throw .notCanonical }
    }

    /// Whether a reader of its canonical bytes gets this header.
    func isRead(from bytes: [UInt8]) throws(InvalidHeader) -> Bool {
        if try EventHeader(bytes) == self { return true }
        _ = try EventHeader(canonicalBytes: bytes)
        return false
    }

    /// What these bytes say, within the limits, whether or not they are canonical.
    private init(_ bytes: [UInt8]) throws(InvalidHeader) {
        guard bytes.count <= Limits.header else { throw .limits(.headerTooLarge(bytes: bytes.count)) }
        do { self = try Self.read(bytes) } catch { throw .encoding(String(describing: error)) }
        do { try validate() } catch { throw .limits(error) }
    }

    private static func read(_ bytes: [UInt8]) throws(ProtobufError) -> EventHeader {
        var reader = ProtobufReader(bytes)
        var origin: UUIDBits?, id: UUIDBits?, cause: UUIDBits?
        var seq = UInt64(0), hlc = UInt64(0), version = UInt64(1)
        var time: Int64?
        var type = "", user = "", conversation: String?, author: String?
        var dependencies: [Dot] = []
        var later = LaterFields()
        var start = reader.index
        var previous = UInt64(0)
        while let (field, value) = try reader.next() {
            guard field > previous || (field == previous && (field == Field.dependencies || field > Field.last))
            else {
                throw .fieldOrder(field: field)
            }
            previous = field
            switch field {
            case Field.origin: origin = try reader.uuid(value, field)
            case Field.seq: seq = try value.uint(field)
            case Field.hlc: hlc = try value.fixed64(field)
            case Field.time: time = try value.sint(field)
            case Field.id: id = try reader.uuid(value, field)
            case Field.type: type = try reader.text(value, field)
            case Field.conversation: conversation = try reader.text(value, field)
            case Field.user: user = try reader.text(value, field)
            case Field.author: author = try reader.text(value, field)
            case Field.cause: cause = try reader.uuid(value, field)
            case Field.dependencies: dependencies.append(try dependency(try reader.message(value, field)))
            case Field.version: version = try value.uint(field)
            default: later.take(field, value, start..<reader.index, of: reader)
            }
            start = reader.index
        }
        guard later.ancillaryCount(to: bytes.count) <= Limits.ancillary else {
            throw .outOfRange(field: Field.ancillary)
        }
        guard let origin else { throw .missing(field: Field.origin) }
        guard let id else { throw .missing(field: Field.id) }
        guard seq > 0 else { throw .missing(field: Field.seq) }
        guard seq <= Limits.number else { throw .outOfRange(field: Field.seq) }
        guard version <= UInt64(UInt32.max) else { throw .wrongLength(field: Field.version) }
        for (a, b) in zip(dependencies, dependencies.dropFirst()) where a.origin >= b.origin {
            throw .fieldOrder(field: Field.dependencies)
        }
        // What an origin itself had appended goes without saying.
        if dependencies.contains(where: { $0.origin.bits == origin }) {
            throw .wrongLength(field: Field.dependencies)
        }
        return EventHeader(
            dot: Dot(origin: OriginID(origin), seq: seq), hlc: HybridTime(rawValue: hlc), time: time, id: EventID(id),
            type: type, conversation: conversation, user: user, author: author, cause: cause.map(EventID.init),
            dependencies: dependencies, version: UInt32(version), actor: later.actor?.value,
            unknownFields: later.unknown(of: bytes))
    }

    /// Where fields that are not those of version 1 stand.
    private struct LaterFields {
        private var start: Int?
        private var ancillary: Int?
        /// The actor and where its field stands, if there is one field 32 and it has the form.
        private(set) var actor: (value: EventActor, place: Range<Int>)?
        private var hasActorField = false

        mutating func take(
            _ field: UInt64, _ value: ProtobufReader.Value, _ place: Range<Int>, of reader: ProtobufReader
        ) {
            start = start ?? place.lowerBound
            guard field >= Field.ancillary else { return }
            ancillary = ancillary ?? place.lowerBound
            guard field == Field.actor else { return }
            // An actor of another form, or a second one, is kept as it came: releases that do not know the field must say the same.
            let found = hasActorField ? nil : (try? reader.text(value, field)).flatMap(EventActor.init(text:))
            hasActorField = true
            actor = found.map { ($0, place) }
        }

        func ancillaryCount(to end: Int) -> Int { ancillary.map { end - $0 } ?? 0 }

        /// Their bytes, but for the actor's.
        func unknown(of bytes: [UInt8]) -> [UInt8] {
            guard let start else { return [] }
            guard let actor else { return Array(bytes[start...]) }
            return Array(bytes[start..<actor.place.lowerBound] + bytes[actor.place.upperBound...])
        }
    }

    static func dependency(_ message: ProtobufReader) throws(ProtobufError) -> Dot {
        var reader = message
        var origin: UUIDBits?
        var seq = UInt64(0)
        while let (field, value) = try reader.next() {
            switch field {
            case 1: origin = try reader.uuid(value, field)
            case 2: seq = try value.uint(field)
            default: throw .fieldOrder(field: field)
            }
        }
        guard let origin else { throw .missing(field: 1) }
        guard seq > 0 else { throw .missing(field: 2) }
        guard seq <= Limits.number else { throw .outOfRange(field: 2) }
        return Dot(origin: OriginID(origin), seq: seq)
    }
}

extension EventActor {
    /// The header's field that says this.
    var field: [UInt8] {
        var writer = ProtobufWriter()
        writer.text(EventHeader.actorField, text)
        return writer.bytes
    }
}

/// Why bytes are not a canonical header.
package enum InvalidHeader: Error, Hashable, Sendable {
    /// Not the message it should be.
    case encoding(String)
    /// The same fields have another, canonical form.
    case notCanonical
    /// A field breaks a limit.
    case limits(InvalidEvent)
}

extension InvalidHeader: CustomStringConvertible {
    /// A few words for people.
    package var description: String {
        switch self {
        case .encoding(let reason): "it is not the message it should be (\(reason))"
        case .notCanonical: "it does not have the canonical form"
        case .limits(let reason): "\(reason)"
        }
    }
}
