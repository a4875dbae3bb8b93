internal import CPages
internal import EventStore
internal import Glibc
internal import SyncEngine

/// The pages for browsers (docs/operating/console.md): files that the binary carries. They are the same for all, know nothing of the store and
/// need no token; what they show they ask of the API.
struct PageFiles: Sendable {
    private struct File {
        let type: String
        let tag: String
        let bytes: [UInt8]

        init(type: String, bytes: [UInt8]) {
            (self.type, self.bytes) = (type, bytes)
            tag = "\"" + hexText(SHA256().digest(bytes).bytes.prefix(16)) + "\""
        }
    }

    /// By path.
    private let files: [String: File]
    /// Where they are read from anew with each request, for who works on them.
    private let folder: String?

    /// What a page may load, and from whom: nothing but its own files, and nothing that a text of a chat could bring in.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; "
        + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'"
    private static let longest = 1 << 20
    /// Folders that have an index.
    private static let tops = ["arrive", "chat", "console", "mine"]
    /// The folder whose pages record voices: the microphone is for no other.
    private static let hears = "chat"

    init(folder: String? = nil) {
        self.folder = folder
        var count = 0
        guard let table = sillok_pages(&count) else {
            files = [:]
            return
        }
        var found: [String: File] = [:]
        for page in UnsafeBufferPointer(start: table, count: count) {
            let bytes = Array(UnsafeBufferPointer(start: page.bytes, count: page.count))
            found[String(cString: page.path)] = File(type: String(cString: page.type), bytes: bytes)
        }
        files = found
    }

    /// Their paths, sorted.
    var paths: [String] { files.keys.sorted() }

    /// Answers a request for a page; false if it is for something else. Does not wait, but with a folder.
    func answer(_ exchange: HTTPExchange) -> Bool {
        let request = exchange.request
        guard let top = request.segments.first, Self.tops.contains(top) || top == "shared" else { return false }
        guard request.method == "GET" || request.method == "HEAD" else {
            exchange.reply(status: 405, contentType: nil, headers: [HTTPField("Allow", "GET, HEAD")])
            return true
        }
        if request.segments == [top], Self.tops.contains(top) {
            exchange.reply(status: 308, contentType: nil, headers: [HTTPField("Location", "/\(top)/")])
            return true
        }
        let isIndex = Self.tops.contains(top) && request.path == "/\(top)/"
        let path = isIndex ? "/\(top)/index.html" : request.path
        guard let file = file(path) else {
            exchange.reply(status: 404, contentType: nil, headers: Self.headers(of: top))
            return true
        }
        let headers = Self.headers(of: top) + [HTTPField("ETag", file.tag), HTTPField("Cache-Control", "no-cache")]
        let known = request.header("If-None-Match")?.split(separator: ",").map { $0.drop { $0 == " " } } ?? []
        if known.contains(where: { $0 == file.tag || $0 == "W/" + file.tag || $0 == "*" }) {
            exchange.reply(status: 304, contentType: nil, headers: headers)
        } else {
            exchange.reply(status: 200, contentType: file.type, headers: headers, body: file.bytes)
        }
        return true
    }

    private static func headers(of top: String) -> [HTTPField] {
        let microphone = top == hears ? "(self)" : "()"
        return [
            HTTPField("Content-Security-Policy", policy),
            HTTPField("X-Content-Type-Options", "nosniff"),
            HTTPField("Referrer-Policy", "no-referrer"),
            HTTPField("Cross-Origin-Opener-Policy", "same-origin"),
            HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
            HTTPField(
                "Permissions-Policy", "camera=(), geolocation=(), microphone=\(microphone), payment=(), usb=()"),
        ]
    }

    private func file(_ path: String) -> File? {
        guard let folder else { return files[path] }
        // Names alone that a file of the pages may have: nothing leads out of the folder.
        let names = path.split(separator: "/")
        let isPlain = names.allSatisfy { name in
            name.first != "." && name.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789._-".utf8.contains($0) }
        }
        guard isPlain, let kind = names.last?.split(separator: ".").last, let type = Self.types[String(kind)],
            let bytes = try? SmallFile.read(folder + "/" + names.joined(separator: "/")), bytes.count <= Self.longest
        else { return nil }
        return File(type: type, bytes: bytes)
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
        "mjs": "text/javascript; charset=utf-8", "svg": "image/svg+xml",
    ]
}
