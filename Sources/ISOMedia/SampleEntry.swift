package import MediaBase

/// How a track's samples are coded: one entry of its sample description.
///
/// ISO/IEC 14496-12, 8.5.2 (stsd).
package struct SampleEntry: Hashable, Sendable {
    /// The format, such as `avc1`, `mp4a` or `tmcd`.
    package var format: FourCC

    /// Which entry of the data references (from 1) says where the samples lie.
    package var dataReferenceIndex: UInt16

    /// What a picture's entry says; `nil` for other media.
    package var visual: VisualSampleEntry?

    /// What a sound's entry says; `nil` for other media.
    package var sound: SoundSampleEntry?

    /// What a timecode's entry says; `nil` for other media.
    package var timecode: TimecodeSampleEntry?

    /// How large the samples may be and how many bits a second they take (`btrt`); `nil` where nothing is written.
    package var bitRates: BitRates?

    /// The codec's header (`avcC`, `hvcC`, `av1C`…), kept for all entries but the first, which libavformat reads.
    package var configuration: [UInt8] = []
}

/// The rates of a track's samples.
///
/// ISO/IEC 14496-12, 8.5.2.2 (btrt). The raw numbers; 0 where a writer did not know.
package struct BitRates: Hashable, Sendable {
    /// The highest in any second, in bits.
    package var maximum: UInt32

    /// The average, in bits a second.
    package var average: UInt32
}

/// The layout of sound in a sample entry.
///
/// ISO/IEC 14496-12, 12.2.3; QuickTime File Format, "Sound Sample Descriptions". The raw numbers; QuickTime's entries
/// often have placeholders here.
package struct SoundSampleEntry: Hashable, Sendable {
    /// How many channels there are.
    package var channels: UInt32

    /// Bits of a sample.
    package var bitsPerSample: UInt32

    /// Samples a second and channel, whole.
    package var sampleRate: UInt32

    /// Which loudspeakers the channels are for (`chan`); `nil` where that is not written.
    package var speakers: SpeakerLayout?
}

/// The picture geometry and colour in a sample entry.
///
/// ISO/IEC 14496-12, 12.1.3 to 12.1.5; QuickTime File Format, "Video Sample Description".
package struct VisualSampleEntry: Hashable, Sendable {
    /// The stored width in pixels.
    package var width: UInt16

    /// The stored height in pixels.
    package var height: UInt16

    /// The shape of a pixel (`pasp`).
    package var pixelAspect: PixelAspect?

    /// The part that is meant to be seen (`clap`).
    package var cleanAperture: CleanApertureFields?

    /// What the numbers of the colours mean (`colr`), in file order; there can be an ICC profile beside the codes.
    package var colors: [ColorParameters] = []

    /// The fields of a frame (`fiel`).
    package var fields: FieldHandling?

    /// The exponent of the transfer function in 16.16 fixed point (`gama`); `nil` where it is not written or 0.
    package var gamma: UInt32?
}

/// The relative width and height of a pixel.
///
/// The raw numbers; 0 is possible in a damaged file.
package struct PixelAspect: Hashable, Sendable {
    /// The relative width (hSpacing).
    package var horizontalSpacing: UInt32

    /// The relative height (vSpacing).
    package var verticalSpacing: UInt32
}

/// A clean aperture as it is written: four fractions, numerator before denominator.
///
/// The raw numbers; a denominator can be 0 in a damaged file. The offsets lead from the picture's centre to the
/// aperture's centre. The standard has no sign on sizes and denominators; a picture of 2³¹ pixels does not exist, so
/// that what some writers mean as negative numbers is read as such.
package struct CleanApertureFields: Hashable, Sendable {
    /// The width's numerator (cleanApertureWidthN).
    package var widthN: Int32
    /// The width's denominator (cleanApertureWidthD).
    package var widthD: Int32
    /// The height's numerator (cleanApertureHeightN).
    package var heightN: Int32
    /// The height's denominator (cleanApertureHeightD).
    package var heightD: Int32
    /// The horizontal offset's numerator (horizOffN).
    package var horizontalOffsetN: Int32
    /// The horizontal offset's denominator (horizOffD).
    package var horizontalOffsetD: Int32
    /// The vertical offset's numerator (vertOffN).
    package var verticalOffsetN: Int32
    /// The vertical offset's denominator (vertOffD).
    package var verticalOffsetD: Int32

    /// The aperture in a picture.
    ///
    /// - Throws: `damaged`, with what is wrong, where the numbers cut nothing out.
    package func aperture(in size: Dimensions) throws(MediaError) -> CleanAperture {
        // Where a denominator has a sign, Rational would move it up.
        func fraction(_ num: Int32, _ den: Int32) -> Rational { den > 0 ? Rational(Int64(num), Int64(den)) : .invalid }
        return try CleanAperture(
            width: fraction(widthN, widthD), height: fraction(heightN, heightD),
            horizontalOffset: fraction(horizontalOffsetN, horizontalOffsetD),
            verticalOffset: fraction(verticalOffsetN, verticalOffsetD), in: size)
    }
}

/// Colour codes as they are written.
///
/// ISO/IEC 14496-12, 12.1.5; the numbers are those of ISO/IEC 23091-2.
package enum ColorParameters: Hashable, Sendable {
    /// ISO's codes (`nclx`); `isFullRange` is `nil` where the box ends before it.
    case nclx(primaries: UInt16, transfer: UInt16, matrix: UInt16, isFullRange: Bool?)

    /// QuickTime's codes (`nclc`).
    case nclc(primaries: UInt16, transfer: UInt16, matrix: UInt16)

    /// Another kind, such as an ICC profile (`prof`, `rICC`), with the number of bytes that follow.
    case other(type: FourCC, size: UInt64)
}

/// How many fields a frame has, and in which order they are shown and stored.
///
/// Apple Technical Note TN2162, "The 'fiel' ImageDescription Extension". The File Format document reads 9 and 14 the
/// other way round; cameras and Apple's own writers follow the note.
package struct FieldHandling: Hashable, Sendable {
    /// 1 for progressive, 2 for interlaced.
    package var count: UInt8

    /// 0 unknown; 1 top field shown first, 6 bottom field shown first, one stored after the other; 9 top field shown
    /// first, 14 bottom field shown first, lines interleaved.
    package var detail: UInt8
}

/// What counts a timecode track's frames.
///
/// QuickTime File Format, "Timecode Sample Description" (tmcd). The raw numbers; each can be 0 in a damaged file.
package struct TimecodeSampleEntry: Hashable, Sendable {
    /// 1 drop-frame, 2 wraps after 24 hours, 4 negative times, 8 a counter instead of a timecode.
    package var flags: UInt32

    /// Units a second.
    package var timescale: UInt32

    /// A frame's duration in these units.
    package var frameDuration: UInt32

    /// The frames in a second as people count them: 30 for 29.97; some cameras write one less.
    package var numberOfFrames: UInt8

    /// The reel or source the counter belongs to (`name`).
    package var sourceName: String?
}

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
