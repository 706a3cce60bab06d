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
