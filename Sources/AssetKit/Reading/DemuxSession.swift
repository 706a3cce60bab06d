import ContainerFacts
import LibAV
import MediaBase
import Threading

/// The part of a reader that its outputs share: the open file, a packet queue per output, and the first error.
///
/// Packets are read when an output requests one and its queue is empty; packets of other outputs wait in their queues.
final class DemuxSession: Sendable {
    private let demux: Mutex<Demux>
    private let status = Mutex(Status())
    /// The open file; `nil` for a composition, whose pipelines open their own files.
    private let file: InputFile?
    private let name: String
    private let count: @Sendable () -> Void
    private let cancellation: Cancellation?
    /// The deadline for reading, if there is no file that has one.
    private let deadline: ContinuousClock.Instant?

    fileprivate struct Demux {
        var queues: [Queue]
        var isAtEnd = false
        var isTruncated = false
        var shortfall: DamageReport.Shortfall?
        var waitingBytes = 0
        var limits = MediaLimits()
    }

    fileprivate struct Queue {
        let stream: Int
        var samples = FIFO<CompressedSample>()
        var isOpen = true
    }

    private struct Status {
        var error: MediaError?
        var isCancelled = false
        var openOutputs: Int = 0
        var damage = DamageReport()
        /// The damage that was counted last.
        ///
        /// A packet counts only once, even if the demuxer marks it and the decoder rejects it or conceals errors in its
        /// frame.
        var counted: [DamageReport.Place] = []
    }

    /// More packets and frames than decoders hold at a time, for a few tracks.
    private static let maximumCounted = 256

    /// - Parameters:
    ///   - file: The file, at the position where reading starts.
    ///   - streams: The stream index of each output.
    ///   - count: Called for each packet that an output takes.
    init(_ file: InputFile, streams: [Int], count: @escaping @Sendable () -> Void) {
        self.file = file
        self.count = count
        name = file.source.displayName
        cancellation = nil
        deadline = nil
        demux = Mutex(Demux(queues: streams.map { Queue(stream: $0) }, limits: file.limits))
        status.withLock {
            $0.openOutputs = streams.count
            $0.damage.skippedBytes = file.passedOver
        }
        file.select(streams: Set(streams))
    }

    /// Creates a session for outputs that receive no packets from it.
    ///
    /// - Parameters:
    ///   - name: The name of the source in messages.
    ///   - outputs: The number of outputs.
    ///   - cancellation: Cancels the files that their pipelines read.
    ///   - deadline: The time at which reading ends; `nil` for no limit.
    init(named name: String, outputs: Int, cancellation: Cancellation, deadline: ContinuousClock.Instant?) {
        self.deadline = deadline
        count = {}
        file = nil
        self.name = name
        self.cancellation = cancellation
        demux = Mutex(Demux(queues: [], isAtEnd: true))
        status.withLock { $0.openOutputs = outputs }
    }

    /// Returns the next packet for an output; `nil` at the file's end.
    func nextPacket(for output: Int) throws(MediaError) -> CompressedSample? {
        if let sample = try packetAhead(for: output) { return sample }
        let (isTruncated, shortfall) = demux.withLock { ($0.isTruncated, $0.shortfall) }
        if isTruncated { status.withLock { $0.damage.breakOff(shortfall) } }
        return nil
    }

    /// Returns the next packet for an output that reads ahead; `nil` at the file's end, and after the output has ended.
    ///
    /// A premature end of the container does not appear in ``damage`` until ``nextPacket(for:)`` reaches it.
    func packetAhead(for output: Int) throws(MediaError) -> CompressedSample? {
        try demux.withLock { demux throws(MediaError) in
            while true {
                if let sample = demux.take(from: output) {
                    count()
                    return sample
                }
                guard !demux.isAtEnd, demux.isOpen(output) else { return nil }
                guard let packet = try readPacket(&demux.isTruncated) else {
                    demux.isAtEnd = true
                    if demux.isTruncated {
                        demux.shortfall = file?.shortfall(of: demux.queues.map(\.stream)).map(
                            DamageReport.Shortfall.init)
                    }
                    continue
                }
                let stream = packet.streamIndex
                try demux.distribute(CompressedSample(packet), ofStream: stream)
            }
        }
    }

    /// Returns the next packet for an output without removing it; `nil` at the file's end.
    func peekPacket(for output: Int) throws(MediaError) -> CompressedSample? {
        guard let sample = try nextPacket(for: output) else { return nil }
        demux.withLock { $0.putBack(sample, to: output) }
        return sample
    }

    private func readPacket(_ isTruncated: inout Bool) throws(MediaError) -> Packet? {
        guard let file else { return nil }
        do {
            let packet = try file.readPacket()
            if packet == nil, file.isTruncated { isTruncated = true }
            return packet
        } catch {
            // A container that ends prematurely is used up to that point.
            guard error.endsContainer else { throw error }
            isTruncated = true
            return nil
        }
    }

