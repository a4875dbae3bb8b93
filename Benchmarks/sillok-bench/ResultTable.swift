internal import EventStore

/// Prints as Markdown what the runs of Sillok and of the floor reported: minimum, median and maximum of each.
enum ResultTable {
    private struct Row {
        var sides: [String: [Double]] = [:]

        func median(_ side: String) -> Double? {
            guard let values = sides[side]?.sorted(), !values.isEmpty else { return nil }
            let middle = values.count / 2
            return values.count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2
        }

        func spread(_ side: String) -> String {
            guard let median = median(side), let low = sides[side]?.min(), let high = sides[side]?.max() else {
                return "–"
            }
            return "\(ResultTable.text(low)) / **\(ResultTable.text(median))** / \(ResultTable.text(high))"
        }

        var ratio: String {
            guard let ours = median("sillok"), let floor = median("floor"), floor > 0 else { return "–" }
            return ResultTable.fixed(ours / floor, decimals: 2)
        }
    }

    /// Reads lines of `metric TAB side TAB value` from the file at `path`.
    static func write(_ path: String) throws {
        guard let bytes = try SmallFile.read(path) else { throw BenchmarkError("\(path) is missing") }
        var rows: [String: Row] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: "\t")
            guard fields.count == 3, let value = Double(fields[2]) else {
                throw BenchmarkError("\(path) has a line that is no result: \(line)")
            }
            rows[String(fields[0]), default: Row()].sides[String(fields[1]), default: []].append(value)
        }
        print("| measured | Sillok: min / **median** / max | floor: min / **median** / max | Sillok ÷ floor |")
        print("|---|---:|---:|---:|")
        for (metric, row) in rows.sorted(by: { $0.key < $1.key }) {
            print("| \(metric) | \(row.spread("sillok")) | \(row.spread("floor")) | \(row.ratio) |")
        }
    }

    private static func fixed(_ value: Double, decimals: Int) -> String {
        let scale = decimals == 2 ? 100 : 10
        let scaled = Int((value * Double(scale)).rounded())
        return "\(scaled / scale)." + String(String(scaled % scale + scale).dropFirst())
    }

    /// Three digits or more: whole numbers from 100 on, with commas.
    private static func text(_ value: Double) -> String {
        if value < 10 { return fixed(value, decimals: 2) }
        if value < 100 { return fixed(value, decimals: 1) }
        let digits = String(Int(value.rounded()))
        var grouped = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { grouped.append(",") }
            grouped.append(digit)
        }
        return grouped
    }
}
