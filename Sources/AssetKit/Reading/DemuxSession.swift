import LibAV
import MediaBase
import Threading

/// The part of a reader that its outputs share: the open file, a queue of packets an output, and what went wrong.
///
/// Packets are read when an output asks for one and has none waiting; those of other outputs wait in their queues.
final class DemuxSession: Sendable {
    private let demux: Mutex<Demux>
    private let status = Mutex(Status())
    /// `nil` for a composition, whose pipelines open files of their own.
    private let file: InputFile?
    private let name: String
    private let cancellation: Cancellation?
    /// When reading ends where no file of its own tells it.
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
        /// What was counted last, so that a packet which the demuxer marks and the decoder refuses, or whose picture it
        /// patches up, counts once.
        var counted: [DamageReport.Place] = []
    }

    /// More than a decoder holds packets and pictures at a time, for a few tracks.
    private static let maximumCounted = 256

    /// - Parameters:
    ///   - file: The file, at the place where reading is to begin.
    ///   - streams: The stream of each output.
    init(_ file: InputFile, streams: [Int]) {
        self.file = file
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

    /// The part that outputs share which get no packets from here.
    ///
    /// - Parameters:
    ///   - name: What is read, as a person is told.
    ///   - outputs: How many outputs there are.
    ///   - cancellation: Ends what their pipelines read.
    ///   - deadline: When reading ends; `nil` for never.
    init(named name: String, outputs: Int, cancellation: Cancellation, deadline: ContinuousClock.Instant?) {
        self.deadline = deadline
        file = nil
        self.name = name
        self.cancellation = cancellation
        demux = Mutex(Demux(queues: [], isAtEnd: true))
        status.withLock { $0.openOutputs = outputs }
    }

    /// The next packet for an output; `nil` at the file's end.
    func nextPacket(for output: Int) throws(MediaError) -> CompressedSample? {
        if let sample = try packetAhead(for: output) { return sample }
        let (isTruncated, shortfall) = demux.withLock { ($0.isTruncated, $0.shortfall) }
        if isTruncated { status.withLock { $0.damage.breakOff(shortfall) } }
        return nil
    }

    /// The next packet for an output that may not be looked at; `nil` at the file's end, and when the output has ended.
    ///
    /// That the container breaks off is kept from ``damage`` until somebody has come to its end.
    func packetAhead(for output: Int) throws(MediaError) -> CompressedSample? {
        try demux.withLock { demux throws(MediaError) in
            while true {
                if let sample = demux.take(from: output) { return sample }
                guard !demux.isAtEnd, demux.isOpen(output) else { return nil }
                guard let packet = try readPacket(&demux.isTruncated) else {
                    demux.isAtEnd = true
                    if demux.isTruncated { demux.shortfall = file?.shortfall(of: demux.queues.map(\.stream)) }
                    continue
                }
                let stream = packet.streamIndex
                try demux.distribute(CompressedSample(packet), ofStream: stream)
            }
        }
    }

    /// The packet that an output will get next, left where it is; `nil` at the file's end.
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
            // A container that breaks off is used as far as it goes.
            guard error.endsContainer else { throw error }
            isTruncated = true
            return nil
        }
    }

    /// Says that an output has delivered everything, so that no more packets wait for it.
    func outputEnded(_ output: Int) {
        demux.withLock { $0.close(output) }
        status.withLock { $0.openOutputs -= 1 }
    }

    /// Counts something that is damaged or could not be decoded, once for each start in a track.
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

    /// Counts what could not be used of a source.
    ///
    /// - Parameters:
    ///   - track: The track as this reader's asset counts it.
    ///   - time: When a moment of the source is shown; `nil` where it is not.
    func add(_ damage: DamageReport, track: Int, at time: (MediaTime) -> MediaTime?) {
        status.withLock { status in
            for place in damage.places {
                guard let start = time(place.timeRange.start) else { continue }
                let end = time(place.timeRange.end) ?? start + place.timeRange.duration
                let range = MediaTimeRange(start: start, end: max(start, end))
                status.damage.insert(DamageReport.Place(trackIndex: track, timeRange: range))
            }
            status.damage.packetCount += damage.packetCount
            if damage.isTruncated { status.damage.breakOff(damage.shortfall) }
            status.damage.skippedBytes = max(status.damage.skippedBytes, damage.skippedBytes)
        }
    }

    /// Keeps the first failure, and gives back what callers are to be told.
    func fail(_ error: MediaError) -> MediaError {
        let named = error.at(path: name)
        status.withLock { status in
            if named.code == .cancelled { status.isCancelled = true } else { status.error = status.error ?? named }
        }
        return named
    }

    /// Ends reading, from any thread.
    func cancel() {
        status.withLock { if $0.openOutputs > 0, $0.error == nil { $0.isCancelled = true } }
        file?.cancel()
        cancellation?.cancel()
    }

    var damage: DamageReport { status.withLock { $0.damage } }
    var error: MediaError? { status.withLock { $0.error } }

    /// What all further pulls are to be told; `nil` as long as nothing went wrong.
    var failure: MediaError? {
        let known = status.withLock { status in
            status.isCancelled ? MediaError(.cancelled, "cancelled", path: name) : status.error
        }
        // Much may be made of little that is read, such as silence, so the deadline is looked at here too.
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
    /// What it takes of memory while it waits, in bytes: its own, and about as much as libav and we keep beside them.
    fileprivate var cost: Int { size + 512 }
}
