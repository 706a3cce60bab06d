internal import MediaAnalysis
package import MediaBase
package import SystemPackage

/// What a waveform job measured and wrote; its JSON has the keys in this order.
package struct WaveformReport: Encodable, Sendable {
    /// The track that was read: ``AssetTrack/index``.
    package var trackIndex: Int
    /// The container's own number of it: ``AssetTrack/id``.
    package var trackID: Int
    /// Samples a second, as decoded; a header may say another rate.
    package var sampleRate: Int
    /// Which channels were decoded; `nil` where only their number is known.
    package var channelLayout: String?
    /// The range that was asked for; `nil` for all of the track.
    package var requested: RequestedRange?
    /// When the first sample sounds.
    package var start: MediaTime
    /// How long what was measured lasts, exact.
    package var duration: MediaTime
    /// Samples in each channel.
    package var samples: Int64
    /// Samples before time 0 that were left out (the encoder's priming, and what an edit list does not show); `nil`
    /// where reading began later.
    package var cutBeforeZero: Int64?
    /// Samples of silence that stand for a late start.
    package var lateStart: Int64
    /// Samples of silence that stand for holes.
    package var holes: Int64
    /// The outputs, in the order asked for.
    package var outputs: [Output]
    /// Each channel's loudness.
    package var channels: [Channel]
    /// What could not be used.
    package var damage: DamageSummary

    /// The loudness of one channel; full scale is 0 dB.
    package struct Channel: Encodable, Sendable {
        /// The largest magnitude; −∞ for silence, which JSON shows as `null`.
        package var peakDBFS: Double
        /// The root mean square over all samples; −∞ for silence, which JSON shows as `null`.
        package var rmsDBFS: Double
        /// Samples at full scale before the conversion to 16 bits.
        package var clippedSamples: Int64
    }
}

extension WaveformReport {
    /// One output: what was written, or why it was not.
    package struct Output: Encodable, Sendable {
        /// Where it was asked for; `-` is standard output.
        package var path: FilePath
        /// What kind of file it is.
        package var format: WaveformOutput.Format
        /// What was written.
        package var result: Result<Content, MediaError>

        /// What a file holds; what its kind has not is `nil`.
        package struct Content: Encodable, Sendable {
            /// Bits of a value.
            package var bits: Int?
            /// Samples that a point or a column of pixels covers; not always a whole number.
            package var samplesPerPixel: Double?
            /// Points, or columns of pixels, a second, exactly as they are.
            package var pixelsPerSecond: Rational?
            /// Points a second as they were asked for.
            package var requestedPixelsPerSecond: Rational?
            /// Points, each with a minimum and a maximum a channel.
            package var points: Int?
            /// Pixels across a picture.
            package var width: Int?
            /// Pixels down a picture.
            package var height: Int?
            /// Channels that the file shows; 1 where they are mixed.
            package var channels: Int

            private enum Key: String, CodingKey {
                case bits, samplesPerPixel, pixelsPerSecond, requestedPixelsPerSecond, points, width, height, channels
            }

            init(channels: Int) { self.channels = channels }

            /// Writes what there is; a whole number of samples without a fraction.
            package func encode(to encoder: any Encoder) throws {
                var object = encoder.container(keyedBy: Key.self)
                try object.encodeIfPresent(bits, forKey: .bits)
                if let whole = samplesPerPixel.flatMap(Int.init(exactly:)) {
                    try object.encode(whole, forKey: .samplesPerPixel)
                } else {
                    try object.encodeIfPresent(samplesPerPixel, forKey: .samplesPerPixel)
                }
                try object.encodeIfPresent(pixelsPerSecond, forKey: .pixelsPerSecond)
                try object.encodeIfPresent(requestedPixelsPerSecond, forKey: .requestedPixelsPerSecond)
                try object.encodeIfPresent(points, forKey: .points)
                try object.encodeIfPresent(width, forKey: .width)
                try object.encodeIfPresent(height, forKey: .height)
                try object.encode(channels, forKey: .channels)
            }

            mutating func setDensity(_ spacing: Peaks.Spacing, sampleRate: Int, of output: WaveformOutput) {
                samplesPerPixel = Double(spacing.samples) / Double(spacing.points)
                pixelsPerSecond = Rational(Int64(spacing.points))
                    .divided(by: Rational(Int64(spacing.samples)))?.multiplied(by: Rational(Int64(sampleRate)))
                requestedPixelsPerSecond = output.requestedPixelsPerSecond
            }
        }

        private enum Key: String, CodingKey {
            case file, fileBytes, format, error, code, message
        }

        /// Writes the keys of what the output is, or `error` in their place.
        package func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(path.string, forKey: .file)
            try object.encodeIfPresent(path.pathBytes, forKey: .fileBytes)
            try object.encode(format, forKey: .format)
            switch result {
            case .success(let content): try content.encode(to: encoder)
            case .failure(let failure):
                var error = object.nestedContainer(keyedBy: Key.self, forKey: .error)
                try error.encode(failure.code.rawValue, forKey: .code)
                try error.encode(failure.message, forKey: .message)
            }
        }
    }

    /// Why outputs are missing, each error naming its output; empty where all were written.
    package var outputErrors: [MediaError] { outputs.compactMap(\.error) }
}

extension WaveformReport.Output {
    /// Why the output is missing, naming it; `nil` where it was written.
    var error: MediaError? {
        if case .failure(let error) = result { error.at(path: path.string) } else { nil }
    }
}
