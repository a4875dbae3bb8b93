internal import Glibc

/// Time zones by name, such as `Asia/Seoul`, from compiled zone files (tzdata). Reading the files directly leaves the
/// process's own zone alone; switching `TZ` would not.
package struct ZoneDirectory: Sendable {
    private let path: String

    /// The zones below a directory.
    package init(path: String) {
        self.path = path
    }

    /// The zones of the system.
    package static let system = ZoneDirectory(path: "/usr/share/zoneinfo")

    /// The zone of this name, or `nil` if there is none or its file cannot be understood.
    package func zone(named name: String) -> Zone? {
        let isPlain = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (0x30...0x39).contains(byte)
                || "/_-+".utf8.contains(byte)
        }
        guard isPlain, !name.hasPrefix("/"), let bytes = Self.read(path + "/" + name),
            let file = ZoneFile(bytes)
        else { return nil }
        return Zone { file.offset(at: $0.flooringDivision(by: 1_000)) }
    }

    private static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var count = 0
        while count < bytes.count {
            let added = bytes.withUnsafeMutableBytes { raw in
                Glibc.read(descriptor, raw.baseAddress.map { $0 + count }, raw.count - count)
            }
            if added < 0 { return nil }
            if added == 0 { break }
            count += added
        }
        return Array(bytes.prefix(count))
    }
}

/// A compiled zone file, version 2 or later (RFC 8536): the changes of offset with 64-bit times. For instants after the
/// last change the yearly rule in the footer is applied.
struct ZoneFile: Sendable {
    private var times: [Int64] = []
    private var offsets: [Int] = []
    private var first = 0
    private var rule: ZoneRule?

    init?(_ bytes: [UInt8]) {
        var reader = BigEndianReader(bytes)
        // The first block has 32-bit times and is there for old readers; the second repeats it with 64 bits.
        guard let old = Header(&reader), old.version >= UInt8(ascii: "2"), reader.skip(old.dataLength(timeSize: 4)),
            let header = Header(&reader), header.types > 0
        else { return nil }
        for _ in 0..<header.times {
            guard let time = reader.integer(8) else { return nil }
            times.append(time)
        }
        var indices: [Int] = []
        for _ in 0..<header.times {
            guard let index = reader.byte(), index < header.types else { return nil }
            indices.append(Int(index))
        }
        var types: [Int] = []
        for _ in 0..<header.types {
            guard let offset = reader.integer(4), reader.skip(2), abs(offset) < 200_000 else { return nil }
            types.append(Int(offset))
        }
        guard reader.skip(header.characters + header.leaps * 12 + header.standards + header.universals) else {
            return nil
        }
        first = types[0]
        offsets = indices.map { types[$0] }
        guard reader.byte() == 0x0A else { return }
        rule = ZoneRule(reader.line())
    }

    /// Seconds east of UTC at `seconds` since 1970.
    func offset(at seconds: Int64) -> Int {
        guard let last = times.last else { return rule?.offset(at: seconds) ?? first }
        if seconds >= last { return rule?.offset(at: seconds) ?? offsets[offsets.count - 1] }
        var low = 0
        var high = times.count
        while low < high {
            let middle = (low + high) / 2
            if times[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : offsets[low - 1]
    }

    private struct Header {
        let version: UInt8
        let universals, standards, leaps, times, types, characters: Int

        init?(_ reader: inout BigEndianReader) {
            guard reader.integer(4) == 0x545A_6966, let version = reader.byte(), reader.skip(15),
                let universals = reader.integer(4), let standards = reader.integer(4), let leaps = reader.integer(4),
                let times = reader.integer(4), let types = reader.integer(4), let characters = reader.integer(4),
                [universals, standards, leaps, times, types, characters].allSatisfy({ (0...65_536).contains($0) })
            else { return nil }
            self.version = version
            self.universals = Int(universals)
            self.standards = Int(standards)
            self.leaps = Int(leaps)
            self.times = Int(times)
            self.types = Int(types)
            self.characters = Int(characters)
        }

        func dataLength(timeSize: Int) -> Int {
            times * (timeSize + 1) + types * 6 + characters + leaps * (timeSize + 4) + standards + universals
        }
    }
}

private struct BigEndianReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    mutating func byte() -> UInt8? { rest.popFirst() }

    mutating func skip(_ count: Int) -> Bool {
        guard rest.count >= count else { return false }
        rest = rest.dropFirst(count)
        return true
    }

    /// A signed integer of 4 or 8 bytes.
    mutating func integer(_ size: Int) -> Int64? {
        guard rest.count >= size else { return nil }
        let bits = rest.prefix(size).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(size)
        return size == 4 ? Int64(Int32(truncatingIfNeeded: bits)) : Int64(bitPattern: bits)
    }

    func line() -> String {
        String(decoding: rest.prefix { $0 != 0x0A }, as: UTF8.self)
    }
}
