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

/// The data that Sillok and the floor both read: one line for each event, `user TAB conversation TAB payload`.
enum Records {
    static let users: UInt64 = 10_000
    /// Three of four events are by these, so that their histories are longer than the page that is asked for.
    static let activeUsers: UInt64 = 2_000
    static let conversations: UInt64 = 50_000
    private static let payloadBytes = 250

    private static let words = [
        "안녕하세요", "오늘", "회의는", "몇", "시에", "시작하나요", "감사합니다", "주문한", "물건이", "아직", "도착하지", "않았어요", "확인해", "주세요",
        "네", "알겠습니다", "내일", "다시", "연락드리겠습니다", "배송", "조회", "환불", "please", "check", "the", "order", "again", "thank",
        "you", "meeting", "tomorrow", "morning", "release", "is", "ready", "OK", "no", "problem", "see", "later",
    ]

    /// Writes `count` records. The same count gives the same bytes everywhere.
    static func generate(_ path: String, count: Int) throws(BenchmarkError) {
        guard let file = fopen(path, "w") else { throw .system(path) }
        var random = SplitMix(state: 20_260_101)
        for index in 0..<count {
            let isActive = random.below(4) > 0
            let user = isActive ? random.below(activeUsers) : activeUsers + random.below(users - activeUsers)
            var text = words[Int(random.below(UInt64(words.count)))]
            while text.utf8.count < payloadBytes - 45 {
                text += " " + words[Int(random.below(UInt64(words.count)))]
            }
            let line = """
                \(userName(user))\tc-\(random.below(conversations))\t\
                {"text":"\(text)","client":"bench","number":\(index)}\n
                """
            fputs(line, file)
        }
        guard ferror(file) == 0, fclose(file) == 0 else { throw .system(path) }
    }

    static func userName(_ number: UInt64) -> String { "u-\(number)" }

    /// Reads all records as drafts of messages.
    static func read(_ path: String) throws -> [EventDraft] {
        guard let bytes = try SmallFile.read(path) else { throw BenchmarkError("\(path) is missing") }
        var drafts: [EventDraft] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: "\t"), maxSplits: 2)
            guard fields.count == 3 else { throw BenchmarkError("\(path) has a line without three fields") }
            drafts.append(
                EventDraft(
                    type: "message.posted", conversation: String(decoding: fields[1], as: UTF8.self),
                    user: String(decoding: fields[0], as: UTF8.self), payload: Array(fields[2])))
        }
        return drafts
    }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014); floor.c has the same.
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
