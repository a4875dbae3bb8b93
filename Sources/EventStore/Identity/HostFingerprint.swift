internal import Glibc

/// Where a store finds itself when it is opened: what tells a log that goes on from a copy of it.
package struct HostFingerprint: Hashable, Sendable {
    /// Names the machine without giving its id away; `nil` where the machine has none, as in many containers.
    package var machine: String?
    /// The inode of `log.db`: a copy, a restored backup has another. `nil` is not compared.
    package var file: UInt64?
    /// The kernel's name for this run of the machine; `nil` is not compared.
    package var boot: String?

    package init(machine: String?, file: UInt64?, boot: String? = nil) {
        self.machine = machine
        self.file = file
        self.boot = boot
    }

    /// What is around the store in `files` now.
    package static func found(around files: StoreFiles, machineID: String = "/etc/machine-id") -> HostFingerprint {
        var entry = stat()
        let inode = stat(files.log, &entry) == 0 ? UInt64(entry.st_ino) : nil
        return HostFingerprint(machine: machine(machineID), file: inode, boot: boot)
    }

    private static var boot: String? {
        guard let bytes = try? SmallFile.read("/proc/sys/kernel/random/boot_id") else { return nil }
        let text = bytes.filter { $0 > 0x20 }
        return text.count == 36 ? String(validating: text, as: UTF8.self) : nil
    }

    /// machine-id(5) is confidential: only a hash made for this purpose is kept.
    private static func machine(_ path: String) -> String? {
        guard let bytes = try? SmallFile.read(path) else { return nil }
        let text = bytes.filter { $0 > 0x20 }
        guard text.count == 32 else { return nil }
        return String(SHA256().digest(Array("sillok machine\n".utf8) + text).description.prefix(32))
    }
}
