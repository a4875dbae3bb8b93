internal import CommandLineKit
internal import EventStore
internal import GatewayKit
internal import SyncEngine

/// The servers of a gateway and what they share.
///
/// ## Concurrency model
/// Belongs to the loop's thread.
final class Serving {
    private let loop: EventLoop
    private let desk: Desk
    private let web: WebDesk
    private var lines: LineServer?
    private var http: HTTPServer?
    private var links: [UInt64: TripLink] = [:]

    init(_ loop: EventLoop, _ desk: Desk) {
        (self.loop, self.desk) = (loop, desk)
        web = WebDesk(desk)
    }

    /// Listens, and says where.
    func listen(_ configuration: GatewayConfiguration) throws(TransportError) -> (lines: UInt16, web: UInt16?) {
        var limits = LineServer.Limits()
        limits.connections = configuration.maxClients
        limits.idle = .milliseconds(Int64(configuration.idle))
        limits.farewell = Array((TripFault.busy.text + configuration.replyEnd).utf8)
        let address = configuration.listen
        let server = try LineServer(
            loop: loop, host: address?.host ?? "localhost", port: address?.port ?? 0, limits: limits
        ) { [weak self] link in
            guard let self else { return link.close() }
            let number = link.number
            links[number] = TripLink(link, desk, replyEnd: configuration.replyEnd) { [weak self] in
                self?.links[number] = nil
            }
        }
        lines = server
        guard let address = configuration.web else { return (server.boundPort, nil) }
        let http = HTTPServer(
            loop: loop, limits: WebDesk.limits, refusal: WebDesk.refusal, handler: { [web] in web.answer($0) })
        self.http = http
        return (server.boundPort, try http.listen(host: address.host, port: address.port))
    }

    /// Takes no more clients and no more questions.
    func end() {
        lines?.stopListening()
        http?.stopListening()
        for link in links.values { link.end() }
        note()
    }

    /// Whether all that was asked is answered.
    var isDone: Bool { desk.underWay == 0 }

    /// What is to be known of connections.
    func note() {
        guard let lines else { return }
        let counts = lines.counts
        desk.figures.clients(lines.openLinks, refused: counts.refused, timedOut: counts.timedOut)
    }
}
