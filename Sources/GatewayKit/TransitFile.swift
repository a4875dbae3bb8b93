package import CommandLineKit

/// The file that a ``Transit`` is read from: JSON5 with the rows of three tables (docs/operating/gateway.md).
package enum TransitFile {
    /// What is wrong with a row, and where it stands.
    package struct Mistake: Error, Equatable, Sendable {
        package let message: String
        package let position: TextPosition
    }

    package struct Mistakes: Error, Equatable, Sendable {
        /// At least one, in the order of the file.
        package let first: [Mistake]
        /// How many there are.
        package let count: Int
    }

    /// Bytes of a name.
    package static let longestName = 60
    /// Rows of a table.
    package static let mostRows = 20_000
    /// Stations of a line: an answer names them all.
    package static let mostStations = 400
    /// So many mistakes are told.
    package static let mostTold = 50

    package static func read(_ text: String) throws(Mistakes) -> Transit {
        let value: JSON5Value
        do throws(JSON5SyntaxError) { value = try JSON5Reader.read(text) } catch {
            throw Mistakes(first: [Mistake(message: error.message, position: error.position)], count: 1)
        }
        var reader = TransitReader()
        let transit = reader.read(value)
        guard !reader.mistakes.isEmpty else { return transit }
        let sorted = reader.mistakes.sorted { $0.position < $1.position }
        throw Mistakes(first: Array(sorted.prefix(mostTold)), count: sorted.count)
    }
}

/// Goes through the three tables and gathers what is wrong.
private struct TransitReader {
    private(set) var mistakes: [TransitFile.Mistake] = []

    private struct LineKey: Hashable { let city: Int, line: Int }

    private struct Lines {
        var names: [LineKey: String] = [:]
        var order: [LineKey] = []
        var positions: [LineKey: TextPosition] = [:]
    }

    mutating func read(_ value: JSON5Value) -> Transit {
        guard case .object(let members) = value.content else {
            note("the file is an object with the tables city, line and station, not \(value.kind)", value.position)
            return Transit(cities: [])
        }
        for member in members where !["version", "city", "line", "station"].contains(member.name) {
            note("there is no table '\(member.name)'; there are city, line and station", member.position)
        }
        if let version = members.first(where: { $0.name == "version" })?.value, version.content != .number(1) {
            note("version: this program reads version 1", version.position)
        }
        let cities = cities(rows("city", members, value.position))
        let lines = lines(rows("line", members, value.position), cities)
        let stations = stations(rows("station", members, value.position), lines)
        return Transit(
            cities: cities.map { city in
                Transit.City(
                    name: city.name,
                    lines: lines.order.filter { $0.city == city.number }.map { key in
                        Transit.Line(name: lines.names[key] ?? "", stations: stations[key] ?? [])
                    })
            })
    }

    private mutating func note(_ message: String, _ position: TextPosition) {
        mistakes.append(.init(message: message, position: position))
    }

    private mutating func rows(
        _ table: String, _ members: [JSON5Value.Member], _ position: TextPosition
    ) -> [JSON5Value] {
        guard let value = members.first(where: { $0.name == table })?.value else {
            note("the table '\(table)' is missing", position)
            return []
        }
        guard case .array(let rows) = value.content else {
            note("\(table): a list of rows, not \(value.kind)", value.position)
            return []
        }
        guard !rows.isEmpty, rows.count <= TransitFile.mostRows else {
            note("\(table): 1 to \(TransitFile.mostRows) rows, not \(rows.count)", value.position)
            return []
        }
        return rows
    }

