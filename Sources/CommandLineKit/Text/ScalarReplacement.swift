extension String {
    /// The text with another in the position of each such scalar.
    ///
    /// `replacing(_:with:)` of the standard library compares characters: a quotation mark with a combining mark behind it is another one
    /// for it, and none for the program that reads what is written.
    package func replacing(scalar: Unicode.Scalar, with text: String) -> String {
        guard unicodeScalars.contains(scalar) else { return self }
        var out = String.UnicodeScalarView()
        for one in unicodeScalars {
            if one == scalar { out.append(contentsOf: text.unicodeScalars) } else { out.append(one) }
        }
        return String(out)
    }
}
