internal import MediaAnalysis
internal import MediaBase

/// The peaks that outputs are made of, whether they were measured or come from a peaks file.
struct WaveformSource {
    let sampleRate: Int
    /// When the first point begins, on the presentation's time line.
    let start: MediaTime
    /// Samples in each channel that the points cover.
    let frames: Int64
    /// The samples a point of an output that asks for none.
    let standard: Peaks.Spacing
    /// The peaks of each level that was measured.
    var levels: [Peaks.Spacing: MeasuredPeaks] = [:]
    /// Peaks from which coarser levels are joined; `nil` where every level was measured.
    var base: Peaks?
    /// Peaks fine enough for what is fitted to a width; `nil` where nothing is.
    var overview: Peaks?

    /// A measurement.
    init(_ sound: MeasuredSound) throws(MediaError) {
        sampleRate = sound.sampleRate
        start = sound.start
        frames = sound.frames
        standard = try Peaks.Spacing(samples: WaveformOutput.standardSamplesPerPixel)
        levels = sound.measured.levels
        overview = sound.measured.overview
    }

    /// Peaks of a file, which say nothing of samples between their points.
    init(_ peaks: Peaks, start: MediaTime, frames: Int64) {
        sampleRate = peaks.sampleRate
        self.start = start
        self.frames = frames
        standard = peaks.spacing
        base = peaks
        overview = peaks
    }

    /// The peaks at a zoom level that was measured, which need not be in memory; `nil` for any other.
    func measuredPeaks(at density: WaveformDensity?) throws(MediaError) -> MeasuredPeaks? {
        levels[try density?.spacing(sampleRate: sampleRate) ?? standard]
    }

    /// The peaks at a zoom level.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` for a level that can neither be found nor joined.
    func peaks(at density: WaveformDensity?) throws -> Peaks {
        if let measured = try measuredPeaks(at: density) { return try measured.whole() }
        let spacing = try density?.spacing(sampleRate: sampleRate) ?? standard
        guard let base else { throw MediaError(.invalidArgument, "the level of \(spacing) was not measured") }
        return try base.coarser(to: spacing)
    }

    /// Peaks of all of the sound for what is fitted to a width.
    func peaksForFitting() throws(MediaError) -> Peaks {
        guard let overview else { throw MediaError(.invalidArgument, "the output was not measured") }
        return overview
    }
}
