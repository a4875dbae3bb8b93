/// Rows under headings, in three forms: aligned for eyes, tab-separated for scripts, and records for speech.
///
/// Cells are given raw; every form makes hostile text visible by itself. There are no drawn lines, because their width
/// is ambiguous in East Asian terminals.
public struct TextTable: Sendable {
    /// A heading and the side its cells stand on.
    public struct Column: Sendable, Equatable {
        /// The heading.
        public var title: String
        /// Left for words, right for numbers.
        public var alignment: DisplayWidth.Alignment

        /// A column of words.
        public static func left(_ title: String) -> Column { Column(title: title, alignment: .left) }
        /// A column of numbers.
        public static func right(_ title: String) -> Column { Column(title: title, alignment: .right) }
    }

    /// A cell: its text and how it is coloured where colour is used.
    public struct Cell: Sendable, Equatable, ExpressibleByStringInterpolation {
        /// The raw text.
        public var text: String
        /// The colour.
        public var style: TextStyle?

        /// Text, coloured or not.
        public init(_ text: String, style: TextStyle? = nil) {
            self.text = text
            self.style = style
        }

        /// Text without colour.
        public init(stringLiteral value: String) { self.init(value) }
    }

    private let columns: [Column]
    private var rows: [[Cell]] = []

    /// A table without rows.
    public init(_ columns: [Column]) {
        self.columns = columns
    }

    /// Adds a row; cells that are missing stay empty, cells without a column are dropped.
    public mutating func add(_ cells: [Cell]) {
        let missing = max(0, columns.count - cells.count)
        rows.append(Array(cells.prefix(columns.count)) + Array(repeating: Cell(""), count: missing))
    }

    /// Whether there is no row.
    public var isEmpty: Bool { rows.isEmpty }

    /// Aligned columns with two spaces between them, one line a row.
    ///
    /// - Parameters:
    ///   - width: the terminal's columns; the last column is cut to them with `...`. `nil` when the output is no
    ///     terminal: nothing is cut.
    ///   - color: whether to use the cells' styles.
    public func aligned(width: Int?, color: Bool = false) -> [String] {
        let texts = rows.map { row in row.map { Sanitizer.line($0.text) } }
        let widths = columns.indices.map { column in
            texts.reduce(DisplayWidth.of(columns[column].title)) { max($0, DisplayWidth.of($1[column])) }
        }
        let header = line(columns.map { Cell($0.title, style: .bold) }, columns.map(\.title), widths, width, color)
        return [header] + zip(rows, texts).map { line($0, $1, widths, width, color) }
    }

    /// Tab-separated values under a line of headings; tabs, newlines, backslashes and controls are escaped, nothing is cut.
    public func plain() -> [String] {
        [columns.map(\.title)].map { $0.joined(separator: "\t") }
            + rows.map { row in row.map { Sanitizer.plain($0.text) }.joined(separator: "\t") }
    }

    /// One `heading: value` line a cell, an empty line between rows; for screen readers.
    public func records() -> [String] {
        var lines: [String] = []
        for row in rows {
            if !lines.isEmpty { lines.append("") }
            for (column, cell) in zip(columns, row) {
                lines.append("\(column.title): \(Sanitizer.line(cell.text))")
            }
        }
        return lines
    }

    private func line(
        _ cells: [Cell], _ texts: [String], _ widths: [Int], _ limit: Int?, _ color: Bool
    ) -> String {
        var line = ""
        var used = 0
        for column in columns.indices {
            let isLast = column == columns.count - 1
            var text = texts[column]
            let room = isLast ? min(widths[column], max(3, (limit ?? .max) - used)) : widths[column]
            if isLast { text = DisplayWidth.truncate(text, to: room) }
            let blank = room - DisplayWidth.of(text)
            let spaces = String(repeating: " ", count: max(0, blank))
            let shown = color ? cells[column].style?.applied(to: text) ?? text : text
            switch columns[column].alignment {
            case .right: line += spaces + shown
            case .left: line += shown + (isLast ? "" : spaces)
            }
            line += isLast ? "" : "  "
            used += widths[column] + 2
        }
        return line
    }
}
