/// How the cells of a row stand on a terminal: side by side, or with the last one below the others where it would not be
/// readable beside them.
package struct RowLayout: Sendable, Equatable {
    /// Words that get fewer columns than this beside the other cells go below them.
    private static let readable = 40
    /// A last column that is no wider than this stays where it is, and the others give way.
    private static let short = 20
    /// A UUID's.
    private static let longestID = 36
    /// No other column is cut to less.
    private static let narrowest = 8
    private static let margin = "    "

    private let columns: [TextTable.Column]
    private let widths: [Int]
    private let limit: Int?
    /// Whether the last cell has a line of its own.
    package let isFolded: Bool

    /// Columns as wide as these widths, which are those of their widest cells; `Int.max` for a last one that is not known.
    ///
    /// - Parameter limit: the terminal's columns; `nil` when the output is no terminal: nothing is cut or folded.
    package init(_ columns: [TextTable.Column], widths: [Int], limit: Int?) {
        self.columns = columns
        self.limit = limit.map { max($0, 20) }
        let last = widths.last ?? 0
        let others = widths.dropLast()
        let used = others.reduce(0) { $0 + $1 + 2 }
        guard let limit = self.limit, limit - used < min(last, Self.readable) else {
            self.widths = widths
            isFolded = false
            return
        }
        let tight = Self.cut(widths, columns, by: .max).dropLast().reduce(0) { $0 + $1 + 2 }
        isFolded = last > Self.short || tight + last > limit
        let excess = isFolded ? used - 2 - limit : used + last - limit
        self.widths = Self.cut(widths, columns, by: excess)
    }

    /// Takes `excess` cells away from the columns before the last one, the widest first. Words that mean nothing when they
    /// are cut give way before the others where they are longer than any id of ours, and in the end where there is no
    /// other way.
    private static func cut(_ widths: [Int], _ columns: [TextTable.Column], by excess: Int) -> [Int] {
        var (cut, excess) = (widths, excess)
        let others = widths.indices.dropLast()
        let words = others.filter { columns[$0].alignment == .left }
        let rounds: [(columns: [Int], least: Int)] = [
            (words.filter { !columns[$0].isFlexible }, longestID),
            (words.filter { columns[$0].isFlexible }, narrowest),
            // The first one is the time.
            (words.filter { !columns[$0].isFlexible && $0 > 0 }, narrowest),
        ]
        for round in rounds {
            while excess > 0 {
                let wide = round.columns.filter { cut[$0] > round.least }
                guard let widest = wide.max(by: { cut[$0] < cut[$1] }) else { break }
                cut[widest] -= 1
                excess -= 1
            }
        }
        return cut
    }

    /// The headings of the columns.
    package func headings(color: Bool) -> [String] {
        let titles = columns.map(\.title)
        return lines(isFolded ? titles.dropLast() + [""] : titles, styles: color ? titles.map { _ in .bold } : [])
    }

    /// The row as one line, or as two. `styles` has one for each cell, or is empty.
    package func lines(_ texts: [String], styles: [TextStyle?] = []) -> [String] {
        var line = ""
        var used = 0
        for (column, text) in texts.enumerated() {
            let isLast = column == widths.count - 1
            let style = column < styles.count ? styles[column] : nil
            if isLast, isFolded {
                let room = (limit ?? .max) - Self.margin.count
                let cut = DisplayWidth.truncate(text, to: room)
                while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
                return cut.isEmpty ? [line] : [line, Self.margin + (style?.applied(to: cut) ?? cut)]
            }
            let room = isLast ? min(widths[column], (limit ?? .max) - used) : widths[column]
            let cut = DisplayWidth.truncate(text, to: room)
            let shown = style?.applied(to: cut) ?? cut
            switch columns[column].alignment {
            case .right: line += Self.blanks(room - DisplayWidth.of(cut)) + shown
            case .left: line += shown + (isLast ? "" : Self.blanks(room - DisplayWidth.of(cut)))
            }
            if isLast { break }
            line += "  "
            used += room + 2
        }
        return [line]
    }

    private static func blanks(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
}
