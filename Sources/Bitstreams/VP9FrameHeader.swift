package import MediaBase

// The beginning of VP9's frames: VP9 Bitstream & Decoding Process Specification, 6.2.

extension SequenceInfo {
    /// Reads the uncompressed header of a key frame.
    ///
    /// - Throws: `damaged` for what is none.
    package init(vp9KeyFrame frame: [UInt8]) throws(MediaError) {
        self.init()
        var reader = BitReader(Array(frame.prefix(32)))
        let isFrame = try reader.bits(2) == 2
        let low = try reader.bits(1)
        let profile = Int(try reader.bits(1) << 1 | low)
        if profile == 3 { try reader.skip(1) }
        let isRepeated = try reader.flag()
        let isInter = try reader.flag()
        try reader.skip(2)
        guard isFrame, !isRepeated, !isInter, try reader.bits(24) == 0x498342 else {
            throw MediaError(.damaged, "is no key frame of VP9")
        }
        self.profile = profile
        bitDepth = profile < 2 ? 8 : try reader.flag() ? 12 : 10
        var color = CodePoints()
        let space = try reader.bits(3)
        if space == 7 {
            color.matrix = 0
            color.isFullRange = true
            chroma = .full
            if profile & 1 == 1 { try reader.skip(1) }
        } else {
            color.matrix = [1: 5, 2: 1, 3: 6, 4: 7, 5: 9][space] ?? 2
            color.isFullRange = try reader.flag()
            chroma = .quarter
            if profile & 1 == 1 {
                let isHalf = try reader.flag()
                let isDownHalf = try reader.flag()
                try reader.skip(1)
                // Half down but not across is 4:4:0, which has no name here.
                chroma = isHalf ? (isDownHalf ? .quarter : .half) : (isDownHalf ? nil : .full)
            }
        }
        self.color = color
        let width = Int(try reader.bits(16)) + 1
        size = Dimensions(width: width, height: Int(try reader.bits(16)) + 1)
    }
}
