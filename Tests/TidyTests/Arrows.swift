/// A place in the house: a folder of `Sources`.
struct Room: Sendable {
    /// Below `Sources`.
    let folder: String
    let purpose: String
    /// Rooms whose types it may name; `Module/*` are all of a module.
    let mayName: [String]

    init(_ folder: String, _ purpose: String, _ mayName: [String] = []) {
        (self.folder, self.purpose, self.mayName) = (folder, purpose, mayName)
    }
}

/// A file names a type, or a function, that another room declares.
struct Arrow: Hashable, Comparable, CustomStringConvertible {
    /// Below `Sources`, as all paths here.
    let file: String
    let name: String
    let target: String

    var from: String { Self.folder(file) }
    var to: String { Self.folder(target) }
    var description: String { "\(file) names \(name) of \(target)" }

    static func folder(_ file: String) -> String { file.split(separator: "/").dropLast().joined(separator: "/") }
    static func < (a: Arrow, b: Arrow) -> Bool { (a.file, a.name) < (b.file, b.name) }
}

/// An arrow that the table of rooms does not allow, and why it is there still.
struct Exemption: Sendable {
    let file: String
    let name: String
    let reason: String

    init(_ file: String, _ name: String, _ reason: String) {
        (self.file, self.name, self.reason) = (file, name, reason)
    }
}

/// The arrows between the folders of a tree, read off the names of types. Within a module Swift has no imports, so nothing else shows
/// them. A name that two files declare belongs to neither.
struct Arrows {
    let all: [Arrow]
    let folders: Set<String>

    /// - Parameter files: The texts by their paths below `Sources`.
    init(_ files: [String: String]) {
        let names = files.mapValues { SwiftNames($0) }
        // module → name → files
        var owners: [String: [String: [String]]] = [:]
        for (file, names) in names {
            for name in names.declared { owners[Self.module(file), default: [:]][name, default: []].append(file) }
        }
        var found: [Arrow] = []
        for (file, names) in names {
            let module = Self.module(file)
            for name in names.used where !names.own.contains(name) && !names.declared.contains(name) {
                let here = owners[module]?[name] ?? []
                let all = here.isEmpty ? names.imports.flatMap { owners[$0]?[name] ?? [] } : here
                guard all.count == 1, Arrow.folder(all[0]) != Arrow.folder(file) else { continue }
                found.append(Arrow(file: file, name: name, target: all[0]))
            }
        }
        all = found.sorted()
        folders = Set(files.keys.map(Arrow.folder))
    }

    private static func module(_ file: String) -> String { String(file.prefix { $0 != "/" }) }

    /// What contradicts the table: one sentence each.
    ///
    /// A room may name only rooms that stand above it in the table, so that there is no circle.
    func problems(_ rooms: [Room], except exemptions: [Exemption]) -> [String] {
        var problems: [String] = []
        var seen: [String] = []
        for room in rooms {
            for name in room.mayName where !seen.contains(where: { Self.covers(name, $0) }) {
                problems.append("\(room.folder) may name \(name), which does not stand above it in the table")
            }
            seen.append(room.folder)
        }
        for folder in folders.subtracting(seen).sorted() { problems.append("\(folder) is not in the table of rooms") }
        for folder in Set(seen).subtracting(folders).sorted() { problems.append("\(folder) has no files") }
        let allowed = Dictionary(rooms.map { ($0.folder, $0.mayName) }) { first, _ in first }
        let forbidden = all.filter { arrow in
            !(allowed[arrow.from] ?? []).contains { Self.covers($0, arrow.to) }
        }
        for arrow in forbidden where !exemptions.contains(where: { $0.file == arrow.file && $0.name == arrow.name }) {
            problems.append(arrow.description)
        }
        for exemption in exemptions
        where !forbidden.contains(where: { exemption.file == $0.file && exemption.name == $0.name }) {
            problems.append("no exception is needed any longer for \(exemption.file) and \(exemption.name)")
        }
        return problems
    }

    static func covers(_ pattern: String, _ folder: String) -> Bool {
        guard pattern.hasSuffix("/*") else { return pattern == folder }
        return folder == pattern.dropLast(2) || folder.hasPrefix(pattern.dropLast())
    }
}
