package import MediaBase

/// The beginning of a frame of ProRes.
///
/// SMPTE RDD 36, 5.1.
package struct ProResFrameHeader: Hashable, Sendable {
    /// The picture.
    package var size: Dimensions
    /// How many chroma samples there are for luma samples: 4:2:2 or 4:4:4.
    package var chroma: SequenceInfo.Chroma
    /// Whole frames, or the order of fields.
    package var scan: SequenceInfo.Scan
    /// The code points of primaries, transfer and matrix (ITU-T H.273); RDD 36 has limited range only.
    package var color: SequenceInfo.CodePoints
    /// Bits of an alpha sample, 8 or 16; `nil` without alpha.
    package var alphaBits: Int?

    /// Reads a frame's header.
    ///
    /// - Throws: `damaged` for what is none.
    package init(_ frame: [UInt8]) throws(MediaError) {
        var reader = BitReader(Array(frame.prefix(64)))
        try reader.skip(32)
        guard try reader.bits(32) == 0x6963_7066 else { throw MediaError(.damaged, "is not a frame of ProRes") }
        // Its length, a reserved byte, the version, the encoder.
        try reader.skip(16 + 8 + 8 + 32)
        let width = Int(try reader.bits(16))
        size = Dimensions(width: width, height: Int(try reader.bits(16)))
        guard let chroma: SequenceInfo.Chroma = [2: .half, 3: .full][try reader.bits(2)] else {
            throw MediaError(.damaged, "has an impossible chroma format")
        }
        self.chroma = chroma
        try reader.skip(2)
        scan = [1: .topFieldFirst, 2: .bottomFieldFirst][try reader.bits(2)] ?? .progressive
        try reader.skip(2)
        // The shape of the picture and its rate, which containers say better.
        try reader.skip(8)
        color = SequenceInfo.CodePoints(isFullRange: false)
        try color.read(&reader)
        // 0 says no more than 2.
        if color.primaries == 0 { color.primaries = 2 }
        if color.transfer == 0 { color.transfer = 2 }
        if color.matrix == 0 { color.matrix = 2 }
        try reader.skip(4)
        alphaBits = [1: 8, 2: 16][try reader.bits(4)]
    }
}
