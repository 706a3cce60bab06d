internal import MediaAnalysis
internal import MediaBase
internal import SystemPackage

/// Makes other outputs of a peaks file: coarser levels, other formats, pictures.
///
/// What a peaks file does not hold is not made up: its channels stay as they are, or one is chosen; a level must be an
/// exact multiple of its own; a range is widened to whole points.
package struct PeaksFileJob: Sendable {
    private let input: PeaksFileInput
    private let options: WaveformOptions

    /// Makes a job; ``WaveformOptions/channels`` `mixed` and `split` both leave the channels as they are.
    package init(_ input: PeaksFileInput, options: WaveformOptions) {
        self.input = input
        self.options = options
    }

    /// Does the work; see ``WaveformJob/run(_:into:progress:)``.
    package func run(_ outputs: [WaveformOutput], into files: OutputFileSet) throws -> PeaksFileReport {
        guard options.track == nil else {
            throw MediaError(.invalidArgument, "a peaks file has no tracks to choose from")
        }
        let range = try pointRange()
        let peaks = try channels(
            of: range.points == 0..<input.peaks.length ? input.peaks : input.peaks.points(range.points))
        // A whole number of samples: that is all a peaks file can hold.
        let spacing = Int64(input.peaks.samplesPerPixel)
        let timescale = Int32(clamping: peaks.sampleRate)
        let start = MediaTime(value: Int64(range.points.lowerBound) * spacing, timescale: timescale)
        let frames = Int64(peaks.length) * spacing

        var writer = try WaveformWriter(outputs, into: files)
        try writer.write(WaveformSource(peaks, start: start, frames: frames), picture: options.picture)
        return PeaksFileReport(
            peaksFile: .init(input), sampleRate: peaks.sampleRate, requested: range.requested, start: start,
            duration: MediaTime(value: frames, timescale: timescale), outputs: writer.results,
            channels: (0..<peaks.channels).map { .init(peakDBFS: peaks.peakDBFS(channel: $0)) })
    }

    private func channels(of peaks: Peaks) throws(MediaError) -> Peaks {
        guard case .single(let channel) = options.channels else { return peaks }
        guard let own = peaks.channel(channel) else {
            throw MediaError(
                .invalidArgument, "there is no channel \(channel): the peaks file has \(peaks.channels), from 0")
        }
        return own
    }

    /// The points that a range touches.
    private func pointRange() throws(MediaError) -> (points: Range<Int>, requested: RequestedRange?) {
        let peaks = input.peaks
        let end = MediaTime(
            value: Int64(peaks.length) * Int64(peaks.samplesPerPixel), timescale: Int32(clamping: peaks.sampleRate))
        let context = TimeExpression.Context(timeRange: MediaTimeRange(start: .zero, duration: end))
        let start = try options.start?.resolve(in: context)
        let until = options.end == .end ? nil : try options.end?.resolve(in: context)
        try WaveformRange.check(start: start, end: until)
        guard options.start != nil || options.end != nil else { return (0..<peaks.length, nil) }

        let spacing = Int64(peaks.samplesPerPixel)
        let rate = Int32(clamping: peaks.sampleRate)
        let first = ((start ?? .zero).sampleIndex(rate: rate, rounding: .down) ?? 0) / spacing
        guard first < peaks.length || peaks.length == 0 else {
            throw MediaError(
                .outOfRange, "there is nothing from \((start ?? .zero).seconds) s on; it ends at \(end.seconds) s")
        }
        var last = Int64(peaks.length)
        if let index = until?.sampleIndex(rate: rate, rounding: .up) {
            last = min(last, index / spacing + (index % spacing == 0 ? 0 : 1))
        }
        let requested = RequestedRange(start: start, end: until)
        return (Int(first)..<max(Int(last), Int(first)), requested)
    }
}
