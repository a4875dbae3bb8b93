internal import Glibc

/// Proves views by making them again from the log (D21): new ones are built in a temporary place, up to the position of those that
/// are checked, and both are compared row by row. Reads only, needs no key, and may run while the views are written; memory is
/// that of a projector and of two tails.
package struct ViewsCheck: Sendable {
    private let files: StoreFiles
    private let versions: ViewVersions

    /// - Parameter versions: Those of another release, in tests.
    package init(_ files: StoreFiles, versions: ViewVersions = .current) {
        self.files = files
        self.versions = versions
    }

    /// Compares everything once. Differences are reported, not thrown; it throws where there are no views to check.
    ///
    /// - Parameters:
    ///   - isCancelled: Asked between steps; it ends the check, which then throws ``StoreError/closed``.
    ///   - progress: Runs with the last position applied anew and the one to come to.
    package func run(
        isCancelled: () -> Bool = { false }, progress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws(StoreError) -> ViewsReport {
        var report = ViewsReport()
        if let rows = ViewDatabase.oddProgress(at: files.views) {
            report.add(
                ViewDifference(view: "progress", row: "views.db", field: "rows", found: "\(rows)", expected: "1"))
            return report
        }
        let found = try ViewDatabase.openReader(at: files.views, of: LogReader(files), versions)
        let place = try TemporaryPlace(.views)
        let projector = try Projector(files, path: place.path + "/views.db", versions: versions)
        /// Makes views up to where the others stand; false if that is beyond the log.
        func follow() throws(StoreError) -> Bool {
            report.position = try mapped { () throws(DatabaseError) in
                try ViewDatabase.position(found)
            }
            let top = try projector.top()
            guard report.position <= top else {
                report.add(
                    ViewDifference(
                        view: "progress", row: "views.db", field: "position", found: "\(report.position)",
                        expected: "at most \(top)"))
                return false
            }
            while projector.position < report.position {
                if isCancelled() { throw .closed }
                try projector.step(through: report.position, limit: 16_384)
                try projector.copyBack()
                progress(projector.position, report.position)
            }
            // Those that follow the others are compared where they are.
            // They may have gone on meanwhile, the new ones come no further than their own place.
            let indexed = min(
                try mapped { () throws(DatabaseError) in try ViewDatabase.deferred(found) }, projector.position)
            while projector.indexed < indexed {
                if isCancelled() { throw .closed }
                try projector.stepDeferred(through: indexed, limit: 16_384)
                try projector.copyBack()
            }
            return true
        }
        // Most of the work before the transaction: as long as that lasts, the WAL of the views cannot begin anew.
        guard try follow() else { return report }
        try mapped { () throws(DatabaseError) in try found.statement("BEGIN").run() }
        defer { found.rollback() }
        guard try follow() else { return report }
        let copied = copy(found, place)
        while projector.pending > 0 { try projector.merge() }
        let expected = try ViewDatabase.connect(place.path + "/views.db")
        let names = ViewNames(try LogReader(files))
        do throws(DatabaseError) {
            let found = copied ?? found
            try ComparedTable.database(found, expected, &report)
            try ComparedTable.merges(found, through: report.position, &report)
            for table in ComparedTable.all {
                if isCancelled() { throw .cancelled }
                try table.compare(found, expected, names, &report)
            }
        } catch {
            guard case .damage(let damage) = error else { throw StoreError(error) }
            report.add(
                ViewDifference(
                    view: "database", row: "views.db", field: nil, found: "damaged: \(damage)", expected: nil))
        }
        return report
    }

    /// A copy of views that are written meanwhile, whose transaction then ends: their WAL is to begin anew while they are compared. `nil` if
    /// no one writes, or if there is no room for one.
    private func copy(_ found: Connection, _ place: TemporaryPlace) -> Connection? {
        guard StoreLock.owner(files) != nil, place.hasRoom(forCopyOf: files.views) else { return nil }
        let path = place.path + "/found.db"
        guard (try? found.copy(to: path, isDurable: false)) != nil,
            let copy = try? Connection(path: path, mode: .immutable),
            (try? SearchTokenizer.register(on: copy)) != nil
        else { return nil }
        found.rollback()
        return copy
    }
}
