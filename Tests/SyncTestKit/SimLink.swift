internal import EventStore
internal import SyncEngine
internal import WireKit

/// One connection between two nodes: bytes in order in both directions, as TCP and TLS give them, with everything a
/// network may do to them.
final class SimLink {
    /// One direction.
    struct Pipe {
        var control: [[UInt8]] = []
        var data: [[UInt8]] = []
        /// When the sender's line is free again.
        var freeAt = UInt64(0)
        var isSending = false
        /// No byte may overtake an earlier one.
        var lastArrival = UInt64(0)
        /// Arrived bytes are not seen before this: a clog, a partition.
        var cloggedUntil = UInt64(0)
        /// What is sent disappears, and no side is told.
        var isDead = false
        /// The connection breaks when so many more bytes have passed.
        var breaksAfter: Int?
        var isEnding = false
        var waiting: Int { control.reduce(0) { $0 + $1.count } + data.reduce(0) { $0 + $1.count } }
    }

    let number: Int
    var id: LinkID { LinkID(UInt64(number)) }
    /// 0 dialled, 1 was dialled.
    let nodes: [SimNode]
    private let epochs: [Int]
    /// `pipes[i]` carries what `nodes[i]` sends.
    var pipes = [Pipe(), Pipe()]
    private var decoders = [FrameDecoder(), FrameDecoder()]
    /// Longest body each side lets in.
    var maximumBody = [4 << 10, 4 << 10]
    private(set) var isOpen = true
    private var ends: [SimPeerLink?] = [nil, nil]
    private let latency: UInt64
    /// Bytes a second.
    let bandwidth: UInt64
    private let isSplit: Bool
    /// Whether it was made when the faults were over.
    let isSound: Bool
    private unowned let sim: Simulation

    init(number: Int, from: SimNode, to: SimNode, sim: Simulation) {
        self.number = number
        nodes = [from, to]
        epochs = [from.epoch, to.epoch]
        self.sim = sim
        latency = sim.linkLatency()
        bandwidth = sim.linkBandwidth()
        isSplit = sim.draws(.splitReads)
        isSound = !sim.isFaulty
        if sim.draws(.connectionLoss), sim.isFaulty {
            pipes[sim.random.pick(0...1)].breaksAfter = sim.random.pick(1...6_000)
        }
    }

    func attach(_ end: SimPeerLink, side: Int) { ends[side] = end }

    func other(_ side: Int) -> SimNode { nodes[1 - side] }

    func isLive(_ side: Int) -> Bool { nodes[side].isUp && nodes[side].epoch == epochs[side] }

    // MARK: Sending

    func send(_ bytes: [UInt8], _ lane: Lane, from side: Int) {
        guard isOpen, isLive(side) else { return }
        switch lane {
        case .control: pipes[side].control.append(bytes)
        case .data: pipes[side].data.append(bytes)
        }
        pump(side)
    }

    /// Closes when what was sent has left.
    func close(from side: Int) {
        guard isOpen else { return }
        ends[side] = nil
        pipes[side].isEnding = true
        pump(side)
    }

    private func pump(_ side: Int) {
        guard isOpen, !pipes[side].isSending else { return }
        let bytes: [UInt8]
        if !pipes[side].control.isEmpty {
            bytes = pipes[side].control.removeFirst()
        } else if !pipes[side].data.isEmpty {
            bytes = pipes[side].data.removeFirst()
        } else {
            if pipes[side].isEnding { sim.schedule(after: latency) { [self] in cut("closed by the peer") } }
            return
        }
        pipes[side].isSending = true
        let start = max(sim.now, pipes[side].freeAt)
        let sent = start + UInt64(bytes.count) * 1_000_000 / bandwidth
        pipes[side].freeAt = sent
        for time in stride(from: start + 1_000_000, to: sent, by: 1_000_000) {
            sim.schedule(at: time + latency) { [self] in trickle(side) }
        }
        sim.schedule(at: sent) { [self] in
            pipes[side].isSending = false
            travel(bytes, side)
            pump(side)
        }
    }

