package import MediaBase
package import Peaks
package import Pictures
internal import SystemCalls
package import SystemPackage

/// One output file of a waveform job.
package struct WaveformOutput: Sendable, Hashable {
    /// The format of a file; `docs/formats.md` describes each in full.
    package enum Format: String, Sendable, Hashable, CaseIterable, Encodable {
        /// audiowaveform's binary peaks.
        case dat
        /// audiowaveform's peaks as JSON.
        case json
        /// Binary peaks with 8 bits, the only ones that peaks.js reads.
        case peaksjs
        /// JSON for wavesurfer.js.
        case wavesurfer
        /// A line of numbers for each point.
        case csv
        /// The same lines, with the file name extension that audiowaveform uses.
        case txt
        /// A raster picture.
        case png
        /// The same picture as vector paths and text.
        case svg

        /// The way in which a format's files are written.
        package enum Encoding: Sendable, Hashable {
            /// A peaks file, in which a point covers a whole number of samples.
            case peaks(PeakFile.Format)
            /// A line of numbers for each point, with an ASCII character between two numbers.
            case lines(separator: UInt8)
            /// JSON with fractions of full scale.
            case wavesurfer
            /// A picture.
            case picture
        }

        /// The way in which files of the format are written.
        package var encoding: Encoding {
            switch self {
            case .dat, .peaksjs: .peaks(.binary)
            case .json: .peaks(.json)
            case .wavesurfer: .wavesurfer
            case .csv, .txt: .lines(separator: UInt8(ascii: ","))
            case .png, .svg: .picture
            }
        }

        /// The formats that a file name's extension tells; the others have a name before another format's extension.
        package static let extensions = allCases.filter { $0 != .peaksjs && $0 != .wavesurfer }

        /// Creates the format for a file name's extension in upper or lower case; `nil` for an unknown one.
        ///
        /// `.wavesurfer.json` and `.peaksjs.dat` are recognised by both parts.
        package init?(extensionOf path: FilePath) {
            let inner = path.stem.flatMap { FilePath($0).extension }?.lowercased()
            switch (inner, path.extension?.lowercased()) {
            case ("wavesurfer", "json"): self = .wavesurfer
            case ("peaksjs", "dat"): self = .peaksjs
            case (_, let name):
                guard let format = Self.extensions.first(where: { $0.rawValue == name }) else { return nil }
                self = format
            }
        }

        /// The encoding of a peaks file; `nil` for other formats.
        package var peakFile: PeakFile.Format? { if case .peaks(let format) = encoding { format } else { nil } }

        /// Indicates whether the format is a picture.
        package var isPicture: Bool { encoding == .picture }
    }

    /// The number of points, or the width of a picture in pixels.
    package enum Scale: Sendable, Hashable {
        /// ``standardSamplesPerPixel``, or the samples per point of a peaks file that is read.
        case standard
        /// A zoom level.
        case level(WaveformDensity)
        /// A number of points for the whole audio, which is not available for peaks files.
        case fitted(width: Int)
    }

    /// The default of audiowaveform.
    package static let standardSamplesPerPixel = 256

    /// The path of the file; `-` for standard output.
    package var path: FilePath
    /// The format of the file.
    package var format: Format
    /// The number of points.
    package var scale: Scale
    /// The number of bits per value, 8 or 16; `nil` for 16, or for that of a peaks file that is read.
    package var bits: Int?

    /// Creates a request without checking it.
    package init(path: FilePath, format: Format, scale: Scale = .standard, bits: Int? = nil) {
        self.path = path
        self.format = format
        self.scale = scale
        self.bits = format == .peaksjs ? 8 : bits
    }

    /// The requested points per second; `nil` if another scale was requested.
    var requestedPixelsPerSecond: Rational? {
        switch scale {
        case .level(.pixelsPerSecond(let rate)), .level(.wholeSamplesNear(pixelsPerSecond: let rate)): rate
        case .level(.samplesPerPixel), .standard, .fitted: nil
        }
    }
}

/// A path for outputs, with placeholders `{stem}` and `{spp}` for the parts that differ.
///
/// `{stem}` is the input's name without folder and extension (`stdin` for standard input), `{spp}` the samples per
/// pixel. Everything else, including other braces, is literal, byte for byte.
package struct WaveformOutputTemplate: Sendable, Hashable {
    private static let stemMark = Array("{stem}".utf8)
    private static let levelMark = Array("{spp}".utf8)

    private let bytes: [UInt8]

    /// Creates a template from a path.
    package init(_ path: FilePath) { bytes = path.bytes }

    /// Indicates whether outputs of several inputs have distinct names.
    package var tellsInputs: Bool { contains(Self.stemMark) }

    /// Indicates whether outputs of several zoom levels have distinct names.
    package var tellsLevels: Bool { contains(Self.levelMark) }

    /// All placeholders, for messages.
    package static let placeholders = "{stem} {spp}"

    /// A word in braces that is not a placeholder and is probably a mistake; `nil` if there is none.
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

    /// Returns the path of the output for one input and zoom level.
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

/// The appearance of a waveform picture.
package struct WaveformPicture: Sendable, Hashable {
    /// The default width in pixels.
    package static let standardWidth = 1000
    /// The maximum width to which audio is fitted; a wider output would need more peaks than are kept for it.
    package static let maximumWidth = 1 << 16

    /// The height in pixels, including the time axis.
    package var height = 200
    /// The background colour.
    package var background = Color.white
    /// The colours of the channels, used in turn; empty for the default appearance.
    package var colors: [Color] = []
    /// The colour of the root mean square inside the peaks; `nil` for one that matches ``colors``.
    package var levelColor: Color?
    /// Indicates whether the root mean square is shown.
    package var hasLevel = true
    /// Indicates whether a time axis is shown at the bottom.
    package var hasAxis = true
    /// The colour of the axis and its labels; `nil` for the default.
    package var axisColor: Color?
    /// The size of the axis and its labels, 1…16: with 1, labels are ten pixels large.
    package var textScale = 1
    /// The amplitude scale, linear or dB.
    package var amplitude = WaveformStyle.Amplitude.linear
    /// The factor applied to samples; `nil` to scale the loudest one to full height.
    package var amplitudeScale: Double? = 1
    /// The bars that replace the outline; `nil` for an outline.
    package var bars: WaveformStyle.Bars?

    /// Creates the default appearance.
    package init() {}

    /// Throws ``MediaError`` `invalidArgument` or `limitExceeded` if no picture of a width can be drawn.
    package func check(width: Int = standardWidth) throws(MediaError) {
        guard (1...Self.maximumWidth).contains(width) else {
            throw MediaError(.invalidArgument, "a picture is 1 to \(Self.maximumWidth) pixels wide, not \(width)")
        }
        _ = try renderer(width: width, axis: nil)
    }

    /// Returns the contents of a picture file.
    ///
    /// - Parameters:
    ///   - columns: The values for each column of pixels.
    ///   - format: PNG or SVG.
    ///   - startSeconds: The start time of the first column, for the axis.
    ///   - secondsPerPixel: The duration of a column.
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
