/// What a conversion may be told beside the folder to read.
public struct ConversionOptions: Sendable, Equatable {
    /// Put each turn's annotation frames into the payload, where the set has them.
    public var frames: Bool
    /// Stop after so many lines; nil for all.
    public var limit: Int?

    /// Makes options; by default no frames and no limit.
    public init(frames: Bool = false, limit: Int? = nil) {
        self.frames = frames
        self.limit = limit
    }
}

/// Turns one real dialogue set into native NDJSON lines.
public protocol DatasetConverter: Sendable {
    /// The set's name, which is its folder's name too.
    static var name: String { get }

    /// Makes a converter.
    init(options: ConversionOptions)

    /// The options it was made with.
    var options: ConversionOptions { get }

    /// Reads the set's folder and records every line in a stable order.
    /// - Throws: `ConversionError`, and what the recorder throws, which must be passed on.
    func write(from folder: String, to recorder: Recorder) throws
}

extension DatasetConverter {
    /// Converts the set in `folder`, calling `emit` once per line, in an order that is the same in every run.
    /// - Returns: what was written and what was left out.
    /// - Throws: `ConversionError`, or what `emit` throws.
    public func convert(from folder: String, emit: (NativeLine) throws -> Void) throws -> ConversionCounts {
        try withoutActuallyEscaping(emit) { emit in
            let recorder = Recorder(set: Self.name, limit: options.limit, emit: emit)
            do {
                try write(from: folder, to: recorder)
            } catch is Recorder.LimitReached {}
            return recorder.counts
        }
    }
}

/// All converters, by name.
public enum ConverterRegistry {
    /// Every converter, in order of name.
    public static let all: [any DatasetConverter.Type] = [
        SGDConverter.self, TopicalChatConverter.self, HGTODSConverter.self, NSMCConverter.self,
        SongysConverter.self, XPersonaConverter.self,
    ]

    /// The converter of a set; nil when there is none of that name.
    public static func converter(named name: String) -> (any DatasetConverter.Type)? {
        all.first { $0.name == name }
    }
}
