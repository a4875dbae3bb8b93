import Testing

@testable import SyncEngine

struct LineSpeedTests {
    @Test("A line is fast once it has been, until it is far slower; without a measurement nothing changes")
    func speeds() {
        var speed = LineSpeed()
        let rates: [(UInt64?, Bool)] = [
            (nil, false), (LineSpeed.fast - 1, false), (LineSpeed.fast, true), (nil, true), (LineSpeed.slow, true),
            (LineSpeed.slow - 1, false), (nil, false), (LineSpeed.fast - 1, false), (.max, true), (1, false),
        ]
        for (rate, isFast) in rates { #expect(speed.isFast(rate) == isFast) }
    }
}
