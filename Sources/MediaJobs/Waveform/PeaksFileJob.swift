package import MediaAnalysis
package import MediaBase
internal import SystemCalls
package import SystemPackage

/// A peaks file that is read instead of sound, recognised by its content.
package struct PeaksFileInput: Sendable {
    /// What the file holds.
    package let peaks: Peaks
    /// Which of the two forms it has.
    package let format: WaveformOutput.Format

    /// Bytes of a file that are read at most: with its values, a few times as much memory.
    private static let maximumBytes = 1 << 30
    /// Bytes by which a file is recognised.
    private static let prefixBytes = 4096

    /// Reads the file at a path; `nil` where it is no peaks file, is no regular file or cannot be opened.
    ///
    /// - Throws: ``MediaError`` `damaged` where it contradicts itself, `limitExceeded` where it is too large.
    package init?(path: FilePath) throws {
        // A FIFO must not even be opened: whoever writes into it would take closing it for the end.
        guard let status = try? Stat(path), status.type == .regular,
            let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .nonBlocking])
        else { return nil }
        defer { try? file.close() }
        try self.init(reading: file, path: path)
    }

    /// Reads standard input where that holds a peaks file, else leaves all of it to be read.
    ///
    /// A file is looked at from its beginning; a pipe's first bytes are looked at without taking them out.
    ///
    /// - Parameters:
    ///   - standardInput: Where it is.
    ///   - deadline: Until when is waited and read; `nil` for as long as it takes.
    /// - Throws: as ``init(path:)``, and `timedOut` where a peaks file has not ended by the deadline.
    package init?(standardInput: FileDescriptor, until deadline: ContinuousClock.Instant? = nil) throws {
        if let place = try? standardInput.seek(offset: 0, from: .current) {
            defer { _ = try? standardInput.seek(offset: place, from: .start) }
            guard (try? standardInput.seek(offset: 0, from: .start)) != nil else { return nil }
            try self.init(reading: standardInput, path: "-", until: deadline)
        } else {
            guard PeakFile.format(ofPrefix: peekPipe(standardInput, atMost: Self.prefixBytes, until: deadline)) != nil
            else {
                return nil
            }
            try self.init(reading: standardInput, path: "-", until: deadline)
        }
    }

    private init?(
        reading file: FileDescriptor, path: FilePath, until deadline: ContinuousClock.Instant? = nil
    ) throws {
        do {
            var bytes = try readSome(from: file, atMost: Self.prefixBytes)
            guard let form = PeakFile.format(ofPrefix: bytes) else { return nil }
            while true {
                guard waitForInput(file, until: deadline) else {
                    throw MediaLimits.error(after: deadline) ?? MediaError(.timedOut, "was not done in time")
                }
                let more = try readSome(from: file, atMost: 1 << 20)
                if more.isEmpty { break }
                bytes += more
                guard bytes.count <= Self.maximumBytes else {
                    throw MediaError(.limitExceeded, "the peaks file has more than \(Self.maximumBytes) bytes")
                }
            }
            peaks = try PeakFile.decode(bytes)
            format = form == .json ? .json : peaks.bits == 8 ? .peaksjs : .dat
        } catch let error as MediaError {
            throw error.at(path: path.string)
        } catch let error as Errno {
            throw MediaError(error, "read the file", path: path)
        }
    }
}

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

/// What was read from a peaks file and written; its JSON has the keys in this order.
package struct PeaksFileReport: Encodable, Sendable {
    /// What the file is.
    package var peaksFile: PeaksFile
    /// Samples a second of the sound that was measured.
    package var sampleRate: Int
    /// The range that was asked for; `nil` for all of it.
    package var requested: RequestedRange?
    /// When the first point begins.
    package var start: MediaTime
    /// How much the points cover: up to a point more than the sound, whose exact length the file does not say.
    package var duration: MediaTime
    /// The outputs, in the order asked for.
    package var outputs: [WaveformReport.Output]
    /// Each channel's peak.
    package var channels: [Channel]

    /// The file as it is.
    package struct PeaksFile: Encodable, Sendable {
        /// Its form.
        package var format: WaveformOutput.Format
        /// Bits of a value.
        package var bits: Int
        /// Samples in a point.
        package var samplesPerPixel: Int
        /// Its points.
        package var points: Int
        /// Its channels.
        package var channels: Int

        init(_ input: PeaksFileInput) {
            format = input.format
            bits = input.peaks.bits
            samplesPerPixel = input.peaks.samplesPerPixel
            points = input.peaks.length
            channels = input.peaks.channels
        }
    }

    /// What the peaks tell of one channel.
    package struct Channel: Encodable, Sendable {
        /// The largest magnitude; −∞ for silence, which JSON shows as `null`.
        package var peakDBFS: Double
    }

    /// Why outputs are missing, each error naming its output; empty where all were written.
    package var outputErrors: [MediaError] { outputs.compactMap(\.error) }
}
