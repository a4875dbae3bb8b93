import TestSupport
import Testing

@testable import EventStore

/// Those who wait take turns, and each is served in order (INV-9).
struct TurnQueueTests {
    @Test("Who comes with one waits for one of each, and not for all of those who came with many")
    func turns() {
        var queue = TurnQueue<String, Int>()
        for number in 0..<1_000 { queue.append(number, of: "many") }
        for number in 0..<3 { queue.append(10_000 + number, of: "few") }
        queue.append(20_000, of: "one")
        #expect(queue.count == 1_004)
        #expect((0..<8).map { _ in queue.popFirst() } == [0, 10_000, 20_000, 1, 10_001, 2, 10_002, 3])
        // It comes again: before the next of those who have more.
        queue.append(20_001, of: "one")
        #expect((0..<3).map { _ in queue.popFirst() } == [4, 20_001, 5])
        #expect((0..<994).map { _ in queue.popFirst() } == (6..<1_000).map { $0 })
        #expect(queue.popFirst() == nil && queue.isEmpty)
    }

    @Test("In a full queue who has little takes the last place of who has most, and no one's only one")
    func places() {
        var queue = TurnQueue<String, Int>()
        for number in 0..<4 { queue.append(number, of: "many") }
        queue.append(10, of: "some")
        #expect(queue.popLast(ofMoreThan: "many") == nil)
        #expect(queue.popLast(ofMoreThan: "new") == 3 && queue.count == 4)
        #expect(queue.popLast(ofMoreThan: "some") == 2 && queue.count == 3)
        #expect(queue.popLast(ofMoreThan: "some") == nil)
        #expect(queue.popLast(ofMoreThan: "new") == 1 && queue.popLast(ofMoreThan: "new") == nil)
        #expect(queue.popFirst() == 0 && queue.popFirst() == 10 && queue.popFirst() == nil && queue.isEmpty)
    }

    @Test(
        "By chance: nothing is lost, each owner's elements keep their order, and none waits longer than one round",
        arguments: 1...20)
    func chance(seed: UInt64) {
        var random = SplitMix64(state: seed)
        var queue = TurnQueue<Int, Int>()
        var (model, given): ([Int: [Int]], Int) = ([:], 0)
        var waited: [Int: Int] = [:]
        for step in 0..<3_000 {
            if Int.random(in: 0..<10, using: &random) < (step < 2_000 ? 6 : 2) {
                let owner = Int.random(in: 0..<7, using: &random)
                queue.append(given, of: owner)
                model[owner, default: []].append(given)
                given += 1
            } else if let found = queue.popFirst() {
                let owner = model.first { $0.value.first == found }?.key
                #expect(owner != nil, "\(found) is not the first of anyone")
                guard let owner else { return }
                model[owner]?.removeFirst()
                for (other, own) in model where other != owner && !own.isEmpty { waited[other, default: 0] += 1 }
                waited[owner] = 0
                #expect(waited.values.allSatisfy { $0 <= 7 })
            } else {
                let isEmpty = model.values.allSatisfy { $0.isEmpty }
                #expect(isEmpty)
            }
            #expect(queue.count == model.values.reduce(0) { $0 + $1.count })
        }
    }
}
