import TestSupport
import Testing

@testable import EventStore

/// Contacts and recent searches (docs/reference/VIEWS.md, "contacts", "recent_searches").
struct UserListsTests {
    private func contacts(_ events: [Event]) throws -> [UserContact] {
        let log = try LogFixture()
        try log.deliver(events)
        _ = try log.digests()
        return try ViewReader(log.files).contacts(of: "kim", limit: 10)
    }

    private func contact(
        _ origin: UInt64, _ seq: UInt64, hlc: Int64, _ type: String, _ payload: String, knows: [Dot] = []
    ) -> Event {
        event(
            origin, seq, hlc: hlc, type: "contact.\(type)", conversation: nil, user: "kim", dependencies: knows,
            payload)
    }

    @Test("Added wins over a removal that did not know of it, in whatever order both come (INV-6)")
    func addWins() throws {
        let first = contact(1, 1, hlc: 10, "added", #"{"contact":"lee","name":"이"}"#)
        let removed = contact(
            2, 1, hlc: 20, "removed", #"{"contact":"lee"}"#, knows: [Dot(origin: origin(1), seq: 1)])
        let again = contact(1, 2, hlc: 15, "added", #"{"contact":"lee","name":"다시"}"#)
        #expect(try contacts([first]).map(\.contact) == ["lee"])
        #expect(try contacts([first, removed]).isEmpty)
        // The second addition knew nothing of the removal, nor that of it.
        for order in [[first, removed, again], [first, again, removed]] {
            let found = try contacts(order)
            #expect(found.map(\.name) == ["다시"])
        }
        // A removal that knows of both takes both away.
        let last = contact(2, 2, hlc: 30, "removed", #"{"contact":"lee"}"#, knows: [Dot(origin: origin(1), seq: 2)])
        #expect(try contacts([first, again, removed, last]).isEmpty)
        // A removal without an addition is none.
        #expect(try contacts([removed]).isEmpty)
    }

    @Test("A contact is told with its own name, the source, and the name that they have themselves; in pages by id")
    func told() throws {
        let log = try LogFixture()
        var events = [
            event(
                1, 1, hlc: 10, type: "profile.changed", conversation: nil, user: "lee", #"{"fields":{"name":"이하늘"}}"#)
        ]
        for (index, name) in ["박", "lee", "a", "가"].enumerated() {
            events.append(
                contact(
                    1, UInt64(index) + 2, hlc: 20 + Int64(index), "added",
                    #"{"contact":"\#(name)","phoneNumber":"010","source":"addressbook"}"#))
        }
        try log.deliver(events)
        _ = try log.digests()
        let reader = try ViewReader(log.files)
        let all = try reader.contacts(of: "kim", limit: 10)
        #expect(all.map(\.contact) == ["a", "lee", "가", "박"])
        #expect(all[1].profileName == "이하늘" && all[1].name == nil && all[1].source == "addressbook")
        #expect(all[1].phoneNumber == "010" && all[1].time == 21)
        var found: [UserContact] = []
        while let next = try reader.contacts(of: "kim", after: found.last?.contact, limit: 1).first {
            found.append(next)
        }
        #expect(found == all)
        #expect(try reader.contacts(of: "lee", limit: 10).isEmpty)
    }

    private func searches(
        _ words: [(String, String)], match: String? = nil, order: RecentSearchOrder = .date, scope: String? = nil
    ) throws -> [String] {
        let log = try LogFixture()
        try log.deliver(
            words.enumerated().map { index, word in
                event(
                    1, UInt64(index) + 1, hlc: 10 * Int64(index + 1), type: "search.\(word.0)", conversation: nil,
                    user: "kim", word.1)
            })
        _ = try log.digests()
        return try ViewReader(log.files).recentSearches(of: "kim", scope: scope, match: match, order: order).map(
            \.query)
    }

    @Test("The newest comes first, each once; what is forgotten is gone until it is looked for again")
    func recent() throws {
        func remembered(_ query: String, _ scope: String = "users") -> (String, String) {
            ("remembered", #"{"query":"\#(query)","scope":"\#(scope)"}"#)
        }
        let words = [remembered("김"), remembered("영희"), remembered("김")]
        #expect(try searches(words) == ["김", "영희"])
        #expect(try searches(words, order: .query) == ["김", "영희"])
        #expect(try searches(words, match: "영") == ["영희"])
        #expect(try searches(words + [("forgotten", #"{"query":"영희"}"#)]) == ["김"])
        #expect(try searches(words + [("forgotten", #"{"query":"김"}"#), remembered("김")]) == ["김", "영희"])
        #expect(try searches(words + [("forgotten", #"{"all":true}"#)]).isEmpty)
        #expect(try searches(words + [("forgotten", #"{"all":true,"scope":"messages"}"#)]) == ["김", "영희"])
        #expect(try searches(words + [("forgotten", #"{"query":"김","scope":"messages"}"#)]) == ["김", "영희"])
        let both = words + [remembered("김", "messages")]
        #expect(try searches(both) == ["김", "김", "영희"])
        #expect(try searches(both, scope: "messages") == ["김"])
        // Without a scope it was in messages.
        #expect(try searches([("remembered", #"{"query":"a"}"#)], scope: "messages") == ["a"])
        #expect(try searches([("forgotten", #"{"query":"a"}"#), ("remembered", #"{"query":"a"}"#)]) == ["a"])
    }

    @Test("Of a user the newest 1,000 are told")
    func most() throws {
        let found = try searches((0..<1_100).map { ("remembered", #"{"query":"q\#($0)"}"#) })
        #expect(found.count == 1_000 && found.first == "q1099")
    }

    @Test("Both members of a pair make the same conversation, and no other pair does (docs/reference/FORMATS.md)")
    func direct() {
        let one = DirectConversation("u1", "u2")
        #expect(one == DirectConversation("u2", "u1") && one.users == ["u1", "u2"])
        // Made with Python: base32(sha256("sillok-direct-v1\0u1\0u2"))[:26].
        #expect(one.id == "dm-pfq3nbpckaz565fwfizerr2l4a")
        #expect(DirectConversation("민수", "kim").id == "dm-a7d5fomzdtvk2y5ypm6j4dsk25")
        #expect(one.id != DirectConversation("u", "1u2").id && one.id != DirectConversation("u1", "u3").id)
    }
}
