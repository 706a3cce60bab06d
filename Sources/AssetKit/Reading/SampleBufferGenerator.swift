import LibAV
public import MediaBase
import Threading

/// Reads stored samples at the positions of cursors: `AVSampleBufferGenerator`.
///
/// ```swift
/// let generator = SampleBufferGenerator(asset: asset)
/// let buffers = try await generator.makeSampleBuffers(from: cursor, count: 12)
/// ```
///
/// Samples are delivered unchanged and in decode order, with what the cursors say of them. To read on where the last
/// request ended costs nothing; elsewhere the file is opened again at the sync sample before the cursor. A generator may
/// be used from any thread, and processes requests one after the other.
public final class SampleBufferGenerator: Sendable {
    /// The asset whose samples are read.
    public let asset: Asset
    private let position = Mutex(Position())

    private struct Position {
        var output: TrackOutput?
        /// The number, in decode order, of the sample that the output delivers next.
        var next = 0
    }

    /// Creates a generator without opening the asset.
    public init(asset: Asset) { self.asset = asset }

    /// Returns the stored samples from a cursor on, in decode order.
    ///
    /// - Parameters:
    ///   - cursor: The position of the first sample, in a track of the asset.
    ///   - count: The maximum number of samples; there are fewer at the track's end.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` if the track is not of the asset or the asset can be
    ///   read only once, ``MediaError/Code-swift.struct/inputOutput`` if the file has changed since the cursor was made,
    ///   and errors from reading.
    public func makeSampleBuffers(
        from cursor: SampleCursor, count: Int = 1
    ) async throws(MediaError) -> [SampleBuffer] {
        let cancellation = Cancellation()
        return try await offload(onCancel: { cancellation.cancel() }) { () throws(MediaError) in
            try self.makeSampleBuffers(from: cursor, count: count, cancellation)
        }
    }

    /// Returns stored samples as ``makeSampleBuffers(from:count:)`` does, on the calling thread.
    public func makeSampleBuffersNow(
        from cursor: SampleCursor, count: Int = 1
    ) throws(MediaError) -> [SampleBuffer] {
        try makeSampleBuffers(from: cursor, count: count, Cancellation())
    }

    private func makeSampleBuffers(
        from cursor: SampleCursor, count: Int, _ cancellation: Cancellation
    ) throws(MediaError) -> [SampleBuffer] {
        guard try asset.contents().tracks.contains(cursor.track) else {
            throw MediaError(.invalidArgument, "the cursor's track is not of this asset", path: asset.displayName)
        }
        return try position.withLock { position throws(MediaError) in
            var buffers: [SampleBuffer] = []
            do throws(MediaError) {
                try go(to: cursor, &position, cancellation)
                while buffers.count < count, let buffer = try next(&position, of: cursor) { buffers.append(buffer) }
            } catch {
                position.output = nil
                throw error
            }
            return buffers
        }
    }

    /// Moves to the cursor's sample: onward from the last position, or from the sync sample before it.
    private func go(
        to cursor: SampleCursor, _ position: inout Position, _ cancellation: Cancellation
    ) throws(MediaError) {
        let number = cursor.sampleNumber
        let start = cursor.table.entries[...number].lastIndex { $0.flags.contains(.isSync) } ?? 0
        let goesOn = position.output?.track == cursor.track && (start...number).contains(position.next)
        if !goesOn { try open(at: start, cursor, &position, cancellation) }
        while position.next < number, try next(&position, of: cursor) != nil {}
    }

    /// Opens the track at a sample or before it.
    ///
    /// How far before it a reader begins depends on the codec, so its first sample is recognised by times and size.
    private func open(
        at start: Int, _ cursor: SampleCursor, _ position: inout Position, _ cancellation: Cancellation
    ) throws(MediaError) {
        let table = cursor.table
        let time = table.presentationTime(of: start)
        func output(from time: MediaTime) throws(MediaError) -> TrackOutput {
            try asset.samplesNow(
                of: cursor.track, as: .stored, in: MediaTimeRange(start: time, duration: .positiveInfinity),
                cancellation: cancellation)
        }
        if time.isNumeric, time > .zero, let first = try output(from: time).nextSampleBuffer(),
            let found = table.entries[...start].indices.suffix(Self.furthest).last(where: { table.isSample($0, first) })
        {
            position.output = try output(from: time)
            position.next = found
            return
        }
        position.output = try output(from: .zero)
        position.next = 0
    }

    /// The maximum number of samples that a reader begins before the wanted one.
    private static let furthest = 1000

    /// Returns the next sample with what the table says of it; `nil` after the last one.
    private func next(_ position: inout Position, of cursor: SampleCursor) throws(MediaError) -> SampleBuffer? {
        let (table, number) = (cursor.table, position.next)
        guard table.entries.indices.contains(number) else { return nil }
        guard let buffer = try position.output?.nextSampleBuffer(), table.isSample(number, buffer) else {
            throw MediaError(
                .inputOutput, "the file has changed since the cursor was made; make another one",
                path: asset.displayName)
        }
        position.next += 1
        let flags = table.entries[number].flags
        var attachments: SampleBuffer.Attachments = flags.contains(.isHidden) ? .isNotShown : []
        if flags.contains(.isDamaged) { attachments.insert(.isDamaged) }
        return SampleBuffer(
            track: cursor.track, presentationTime: buffer.presentationTime, decodeTime: buffer.decodeTime,
            duration: table.duration(of: number), isSync: buffer.isSync, formatDescription: buffer.formatDescription,
            attachments: attachments, content: buffer.content)
    }
}

extension SampleTable {
    /// Returns true if a buffer is the sample with a number in decode order.
    fileprivate func isSample(_ number: Int, _ buffer: SampleBuffer) -> Bool {
        buffer.storedSample?.size == Int(entries[number].size)
            && buffer.presentationTime == presentationTime(of: number) && buffer.decodeTime == decodeTime(of: number)
    }
}
