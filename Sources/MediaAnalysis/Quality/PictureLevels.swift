/// Which codes of a picture's luma mean what, by its depth and range (ITU-R BT.709 and BT.2100).
package struct PictureLevels: Sendable, Hashable {
    /// Bits a sample.
    package let depth: Int
    /// Whether all codes are used, 0 for black and the highest for white; otherwise 16 to 235 of 8 bits.
    package let isFullRange: Bool

    /// - Parameters:
    ///   - depth: Bits a sample, 8 to 16; others are clamped.
    ///   - isFullRange: Whether all codes are used.
    package init(depth: Int, isFullRange: Bool) {
        self.depth = min(max(depth, 8), 16)
        self.isFullRange = isFullRange
    }

    private var scale: Double { Double(1 << (depth - 8)) }

    /// The code of black.
    package var black: Double { isFullRange ? 0 : 16 * scale }
    /// How many codes lie between black and white.
    package var span: Double { isFullRange ? Double(1 << depth) - 1 : 219 * scale }

    /// The highest code of luma that is at most so great a part of the way from black to white.
    package func code(atMost part: Double) -> Int { Int(min(max((black + part * span).rounded(.down), 0), 65_535)) }

    /// The codes of luma that EBU R 103 allows: −1 % to 103 %; all where the range is full.
    package var legalLuma: ClosedRange<Int> {
        guard !isFullRange else { return 0...65_535 }
        return Int((black - 0.01 * span).rounded(.up))...Int((black + 1.03 * span).rounded(.down))
    }

    /// Whether EBU R 103 allows a colour: each of red, green and blue is −5 % to 105 % of the way from black to white.
    package static func isLegal(red: Double, green: Double, blue: Double) -> Bool {
        min(red, green, blue) >= -0.05 && max(red, green, blue) <= 1.05
    }
}
