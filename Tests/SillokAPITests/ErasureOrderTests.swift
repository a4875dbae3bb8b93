import EventStore
import SillokAPI
import Testing

/// What cannot be taken back is not guessed at (docs/operating/api.md).
struct ErasureOrderTests {
    private func order(_ members: String) throws -> ErasureOrder {
        let text = #"{"user":"u-1","reason":"요청 88","who":"kim"\#(members)}"#
        return try ErasureOrder(JSONObject(validating: Array(text.utf8)))
    }

    @Test(
        "A member of another form or name is refused",
        arguments: [
            #""dry_run":"yes""#, #""dry_run":1"#, #""dry_run":null"#, #""dryRun":true"#, #""plan":7"#,
            #""plan":null"#,
            #""authored":"no""#, #""replies":0"#, #""conversation":"c-1""#, #""x":{}"#,
        ])
    func refused(member: String) {
        #expect(throws: OrderProblem.self) { try order("," + member) }
    }

    @Test("What the document names is taken")
    func taken() throws {
        let order = try order(#","dry_run":true,"authored":false,"replies":true,"plan":"0123456789abcdef""#)
        #expect(order.target == .user("u-1") && order.authored == false && order.replies == true)
        #expect(order.plan == "0123456789abcdef")
    }
}
