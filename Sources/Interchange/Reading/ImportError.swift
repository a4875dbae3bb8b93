/// Why an export is refused: which file, where in it, and what is wrong there.
package struct ImportError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        /// The file is not what its format says.
        case malformed
        /// No format is recognised.
        case unknownFormat
        /// The file does not say something that an option must.
        case needsOption
        /// The file is there and cannot be read.
        case unreadable
        /// There is no such file.
        case missing
        /// What takes the events wants no more.
        case stopped
    }

    package let kind: Kind
    package let file: String
    /// `line 12`, or `$.chats.list[3], line 12`.
    package let place: String?
    package let reason: String

    package init(_ kind: Kind, _ file: String, at place: String? = nil, _ reason: String) {
        (self.kind, self.file, self.place, self.reason) = (kind, file, place, reason)
    }

    package var description: String { file + ": " + (place.map { $0 + ": " } ?? "") + reason }

    /// Two exports stand in one folder or archive, and nothing says which of them is meant.
    init(severalIn files: ExportFiles, _ one: String, _ other: String) {
        self.init(.malformed, files.path, "two exports are in it, \(one) and \(other): import one of them alone")
    }
}
