internal import FileOutput
internal import MediaBase
internal import Peaks
internal import SystemPackage

/// The peaks that outputs are made from, either measured or read from a peaks file.
struct WaveformSource {
    let sampleRate: Int
    /// The start time of the first point in the presentation.
    let start: MediaTime
    /// The number of samples in each channel that the points cover.
    let frames: Int64
    /// The samples per point of an output that requests none.
    let standard: Peaks.Spacing
    /// The peaks of each measured level.
    var levels: [Peaks.Spacing: MeasuredPeaks] = [:]
    /// The peaks from which coarser levels are computed; `nil` if every level was measured.
    var base: Peaks?
    /// Peaks of sufficient resolution for the outputs that are fitted to a width; `nil` if there are none.
    var overview: Peaks?

    /// Creates a source from measured audio.
    init(_ sound: MeasuredSound) throws(MediaError) {
        sampleRate = sound.sampleRate
        start = sound.start
        frames = sound.frames
        standard = try Peaks.Spacing(samples: WaveformOutput.standardSamplesPerPixel)
        levels = sound.measured.levels
        overview = sound.measured.overview
    }

    /// Creates a source from the peaks of a file, which have no data between their points.
    init(_ peaks: Peaks, start: MediaTime, frames: Int64) {
        sampleRate = peaks.sampleRate
        self.start = start
        self.frames = frames
        standard = peaks.spacing
        base = peaks
        overview = peaks
    }

    /// Returns the peaks of a measured zoom level, which need not be in memory; `nil` if the level was not measured.
    func measuredPeaks(at density: WaveformDensity?) throws(MediaError) -> MeasuredPeaks? {
        levels[try density?.spacing(sampleRate: sampleRate) ?? standard]
    }

    /// Returns the peaks at a zoom level.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` for a level that was not measured and cannot be computed.
    func peaks(at density: WaveformDensity?) throws -> Peaks {
        if let measured = try measuredPeaks(at: density) { return try measured.whole() }
        let spacing = try density?.spacing(sampleRate: sampleRate) ?? standard
        guard let base else { throw MediaError(.invalidArgument, "the level of \(spacing) was not measured") }
        return try base.coarser(to: spacing)
    }

    /// Returns the peaks of the whole audio for outputs that are fitted to a width.
    func peaksForFitting() throws(MediaError) -> Peaks {
        guard let overview else { throw MediaError(.invalidArgument, "the output was not measured") }
        return overview
    }
}

/// Encodes peaks as outputs.
struct WaveformEncoding {
    let source: WaveformSource
    let picture: WaveformPicture
    /// The time at which writing fails with `timedOut`; `nil` for no limit.
    let deadline: ContinuousClock.Instant?

    /// The maximum width of a picture with one pixel per point, as limited by libpng.
    private static let maximumPixels = 1_000_000

    /// Writes an output to a file, and returns its properties for the report.
    ///
    /// - Throws: ``MediaError`` `unsupported` for values that the format cannot hold, `invalidArgument` and
    ///   `limitExceeded` for numbers of points or pixels that are not possible.
    func write(_ output: WaveformOutput, to file: OutputFile) throws -> WaveformReport.Output.Content {
        if let content = try writeMeasured(output, to: file) { return content }
        let (content, bytes) = output.format.isPicture ? try encodePicture(output) : try encodeValues(output)
        try file.write(contentsOf: bytes)
        return content
    }

    /// Writes the values of a measured level without loading all of them into memory.
    ///
    /// Returns `nil` for pictures, for outputs that are fitted to a width, and for text if the values are in memory
    /// anyway.
    private func writeMeasured(
        _ output: WaveformOutput, to file: OutputFile
    ) throws -> WaveformReport.Output.Content? {
        let density: WaveformDensity?
        switch output.scale {
        case .standard: density = nil
        case .level(let wanted): density = wanted
        case .fitted: return nil
        }
        guard let peaks = try source.measuredPeaks(at: density) else { return nil }
        let bits = output.bits ?? 16
        switch output.format.encoding {
        case .peaks(.binary): try peaks.writeBinary(bits: bits, to: file, until: deadline)
        case .peaks(.json) where peaks.spill != nil: try peaks.writeJSON(bits: bits, to: file, until: deadline)
        case .lines(let separator) where peaks.spill != nil:
            try peaks.writeLines(bits: bits, separator: separator, to: file, until: deadline)
        case .peaks, .lines, .wavesurfer, .picture: return nil
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
        let bytes =
            switch output.format.encoding {
            case .lines(let separator): PeakText.lines(peaks, separator: separator)
            case .wavesurfer: PeakText.wavesurfer(peaks, seconds: Double(source.frames) / Double(source.sampleRate))
            case .peaks(let format): try PeakFile.encode(peaks, as: format)
            case .picture: try encodePicture(output).1
            }
        return (content, bytes)
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
            // A picture may be wider than the number of samples; such a spacing cannot be represented.
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

/// The outputs of a waveform job, opened before the audio is read so that errors are reported early.
struct WaveformWriter {
    private var entries: [Entry]

    private struct Entry {
        let output: WaveformOutput
        /// The open file, until it has been written.
        var file: OutputFile?
        /// The result; `nil` before writing.
        var result: Result<WaveformReport.Output.Content, MediaError>?
    }

    /// Opens the outputs; throws the first error if none can be opened.
    init(_ outputs: [WaveformOutput], into files: OutputFileSet) throws {
        entries = []
        for output in outputs {
            do throws(MediaError) {
                entries.append(Entry(output: output, file: try files.begin(output.path)))
            } catch {
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

    /// Indicates whether a picture shows a zoom level, which requires mean squares.
    var hasPictureOfLevel: Bool {
        open.contains { output in
            if case .fitted = output.scale { false } else { output.format.isPicture }
        }
    }

    /// The maximum width to which an output is fitted; 0 if there is none.
    var widestFitted: Int {
        open.reduce(0) { widest, output in
            if case .fitted(let width) = output.scale { max(widest, width) } else { widest }
        }
    }

    private var open: [WaveformOutput] { entries.filter { $0.file != nil }.map(\.output) }

    /// The results in request order.
    var results: [WaveformReport.Output] {
        entries.compactMap { entry in
            entry.result.map { .init(path: entry.output.path, format: entry.output.format, result: $0) }
        }
    }

    /// Writes the outputs and puts them in place together; throws the first error if none can be written.
    ///
    /// - Parameter deadline: The time at which writing fails with `timedOut`; `nil` for no limit.
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

    /// Throws the first error if all outputs failed; otherwise, the errors are in the report.
    private func throwIfAllFailed() throws {
        guard let first = entries.first else { return }
        let failures = entries.compactMap { entry in
            if case .failure(let error) = entry.result { error.at(path: entry.output.path.string) } else { nil }
        }
        // If the reader of standard output has closed it, all other errors are irrelevant.
        if let closed = failures.first(where: { $0.code == .brokenPipe && $0.path == "-" }) { throw closed }
        if failures.count == entries.count { throw failures.first ?? MediaError(.inputOutput, "\(first.output.path)") }
    }
}
