internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `GET /v1/receipt`: what this node holds now, signed, with the word of its peers (FORMATS.md §9).
extension Service {
    func receipt(_ exchange: HTTPExchange) throws(StoreError) {
        let builder = try ReceiptBuilder(store.files, key: store.key, ownHead: store.head())
        let body = builder.bytes(of: try builder.receipt(at: store.wall()))
        exchange.reply(status: 200, contentType: "application/x-ndjson", body: body)
    }
}
