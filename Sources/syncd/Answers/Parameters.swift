internal import EventStore
internal import SyncEngine

/// Why a request cannot be answered: one of its parameters.
struct BadParameter: Error {
    let message: String
    var hint: String?
}

extension JSONObject {
    /// Refuses members that are none of `names`, and those that are given twice.
    func requireOnly(_ names: [String]) throws(BadParameter) {
        var left = names
        for member in self {
            if let index = left.firstIndex(where: { $0.hasSameBytes(as: member.name) }) {
                left.remove(at: index)
            } else if names.contains(where: { $0.hasSameBytes(as: member.name) }) {
                throw BadParameter(message: "\(member.name): given twice")
            } else {
                throw BadParameter(
                    message: "\(member.name): no such member", hint: names.sorted().joined(separator: ", "))
            }
        }
    }
}

extension HTTPRequest {
    /// The number in a parameter of the query, which the route's specification has checked; `nil` if it is not given.
    func number(_ name: String) -> Int? { queryItem(name).flatMap { Int($0) } }

    /// Refuses parameters that the path does not have, and those that are given twice.
    ///
    /// - Parameter repeatable: Those that may be given more than once.
    func requireParameters(_ known: Set<String>, repeatable: Set<String> = []) throws(BadParameter) {
        var seen: Set<String> = []
        for item in query {
            guard known.contains(item.name) else {
                let names = known.sorted().joined(separator: ", ")
                throw BadParameter(
                    message: "\(item.name): \(path) has no such parameter", hint: names.isEmpty ? nil : names)
            }
            guard seen.insert(item.name).inserted || repeatable.contains(item.name) else {
                throw BadParameter(message: "\(item.name): given more than once")
            }
        }
    }
}
