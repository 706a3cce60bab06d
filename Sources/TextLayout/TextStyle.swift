package import MediaBase

/// The look of a text.
package struct TextStyle: Sendable, Hashable {
    /// The font families in order of preference, in the form that CSS, SVG and Pango share.
    ///
    /// The Debian package depends on the first, so that text has the same shapes on most machines.
    package static let families = "DejaVu Sans, sans-serif"

    /// The sizes that ``size`` is clamped to.
    package static let sizes = 1.0...1024.0
    /// The maximum width of a text in pixels, which Cairo's coordinates allow.
    package static let maximumWidth = 32_000

    /// The size of the font (its em) in pixels; digits are about 0.73 as high.
    package var size: Double
    /// The colour; emoji have their own.
    package var color: Color
    /// The width in pixels beyond which a line ends in an ellipsis.
    package var maximumWidth = Self.maximumWidth

    /// Creates a style, without a limit to the width.
    package init(size: Double, color: Color) {
        self.size = size
        self.color = color
    }

    /// The size in the range that Pango can compute with; NaN counts as the smallest.
    var checkedSize: Double { size > Self.sizes.lowerBound ? min(size, Self.sizes.upperBound) : Self.sizes.lowerBound }

    /// The maximum width in the range that Cairo can compute with.
    var checkedWidth: Int { min(max(maximumWidth, 0), Self.maximumWidth) }
}

extension TextStyle {
    /// Returns a text in the form in which it is laid out.
    ///
    /// Long texts are cut, because Pango computes with 32-bit numbers and a name or a tag of a file may have any
    /// length. Control characters other than line feeds become U+FFFD, since fonts have no glyphs for them.
    func prepared(_ text: String) -> String {
        // The widest glyphs are about ten times as wide as the font is high.
        let limit = min(1000, Int(100_000 / checkedSize))
        var prepared = String.UnicodeScalarView()
        for (index, scalar) in text.unicodeScalars.enumerated() {
            if index == limit {
                prepared.append("…")
                break
            }
            let isControl = scalar.properties.generalCategory == .control && scalar != "\n"
            prepared.append(isControl || scalar == "\u{2028}" || scalar == "\u{2029}" ? "\u{FFFD}" : scalar)
        }
        return String(prepared)
    }
}

/// The characters for which no installed font has a glyph.
package enum MissingGlyphs {
    /// Returns a warning that names the characters, the first ten of them by code point.
    package static func warning(_ characters: some Collection<Unicode.Scalar>) -> String {
        let shown = characters.sorted().prefix(10).map(name).joined(separator: ", ")
        let rest = characters.count > 10 ? " and \(characters.count - 10) more characters" : ""
        return "no installed font has \(shown)\(rest); boxes are drawn instead. Install a font that has them: Debian's "
            + "fonts-droid-fallback, fonts-noto-core and fonts-noto-color-emoji cover nearly all"
    }

    /// Returns a character with its code point; by its code point alone if it is not visible by itself.
    private static func name(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let code = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber, .mathSymbol, .currencySymbol, .otherSymbol, .otherPunctuation:
            return "\(scalar) (\(code))"
        default: return code
        }
    }
}
