internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SyncEngine

/// Looks for what is wrong with a node: in its files, and through its daemon if that runs.
struct Doctor {
    let files: StoreFiles
    private(set) var findings: [Finding] = []
    /// What was looked at.
    private(set) var checks = 0

    private let session: Session

    init(_ files: StoreFiles, _ session: Session) {
        self.files = files
        self.session = session
    }

    /// What an operator has to look at.
    var open: [Finding] { findings.open }

    mutating func run() throws(CommandFailure) {
        // What stands there cannot be read, and would end this.
        let isReadable = checkKinds()
        if isReadable { try checkFiles() }
        var status: JSONObject?
        do throws(CommandFailure) {
            if let daemon = try DaemonClient.running(files) {
                status = try daemon.get(Route.status.path, timeout: 5_000)
            }
        } catch {
            note(Finding("UNREACHABLE", .warning, error.what, action: "syncctl status; the daemon's own log"))
        }
        if let status {
            checkDaemon(status)
        } else if isReadable {
            checks += 2
            if let cut = try Finding.cut(files) { note(cut) }
            for finding in try Finding.standing(files, session) { note(finding) }
        }
        findings.sort { ($0.severity.rank, $0.code, $0.subject) < ($1.severity.rank, $1.code, $1.subject) }
    }

    private mutating func checkFiles() throws(CommandFailure) {
        checkKey()
        checkDisk()
        checkModes()
        checkOwnHead()
        try checkWitness()
        try checkErasures()
        try checkAttachments()
        checkBackup()
    }

    private mutating func note(_ finding: Finding) { findings.append(finding) }

    // MARK: Files

    /// False if something else stands where the store has a file or a folder.
    private mutating func checkKinds() -> Bool {
        checks += 1
        let found = files.misplaced
        for (path, isFolder, isRemade) in found {
            note(
                Finding(
                    "WRONG_KIND", .warning, subject: path, "\(path) is no \(isFolder ? "folder" : "file")",
                    action: isRemade
                        ? "move it out of the store's folder; the node makes the file anew"
                        : "look at what stands there, move it out of the store's folder, and bring back what was there "
                            + "from a backup: operating/trouble.md, 'Damage'"))
        }
        return found.isEmpty
    }

    private mutating func checkKey() {
        checks += 1
        var entry = stat()
        guard stat(files.key, &entry) == 0 else {
            return note(
                Finding(
                    "KEY_MISSING", .information, subject: files.key,
                    "a copy without node.key: it can be read, and not appended to",
                    action: "to start it, put the node.key of its node there"))
        }
        guard entry.st_mode & 0o077 != 0 else { return }
        note(
            Finding(
                "KEY_MODE", .warning, subject: files.key,
                "the node's key can be read by others (mode 0\(String(entry.st_mode & 0o777, radix: 8)))",
                action: "chmod 600 \(files.key)"))
    }

    private mutating func checkModes() {
        checks += 1
        func mode(_ path: String) -> UInt32 {
            var entry = stat()
            return stat(path, &entry) == 0 ? entry.st_mode & 0o7777 : 0
        }
        let folder = mode(files.folder)
        if folder & 0o022 != 0 {
            note(
                Finding(
                    "FOLDER_WRITABLE", .warning, subject: files.folder,
                    "others can put files in the place of the store's (mode 0\(String(folder, radix: 8))): it is not opened for writing",
                    action: "chmod go-w \(files.folder)"))
        }
        // What is in a closed folder no other user can reach.
        guard folder & 0o011 != 0 else { return }
        let open = [
            files.log, files.log + "-wal", files.views, files.views + "-wal", files.newViews, files.peers,
            files.invitations,
        ]
        .filter { mode($0) & 0o044 != 0 }
        guard let first = open.first else { return }
        note(
            Finding(
                "READABLE", .warning, subject: first, "others can read \(open.joined(separator: ", "))",
                action: "chmod 700 \(files.folder), unless that is meant, as for an auditor"))
    }

    private mutating func checkDisk() {
        checks += 1
        guard let failure = DiskFailure(files) else { return }
        note(
            Finding(
                "DISK_FAILED", .warning, subject: files.folder,
                "the disk failed at \(Timestamp.text(failure.at)): \(failure.reason)",
                action:
                    "look at the kernel's log and the disk; the next start of syncd writes anew what it has: operating/trouble.md, "
                    + "'A failed disk'"))
    }

    private mutating func checkErasures() throws(CommandFailure) {
        checks += 1
        for report in try stored({ try LogReader(files).erasureReports() }) {
            guard case .underWay(let position, let last) = report.standing else { continue }
            let id = report.stored.event.header.id.description
            note(
                Finding(
                    "ERASING", .information, subject: id,
                    "an erasure goes on: \(position) of \(last) events are looked through",
                    action: "nothing while syncd runs; 'syncctl erase status' tells how far it is"))
        }
    }

    private mutating func checkAttachments() throws(CommandFailure) {
        checks += 1
        let figures = try stored { try AttachmentCopy(files).figures() }
        if let damaged = figures[.damaged]?.blobs, damaged > 0 {
            note(
                Finding(
                    "ATTACHMENTS_DAMAGED", .warning, subject: files.attachments,
                    "\(damaged) attachments have other bytes than their names say; they are given to no one",
                    action: "look at the disk; the bytes come again from a peer: 'syncctl attachment list --damaged'")
            )
        }
        if let missing = figures[.missing]?.blobs, missing > 0 {
            note(
                Finding(
                    "ATTACHMENTS_MISSING", .information, subject: files.attachments,
                    "\(missing) attachments that events name are not here",
                    action: "connect a node that has them, or put them again: 'syncctl attachment list --missing'"))
        }
    }

