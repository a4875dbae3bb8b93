import Testing

@testable import EventStore
@testable import SyncEngine

/// Which peer is asked for what.
struct AttachmentPlanTests {
    private func node(_ number: UInt8) -> NodeID { NodeID(SHA256().digest([number])) }
    private func want(_ number: UInt8) -> AttachmentWant {
        AttachmentWant(digest: SHA256().digest([number]), bytes: 1)
    }

    @Test(
        "Two peers are asked for different ones; what one does not have is asked of the other, and of the first again later"
    )
    func several() throws {
        var plan = AttachmentPlan()
        plan.add([want(1), want(2)])
        plan.add([want(1)])
        #expect(plan.count == 2)
        #expect(plan.next(for: node(1)) == want(1) && plan.next(for: node(2)) == want(2))
        #expect(plan.next(for: node(3)) == nil)
        plan.failed(want(1).digest, at: node(2))
        #expect(plan.isAsked(want(1).digest, of: node(1)), "another peer has nothing to say of it")
        plan.failed(want(1).digest, at: node(1))
        #expect(plan.next(for: node(1)) == nil && plan.next(for: node(2)) == want(1))
        plan.lost(node(2))
        #expect(plan.next(for: node(1)) == want(2), "the first has been tried, the second was let go of")
        plan.done(want(2).digest)
        plan.opened(node(1))
        #expect(plan.next(for: node(1)) == want(1))
        plan.failed(want(1).digest, at: node(1))
        plan.retry()
        #expect(plan.next(for: node(1)) == want(1))
        plan.done(want(1).digest)
        #expect(plan.isEmpty)
    }

    @Test("What was chosen for a link that has ended is asked of the peer's next one, or of another (INV-12)")
    func ended() {
        var plan = AttachmentPlan()
        plan.add([want(1)])
        // The link ends, and another one opens, while the disk is asked.
        plan.lost(node(1))
        plan.opened(node(1))
        #expect(plan.next(for: node(1)) == want(1))
        #expect(plan.next(for: node(1)) == nil)
        plan.letGo(of: want(1).digest, node(2))
        #expect(plan.next(for: node(1)) == nil, "another peer has nothing to let go of")
        plan.letGo(of: want(1).digest, node(1))
        #expect(plan.next(for: node(1)) == want(1), "it counts as not asked")
    }

    @Test("It has a bound, whatever is wanted (INV-9)")
    func bound() {
        var plan = AttachmentPlan()
        plan.add(
            (0..<2_000).map { AttachmentWant(digest: SHA256().digest([UInt8($0 % 256), UInt8($0 / 256)]), bytes: 1) })
        #expect(plan.count == AttachmentPlan.most && plan.isFull)
    }

    private func wants(_ numbers: Range<Int>) -> [AttachmentWant] {
        numbers.map {
            AttachmentWant(digest: SHA256().digest([UInt8($0 % 256), UInt8($0 / 256), 1]), bytes: 1 << 50)
        }
    }

    @Test("What no connected peer has makes room for others; what one may still be asked for stays (INV-12)")
    func room() {
        var plan = AttachmentPlan()
        plan.opened(node(1))
        plan.opened(node(2))
        plan.add(wants(0..<AttachmentPlan.most))
        plan.makeRoom()
        #expect(plan.isFull, "nobody was asked")
        while let want = plan.next(for: node(1)) { plan.failed(want.digest, at: node(1)) }
        plan.makeRoom()
        #expect(plan.isFull, "the other may have them")
        for _ in 0..<10 {
            guard let want = plan.next(for: node(2)) else { break }
            plan.isTooLarge(want.digest, at: node(2))
        }
        plan.makeRoom()
        #expect(plan.count == AttachmentPlan.most - 10)
        plan.add([want(7)])
        #expect(plan.next(for: node(1)) == want(7))
    }

    @Test("What came last is asked for in turn with what has waited for longest")
    func turns() {
        var plan = AttachmentPlan()
        let many = wants(0..<9)
        plan.add(many)
        plan.add([want(7)])
        #expect(plan.next(for: node(1)) == many[0])
        #expect(plan.next(for: node(1)) == want(7))
        #expect(plan.next(for: node(1)) == many[1])
    }

    @Test("A peer that has more bytes than there may be is asked again only after it was gone")
    func tooLarge() {
        var plan = AttachmentPlan()
        plan.opened(node(1))
        plan.add([want(1)])
        #expect(plan.next(for: node(1)) == want(1))
        plan.isTooLarge(want(1).digest, at: node(1))
        plan.retry()
        #expect(plan.next(for: node(1)) == nil)
        #expect(plan.next(for: node(2)) == want(1), "another may have the right ones")
        plan.failed(want(1).digest, at: node(2))
        plan.opened(node(1))
        #expect(plan.next(for: node(1)) == want(1))
    }

    @Test("A peer is asked once more when it was asked for all, and not before: the last have their turn")
    func retries() {
        var plan = AttachmentPlan()
        plan.add([want(1), want(2), want(3)])
        for number: UInt8 in [1, 3] {
            #expect(plan.next(for: node(1)) == want(number))
            plan.failed(want(number).digest, at: node(1))
        }
        plan.retry()
        #expect(plan.next(for: node(1)) == want(2))
        plan.failed(want(2).digest, at: node(1))
        plan.retry()
        #expect(plan.next(for: node(1)) != nil)
    }
}
