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
        for (place, entry) in boxes.prefix(Int(clamping: claimed)).enumerated() {
            let index = try reader.parse(entry, prefix: 8) { reader throws(MediaError) in
                try reader.skip(6)
                return try reader.uint16()
            }
            guard let index else { continue }
            var value = SampleEntry(format: entry.type, dataReferenceIndex: index)
            var children: [Box] = []
            switch handler {
            case "vide", "auxv", "pict":
                value.visual = try VisualSampleEntry(entry, children: &children, reader: &reader)
            case "soun": value.sound = try SoundSampleEntry(entry, children: &children, reader: &reader)
            case "tmcd" where entry.type == "tmcd": value.timecode = try TimecodeSampleEntry(entry, reader: &reader)
            default: break
            }
            value.bitRates = try reader.parse(children.first { $0.type == "btrt" }, prefix: 12, BitRates.init)
            if place > 0, let box = children.first(where: { configurations.contains($0.type) }) {
                value.configuration = try reader.parse(box) { Array($0.takeRest()) } ?? []
            }
            entries.append(value)
        }
        return entries
    }

    /// The boxes that hold a codec's header as libavformat passes it on.
    private static let configurations: Set<FourCC> = ["avcC", "hvcC", "vvcC", "av1C"]
}

extension BitRates {
    /// Reads a `btrt` payload.
    init(_ reader: inout BigEndianReader) throws(MediaError) {
        try reader.skip(4)
        maximum = try reader.uint32()
        average = try reader.uint32()
    }
}

extension SoundSampleEntry {
    /// Reads a sound sample entry of any version and lists the boxes in it; `nil` where its fields are damaged.
    init?(_ entry: Box, children: inout [Box], reader: inout BoxReader) throws(MediaError) {
        var childrenStart: UInt64 = 28
        let fields = try reader.parse(entry, prefix: 64) { reader throws(MediaError) in
            try reader.skip(8)
            let version = try reader.uint16()
            try reader.skip(6)
            let channels = UInt32(try reader.uint16())
            let bits = UInt32(try reader.uint16())
            let isQuickTime = try reader.int16() < 0
            try reader.skip(2)
            let rate = try reader.uint32() >> 16
            switch version {
            // ISO files may say version 1 without its fields; QuickTime's codecs then have -2 above.
            case 1 where isQuickTime || entry.payloadSize < 44 + 8: childrenStart = isQuickTime ? 44 : 28
            case 1: childrenStart = 44
            case 2:
                childrenStart = 64
                try reader.skip(4)
                let exact = Double(bitPattern: try reader.uint64())
                let channels = try reader.uint32()
                try reader.skip(4)
                return SoundSampleEntry(
                    channels: channels, bitsPerSample: try reader.uint32(), sampleRate: UInt32(exactly: exact) ?? 0)
            default: break
            }
            return SoundSampleEntry(channels: channels, bitsPerSample: bits, sampleRate: rate)
        }
        guard let fields else { return nil }
        self = fields
        children = try reader.boxes(in: entry.payload.dropping(childrenStart))
        speakers = try reader.parse(children.first { $0.type == "chan" }, prefix: 4096, SpeakerLayout.init)
    }
}

extension VisualSampleEntry {
    /// Reads a visual sample entry and lists the boxes in it; `nil` where its fields are damaged.
    init?(_ entry: Box, children: inout [Box], reader: inout BoxReader) throws(MediaError) {
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
        children = try reader.boxes(in: entry.payload.dropping(childrenStart))
        for box in children {
            switch box.type {
            case "pasp" where pixelAspect == nil: pixelAspect = try reader.parse(box, PixelAspect.init)
            case "clap" where cleanAperture == nil: cleanAperture = try reader.parse(box, CleanApertureFields.init)
            case "gama" where gamma == nil:
                gamma = try reader.parse(box, prefix: 4) { reader throws(MediaError) in try reader.uint32() }
                if gamma == 0 { gamma = nil }
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
