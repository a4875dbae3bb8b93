/// When a WAL is copied back into its database while commits go on.
///
/// Most is copied beside the commits, on a thread of its own. That never comes to the end of a WAL that grows, and only one
/// that has been copied whole begins anew; so the little that is left is copied between two commits. However long a WAL has become, a
/// copy of it leaves what was written meanwhile, the next one less, and soon little: no commit waits for more. Only where the
/// commits outrun the copy, as the disk takes no more, they let it go first.
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
        /// To be copied between two commits.
        case between
        /// The next commit lets the copy that is under way go first.
        case giveWay
    }

    /// How long a WAL becomes before it is copied: one of few commits, and one of many. Small commits write mostly the same few
    /// pages again and again, which are copied once.
    static let due = 1_000...4_000
    /// What may be left to be copied between two commits.
    static let rest = 512
    /// How long it becomes before commits that outrun the copy let it go first, and how long before they do so until it ends.
    static let most = 8_192
    static let far = 8 * most

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
    /// Whether more came during the last copy than half of what that copied: then the next ones come to no end.
    private var isOutrun = false
    /// Whether a reader kept the WAL from beginning anew when all of it was copied.
    private var isInUse = false

    var isCopying: Bool { copying != .no }
    /// Whether it is longer than commits without readers make it: then a commit of its own begins it anew, and its file is cut.
    var isLong: Bool { pages > Self.most + Self.rest }

    /// How long the WAL is since it began anew.
    var length: Int { pages }
    /// Whether readers kept some of it from being copied, when that was tried last.
    var isHeld: Bool { tried > copied }
    /// Whether all of it is in the database.
    var isCopied: Bool { pages == copied }
    /// Whether no more is left than may be copied between two commits.
    var isNearlyCopied: Bool { pages - copied <= max(Self.rest, last) }
    /// How long a commit lets the copy go first, milliseconds.
    var patience: Int { pages >= Self.far ? 1_000 : 20 }

    /// Tries again what readers did not let be done; false while a copy is under way, or if nothing is left.
    mutating func beginAgain() -> Bool {
        guard isHeld, !isCopying else { return false }
        copying = .yes
        return true
    }

    /// The WAL is empty.
    mutating func emptied() { self = CheckpointPolicy() }

    /// A commit has written, and the WAL now has so many pages.
    mutating func committed(pages now: Int) {
        if now > pages {
            if pages > 0, copied == pages { isInUse = true }
            last = now - pages
            commits += 1
        } else {
            (last, commits, copied, tried) = (now, 1, 0, 0)
            (isOutrun, isInUse) = (false, false)
            if copying == .yes { copying = .overtaken }
        }
        pages = now
    }

    /// What is to be done now.
    mutating func next() -> Step {
        let left = pages - copied
        guard left > 0 else { return .none }
        if isCopying { return isOutrun && pages >= Self.most ? .giveWay : .none }
        if tried == 0 {
            guard pages >= min(Self.due.lowerBound + 16 * commits, Self.due.upperBound) else { return .none }
        } else if copied < tried {
            // Readers need what was there; they may have gone when there is more.
            guard pages >= tried + Self.rest else { return .none }
        } else if isInUse, left < Self.rest / 2 {
            // The same reader, or the next, may be at it still.
            return .none
        } else if isNearlyCopied {
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
        let before = copied
        copied = max(copied, result?.copied ?? 0)
        isOutrun = !isHeld && !isNearlyCopied && 2 * (pages - copied) > copied - before
    }
}
