internal import Glibc

extension StoreFiles {
    /// Whether the views that stand here are those of the log as it is now; not while they are built anew, as after an erasure.
    package func hasCurrentViews(_ log: LogReader) throws(StoreError) -> Bool {
        guard access(newViews, F_OK) != 0 else { return false }
        return try ViewDatabase.standing(at: views, of: log, through: try log.top()) != nil
    }
}
