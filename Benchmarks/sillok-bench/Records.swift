internal import EventStore
internal import Glibc

/// What a benchmark could not do.
struct BenchmarkError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }

    static func system(_ what: String) -> BenchmarkError {
        BenchmarkError("\(what): \(String(cString: strerror(errno)))")
    }
}

/// The data that Sillok, the floors and the peers load: `id TAB kind TAB user TAB conversation TAB payload`, every line of
/// the same length, so that a reader finds any record without looking for it. common/bench.h has the same numbers.
enum Records {
    static let users: UInt64 = 10_000
    /// Three of four events are by these, so that their histories are longer than the page that is asked for.
    static let activeUsers: UInt64 = 2_000
    static let conversations: UInt64 = 50_000
    /// Three of four events are in these.
    static let activeConversations: UInt64 = 10_000
    static let idBytes = 36
    static let nameBytes = 7
    static let payloadBytes = 296
    static let lineBytes = idBytes + 1 + 1 + 1 + nameBytes + 1 + nameBytes + 1 + payloadBytes + 1

    /// The ids' times: one millisecond for each of these many records, from 2026 on.
    private static let perMillisecond = 8
    private static let epoch = UInt64(1_767_225_600_000)

    /// Writes `count` records. Every record depends on its number alone, so that a longer file begins with a shorter one.
    static func write(count: Int) throws(BenchmarkError) {
        let zipf = Zipf(words: Vocabulary.make())
        var chunk: [UInt8] = []
        for number in 0..<count {
            append(number, zipf, to: &chunk)
            guard chunk.count > 1 << 20 || number == count - 1 else { continue }
            try writeOut(chunk)
            chunk.removeAll(keepingCapacity: true)
        }
    }

