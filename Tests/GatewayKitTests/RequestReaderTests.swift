import GatewayKit
import Testing

/// How bytes become requests (docs/reference/GATEWAY.md).
struct RequestReaderTests {
    private func pieces(_ chunks: [[UInt8]]) -> [RequestReader.Piece] {
        var reader = RequestReader()
        var found: [RequestReader.Piece] = []
        for chunk in chunks {
            reader.append(chunk)
            while let piece = reader.next() { found.append(piece) }
        }
        return found
    }

    private func requests(_ texts: String...) -> [RequestReader.Piece] { texts.map { .request(Array($0.utf8)) } }

    @Test("S3-6: single bytes, whole segments and characters cut in the middle make the same requests")
    func cuts() {
        let bytes = Array("1@대구;3@대구@1호선@설화명곡@안심;".utf8)
        let whole = requests("1@대구", "3@대구@1호선@설화명곡@안심")
        #expect(pieces([bytes]) == whole)
        #expect(pieces(bytes.map { [$0] }) == whole)
        for cut in 0...bytes.count {
            #expect(pieces([Array(bytes[..<cut]), Array(bytes[cut...])]) == whole, "\(cut)")
        }
    }

    @Test("S3-6: blanks and line ends after ';' begin no request")
    func lineEnds() {
        #expect(pieces([Array("1@대구;\r\n 2@대구@1호선;\n".utf8)]) == requests("1@대구", "2@대구@1호선"))
        #expect(pieces([Array(";;".utf8)]) == requests("", ""))
    }

    @Test("S3-21: 1,024 bytes are a request, one more is none, and nothing after it is read")
    func tooLong() {
        let longest = [UInt8](repeating: UInt8(ascii: "a"), count: RequestReader.longest)
        #expect(pieces([longest + Array(";1@b;".utf8)]) == [.request(longest)] + requests("1@b"))
        #expect(
            pieces([Array("1@b;".utf8), longest + Array("a;1@b;".utf8), Array("1@c;".utf8)]) == requests("1@b") + [
                .tooLong
            ])
        var reader = RequestReader()
        reader.append(longest + [0x61])
        #expect(!reader.wantsMore)
        // Blanks before a request are none of its bytes.
        #expect(pieces([[UInt8](repeating: 0x20, count: 5_000) + Array("1@b;".utf8)]) == requests("1@b"))
    }

    @Test("INV-9: sixteen requests wait, and then no more is wanted until one is taken")
    func waiting() {
        var reader = RequestReader()
        for count in 1...RequestReader.mostWaiting {
            #expect(reader.wantsMore)
            reader.append(Array("1@대구;".utf8))
            #expect(reader.wantsMore == (count < RequestReader.mostWaiting))
        }
        #expect(reader.next() != nil)
        #expect(reader.wantsMore)
        reader.append(Array("1@부".utf8))
        #expect(reader.isInRequest)
        for _ in 1..<RequestReader.mostWaiting { #expect(reader.next() == .request(Array("1@대구".utf8))) }
        #expect(reader.next() == nil)
    }
}
