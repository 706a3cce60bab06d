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
