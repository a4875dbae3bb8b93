import Testing

@testable import EventStore

struct JSONObjectTests {
    private let object = JSONObject(
        validated: Array(
            #"""
             {"text":"어제부터\n\"두통\"이 \ud83e\udd15","title":null,"participants":["u-1", "나", 7 ,[]],"rating":-5,
              "fields":{"name":"김\uc218","address":{"city":"서울"}},"big":9223372036854775808,"min":-9223372036854775808,
              "float":1.50e2,"yes":true,"no":false,"empty":[ ],"nothing":{ },"\u006b\u0065y":"escaped","zero":0}
            """#.utf8))

    @Test func getters() throws {
        try JSONScanner.validateObject(object.bytes)
        #expect(object.string("text") == "어제부터\n\"두통\"이 🤕")
        #expect(object["title"]?.isNull == true)
        #expect(object.string("title") == nil)
        #expect(object.strings("participants") == ["u-1", "나"])
        #expect(object.elements("participants")?.count == 4)
        #expect(object.elements("empty")?.isEmpty == true)
        #expect(object.integer("rating") == -5)
        #expect(object.integer("zero") == 0)
        #expect(object.integer("big") == nil)
        #expect(object["big"]?.numberText == "9223372036854775808")
        #expect(object.integer("min") == .min)
        #expect(object.integer("float") == nil)
        #expect(object["float"]?.double == 150)
        #expect(object.bool("yes") == true)
        #expect(object.bool("no") == false)
        #expect(object.bool("rating") == nil)
        #expect(object.string("key") == "escaped")
        #expect(object["missing"] == nil)
        #expect(object.raw("empty").map(Array.init) == Array("[ ]".utf8))
        #expect(object.object("nothing")?.map(\.name) == [])
    }

    @Test func paths() {
        #expect(object.value(path: "fields.name")?.string == "김수")
        #expect(object.value(path: "fields.address.city")?.string == "서울")
        #expect(object.value(path: "fields.address.street") == nil)
        #expect(object.value(path: "text.length") == nil)
        #expect(object.value(path: "rating")?.integer == -5)
    }

    @Test func members() throws {
        let fields = try #require(object.object("fields"))
        #expect(fields.map(\.name) == ["name", "address"])
        #expect(fields.map(\.value.kind) == [.string, .object])
        #expect(object.map(\.name).count == 14)
    }

    @Test func namesAreComparedByteByByte() {
        let composed = JSONObject(validated: Array("{\"\u{ac00}\":1}".utf8))
        #expect(composed.integer("\u{ac00}") == 1)
        #expect(composed["\u{1100}\u{1161}"] == nil)
    }

    @Test(
        arguments: [
            (#"\ud800"#, "\u{fffd}"), (#"\udc00x"#, "\u{fffd}x"), (#"\ud800\ud800"#, "\u{fffd}\u{fffd}"),
            (#"\ud83e\udd15"#, "🤕"), (#"\ud800\n"#, "\u{fffd}\n"), (#"\ud83e\u0041"#, "\u{fffd}A"),
            (#"\/\b\f\r\t\\"#, "/\u{8}\u{c}\r\t\\"), (#"\u0000\uFFFF"#, "\u{0}\u{ffff}"),
        ])
    func escapes(written: String, read: String) throws {
        let object = try JSONObject(validating: Array(#"{"s":"\#(written)"}"#.utf8))
        #expect(object.string("s").map { Array($0.utf8) } == Array(read.utf8))
    }

    @Test func writesOnlyTheNecessaryEscapes() {
        var out: [UInt8] = []
        JSONText.append("가\u{2028}\u{2029}/\u{7f}🤕\"\\\u{0}\u{1f}\u{8}\t\n\u{c}\r", to: &out)
        let expected = "\"가\u{2028}\u{2029}/\u{7f}🤕" + #"\"\\\u0000\u001f\b\t\n\f\r""#
        #expect(out == Array(expected.utf8))
    }

    @Test func bytesThatWereNotValidatedDoNoHarm() {
        for text in [
            "", "{", "[]", #"{"a""#, #"{"a":"#, #"{"a":""#, #"{"a":[1,"#, "{\"a\":\"\u{1}", "\"", "nonsense",
        ] {
            let object = JSONObject(validated: Array(text.utf8))
            #expect(object["a"] == nil)
            #expect(object.map(\.name).isEmpty)
        }
    }
}
