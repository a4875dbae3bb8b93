internal import CommandLineKit
internal import EventStore

/// What syncctl asks the daemon.
extension Context {
    /// The daemon that owns the store; `nil` if none does.
    func daemon(_ files: StoreFiles) throws(CommandFailure) -> APIClient? {
        guard let owner = StoreLock.owner(files) else { return nil }
        guard let range = owner.firstRange(of: " socket ") else {
            guard owner.hasPrefix("syncd") else { throw StoreError.locked(path: files.folder, owner: owner).failure }
            throw CommandFailure(
                code: "E_NO_SOCKET", "\(owner) owns the store and serves no socket", exitCode: .unreachable)
        }
        return try APIClient(socket: String(owner[range.upperBound...]))
    }
}

extension String {
    fileprivate func firstRange(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}

extension APIClient.Response {
    /// The answer's JSON object.
    var object: JSONObject { JSONObject(validated: body) }

    /// What the daemon said was wrong.
    var failure: CommandFailure {
        let code = object.string("code") ?? "E_HTTP"
        let exit: ExitCode =
            switch status {
            case 503: .tryAgain
            case 507: .cannotCreate
            case 400...499: .usage
            default: .internalError
            }
        return CommandFailure(code: code, object.string("message") ?? "HTTP \(status)", exitCode: exit)
    }
}

/// Percent-encodes everything but letters, digits and `-._~` (RFC 3986 §2.3).
func urlEncoded(_ text: String) -> String {
    var out: [UInt8] = []
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            out.append(byte)
        default: out.append(contentsOf: "%\(hexText([byte]).uppercased())".utf8)
        }
    }
    return String(decoding: out, as: UTF8.self)
}
