internal import Glibc

/// Invented words: three of five are Korean, a stem with a particle; the others have Latin letters.
enum Vocabulary {
    static let digits = Array("0123456789abcdef".utf8)
    private static let syllables = Array("가나다라마바사아자하고노도로모보소오조호구누두루무부수우주후기니디리미비시이지히")
    private static let particles = ["", "은", "이", "을", "에", "도", "만", "에서", "으로", "까지"]
    private static let consonants = Array("bcdfgklmnprstv")
    private static let vowels = Array("aeiou")

    /// 2,000 words, the frequent ones first.
    static func make() -> [[UInt8]] {
        var random = SplitMix(state: 2_000)
        func pick<Element>(_ elements: [Element]) -> Element { elements[Int(random.below(UInt64(elements.count)))] }
        return (0..<2_000).map { rank in
            var word = ""
            if rank % 5 < 3 {
                for _ in 0..<2 { word.append(pick(syllables)) }
                word += pick(particles)
            } else {
                for _ in 0..<(1 + Int(random.below(3))) { word += "\(pick(consonants))\(pick(vowels))" }
            }
            return Array(word.utf8)
        }
    }
}

/// Words by Zipf's law: the word of rank r is drawn with a probability in proportion to 1/r.
struct Zipf {
    private let words: [[UInt8]]
    private var sums: [Double] = []

    init(words: [[UInt8]]) {
        self.words = words
        var sum = 0.0
        for rank in words.indices {
            sum += 1 / Double(rank + 1)
            sums.append(sum)
        }
    }

    /// Appends words with blanks between them until there are `bytes` of them.
    func append(bytes: Int, to text: inout [UInt8], _ random: inout SplitMix) {
        let start = text.count
        while text.count - start < bytes {
            if text.count > start { text.append(UInt8(ascii: " ")) }
            text.append(contentsOf: words[draw(&random)])
        }
    }

    private func draw(_ random: inout SplitMix) -> Int {
        let wanted = Double(random.next() >> 11) / Double(1 << 53) * (sums.last ?? 1)
        var (low, high) = (0, sums.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if sums[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
