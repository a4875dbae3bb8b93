internal import Access
internal import EventStore
internal import SillokAPI
internal import SyncEngine

extension ReadEndpoint {
    /// Records who is about to read; false if that cannot be, and the request was refused.
    static func record(
        _ admitted: AdmittedRequest, _ page: PageRequest, _ reader: ReadPool.Reader, _ log: AccessLog
    ) -> Bool {
        let (exchange, request) = (admitted.exchange, admitted.request)
        guard let reason = AccessLog.reason(request) else {
            exchange.refuse(
                .reason, "an auditor says why: the header Sillok-Reason, 1 to 1,024 bytes of UTF-8",
                hint: "Sillok-Reason: complaint 4711")
            return false
        }
        do throws(StoreError) {
            let users: [String] =
                switch ReadRoute(version1: request.segments) {
                case .history(let user), .profile(let user), .readers(let user): [user]
                case .rows(let conversation), .proofs(let conversation), .conversation(let conversation):
                    try reader.fresh { views, _ throws(StoreError) in
                        try views.participants(of: conversation).prefix(100).map(\.user)
                    }
                case .search, .attachments: request.queryItems("user")
                case .why(let id):
                    try reader.fresh { views, _ throws(StoreError) in
                        try CauseLines.users(ofCausesOf: id, page.causes, views)
                    }
                default: []
                }
            guard case .found(let route, _) = RouteTable.match(request.method, request.segments) else { return false }
            // What was looked for is what was read.
            let words = ["q", "match"].compactMap { name in request.queryItem(name).map { "\(name)=\($0)" } }
            let subject = request.path + (words.first.map { "?\($0)" } ?? "")
            try log.record(admitted.caller, route: route.label, subject: subject, users: users, reason: reason)
            return true
        } catch {
            exchange.refuse(error)
            return false
        }
    }
}
