internal import Glibc

/// A bound Unix socket in the file system.
struct UnixSocket {
    let path: String
    let descriptor: Int32
    private let device: dev_t
    private let inode: ino_t

    /// Binds, but does not listen yet: until then no client can connect, so `mode` holds from the first moment on. A socket
    /// file on which no process answers is left over from a crash and is replaced.
    init(path: String, mode: mode_t) throws(TransportError) {
        let address = try SocketAddress(unixPath: path)
        try UnixSocket.removeStale(path, address)
        let descriptor = socket(AF_UNIX, SocketType.nonBlockingStream, 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        // The file is born with the mode of the socket, less what the umask takes: never with more than it is to have.
        guard fchmod(descriptor, mode) == 0, address.withPointer({ bind(descriptor, $0, address.length) }) == 0 else {
            let code = errno
            close(descriptor)
            throw .system(call: "bind \(path)", code: code)
        }
        var status = stat()
        guard lstat(path, &status) == 0,
            status.st_mode & 0o7777 == mode || fchmodat(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW) == 0
        else {
            let code = errno
            close(descriptor)
            unlink(path)
            throw .system(call: "chmod \(path)", code: code)
        }
        self.path = path
        self.descriptor = descriptor
        device = status.st_dev
        inode = status.st_ino
    }

    /// Removes the file, unless another server has put its own in this place.
    func remove() {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == inode else { return }
        unlink(path)
    }

    private static func removeStale(_ path: String, _ address: SocketAddress) throws(TransportError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
        let probe = socket(AF_UNIX, SocketType.nonBlockingStream, 0)
        guard probe >= 0 else { throw .system(call: "socket", code: errno) }
        defer { close(probe) }
        let result = address.withPointer { connect(probe, $0, address.length) }
        // EAGAIN is a living server with a full backlog.
        if result == 0 || errno == EAGAIN { throw .socketInUse(path: path) }
        guard errno == ECONNREFUSED else { throw .system(call: "connect \(path)", code: errno) }
        guard unlink(path) == 0 else { throw .system(call: "unlink \(path)", code: errno) }
    }
}

extension PeerCredentials {
    /// Whether it is root, or the user that this process runs as: who owns all that the server has.
    var isOperator: Bool { uid == 0 || uid == geteuid() }
}

/// The process at the other end of a Unix socket; nil for other sockets.
func peerCredentials(of descriptor: Int32) -> PeerCredentials? {
    guard SocketAddress(ofLocalEnd: descriptor)?.family == AF_UNIX else { return nil }
    // `struct ucred`, which the importer shows only under _GNU_SOURCE.
    var found: (pid: Int32, uid: UInt32, gid: UInt32) = (0, .max, .max)
    var size = socklen_t(MemoryLayout.size(ofValue: found))
    guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &found, &size) == 0 else { return nil }
    return PeerCredentials(pid: found.pid, uid: found.uid, gid: found.gid, groups: peerGroups(of: descriptor))
}

/// The groups of the process at the other end beside its own; none where the kernel does not tell.
private func peerGroups(of descriptor: Int32) -> [UInt32] {
    var groups = [UInt32](repeating: 0, count: 32)
    while true {
        var size = socklen_t(groups.count * MemoryLayout<UInt32>.size)
        if getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, &groups, &size) == 0 {
            return Array(groups.prefix(Int(size) / MemoryLayout<UInt32>.size))
        }
        // It has more: the size says how many. The kernel knows at most 65,536 (NGROUPS_MAX).
        let wanted = Int(size) / MemoryLayout<UInt32>.size
        guard errno == ERANGE, wanted > groups.count, wanted <= 65_536 else { return [] }
        groups = [UInt32](repeating: 0, count: wanted)
    }
}
