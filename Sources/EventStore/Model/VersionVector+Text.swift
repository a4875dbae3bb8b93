extension VersionVector {
    /// `<origin>/<seq>` of every origin, ascending, with blanks between.
    public var text: String { entries.map(\.description).joined(separator: " ") }

    /// Reads ``text``; commas and line ends separate too. `nil` for anything else.
    public init?(text: String) {
        var dots: [Dot] = []
        for word in text.split(whereSeparator: { $0 == " " || $0 == "," || $0.isNewline || $0 == "\t" }) {
            let parts = word.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let origin = OriginID(text: String(parts[0])), let seq = UInt64(parts[1]),
                seq > 0, seq <= Limits.number
            else { return nil }
            dots.append(Dot(origin: origin, seq: seq))
        }
        self.init(dots)
    }

    /// Whether everything `other` stands for is in this.
    public func covers(_ other: VersionVector) -> Bool { other.count(missingFrom: self) == 0 }
}
