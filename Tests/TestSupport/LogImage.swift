package import EventStore
internal import Foundation

/// The files of a store's log at one moment, its mark and what says where it ended, to be put back in place: a rewound disk, a restored snapshot of a
/// machine.
package struct LogImage {
    private let contents: [String: Data?]
    private let mark: Data?
    private let end: Data?

    /// Of a store that is closed.
    package init(_ files: StoreFiles) {
        var contents: [String: Data?] = [:]
        for suffix in ["", "-wal"] { contents[suffix] = FileManager.default.contents(atPath: files.log + suffix) }
        self.contents = contents
        mark = FileManager.default.contents(atPath: files.mark)
        end = FileManager.default.contents(atPath: files.end)
    }

    /// Puts the files back, `log.db` without a new inode.
    package func restore(_ files: StoreFiles, withMark: Bool = true) throws {
        if withMark {
            try mark?.write(to: URL(fileURLWithPath: files.mark))
            try end?.write(to: URL(fileURLWithPath: files.end))
        }
        for (suffix, data) in contents {
            let path = files.log + suffix
            guard let data else {
                try? FileManager.default.removeItem(atPath: path)
                continue
            }
            if !FileManager.default.fileExists(atPath: path) {
                try Data().write(to: URL(fileURLWithPath: path))
            }
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: data)
            try handle.close()
        }
        try? FileManager.default.removeItem(atPath: files.log + "-shm")
    }
}

extension HostFingerprint {
    /// Nothing that is compared: the store takes itself for the one that was written last, as a clone of a whole machine
    /// does.
    package static let unknown = HostFingerprint(machine: nil, file: nil)
}
