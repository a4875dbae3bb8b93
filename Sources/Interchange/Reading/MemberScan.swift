/// Names of members in JSON that may be cut off.
enum MemberScan {
    static func names(_ head: ArraySlice<UInt8>) -> Set<String> {
        var names: Set<String> = []
        var rest = head
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\"") else { continue }
            var text: [UInt8] = []
            while let inner = rest.popFirst(), inner != UInt8(ascii: "\"") {
                text.append(inner)
                if inner == UInt8(ascii: "\\"), let escaped = rest.popFirst() { text.append(escaped) }
            }
            rest = rest.drop { $0 == 0x20 || $0 == 0x0a || $0 == 0x0d || $0 == 0x09 }
            if rest.first == UInt8(ascii: ":"), text.count < 64, names.count < 10_000 {
                names.insert(String(decoding: text, as: UTF8.self))
            }
        }
        return names
    }
}

extension ExportFiles {
    /// Most files of a folder or an archive that are looked into.
    static let mostLookedInto = 1_000

    /// The JSON files of a folder or an archive whose members are known by their names; a single file itself.
    func json(_ isKnown: (Set<String>) -> Bool) throws(ImportError) -> [String] {
        if isFile { return names }
        var found: [String] = []
        for name in names.lazy.filter({ Self.ends($0, ".json") }).prefix(Self.mostLookedInto)
        where isKnown(MemberScan.names(try head(name)[...])) {
            found.append(name)
        }
        return found
    }
}
