internal import EventStore

/// First in, first out.
struct Queue<Element>: Sendable where Element: Sendable {
    private var elements: [Element] = []
    private var begin = 0

    var count: Int { elements.count - begin }
    var first: Element? { begin < elements.count ? elements[begin] : nil }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() {
        begin += 1
        guard begin > 64, begin * 2 > elements.count else { return }
        elements.removeFirst(begin)
        begin = 0
    }

    mutating func removeAll(where isOut: (Element) -> Bool) {
        elements.removeFirst(begin)
        begin = 0
        elements.removeAll(where: isOut)
    }
}

/// The events of a key that are open, in their order.
struct DotLine: Sendable {
    var dots: [Dot] = []
    private(set) var first = 0
    var head: Dot? { first < dots.count ? dots[first] : nil }

    mutating func removeFirst() {
        first += 1
        guard first > 64, first * 2 > dots.count else { return }
        dots.removeFirst(first)
        first = 0
    }
}
