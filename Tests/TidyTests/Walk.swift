/// A file that one opens on a walk, and what happens there.
struct Step: Sendable {
    /// Below `Sources`.
    let file: String
    let words: String

    init(_ file: String, _ words: String) { (self.file, self.words) = (file, words) }
}

/// The files through whose decisions and states something goes on its way through the code.
struct Walk: Sendable {
    let title: String
    /// The bound on its files. It only shrinks.
    let most: Int
    let words: String
    /// From the top down.
    let steps: [Step]

    init(_ title: String, most: Int, _ words: String, _ steps: [Step]) {
        (self.title, self.most, self.words, self.steps) = (title, most, words, steps)
    }

    /// What is wrong with it, one sentence each.
    ///
    /// It has no more files than its bound. A file is there, comes once and is named by one before it. Its room is that of a file
    /// before it, or one to which arrows lead from there; and from it no arrows lead to a room that the walk was in before.
    func problems(_ files: [String: String], _ rooms: [Room]) -> [String] {
        var problems: [String] = []
        var passed: [SwiftNames] = []
        var visited: [String] = []
        var seen: Set<String> = []
        let below = Self.below(rooms)
        if steps.count > most { problems.append("\(title): \(steps.count) files, at most \(most)") }
        for step in steps {
            guard let text = files[step.file] else {
                problems.append("\(step.file): there is no such file")
                continue
            }
            guard seen.insert(step.file).inserted else {
                problems.append("\(step.file): comes twice")
                continue
            }
            let (names, room) = (SwiftNames(text), Arrow.folder(step.file))
            if !passed.isEmpty, !passed.contains(where: { $0.leads(to: names) }) {
                problems.append("\(step.file): no file before it names it")
            }
            if !visited.isEmpty, !visited.contains(where: { $0 == room || below[$0]?.contains(room) ?? false }) {
                problems.append("\(step.file): no arrow leads there from a room before it")
            }
            if let earlier = visited.first(where: { $0 != room && below[room]?.contains($0) ?? false }) {
                problems.append("\(step.file): climbs back above \(earlier)")
            }
            passed.append(names)
            visited.append(room)
        }
        return problems
    }

    /// The rooms to which arrows lead from each, one after the other.
    private static func below(_ rooms: [Room]) -> [String: Set<String>] {
        var below: [String: Set<String>] = [:]
        for room in rooms {
            // A room names only such as stand above it in the table: theirs are known.
            let named = rooms.map(\.folder).filter { folder in
                folder != room.folder && room.mayName.contains { Arrows.covers($0, folder) }
            }
            below[room.folder] = named.reduce(into: Set(named)) { $0.formUnion(below[$1] ?? []) }
        }
        return below
    }
}

extension SwiftNames {
    /// Whether a reader of this file is sent on to `other`: it names what that declares, or it knows a type that is extended there and
    /// uses a member from there.
    fileprivate func leads(to other: SwiftNames) -> Bool {
        if !used.isDisjoint(with: other.declared.subtracting(declared)) { return true }
        let known = used.union(declared).union(extended)
        return !known.isDisjoint(with: other.extended) && !calls.isDisjoint(with: other.own.subtracting(own))
    }
}
