import Testing

@testable import EventStore

/// The tree of RFC 6962 over the eight inputs that implementations of Certificate Transparency are tested with.
struct TreeVectorTests {
    private static let inputs = [
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    ]
    private static let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]

    @Test("Roots, audit paths and consistency proofs of trees of one to eight leaves are those of RFC 6962")
    func vectors() throws {
        let sha = SHA256()
        let leaves = Self.inputs.compactMap { hexBytes($0) }.map { sha.digest([0] + $0) }
        func node(_ level: Int, _ index: UInt64) -> Digest {
            var range = MerkleRange()
            for leaf in leaves[Int(index) << level..<(Int(index) + 1) << level] { range.append(leaf, using: sha) }
            return range.root(using: sha)
        }
        let roots = Self.roots.compactMap { hexBytes($0) }.compactMap { Digest(bytes: $0) }
        #expect(leaves.count == 8 && roots.count == 8)
        for size in UInt64(1)...8 {
            #expect(MerkleProof.root(0, size, using: sha, nodes: node) == roots[Int(size) - 1])
            let bridge = try #require(MerkleBridge(have: size, whole: size, proof: []))
            for index in 0..<size {
                let path = try #require(bridge.inclusion(of: index, using: sha, nodes: node))
                #expect(
                    MerkleProof.isIncluded(
                        leaves[Int(index)], index: index, size: size, root: roots[Int(size) - 1], proof: path,
                        using: sha))
            }
            for old in 1...size {
                let proof = MerkleProof.consistency(from: old, to: size, using: sha, nodes: node)
                #expect(
                    MerkleProof.isConsistent(
                        old: old, oldRoot: roots[Int(old) - 1], new: size, newRoot: roots[Int(size) - 1],
                        proof: proof, using: sha))
            }
        }
    }
}
