import Testing

@testable import SyncEngine

struct LeadShareTests {
    @Test("What is done on the loop takes a quarter of its time at most, and a slow disk's turn comes rarely")
    func share() {
        let share = LeadShare()
        #expect(share.mayLead(now: 0))
        var now: UInt64 = 1_000
        var led: UInt64 = 0
        let start = now
        for took in [400, 300, 100_000, 200] as [UInt64] {
            while !share.mayLead(now: now) { now += 1 }
            share.led(from: now, to: now + took)
            now += took
            led += took
            #expect(!share.mayLead(now: now + took * 3 - 1) && share.mayLead(now: now + took * 3))
        }
        while !share.mayLead(now: now) { now += 1 }
        #expect(led * 4 == now - start)
    }
}
