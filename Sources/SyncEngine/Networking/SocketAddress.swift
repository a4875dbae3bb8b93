// The importer files <sys/socket.h> under the first module that includes it, so both are needed.
internal import CLibevent
internal import Glibc

/// An IPv4, IPv6 or Unix socket address in the kernel's form.
struct SocketAddress {
    private var storage: sockaddr_storage
    let length: socklen_t

    init(copying address: UnsafePointer<sockaddr>, length: socklen_t) {
        storage = sockaddr_storage()
        let count = min(Int(length), MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: .init(start: address, count: count)) }
        self.length = socklen_t(count)
    }

    /// The address of a Unix socket at `path`.
    init(unixPath path: String) throws(TransportError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path), !bytes.isEmpty else {
            throw .pathTooLong(path)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        self = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { SocketAddress(copying: $0, length: size) }
        }
    }

    /// The address of this end of a socket; nil when it has none.
    init?(ofLocalEnd descriptor: Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { return nil }
        self.storage = storage
        self.length = length
    }

    var family: Int32 { Int32(storage.ss_family) }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        withUnsafePointer(to: storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }

    /// Port of a TCP address, 0 for others.
    var port: UInt16 {
        withPointer { address in
            UnsafeRawPointer(address).withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_port }
        }.bigEndian
    }

    /// The numeric host, with the port: `192.0.2.7:4711`, `[2001:db8::7]:4711`.
    var text: String {
        guard let host else { return "unknown" }
        return family == AF_INET6 ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The numeric host: `192.0.2.7`, `2001:db8::7`; `nil` if it has none.
    var host: String? {
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let result = withPointer {
            getnameinfo($0, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
        }
        guard result == 0 else { return nil }
        return String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Looks a host up. Blocks unless `numericOnly`.
    /// - Returns: addresses in the order of RFC 6724, or the `EAI_` code of `getaddrinfo(3)`.
    static func lookUp(_ host: String, port: UInt16, numericOnly: Bool) -> Result<[SocketAddress], LookUpFailure> {
        var hints = addrinfo()
        hints.ai_socktype = SocketType.stream
        hints.ai_flags = AI_NUMERICSERV | (numericOnly ? AI_NUMERICHOST : AI_ADDRCONFIG)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else { return .failure(LookUpFailure(code: code)) }
        defer { freeaddrinfo(list) }
        let entries = sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }
        return .success(
            entries.compactMap { entry in
                guard let info = entry?.pointee, let address = info.ai_addr else { return nil }
                return SocketAddress(copying: address, length: info.ai_addrlen)
            })
    }
}

/// A failed look-up; `code` is one of the `EAI_` values.
struct LookUpFailure: Error {
    let code: Int32
    var reason: String { String(cString: gai_strerror(code)) }
}

enum SocketType {
    static let stream = Int32(SOCK_STREAM.rawValue)
    static let nonBlockingStream = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
}
