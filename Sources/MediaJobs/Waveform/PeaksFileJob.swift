internal import Inspection
package import MediaBase
package import Peaks
package import SystemPackage

/// A peaks file that is used as input instead of audio, recognised by its content.
package struct PeaksFileInput: Sendable {
    /// The contents of the file.
    package let peaks: Peaks
    /// The format of the file.
    package let format: WaveformOutput.Format

    /// The maximum number of bytes that are read; the values take several times as much memory.
    private static let maximumBytes = 1 << 30

    /// Reads the file at a path; `nil` if it is not a peaks file, is not a regular file or cannot be opened.
    ///
    /// - Throws: ``MediaError`` `damaged` if the file is inconsistent, `limitExceeded` if it is too large.
    package init?(path: FilePath) throws(MediaError) {
        guard let bytes = try Self.file(until: nil).readRegular(path) else { return nil }
        try self.init(bytes, path: path)
    }

    /// Reads a peaks file from standard input; leaves the input unread and returns `nil` if it is something else.
    ///
    /// A file is examined from its start; the first bytes of a pipe are examined without removing them.
    ///
    /// - Parameters:
    ///   - standardInput: The descriptor of standard input.
    ///   - deadline: The time until which input is waited for and read; `nil` for no limit.
    /// - Throws: The errors of ``init(path:)``, and `timedOut` if a peaks file has not ended by the deadline.
    package init?(
        standardInput: FileDescriptor, until deadline: ContinuousClock.Instant? = nil
    ) throws(MediaError) {
        guard let bytes = try Self.file(until: deadline).readStandardInput(standardInput) else { return nil }
        try self.init(bytes, path: "-")
    }

    private static func file(until deadline: ContinuousClock.Instant?) -> WholeFile {
        WholeFile(as: "a peaks file", atMost: maximumBytes, until: deadline) { PeakFile.format(ofPrefix: $0) != nil }
    }

    private init(_ bytes: [UInt8], path: FilePath) throws(MediaError) {
        do throws(MediaError) {
            peaks = try PeakFile.decode(bytes)
        } catch {
            throw error.at(path: path.string)
        }
        format = PeakFile.format(ofPrefix: bytes) == .json ? .json : peaks.bits == 8 ? .peaksjs : .dat
    }
}

/// Creates other outputs from a peaks file: coarser levels, other formats, pictures.
///
/// Data that the file does not contain is not invented. Its channels are kept as they are, or one is selected. A level
/// must be an exact multiple of the file's own. A range is extended to whole points.
package struct PeaksFileJob: Sendable {
    private let input: PeaksFileInput
    private let options: WaveformOptions

    /// Creates a job; ``WaveformOptions/channels`` `mixed` and `split` both keep the channels as they are.
    package init(_ input: PeaksFileInput, options: WaveformOptions) {
        self.input = input
        self.options = options
    }

    /// Writes the outputs; see ``WaveformJob/run(_:into:progress:)``.
    package func run(_ outputs: [WaveformOutput], into files: OutputFileSet) throws -> PeaksFileReport {
        guard options.track == nil else {
            throw MediaError(.invalidArgument, "a peaks file has no tracks to choose from")
        }
        let range = try pointRange()
        let peaks = try channels(
            of: range.points == 0..<input.peaks.length ? input.peaks : input.peaks.points(range.points))
        // A peaks file always covers a whole number of samples.
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
                .invalidArgument, "there is no channel \(channel): the peaks file has \(peaks.channels), counted from 0"
            )
        }
        return own
    }

    /// Returns the points that overlap the requested range.
    private func pointRange() throws(MediaError) -> (points: Range<Int>, requested: RequestedRange?) {
        let peaks = input.peaks
        let end = MediaTime(
            value: Int64(peaks.length) * Int64(peaks.samplesPerPixel), timescale: Int32(clamping: peaks.sampleRate))
        let context = TimeExpression.Context(timeRange: MediaTimeRange(start: .zero, duration: end))
        let start = try options.start?.resolve(in: context)
        let until = options.end == .end ? nil : try options.end?.resolve(in: context)
        try RequestedRange.check(start: start, end: until)
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

/// A report on a peaks file that was read and the outputs that were written; its JSON has the keys in this order.
package struct PeaksFileReport: Encodable, Sendable {
    /// The properties of the file.
    package var peaksFile: PeaksFile
    /// The sample rate of the measured audio in hertz.
    package var sampleRate: Int
    /// The requested range; `nil` for the whole file.
    package var requested: RequestedRange?
    /// The start time of the first point.
    package var start: MediaTime
    /// The duration that the points cover.
    ///
    /// It exceeds the audio by up to one point, because the file does not store the exact length.
    package var duration: MediaTime
    /// The outputs in request order.
    package var outputs: [WaveformReport.Output]
    /// The peak of each channel.
    package var channels: [Channel]

    /// The properties of a peaks file.
    package struct PeaksFile: Encodable, Sendable {
        /// The format.
        package var format: WaveformOutput.Format
        /// The number of bits per value.
        package var bits: Int
        /// The number of samples per point.
        package var samplesPerPixel: Int
        /// The number of points.
        package var points: Int
        /// The number of channels.
        package var channels: Int

        init(_ input: PeaksFileInput) {
            format = input.format
            bits = input.peaks.bits
            samplesPerPixel = input.peaks.samplesPerPixel
            points = input.peaks.length
            channels = input.peaks.channels
        }
    }

    /// The measurements of one channel.
    package struct Channel: Encodable, Sendable {
        /// The largest magnitude; −∞ for silence, which is `null` in JSON.
        package var peakDBFS: Double
    }

    /// The errors of outputs that were not written, each naming its output.
    package var outputErrors: [MediaError] { outputs.compactMap(\.error) }
}
