internal import CCurl

/// An HTTP request to a node, through libcurl.
package struct ClientRequest {
    package var method = "GET"
    /// Path and query, percent-encoded.
    package var target: String
    package var body: [UInt8]?
    package var contentType = "application/x-ndjson"
    /// The forms of an answer that are understood.
    package var accept = "application/x-ndjson, application/json"
    /// Milliseconds for the whole exchange.
    package var timeout = 120_000

    package init(
        method: String = "GET", target: String, body: [UInt8]? = nil, contentType: String = "application/x-ndjson",
        timeout: Int = 120_000
    ) {
        (self.method, self.target, self.body) = (method, target, body)
        (self.contentType, self.timeout) = (contentType, timeout)
    }

    /// What came back.
    package struct Answer {
        package let status: Int
        /// Seconds the server asks to wait before another try.
        package let retryAfter: Int?
        package let body: [UInt8]
    }

    /// Why nothing came back.
    package struct Failure: Error {
        /// libcurl's words.
        package let reason: String
        /// Whether the request never reached the server, so that nothing can have happened.
        package let isUnsent: Bool
        package let isTimeout: Bool
    }

    /// Longest answer that is taken.
    private static let longestAnswer = 64 << 20

    /// Sends the request to the node at `place` and waits for the answer.
    package func send(to place: NodePlace) throws(Failure) -> Answer {
        guard let easy = curl_easy_init() else {
            throw Failure(reason: "no memory", isUnsent: true, isTimeout: false)
        }
        defer { curl_easy_cleanup(easy) }
        var headers: UnsafeMutablePointer<curl_slist>?
        var lines = ["Content-Type: \(contentType)", "Accept: \(accept)", "Expect:"]
        if let token = place.token { lines.append("Authorization: Bearer \(token)") }
        if let reason = place.reason { lines.append("Sillok-Reason: \(reason)") }
        for line in lines { headers = curl_slist_append(headers, line) }
        defer { curl_slist_free_all(headers) }
        let received = Received(limit: Self.longestAnswer)
        set(easy, place)
        sillok_curl_set_pointer(easy, CURLOPT_HTTPHEADER, headers)
        receive(easy, into: received)
        let code = withExtendedLifetime(received) { perform(easy) }
        guard code == CURLE_OK else {
            let unsent = code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST
            throw Failure(
                reason: String(cString: curl_easy_strerror(code)), isUnsent: unsent,
                isTimeout: code == CURLE_OPERATION_TIMEDOUT)
        }
        var status = 0
        sillok_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        // A curl_off_t, which is a long on every 64-bit Linux.
        var seconds = 0
        sillok_curl_get_long(easy, CURLINFO_RETRY_AFTER, &seconds)
        return Answer(status: status, retryAfter: seconds > 0 ? Int(seconds) : nil, body: received.body)
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
        // Proxies of the environment are not for this.
        sillok_curl_set_string(easy, CURLOPT_NOPROXY, "*")
        sillok_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
        sillok_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, 5_000)
        sillok_curl_set_long(easy, CURLOPT_TIMEOUT_MS, timeout)
    }

    private func receive(_ easy: UnsafeMutableRawPointer, into received: Received) {
        let pointer = Unmanaged.passUnretained(received).toOpaque()
        sillok_curl_set_write(easy) { data, size, count, context in
            guard let data, let context else { return 0 }
            let received = Unmanaged<Received>.fromOpaque(context).takeUnretainedValue()
            let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
            return received.take(bytes) ? size * count : 0
        }
        sillok_curl_set_pointer(easy, CURLOPT_WRITEDATA, pointer)
    }

    private func perform(_ easy: UnsafeMutableRawPointer) -> CURLcode {
        guard let body else { return curl_easy_perform(easy) }
        return body.withUnsafeBytes { bytes in
            sillok_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count))
            sillok_curl_set_pointer(easy, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            return curl_easy_perform(easy)
        }
    }
}

/// Where libcurl puts the answer.
private final class Received {
    private(set) var body: [UInt8] = []
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// False when the answer has become too long; libcurl then gives up.
    func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= limit else { return false }
        body.append(contentsOf: bytes)
        return true
    }
}
