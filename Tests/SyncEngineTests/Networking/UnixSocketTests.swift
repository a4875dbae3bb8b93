import Foundation
import TestSupport
import Testing

@testable import SyncEngine

/// The file of a Unix socket.
struct UnixSocketTests {
    private func mode(_ path: String) -> UInt32 {
        var entry = stat()
        return lstat(path, &entry) == 0 ? entry.st_mode & 0o7777 : 0
    }

    @Test("The socket has the mode that it was given, whatever the umask", arguments: [0o600, 0o660, 0o666])
    func modes(wanted: Int) throws {
        let folder = try TemporaryFolder.made()
        for mask: mode_t in [0, 0o077] {
            let before = umask(mask)
            defer { umask(before) }
            let socket = try UnixSocket(path: folder.file("s"), mode: mode_t(wanted))
            #expect(mode(folder.file("s")) == UInt32(wanted))
            close(socket.descriptor)
            socket.remove()
        }
    }

    @Test("A socket is born with no more than its mode: what it has before its name does counts")
    func born() throws {
        let folder = try TemporaryFolder.made()
        let before = umask(0)
        defer { umask(before) }
        // What ``UnixSocket`` relies on (unix(7) does not say it): bind gives the file the mode of the descriptor.
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        #expect(fchmod(descriptor, 0o600) == 0)
        let address = try SocketAddress(unixPath: folder.file("s"))
        #expect(address.withPointer { bind(descriptor, $0, address.length) } == 0)
        #expect(mode(folder.file("s")) == 0o600)
    }
}
