/// How long a WAL is, and who keeps it from beginning anew.
package struct WALStanding: Sendable {
    /// Pages at which it is unusually long: twice what commits without readers come to.
    static let long = 2 * CheckpointPolicy.most
    /// Pages from which on nothing is stored until it has become shorter: 1 GiB.
    static let most = (1 << 30) / (24 + 4_096)

    /// The name of its file.
    package let file: String
    /// Pages since it began anew.
    let pages: Int
    /// For how long, milliseconds, a reader reads what stands only there, and who, as far as that can be found out.
    package let held: (milliseconds: Int64, reader: String?)?

    init(_ file: String, pages: Int, held: (milliseconds: Int64, reader: String?)?) {
        (self.file, self.pages, self.held) = (file, pages, held)
    }

    package var bytes: Int { Connection.walBytes(pages: pages) }
    /// Whether nothing is stored for that.
    package var isFull: Bool { pages >= Self.most }
    /// Whether its operator should know.
    package var isProblem: Bool { isFull || pages >= Self.long && (held?.milliseconds ?? 0) >= 10_000 }

    /// One sentence for people.
    package var text: String {
        let size = "\(file) has \(bytes >> 20) MiB"
        guard let held else { return size }
        let reason =
            held.reader.map { "a reader, \($0), keeps an old state of it" }
            ?? "no reader is to be found, the disk may be full"
        return
            "\(size) and could not be copied into \(file.dropLast(4)) for \(held.milliseconds / 1_000) s: \(reason)"
    }
}
