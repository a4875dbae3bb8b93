internal import Foundation

/// Korean film reviews with a rating from 1 to 10 (`ko_nsmc`): each is one survey answer, in no conversation.
public struct NSMCConverter: DatasetConverter {
    /// `ko_nsmc`
    public static let name = "ko_nsmc"
    /// The options it was made with.
    public let options: ConversionOptions

    /// Makes a converter; only the limit matters to it.
    public init(options: ConversionOptions = ConversionOptions()) {
        self.options = options
    }

    /// Records the reviews in file order; a line that is no complete review is skipped and counted.
    public func write(from folder: String, to recorder: Recorder) throws {
        try Archive.forEachLine(ofZstd: folder + "/nsmc_dev.jsonl.zst") { line in
            guard let fields = try? JSONSerialization.jsonObject(with: line) as? [String: Any] else {
                return recorder.skip("not a JSON object")
            }
            guard let review = fields["review"] as? String, let author = fields["author"] as? String,
                let id = fields["review_id"] as? String, let movie = fields["movie_id"] as? String,
                let rating = (fields["rating"] as? String).flatMap(Int64.init)
            else { return recorder.skip("member missing") }
            guard let time = (fields["date"] as? String).flatMap(Self.midnightInKorea) else {
                return recorder.skip("no such day")
            }
            try recorder.record(
                .surveyAnswered, id: id, at: time, user: author,
                data: [
                    JSONValue.Member("survey", .string("nsmc")),
                    JSONValue.Member("question", .string("movie-" + movie)),
                    JSONValue.Member("rating", .integer(rating)),
                    JSONValue.Member("comment", .string(review)),
                ])
        }
    }

    /// The start of a Korean day written "YY.MM.DD", which is 15:00 UTC of the day before.
    static func midnightInKorea(_ day: String) -> Timestamp? {
        let parts = day.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let numbers = parts.compactMap { $0.count == 2 ? Int(Substring($0)) : nil }
        guard parts.count == 3, numbers.count == 3 else { return nil }
        return Timestamp(year: 2000 + numbers[0], month: numbers[1], day: numbers[2])?
            .adding(seconds: -9 * 3600)
    }
}
