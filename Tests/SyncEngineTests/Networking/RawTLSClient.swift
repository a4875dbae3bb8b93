import CLibevent
import COpenSSL
import Foundation
import Testing

@testable import SyncEngine

/// A blocking TLS client that writes whatever it is told, for hostile input.
struct RawTLSClient {
    let descriptor: Int32
    let context: TLSContext

    struct Session {
        let session: OpaquePointer

        func write(_ bytes: [UInt8]) { #expect(SSL_write(session, bytes, Int32(bytes.count)) == bytes.count) }

        func sayGoodbye() { SSL_shutdown(session) }
    }

    /// Connects, runs `body` and closes the socket.
    func run(_ body: (Session) -> Void) throws {
        let session = try #require(context.newSession())
        defer {
            SSL_free(session)
            close(descriptor)
        }
        SSL_set_fd(session, descriptor)
        try #require(SSL_connect(session) == 1)
        body(Session(session: session))
    }
}

/// Bytes libevent holds for a link that has not read them.
func evbufferLengthOfInput(_ bufferevent: OpaquePointer) -> Int {
    evbuffer_get_length(bufferevent_get_input(bufferevent))
}
