import CommandLineKit
import GatewayKit
import Testing

/// S3-10: the checker of the data file names the wrong row, and why it is wrong (docs/operating/gateway.md).
struct TransitFileTests {
    /// Lines 3 to 5 have the stations.
    private static let right = """
        { city: [[0, "가"]],
          line: [[0, 1, "1호선"]],
          station: [[0, 1, 0, "a", -1],
            [0, 1, 1, "b", 0],
            [0, 1, 2, "c", 4]] }
        """

    private func mistakes(_ text: String) -> [String] {
        do throws(TransitFile.Mistakes) {
            _ = try TransitFile.read(text)
            return []
        } catch { return error.first.map { "\($0.position.line): \($0.message)" } }
    }

    @Test("A right file is read as it is written")
    func reads() throws {
        let transit = try TransitFile.read(Self.right)
        #expect(transit.cities.count == 1 && transit.lineCount == 1 && transit.stationCount == 3)
        #expect(transit.cities[0].lines[0].stations.map(\.minutes) == [-1, 0, 4])
    }

    @Test(
        "Each mistake is told with its line and its reason",
        arguments: [
            (#"[0, 1, 1, "b", 0]"#, #"[0, 1, 2, "b", 0]"#, "4: station: 'b' has the sid 2, and 1 comes next"),
            (#"[0, 1, 1, "b", 0]"#, #"[0, 1, 1, "b", 5]"#, "5: station: 'c' has the time 4, before 5 of 'b'"),
            (#"[0, 1, 1, "b", 0]"#, #"[0, 1, 1, "a", 0]"#, "4: station: 'a' is there already in this line"),
            (#"[0, 1, 1, "b", 0]"#, #"[0, 2, 1, "b", 0]"#, "4: station: there is no line 2 in the city 0"),
            (#"[0, 1, 1, "b", 0]"#, #"[0, 1, 1, "b"]"#, "4: station: a row is [cid, lid, sid, sname, time]"),
            (
                #"[0, 1, 1, "b", 0]"#, #"[0, 1, 1, "b", 0.5]"#,
                "4: station: time is a whole number from -100000 to 100000"
            ),
            (
                #"[0, 1, 1, "b", 0]"#, #"[0, 1, 1, "b", 1e300]"#,
                "4: station: time is a whole number from -100000 to 100000"
            ),
            (#"[0, 1, 1, "b", 0]"#, #"[0, 1, 1, 7, 0]"#, "4: station: sname is a name"),
            (#"[0, 1, 1, "b", 0]"#, #"[0, 1, "1", "b", 0]"#, "4: station: sid is a number"),
            (#"[[0, 1, "1호선"]]"#, #"[[0, 1, "1호선"], [0, 1, "2호선"]]"#, "2: line: the lid 1 is there already"),
            (#"[[0, 1, "1호선"]]"#, #"[[0, 1, "1호선"], [3, 1, "2호선"]]"#, "2: line: there is no city with the cid 3"),
            (
                #"[[0, 1, "1호선"]]"#, #"[[0, 1, "1호선"], [0, 2, "2호선"]]"#,
                "2: line: '2호선' has 0 stations; 2 to 400 are right"
            ),
            (#"[[0, "가"]]"#, #"[[0, "가"], [0, "나"]]"#, "1: city: the cid 0 is there already"),
            (#"[[0, "가"]]"#, #"[[0, "가"], [1, "가"]]"#, "1: city: '가' is there already"),
            (#"city: [[0, "가"]],"#, "", "1: the table 'city' is missing"),
            (#"city: [[0, "가"]],"#, "city: 7,", "1: city: a list of rows, not a number"),
            (
                #"city: [[0, "가"]],"#, #"city: [[0, "가"]], stop: [],"#,
                "1: there is no table 'stop'; there are city, line and station"
            ),
            (#"city: [[0, "가"]],"#, #"version: 2, city: [[0, "가"]],"#, "1: version: this program reads version 1"),
            (Self.right, "[]", "1: the file is an object with the tables city, line and station, not an array"),
        ])
    func tells(_ part: String, _ wrong: String, _ expected: String) {
        let text = Self.right.replacing(part, with: wrong)
        #expect(text != Self.right)
        #expect(mistakes(text).contains(expected), "\(mistakes(text))")
    }

    @Test("A name that the protocol could not send is none")
    func names() {
        for name in ["", "a@b", "a;b", " a", "a ", "a\u{1}", String(repeating: "가", count: 21)] {
            var line = JSONLine()
            line.add("x", name)
            let quoted = String(line.text.dropFirst(5).dropLast())
            let found = mistakes(Self.right.replacing(#""b""#, with: quoted))
            #expect(
                found.contains { $0.hasPrefix("4: station: sname ") && $0.contains("is no name") },
                "\(name): \(found)")
        }
    }

    @Test("All mistakes are counted, and the first fifty are told")
    func many() {
        let rows = (0..<80).map { "[0, 1, \($0 + 5), \"s\($0)\", 0]" }.joined(separator: ",\n")
        do throws(TransitFile.Mistakes) {
            _ = try TransitFile.read("{ city: [[0, \"가\"]], line: [[0, 1, \"l\"]], station: [\(rows)] }")
            Issue.record("it was taken")
        } catch {
            #expect(error.count == 80 && error.first.count == TransitFile.mostTold)
        }
    }

    @Test("What is no JSON5 is told with its place")
    func syntax() { #expect(mistakes("{ city: [[0, \"가\"]\n").count == 1) }
}
