internal import Glibc

/// What `views.db` was when the node let go of it, signed with the node's key: so that the next start notices what another process
/// has written meanwhile, and builds the views anew (docs/reference/VIEWS.md).
///
/// The file system keeps the time at which anything of a file was changed last, and no process can set it. While the node has the views open, and
/// after it was killed, the mark says so, and nothing is noticed: `syncctl verify --views` proves them then.
package struct ViewsMark {
    /// What can be told of the views when the node takes them up.
    package enum Verdict: Hashable, Sendable {
        /// They are as the node left them, or nothing is known of them.
        case asLeft
        /// Another process has written since; says how that shows.
        case changed(String)
    }

    private static let open = "open"
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
        guard let bytes = try? SmallFile.read(files.viewsMark), let text = valid(bytes) else {
            return .changed("there is no mark of this node beside the views")
        }
        if text == Self.open { return .asLeft }
        let isSame = text == Self.state(of: files) && !paths.contains(files.newViews)
        return isSame ? .asLeft : .changed("views.db is not the file that this node left")
    }

    /// The node is about to write: from now on nothing is known of the views until it lets go of them.
    func begin() throws(StoreError) { try write(Self.open) }

    /// The node has closed the views.
    func end() throws(StoreError) { try write(Self.state(of: files)) }

    private func write(_ text: String) throws(StoreError) {
        let signature = hexText(key.sign(message(text)))
        // Without waiting for the disk: a mark that a power cut takes back leads to a rebuild at worst.
        try SmallFile.replace(
            files.viewsMark, with: Array("\(text)\n\(signature)\n".utf8), mode: 0o600, isDurable: false)
    }

    /// What a mark says, if its signature is this node's.
    private func valid(_ bytes: [UInt8]) -> String? {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard lines.count == 2, let signature = hexBytes(lines[1]) else { return nil }
        let text = String(lines[0])
        return key.publicKey.isValid(signature: signature, for: message(text)) ? text : nil
    }

    private func message(_ text: String) -> [UInt8] { Array("sillok views\n\(text)\n".utf8) }

    /// Inode, bytes and the times of the last changes of `views.db` and of what is left in its WAL.
    private static func state(of files: StoreFiles) -> String {
        let parts = ["", "-wal"].map { (suffix: String) -> String in
            var status = stat()
            guard stat(files.views + suffix, &status) == 0, status.st_size > 0 else { return "none" }
            return [
                Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
            ].map(String.init).joined(separator: ".")
        }
        return "closed \(parts.joined(separator: " "))"
    }
}