    /// Where backups are made, they are made each day. Where none was ever made, no one can say that one is missing.
    private mutating func checkBackup() {
        checks += 1
        guard let backup = BackupRecord(files), session.now - backup.time > Self.backupPatience else { return }
        note(
            Finding(
                "BACKUP_OLD", .information, subject: backup.repository ?? "",
                "the last backup was made at \(Timestamp.text(backup.time)), to position \(backup.position)",
                action: "syncctl backup create, each day: operating/backup.md"))
    }

    /// So old a backup of each day is not, milliseconds.
    private static let backupPatience: Int64 = 26 * 3_600_000

    private mutating func checkOwnHead() {
        checks += 1
        if let finding = Finding.ownHead(files) { note(finding) }
    }

    private mutating func checkWitness() throws(CommandFailure) {
        checks += 1
        let folder = try stored { try LogReader(files).meta("witness") } ?? ""
        guard !folder.isEmpty else {
            return note(
                Finding(
                    "NO_WITNESS", .information,
                    "no witness is kept outside of the data directory: a rewound disk is noticed by a peer only",
                    action: "set storage.witness to a folder on another disk"))
        }
        var entry = stat()
        guard stat(folder, &entry) == 0 else {
            return note(
                Finding(
                    "WITNESS", .warning, subject: folder, "the folder of the witness is not there",
                    action: "make it, writable for the user that runs syncd"))
        }
        if let weakness = files.weakness(ofWitness: folder) {
            note(
                Finding(
                    "WITNESS", .warning, subject: folder, "the folder of the witness \(weakness)",
                    action: "set storage.witness to another folder, on another disk where there is one"))
        }
        guard let fault = try stored({ try WitnessKeeper.fault(LogReader(files)) }) else { return }
        note(
            Finding(
                "WITNESS", .warning, subject: folder, "the log cannot be compared with its witness: \(fault)",
                action: "bring it back before syncd starts anew: operating/trouble.md, 'A lost witness'"))
    }

    // MARK: The daemon

    private mutating func checkDaemon(_ status: JSONObject) {
        checks += 3
        for notice in status.elements("notices")?.compactMap(\.object) ?? [] { note(Finding(notice: notice)) }
        for problem in findings.untold(status.strings("problems") ?? []) {
            let isSpace = problem.hasPrefix("disk:") || problem.contains("disk is full")
            let action =
                if problem.hasPrefix("wal:") {
                    "end that reader, if it is not needed: the file becomes short by itself"
                } else if isSpace {
                    "make room on the disk of \(files.folder); it goes on by itself"
                } else {
                    "operating/watching.md; the daemon's own log"
                }
            note(Finding("PROBLEM", .warning, problem, action: action))
        }
        for peer in status.elements("peers")?.compactMap(\.object) ?? [] { checkPeer(peer) }
        for pending in status.elements("pending")?.compactMap(\.object) ?? [] {
            let node = pending.string("node") ?? ""
            note(
                Finding(
                    "PENDING", .information, subject: node,
                    "node \(node.prefix(12)) calls from \(pending.string("address") ?? "somewhere") and is not let in",
                    action: "syncctl peers add NAME \(node), if it is one of yours"))
        }
    }

    private mutating func checkPeer(_ peer: JSONObject) {
        let state = peer.string("state") ?? ""
        guard state != "connected", state != "paused" else { return }
        let name = peer.string("name") ?? ""
        let reason = peer.string("error") ?? ""
        let advice = PeerAdvice.all.first { reason.contains($0.name) }
        note(
            Finding(
                advice?.name ?? "PEER_AWAY", .warning, subject: peer.string("node") ?? "",
                "peer \(name) is \(state)" + (reason.isEmpty ? "" : ": \(reason)"),
                action: advice?.action
                    ?? "is it running, and reachable at \(peer.string("address") ?? "its side")? If it is gone for good: "
                    + "syncctl peers remove \(name)"))
    }
}

extension Finding.Severity {
    /// The worst first.
    var rank: Int {
        switch self {
        case .integrity: 0
        case .warning: 1
        case .information: 2
        }
    }
}

/// What to do about the errors that end sessions.
private enum PeerAdvice {
    static let all: [(name: String, action: String)] = [
        ("UNKNOWN_PEER", "add this node there: syncctl peers add, or peers invite here and peers join there"),
        ("WRONG_CERTIFICATE", "another node answers at that address: check address and node id"),
        ("WRONG_CLUSTER", "nodes of different clusters never exchange events: check node.cluster of both"),
        ("PROTO_VERSION", "bring both to releases that speak a common version"),
        ("DUPLICATE_NODE_ID", "two processes have one key: operating/trouble.md, 'Two nodes with one key'"),
        ("BAD_PROOF", "syncctl verify on the peer; restore it from a good copy"),
        ("BAD_SIGNATURE", "syncctl verify on the peer; restore it from a good copy"),
        ("PAUSED", "its operator has paused the exchange: syncctl peers resume there"),
        ("STORE_FULL", "make room on the peer's disk"),
        ("STORE_ERROR", "the log of the daemon there says more"),
    ]
}
