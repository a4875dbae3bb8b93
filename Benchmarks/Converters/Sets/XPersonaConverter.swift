/// Korean PersonaChat (`ko_xpersona`): pairs of a person's line and the bot's response.
///
/// The persona sentences, which in the original describe the responding side, become the profile of the
/// dialogue's invented user, since the set has nothing else that could fill a profile.
public struct XPersonaConverter: DatasetConverter {
    /// `ko_xpersona`
    public static let name = "ko_xpersona"
    /// The options it was made with.
    public let options: ConversionOptions

    /// Makes a converter; only the limit matters to it.
    public init(options: ConversionOptions = ConversionOptions()) {
        self.options = options
    }

    /// Records the test part, then the validation part, each in file order.
    public func write(from folder: String, to recorder: Recorder) throws {
        var clock = InventedClock(start: Timestamp.day(2026, 2, 15))
        var number = 0
        for part in ["test", "valid"] {
            let path = folder + "/Ko_persona_split_\(part)_human_annotated.json"
            for (index, parsed) in try InputFiles.json(path, as: [Any].self).enumerated() {
                let record = try Record(parsed, in: path)
                let user = "xpersona-\(number)"
                let start = clock.nextStart()
                try recorder.recordProfile(
                    of: user, fields: [JSONValue.Member("persona", try record.json("persona"))], at: start)
                try recorder.record(
                    Dialogue(
                        id: "xpersona-\(part)-\(index)", user: user, bot: "xpersona-bot",
                        turns: try Self.turns(of: record)),
                    startingAt: start)
                number += 1
            }
        }
    }

    private static func turns(of record: Record) throws -> [Dialogue.Turn] {
        try record.get("dialogue", as: [[String]].self).flatMap { pair in
            guard pair.count == 2 else {
                throw ConversionError.malformed(path: record.path, detail: "a dialogue entry is not a pair")
            }
            return [Dialogue.Turn(isBot: false, text: pair[0]), Dialogue.Turn(isBot: true, text: pair[1])]
        }
    }
}
