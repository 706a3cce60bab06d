package import MediaBase

/// One entry of a Matroska track list.
///
/// RFC 9559, 5.1.4.1 (TrackEntry).
package struct MatroskaTrack: Hashable, Sendable {
    /// The track number used by blocks; 0 if missing.
    package var number: UInt64 = 0

    /// The unique number by which tags name the track; 0 if missing.
    package var uid: UInt64 = 0

    /// The kind of track: 1 video, 2 audio, 17 subtitles, 33 metadata and others.
    package var type: UInt64 = 0

    /// The codec ID, such as `V_VP9`; empty if missing.
    package var codecID = ""

    /// The ISO 639-2 language code; `eng` if missing.
    package var language = "eng"

    /// The delay that the codec adds to its output, in nanoseconds.
    package var codecDelay: UInt64 = 0

    /// True if blocks contain the codec's own bytes at the segment's own times.
    ///
    /// The track is then neither compressed nor encrypted, and has no time unit of its own.
    package var isPlain = true

    /// The picture geometry and colour; `nil` for other tracks.
    package var video: MatroskaVideo?

    init(_ fields: [EBMLElement], warnings: inout [String]) {
        for field in fields {
            switch field.id {
            case 0xD7: number = field.unsigned ?? 0
            case 0x73C5: uid = field.unsigned ?? 0
            case 0x83: type = field.unsigned ?? 0
            case 0x86: codecID = field.text
            case 0x22B59C: language = field.text
            case 0x56AA: codecDelay = field.unsigned ?? 0
            case 0x6D80: isPlain = false
            case 0x23314F: if field.float != 1 { isPlain = false }
            case 0xE0: video = MatroskaVideo(field.children)
            default: break
            }
        }
        if let video, video.pixelWidth == 0 || video.pixelHeight == 0 {
            warnings.append("track \(number) has pictures without a size")
        }
    }
}

