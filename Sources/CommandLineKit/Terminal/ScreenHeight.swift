/// How many lines of a screen some text takes.
enum ScreenHeight {
    /// Counts to `most` and no further.
    static func of(_ text: [UInt8], columns: Int, atMost most: Int) -> Int {
        var height = 0
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
            height += line.count <= columns ? 1 : max(1, (width(line) + columns - 1) / columns)
            if height >= most { return most }
        }
        return height
    }

    /// Without the sequences that colour it.
    private static func width(_ line: ArraySlice<UInt8>) -> Int {
        var plain: [UInt8] = []
        var isEscape = false
        for byte in line {
            if byte == 0x1B { isEscape = true }
            if !isEscape { plain.append(byte) }
            if isEscape, byte == UInt8(ascii: "m") { isEscape = false }
        }
        return DisplayWidth.of(String(decoding: plain, as: UTF8.self))
    }
}
