package import MediaAnalysis
internal import MediaBase
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