/// The picture geometry and colour of a track.
///
/// RFC 9559, 5.1.4.1.28 (Video). The numbers are as written.
package struct MatroskaVideo: Hashable, Sendable {
    /// The stored width in pixels.
    package var pixelWidth: UInt64 = 0
    /// The stored height in pixels.
    package var pixelHeight: UInt64 = 0
    /// The number of pixel rows to crop at the top.
    package var cropTop: UInt64 = 0
    /// The number of pixel rows to crop at the bottom.
    package var cropBottom: UInt64 = 0
    /// The number of pixel columns to crop at the left.
    package var cropLeft: UInt64 = 0
    /// The number of pixel columns to crop at the right.
    package var cropRight: UInt64 = 0
    /// The display width, in ``displayUnit``; `nil` if not stated.
    package var displayWidth: UInt64?
    /// The display height, in ``displayUnit``; `nil` if not stated.
    package var displayHeight: UInt64?
    /// The unit of the display size: 0 pixels, 1 centimetres, 2 inches, 3 parts of an aspect ratio, 4 unknown.
    package var displayUnit: UInt64 = 0
    /// The scan type: 0 undetermined, 1 interlaced, 2 progressive.
    package var interlacing: UInt64 = 0
    /// The field order: 0 progressive, 1 top field shown first, 2 undetermined, 6 bottom field shown first.
    ///
    /// 9 and 14 mean the same as 1 and 6, with the lines of both fields interleaved.
    package var fieldOrder: UInt64 = 2
    /// The colour description; `nil` if not stated.
    package var color: MatroskaColor?

    init(_ fields: [EBMLElement]) {
        for field in fields {
            switch field.id {
            case 0xB0: pixelWidth = field.unsigned ?? 0
            case 0xBA: pixelHeight = field.unsigned ?? 0
            case 0x54BB: cropTop = field.unsigned ?? 0
            case 0x54AA: cropBottom = field.unsigned ?? 0
            case 0x54CC: cropLeft = field.unsigned ?? 0
            case 0x54DD: cropRight = field.unsigned ?? 0
            case 0x54B0: displayWidth = field.unsigned
            case 0x54BA: displayHeight = field.unsigned
            case 0x54B2: displayUnit = field.unsigned ?? 0
            case 0x9A: interlacing = field.unsigned ?? 0
            case 0x9D: fieldOrder = field.unsigned ?? 2
            case 0x55B0: color = MatroskaColor(field.children)
            default: break
            }
        }
    }

    /// True if any pixels are to be cropped.
    package var isCropped: Bool { cropTop | cropBottom | cropLeft | cropRight != 0 }

    /// Returns the part of a picture of `size` that remains after cropping; `nil` if nothing is cropped.
    ///
    /// - Throws: `damaged`, with the reason, if nothing remains.
    package func aperture(in size: Dimensions) throws(MediaError) -> CleanAperture? {
        guard isCropped else { return nil }
        return try CleanAperture(
            croppingLeft: Int(clamping: cropLeft), top: Int(clamping: cropTop), right: Int(clamping: cropRight),
            bottom: Int(clamping: cropBottom), of: size)
    }

    /// The display size of the cropped picture; `nil` if the file does not state it.
    package var display: ContainerDisplay? {
        guard let displayWidth, let displayHeight, let unit = Int(exactly: displayUnit) else { return nil }
        let units = ["pixels", "centimeters", "inches", "aspectRatio"]
        return ContainerDisplay(
            width: Int(clamping: displayWidth), height: Int(clamping: displayHeight),
            unit: units.indices.contains(unit) ? units[unit] : "unknown")
    }

    /// The ratio of a pixel's width to its height; `nil` if the file does not state it.
    ///
    /// The ratio follows from the display size of the cropped picture.
    package var sampleAspectRatio: Rational? {
        guard displayUnit < 4, isCropped || displayWidth != nil || displayHeight != nil else { return nil }
        func rest(_ side: UInt64, _ one: UInt64, _ other: UInt64) -> Rational? {
            Rational(Int64(clamping: side)).subtracting(Rational(Int64(clamping: one)))?
                .subtracting(Rational(Int64(clamping: other)))
        }
        guard let width = rest(pixelWidth, cropLeft, cropRight), let height = rest(pixelHeight, cropTop, cropBottom),
            width.isPositive, height.isPositive
        else { return nil }
        // If the unit is pixels, a missing display size is that of the cropped picture.
        let implied = displayUnit == 0
        guard let across = displayWidth.map({ Rational(Int64(clamping: $0)) }) ?? (implied ? width : nil),
            let down = displayHeight.map({ Rational(Int64(clamping: $0)) }) ?? (implied ? height : nil),
            let ratio = across.multiplied(by: height)?.divided(by: down)?.divided(by: width), ratio.isPositive
        else { return nil }
        return ratio
    }
}

/// The colour description of a Matroska track, in the code points of ISO/IEC 23091-2.
///
/// RFC 9559, 5.1.4.1.28.16 (Colour).
package struct MatroskaColor: Hashable, Sendable {
    /// The primaries; 2 if not stated.
    package var primaries: UInt16 = 2
    /// The transfer characteristic; 2 if not stated.
    package var transfer: UInt16 = 2
    /// The matrix; 2 if not stated.
    package var matrix: UInt16 = 2
    /// The range of values: 1 limited, 2 full; 0 and 3 are undetermined.
    package var range: UInt64 = 0
    /// The horizontal chroma position: 1 at the left luma sample, 2 halfway; 0 is undetermined.
    package var sitingAcross: UInt64 = 0
    /// The vertical chroma position: 1 at the upper luma sample, 2 halfway; 0 is undetermined.
    package var sitingDown: UInt64 = 0

    init(_ fields: [EBMLElement]) {
        func code(_ field: EBMLElement) -> UInt16 { field.unsigned.flatMap { UInt16(exactly: $0) } ?? 2 }
        for field in fields {
            switch field.id {
            case 0x55B1: matrix = code(field)
            case 0x55B7: sitingAcross = field.unsigned ?? 0
            case 0x55B8: sitingDown = field.unsigned ?? 0
            case 0x55B9: range = field.unsigned ?? 0
            case 0x55BA: transfer = code(field)
            case 0x55BB: primaries = code(field)
            default: break
            }
        }
    }
}
