import ISOMedia
public import MediaBase
import Threading

/// Feeds an input of timed metadata with groups of items: `AVAssetWriterInputMetadataAdaptor`.
///
/// ```swift
/// let format = try FormatDescription(metadata: [MetadataSpecification(identifier, dataType: .int8)])
/// let input = AssetWriterInput(mediaType: .data, sourceFormatHint: format)
/// let adaptor = try InputMetadataAdaptor(input: input)
/// input.addTrackAssociation(withTrackOf: video, type: "cdsc")
/// …
/// try adaptor.appendNow(TimedMetadataGroup(items: [item], timeRange: range))
/// input.markAsFinished()
/// ```
///
/// QuickTime and MPEG-4 files hold timed metadata; ``AssetWriter/add(_:)`` refuses it for others. One thread at a time may
/// append.
public final class InputMetadataAdaptor: Sendable {
    /// The input to which groups are appended.
    public let input: AssetWriterInput

    private let format: FormatDescription
    private let keys: TimedMetadataKeys
    /// The end of the last group; `nil` before the first.
    private let end = Mutex<MediaTime?>(nil)

    /// Creates an adaptor for an input that has none yet.
    ///
    /// - Parameter input: An input of stored data whose ``AssetWriterInput/sourceFormatHint`` has the keys
    ///   (``FormatDescription/init(metadata:)``).
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` if the input is of another kind, if it has no such format,
    ///   or if it already has an adaptor.
    public init(input: AssetWriterInput) throws(MediaError) {
        guard input.settings == .stored, input.mediaType == .data, let format = input.sourceFormatHint,
            format.codecTag == FormatDescription.boxedMetadata,
            let keys = try? TimedMetadataKeys(sampleEntryFields: format.extradata)
        else {
            throw MediaError(
                .invalidArgument, "groups are appended to an input of stored data whose format hint has metadata's keys"
            )
        }
        self.input = input
        self.format = format
        self.keys = keys
        try input.takeAdaptor()
    }

    /// Appends a group; blocks where ``AssetWriterInput/appendNow(_:)`` does.
    ///
    /// The times of single items do not count. A group without items, and the time between two groups, become samples
    /// without metadata, as AVFoundation writes them. A value is stored in the type of its key, for which ``MetadataItem/dataType``
    /// decides if several keys have the same identifier and language.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for a group without a numeric start or a duration above
    ///   zero, for one that starts before the end of the one before it, for an item without a key in the format, and for a
    ///   value that the key's type cannot hold; nothing is then written, and other groups may follow. The errors of
    ///   ``AssetWriterInput/appendNow(_:)``.
    public func appendNow(_ group: TimedMetadataGroup) throws(MediaError) {
        for buffer in try samples(of: group) {
            try input.appendNow(buffer)
            end.withLock { $0 = buffer.timeRange.end }
        }
    }

    /// Appends a group; waits without blocking a thread where ``AssetWriterInput/append(_:)`` does.
    ///
    /// - Throws: The errors of ``appendNow(_:)``, and ``MediaError/Code-swift.struct/cancelled`` if the task is cancelled
    ///   while it waits; the group is then not appended.
    public func append(_ group: TimedMetadataGroup) async throws(MediaError) {
        for buffer in try samples(of: group) {
            try await input.append(buffer)
            end.withLock { $0 = buffer.timeRange.end }
        }
    }

    /// Returns the samples of a group: its own, after one for the gap before it.
    private func samples(of group: TimedMetadataGroup) throws(MediaError) -> [SampleBuffer] {
        let range = group.timeRange
        guard range.isValid, range.start.isNumeric, range.duration.isNumeric, range.duration > .zero else {
            throw MediaError(
                .invalidArgument, "a group of timed metadata needs a start and a duration above zero, not \(range)")
        }
        let before = end.withLock { $0 }
        if let before, range.start < before {
            throw MediaError(
                .invalidArgument,
                "the group at \(range.start.seconds) s begins before the end of the one before it, \(before.seconds) s")
        }
        var buffers: [SampleBuffer] = []
        let bytes = try keys.sample(of: group.items)
        if let before, before < range.start {
            buffers.append(
                try sample(TimedMetadataKeys.emptySample, in: MediaTimeRange(start: before, end: range.start)))
        }
        buffers.append(try sample(bytes, in: range))
        return buffers
    }

    private func sample(_ bytes: [UInt8], in range: MediaTimeRange) throws(MediaError) -> SampleBuffer {
        try SampleBuffer(
            stored: bytes, formatDescription: format, presentationTime: range.start, duration: range.duration,
            isSync: true)
    }
}
