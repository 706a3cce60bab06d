import ArgumentParser
import AssetKit
import MediaBase
import MediaJobs
import Pictures
import SystemPackage

/// The options of `export` that say how the file is encoded.
struct ExportEncodingOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "How the file is encoded; '--list-presets' tells more. (default: highestQuality, for .webm "
                + "vp9HighestQuality, and what is usual for files of sound alone)", valueName: "preset"))
    var preset: Named<ExportSession.Preset>?

    @Flag(help: "Print the presets and do nothing else.")
    var listPresets = false

    @Flag(
        name: [.customLong("copy"), .customLong("passthrough")],
        help: """
            Take video, audio and subtitles as they are: quick and without loss; what the file cannot hold is left out, \
            with a warning. '--preset passthrough' is the same.
            """)
    var copy = false

    @Option(
        help: ArgumentHelp(
            "Where a copy begins: at --start exactly, or at the keyframe before it, as other programs copy.",
            valueName: "exact|keyframe"))
    var copyFrom: ExportRequest.CopyStart?

    @Option(
        help: ArgumentHelp(
            "The frames' size; pictures are fitted into the middle. (default: the source's, a timeline's largest)",
            valueName: "WxH"),
        transform: Self.size)
    var size: Dimensions?

    @Option(
        help: ArgumentHelp(
            "Frames a second: 25, 29.97, 24000/1001. (default: the source's own times, the timeline's rate)",
            valueName: "rate"),
        transform: Self.rate)
    var frameRate: Rational?

    @Option(help: ArgumentHelp("A PNG picture that lies over all frames, with its transparency.", valueName: "file"))
    var watermark: PathArgument?

    @Option(
        help: ArgumentHelp(
            "The watermark's left and upper edge, in the frames' pixels. (default: the lower right corner)",
            valueName: "x,y"),
        transform: Self.place)
    var watermarkPlace: Place?

    @OptionGroup var encoding: EncodingOptions

    /// A point of a frame.
    struct Place {
        var x: Int
        var y: Int
    }

    private var copies: Bool { copy || preset?.value == .passthrough }

    func validate() throws {
        if copy, let preset, preset.value != .passthrough {
            throw ValidationError("'--copy' and '--preset \(preset.value.rawValue)' exclude each other.")
        }
        if copyFrom != nil, !copies { throw ValidationError("'--copy-from' is for '--copy'.") }
        if watermark == nil, watermarkPlace != nil {
            throw ValidationError("'--watermark-place' is for '--watermark'.")
        }
        if copies, size != nil || frameRate != nil || watermark != nil || encoding.isAnyGiven {
            throw ValidationError("Samples that are copied keep their size, rate and encoding.")
        }
    }

    /// Puts what was asked for into a request.
    ///
    /// - Throws: what reading the watermark throws.
    func apply(to request: inout ExportRequest) throws {
        if let watermark {
            let path = watermark.path
            let bytes = try SmallFile.bytes(of: path, atMost: 64 << 20, as: "a watermark")
            let image: Bitmap
            do throws(MediaError) { image = try PNGFile.decode(bytes) } catch { throw error.at(path: path.string) }
            request.watermark = .init(image: image, place: watermarkPlace.map { ($0.x, $0.y) })
        }
        request.copyFrom = copyFrom ?? .exact
        request.preset = copy ? .passthrough : preset?.value
        request.size = size
        request.frameRate = frameRate
        request.height = encoding.height
        request.quality = encoding.crf
        request.bitRate = encoding.bitrate
        request.keyFrameInterval = encoding.gop
        request.speed = encoding.speed?.value
        request.audioCodec = encoding.audioCodec?.value
        request.audioBitRate = encoding.audioBitrate
    }

    /// Two even numbers with an `x` between them.
    private static func size(_ text: String) throws -> Dimensions {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        guard sides.count == 2, sides.allSatisfy({ (2...16384).contains($0) && $0 % 2 == 0 }) else {
            throw ValidationError("write a size as 1920x1080, with even numbers")
        }
        return Dimensions(width: sides[0], height: sides[1])
    }

    private static func place(_ text: String) throws -> Place {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let x = numbers[0], let y = numbers[1], max(x.magnitude, y.magnitude) <= 100_000
        else { throw ValidationError("write a place as 20,20") }
        return Place(x: x, y: y)
    }

    private static func rate(_ text: String) throws -> Rational {
        guard let rate = Rational(text) ?? Double(text).flatMap({ Rational(rate: $0) }), rate >= .one,
            rate <= Rational(240)
        else { throw ValidationError("write a rate from 1 to 240 as 25, 29.97 or 24000/1001") }
        return rate
    }
}

extension TimelineOptions {
    /// Puts what was asked for into a request.
    func apply(to request: inout ExportRequest) {
        request.allowsOutside = allowOutside
        request.mediaFolders = mediaFolder.map(\.path)
        request.allowsMissing = allowMissing
        request.ignoresEffects = ignoreEffects
    }
}

extension ExportRequest.CopyStart: ExpressibleByArgument {}
