internal import BotKit
internal import CommandLineKit
internal import EventStore

/// Repeats the question, without a network: for a first try, and for tests.
///
/// A picture is one of a single color, which follows from the question; sound is a tone; a recording is heard as how long it is.
struct EchoModel: Model {
    func ask(
        _ request: ModelRequest, timeout: UInt64, take: @escaping (ReplyMachine.Input) -> Bool,
        goesOn: @escaping () -> Bool
    ) -> ReplyMachine.Input? {
        let (contentType, body) = Self.answer(request)
        guard take(.answerBegins(contentType: contentType)), take(.piece(body)) else { return nil }
        return .answerEnds
    }

    private static func answer(_ request: ModelRequest) -> (String, [UInt8]) {
        var line = JSONLine()
        switch request {
        case .chat(let request):
            var message = JSONLine()
            message.add("role", Turn.Role.assistant.rawValue)
            message.add("content", request.turns.last { $0.role == .user }?.text)
            line.add("model", "echo")
            line.addRaw("choices", #"[{"index":0,"finish_reason":"stop","message":\#(message.text)}]"#)
        case .image(let request):
            let color = SHA256().digest(Array(request.prompt.utf8)).bytes.prefix(3)
            line.addArray("data") { array in
                array.addObject { $0.add("b64_json", base64Text(EchoMedia.picture(Array(color)))) }
            }
        case .transcription(let request): line.add("text", "a recording of \(request.sound.count) bytes")
        case .speech: return ("audio/wav", EchoMedia.tone())
        case .fetch, .model: break
        }
        return ("application/json", line.utf8)
    }
}

/// The smallest files of their kinds.
enum EchoMedia {
    /// Pixels of a side.
    private static let side = 16

    /// A PNG (RFC 2083) of one color: red, green, blue.
    static func picture(_ color: [UInt8]) -> [UInt8] {
        var rows: [UInt8] = []
        for _ in 0..<side {
            rows.append(0)
            for _ in 0..<side { rows += color }
        }
        // zlib (RFC 1950) with one block that is stored as it is.
        let length = UInt16(rows.count)
        var packed: [UInt8] = [0x78, 0x01, 0x01]
        packed += little(length) + little(~length) + rows + big(adler(rows))
        let size = big(UInt32(side))
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            + chunk("IHDR", size + size + [8, 2, 0, 0, 0]) + chunk("IDAT", packed) + chunk("IEND", [])
    }

    /// A WAV of a fifth of a second: 440 Hz, 8,000 samples a second of eight bits.
    static func tone() -> [UInt8] {
        let samples = (0..<1_600).map { UInt8($0 * 440 / 4_000 % 2 == 0 ? 96 : 160) }
        let rate = little(UInt32(8_000))
        let format = little(UInt16(1)) + little(UInt16(1)) + rate + rate + little(UInt16(1)) + little(UInt16(8))
        let parts =
            Array("WAVEfmt ".utf8) + little(UInt32(format.count)) + format + Array("data".utf8)
            + little(UInt32(samples.count)) + samples
        return Array("RIFF".utf8) + little(UInt32(parts.count)) + parts
    }

    private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
        let named = Array(name.utf8) + data
        return big(UInt32(data.count)) + named + big(check(named))
    }

    /// CRC-32 as in PNG.
    private static func check(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ 0xedb8_8320 }
        }
        return ~sum
    }

    /// Adler-32.
    private static func adler(_ bytes: [UInt8]) -> UInt32 {
        var (a, b) = (UInt32(1), UInt32(0))
        for byte in bytes {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return b << 16 | a
    }

    private static func big(_ number: UInt32) -> [UInt8] { little(number).reversed() }

    private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
