/// Headers that this release cannot read (D13): of a later format, or malformed.
///
/// Such an event must not stop anything: it is stored, hashed, counted and relayed as it was received, and hidden from
/// the views. Only its place can be read: the dot, and if they are sound the hlc and the dependencies. A later release
/// that can read the rest reads it anew (``LogUpgrade``).
extension EventHeader {
    /// Whether only the place could be read. Type, user and author are then empty, the id is made from the dot, and
    /// ``unknownFields`` is the whole header as it was received.
    public var isOpaque: Bool { type.isEmpty }

    /// Reads a header as a peer sent it: whole if it is canonical, opaque if it is not but has a dot.
    package init(received bytes: [UInt8]) throws(InvalidHeader) {
        do {
            self = try EventHeader(canonicalBytes: bytes)
        } catch {
            guard bytes.count <= Limits.header, let opaque = EventHeader(opaque: bytes) else { throw error }
            self = opaque
        }
    }

    /// Why an opaque header cannot be read; `nil` for others, and for those this release would read.
    package var obstacle: InvalidHeader? {
        guard isOpaque else { return nil }
        do {
            _ = try EventHeader(canonicalBytes: unknownFields)
            return nil
        } catch { return error }
    }

    /// Takes the place out of `bytes`, of every field the last one that fits; `nil` if there is no dot.
    init?(opaque bytes: [UInt8]) {
        var reader = ProtobufReader(bytes)
        var origin: UUIDBits?
        var seq = UInt64(0), hlc = UInt64(0)
        var dependencies: [Dot]? = []
        do throws(ProtobufError) {
            while let (field, value) = try reader.next() {
                switch (field, value) {
                case (1, .bytes): origin = (try? reader.uuid(value, field)) ?? origin
                case (2, .varint(let number)): seq = number
                case (3, .fixed64(let number)): hlc = number
                case (11, .bytes): dependencies?.append(try Self.dependency(try reader.message(value, field)))
                case (11, _): dependencies = nil
                default: break
                }
            }
        } catch {
            // What stands before the fault is still true; a list of dependencies that breaks off is not.
            dependencies = nil
        }
        guard let origin, seq > 0, seq <= Limits.number else { return nil }
        let named = dependencies ?? []
        let isSound =
            zip(named, named.dropFirst()).allSatisfy { $0.origin < $1.origin }
            && named.allSatisfy { $0.origin.bits != origin && $0.seq <= Limits.number }
        let dot = Dot(origin: OriginID(origin), seq: seq)
        self.init(
            dot: dot, hlc: HybridTime(rawValue: hlc > Limits.stamp ? 0 : hlc), id: Self.standIn(dot), type: "",
            user: "", dependencies: isSound ? named : [], unknownFields: bytes)
    }

    /// A UUIDv8 (RFC 9562 §5.8) that is the same for this dot on every node.
    private static func standIn(_ dot: Dot) -> EventID {
        let bits = dot.origin.bits
        return EventID(
            UUIDBits(
                high: bits.high & ~0xf000 | 0x8000,
                low: (bits.low ^ dot.seq) & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000))
    }
}
