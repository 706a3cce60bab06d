package import MediaAnalysis
package import MediaBase
package import Pictures
internal import SystemCalls
package import SystemPackage

/// One file that a waveform job is asked to write.
package struct WaveformOutput: Sendable, Hashable {
    /// What kind of file; `docs/formats.md` has each in full.
    package enum Format: String, Sendable, Hashable, CaseIterable, Encodable {
        /// audiowaveform's binary peaks.
        case dat
        /// audiowaveform's peaks as JSON.
        case json
        /// Binary peaks of 8 bits, all that peaks.js reads.
        case peaksjs
        /// JSON for wavesurfer.js.
        case wavesurfer
        /// A line of numbers for each point.
        case csv
        /// The same lines, under the name that audiowaveform gives them.
        case txt
        /// A picture in pixels.
        case png
        /// The same picture as paths.
        case svg

        /// The format that a file name's extension stands for, upper or lower case; `nil` for an unknown one.
        ///
        /// `.wavesurfer.json` and `.peaksjs.dat` say more than their last part.
        package init?(extensionOf path: FilePath) {
            let inner = path.stem.flatMap { FilePath($0).extension }?.lowercased()
            switch path.extension?.lowercased() {
            case "json" where inner == "wavesurfer": self = .wavesurfer
            case "dat" where inner == "peaksjs": self = .peaksjs
            case "dat": self = .dat
            case "json": self = .json
            case "csv": self = .csv
            case "txt": self = .txt
            case "png": self = .png
            case "svg": self = .svg
            default: return nil
            }
        }

        /// How the file's peaks are written, where a point covers a whole number of samples; `nil` for other kinds.
        package var peakFile: PeakFile.Format? {
            switch self {
            case .dat, .peaksjs: .binary
            case .json: .json
            case .wavesurfer, .csv, .txt, .png, .svg: nil
            }
        }

        /// Whether it is a picture.
        package var isPicture: Bool { self == .png || self == .svg }
    }

    /// How many points, or pixels across, the file has.
    package enum Scale: Sendable, Hashable {
        /// ``standardSamplesPerPixel``, or as many as a peaks file that is read.
        case standard
        /// A zoom level.
        case level(WaveformDensity)
        /// So many points over all of the sound, which is not for peaks files.
        case fitted(width: Int)
    }

    /// audiowaveform's own standard.
    package static let standardSamplesPerPixel = 256

    /// Where the file goes; `-` is standard output.
    package var path: FilePath
    /// What kind of file it is.
    package var format: Format
    /// How many points it has.
    package var scale: Scale
    /// The resolution of the values, 8 or 16; `nil` for 16, or for that of a peaks file that is read.
    package var bits: Int?

    /// Makes a request; no check is made.
    package init(path: FilePath, format: Format, scale: Scale = .standard, bits: Int? = nil) {
        self.path = path
        self.format = format
        self.scale = scale
        self.bits = format == .peaksjs ? 8 : bits
    }

    /// The points a second that were asked for; `nil` where it was something else.
    var requestedPixelsPerSecond: Rational? {
        switch scale {
        case .level(.pixelsPerSecond(let rate)), .level(.wholeSamplesNear(pixelsPerSecond: let rate)): rate
        case .level(.samplesPerPixel), .standard, .fitted: nil
        }
    }
}

