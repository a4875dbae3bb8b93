/// Rows under headings, in three forms: aligned for eyes, tab-separated for scripts, and records for speech.
///
/// Cells are given raw; every form makes hostile text visible by itself. There are no drawn lines, because their width
/// is ambiguous in East Asian terminals.
package struct TextTable: Sendable {
    /// A heading and the side its cells stand on.
    package struct Column: Sendable, Equatable {
        /// The heading.
        package var title: String
        /// Left for words, right for numbers.
        package var alignment: DisplayWidth.Alignment
        /// Whether its cells may be cut where a terminal is narrow.
        package var isFlexible: Bool

        /// A column of words.
        package static func left(_ title: String) -> Column {
            Column(title: title, alignment: .left, isFlexible: true)
        }
        /// A column of words that mean nothing when they are cut, as times.
        package static func whole(_ title: String) -> Column {
            Column(title: title, alignment: .left, isFlexible: false)
        }
        /// A column of numbers.
        package static func right(_ title: String) -> Column {
            Column(title: title, alignment: .right, isFlexible: false)
        }
    }

    /// A cell: its text and how it is coloured where colour is used.
    package struct Cell: Sendable, Equatable, ExpressibleByStringInterpolation {
        /// The raw text.
        package var text: String
        /// The colour.
        package var style: TextStyle?

        /// Text, coloured or not.
        package init(_ text: String, style: TextStyle? = nil) {
            self.text = text
            self.style = style
        }

        /// Text without colour.
        package init(stringLiteral value: String) { self.init(value) }
    }

    private let columns: [Column]
    /// Whether the rows go on a table that was printed before: without headings.
    private let isContinued: Bool
    private var rows: [[Cell]] = []

    /// A table without rows.
    package init(_ columns: [Column], isContinued: Bool = false) {
        (self.columns, self.isContinued) = (columns, isContinued)
    }

    /// Adds a row; cells that are missing stay empty, cells without a column are dropped.
    package mutating func add(_ cells: [Cell]) {
        let missing = max(0, columns.count - cells.count)
        rows.append(Array(cells.prefix(columns.count)) + Array(repeating: Cell(""), count: missing))
    }

    /// Whether there is no row.
    package var isEmpty: Bool { rows.isEmpty }

    /// Aligned columns with two spaces between them, one line a row; two where the last cell would not be readable beside
    /// the others (``RowLayout``).
    ///
    /// - Parameters:
    ///   - width: the terminal's columns; what does not fit is cut with `...`. `nil` when the output is no terminal:
    ///     nothing is cut.
    ///   - color: whether to use the cells' styles.
    package func aligned(width: Int?, color: Bool = false) -> [String] {
        let texts = rows.map { row in row.map { Sanitizer.line($0.text) } }
        let widths = columns.indices.map { column in
            texts.reduce(DisplayWidth.of(columns[column].title)) { max($0, DisplayWidth.of($1[column])) }
        }
        let layout = RowLayout(columns, widths: widths, limit: width)
        return (isContinued ? [] : layout.headings(color: color))
            + zip(rows, texts).flatMap { layout.lines($1, styles: color ? $0.map(\.style) : []) }
    }

    /// Tab-separated values under a line of headings; tabs, newlines, backslashes and controls are escaped, nothing is cut.
    package func plain() -> [String] {
        (isContinued ? [] : [columns.map(\.title).joined(separator: "\t")])
            + rows.map { row in row.map { Sanitizer.plain($0.text) }.joined(separator: "\t") }
    }

    /// One `heading: value` line a cell, an empty line between rows; for screen readers.
    package func records() -> [String] {
        var lines: [String] = []
        for row in rows {
            if isContinued || !lines.isEmpty { lines.append("") }
            for (column, cell) in zip(columns, row) {
                lines.append("\(column.title): \(Sanitizer.line(cell.text))")
            }
        }
        return lines
    }
}
