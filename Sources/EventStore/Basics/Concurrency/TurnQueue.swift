/// A queue of many owners who take turns: of an owner's thousand elements the second comes after the next owner's one.
package struct TurnQueue<Owner: Hashable, Element> {
    /// Of each owner what waits, with how much of it has been taken.
    private var waiting: [Owner: (elements: [Element], taken: Int)] = [:]
    /// Whose turn comes when; each owner of whom something waits stands here once.
    private var turns: [Owner] = []
    private var turn = 0
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package mutating func append(_ element: Element, of owner: Owner) {
        count += 1
        if waiting[owner] == nil { turns.append(owner) }
        waiting[owner, default: ([], 0)].elements.append(element)
    }

    /// The next element of the owner whose turn it is.
    package mutating func popFirst() -> Element? {
        guard turn < turns.count else { return nil }
        let owner = turns[turn]
        turn += 1
        defer { shorten() }
        guard var own = waiting.removeValue(forKey: owner) else { return nil }
        let element = own.elements[own.taken]
        own.taken += 1
        count -= 1
        guard own.taken < own.elements.count else { return element }
        // What was taken is let go of when it is half: in all, no more elements move than there were.
        if own.taken * 2 >= own.elements.count { own = (Array(own.elements[own.taken...]), 0) }
        waiting[owner] = own
        turns.append(owner)
        return element
    }

    /// Takes out the last element of the owner who has most, if that is more than `owner` has: so one who has little finds a place in a queue
    /// that others have filled.
    package mutating func popLast(ofMoreThan owner: Owner) -> Element? {
        func size(_ own: (elements: [Element], taken: Int)) -> Int { own.elements.count - own.taken }
        guard let most = waiting.max(by: { size($0.value) < size($1.value) }),
            size(most.value) > (waiting[owner].map(size) ?? 0) + 1
        else { return nil }
        count -= 1
        // There is another one behind its turn.
        return waiting[most.key]?.elements.popLast()
    }

    private mutating func shorten() {
        guard turn * 2 > turns.count else { return }
        turns.removeFirst(turn)
        turn = 0
    }

    package mutating func removeAll() { self = TurnQueue() }
}
