extension Bitmap {
    /// The luma of each pixel by ITU-R BT.709's weights, 0…255 and rounded, rows from the top; alpha plays no part.
    package func luma() -> [UInt8] {
        let pixels = bytes.span
        var luma = [UInt8](repeating: 0, count: width * height)
        for index in luma.indices {
            let start = index &* 4
            let (red, green, blue) = (Int(pixels[start]), Int(pixels[start &+ 1]), Int(pixels[start &+ 2]))
            luma[index] = UInt8(truncatingIfNeeded: (54 &* red &+ 183 &* green &+ 19 &* blue &+ 128) >> 8)
        }
        return luma
    }
}
