/// Schema-Guided Dialogue (`en_sgd`): English task dialogues of a person and a system.
///
/// Dialogue ids repeat between the splits with other content, so the split is part of every id.
public struct SGDConverter: DatasetConverter {
    /// `en_sgd`
    public static let name = "en_sgd"
    /// The options it was made with.
    public let options: ConversionOptions

    /// Makes a converter; with `frames`, payloads carry each turn's annotation, which makes them many times larger.
    public init(options: ConversionOptions = ConversionOptions()) {
        self.options = options
    }

    /// Records the splits dev, test and train, each in order of file name.
    public func write(from folder: String, to recorder: Recorder) throws {
        try Archive.withFolder(ofTarZstd: folder + "/sgd_json.tar.zst") { unpacked in
            var clock = InventedClock(start: Timestamp.day(2026, 3, 1))
            var number = 0
            for split in ["dev", "test", "train"] {
                let files = try InputFiles.list(unpacked + "/" + split, prefix: "dialogues_", suffix: ".json")
                for path in files {
                    for parsed in try InputFiles.json(path, as: [Any].self) {
                        let record = try Record(parsed, in: path)
                        let dialogue = try dialogue(record, split: split, user: "sgd-u\(number % 500)")
                        try recorder.record(dialogue, startingAt: clock.nextStart())
                        number += 1
                    }
                }
            }
        }
    }

    private func dialogue(_ record: Record, split: String, user: String) throws -> Dialogue {
        let turns = try record.records("turns").map { turn in
            Dialogue.Turn(
                isBot: try turn.text("speaker") == "SYSTEM", text: try turn.text("utterance"),
                extra: options.frames ? [JSONValue.Member("frames", try turn.json("frames"))] : [])
        }
        return Dialogue(
            id: split + "-" + (try record.text("dialogue_id")), user: user, bot: "sgd-bot", turns: turns)
    }
}
