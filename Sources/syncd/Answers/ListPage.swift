internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Which part of a list is asked for that is kept in memory, sorted by keys: tokens, subscriptions, erasures and the like (INV-9).
struct ListPage: Sendable {
    /// Lines of a page, at most and unless said.
    static let most = 500
    private static let version: UInt8 = 1

    /// Of the path: a cursor is of use with the list that it came from alone.
    private let scope: [UInt8]
    private let limit: Int
    /// The key of the last line of the page before.
    private let last: String?

    init(_ request: HTTPRequest) throws(BadParameter) {
        limit = request.number("limit") ?? Self.most
        scope = Array(SHA256().digest(Array(request.path.utf8)).bytes.prefix(8))
        guard let text = request.queryItem("cursor") else {
            last = nil
            return
        }
        guard let bytes = hexBytes(text), bytes.starts(with: [Self.version] + scope),
            let last = String(validating: bytes.dropFirst(1 + scope.count), as: UTF8.self)
        else {
            throw BadParameter(
                message: "cursor: none of this list",
                hint: "the text of 'next' from the page before, of the same path")
        }
        self.last = last
    }

    /// The lines of this page, and its last one.
    ///
    /// - Parameters:
    ///   - entries: All of the list, in the order of their keys.
    ///   - isDescending: Whether the greatest key comes first.
    ///   - lost: How many events that tell of entries cannot be read.
    func body<Entry>(
        _ entries: some Sequence<Entry>, isDescending: Bool = false, lost: Int = 0, key: (Entry) -> String,
        line: (Entry) throws(StoreError) -> JSONLine
    ) throws(StoreError) -> [UInt8] {
        var (body, count) = ([UInt8](), 0)
        var (next, previous) = (String?.none, "")
        for entry in entries {
            let key = key(entry)
            if let last, !(isDescending ? Self.precedes(key, last) : Self.precedes(last, key)) { continue }
            guard count < limit else {
                next = hexText([Self.version] + scope + previous.utf8)
                break
            }
            try line(entry).write(to: &body)
            count += 1
            previous = key
        }
        var end = JSONLine(type: "end")
        end.add("count", count)
        end.add("more", next != nil)
        if let next { end.add("next", next) }
        if lost > 0 { end.add("lost", lost) }
        end.write(to: &body)
        return body
    }

    /// By the bytes.
    private static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

    /// A number as a key: in the order of the numbers from 0.
    static func key(_ number: UInt64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 20 - digits.utf8.count) + digits
    }
}

extension HTTPExchange {
    /// A page of a list.
    func send(lines body: [UInt8]) { reply(status: 200, contentType: "application/x-ndjson", body: body) }

    /// Which part of a list is asked for; refuses the request if that is none.
    func listPage() -> ListPage? {
        do throws(BadParameter) { return try ListPage(request) } catch {
            refuse(.parameter, error.message, hint: error.hint)
            return nil
        }
    }
}
