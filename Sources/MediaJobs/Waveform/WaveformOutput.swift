package import MediaAnalysis
package import SystemPackage

/// One file that a waveform job is asked to write.
package struct WaveformOutput: Sendable, Hashable {
    /// What kind of file.
    package enum Format: String, Sendable, Hashable, CaseIterable, Encodable {
        /// audiowaveform's binary peaks.
        case dat
        /// audiowaveform's peaks as JSON.
        case json
        /// A picture.
        case png
        /// Binary peaks of 8 bits, all that peaks.js reads.
        case peaksjs

        /// The format that a file name's extension stands for, upper or lower case; `nil` for an unknown one.
        package init?(extensionOf path: FilePath) {
            switch path.extension?.lowercased() {
            case "dat": self = .dat
            case "json": self = .json
            case "png": self = .png
            default: return nil
            }
        }

        /// How the file's peaks are written; `nil` for a picture.
        package var peakFile: PeakFile.Format? {
            switch self {
            case .dat, .peaksjs: .binary
            case .json: .json
            case .png: nil
            }
        }
    }

    /// Where the file goes; `-` is standard output.
    package var path: FilePath
    /// What kind of file it is.
    package var format: Format
    /// How many samples a point of a peaks file covers; without meaning for a picture, which is fitted to its width.
    package var samplesPerPixel: Int
    /// The resolution of a peaks file's values, 8 or 16.
    package var bits: Int

    /// Makes a request; no check is made.
    package init(path: FilePath, format: Format, samplesPerPixel: Int = 256, bits: Int = 16) {
        self.path = path
        self.format = format
        self.samplesPerPixel = samplesPerPixel
        self.bits = format == .peaksjs ? 8 : bits
    }
}