/// A path for outputs in which `{stem}` and `{spp}` stand for what differs between them.
///
/// `{stem}` is the input's name without folder and extension (`stdin` for standard input), `{spp}` the samples per
/// pixel. Everything else, other braces too, stands for itself, byte for byte.
package struct WaveformOutputTemplate: Sendable, Hashable {
    private static let stemMark = Array("{stem}".utf8)
    private static let levelMark = Array("{spp}".utf8)

    private let bytes: [UInt8]

    /// Makes a template of a path.
    package init(_ path: FilePath) { bytes = path.bytes }

    /// Whether outputs of several inputs get names of their own.
    package var tellsInputs: Bool { contains(Self.stemMark) }

    /// Whether outputs of several zoom levels get names of their own.
    package var tellsLevels: Bool { contains(Self.levelMark) }

    /// All placeholders, for messages.
    package static let placeholders = "{stem} {spp}"

    /// A word in braces that stands for nothing, which is more likely a slip than a part of a name; `nil` where there is
    /// none.
    package var unknownPlaceholder: String? {
        for start in bytes.indices where bytes[start] == UInt8(ascii: "{") {
            let letters = bytes[(start + 1)...].prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
            guard !letters.isEmpty, letters.endIndex < bytes.endIndex, bytes[letters.endIndex] == UInt8(ascii: "}")
            else { continue }
            let name = bytes[start...letters.endIndex]
            if name.elementsEqual(Self.stemMark) || name.elementsEqual(Self.levelMark) { continue }
            return String(decoding: name, as: UTF8.self)
        }
        return nil
    }

    /// The output's path for one input and zoom level.
    package func path(for input: FilePath, samplesPerPixel: Int) -> FilePath {
        let stem = input.inputStem
        let level = Array(String(samplesPerPixel).utf8)
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.first {
            if rest.starts(with: Self.stemMark) {
                result += stem
                rest = rest.dropFirst(Self.stemMark.count)
            } else if rest.starts(with: Self.levelMark) {
                result += level
                rest = rest.dropFirst(Self.levelMark.count)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return FilePath(bytes: result)
    }

    private func contains(_ mark: [UInt8]) -> Bool {
        bytes.indices.contains { bytes[$0...].starts(with: mark) }
    }
}

/// How the picture of a waveform is drawn.
package struct WaveformPicture: Sendable, Hashable {
    /// Pixels across, where nothing else says how wide it is.
    package static let standardWidth = 1000
    /// The greatest width to which sound is fitted; wider ones would need more peaks than are kept for it.
    package static let maximumWidth = 1 << 16

    /// Pixels down, with the time axis.
    package var height = 200
    /// What is behind the waveform.
    package var background = Color.white
    /// The colours of the channels, taken in turns; empty for the standard look.
    package var colors: [Color] = []
    /// The colour of the root mean square inside the peaks; `nil` for one that goes with ``colors``.
    package var levelColor: Color?
    /// Whether the root mean square is shown.
    package var hasLevel = true
    /// Whether there is a time axis at the bottom.
    package var hasAxis = true
    /// The colour of the axis with its labels; `nil` for the standard one.
    package var axisColor: Color?
    /// The size of the axis' letters in pixels a font dot, 1…16.
    package var textScale = 1
    /// Linear or dB.
    package var amplitude = WaveformStyle.Amplitude.linear
    /// By what samples are multiplied; `nil` so that the loudest reaches full height.
    package var amplitudeScale: Double? = 1
    /// Bars instead of an outline; `nil` for an outline.
    package var bars: WaveformStyle.Bars?

    /// The standard picture.
    package init() {}

    /// Throws ``MediaError`` `invalidArgument` or `limitExceeded` for what makes no picture of a width.
    package func check(width: Int = standardWidth) throws(MediaError) {
        guard (1...Self.maximumWidth).contains(width) else {
            throw MediaError(.invalidArgument, "a picture is 1 to \(Self.maximumWidth) pixels wide, not \(width)")
        }
        _ = try renderer(width: width, axis: nil)
    }

    /// The file of a picture.
    ///
    /// - Parameters:
    ///   - columns: What each column of pixels shows.
    ///   - format: PNG or SVG.
    ///   - startSeconds: When the first column begins, for the axis.
    ///   - secondsPerPixel: How long a column lasts.
    func file(
        of columns: WaveformColumns, as format: WaveformOutput.Format, startSeconds: Double, secondsPerPixel: Double
    ) throws(MediaError) -> [UInt8] {
        let axis = TimeAxis(startSeconds: startSeconds, secondsPerPixel: secondsPerPixel)
        let channels = columns.channels.map { channel in
            WaveformRenderer.Channel(
                minimums: channel.minimums, maximums: channel.maximums, levels: channel.rootMeanSquares)
        }
        let drawing = try renderer(width: columns.width, axis: hasAxis ? axis : nil).drawing(channels)
        return format == .svg ? drawing.svg() : try PNGFile.encode(drawing.bitmap())
    }

    private func renderer(width: Int, axis: TimeAxis?) throws(MediaError) -> WaveformRenderer {
        var style = WaveformStyle()
        style.background = background
        if let first = colors.first {
            style.colors = colors
            style.levelColor = .white.withOpacity(0.4)
            style.centerLineColor = colors.count == 1 ? first : style.axisColor
        }
        if let levelColor { style.levelColor = levelColor }
        if !hasLevel { style.levelColor = nil }
        if let axisColor { style.axisColor = axisColor }
        style.textScale = textScale
        style.amplitude = amplitude
        style.scale = amplitudeScale.map { .factor($0) } ?? .automatic
        style.bars = bars
        return try WaveformRenderer(width: width, height: height, style: style, axis: axis)
    }
}
