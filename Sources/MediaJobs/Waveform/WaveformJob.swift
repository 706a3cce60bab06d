package import AssetKit
internal import Inspection
package import MediaBase
package import Peaks
package import SystemPackage

/// The settings of a waveform job, except for its outputs.
package struct WaveformOptions: Sendable {
    /// The track; `nil` for the first enabled audio track.
    package var track: TrackSelector?
    /// The start time; `nil` for time 0 of the presentation.
    package var start: TimeExpression?
    /// The end time; `nil` for the track's end.
    package var end: TimeExpression?
    /// The channels of peaks and pictures.
    package var channels = PeakBuilder.ChannelMode.mixed
    /// The appearance of pictures.
    package var picture = WaveformPicture()
    /// Indicates whether damage in the input is an error.
    package var isStrict = false
    /// The number of decoding threads, which does not affect the result; 0 for one per core.
    package var threads = 0
    /// Indicates whether the track is decoded serially instead of in parallel segments.
    package var isSerial = false

    /// Creates options for the whole first enabled audio track, mixed.
    package init() {}

    /// The highest frame number in ``start`` and ``end``; `nil` if there is none.
    var highestFrame: Int64? { [start, end].compactMap(\.self).highestFrame }

    /// Indicates whether ``start`` or ``end`` depends on the track's duration, so that the asset should be opened with
    /// exact timing.
    package var needsExactDuration: Bool {
        [start, end].contains { if case .percentage = $0 { true } else { $0 == .end } }
    }

    /// Indicates whether the whole file is read before the audio, so that the data of a pipe has to be kept.
    package var readsPipeAgain: Bool { needsExactDuration || highestFrame != nil }
}

/// Reads one audio track once, and writes any number of peaks files and pictures of it.
///
/// ```swift
/// let job = WaveformJob(asset: Asset(path: "a.mov"), options: WaveformOptions())
/// let output = WaveformOutput(path: "a.dat", format: .dat)
/// let report = try job.run([output], into: OutputFileSet(force: false, inputs: []))
/// ```
package struct WaveformJob: Sendable {
    private let asset: Asset
    private let options: WaveformOptions

    /// Creates a job without reading anything.
    package init(asset: Asset, options: WaveformOptions) {
        self.asset = asset
        self.options = options
    }

    /// Reads the audio and writes the outputs.
    ///
    /// An output that cannot be written does not prevent the others; its error is in the report. If none can be
    /// written, or if the audio cannot be read, no output is left.
    ///
    /// - Parameters:
    ///   - outputs: The outputs to write; empty for the report alone.
    ///   - files: The set that the outputs are added to.
    ///   - progress: Receives the completed fraction, 0…1, and the processed seconds of audio from time to time.
    /// - Throws: ``MediaError`` `noSuchTrack`, `outOfRange`, `damaged` (also for any damage if the options are strict),
    ///   and reading errors; the error of the first output if none can be written.
    package func run(
        _ outputs: [WaveformOutput], into files: OutputFileSet, progress: ((Double, Double) -> Void)? = nil
    ) throws -> WaveformReport {
        let tracks = try asset.loadNow(.tracks)
        let track =
            try options.track?.track(of: .audio, in: tracks)
            ?? TrackSelector.standardTrack(of: .audio, in: tracks)
        let range = try WaveformRange(options, track: track, of: asset)

        var writer = try WaveformWriter(outputs, into: files.limited(to: asset.outputAllowance()))
        let request = WaveformMeter.Request(
            mode: options.channels, levels: writer.levels, measuresMeanSquares: writer.hasPictureOfLevel,
            columns: writer.widestFitted)
        let sound = try WaveformReading(
            asset: asset, track: track, range: range, request: request, options: options
        ).measure(progress: progress)
        if options.isStrict, let error = DamageSummary(sound.damage).strictError { throw error }
        try writer.write(WaveformSource(sound), picture: options.picture, until: asset.deadline)
        return report(track, range, sound, writer.results)
    }

    private func report(
        _ track: AssetTrack, _ range: WaveformRange, _ sound: MeasuredSound, _ outputs: [WaveformReport.Output]
    ) -> WaveformReport {
        WaveformReport(
            trackIndex: track.index, trackID: track.id, sampleRate: sound.sampleRate,
            channelLayout: sound.channelLayout.knownName, requested: range.requested, start: sound.start,
            duration: MediaTime(value: sound.frames, timescale: Int32(clamping: sound.sampleRate)),
            samples: sound.frames, cutBeforeZero: sound.cutBeforeZero, lateStart: sound.lateStart, holes: sound.holes,
            outputs: outputs,
            channels: sound.measured.statistics.channels.map { channel in
                WaveformReport.Channel(
                    peakDBFS: channel.peakDBFS, rmsDBFS: channel.rmsDBFS, clippedSamples: channel.clippedCount)
            },
            damage: DamageSummary(sound.damage))
    }
}

/// The part of the presentation that is measured.
struct WaveformRange {
    /// The start time, 0 or later.
    let start: MediaTime
    /// The end time, which is excluded; `nil` for the track's end.
    let end: MediaTime?
    /// The range as it was requested; `nil` if none was.
    let requested: RequestedRange?

