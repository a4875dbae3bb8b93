package import CommandLineKit

/// What the one who imports adds to what the export says.
package struct ImportOptions: Sendable {
    /// The name that the exporter has in the file.
    package var me: String?
    /// Whose events they are here: of the exporter, or of all where the file names no user.
    package var user: String?
    /// Of times without one.
    package var zone: Zone?
    /// In place of the one that the export leads to.
    package var conversation: String?
    /// Whether questions are taken whose answer the export lacks.
    package var takesPartial: Bool
    /// Which number of a date comes first, where the file leaves it open.
    package var dates: DateOrder?
    /// Conversations that are here with the month first: open dates of these are read so.
    package var monthFirst: Set<String> = []

    package init(
        me: String? = nil, user: String? = nil, zone: Zone? = nil, conversation: String? = nil,
        dates: DateOrder? = nil, takesPartial: Bool = false
    ) {
        (self.me, self.user, self.zone, self.conversation, self.dates) = (me, user, zone, conversation, dates)
        self.takesPartial = takesPartial
    }
}

/// Which of day and month stands before the other.
package enum DateOrder: String, CaseIterable, Sendable {
    case dayFirst = "day-first"
    case monthFirst = "month-first"
}

/// A format of exports. A reader is asked to read everything twice: the first time all is only looked at, so that nothing of an
/// export is stored before all of it was found to be in order. What it learns then it may use the second time; it keeps no more
/// than what grows with rooms and users.
package protocol ExportReader: AnyObject {
    init(_ options: ImportOptions)

    /// Reads everything from the beginning.
    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError)
}
