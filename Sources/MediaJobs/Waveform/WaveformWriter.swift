internal import FileOutput
internal import MediaAnalysis
internal import MediaBase
internal import SystemPackage

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

/// Turns peaks into the bytes of outputs.
struct WaveformEncoding {
    let source: WaveformSource
    let picture: WaveformPicture
    /// When writing ends with `timedOut`; `nil` for never.
    let deadline: ContinuousClock.Instant?

    /// The widest picture with a pixel for each point, which is what libpng takes.
    private static let maximumPixels = 1_000_000

    /// Writes the bytes of an output, and gives what the report says of it.
    ///
    /// - Throws: ``MediaError`` `unsupported` for what the format cannot hold, `invalidArgument` and `limitExceeded`
    ///   for points or pixels that cannot be had.
    func write(_ output: WaveformOutput, to file: OutputFile) throws -> WaveformReport.Output.Content {
        if let content = try writeMeasured(output, to: file) { return content }
        let (content, bytes) = output.format.isPicture ? try encodePicture(output) : try encodeValues(output)
        try file.write(contentsOf: bytes)
        return content
    }

    /// Writes values of a measured level without having all of them in memory; `nil` for pictures, what is fitted, and text
    /// of what is in memory anyway.
    private func writeMeasured(
        _ output: WaveformOutput, to file: OutputFile
    ) throws -> WaveformReport.Output.Content? {
        guard !output.format.isPicture, output.format != .wavesurfer else { return nil }
        let density: WaveformDensity?
        switch output.scale {
        case .standard: density = nil
        case .level(let wanted): density = wanted
        case .fitted: return nil
        }
        guard let peaks = try source.measuredPeaks(at: density) else { return nil }
        let bits = output.bits ?? 16
        switch output.format.peakFile {
        case .binary: try peaks.writeBinary(bits: bits, to: file, until: deadline)
        case .json where peaks.spill != nil: try peaks.writeJSON(bits: bits, to: file, until: deadline)
        case nil where peaks.spill != nil: try peaks.writeLines(bits: bits, to: file, until: deadline)
        default: return nil
        }
        var content = WaveformReport.Output.Content(channels: peaks.rest.channels)
        content.points = peaks.length
        content.bits = bits
        content.setDensity(peaks.rest.spacing, sampleRate: source.sampleRate, of: output)
        return content
    }

    private func encodeValues(_ output: WaveformOutput) throws -> (WaveformReport.Output.Content, [UInt8]) {
        var peaks: Peaks
        switch output.scale {
        case .standard: peaks = try source.peaks(at: nil)
        case .level(let density): peaks = try source.peaks(at: density)
        case .fitted(let width): peaks = try source.peaksForFitting().fitted(to: width, frames: source.frames)
        }
        // wavesurfer's values are fractions of 32768.
        let bits = output.format == .wavesurfer ? 16 : output.bits
        if let bits { peaks = try peaks.converted(toBits: bits) }

        var content = WaveformReport.Output.Content(channels: peaks.channels)
        content.points = peaks.length
        content.bits = output.format == .wavesurfer ? nil : peaks.bits
        content.setDensity(peaks.spacing, sampleRate: source.sampleRate, of: output)
        switch output.format {
        case .csv, .txt: return (content, PeakText.lines(peaks))
        case .wavesurfer:
            return (content, PeakText.wavesurfer(peaks, seconds: Double(source.frames) / Double(source.sampleRate)))
        case .dat, .json, .peaksjs, .png, .svg:
            return (content, try PeakFile.encode(peaks, as: output.format.peakFile ?? .binary))
        }
    }

