import ContainerFacts
import ISOMedia
import LibAV
public import MediaBase
import Threading

/// Reads the samples of timed metadata as groups of items: `AVAssetReaderOutputMetadataAdaptor`.
///
/// ```swift
/// let output = TrackOutput(track: track)
/// let adaptor = try OutputMetadataAdaptor(output: output)
/// try reader.add(output)
/// try reader.startReading()
/// while let group = try adaptor.nextTimedMetadataGroup() { … }
/// ```
///
/// To read a single track, ``Asset/timedMetadataGroups(of:in:)`` does this in one line.
///
/// Two kinds of tracks can be read. Tracks of `mebx` samples (QuickTime, MPEG-4) have a table of keys
/// (``FormatDescription/metadataSpecifications``); a group lasts as long as its sample, and one without items stands for a
/// time without metadata. ID3 in transport streams has no durations; a group lasts until the next one, and the last for an
/// indefinite time.
///
/// Only one thread may read an adaptor, or its output, at a time.
public final class OutputMetadataAdaptor: Sendable {
    /// The output from which samples are taken.
    public let output: TrackOutput

    /// The keys of the samples; `nil` for ID3.
    private let keys: TimedMetadataKeys?
    private let state = Confined(State())
    private let skipped = Mutex(0)

    private struct State {
        /// The group of ID3 whose end is not known yet.
        var waiting: TimedMetadataGroup?
    }

    /// Creates an adaptor for an output of stored samples.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` if the output decodes.
    ///   ``MediaError/Code-swift.struct/unsupported`` if its track is of another kind, or has several tables of keys.
    ///   ``MediaError/Code-swift.struct/damaged`` if the table of keys is damaged or missing.
    public init(output: TrackOutput) throws(MediaError) {
        guard output.settings == .stored else {
            throw MediaError(.invalidArgument, "timed metadata is read from an output of stored samples")
        }
        self.output = output
        let track = output.track
        let format = track.formatDescriptions.first
        if format?.codec == "timed_id3" {
            keys = nil
            return
        }
        guard let format, track.mediaType == .data, format.codecTag == FormatDescription.boxedMetadata else {
            throw MediaError(
                .unsupported,
                "track \(track.index) has no timed metadata that can be read as items; these are mebx and ID3")
        }
        guard track.formatDescriptions.count == 1 else {
            throw MediaError(.unsupported, "the timed metadata of track \(track.index) has several tables of keys")
        }
        keys = try TimedMetadataKeys(sampleEntryFields: format.extradata)
    }

    /// The number of values so far that were passed over, because the track has no key for them.
    public var skippedValueCount: Int { skipped.withLock { $0 } }

    /// Returns the next group; `nil` at the end.
    ///
    /// Items have the time and the duration of their group, and the type in which they are stored
    /// (``MetadataItem/dataType``). Values of unknown types, and values whose size is not that of their type, are bytes.
    /// A sample that is damaged gives the items before the damage, and counts in ``TrackOutput/damage``.
    /// - Throws: The errors of ``TrackOutput/nextSampleBuffer()``.
    public func nextTimedMetadataGroup() throws(MediaError) -> TimedMetadataGroup? {
        try state.use { state throws(MediaError) in
            while let buffer = try output.nextSampleBuffer() {
                guard !buffer.attachments.contains(.isNotShown), let sample = buffer.storedSample else { continue }
                let bytes = sample.packet.prefix(sample.size)
                if let keys { return group(of: keys.sample(bytes), in: buffer.timeRange) }
                let (items, isWhole) = ID3Tag.items(ofSample: bytes)
                if !isWhole { output.reportDamage(at: buffer.timeRange) }
                guard buffer.presentationTime.isNumeric else { continue }
                let before = state.waiting.take()
                state.waiting = TimedMetadataGroup(
                    items: items, timeRange: MediaTimeRange(start: buffer.presentationTime, duration: .indefinite))
                if let before { return before.timed(until: buffer.presentationTime) }
            }
            return state.waiting.take()?.timed(until: .indefinite)
        }
    }

    private func group(of sample: TimedMetadataKeys.Sample, in range: MediaTimeRange) -> TimedMetadataGroup {
        if sample.isDamaged { output.reportDamage(at: range) }
        if sample.skippedCount > 0 { skipped.withLock { $0 += sample.skippedCount } }
        return TimedMetadataGroup(items: sample.items, timeRange: range).timed(until: range.end)
    }

    /// The groups as an asynchronous sequence, which reads on a thread outside Swift's cooperative pool.
    ///
    /// Cancelling the iterating task cancels the reader.
    public var timedMetadataGroups: Groups { Groups(adaptor: self) }

    /// An asynchronous sequence of an adaptor's groups, in the order of ``OutputMetadataAdaptor/nextTimedMetadataGroup()``.
    public struct Groups: AsyncSequence, Sendable {
        let adaptor: OutputMetadataAdaptor

        /// Returns an iterator that starts reading, or continues at the current position.
        public func makeAsyncIterator() -> Iterator { Iterator(adaptor: adaptor) }

        /// An iterator that reads one group at a time.
        public struct Iterator: AsyncIteratorProtocol {
            let adaptor: OutputMetadataAdaptor

            /// Returns the next group; `nil` at the end.
            public func next(isolation: isolated (any Actor)?) async throws(MediaError) -> TimedMetadataGroup? {
                let adaptor = adaptor
                return try await offload(onCancel: { adaptor.output.cancelReader() }) { () throws(MediaError) in
                    try adaptor.nextTimedMetadataGroup()
                }
            }
        }
    }
}

extension TimedMetadataGroup {
    /// Returns the group with an end, and with its times in all items.
    fileprivate func timed(until end: MediaTime) -> TimedMetadataGroup {
        var group = self
        group.timeRange = MediaTimeRange(start: timeRange.start, duration: end - timeRange.start)
        for place in group.items.indices {
            group.items[place].time = group.timeRange.start
            group.items[place].duration = group.timeRange.duration
        }
        return group
    }
}

extension Asset {
    /// Opens a track of timed metadata for reading, and returns its groups as an asynchronous sequence.
    ///
    /// ```swift
    /// for try await group in try await asset.timedMetadataGroups(of: track) { … }
    /// ```
    /// - Parameters:
    ///   - track: A track of the asset.
    ///   - range: The part of the presentation to read, as in ``AssetReader/timeRange``.
    /// - Throws: Errors from ``OutputMetadataAdaptor/init(output:)`` and of opening the track.
    public func timedMetadataGroups(
        of track: AssetTrack, in range: MediaTimeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
    ) async throws(MediaError) -> OutputMetadataAdaptor.Groups {
        let output = try await samples(of: track, as: .stored, in: range).output
        return try OutputMetadataAdaptor(output: output).timedMetadataGroups
    }

    /// Opens a track of timed metadata for reading on the calling thread.
    ///
    /// The parameters and errors are those of ``timedMetadataGroups(of:in:)``.
    public func timedMetadataGroupsNow(
        of track: AssetTrack, in range: MediaTimeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
    ) throws(MediaError) -> OutputMetadataAdaptor {
        try OutputMetadataAdaptor(output: samplesNow(of: track, as: .stored, in: range))
    }
}
