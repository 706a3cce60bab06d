import LibAV
public import MediaBase
import Threading

/// A position at one of the stored samples of a track, which moves by samples or by time: `AVSampleCursor`.
///
/// ```swift
/// guard var cursor = try await track.makeSampleCursor(presentationTime: time) else { … }
/// while !cursor.isSync, cursor.stepInDecodeOrder(by: -1) != 0 {}
/// // The cursor is at the sync sample that the frame needs.
/// ```
///
/// Nothing is decoded. The first cursor of a track reads all of its packets; later ones share what was found. Times are
/// those of the presentation's time line, like those of a ``TrackOutput``; AVFoundation's are the media's own.
public struct SampleCursor: Sendable {
    /// The track.
    public let track: AssetTrack
    /// The position of the sample in decode order, from 0.
    public private(set) var sampleNumber: Int
    let table: SampleTable

    init(_ track: AssetTrack, _ table: SampleTable, at number: Int) {
        (self.track, self.table, sampleNumber) = (track, table, number)
    }

    private var entry: SampleTable.Entry { table.entries[sampleNumber] }
}

extension SampleCursor {
    /// The number of samples in the track.
    public var sampleCount: Int { table.entries.count }

    /// The sample's presentation time; indefinite if the container does not state it.
    public var presentationTime: MediaTime { table.presentationTime(of: sampleNumber) }

    /// The sample's decode time; `nil` if the container does not state it.
    public var decodeTime: MediaTime? { table.decodeTime(of: sampleNumber) }

    /// The sample's duration as stored; zero if the container does not state it.
    public var duration: MediaTime { table.duration(of: sampleNumber) }

    /// Indicates whether decoding can start with the sample: `currentSampleSyncInfo`.
    public var isSync: Bool { entry.flags.contains(.isSync) }

    /// False for a sample that is only decoded for others: because of the edit list, as priming, or by its codec.
    public var isShown: Bool { !entry.flags.contains(.isHidden) }

    /// Indicates whether the demuxer found damage in the sample.
    public var isDamaged: Bool { entry.flags.contains(.isDamaged) }

    /// The sample's size in bytes.
    public var size: Int { Int(entry.size) }

    /// The bytes of the file that are the sample: `currentSampleStorageRange`.
    ///
    /// `nil` for containers in which a sample is not stored in one piece, or not as it is delivered; known for MP4 and
    /// QuickTime files.
    public var storageRange: Range<Int64>? { table.storageRange(of: sampleNumber) }

    /// The format of the sample.
    public var formatDescription: FormatDescription? { track.formatDescriptions.first }
}

// MARK: - Moving

extension SampleCursor {
    /// Moves the cursor by a number of samples in decode order.
    ///
    /// - Parameter count: The number of samples; negative to move back.
    /// - Returns: The number of samples by which it moved, less where the track begins or ends.
    @discardableResult public mutating func stepInDecodeOrder(by count: Int) -> Int {
        let number = Self.clamped(sampleNumber, by: count, below: sampleCount)
        defer { sampleNumber = number }
        return number - sampleNumber
    }

    /// Moves the cursor by a number of samples in presentation order.
    ///
    /// Samples that are not shown count too.
    /// - Parameter count: The number of samples; negative to move back.
    /// - Returns: The number of samples by which it moved, less where the track begins or ends.
    @discardableResult public mutating func stepInPresentationOrder(by count: Int) -> Int {
        let here = table.place(of: sampleNumber)
        let place = Self.clamped(here, by: count, below: sampleCount)
        sampleNumber = table.number(at: place)
        return place - here
    }

    /// Moves the cursor to the last sample whose decode time is not after its own plus a difference.
    ///
    /// - Parameter difference: The difference of time; negative to move back.
    /// - Returns: The difference of the decode times by which it moved; zero if they are not stated.
    @discardableResult public mutating func stepByDecodeTime(_ difference: MediaTime) -> MediaTime {
        let here = table.decodeBegin(of: sampleNumber)
        sampleNumber = table.sample(decodedAt: here + difference)
        let moved = table.decodeBegin(of: sampleNumber) - here
        return moved.isNumeric ? moved : .zero
    }

    /// Moves the cursor to the last shown sample whose presentation time is not after its own plus a difference.
    ///
    /// - Parameter difference: The difference of time; negative to move back.
    /// - Returns: The difference of the presentation times by which it moved; zero if they are not stated.
    @discardableResult public mutating func stepByPresentationTime(_ difference: MediaTime) -> MediaTime {
        let here = table.presentationBegin(of: sampleNumber)
        sampleNumber = table.sample(shownAt: here + difference) ?? sampleNumber
        let moved = table.presentationBegin(of: sampleNumber) - here
        return moved.isNumeric ? moved : .zero
    }

    private static func clamped(_ place: Int, by count: Int, below end: Int) -> Int {
        let (sum, overflow) = place.addingReportingOverflow(count)
        return overflow ? (count < 0 ? 0 : end - 1) : min(max(0, sum), end - 1)
    }
}

extension SampleCursor: Comparable {
    /// Returns true if both cursors are at the same sample of a track: `comparePositionInDecodeOrder`.
    public static func == (first: Self, second: Self) -> Bool {
        first.sampleNumber == second.sampleNumber && first.track == second.track
    }

    /// Returns true if the first cursor's sample is decoded before the second's; both are of one track.
    public static func < (first: Self, second: Self) -> Bool { first.sampleNumber < second.sampleNumber }
}

// MARK: - Making cursors

extension AssetTrack {
    /// Returns a cursor at the last sample that is shown at a time or before it: `makeSampleCursor`.
    ///
    /// If there is none, the cursor is at the first sample in presentation order, so that ``MediaTime/negativeInfinity``
    /// gives the first sample and ``MediaTime/positiveInfinity`` the last. The track is read once, on a thread of the
    /// library; cancelling the task ends this.
    /// - Parameter time: A time on the presentation's time line.
    /// - Returns: `nil` for a track without samples.
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` for a track of a composition, and errors from reading.
    public func makeSampleCursor(presentationTime time: MediaTime) async throws(MediaError) -> SampleCursor? {
        let cancellation = Cancellation()
        return try await offload(onCancel: { cancellation.cancel() }) { () throws(MediaError) in
            try self.makeSampleCursorNow(presentationTime: time, cancellation)
        }
    }

    /// Returns a cursor as ``makeSampleCursor(presentationTime:)`` does, on the calling thread.
    public func makeSampleCursorNow(presentationTime time: MediaTime) throws(MediaError) -> SampleCursor? {
        try makeSampleCursorNow(presentationTime: time, Cancellation())
    }

    private func makeSampleCursorNow(
        presentationTime time: MediaTime, _ cancellation: Cancellation
    ) throws(MediaError) -> SampleCursor? {
        guard let asset else {
            throw MediaError(.invalidArgument, "the track belongs to no asset; take it from those that an asset loads")
        }
        let table = try asset.sampleTable(of: self, cancellation)
        return table.sample(shownAt: time).map { SampleCursor(self, table, at: $0) }
    }
}
