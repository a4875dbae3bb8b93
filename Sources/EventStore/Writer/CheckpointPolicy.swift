/// When a WAL is copied back into its database while commits go on.
///
/// Most is copied beside the commits, on a thread of its own. That never comes to the end of a WAL that grows, and only one
/// that has been copied whole begins anew; so the little that is left is copied between two commits.
///
/// A WAL begins anew with a commit that finds all of it copied. Where another thread begins to copy at that moment, SQLite
/// before 3.51.3 may take pages for copied that are not (sqlite.org/wal.html#walresetbug). So copying begins only when
/// something is left to be copied, which keeps the WAL as it is until that is done, and never do two copy at a time.
///
/// Pure: the owner says what has happened and does what it is told. Numbers are pages in the WAL.
struct CheckpointPolicy {
    enum Step: Equatable {
        case none
        /// To be copied beside the commits. Has begun.
        case beside
        /// To be copied between two commits, when no copy is under way any more.
        case between
    }

    /// How long a WAL becomes before it is copied: one of few commits, and one of many. Small commits write mostly the same few
    /// pages again and again, which are copied once.
    static let due = 1_000...4_000
    /// What may be left to be copied between two commits.
    static let rest = 512
    /// How long it becomes before commits wait for the copy.
    static let most = 8_192

    private enum Copying {
        case no
        case yes
        /// The WAL has begun anew since: what was copied says nothing of this one.
        case overtaken
    }

    private var pages = 0
    private var commits = 0
    /// Pages of the last commit.
    private var last = 0
    private var copied = 0
    /// How long the WAL was when it was copied, as far as readers let it be; 0 if it has not been.
    private var tried = 0
    private var copying = Copying.no

    var isCopying: Bool { copying != .no }

    /// How long the WAL is since it began anew.
    var length: Int { pages }
    /// Whether readers kept some of it from being copied, when that was tried last.
    var isHeld: Bool { tried > copied }
    /// Whether all of it is in the database.
    var isCopied: Bool { pages == copied }

    /// Tries again what readers did not let be done; false while a copy is under way, or if nothing is left.
    mutating func beginAgain() -> Bool {
        guard isHeld, !isCopying else { return false }
        copying = .yes
        return true
    }

    /// The WAL is empty.
    mutating func truncated() { (pages, commits, last, copied, tried) = (0, 0, 0, 0, 0) }

    /// A commit has written, and the WAL now has so many pages.
    mutating func committed(pages now: Int) {
        if now > pages {
            last = now - pages
            commits += 1
        } else {
            (last, commits, copied, tried) = (now, 1, 0, 0)
            if copying == .yes { copying = .overtaken }
        }
        pages = now
    }

    /// What is to be done now.
    mutating func next() -> Step {
        let left = pages - copied
        guard left > 0 else { return .none }
        if isCopying { return pages < Self.most ? .none : .between }
        if tried == 0 {
            guard pages >= min(Self.due.lowerBound + 16 * commits, Self.due.upperBound) else { return .none }
        } else if copied < tried {
            // Readers need what was there; they may have gone when there is more.
            guard pages >= tried + Self.rest else { return .none }
        } else if left <= max(Self.rest, last) || pages >= Self.most {
            return .between
        }
        copying = .yes
        return .beside
    }

    /// Who was told to copy has ended: of `pages` so many are in the database; `nil` if it failed.
    mutating func ended(_ result: (pages: Int, copied: Int)?) {
        defer { copying = .no }
        guard copying != .overtaken else { return }
        tried = result.map(\.pages) ?? pages
        copied = max(copied, result?.copied ?? 0)
    }
}
