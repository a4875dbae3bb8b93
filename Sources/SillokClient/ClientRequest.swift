internal import CCurl
internal import Glibc

/// An HTTP request to a node or a model, through libcurl.
package struct ClientRequest: Sendable {
    package var method = "GET"
    /// Path and query, percent-encoded.
    package var target: String
    package var body: [UInt8]?
    package var contentType = "application/x-ndjson"
    /// Further lines of the header.
    package var headers: [String] = []
    /// The forms of an answer that are understood.
    package var accept = "application/x-ndjson, application/json"
    /// Milliseconds for the whole exchange; 0: as long as it takes.
    package var timeout = 120_000
    /// Seconds without a byte after which it is given up; 0: never.
    package var silence = 0
    /// Whether proxies of the environment are used: to a model, but not to a node.
    package var usesProxies = false

    package init(
        method: String = "GET", target: String, body: [UInt8]? = nil, contentType: String = "application/x-ndjson",
        timeout: Int = 120_000
    ) {
        (self.method, self.target, self.body) = (method, target, body)
        (self.contentType, self.timeout) = (contentType, timeout)
    }

    /// A body that is read as it is sent, once.
    package final class Upload {
        let count: Int
        fileprivate let read: (UnsafeMutableRawBufferPointer) -> Int?

        /// - Parameters:
        ///   - count: How many bytes there are.
        ///   - read: Puts the next ones there, and says how many; `nil` ends the exchange.
        package init(count: Int, read: @escaping (UnsafeMutableRawBufferPointer) -> Int?) {
            (self.count, self.read) = (count, read)
        }
    }

    /// What came back.
    package struct Answer: Sendable {
        package let status: Int
        /// Seconds the server asks to wait before another try.
        package let retryAfter: Int?
        /// The address to which a status of 300 to 399 leads. It is not followed.
        package let location: String?
        /// All of it; empty where it was handed over piece by piece.
        package let body: [UInt8]
    }

    /// Why nothing came back.
    package struct Failure: Error {
        /// libcurl's words.
        package let reason: String
        /// Whether the request never reached the server, so that nothing can have happened.
        package let isUnsent: Bool
        package let isTimeout: Bool
        /// Whether the one who listened has ended it.
        package let isEnded: Bool
    }

    /// Who takes an answer as it comes.
    package struct Listener {
        /// The status and the content type, before the first piece.
        package let begins: (_ status: Int, _ contentType: String?) -> Void
        /// A piece; false ends the exchange.
        package let takes: (_ piece: UnsafeRawBufferPointer) -> Bool
        /// Asked about once a second, also while nothing comes; false ends the exchange.
        package let goesOn: () -> Bool

        package init(
            begins: @escaping (_ status: Int, _ contentType: String?) -> Void = { _, _ in },
            takes: @escaping (_ piece: UnsafeRawBufferPointer) -> Bool, goesOn: @escaping () -> Bool
        ) {
            (self.begins, self.takes, self.goesOn) = (begins, takes, goesOn)
        }
    }

    /// Longest answer that is taken whole.
    private static let longestAnswer = 64 << 20

    /// Sends the request to the node at `place` and waits for the answer.
    package func send(
        to place: NodePlace, over connection: ClientConnection? = nil, upload: Upload? = nil
    ) throws(Failure) -> Answer {
        let received = Received(limit: Self.longestAnswer)
        let listener = Listener(takes: received.take, goesOn: { true })
        let answer = try send(to: place, over: connection, upload: upload, listener)
        return Answer(
            status: answer.status, retryAfter: answer.retryAfter, location: answer.location, body: received.body)
    }

    /// Sends the request and hands over what comes, on the calling thread.
    ///
    /// - Parameter upload: In place of ``body``.
    package func send(
        to place: NodePlace, over connection: ClientConnection? = nil, upload: Upload? = nil, _ listener: Listener
    ) throws(Failure) -> Answer {
        guard let connection = connection ?? ClientConnection() else {
            throw Failure(reason: "no memory", isUnsent: true, isTimeout: false, isEnded: false)
        }
        let easy = connection.easy
        var headers: UnsafeMutablePointer<curl_slist>?
        var lines = ["Content-Type: \(contentType)", "Accept: \(accept)", "Expect:"]
        if let token = place.token { lines.append("Authorization: Bearer \(token)") }
        if let reason = place.reason { lines.append("Sillok-Reason: \(reason)") }
        lines += self.headers
        for line in lines { headers = curl_slist_append(headers, line) }
        defer { curl_slist_free_all(headers) }
        set(easy, place)
        sillok_curl_set_pointer(easy, CURLOPT_HTTPHEADER, headers)
        let exchange = Exchange(easy, listener)
        listen(easy, exchange)
        let code = withExtendedLifetime(exchange) { perform(easy, upload) }
        guard code == CURLE_OK else {
            let unsent = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST
            throw Failure(
                reason: String(cString: curl_easy_strerror(code)), isUnsent: unsent,
                isTimeout: code == CURLE_OPERATION_TIMEDOUT, isEnded: exchange.isEnded)
        }
        exchange.begin()
        // A curl_off_t, which is a long on every 64-bit Linux.
        var seconds = 0
        sillok_curl_get_long(easy, CURLINFO_RETRY_AFTER, &seconds)
        var location: UnsafeMutablePointer<CChar>?
        sillok_curl_get_string(easy, CURLINFO_REDIRECT_URL, &location)
        return Answer(
            status: exchange.status, retryAfter: seconds > 0 ? Int(seconds) : nil,
            location: location.map { String(cString: $0) }, body: [])
    }

    private func set(_ easy: UnsafeMutableRawPointer, _ place: NodePlace) {
        switch place.address {
        case .socket(let path):
            sillok_curl_set_string(easy, CURLOPT_URL, "http://syncd" + target)
            sillok_curl_set_string(easy, CURLOPT_UNIX_SOCKET_PATH, path)
        case .url(let url):
            sillok_curl_set_string(easy, CURLOPT_URL, url + target)
            if let file = place.authorities { sillok_curl_set_string(easy, CURLOPT_CAINFO, file) }
        }
        sillok_curl_set_string(easy, CURLOPT_CUSTOMREQUEST, method)
        if method == "HEAD" { sillok_curl_set_long(easy, CURLOPT_NOBODY, 1) }
        if !usesProxies { sillok_curl_set_string(easy, CURLOPT_NOPROXY, "*") }
        // A user may have the id '..'.
        sillok_curl_set_long(easy, CURLOPT_PATH_AS_IS, 1)
        sillok_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        sillok_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, 5_000)
        sillok_curl_set_long(easy, CURLOPT_TIMEOUT_MS, timeout)
        if silence > 0 {
            sillok_curl_set_long(easy, CURLOPT_LOW_SPEED_LIMIT, 1)
            sillok_curl_set_long(easy, CURLOPT_LOW_SPEED_TIME, silence)
        }
    }

    private func listen(_ easy: UnsafeMutableRawPointer, _ exchange: Exchange) {
        let pointer = Unmanaged.passUnretained(exchange).toOpaque()
        sillok_curl_set_write(easy) { data, size, count, context in
            guard let data, let context else { return 0 }
            let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
            let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
            return exchange.take(bytes) ? size * count : 0
        }
        sillok_curl_set_pointer(easy, CURLOPT_WRITEDATA, pointer)
        sillok_curl_set_progress(easy) { context, _, _, _, _ in
            guard let context else { return 1 }
            return Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue().goesOn() ? 0 : 1
        }
        sillok_curl_set_pointer(easy, CURLOPT_XFERINFODATA, pointer)
        sillok_curl_set_long(easy, CURLOPT_NOPROGRESS, 0)
    }

    private func perform(_ easy: UnsafeMutableRawPointer, _ upload: Upload?) -> CURLcode {
        if let upload { return Self.perform(easy, sending: upload) }
        guard let body else { return curl_easy_perform(easy) }
        return body.withUnsafeBytes { bytes in
            sillok_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
            sillok_curl_set_pointer(easy, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            return curl_easy_perform(easy)
        }
    }
}

