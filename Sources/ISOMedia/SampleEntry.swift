import MediaBase

/// The coding of a track's samples: one entry of its sample description.
///
/// ISO/IEC 14496-12, 8.5.2 (stsd).
package struct SampleEntry: Hashable, Sendable {
    /// The format, such as `avc1`, `mp4a` or `tmcd`.
    package var format: FourCC

    /// The index, from 1, of the data reference that locates the samples.
    package var dataReferenceIndex: UInt16

    /// The fields of a visual sample entry; `nil` for other media.
    package var visual: VisualSampleEntry?

    /// The fields of an audio sample entry; `nil` for other media.
    package var sound: SoundSampleEntry?

    /// The fields of a timecode sample entry; `nil` for other media.
    package var timecode: TimecodeSampleEntry?

    /// The samples' bit rates (`btrt`); `nil` if not stated.
    package var bitRates: BitRates?

    /// The codec's header (`avcC`, `hvcC`, `av1C`…), kept for all entries except the first, which libavformat reads.
    package var configuration: [UInt8] = []
}

/// The bit rates of a track's samples.
///
/// ISO/IEC 14496-12, 8.5.2.2 (btrt). The numbers are as written; 0 if the writer did not know.
package struct BitRates: Hashable, Sendable {
    /// The maximum number of bits in any second.
    package var maximum: UInt32

    /// The average number of bits per second.
    package var average: UInt32
}

/// The audio format in a sample entry.
///
/// ISO/IEC 14496-12, 12.2.3; QuickTime File Format, "Sound Sample Descriptions". The numbers are as written;
/// QuickTime's entries often have placeholders here.
package struct SoundSampleEntry: Hashable, Sendable {
    /// The number of channels.
    package var channels: UInt32

    /// The number of bits per sample.
    package var bitsPerSample: UInt32

    /// The number of samples per second and channel, as a whole number.
    package var sampleRate: UInt32

    /// The loudspeaker positions of the channels (`chan`); `nil` if not stated.
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

    /// The part of the picture that is meant to be seen (`clap`).
    package var cleanAperture: CleanApertureFields?

    /// The colour descriptions (`colr`), in file order; an ICC profile may accompany the codes.
    package var colors: [ColorParameters] = []

    /// The field arrangement of a frame (`fiel`).
    package var fields: FieldHandling?

    /// The exponent of the transfer function in 16.16 fixed point (`gama`); `nil` if not stated or 0.
    package var gamma: UInt32?
}

/// The relative width and height of a pixel.
///
/// The numbers are as written; 0 is possible in a damaged file.
package struct PixelAspect: Hashable, Sendable {
    /// The relative width (hSpacing).
    package var horizontalSpacing: UInt32

    /// The relative height (vSpacing).
    package var verticalSpacing: UInt32
}

/// A colour description as written in the file.
///
/// ISO/IEC 14496-12, 12.1.5; the numbers are those of ISO/IEC 23091-2.
package enum ColorParameters: Hashable, Sendable {
    /// The codes of ISO files (`nclx`); `isFullRange` is `nil` if the box ends before it.
    case nclx(primaries: UInt16, transfer: UInt16, matrix: UInt16, isFullRange: Bool?)

    /// The codes of QuickTime files (`nclc`).
    case nclc(primaries: UInt16, transfer: UInt16, matrix: UInt16)

    /// Another kind, such as an ICC profile (`prof`, `rICC`), with the number of bytes that follow.
    case other(type: FourCC, size: UInt64)
}

/// The number of fields in a frame, and the order in which they are shown and stored.
///
/// Apple Technical Note TN2162, "The 'fiel' ImageDescription Extension". The File Format document swaps the meanings of
/// 9 and 14; cameras and Apple's own writers follow the note.
package struct FieldHandling: Hashable, Sendable {
    /// The number of fields: 1 for progressive, 2 for interlaced.
    package var count: UInt8

    /// The order of the fields.
    ///
    /// 0 unknown; 1 top field shown first, 6 bottom field shown first, one stored after the other; 9 top field shown
    /// first, 14 bottom field shown first, lines interleaved.
    package var detail: UInt8
}

/// The counter format of a timecode track.
///
/// QuickTime File Format, "Timecode Sample Description" (tmcd). The numbers are as written; each can be 0 in a damaged
/// file.
package struct TimecodeSampleEntry: Hashable, Sendable {
    /// The flags: 1 drop-frame, 2 wraps after 24 hours, 4 negative times, 8 a counter instead of a timecode.
    package var flags: UInt32

    /// The time units per second.
    package var timescale: UInt32

    /// The duration of a frame, in ``timescale``.
    package var frameDuration: UInt32

    /// The nominal number of frames per second: 30 for 29.97; some cameras write one less.
    package var numberOfFrames: UInt8

    /// The reel or source that the counter belongs to (`name`).
    package var sourceName: String?
}

extension SampleEntry {
    /// Reads the entries of an `stsd` box.
    ///
    /// - Parameters:
    ///   - box: The `stsd` box.
    ///   - handler: The track's media type, which determines the layout of an entry.
    ///   - reader: The reader of the file.
    static func list(
        _ box: Box?, handler: FourCC?, reader: inout BoxReader
    ) throws(MediaError) -> [SampleEntry] {
        guard let box, let claimed = try reader.entryCount(of: box) else { return [] }
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

    /// The boxes that contain a codec's header in the form that libavformat passes on.
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
    /// Reads an audio sample entry of any version and lists its child boxes; `nil` if its fields are damaged.
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
            // ISO files may state version 1 without its fields; QuickTime's codecs with the fields have -2 above.
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
    /// Reads a visual sample entry and lists its child boxes; `nil` if its fields are damaged.
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

    /// Returns the offset of the child boxes after QuickTime's colour table, which has a seed, flags and entries.
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

extension ColorParameters {
    /// Reads the start of a `colr` payload.
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
        // Some progressive files omit the second byte, which has no meaning for them.
        detail = reader.remaining > 0 ? try reader.uint8() : 0
    }
}

extension TimecodeSampleEntry {
    /// Reads a timecode sample entry and its source name; `nil` if its fields are damaged.
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
    /// Returns the range without its first `count` bytes; empty if the range is shorter.
    func dropping(_ count: UInt64) -> Range<UInt64> {
        lowerBound + Swift.min(count, upperBound - lowerBound)..<upperBound
    }
}
