/// What a character is to the search.
enum CharacterClass {
    /// One of a script that is written without spaces, or whose parts people look for: a token by itself. Symbols and emoji, too.
    case single
    /// A letter of a script whose words are tokens.
    case letter
    case digit
    /// Belongs to what stands before it.
    case mark
    /// Shows nothing and parts nothing.
    case ignored
    /// Parts words.
    case separator

    init(_ scalar: UInt32) {
        switch scalar {
        case 0x61...0x7a, 0x41...0x5a: self = .letter
        case 0x30...0x39: self = .digit
        case 0..<0x80: self = .separator
        case 0xac00...0xd7a3, 0x4e00...0x9fff: self = .single
        default: self = Self.ofOther(scalar)
        }
    }

    /// Hangul and its letters, Han, Kana, Thai, Lao, Myanmar, Khmer.
    private static let singles: [ClosedRange<UInt32>] = [
        0x0e01...0x0e2e, 0x0e30...0x0e30, 0x0e32...0x0e33, 0x0e40...0x0e46, 0x0e81...0x0eae, 0x0eb0...0x0eb0,
        0x0eb2...0x0eb3, 0x0ebd...0x0ec6, 0x1000...0x102a, 0x1100...0x11ff, 0x1780...0x17b3, 0x3005...0x3007,
        0x3041...0x3096, 0x309d...0x309f, 0x30a1...0x30fa, 0x30fc...0x30ff, 0x3105...0x312f, 0x3131...0x318e,
        0x31f0...0x31ff, 0x3400...0x4dbf, 0xa960...0xa97f, 0xd7b0...0xd7ff, 0xf900...0xfaff, 0xff66...0xffdc,
        0x1b000...0x1b16f, 0x20000...0x3ffff,
    ]

    private static func ofOther(_ scalar: UInt32) -> CharacterClass {
        // A space that Hangul computers write for a missing letter.
        if scalar == 0x3164 || scalar == 0xffa0 { return .separator }
        if singles.contains(where: { $0.contains(scalar) }) { return .single }
        guard let properties = Unicode.Scalar(scalar)?.properties else { return .separator }
        if properties.isDefaultIgnorableCodePoint { return .ignored }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: return .letter
        case .decimalNumber: return .digit
        case .letterNumber, .otherNumber, .otherSymbol: return .single
        case .nonspacingMark, .spacingMark, .enclosingMark: return .mark
        // Skin tones.
        case .modifierSymbol: return properties.isEmoji ? .single : .separator
        case .privateUse, .unassigned: return .single
        default: return .separator
        }
    }
}

/// Upper and lower case made one: what is equal in both is equal here.
enum CaseFold {
    /// The characters that `scalar` becomes; `nil`: it stays.
    static func folded(_ scalar: UInt32) -> [UInt32]? {
        if scalar < 0x80 { return (0x41...0x5a).contains(scalar) ? [scalar + 0x20] : nil }
        // Neither Hangul nor Han nor anything between has case.
        if (0x2e80...0xa63f).contains(scalar) || (0xac00...0xfaff).contains(scalar) { return nil }
        guard let properties = Unicode.Scalar(scalar)?.properties,
            properties.isCased || properties.changesWhenCaseMapped
        else { return nil }
        // Through capitals: some letters have two small forms, as the two sigmas of Greek.
        let lower = properties.uppercaseMapping.unicodeScalars.flatMap {
            $0.properties.lowercaseMapping.unicodeScalars
        }
        return lower.map(\.value)
    }
}
