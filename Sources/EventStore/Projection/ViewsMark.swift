internal import Glibc

/// What `views.db` was when the node let go of it, signed with the node's key: so that the next start notices what another process
/// has written meanwhile, and builds the views anew (docs/reference/VIEWS.md).
///
/// The file system keeps the time at which anything of a file was changed last, and no process can set it. While the node has the views
/// open the mark says only that. Who takes up views whose mark says so has them from a process that was killed, and cannot know who wrote
/// since: they stay *unproven*, also across orderly ends, until they are compared with the log or built anew. No proof of an answer is
/// given of them before that.
package struct ViewsMark {
    /// What can be told of the views when the node takes them up.
    package enum Verdict: Hashable, Sendable {
        /// They are as the node left them, or there are none.
        case asLeft
        /// A process was killed while it had them open, and they were not compared with the log since.
        case unproven
        /// Another process has written since; says how that shows.
        case changed(String)
    }

    /// The first line of a mark.
    private enum Content: Hashable {
        case open(isProven: Bool)
        /// With what the files were.
        case closed(isProven: Bool, String)

        private static let words = (
            open: "open", openUnproven: "open unproven", closed: "closed ", unproven: "unproven "
        )

        var text: String {
            switch self {
            case .open(let isProven): isProven ? Self.words.open : Self.words.openUnproven
            case .closed(let isProven, let state): (isProven ? Self.words.closed : Self.words.unproven) + state
            }
        }

        init?(_ text: String) {
            if text == Self.words.open || text == Self.words.openUnproven {
                self = .open(isProven: text == Self.words.open)
            } else if text.hasPrefix(Self.words.closed) {
                self = .closed(isProven: true, String(text.dropFirst(Self.words.closed.count)))
            } else if text.hasPrefix(Self.words.unproven) {
                self = .closed(isProven: false, String(text.dropFirst(Self.words.unproven.count)))
            } else {
                return nil
            }
        }

        var isProven: Bool {
            switch self {
            case .open(let isProven), .closed(let isProven, _): isProven
            }
        }
    }

    private let files: StoreFiles
    private let key: SigningKey

    /// The mark of the views of `files`; `nil` where the node's key cannot be read: then what the node has written is unknown.
    package init?(_ files: StoreFiles) {
        guard let pem = try? SmallFile.read(files.key), let key = SigningKey(pem: pem) else { return nil }
        (self.files, self.key) = (files, key)
    }

    /// Whether the views are as the node left them.
    package func verdict() -> Verdict {
        let all: [String] = [files.views, files.newViews]
        let paths = all.filter { access($0, F_OK) == 0 }
        if paths.isEmpty { return .asLeft }
        switch content() {
        case nil: return .changed("there is no mark of this node beside the views")
        case .open: return .unproven
        case .closed(let isProven, let state):
            guard state == Self.state(of: files), !paths.contains(files.newViews) else {
                return .changed("views.db is not the file that this node left")
            }
            return isProven ? .asLeft : .unproven
        }
    }

    /// Whether the views, which a process may have open, have not been compared with the log since one was killed that had them open.
    package var isUnproven: Bool {
        switch content() {
        case .open(isProven: true): StoreLock.owner(files) == nil
        case let content: content?.isProven == false
        }
    }

    /// Throws `E_BUSY` while it is not known whether the views, which say what belongs to a user or a conversation, follow from the log.
    package static func requireProven(_ files: StoreFiles) throws(StoreError) {
        guard ViewsMark(files)?.isUnproven == true else { return }
        throw .busy(
            "a process was killed that had the views open, and they are not compared with the log yet: no proof is given before. A daemon does it at its start; without one, `syncctl verify --views` does"
        )
    }

    /// Says of views that a killed process had open that they are unproven, before this process has the store.
    package func takeUp() {
        if StoreLock.owner(files) == nil, verdict() == .unproven { try? begin(isProven: false) }
    }

    /// The node is about to write: from now on nothing is known of the views until it lets go of them.
    ///
    /// - Parameter isProven: Whether what is there follows from the log.
    func begin(isProven: Bool) throws(StoreError) { try write(.open(isProven: isProven)) }

    /// The node has closed the views.
    func end() throws(StoreError) { try write(.closed(isProven: content()?.isProven == true, Self.state(of: files))) }

    /// What the views are now. Views that no process has open, and that are compared with the log, are proven only if this was the
    /// same before.
    package var standing: String { Self.state(of: files) }

    /// The views were compared with the log, row by row, and are what it says.
    ///
    /// - Parameter standing: What they were when that began.
    package func prove(since standing: String) throws(StoreError) {
        switch content() {
        case .open(isProven: false) where StoreLock.owner(files) != nil: try write(.open(isProven: true))
        case .closed(isProven: false, let state) where state == standing && state == Self.state(of: files):
            try write(.closed(isProven: true, state))
        default: return
        }
    }

    private func write(_ content: Content) throws(StoreError) {
        let signature = hexText(key.sign(message(content.text)))
        // Without waiting for the disk: a mark that a power cut takes back leads to a rebuild at worst.
        try SmallFile.replace(
            files.viewsMark, with: Array("\(content.text)\n\(signature)\n".utf8), mode: 0o600, isDurable: false)
    }

    /// What the mark says, if its signature is this node's.
    private func content() -> Content? {
        guard let bytes = try? SmallFile.read(files.viewsMark) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.count == 2, let signature = hexBytes(lines[1]) else { return nil }
        let text = String(lines[0])
        return key.publicKey.isValid(signature: signature, for: message(text)) ? Content(text) : nil
    }

    private func message(_ text: String) -> [UInt8] { Array("sillok views\n\(text)\n".utf8) }

    /// Inode, bytes and the times of the last changes of `views.db` and of what is left in its WAL.
    private static func state(of files: StoreFiles) -> String {
        ["", "-wal"].map { (suffix: String) -> String in
            var status = stat()
            guard stat(files.views + suffix, &status) == 0, status.st_size > 0 else { return "none" }
            return [
                Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
            ].map(String.init).joined(separator: ".")
        }.joined(separator: " ")
    }
}
