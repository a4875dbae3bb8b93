internal import CCurl
internal import CommandLineKit

/// Speaks HTTP with the daemon over its Unix socket, through libcurl. Blocks; one request at a time.
final class APIClient {
    struct Response {
        let status: Int
        let body: [UInt8]
    }

    private let handle: UnsafeMutableRawPointer
    private let socket: String

    init(socket: String) throws(CommandFailure) {
        guard let handle = curl_easy_init() else {
            throw CommandFailure(code: "E_CURL", "libcurl cannot be set up", exitCode: .internalError)
        }
        self.handle = handle
        self.socket = socket
    }

    deinit { curl_easy_cleanup(handle) }

    /// Collects the body of one answer.
    private final class Sink {
        var bytes: [UInt8] = []
    }

    /// - Parameter path: with its query, already encoded.
    func request(_ method: String, _ path: String, body: [UInt8]? = nil) throws(CommandFailure) -> Response {
        curl_easy_reset(handle)
        let sink = Sink()
        var headers: UnsafeMutablePointer<curl_slist>?
        // Without this curl would first ask whether a large body is welcome, and wait.
        headers = curl_slist_append(headers, "Expect:")
        headers = curl_slist_append(headers, "Content-Type: application/x-ndjson")
        defer { curl_slist_free_all(headers) }
        _ = sillok_curl_set_string(handle, CURLOPT_UNIX_SOCKET_PATH, socket)
        _ = sillok_curl_set_string(handle, CURLOPT_URL, "http://syncd\(path)")
        _ = sillok_curl_set_string(handle, CURLOPT_CUSTOMREQUEST, method)
        _ = sillok_curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        _ = sillok_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, 5_000)
        _ = sillok_curl_set_long(handle, CURLOPT_TIMEOUT_MS, 120_000)
        _ = sillok_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers)
        _ = sillok_curl_set_pointer(handle, CURLOPT_WRITEDATA, Unmanaged.passUnretained(sink).toOpaque())
        _ = sillok_curl_set_write(handle) { data, size, count, context in
            guard let data, let context else { return 0 }
            let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
            Unmanaged<Sink>.fromOpaque(context).takeUnretainedValue().bytes.append(contentsOf: bytes)
            return size * count
        }
        let code = (body ?? []).withUnsafeBytes { raw in
            if body != nil {
                _ = sillok_curl_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(raw.count))
                _ = sillok_curl_set_string(
                    handle, CURLOPT_POSTFIELDS, raw.bindMemory(to: CChar.self).baseAddress)
            }
            return withExtendedLifetime(sink) { curl_easy_perform(handle) }
        }
        guard code == CURLE_OK else {
            throw CommandFailure(
                code: "E_UNREACHABLE",
                "cannot reach syncd at \(socket): \(String(cString: curl_easy_strerror(code)))",
                hint: "Is the daemon running, and may you use its socket?", exitCode: .unreachable)
        }
        var status = 0
        _ = sillok_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
        return Response(status: status, body: sink.bytes)
    }
}