    /// The columns of a row that has the right kinds in them.
    private mutating func columns(
        _ row: JSON5Value, _ table: String, _ kinds: [(name: String, isText: Bool)]
    ) -> (numbers: [Int], texts: [String])? {
        let form = "[" + kinds.map(\.name).joined(separator: ", ") + "]"
        guard case .array(let values) = row.content, values.count == kinds.count else {
            note("\(table): a row is \(form)", row.position)
            return nil
        }
        var numbers: [Int] = []
        var texts: [String] = []
        for (value, kind) in zip(values, kinds) {
            switch value.content {
            case .number(let number) where !kind.isText:
                guard let whole = Int(exactly: number), (-100_000...100_000).contains(whole) else {
                    note("\(table): \(kind.name) is a whole number from -100000 to 100000", value.position)
                    return nil
                }
                numbers.append(whole)
            case .string(let text) where kind.isText:
                guard isName(text) else {
                    note(
                        "\(table): \(kind.name) '\(text)' is no name: 1 to \(TransitFile.longestName) bytes, "
                            + "without '@', ';', control characters, and blanks at its ends", value.position)
                    return nil
                }
                texts.append(text)
            default:
                note("\(table): \(kind.name) is \(kind.isText ? "a name" : "a number")", value.position)
                return nil
            }
        }
        return (numbers, texts)
    }

    private func isName(_ text: String) -> Bool {
        let isPlain = text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && $0.value != 0x7f && $0 != "@" && $0 != ";"
        }
        return isPlain && (1...TransitFile.longestName).contains(text.utf8.count) && text.first != " "
            && text.last != " "
    }

    private mutating func cities(_ rows: [JSON5Value]) -> [(number: Int, name: String)] {
        var found: [(number: Int, name: String)] = []
        var (numbers, names): (Set<Int>, Set<String>) = ([], [])
        for row in rows {
            guard let (cid, cname) = columns(row, "city", [("cid", false), ("cname", true)]) else { continue }
            if !numbers.insert(cid[0]).inserted { note("city: the cid \(cid[0]) is there already", row.position) }
            if !names.insert(cname[0]).inserted { note("city: '\(cname[0])' is there already", row.position) }
            found.append((cid[0], cname[0]))
        }
        return found
    }

    private mutating func lines(_ rows: [JSON5Value], _ cities: [(number: Int, name: String)]) -> Lines {
        let known = Set(cities.map(\.number))
        var lines = Lines()
        var names: [Int: Set<String>] = [:]
        for row in rows {
            guard let (ids, lname) = columns(row, "line", [("cid", false), ("lid", false), ("lname", true)]) else {
                continue
            }
            let key = LineKey(city: ids[0], line: ids[1])
            if !known.contains(key.city) { note("line: there is no city with the cid \(key.city)", row.position) }
            if lines.names[key] != nil { note("line: the lid \(key.line) is there already", row.position) }
            if !names[key.city, default: []].insert(lname[0]).inserted {
                note("line: '\(lname[0])' is there already in the city \(key.city)", row.position)
            }
            if lines.names.updateValue(lname[0], forKey: key) == nil { lines.order.append(key) }
            lines.positions[key] = row.position
        }
        return lines
    }

    private mutating func stations(_ rows: [JSON5Value], _ lines: Lines) -> [LineKey: [Transit.Station]] {
        let kinds = [("cid", false), ("lid", false), ("sid", false), ("sname", true), ("time", false)]
        var found: [LineKey: [Transit.Station]] = [:]
        var names: [LineKey: Set<String>] = [:]
        for row in rows {
            guard let (numbers, sname) = columns(row, "station", kinds) else { continue }
            let key = LineKey(city: numbers[0], line: numbers[1])
            let (sid, time, name) = (numbers[2], numbers[3], sname[0])
            if lines.names[key] == nil {
                note("station: there is no line \(key.line) in the city \(key.city)", row.position)
            }
            let before = found[key] ?? []
            if sid != before.count {
                note("station: '\(name)' has the sid \(sid), and \(before.count) comes next", row.position)
            }
            if let last = before.last, time < last.minutes {
                note(
                    "station: '\(name)' has the time \(time), before \(last.minutes) of '\(last.name)'", row.position)
            }
            if !names[key, default: []].insert(name).inserted {
                note("station: '\(name)' is there already in this line", row.position)
            }
            found[key, default: []].append(.init(name: name, minutes: time))
        }
        for key in lines.order {
            let count = found[key]?.count ?? 0
            guard !(2...TransitFile.mostStations).contains(count), let position = lines.positions[key] else {
                continue
            }
            note(
                "line: '\(lines.names[key] ?? "")' has \(count) stations; 2 to \(TransitFile.mostStations) are right",
                position)
        }
        return found
    }
}
