import Foundation

/// Looks for texts in the raw bytes of all files of folders.
public enum ByteScan {
    /// What of words that end in a long number is the same in a payload and in an index of words, which leaves out what a word has in
    /// common with the one before it.
    public static func traces(_ words: [String]) -> [String] { words.map { String($0.suffix(12)) } }

    /// `<text> in <file>` for each text that is found in a file, ascending.
    public static func find(_ texts: [String], in folders: [String]) -> [String] {
        let patterns = Patterns(texts)
        var found: [String] = []
        for folder in folders {
            guard let walker = FileManager.default.enumerator(atPath: folder) else { continue }
            for case let name as String in walker {
                let path = folder + "/" + name
                guard let bytes = try? Data(contentsOf: URL(filePath: path), options: .mappedIfSafe) else { continue }
                found += patterns.found(in: bytes).map { "\($0) in \(path)" }
            }
        }
        return found.sorted()
    }

    /// Many texts that are looked for in one pass: thousands of passes over a store take minutes.
    private struct Patterns {
        /// So many bytes of a text are looked up.
        private static let head = 12

        /// Which two bytes a text begins with.
        private var begins = [Bool](repeating: false, count: 1 << 16)
        /// By their first bytes.
        private var byHead: [[UInt8]: [String]] = [:]
        /// Texts that are shorter.
        private var short: [String] = []

        init(_ texts: [String]) {
            for text in Set(texts) {
                let head = Array(text.utf8.prefix(Self.head))
                guard head.count == Self.head else {
                    short.append(text)
                    continue
                }
                begins[Int(head[0]) << 8 | Int(head[1])] = true
                byHead[head, default: []].append(text)
            }
        }

        func found(in data: Data) -> Set<String> {
            var found = Set(short.filter { data.range(of: Data($0.utf8)) != nil })
            data.withUnsafeBytes { bytes in
                begins.withUnsafeBufferPointer { begins in
                    var begin = 0
                    for (index, byte) in bytes.enumerated() {
                        begin = (begin << 8 | Int(byte)) & 0xffff
                        guard index > 0, begins[begin] else { continue }
                        let rest = UnsafeRawBufferPointer(rebasing: bytes[(index - 1)...])
                        for text in byHead[Array(rest.prefix(Self.head))] ?? [] where rest.starts(with: text.utf8) {
                            found.insert(text)
                        }
                    }
                }
            }
            return found
        }
    }
}