extension ClientRequest {
    fileprivate static func perform(_ easy: UnsafeMutableRawPointer, sending upload: Upload) -> CURLcode {
        sillok_curl_set_long(easy, CURLOPT_UPLOAD, 1)
        sillok_curl_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(upload.count))
        sillok_curl_set_read(easy) { room, size, count, context in
            guard let room, let context else { return Int(CURL_READFUNC_ABORT) }
            let upload = Unmanaged<Upload>.fromOpaque(context).takeUnretainedValue()
            return upload.read(UnsafeMutableRawBufferPointer(start: room, count: size * count))
                ?? Int(CURL_READFUNC_ABORT)
        }
        sillok_curl_set_pointer(easy, CURLOPT_READDATA, Unmanaged.passUnretained(upload).toOpaque())
        return withExtendedLifetime(upload) { curl_easy_perform(easy) }
    }
}

/// What keeps a connection for the next request to the same place. Of one thread.
package final class ClientConnection {
    private let handle: UnsafeMutableRawPointer
    /// Of what libcurl sets up for the whole process, once.
    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    package init?() {
        guard Self.isReady, let easy = curl_easy_init() else { return nil }
        handle = easy
    }

    deinit { curl_easy_cleanup(handle) }

    /// The handle without options of a request before; its connections, and names that were looked up, stay.
    fileprivate var easy: UnsafeMutableRawPointer {
        curl_easy_reset(handle)
        return handle
    }
}

/// One request on its way.
private final class Exchange {
    private let easy: UnsafeMutableRawPointer
    private let listener: ClientRequest.Listener
    private(set) var status = 0
    private(set) var isEnded = false
    private var hasBegun = false

    init(_ easy: UnsafeMutableRawPointer, _ listener: ClientRequest.Listener) {
        (self.easy, self.listener) = (easy, listener)
    }

    func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        sillok_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        var kind: UnsafeMutablePointer<CChar>?
        sillok_curl_get_string(easy, CURLINFO_CONTENT_TYPE, &kind)
        listener.begins(status, kind.map { String(cString: $0) })
    }

    /// False when no more is wanted; libcurl then gives up.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        begin()
        if !listener.takes(bytes) { isEnded = true }
        return !isEnded
    }

    func goesOn() -> Bool {
        if !isEnded, !listener.goesOn() { isEnded = true }
        return !isEnded
    }
}

/// Where an answer is put that is taken whole.
private final class Received {
    private(set) var body: [UInt8] = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// False when the answer has become too long.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= limit else { return false }
        body.append(contentsOf: bytes)
        return true
    }
}
