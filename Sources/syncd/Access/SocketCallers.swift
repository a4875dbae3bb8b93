internal import Access
internal import EventStore
internal import Glibc
internal import SyncEngine

/// Who the processes at the other end of the Unix socket are here.
///
/// The daemon's user and root may do all: they own its files. Members of the socket's group are programs, unless `api.socket.roles` says what
/// its callers may do; then that alone counts.
struct SocketCallers: Sendable {
    /// What the kernel says of a process.
    private struct Process: Hashable {
        let uid: UInt32
        /// Of the process first, then its others, as the kernel gives them.
        let groups: [UInt32]
    }

    private static let most = 1_024
    private static let everything: Set<Role> = [.app, .operator, .admin]

    private let socket: DaemonConfiguration.Socket
    /// Grows with each change of the rules.
    let generation: UInt64
    private var known: [Process: Caller] = [:]

    init(_ socket: DaemonConfiguration.Socket, after last: SocketCallers? = nil) {
        self.socket = socket
        let isSame = last.map { $0.socket.roles == socket.roles && $0.socket.group == socket.group } ?? true
        generation = (last?.generation ?? 0) + (isSame ? 0 : 1)
    }

    /// Who is at the other end. Names of users and groups are looked up once for each kind of process.
    mutating func caller(_ peer: PeerCredentials) -> Caller? {
        let process = Process(uid: peer.uid, groups: [peer.gid] + peer.groups)
        if let caller = known[process] { return caller }
        guard let actor = EventActor(.socket, principal: peer.principal) else { return nil }
        let caller = Caller(actor, roles(of: process), generation: generation)
        if known.count >= Self.most { known = [:] }
        known[process] = caller
        return caller
    }

    private func roles(of process: Process) -> Set<Role> {
        if process.uid == geteuid() || process.uid == 0 { return Self.everything }
        guard !socket.roles.isEmpty else {
            let isMember = socket.group.flatMap(Self.gid).map(process.groups.contains) ?? true
            return isMember ? [.app] : []
        }
        return socket.roles.filter { Self.names($0.holder, process) }.reduce(into: []) { $0.formUnion($1.roles) }
    }

    private static func names(_ holder: DaemonConfiguration.SocketGrant.Holder, _ process: Process) -> Bool {
        switch holder {
        case .uid(let uid): process.uid == uid
        case .user(let name): getpwnam(name).map { $0.pointee.pw_uid == process.uid } ?? false
        case .group(let name): gid(name).map(process.groups.contains) ?? false
        }
    }

    private static func gid(_ name: String) -> UInt32? { getgrnam(name)?.pointee.gr_gid }
}
