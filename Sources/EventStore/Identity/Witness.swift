internal import Glibc

/// Where the node's last head is kept outside of its data directory, so that a rewound or restored store is noticed.
public enum WitnessPlace: Hashable, Sendable {
    /// Where it was when the store was open before.
    case asBefore
    /// Nowhere.
    case none
    /// In a file of this folder, which should lie on another disk. Stores of several nodes may share it.
    case folder(String)

    /// What the store keeps of it; `nil`: what it has kept.
    var setting: String? {
        switch self {
        case .asBefore: nil
        case .none: ""
        case .folder(let path): path
        }
    }

    /// Refuses a folder that is not there: no witness would be kept, and no one would be told.
    func requireFolder() throws(StoreError) {
        guard case .folder(let path) = self else { return }
        var status = stat()
        guard path.hasPrefix("/"), stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw .badFile(
                "the folder of the witness, '\(path)', is not there",
                wayOut: "make it, and name it by its absolute path")
        }
    }
}

/// Keeps the last signed head of this node in `<folder>/<node id>.json`:
/// `{"node":…,"incarnation":…,"origin":…,"size":"…","root":"<base64>","hlc":…,"signature":"<base64>","since":…}`; `since` names the
/// open finding that the one before could not be compared with.
///
/// ## Concurrency model
/// The writer's threads write; any thread may ask for ``problem``. A witness that cannot be written stops nothing.
package final class WitnessKeeper: Sendable {
    private struct State {
        var written: SignedHead?
        var writtenAt = UInt64(0)
        var problem: String?
        var since: String?
    }

    /// What the file says.
    struct Seen {
        let head: SignedHead
        let incarnation: UInt64
        /// The finding since which it is kept; `nil`: since it was configured.
        let since: String?
    }

    /// What stands where the file should be.
    enum Reading {
        case seen(Seen)
        /// Nothing, or what is of an earlier store of this node.
        case missing(String)
        /// What nothing can be compared with.
        case unusable(String)
    }

    let folder: String
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
        self.folder = folder
        path = folder + "/\(identity.node).json"
        node = identity.node
        incarnation = identity.incarnation
    }

    /// Why the file could not be read or written last time; `nil` if all is well.
    package var problem: String? { state.withLock { $0.problem } }

    /// The head in the file, if it is of this store and signed with `key`; or why there is none.
    func read(_ key: VerifyingKey) -> Reading {
        do throws(StoreError) {
            guard let bytes = try SmallFile.read(path) else { return .missing("\(path) is not there") }
            guard let seen = parse(bytes), seen.head.isValid(for: key) else {
                return unusable("\(path) is damaged, or of another node")
            }
            guard seen.incarnation == incarnation else {
                return .missing("\(path) is of an earlier store of this node")
            }
            return .seen(seen)
        } catch {
            return unusable(error.description)
        }
    }

    private func unusable(_ why: String) -> Reading {
        state.withLock { $0.problem = why }
        return .unusable(why)
    }

    /// Why the store of `log` cannot be compared with its witness; `nil` if it can be, or if it has none.
    package static func fault(_ log: LogReader) throws(StoreError) -> String? {
        let identity = try StoreIdentity(log)
        guard let folder = try log.meta("witness"), !folder.isEmpty, let key = try log.key(of: identity.origin) else {
            return nil
        }
        switch WitnessKeeper(folder: folder, identity: identity).read(key) {
        case .seen: return nil
        case .missing(let why), .unusable(let why): return why
        }
    }

    /// What is written from now on tells of the finding that the one before could not be compared with.
    func goOn(since finding: String?) { state.withLock { $0.since = finding } }

    /// Gives what stands where the file should be another name, `ending` behind its own. Returns that, unless there was nothing.
    func putAside(_ ending: String) -> String? {
        let other = "\(path).\(ending)"
        return rename(path, other) == 0 ? other : nil
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
            incarnation: incarnation, since: object.string("since"))
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
        var fields = [
            ("node", node.description), ("incarnation", String(incarnation, radix: 16)),
            ("origin", head.origin.description), ("size", String(head.size)), ("root", base64Text(head.root.bytes)),
            ("hlc", head.hlc.description), ("signature", base64Text(signed.signature)),
        ]
        if let since = state.withLock({ $0.since }) { fields.append(("since", since)) }
        let text = "{" + fields.map { #""\#($0.0)":"\#($0.1)""# }.joined(separator: ",") + "}\n"
        do throws(StoreError) {
            try SmallFile.replace(path, with: Array(text.utf8), mode: 0o600)
            return nil
        } catch {
            return error.description
        }
    }
}
