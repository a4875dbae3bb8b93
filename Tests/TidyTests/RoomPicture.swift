/// The boxes and arrows of docs/images/rooms.svg. A box says in `data-rooms` which rooms it stands for. An arrow leads from the box on
/// whose edge it begins to the one on whose edge it ends: nothing else says so.
struct RoomPicture {
    private typealias Point = (x: Int, y: Int)

    private struct Box {
        let rooms: [String]
        /// Has other boxes in it.
        let isGroup: Bool
        let (x, y): (ClosedRange<Int>, ClosedRange<Int>)

        func hasOnEdge(_ point: Point) -> Bool {
            guard x.contains(point.x), y.contains(point.y) else { return false }
            return [x.lowerBound, x.upperBound].contains(point.x) || [y.lowerBound, y.upperBound].contains(point.y)
        }
    }

    private let boxes: [Box]
    private let arrows: [(from: Point, to: Point)]

    init(_ svg: String) {
        func numbers(_ text: Substring) -> [Int] { text.matches(of: #/\d+/#).map { Int($0.output) ?? 0 } }
        boxes = svg.matches(of: #/<rect class="(\w+)" data-rooms="([^"]+)" (x="[^>]*) rx/#).map { found in
            let place = numbers(found.3)
            return Box(
                rooms: found.2.split(separator: " ").map(String.init), isGroup: found.1 == "module",
                x: place[0]...place[0] + place[2], y: place[1]...place[1] + place[3])
        }
        arrows = svg.matches(of: #/<path class="edge"[^>]* d="([^"]+)"/#).map { found in
            let way = numbers(found.1)
            return ((way[0], way[1]), (way[way.count - 2], way[way.count - 1]))
        }
    }

    /// What contradicts the table: one sentence each. Every room that a box stands for uses one of those where the arrow ends.
    func problems(_ rooms: [Room]) -> [String] {
        let drawn = boxes.filter { !$0.isGroup }.flatMap(\.rooms)
        let absent = rooms.map(\.folder).filter { folder in !drawn.contains { Arrows.covers($0, folder) } }
        let wrong = arrows.flatMap { from, to in
            guard let user = boxes.first(where: { $0.hasOnEdge(from) }),
                let used = boxes.first(where: { $0.hasOnEdge(to) })
            else { return ["M\(from.x) \(from.y) … L\(to.x) \(to.y) has no box at an end"] }
            let targets = rooms.map(\.folder).filter { folder in used.rooms.contains { Arrows.covers($0, folder) } }
            return user.rooms.filter { name in
                let allowed = rooms.filter { Arrows.covers(name, $0.folder) }.flatMap(\.mayName)
                return !allowed.contains { pattern in targets.contains { Arrows.covers(pattern, $0) } }
            }.map { "\($0) may not name \(used.rooms.joined(separator: ", "))" }
        }
        return absent.map { "\($0) is not drawn" } + wrong
    }
}