    /// - Throws: ``MediaError`` `outOfRange` for a start before 0, `invalidArgument` for an empty range, and the errors
    ///   of ``TimeExpression/resolve(in:frameTime:)``.
    init(_ options: WaveformOptions, track: AssetTrack, of asset: Asset) throws(MediaError) {
        guard options.start != nil || options.end != nil else {
            (start, end, requested) = (.zero, nil, nil)
            return
        }
        let pictures = try asset.loadNow(.tracks).first { $0.mediaType == .video && !$0.isAttachedPicture }
        let context = try Self.context(track: track, pictures: pictures, asset: asset)
        var frames = pictures.map {
            FrameTimes(asset, track: $0, highest: options.highestFrame ?? 0, threads: options.threads)
        }
        func frameTime(_ number: Int64) throws(MediaError) -> MediaTime {
            guard let time = try frames?.time(of: number) else {
                throw MediaError(.invalidArgument, "a frame number needs a video track, and the file has none")
            }
            return time
        }
        let start = try options.start?.resolve(in: context, frameTime: frameTime)
        // The audio is read to its own end, regardless of the end declared by the container.
        let end = options.end == .end ? nil : try options.end?.resolve(in: context, frameTime: frameTime)
        try RequestedRange.check(start: start, end: end)
        self.start = start ?? .zero
        self.end = end
        requested = RequestedRange(start: start, end: end)
    }

    /// Returns the context for times; frame rate, frame numbers and timecodes are those of the video track, if there is
    /// one.
    private static func context(
        track: AssetTrack, pictures: AssetTrack?, asset: Asset
    ) throws(MediaError) -> TimeExpression.Context {
        var context = try TimeExpression.Context(pictures ?? track, in: asset)
        context.timeRange = track.timeRange
        return context
    }
}

/// The measured audio of a track in a range.
struct MeasuredSound {
    var sampleRate: Int
    var channelLayout: ChannelLayout
    /// The time of the first sample.
    var start: MediaTime
    /// The number of samples in each channel.
    var frames: Int64
    /// The number of samples before time 0 that were left out; `nil` if reading started later.
    var cutBeforeZero: Int64?
    /// The number of samples of silence that replace a late start.
    var lateStart: Int64
    /// The number of samples of silence that replace holes.
    var holes: Int64
    var measured: WaveformMeter.Result
    var damage: DamageReport
}

/// Reads a track's audio in a range, in a ``Pass`` with one consumer, and measures it.
struct WaveformReading {
    let asset: Asset
    let track: AssetTrack
    let range: WaveformRange
    let request: WaveformMeter.Request
    let options: WaveformOptions

    /// Reads and measures the audio up to the end of the range.
    func measure(progress: ((Double, Double) -> Void)?) throws -> MeasuredSound {
        let audio = AudioMeasurement<WaveformMeter>(track, from: range.start, to: range.end, request)
        let pass = Pass(asset, from: range.start, threads: options.threads, isSerial: options.isSerial)
        pass.join(audio)
        try pass.run(until: range.end, progress: progress)
        if audio.meter == nil { try audio.begin(try formOfNothing()) }
        guard let form = audio.form, let meter = audio.takeMeter() else { throw track.errorOfNothing }
        let rate = Int32(clamping: form.sampleRate)
        let first = range.start.sampleIndex(rate: rate, rounding: .up) ?? 0
        return MeasuredSound(
            sampleRate: form.sampleRate, channelLayout: form.channelLayout,
            start: MediaTime(value: first, timescale: rate), frames: audio.frames,
            cutBeforeZero: range.start == .zero ? pass.samplesCutBeforeZero(of: track) : nil,
            lateStart: audio.lateStart, holes: audio.holes, measured: try meter.finish(), damage: pass.damage)
    }

    /// Returns the form that the header states of a track without samples.
    ///
    /// Throws if the header declares that the track has content.
    private func formOfNothing() throws(MediaError) -> AudioTrackForm {
        guard range.start == .zero else {
            let end = track.timeRange.end
            let known = end.isNumeric ? "; it ends at \(end.seconds) s" : ""
            throw MediaError(.outOfRange, "there is no audio after \(range.start.seconds) s\(known)")
        }
        guard let format = track.formatDescriptions.first?.audio, format.sampleRate > 0, format.channels > 0 else {
            throw MediaError(
                .damaged, "track \(track.index) has no audio, and its header states neither rate nor channels")
        }
        let isFragmented = try asset.loadNow(.container).isFragmented == true
        guard !track.statesContent(inFragments: isFragmented) else { throw track.errorOfNothing }
        return AudioTrackForm(
            sampleRate: format.sampleRate, channelLayout: format.channelLayout, sampleFormat: nil,
            statedBits: track.statedSampleBits)
    }
}

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
            case file, fileBytes, format, error
        }

        /// Writes the keys of the output's contents, or `error` instead.
        package func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            try object.encode(path.string, forKey: .file)
            try object.encodeIfPresent(path.pathBytes, forKey: .fileBytes)
            try object.encode(format, forKey: .format)
            switch result {
            case .success(let content): try content.encode(to: encoder)
            case .failure(let error): try object.encode(ErrorReport(error), forKey: .error)
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
