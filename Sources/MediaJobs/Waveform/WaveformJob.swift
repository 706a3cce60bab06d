package import AssetKit
internal import MediaAnalysis
internal import MediaBase

/// Reads one audio track once and writes any number of peaks files and pictures of it.
///
/// ```swift
/// let job = WaveformJob(asset: Asset(path: "a.mov"), options: WaveformOptions())
/// let output = WaveformOutput(path: "a.dat", format: .dat)
/// let report = try job.run([output], into: OutputFileSet(force: false, inputs: []))
/// ```
package struct WaveformJob: Sendable {
    private let asset: Asset
    private let options: WaveformOptions

    /// Makes a job; nothing is read yet.
    package init(asset: Asset, options: WaveformOptions) {
        self.asset = asset
        self.options = options
    }

    /// Does the work.
    ///
    /// An output that cannot be written does not keep the others from being written: its error is in the report. Where
    /// not one of them can be, and where the sound cannot be read, there is nothing left of any.
    ///
    /// - Parameters:
    ///   - outputs: What to write; none for the report alone.
    ///   - files: Where the outputs are listed.
    ///   - progress: Told now and then which part is done, 0…1, and how many seconds of sound that is.
    /// - Throws: ``MediaError`` `noSuchTrack`, `outOfRange`, `damaged` (also for any damage where the options are
    ///   strict), and what reading throws; the outputs' own error where none can be written.
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
        let sound = try WaveformReading(asset: asset, track: track, range: range, request, options)
            .measure(progress: progress)
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
