internal import CPages
internal import EventStore
internal import SyncEngine

/// The page for riders and what it loads. It is the same for all, and holds no secret.
struct PageShelf {
    private struct File {
        let type: String
        let tag: String
        let bytes: [UInt8]
    }

    private let files: [String: File]

    /// What the page may load: its own files, and answers of this server.
    static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types 'none'"

    private static let headers = [
        HTTPField("Content-Security-Policy", policy),
        HTTPField("X-Content-Type-Options", "nosniff"),
        HTTPField("Referrer-Policy", "no-referrer"),
        HTTPField("Cross-Origin-Opener-Policy", "same-origin"),
        HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
        HTTPField("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ]

    init() {
        var count = 0
        var found: [String: File] = [:]
        if let table = sillok_pages(&count) {
            for page in UnsafeBufferPointer(start: table, count: count) {
                let path = String(cString: page.path)
                guard path.hasPrefix("/arrive/") || path.hasPrefix("/shared/") else { continue }
                let bytes = Array(UnsafeBufferPointer(start: page.bytes, count: page.count))
                found[path] = File(
                    type: String(cString: page.type),
                    tag: "\"" + hexText(SHA256().digest(bytes).bytes.prefix(16)) + "\"", bytes: bytes)
            }
        }
        files = found
    }

    /// Answers a request for a file; false if it is for something else.
    func answer(_ exchange: HTTPExchange) -> Bool {
        let request = exchange.request
        guard request.method == "GET" || request.method == "HEAD" else { return false }
        if request.path == "/" || request.path == "/arrive" {
            exchange.reply(status: 308, contentType: nil, headers: [HTTPField("Location", "/arrive/")])
            return true
        }
        guard let file = files[request.path == "/arrive/" ? "/arrive/index.html" : request.path] else { return false }
        let headers = Self.headers + [HTTPField("ETag", file.tag), HTTPField("Cache-Control", "no-cache")]
        if request.header("If-None-Match") == file.tag {
            exchange.reply(status: 304, contentType: nil, headers: headers)
        } else {
            exchange.reply(status: 200, contentType: file.type, headers: headers, body: file.bytes)
        }
        return true
    }
}
