package import AssetKit
package import MediaBase
package import Peaks

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
        let isAsked = options.start != nil || options.end != nil
        requested = isAsked ? RequestedRange(start: start, end: end) : nil
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
