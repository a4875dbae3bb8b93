internal import Glibc

/// Why a loop, listener or server could not be set up.
package enum TransportError: Error, Equatable, CustomStringConvertible {
    /// A system call failed; `code` is its `errno`.
    case system(call: String, code: Int32)
    /// The host is neither a numeric IPv4 or IPv6 address nor `localhost`.
    case notAnAddress(String)
    /// A living server answers on this Unix socket.
    case socketInUse(path: String)
    /// Something that is not a socket stands at the path; it is left alone.
    case notASocket(path: String)
    /// A Unix socket path may be at most 107 bytes long.
    case pathTooLong(String)
    /// The event loop has stopped or was never started.
    case loopNotRunning

    package var description: String {
        switch self {
        case .system(let call, let code): "\(call): \(String(cString: strerror(code))) (\(errnoName(code)))"
        case .notAnAddress(let host): "'\(host)' is not a numeric address or localhost"
        case .socketInUse(let path): "another server already answers on \(path)"
        case .notASocket(let path): "\(path) exists and is not a socket"
        case .pathTooLong(let path): "the socket path is longer than 107 bytes: \(path)"
        case .loopNotRunning: "the event loop is not running"
        }
    }
}

/// The symbolic name of an `errno` value (`ECONNRESET`), or `errno 123` for one we have no name for.
func errnoName(_ code: Int32) -> String {
    switch code {
    case EACCES: "EACCES"
    case EADDRINUSE: "EADDRINUSE"
    case EADDRNOTAVAIL: "EADDRNOTAVAIL"
    case EAFNOSUPPORT: "EAFNOSUPPORT"
    case EBADF: "EBADF"
    case ECONNABORTED: "ECONNABORTED"
    case ECONNREFUSED: "ECONNREFUSED"
    case ECONNRESET: "ECONNRESET"
    case EHOSTDOWN: "EHOSTDOWN"
    case EHOSTUNREACH: "EHOSTUNREACH"
    case EINVAL: "EINVAL"
    case EMFILE: "EMFILE"
    case ENETDOWN: "ENETDOWN"
    case ENETUNREACH: "ENETUNREACH"
    case ENFILE: "ENFILE"
    case ENOBUFS: "ENOBUFS"
    case ENOENT: "ENOENT"
    case ENOMEM: "ENOMEM"
    case ENOTCONN: "ENOTCONN"
    case EPERM: "EPERM"
    case EPIPE: "EPIPE"
    case EPROTO: "EPROTO"
    case EROFS: "EROFS"
    case ETIMEDOUT: "ETIMEDOUT"
    default: "errno \(code)"
    }
}
