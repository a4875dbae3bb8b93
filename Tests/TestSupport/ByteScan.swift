import Foundation

/// Looks for texts in the raw bytes of all files of folders.
public enum ByteScan {
    /// What of words that end in a long number is the same in a payload and in an index of words, which leaves out what a word has in
    /// common with the one before it.
    public static func traces(_ words: [String]) -> [String] { words.map { String($0.suffix(12)) } }

    /// `<text> in <file>` for each text that is found in a file, ascending.
    public static func find(_ texts: [String], in folders: [String]) -> [String] {
        var found: [String] = []
        for folder in folders {
            guard let walker = FileManager.default.enumerator(atPath: folder) else { continue }
            for case let name as String in walker {
                let path = folder + "/" + name
                guard let bytes = try? Data(contentsOf: URL(filePath: path), options: .mappedIfSafe) else { continue }
                for text in texts where bytes.range(of: Data(text.utf8)) != nil { found.append("\(text) in \(path)") }
            }
        }
        return found.sorted()
    }
}
