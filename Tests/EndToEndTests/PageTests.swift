import Foundation
import TestSupport
import Testing

/// The pages for browsers as the daemon serves them: whole, to anyone, with what keeps a browser safe.
@Suite(.serialized)
struct PageTests {
    private let daemon: DaemonProcess
    private let api: APIClient
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/CPages/files")

    init() throws {
        daemon = try DaemonProcess("n")
        try daemon.start()
        api = APIClient(socket: daemon.store + "/api.sock")
    }

    /// Files of the pages, as paths of the API.
    private static let paths: [String] = {
        let all =
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
        return all.filter { !$0.hasDirectoryPath }.map { String($0.path.dropFirst(folder.path.count)) }.sorted()
    }()

    @Test("Each file of the folder is served as it is, with its type, under a policy that lets in nothing else")
    func served() throws {
        #expect(Self.paths.count > 15)
        let types = ["mjs": "text/javascript", "css": "text/css", "html": "text/html", "svg": "image/svg+xml"]
        for path in Self.paths + ["/arrive/", "/chat/", "/console/", "/mine/"] {
            let answer = api.raw("GET", path)
            let file = path.hasSuffix("/") ? path + "index.html" : path
            let whole = try String(contentsOf: Self.folder.appending(path: file), encoding: .utf8)
            #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("\r\n\r\n" + whole), "\(path)")
            let type = try #require(types[URL(filePath: file).pathExtension])
            #expect(answer.contains("\r\nContent-Type: \(type)"), "\(path)")
            for line in [
                "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'",
                "frame-ancestors 'none'", "require-trusted-types-for 'script'", "X-Content-Type-Options: nosniff",
                "Referrer-Policy: no-referrer", "Cross-Origin-Opener-Policy: same-origin",
            ] { #expect(answer.contains(line), "\(path): \(line)") }
        }
    }

    @Test("The chat alone may ask for the microphone, and no page for the camera or the place")
    func permissions() {
        for (path, microphone) in [
            ("/chat/", "(self)"), ("/chat/app.mjs", "(self)"), ("/console/", "()"), ("/arrive/", "()"),
            ("/mine/", "()"), ("/shared/api.mjs", "()"), ("/chat/none.mjs", "(self)"),
        ] {
            let stated = "camera=(), geolocation=(), microphone=\(microphone), payment=(), usb=()"
            #expect(api.raw("GET", path).contains("\r\nPermissions-Policy: \(stated)\r\n"), "\(path)")
        }
    }

    @Test("Who has a file already is told so; other methods, paths and names are refused")
    func rest() throws {
        let first = api.raw("GET", "/console/app.mjs")
        let tag = try #require(first.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") }?.dropFirst(6))
        let again = api.raw("GET", "/console/app.mjs", headers: ["If-None-Match: \(tag)"])
        #expect(again.hasPrefix("HTTP/1.1 304") && again.hasSuffix("\r\n\r\n"), "\(again)")
        #expect(!again.lowercased().contains("content-length"), "\(again)")
        #expect(api.raw("GET", "/console/app.mjs", headers: ["If-None-Match: \"x\""]).hasPrefix("HTTP/1.1 200"))
        let head = api.raw("HEAD", "/console/app.mjs")
        #expect(head.hasPrefix("HTTP/1.1 200") && head.hasSuffix("\r\n\r\n"))
        for top in ["arrive", "chat", "console", "mine"] {
            #expect(api.raw("GET", "/\(top)").contains("\r\nLocation: /\(top)/\r\n"))
        }
        #expect(api.raw("POST", "/console/").hasPrefix("HTTP/1.1 405"))
        for path in [
            "/console/none.mjs", "/console/../pages.c", "/console/%2e%2e/pages.c", "/console/app.mjs/", "/shared/",
            "/CONSOLE/",
        ] { #expect(api.raw("GET", path).hasPrefix("HTTP/1.1 404"), "\(path)") }
    }
}
