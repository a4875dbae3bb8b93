internal import Glibc

/// Where a store finds itself when it is opened: what tells a log that goes on from a copy of it.
package struct Surroundings: Hashable, Sendable {
    /// Names the machine without giving its id away; `nil` where the machine has none, as in many containers.
    package var machine: String?
    /// The inode of `log.db`: a copy, a restored backup has another. `nil` is not compared.
    package var file: UInt64?

    package init(machine: String?, file: UInt64?) {
        self.machine = machine
        self.file = file
    }

    /// What is around the store in `files` now.
    package static func found(around files: StoreFiles, machineID: String = "/etc/machine-id") -> Surroundings {
        var entry = stat()
        let inode = stat(files.log, &entry) == 0 ? UInt64(entry.st_ino) : nil
        return Surroundings(machine: machine(machineID), file: inode)
    }

    /// machine-id(5) is confidential: only a hash made for this purpose is kept.
    private static func machine(_ path: String) -> String? {
        guard let bytes = try? SmallFile.read(path) else { return nil }
        let text = bytes.filter { $0 > 0x20 }
        guard text.count == 32 else { return nil }
        return String(SHA256().digest(Array("sillok machine\n".utf8) + text).description.prefix(32))
    }
}

/// Whether the log is the one that this node wrote last (D12). Decided before anything can be appended.
struct MemoryCheck {
    /// Why a new origin is due; `nil` if the log goes on.
    private(set) var change: OriginChange?
    /// How many events of the present origin the witness has seen.
    private(set) var known: UInt64 = 0
    /// What the log should remember for the next time.
    private(set) var values: [String: String] = [:]
    private(set) var witness: WitnessKeeper?

    init(
        _ reader: LogReader, _ identity: StoreIdentity, _ key: VerifyingKey, _ place: WitnessPlace,
        _ surroundings: Surroundings
    ) throws(StoreError) {
        if let file = surroundings.file { try compare("file", String(file), reader, .copied) }
        if let machine = surroundings.machine { try compare("machine", machine, reader, .machine) }
        let before = try reader.meta("witness").flatMap { $0.isEmpty ? nil : $0 }
        let folder: String? =
            switch place {
            case .asBefore: before
            case .none: nil
            case .folder(let path): path
            }
        if folder != before { values["witness"] = folder ?? "" }
        guard let folder else { return }
        let keeper = WitnessKeeper(folder: folder, identity: identity)
        witness = keeper
        guard let seen = keeper.read(key), seen.incarnation == identity.incarnation else { return }
        let head = seen.head.head
        let size = try reader.origins().first { $0.id == head.origin }?.size ?? 0
        if size < head.size {
            change = .witness
            known = head.origin == identity.origin ? head.size : 0
        } else if try reader.root(of: head.origin, size: head.size) != head.root {
            change = .witness
        }
    }

    private mutating func compare(
        _ name: String, _ value: String, _ reader: LogReader, _ reason: OriginChange
    ) throws(StoreError) {
        let before = try reader.meta(name)
        guard before != value else { return }
        values[name] = value
        if before != nil { change = reason }
    }
}
