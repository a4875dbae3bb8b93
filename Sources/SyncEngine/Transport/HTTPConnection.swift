internal import CLibevent
internal import Glibc

/// One client connection of an ``HTTPServer``, from accept to close. Loop thread only.
///
/// evhttp knows it as an `evhttp_connection`, which it shows us only with the first request; before that we have the
/// bufferevent alone, and hold a reference to it to be able to look whether evhttp has let it go.
final class HTTPConnection {
    let limits: HTTPLimits
    let bufferevent: OpaquePointer
    /// When a whole request must have come; nil while one is being answered.
    private(set) var deadline: ContinuousClock.Instant?
    /// The request being answered.
    var current: HTTPTransaction?
    private unowned let server: HTTPServer
    private var handle: OpaquePointer?
    private var hasLetGo = false

    /// `bufferevent` is new and about to be given to evhttp.
    init(server: HTTPServer, limits: HTTPLimits, bufferevent: OpaquePointer) {
        self.server = server
        self.limits = limits
        self.bufferevent = bufferevent
        deadline = .now + limits.requestDeadline
        bufferevent_incref(bufferevent)
        bufferevent_setwatermark(bufferevent, Int16(EV_READ), 0, limits.inputHighWatermark)
    }

    /// Gives our reference back. Not left to `deinit`, which may run on any thread.
    func letGo() {
        guard !hasLetGo else { return }
        hasLetGo = true
        bufferevent_decref(bufferevent)
    }

    var outputLength: Int { evbuffer_get_length(bufferevent_get_output(bufferevent)) }

    /// Whether evhttp has freed its side, which takes the callbacks away.
    var isReleasedByHTTP: Bool {
        var event: bufferevent_event_cb?
        bufferevent_getcb(bufferevent, nil, nil, &event, nil)
        return event == nil
    }

    /// A whole request has come.
    func requestArrived(on handle: OpaquePointer) {
        deadline = nil
        guard self.handle == nil else { return }
        self.handle = handle
        evhttp_connection_set_closecb(
            handle,
            { _, context in
                guard let context else { return }
                Unmanaged<HTTPConnection>.fromOpaque(context).takeUnretainedValue().closed()
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Undoes what ``readOn()`` changed, and learns when the reply has been written.
    func willFinish(_ request: OpaquePointer) {
        setIdleTimeout(limits.idleTimeout)
        bufferevent_setwatermark(bufferevent, Int16(EV_READ), 0, limits.inputHighWatermark)
        evhttp_request_set_on_complete_cb(
            request,
            { _, context in
                guard let context else { return }
                Unmanaged<HTTPConnection>.fromOpaque(context).takeUnretainedValue().replied()
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Reads on while a request is with us, to see the client leave. evhttp's read callback must go first: it ends the
    /// process when a pipelined request reaches it now. evhttp puts it back after the reply.
    func watchClient() {
        var write: bufferevent_data_cb?
        var event: bufferevent_event_cb?
        var context: UnsafeMutableRawPointer?
        bufferevent_getcb(bufferevent, nil, &write, &event, &context)
        bufferevent_setcb(bufferevent, nil, write, event, context)
        readOn()
    }

    /// Reads during an answer, to see the client leave, but never much; and without the idle timeout, which would cut
    /// a quiet feed. evhttp's read callback must be off.
    func readOn() {
        bufferevent_setwatermark(bufferevent, Int16(EV_READ), 0, 4096)
        // In this order: libevent forgets the timeout of a persistent event only while its timer is running.
        bufferevent_enable(bufferevent, Int16(EV_READ))
        setIdleTimeout(.zero)
    }

    /// Closes in the next turn of the loop, because evhttp may be calling us right now. It frees the request, after
    /// the close callback.
    func drop() {
        server.loop.schedule(after: .zero) { [weak self] in
            if let handle = self?.handle { evhttp_connection_free(handle) }
        }
    }

    /// Ends a client that has not sent a whole request in time: evhttp sees the end of the stream.
    func cutOff() {
        deadline = nil
        shutdown(bufferevent_getfd(bufferevent), Int32(SHUT_RDWR))
    }

    private func setIdleTimeout(_ duration: Duration) {
        guard let handle else { return }
        var interval = duration.timeInterval
        evhttp_connection_set_timeout_tv(handle, &interval)
    }

    private func replied() {
        current = nil
        deadline = .now + limits.idleTimeout + limits.requestDeadline
    }

    private func closed() {
        handle = nil
        let transaction = current
        current = nil
        server.forget(self)
        transaction?.connectionClosed()
    }
}
