internal import MediaAnalysis
internal import MediaBase
internal import SystemPackage

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

    /// The zoom levels of the peaks files.
    var levels: [WaveformDensity] {
        open.filter { $0.format.peakFile != nil }.map { .samplesPerPixel($0.samplesPerPixel) }
    }

    /// Whether a picture is to be drawn.
    var hasPictures: Bool { open.contains { $0.format.peakFile == nil } }

    private var open: [WaveformOutput] { entries.filter { $0.file != nil }.map(\.output) }

    /// What was written, in the order asked for.
    var results: [WaveformReport.Output] {
        entries.compactMap { entry in
            entry.result.map { .init(path: entry.output.path, format: entry.output.format, result: $0) }
        }
    }

    /// Writes each output and puts it in place; throws the first one's error where not one of them can be.
    mutating func write(_ sound: MeasuredSound, picture: WaveformPicture) throws {
        for index in entries.indices {
            guard let file = entries[index].file.take() else { continue }
            do {
                let (content, bytes) = try Self.content(of: entries[index].output, sound, picture)
                try file.write(contentsOf: bytes)
                try file.commit()
                entries[index].result = .success(content)
            } catch let error as MediaError {
                file.discard()
                entries[index].result = .failure(error)
            }
        }
        try throwIfAllFailed()
    }

    private static func content(
        of output: WaveformOutput, _ sound: MeasuredSound, _ picture: WaveformPicture
    ) throws(MediaError) -> (WaveformReport.Output.Content, [UInt8]) {
        let level = WaveformDensity.samplesPerPixel(output.samplesPerPixel)
        if let form = output.format.peakFile,
            let measured = sound.measured.levels[try level.spacing(sampleRate: sound.sampleRate)]
        {
            let peaks = try measured.converted(toBits: output.bits)
            let bytes = try PeakFile.encode(peaks, as: form)
            let content = WaveformReport.Output.Content.peaks(
                bits: peaks.bits, samplesPerPixel: peaks.samplesPerPixel, points: peaks.length,
                channels: peaks.channels)
            return (content, bytes)
        }
        guard let peaks = sound.measured.overview else {
            throw MediaError(.invalidArgument, "the output was not measured", path: output.path.string)
        }
        let bytes = try picture.png(of: peaks, from: sound.start, frames: sound.frames)
        return (.picture(width: picture.width, height: picture.height, channels: peaks.channels), bytes)
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
