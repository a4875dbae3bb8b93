internal import Foundation

/// Korean question and answer pairs (`ko_songys`): each row is a conversation of one question and one reply.
///
/// The set has no users, so its rows are spread over 200 invented ones.
public struct SongysConverter: DatasetConverter {
    /// `ko_songys`
    public static let name = "ko_songys"
    /// The options it was made with.
    public let options: ConversionOptions

    /// Makes a converter; only the limit matters to it.
    public init(options: ConversionOptions = ConversionOptions()) {
        self.options = options
    }

    /// Records the rows in file order; row numbers count from 1, the header left out.
    public func write(from folder: String, to recorder: Recorder) throws {
        let path = folder + "/ChatbotData.csv"
        guard let rows = CSVRows.parse(try InputFiles.bytes(path)), rows.first == ["Q", "A", "label"] else {
            throw ConversionError.malformed(path: path, detail: "expected CSV with the header Q,A,label")
        }
        var clock = InventedClock(start: Timestamp.day(2026, 1, 1))
        for (row, fields) in rows.enumerated().dropFirst() {
            guard fields.count == 3, let label = Int64(fields[2].trimmingCharacters(in: .whitespaces)) else {
                throw ConversionError.malformed(path: path, detail: "row \(row) is not question, answer, label")
            }
            let extra = [JSONValue.Member("label", .integer(label))]
            let dialogue = Dialogue(
                id: "songys-\(row)", user: "songys-u\(row % 200)", bot: "songys-bot",
                turns: [
                    Dialogue.Turn(isBot: false, text: fields[0], extra: extra),
                    Dialogue.Turn(isBot: true, text: fields[1], extra: extra),
                ])
            try recorder.record(dialogue, startingAt: clock.nextStart())
        }
    }
}
