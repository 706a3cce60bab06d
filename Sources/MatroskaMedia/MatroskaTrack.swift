package import MediaBase

/// One entry of a Matroska track list.
///
/// RFC 9559, 5.1.4.1 (TrackEntry).
package struct MatroskaTrack: Hashable, Sendable {
    /// The number that blocks refer to the track by; 0 where it is missing.
    package var number: UInt64 = 0

    /// What it carries: 1 video, 2 audio, 17 subtitles, 33 metadata and others.
    package var type: UInt64 = 0

    /// The codec's name, such as `V_VP9`; empty where it is missing.
    package var codecID = ""

    /// The language by ISO 639-2; `eng` where it is missing.
    package var language = "eng"

    /// How much the codec delays its output, in nanoseconds.
    package var codecDelay: UInt64 = 0

    /// Whether blocks hold the codec's own bytes at the segment's own times: neither compressed nor encrypted, and the
    /// track has no unit of its own.
    package var isPlain = true

    /// The shape and colour of pictures; `nil` for other tracks.
    package var video: MatroskaVideo?

    init(_ fields: [EBMLElement], warnings: inout [String]) {
        for field in fields {
            switch field.id {
            case 0xD7: number = field.unsigned ?? 0
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

/// The geometry and colour of a track's pictures.
///
/// RFC 9559, 5.1.4.1.28 (Video). The numbers are as they are written.
package struct MatroskaVideo: Hashable, Sendable {
    /// The stored width.
    package var pixelWidth: UInt64 = 0
    /// The stored height.
    package var pixelHeight: UInt64 = 0
    /// Pixels to cut off.
    package var cropTop: UInt64 = 0
    /// See ``cropTop``.
    package var cropBottom: UInt64 = 0
    /// See ``cropTop``.
    package var cropLeft: UInt64 = 0
    /// See ``cropTop``.
    package var cropRight: UInt64 = 0
    /// The width to show, in ``displayUnit``; `nil` where it is not written.
    package var displayWidth: UInt64?
    /// The height to show, in ``displayUnit``; `nil` where it is not written.
    package var displayHeight: UInt64?
    /// 0 pixels, 1 centimetres, 2 inches, 3 parts of an aspect ratio, 4 unknown.
    package var displayUnit: UInt64 = 0
    /// 0 undetermined, 1 interlaced, 2 progressive.
    package var interlacing: UInt64 = 0
    /// 0 progressive, 1 top field shown first, 2 undetermined, 6 bottom field shown first; 9 and 14 the same as 1 and
    /// 6 with both fields' lines interleaved.
    package var fieldOrder: UInt64 = 2
    /// What the numbers of colours mean; `nil` where nothing is written.
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

    /// Whether anything is to be cut off.
    package var isCropped: Bool { cropTop | cropBottom | cropLeft | cropRight != 0 }

    /// What is left of a picture of `size`; `nil` where nothing is to be cut off.
    ///
    /// - Throws: `damaged`, with what is wrong, where nothing is left.
    package func aperture(in size: Dimensions) throws(MediaError) -> CleanAperture? {
        guard isCropped else { return nil }
        return try CleanAperture(
            croppingLeft: Int(clamping: cropLeft), top: Int(clamping: cropTop), right: Int(clamping: cropRight),
            bottom: Int(clamping: cropBottom), of: size)
    }

    /// The size in which the cropped picture is to be shown; `nil` where the file does not say.
    package var display: ContainerDisplay? {
        guard let displayWidth, let displayHeight, let unit = Int(exactly: displayUnit) else { return nil }
        let units = ["pixels", "centimeters", "inches", "aspectRatio"]
        return ContainerDisplay(
            width: Int(clamping: displayWidth), height: Int(clamping: displayHeight),
            unit: units.indices.contains(unit) ? units[unit] : "unknown")
    }

    /// Width of a pixel by its height, by the size in which the cropped picture is to be shown; `nil` where the file
    /// does not say.
    package var sampleAspectRatio: Rational? {
        guard displayUnit < 4, isCropped || displayWidth != nil || displayHeight != nil else { return nil }
        func rest(_ side: UInt64, _ one: UInt64, _ other: UInt64) -> Rational? {
            Rational(Int64(clamping: side)).subtracting(Rational(Int64(clamping: one)))?
                .subtracting(Rational(Int64(clamping: other)))
        }
        guard let width = rest(pixelWidth, cropLeft, cropRight), let height = rest(pixelHeight, cropTop, cropBottom),
            width.isPositive, height.isPositive
        else { return nil }
        // In pixels, a size that is not written is that of the cropped picture.
        let implied = displayUnit == 0
        guard let across = displayWidth.map({ Rational(Int64(clamping: $0)) }) ?? (implied ? width : nil),
            let down = displayHeight.map({ Rational(Int64(clamping: $0)) }) ?? (implied ? height : nil),
            let ratio = across.multiplied(by: height)?.divided(by: down)?.divided(by: width), ratio.isPositive
        else { return nil }
        return ratio
    }
}

/// Colour as a Matroska track says it, in the code points of ISO/IEC 23091-2.
///
/// RFC 9559, 5.1.4.1.28.16 (Colour).
package struct MatroskaColor: Hashable, Sendable {
    /// The primaries; 2 where it is not written.
    package var primaries: UInt16 = 2
    /// The transfer characteristic; 2 where it is not written.
    package var transfer: UInt16 = 2
    /// The matrix; 2 where it is not written.
    package var matrix: UInt16 = 2
    /// 1 limited, 2 full; 0 and 3 say nothing.
    package var range: UInt64 = 0
    /// Where chroma lies across: 1 with the left luma sample, 2 half way; 0 says nothing.
    package var sitingAcross: UInt64 = 0
    /// Where chroma lies down: 1 with the upper luma sample, 2 half way; 0 says nothing.
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