    /// Stops queueing packets for an output that may read further time ranges by other means.
    func outputPaused(_ output: Int) { demux.withLock { $0.close(output) } }

    /// Marks an output as ended, so that no more packets are queued for it.
    func outputEnded(_ output: Int) {
        demux.withLock { $0.close(output) }
        status.withLock { $0.openOutputs -= 1 }
    }

    /// Counts a damaged or undecodable packet, once for each start time in a track.
    func reportDamage(track: Int, at range: MediaTimeRange?) {
        status.withLock { status in
            if let range {
                let isCounted = status.counted.contains {
                    $0.trackIndex == track && $0.timeRange.start == range.start
                }
                guard !isCounted else { return }
                if status.counted.count >= Self.maximumCounted { status.counted.removeFirst() }
                status.counted.append(DamageReport.Place(trackIndex: track, timeRange: range))
            }
            status.damage.add(track: track, at: range)
        }
    }

    /// Adds the damage found in a source.
    ///
    /// - Parameters:
    ///   - track: The track's index in this reader's asset.
    ///   - time: Converts a source time to the time at which it is shown; returns `nil` if it is not shown.
    func add(_ damage: DamageReport, track: Int, at time: (MediaTime) -> MediaTime?) {
        status.withLock { status in
            for place in damage.places {
                guard let start = time(place.timeRange.start) else { continue }
                let end = time(place.timeRange.end) ?? start + place.timeRange.duration
                let range = MediaTimeRange(start: start, end: max(start, end))
                status.damage.insert(DamageReport.Place(trackIndex: track, timeRange: range))
            }
            status.damage.count(damage.packetCount, track: track)
            if damage.isTruncated { status.damage.breakOff(damage.shortfall) }
            status.damage.skippedBytes = max(status.damage.skippedBytes, damage.skippedBytes)
        }
    }

    /// Adds the damage that another session of the same asset has found in a track.
    func add(_ damage: DamageReport, ofTrack track: Int) {
        status.withLock { status in
            for place in damage.places { status.damage.insert(place) }
            status.damage.count(damage.packetCount, track: track)
            if damage.isTruncated { status.damage.breakOff(damage.shortfall) }
            status.damage.skippedBytes = max(status.damage.skippedBytes, damage.skippedBytes)
        }
    }

    /// Records the first failure and returns the error to throw to the caller.
    func fail(_ error: MediaError) -> MediaError {
        let named = error.at(path: name)
        status.withLock { status in
            if named.code == .cancelled { status.isCancelled = true } else { status.error = status.error ?? named }
        }
        return named
    }

    /// Cancels reading; may be called from any thread.
    func cancel() {
        status.withLock { if $0.openOutputs > 0, $0.error == nil { $0.isCancelled = true } }
        file?.cancel()
        cancellation?.cancel()
    }

    var damage: DamageReport { status.withLock { $0.damage } }
    var error: MediaError? { status.withLock { $0.error } }

    /// The error that all further reads throw; `nil` if none occurred.
    var failure: MediaError? {
        let known = status.withLock { status in
            status.isCancelled ? MediaError(.cancelled, "cancelled", path: name) : status.error
        }
        // Little input can yield much output, such as silence, so the deadline is checked here too.
        guard known == nil, let stop = file?.stop ?? MediaLimits.error(after: deadline), stop.code == .timedOut else {
            return known
        }
        return fail(stop)
    }

    var readerStatus: AssetReader.Status {
        status.withLock { status in
            if status.isCancelled { return .cancelled }
            if status.error != nil { return .failed }
            return status.openOutputs <= 0 ? .completed : .reading
        }
    }
}

extension DemuxSession.Demux {
    fileprivate mutating func take(from output: Int) -> CompressedSample? {
        guard queues.indices.contains(output), let sample = queues[output].samples.popFirst() else { return nil }
        waitingBytes -= sample.cost
        return sample
    }

    fileprivate mutating func putBack(_ sample: CompressedSample, to output: Int) {
        guard queues.indices.contains(output) else { return }
        waitingBytes += sample.cost
        queues[output].samples.prepend(sample)
    }

    fileprivate mutating func distribute(_ sample: CompressedSample, ofStream stream: Int) throws(MediaError) {
        for index in queues.indices where queues[index].stream == stream && queues[index].isOpen {
            queues[index].samples.append(sample)
            waitingBytes += sample.cost
        }
        guard waitingBytes <= limits.waitingBytes else {
            throw limits.error(.waitingBytes, "\(waitingBytes) bytes wait for an output that is not read in turn")
        }
    }

    fileprivate func isOpen(_ output: Int) -> Bool { queues.indices.contains(output) && queues[output].isOpen }

    fileprivate mutating func close(_ output: Int) {
        guard queues.indices.contains(output) else { return }
        while let sample = queues[output].samples.popFirst() { waitingBytes -= sample.cost }
        queues[output].isOpen = false
    }
}

extension CompressedSample {
    /// The memory that the sample occupies while it waits, in bytes: its own size and an estimate of the overhead.
    fileprivate var cost: Int { size + 512 }
}
