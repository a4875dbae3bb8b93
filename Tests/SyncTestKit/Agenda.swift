/// What is to happen, in order of virtual time and, at one time, of being planned: a binary heap.
struct Agenda {
    private struct Entry {
        let time: UInt64
        let order: UInt64
        let action: () -> Void

        func isBefore(_ other: Entry) -> Bool { time != other.time ? time < other.time : order < other.order }
    }

    private var heap: [Entry] = []
    private var planned = UInt64(0)

    var isEmpty: Bool { heap.isEmpty }
    /// When the next action is due, microseconds.
    var nextTime: UInt64? { heap.first?.time }

    mutating func add(at time: UInt64, _ action: @escaping () -> Void) {
        planned += 1
        heap.append(Entry(time: time, order: planned, action: action))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].isBefore(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    mutating func next() -> (time: UInt64, action: () -> Void)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            var parent = 0
            while true {
                let left = 2 * parent + 1
                guard left < heap.count else { break }
                let right = left + 1
                let child = right < heap.count && heap[right].isBefore(heap[left]) ? right : left
                guard heap[child].isBefore(heap[parent]) else { break }
                heap.swapAt(child, parent)
                parent = child
            }
        }
        return (first.time, first.action)
    }
}
