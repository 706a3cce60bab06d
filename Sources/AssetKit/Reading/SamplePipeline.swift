import LibAV
import MediaBase

/// Turns the packets of one track into the sample buffers that one output was asked for.
///
/// Pulls packets as it needs them. One thread uses it at a time.
protocol SamplePipeline: AnyObject {
    /// The next buffer in presentation order; `nil` at the end.
    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer?
}

/// Where a pipeline gets its packets from: the part of an open file that one output reads.
struct PacketQueue {
    /// The next packet of the track; `nil` at the end.
    let next: () throws(MediaError) -> StoredSample?
    /// Told of each packet that is damaged or could not be decoded, by its time stamp and length, so that it is counted; telling it
    /// twice does no harm.
    var reportDamage: (PacketDecoder.Damage) -> Void
    /// Whether a packet's picture may be left out if no other refers to it.
    var isDispensable: (StoredSample) -> Bool = { _ in false }
    /// The next packet of the track for threads that read ahead; `nil` where only the caller's thread may read.
    ///
    /// That the container breaks off is noted only when ``next`` gives `nil`.
    var ahead: (@Sendable () throws(MediaError) -> StoredSample?)?
}

/// The times between which an output delivers, on the presentation's time line.
struct OutputRange {
    /// The first moment that is wanted.
    var start: MediaTime
    /// The first moment that is not; `nil` for all to the end.
    var end: MediaTime?

    /// Where the range that was asked for and the track's own extent overlap.
    ///
    /// - Parameters:
    ///   - trackEnd: Where edits end the track; `nil` where nothing does.
    ///   - grid: Where the track can be cut: an end that 32 bits of timescale do not hold was rounded, and may have moved
    ///     past a sample.
    init(_ asked: MediaTimeRange, trackEnd: MediaTime?, grid: TrimGrid) {
        start = max(asked.start.isNumeric ? asked.start : .zero, .zero)
        let end = asked.end.hasBeenRounded ? grid.rounded(asked.end) : asked.end
        let ends = [end, trackEnd ?? .positiveInfinity].filter { $0.isNumeric }
        self.end = ends.min()
    }

    /// Whether no moment is wanted at all.
    var isEmpty: Bool { end.map { $0 <= start } ?? false }
}