    /// Some bytes of a piece that takes seconds are there: its sender is alive.
    private func trickle(_ side: Int) {
        let receiver = 1 - side
        guard isOpen, isLive(receiver), !pipes[side].isDead, pipes[side].cloggedUntil <= sim.now else { return }
        nodes[receiver].whenAwake { [self] in ends[receiver]?.heardBytes() }
    }

    private func travel(_ bytes: [UInt8], _ side: Int) {
        guard isOpen, !pipes[side].isDead else { return }
        var arrival = sim.now + latency + (sim.draws(.delay) ? sim.random.pick(0...latency * 4) : 0)
        arrival = max(arrival, pipes[side].lastArrival, pipes[side].cloggedUntil)
        var rest = bytes[...]
        if let limit = pipes[side].breaksAfter {
            pipes[side].breaksAfter = max(0, limit - bytes.count)
            if limit < bytes.count {
                sim.coverage.reached(.connectionLoss)
                rest = rest.prefix(limit)
                sim.schedule(at: arrival + 1) { [self] in cut("reset") }
            }
        }
        // A few bytes first, so that every boundary in a frame is met; then the rest in one piece.
        if isSplit, sim.isFaulty {
            sim.coverage.reached(.splitReads)
            for _ in 0..<sim.random.pick(1...12) where rest.count > 1 {
                let piece = Array(rest.prefix(sim.random.chance(0.7) ? 1 : sim.random.pick(1...64)))
                rest = rest.dropFirst(piece.count)
                arrive(piece, side, at: arrival)
                arrival += sim.random.pick(0...2)
            }
        }
        arrive(Array(rest), side, at: arrival)
        pipes[side].lastArrival = arrival
    }

    private func arrive(_ bytes: [UInt8], _ side: Int, at time: UInt64) {
        let receiver = 1 - side
        sim.schedule(at: time) { [self] in
            // A clog that began meanwhile holds what has not arrived yet.
            if pipes[side].cloggedUntil > sim.now {
                let later = pipes[side].cloggedUntil
                pipes[side].lastArrival = max(pipes[side].lastArrival, later)
                arrive(bytes, side, at: later)
                return
            }
            guard isOpen, isLive(receiver), !pipes[side].isDead else { return }
            nodes[receiver].whenAwake { [self] in received(bytes, receiver) }
        }
    }

    private func received(_ bytes: [UInt8], _ side: Int) {
        guard isOpen, isLive(side), ends[side] != nil else { return }
        decoders[side].feed(bytes)
        do throws(WireError) {
            while let frame = try decoders[side].next() {
                guard frame.body.count <= maximumBody[side] else {
                    sim.coverage.count(.refusedFrames)
                    return cut("a frame of \(frame.body.count) bytes")
                }
                guard let end = ends[side] else { return }
                sim.received(frame, end)
                end.received(frame)
            }
        } catch {
            sim.coverage.count(.refusedFrames)
            cut("bad frame: \(error)")
        }
    }

    // MARK: Ending

    func dismantle() { ends = [nil, nil] }

    /// Both ends learn of it.
    func cut(_ reason: String) {
        guard isOpen else { return }
        isOpen = false
        sim.note { "link \(self.number) \(self.nodes[0].name)-\(self.nodes[1].name): \(reason)" }
        for side in 0...1 {
            let end = ends[side]
            ends[side] = nil
            guard let end, isLive(side) else { continue }
            nodes[side].schedule(after: 1) { end.lost(reason) }
        }
        sim.forget(self)
    }

    /// The process of `side` is gone. After a power cut or where the network swallows everything no one is told.
    func died(_ side: Int, silently: Bool) {
        ends[side] = nil
        if silently {
            pipes[0].isDead = true
            pipes[1].isDead = true
        } else {
            sim.schedule(after: latency) { [self] in cut("reset by a dying process") }
        }
    }
}
