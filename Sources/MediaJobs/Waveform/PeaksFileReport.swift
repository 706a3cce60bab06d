internal import MediaAnalysis
package import MediaBase

/// What was read from a peaks file and written; its JSON has the keys in this order.
package struct PeaksFileReport: Encodable, Sendable {
    /// What the file is.
    package var peaksFile: PeaksFile
    /// Samples a second of the sound that was measured.
    package var sampleRate: Int
    /// The range that was asked for; `nil` for all of it.
    package var requested: RequestedRange?
    /// When the first point begins.
    package var start: MediaTime
    /// How much the points cover: up to a point more than the sound, whose exact length the file does not say.
    package var duration: MediaTime
    /// The outputs, in the order asked for.
    package var outputs: [WaveformReport.Output]
    /// Each channel's peak.
    package var channels: [Channel]

    /// The file as it is.
    package struct PeaksFile: Encodable, Sendable {
        /// Its form.
        package var format: WaveformOutput.Format
        /// Bits of a value.
        package var bits: Int
        /// Samples in a point.
        package var samplesPerPixel: Int
        /// Its points.
        package var points: Int
        /// Its channels.
        package var channels: Int

        init(_ input: PeaksFileInput) {
            format = input.format
            bits = input.peaks.bits
            samplesPerPixel = input.peaks.samplesPerPixel
            points = input.peaks.length
            channels = input.peaks.channels
        }
    }

    /// What the peaks tell of one channel.
    package struct Channel: Encodable, Sendable {
        /// The largest magnitude; −∞ for silence, which JSON shows as `null`.
        package var peakDBFS: Double
    }

    /// Why outputs are missing, each error naming its output; empty where all were written.
    package var outputErrors: [MediaError] { outputs.compactMap(\.error) }
}
