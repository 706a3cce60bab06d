package import MediaBase
internal import Peaks
package import SystemPackage

/// The measurements and outputs of a waveform job; its JSON has the keys in this order.
package struct WaveformReport: Encodable, Sendable {
    /// The index of the track: ``AssetTrack/index``.
    package var trackIndex: Int
    /// The ID of the track in the container: ``AssetTrack/id``.
    package var trackID: Int
    /// The decoded sample rate in hertz, which may differ from that in the header.
    package var sampleRate: Int
    /// The decoded channel layout; `nil` if only the number of channels is known.
    package var channelLayout: String?
    /// The requested range; `nil` for the whole track.
    package var requested: RequestedRange?
    /// The time of the first sample.
    package var start: MediaTime
    /// The exact duration of the measured audio.
    package var duration: MediaTime
    /// The number of samples in each channel.
    package var samples: Int64
    /// The number of samples before time 0 that were left out; `nil` if reading started later.
    ///
    /// These are the encoder's priming and samples that an edit list does not show.
    package var cutBeforeZero: Int64?
    /// The number of samples of silence that replace a late start.
    package var lateStart: Int64
    /// The number of samples of silence that replace holes.
    package var holes: Int64
    /// The outputs in request order.
    package var outputs: [Output]
    /// The loudness of each channel.
    package var channels: [Channel]
    /// A summary of the data that could not be used.
    package var damage: DamageSummary

    /// The loudness of one channel; full scale is 0 dB.
    package struct Channel: Encodable, Sendable {
        /// The largest magnitude; −∞ for silence, which is `null` in JSON.
        package var peakDBFS: Double
        /// The root mean square over all samples; −∞ for silence, which is `null` in JSON.
        package var rmsDBFS: Double
        /// The number of samples at full scale before the conversion to 16 bits.
        package var clippedSamples: Int64
    }
}

extension WaveformReport {
    /// The result of one output.
    package struct Output: Encodable, Sendable {
        /// The requested path; `-` for standard output.
        package var path: FilePath
        /// The format of the file.
        package var format: WaveformOutput.Format
        /// The contents that were written, or the error.
        package var result: Result<Content, MediaError>

        /// The properties of a file's contents; `nil` for those that its format does not have.
        package struct Content: Encodable, Sendable {
            /// The number of bits per value.
            package var bits: Int?
            /// The number of samples per point or column of pixels, not always a whole number.
            package var samplesPerPixel: Double?
            /// The exact number of points or columns of pixels per second.
            package var pixelsPerSecond: Rational?
            /// The requested points per second.
            package var requestedPixelsPerSecond: Rational?
            /// The number of points, each with a minimum and a maximum per channel.
            package var points: Int?
            /// The width of a picture in pixels.
            package var width: Int?
            /// The height of a picture in pixels.
            package var height: Int?
            /// The number of channels in the file; 1 if they are mixed.
            package var channels: Int

            private enum Key: String, CodingKey {
                case bits, samplesPerPixel, pixelsPerSecond, requestedPixelsPerSecond, points, width, height, channels
            }

            init(channels: Int) { self.channels = channels }

            /// Writes the properties that are not `nil`; a whole number of samples is written without a fraction.
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

        /// Writes the keys of the output's contents, or `error` instead.
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

    /// The errors of outputs that were not written, each naming its output.
    package var outputErrors: [MediaError] { outputs.compactMap(\.error) }
}

extension WaveformReport.Output {
    /// The error of an output that was not written, with its path; `nil` if it was written.
    var error: MediaError? {
        if case .failure(let error) = result { error.at(path: path.string) } else { nil }
    }
}
