internal import FileOutput
internal import MediaAnalysis
internal import MediaBase

/// Turns peaks into the bytes of outputs.
struct WaveformEncoding {
    let source: WaveformSource
    let picture: WaveformPicture
    /// When writing ends with `timedOut`; `nil` for never.
    let deadline: ContinuousClock.Instant?

    /// The widest picture with a pixel for each point, which is what libpng takes.
    private static let mostPixels = 1_000_000

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
        guard width <= Self.mostPixels else {
            throw MediaError(
                .limitExceeded,
                "the picture would be \(width) pixels wide, and \(Self.mostPixels) are the most: ask for fewer points a "
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