    private func encodePicture(
        _ output: WaveformOutput
    ) throws -> (WaveformReport.Output.Content, [UInt8]) {
        let peaks: Peaks
        let width: Int
        let spacing: Peaks.Spacing?
        let secondsPerPixel: Double
        switch output.scale {
        case .fitted(let columns):
            peaks = try source.peaksForFitting()
            width = columns
            // A picture may be wider than there are samples; then there is no such number.
            spacing = try? Peaks.Spacing(samples: Int(clamping: source.frames), points: width)
            secondsPerPixel = Double(source.frames) / Double(source.sampleRate) / Double(width)
        case .standard, .level:
            if case .level(let density) = output.scale {
                peaks = try source.peaks(at: density)
            } else {
                peaks = try source.peaks(at: nil)
            }
            width = max(1, peaks.length)
            spacing = peaks.spacing
            secondsPerPixel =
                Double(peaks.spacing.samples) / Double(peaks.spacing.points) / Double(source.sampleRate)
        }
        guard width <= Self.maximumPixels else {
            throw MediaError(
                .limitExceeded,
                "the picture would be \(width) pixels wide, and \(Self.maximumPixels) are the most: ask for fewer points a "
                    + "second, or for a width")
        }
        let bytes = try picture.file(
            of: WaveformColumns(peaks, width: width), as: output.format, startSeconds: source.start.seconds,
            secondsPerPixel: secondsPerPixel)
        var content = WaveformReport.Output.Content(channels: peaks.channels)
        content.width = width
        content.height = picture.height
        if let spacing { content.setDensity(spacing, sampleRate: source.sampleRate, of: output) }
        return (content, bytes)
    }
}

/// The outputs of a waveform job: opened before the sound is read, so that what cannot be written is known at once.
struct WaveformWriter {
    private var entries: [Entry]

    private struct Entry {
        let output: WaveformOutput
        /// The open file, until it is written.
        var file: OutputFile?
        /// What became of it; `nil` before.
        var result: Result<WaveformReport.Output.Content, MediaError>?
    }

    /// Opens the outputs; throws the first one's error where not one of them can be opened.
    init(_ outputs: [WaveformOutput], into files: OutputFileSet) throws {
        entries = []
        for output in outputs {
            do {
                entries.append(Entry(output: output, file: try files.begin(output.path)))
            } catch let error as MediaError {
                entries.append(Entry(output: output, result: .failure(error)))
            }
        }
        try throwIfAllFailed()
    }

    /// The zoom levels of the outputs.
    var levels: [WaveformDensity] {
        open.compactMap { output in
            switch output.scale {
            case .standard: .samplesPerPixel(WaveformOutput.standardSamplesPerPixel)
            case .level(let density): density
            case .fitted: nil
            }
        }
    }

    /// Whether a picture shows a zoom level, for which mean squares are measured.
    var hasPictureOfLevel: Bool {
        open.contains { output in
            if case .fitted = output.scale { false } else { output.format.isPicture }
        }
    }

    /// The greatest width to which an output is fitted; 0 where none is.
    var widestFitted: Int {
        open.reduce(0) { widest, output in
            if case .fitted(let width) = output.scale { max(widest, width) } else { widest }
        }
    }

    private var open: [WaveformOutput] { entries.filter { $0.file != nil }.map(\.output) }

    /// What was written, in the order asked for.
    var results: [WaveformReport.Output] {
        entries.compactMap { entry in
            entry.result.map { .init(path: entry.output.path, format: entry.output.format, result: $0) }
        }
    }

    /// Writes each output and puts them in place in one turn; throws the first one's error where not one of them can be.
    ///
    /// - Parameter deadline: When writing ends with `timedOut`; `nil` for never.
    mutating func write(
        _ source: WaveformSource, picture: WaveformPicture, until deadline: ContinuousClock.Instant? = nil
    ) throws {
        let encoding = WaveformEncoding(source: source, picture: picture, deadline: deadline)
        var written: [(index: Int, file: OutputFile)] = []
        for index in entries.indices {
            guard let file = entries[index].file.take() else { continue }
            do {
                entries[index].result = .success(try encoding.write(entries[index].output, to: file))
                written.append((index, file))
            } catch let error as MediaError {
                file.discard()
                entries[index].result = .failure(error)
            }
        }
        for (index, error) in OutputFile.commit(written.map(\.file)) {
            entries[written[index].index].result = .failure(error)
        }
        try throwIfAllFailed()
    }

    /// A report is worth having as long as something was delivered.
    private func throwIfAllFailed() throws {
        guard let first = entries.first else { return }
        let failures = entries.compactMap { entry in
            if case .failure(let error) = entry.result { error.at(path: entry.output.path.string) } else { nil }
        }
        // Nobody reads standard output any more: nothing else matters then.
        if let closed = failures.first(where: { $0.code == .brokenPipe && $0.path == "-" }) { throw closed }
        if failures.count == entries.count { throw failures.first ?? MediaError(.inputOutput, "\(first.output.path)") }
    }
}