    private static func writeOut(_ bytes: [UInt8]) throws(BenchmarkError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 else { throw .system("standard output") }
            rest = rest.dropFirst(count)
        }
    }

    /// What a record begins with. The author alone may edit or retract a message, so those records have its user and conversation.
    private struct Beginning {
        var kind: RecordKind
        var user: UInt64
        var conversation: UInt64
        /// The message that it is about.
        var target: Int
    }

    private static func beginning(_ number: Int, _ random: inout SplitMix) -> Beginning {
        let kind = kind(of: number, &random)
        var begun = Beginning(
            kind: kind, user: skewed(&random, active: activeUsers, all: users),
            conversation: skewed(&random, active: activeConversations, all: conversations), target: 0)
        guard kind != .posted else { return begun }
        var target: Beginning
        repeat {
            begun.target = number - 1 - Int(random.below(UInt64(min(number, 10_000))))
            var other = generator(of: begun.target)
            target = beginning(begun.target, &other)
        } while target.kind != .posted
        if kind != .read { (begun.user, begun.conversation) = (target.user, target.conversation) }
        return begun
    }

    private static func generator(of number: Int) -> SplitMix {
        SplitMix(state: UInt64(number) &* 0x2545_f491_4f6c_dd1d &+ 20_260_101)
    }

    private static func append(_ number: Int, _ zipf: Zipf, to line: inout [UInt8]) {
        var random = generator(of: number)
        let begun = beginning(number, &random)
        let (kind, target) = (begun.kind, begun.target)
        line.append(contentsOf: id(number).utf8)
        line.append(
            contentsOf: "\t\(kind.rawValue)\t\(name("u", begun.user))\t\(name("c", begun.conversation))\t".utf8)
        let start = line.count
        switch kind {
        case .posted: line.append(contentsOf: "{\"text\":\"".utf8)
        case .edited: line.append(contentsOf: "{\"message\":\"\(id(target))\",\"text\":\"".utf8)
        case .retracted: line.append(contentsOf: "{\"message\":\"\(id(target))\",".utf8)
        case .read: line.append(contentsOf: "{\"upTo\":\"\(id(target))\",".utf8)
        }
        if kind == .posted || kind == .edited {
            zipf.append(bytes: 90 + Int(random.below(66)), to: &line, &random)
            line.append(contentsOf: "\",".utf8)
        }
        line.append(contentsOf: "\"lang\":\"ko\",\"client\":\"bench\",\"number\":\(number),\"trace\":\"".utf8)
        // Hexadecimal digits up to the length all payloads have; they stand for the ids that real clients send along.
        while line.count - start < payloadBytes - 2 {
            var word = random.next()
            for _ in 0..<16 where line.count - start < payloadBytes - 2 {
                line.append(Vocabulary.digits[Int(word & 15)])
                word >>= 4
            }
        }
        line.append(contentsOf: "\"}\n".utf8)
    }

    /// 92 of 100 events post a message, 4 edit one, 2 retract one, 2 say what was read.
    private static func kind(of number: Int, _ random: inout SplitMix) -> RecordKind {
        guard number > 0 else { return .posted }
        switch random.below(100) {
        case ..<92: return .posted
        case ..<96: return .edited
        case ..<98: return .retracted
        default: return .read
        }
    }

    private static func skewed(_ random: inout SplitMix, active: UInt64, all: UInt64) -> UInt64 {
        random.below(4) > 0 ? random.below(active) : active + random.below(all - active)
    }

    private static func name(_ prefix: String, _ number: UInt64) -> String {
        let digits = String(number)
        return "\(prefix)-" + String(repeating: "0", count: nameBytes - 2 - digits.utf8.count) + digits
    }

    static func userName(_ number: UInt64) -> String { name("u", number) }

    /// A UUIDv7 whose order is that of the numbers.
    private static func id(_ number: Int) -> String {
        var random = SplitMix(state: UInt64(number))
        let time = epoch + UInt64(number / perMillisecond)
        let counter = UInt64(number % perMillisecond)
        let high = time << 16 | 0x7000 | counter << 8 | random.below(256)
        let low = random.next() >> 2 | 1 << 63
        return EventID(UUIDBits(high: high, low: low)).description
    }

    /// Reads `count` records from number `first` on as drafts.
    static func read(_ path: String, from first: Int, count: Int) throws -> [EventDraft] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw BenchmarkError.system(path) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count * lineBytes)
        var have = 0
        while have < bytes.count {
            let part = bytes.withUnsafeMutableBytes { buffer in
                pread(
                    file, UnsafeMutableRawBufferPointer(rebasing: buffer[have...]).baseAddress, buffer.count - have,
                    first * lineBytes + have)
            }
            guard part > 0 else { throw BenchmarkError("\(path) has too few records") }
            have += part
        }
        return try (0..<count).map { try draft(bytes[$0 * lineBytes..<($0 + 1) * lineBytes]) }
    }

    private static func draft(_ line: ArraySlice<UInt8>) throws -> EventDraft {
        var rest = line
        func field(_ count: Int) -> String {
            defer { rest = rest.dropFirst(count + 1) }
            return String(decoding: rest.prefix(count), as: UTF8.self)
        }
        guard let id = EventID(text: field(idBytes)), let kind = RecordKind(rawValue: field(1)) else {
            throw BenchmarkError("this is no record: \(String(decoding: line, as: UTF8.self))")
        }
        let user = field(nameBytes)
        return EventDraft(
            id: id, type: kind.type, conversation: field(nameBytes), user: user,
            payload: Array(rest.prefix(payloadBytes)))
    }
}

/// What a record does.
enum RecordKind: String {
    case posted = "P"
    case edited = "E"
    case retracted = "R"
    case read = "D"

    var type: String {
        switch self {
        case .posted: "message.posted"
        case .edited: "message.edited"
        case .retracted: "message.retracted"
        case .read: "message.read"
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014); common/bench.h has the same.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Close enough to uniform for limits far below 2^64.
    mutating func below(_ limit: UInt64) -> UInt64 { next() % limit }
}
