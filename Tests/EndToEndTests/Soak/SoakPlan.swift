import Foundation
import TestSupport

/// What is done to a cluster, and when: a function of the seed.
struct SoakPlan {
    enum Action: Hashable {
        case crash(node: Int, downMilliseconds: Int)
        case restart(node: Int)
        case freeze(node: Int, milliseconds: Int)
        case spoil(link: Int, Weather, milliseconds: Int)
    }

    enum Weather: String, Hashable, CaseIterable {
        case held, cut, halfOpen, late, slow

        var fault: FaultyLink.Fault {
            switch self {
            case .held: .held
            case .cut: .cut
            case .halfOpen: .halfOpen
            case .late: .late(milliseconds: 150)
            case .slow: .slow(bytesPerSecond: 50_000)
            }
        }
    }

    struct Step {
        /// Milliseconds after the start.
        let at: Int
        let action: Action
    }

    let seed: UInt64
    let nodes: Int
    let steps: [Step]

    /// A plan for so many seconds: three to five nodes in a ring, each calling the next.
    init(seed: UInt64, seconds: Int) {
        var random = SplitMix64(state: seed)
        self.seed = seed
        nodes = Int.random(in: 3...5, using: &random)
        var steps: [Step] = []
        var time = 500
        while time < seconds * 1_000 {
            let node = Int.random(in: 0..<nodes, using: &random)
            // Now and then longer than the silence after which a peer is given up.
            let isLong = seconds > 120 && Int.random(in: 0..<15, using: &random) == 0
            let duration =
                isLong ? Int.random(in: 31_000...45_000, using: &random) : Int.random(in: 100...4_000, using: &random)
            let action: Action
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2: action = .crash(node: node, downMilliseconds: duration / 2)
            case 3: action = .restart(node: node)
            case 4...5: action = .freeze(node: node, milliseconds: duration)
            default:
                let weather = Weather.allCases.randomElement(using: &random) ?? .cut
                action = .spoil(link: node, weather, milliseconds: duration)
            }
            steps.append(Step(at: time, action: action))
            time += Int.random(in: 100...2_500, using: &random)
        }
        self.steps = steps
    }
}
