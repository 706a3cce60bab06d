import FileOutput
import LibAV
public import MediaBase
import SystemPackage
import Threading

/// The intervals at which a writer cuts a movie.
struct FragmentSettings {
    /// The interval of fragments; not numeric for a file without fragments.
    var interval = MediaTime.invalid
    /// The interval of segments; not numeric until it is set.
    var segmentInterval = MediaTime.invalid
    /// The time from which segments are counted.
    var segmentStart = MediaTime.zero

    var segmentRules: FragmentWriter.Rules {
        FragmentWriter.Rules(interval: segmentInterval, start: segmentStart, isSegmented: true)
    }
}

// MARK: - Sinks and fragments

extension AssetWriter {
    /// Creates a writer whose output goes to a sink: memory, a socket, an upload.
    ///
    /// With ``movieFragmentInterval`` the sink receives each fragment as soon as it is complete. Without it the output is
    /// written to an unnamed file first, because containers are completed at their start, and the sink receives it whole when
    /// writing finishes.
    ///
    /// - Parameters:
    ///   - sink: The sink. It is told to discard the output if writing fails or is cancelled.
    ///   - fileType: The type of the file.
    ///   - name: The name of the output in errors.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` for a file type that cannot be written.
    public convenience init(
        sink: any ByteSink, fileType: MediaFileType, name: String = "the sink"
    ) throws(MediaError) {
        try self.init(.sink(sink, name: name), fileType: fileType)
    }

    /// Creates a writer that hands out a movie in segments, as streaming needs them: `AVAssetWriterDelegate`.
    ///
    /// Set ``preferredOutputSegmentInterval`` before writing starts. Encoders begin each segment with a keyframe. Stored
    /// samples are cut at the first sync sample of a segment, which may come later than the interval says.
    /// ```swift
    /// var playlist = HLSPlaylist(initialization: "init.mp4")
    /// let writer = try AssetWriter(segmentsOf: .mp4) { segment throws(MediaError) in try upload(segment) }
    /// writer.preferredOutputSegmentInterval = MediaTime(value: 6, timescale: 1)
    /// ```
    ///
    /// - Parameters:
    ///   - fileType: The type of the segments: `mp4`, `m4a` or `mov`.
    ///   - receive: Receives the header and then each segment, in order, on one thread at a time. An error that it throws
    ///     fails the writer.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` for a file type that has no fragments.
    public convenience init(
        segmentsOf fileType: MediaFileType, receive: @escaping @Sendable (AssetSegment) throws(MediaError) -> Void
    ) throws(MediaError) {
        guard fileType.isISO else {
            throw MediaError(.unsupported, "\(fileType) files have no segments; choose mp4, m4a or mov")
        }
        try self.init(.segments(receive), fileType: fileType)
    }

    /// The duration of a movie fragment; invalid, the default, for a file without fragments.
    ///
    /// A fragmented `mp4`, `m4a` or `mov` file has its final name from the first fragment on and grows by whole fragments, so
    /// that everything up to the last one can be read while it is written, and if the writer never finishes.
    /// ``cancelWriting()`` removes it. The last samples of a fragment wait in memory. Set it before writing starts.
    public var movieFragmentInterval: MediaTime {
        get { state.withLock { $0.fragments.interval } }
        set { changeState("movieFragmentInterval") { $0.fragments.interval = newValue } }
    }

    /// The duration of a segment, for a writer made by ``init(segmentsOf:receive:)``; set it before writing starts.
    public var preferredOutputSegmentInterval: MediaTime {
        get { state.withLock { $0.fragments.segmentInterval } }
        set { changeState("preferredOutputSegmentInterval") { $0.fragments.segmentInterval = newValue } }
    }

    /// The time from which segments are counted, from the start of the session; zero by default.
    ///
    /// The first segment ends at this time plus ``preferredOutputSegmentInterval``. Set it before writing starts.
    public var initialSegmentStartTime: MediaTime {
        get { state.withLock { $0.fragments.segmentStart } }
        set { changeState("initialSegmentStartTime") { $0.fragments.segmentStart = newValue } }
    }
}

extension AssetWriter.Destination {
    /// The name of the output in errors.
    var name: String {
        switch self {
        case .file(let output): output.path.string
        case .sink(_, let name): name
        case .segments: "the segments"
        }
    }

    /// Removes the output before writing has started.
    func discard() {
        switch self {
        case .file(let output): output.discard()
        case .sink(let sink, _): sink.discard()
        case .segments: break
        }
    }

    /// Returns the target to which the writer writes.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an interval that is not positive.
    func target(_ settings: FragmentSettings) throws(MediaError) -> WriterTarget {
        var rules: FragmentWriter.Rules?
        if case .segments = self {
            rules = settings.segmentRules
        } else if settings.interval.isValid {
            rules = FragmentWriter.Rules(interval: settings.interval, isSegmented: false)
        }
        if let rules, !rules.interval.isNumeric || rules.interval <= .zero || !rules.start.isNumeric {
            throw MediaError(
                .invalidArgument, "the interval of fragments or segments is not a positive time", path: name)
        }
        switch (self, rules) {
        case (.file(let output), nil): return .whole(output)
        case (.file(let output), let rules?):
            return .fragments(GrowingFile(output: output), rules, path: output.path, allowance: output.allowance)
        case (.sink(let sink, let name), nil): return .whole(try OutputFile(for: sink, named: name))
        case (.sink(let sink, let name), let rules?):
            return .fragments(FragmentStream(sink: sink), rules, path: FilePath(name), allowance: nil)
        case (.segments(let receive), let rules):
            return .fragments(
                SegmentCallback(body: receive), rules ?? settings.segmentRules, path: FilePath(name), allowance: nil)
        }
    }
}
