import MediaBase

extension SampleEntry {
    /// Reads the entries of a `stsd` box.
    ///
    /// - Parameters:
    ///   - box: The `stsd` box.
    ///   - handler: The track's media type, which decides an entry's layout.
    ///   - reader: Where to read.
    static func list(
        _ box: Box?, handler: FourCC?, reader: inout BoxReader
    ) throws(MediaError) -> [SampleEntry] {
        let claimed = try reader.parse(box, prefix: 8) { reader throws(MediaError) in
            try reader.skip(4)
            return try reader.uint32()
        }
        guard let box, let claimed else { return [] }
        var entries: [SampleEntry] = []
        let boxes = try reader.boxes(in: box.payload.dropping(8))
        if UInt64(claimed) != UInt64(boxes.count) {
            reader.warn("box stsd at offset \(box.offset) claims \(claimed) entries and holds \(boxes.count)")
        }
        for entry in boxes.prefix(Int(clamping: claimed)) {
            let index = try reader.parse(entry, prefix: 8) { reader throws(MediaError) in
                try reader.skip(6)
                return try reader.uint16()
            }
            guard let index else { continue }
            var value = SampleEntry(format: entry.type, dataReferenceIndex: index)
            switch handler {
            case "vide", "auxv", "pict": value.visual = try VisualSampleEntry(entry, reader: &reader)
            case "tmcd" where entry.type == "tmcd": value.timecode = try TimecodeSampleEntry(entry, reader: &reader)
            default: break
            }
            entries.append(value)
        }
        return entries
    }
}

extension VisualSampleEntry {
    /// Reads a visual sample entry and the boxes in it; `nil` where its fields are damaged.
    init?(_ entry: Box, reader: inout BoxReader) throws(MediaError) {
        let fields = try reader.parse(entry, prefix: 86) { reader throws(MediaError) in
            try reader.skip(24)
            let size = (try reader.uint16(), try reader.uint16())
            try reader.skip(46)
            let depth = try reader.uint16()
            let hasTable = try reader.uint16() == 0 && [1, 2, 4, 8].contains(depth & 0x1F)
            return (size, childrenStart: hasTable ? try Self.endOfColorTable(&reader) : 78)
        }
        guard let ((width, height), childrenStart) = fields else { return nil }
        self.init(width: width, height: height)
        for box in try reader.boxes(in: entry.payload.dropping(childrenStart)) {
            switch box.type {
            case "pasp" where pixelAspect == nil: pixelAspect = try reader.parse(box, PixelAspect.init)
            case "clap" where cleanAperture == nil: cleanAperture = try reader.parse(box, CleanApertureFields.init)
            case "fiel" where self.fields == nil: self.fields = try reader.parse(box, FieldHandling.init)
            case "colr":
                let size = box.payloadSize
                let color = try reader.parse(box, prefix: 11) { reader throws(MediaError) in
                    try ColorParameters(&reader, payloadSize: size)
                }
                if let color { colors.append(color) }
            default: break
            }
        }
    }

    /// Where the children begin when QuickTime's colour table lies before them: after its seed, flags and entries.
    private static func endOfColorTable(_ reader: inout BigEndianReader) throws(MediaError) -> UInt64 {
        try reader.skip(6)
        return 78 + 8 + (UInt64(try reader.uint16()) + 1) * 8
    }
}

extension PixelAspect {
    /// Reads a `pasp` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        horizontalSpacing = try reader.uint32()
        verticalSpacing = try reader.uint32()
    }
}

extension CleanApertureFields {
    /// Reads a `clap` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        widthN = try reader.int32()
        widthD = try reader.int32()
        heightN = try reader.int32()
        heightD = try reader.int32()
        horizontalOffsetN = try reader.int32()
        horizontalOffsetD = try reader.int32()
        verticalOffsetN = try reader.int32()
        verticalOffsetD = try reader.int32()
    }
}

extension ColorParameters {
    /// Reads the beginning of a `colr` payload.
    init(_ reader: inout BigEndianReader, payloadSize: UInt64) throws(MediaError) {
        let type = try reader.fourCC()
        switch type {
        case "nclx":
            self = .nclx(
                primaries: try reader.uint16(), transfer: try reader.uint16(), matrix: try reader.uint16(),
                isFullRange: reader.next.map { $0 & 0x80 != 0 })
        case "nclc":
            self = .nclc(
                primaries: try reader.uint16(), transfer: try reader.uint16(), matrix: try reader.uint16())
        default:
            self = .other(type: type, size: payloadSize - min(payloadSize, 4))
        }
    }
}

extension FieldHandling {
    /// Reads a `fiel` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        count = try reader.uint8()
        // The second byte is missing in some progressive files, and says nothing there.
        detail = reader.remaining > 0 ? try reader.uint8() : 0
    }
}

extension TimecodeSampleEntry {
    /// Reads a timecode sample entry and the source's name in it; `nil` where its fields are damaged.
    init?(_ entry: Box, reader: inout BoxReader) throws(MediaError) {
        let fields = try reader.parse(entry, prefix: 25) { reader throws(MediaError) in
            try reader.skip(12)
            return TimecodeSampleEntry(
                flags: try reader.uint32(), timescale: try reader.uint32(), frameDuration: try reader.uint32(),
                numberOfFrames: try reader.uint8())
        }
        guard let fields else { return nil }
        self = fields
        let name = try reader.boxes(in: entry.payload.dropping(26)).first { $0.type == "name" }
        sourceName = try reader.parse(name, UserText.international) ?? nil
    }
}

extension Range<UInt64> {
    /// The range without its first `count` bytes; empty where it is shorter.
    func dropping(_ count: UInt64) -> Range<UInt64> {
        lowerBound + Swift.min(count, upperBound - lowerBound)..<upperBound
    }
}
