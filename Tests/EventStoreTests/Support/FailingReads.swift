import Foundation
import Testing

@testable import EventStore

/// From now on each read of a file that is open here fails, as on a broken disk: in place of its descriptors stand ones that can only
/// be written.
func failReads(of path: String) throws { try replaceDescriptors(of: path, by: path, O_WRONLY) }

/// From now on a file that is open here finds no room. What is mapped into memory stays what it is.
func failWrites(to path: String) throws { try replaceDescriptors(of: path, by: "/dev/full", O_RDWR) }

private func replaceDescriptors(of path: String, by other: String, _ access: Int32) throws {
    let broken = open(other, access | O_CLOEXEC)
    try #require(broken >= 0)
    defer { close(broken) }
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
        guard let descriptor = Int32(name), descriptor != broken else { continue }
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
        if target == path { dup2(broken, descriptor) }
    }
}
