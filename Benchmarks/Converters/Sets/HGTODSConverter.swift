/// Korean Wizard-of-Oz dialogues (`ko_hgtods`): music and manual dialogues, and the listeners' profiles.
///
/// Texts stay exactly as they are: the empty ones, the literal "NULL", tabs and blanks included.
public struct HGTODSConverter: DatasetConverter {
    /// `ko_hgtods`
    public static let name = "ko_hgtods"
    /// The options it was made with.
    public let options: ConversionOptions
    private let bot = "hgtods-bot"

    /// Makes a converter; only the limit matters to it.
    public init(options: ConversionOptions = ConversionOptions()) {
        self.options = options
    }

    /// Records profiles in order of user id, then the music files, then the manual files, by name.
    public func write(from folder: String, to recorder: Recorder) throws {
        var clock = InventedClock(start: Timestamp.day(2026, 2, 1))
        try writeProfiles(folder + "/personal.json", &clock, to: recorder)
        for path in try InputFiles.list(folder, prefix: "Music_", suffix: ".json") {
            try writeMusic(path, &clock, to: recorder)
        }
        try writeManuals(folder, &clock, to: recorder)
    }

    private func writeProfiles(_ path: String, _ clock: inout InventedClock, to recorder: Recorder) throws {
        let people = try Record(InputFiles.json(path, as: Any.self), in: path)
        for user in people.fields.keys.sorted() {
            guard case .object(let fields) = try people.json(user) else {
                throw ConversionError.malformed(path: path, detail: "the profile of \(user) is not an object")
            }
            try recorder.recordProfile(of: user, fields: fields, at: clock.nextStart())
        }
    }

    private func writeMusic(_ path: String, _ clock: inout InventedClock, to recorder: Recorder) throws {
        for parsed in try InputFiles.json(path, as: [Any].self) {
            let record = try Record(parsed, in: path)
            let turns = try record.records("turns").flatMap { turn in
                [
                    Dialogue.Turn(isBot: false, text: try turn.text("user_message")),
                    Dialogue.Turn(isBot: true, text: try turn.text("system_message")),
                ]
            }
            try recorder.record(
                Dialogue(
                    id: try record.record("dial_id").text("$oid"), user: try record.text("user_id"), bot: bot,
                    turns: turns),
                startingAt: clock.nextStart())
        }
    }

    /// The manual dialogues name no users; they are spread over 50 invented ones.
    private func writeManuals(_ folder: String, _ clock: inout InventedClock, to recorder: Recorder) throws {
        var number = 0
        for path in try InputFiles.list(folder, prefix: "Manual_", suffix: ".json") {
            let makers = try Record(InputFiles.json(path, as: Any.self), in: path).record("dial_data")
            for maker in makers.fields.keys.sorted() {
                for record in try makers.records(maker) {
                    let turns = try record.records("turns").map { turn in
                        Dialogue.Turn(
                            isBot: try turn.text("role") == "system", text: try turn.text("utterance"))
                    }
                    try recorder.record(
                        Dialogue(
                            id: try record.text("dial_id"), user: "hgtods-m\(number % 50)", bot: bot,
                            turns: turns),
                        startingAt: clock.nextStart())
                    number += 1
                }
            }
        }
    }
}
