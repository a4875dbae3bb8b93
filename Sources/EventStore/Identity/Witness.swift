/// Where the node's last head is kept outside of its data directory, so that a rewound or restored store is noticed.
public enum WitnessPlace: Hashable, Sendable {
    /// Where it was when the store was open before.
    case asBefore
    /// Nowhere.
    case none
    /// In a file of this folder, which should lie on another disk. Stores of several nodes may share it.
    case folder(String)
}

/// Keeps the last signed head of this node in `<folder>/<node id>.json`:
/// `{"node":…,"incarnation":…,"origin":…,"size":"…","root":"<base64>","hlc":…,"signature":"<base64>"}`.
///
/// ## Concurrency model
/// The writer's threads write; any thread may ask for ``problem``. A witness that cannot be written stops nothing.
package final class WitnessKeeper: Sendable {
    private struct State {
        var written: SignedHead?
        var writtenAt = UInt64(0)
        var problem: String?
    }

    /// What the file says.
    struct Seen {
        let head: SignedHead
        let incarnation: UInt64
    }

    /// The file.
    package let path: String
    private let node: NodeID
    private let incarnation: UInt64
    private let state = Lock(State())
    /// Held while the file is written: two threads of the writer may have a head for it, and the later one stays.
    private let writing = Lock(())

    /// How often it is written under load.
    private static let interval: UInt64 = 5_000_000_000

    init(folder: String, identity: StoreIdentity) {
        path = folder + "/\(identity.node).json"
        node = identity.node
        incarnation = identity.incarnation
    }

    /// Why the file could not be read or written last time; `nil` if all is well.
    package var problem: String? { state.withLock { $0.problem } }

    /// The head in the file, if it is of this node and signed with `key`.
    func read(_ key: VerifyingKey) -> Seen? {
        do throws(StoreError) {
            guard let bytes = try SmallFile.read(path) else { return nil }
            if let seen = parse(bytes), seen.head.isValid(for: key) { return seen }
            state.withLock { $0.problem = "\(path) is damaged, or of another node" }
        } catch {
            state.withLock { $0.problem = error.description }
        }
        return nil
    }

    private func parse(_ bytes: [UInt8]) -> Seen? {
        guard let object = try? JSONObject(validating: bytes), object.string("node") == node.description,
            let incarnation = object.string("incarnation").flatMap({ UInt64($0, radix: 16) }),
            let origin = object.string("origin").flatMap({ OriginID(text: $0) }),
            let size = object.string("size").flatMap({ UInt64($0) }),
            let root = object.string("root").flatMap({ base64Bytes($0) }).flatMap({ Digest(bytes: $0) }),
            let hlc = object.string("hlc").flatMap({ HybridTime(text: $0) }),
            let signature = object.string("signature").flatMap({ base64Bytes($0) })
        else { return nil }
        return Seen(
            head: SignedHead(
                head: TreeHead(origin: origin, size: size, root: root, hlc: hlc), signature: signature),
            incarnation: incarnation)
    }

    /// Writes the head if it is not there yet: when the writer is idle, and at the end.
    func note(_ head: SignedHead) {
        writing.withLock { _ in
            if let written = state.withLock({ $0.written })?.head, written.origin == head.head.origin,
                written.size >= head.head.size
            {
                return
            }
            let problem = write(head)
            state.withLock { state in
                state.problem = problem
                state.writtenAt = MonotonicClock.now
                if problem == nil { state.written = head }
            }
        }
    }

    /// Writes the head if it was not written for a while.
    func noteUnderLoad(_ head: SignedHead) {
        guard state.withLock({ MonotonicClock.now - $0.writtenAt >= Self.interval }) else { return }
        note(head)
    }

    private func write(_ signed: SignedHead) -> String? {
        let head = signed.head
        let fields = [
            ("node", node.description), ("incarnation", String(incarnation, radix: 16)),
            ("origin", head.origin.description), ("size", String(head.size)), ("root", base64Text(head.root.bytes)),
            ("hlc", head.hlc.description), ("signature", base64Text(signed.signature)),
        ]
        let text = "{" + fields.map { #""\#($0.0)":"\#($0.1)""# }.joined(separator: ",") + "}\n"
        do throws(StoreError) {
            try SmallFile.replace(path, with: Array(text.utf8), mode: 0o600)
            return nil
        } catch {
            return error.description
        }
    }
}
