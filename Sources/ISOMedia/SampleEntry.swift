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

    /// What a timecode's entry says; `nil` for other media.
    package var timecode: TimecodeSampleEntry?
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
/// QuickTime File Format, "Video Sample Description Extensions" (fiel).
package struct FieldHandling: Hashable, Sendable {
    /// 1 for progressive, 2 for interlaced.
    package var count: UInt8

    /// 0 unknown; 1 top shown and stored first; 6 bottom shown and stored first; 9 top shown, bottom stored first
    /// (one field after the other); 14 bottom shown, top stored first.
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
