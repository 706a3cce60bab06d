import LibAV
import MediaBase
import Threading

/// A queue of all inputs' packets that cannot be written yet, which determines the next packet to write.
///
/// A packet may be written when every unfinished input has a packet in the queue; the one that is decoded first comes
/// next. So the order in the file depends on the packets alone, not on their time of arrival. Packets beyond
/// ``memoryLimit`` wait in a temporary file.
struct InterleavingQueue {
    private var lanes: [Lane] = []
    private var bytesInMemory = 0
    private let spill = PacketSwapFile()
    /// The maximum number of bytes that wait in memory.
    private let memoryLimit: Int

    private struct Lane {
        var waiting = FIFO<Waiting>()
        var isFinished = false
        var lastTime = MediaTime.negativeInfinity
    }

    private struct Waiting {
        enum Place {
            case memory(CompressedSample)
            case file(PacketSwapFile.Entry)
        }
        let place: Place
        let time: MediaTime
    }

    init(memoryLimit: Int = 32 << 20) { self.memoryLimit = memoryLimit }

    /// Creates the lanes for the given number of inputs.
    mutating func open(lanes count: Int) { lanes = Array(repeating: Lane(), count: count) }

    /// Adds a packet of an input, whose times are in units of `timeBase`.
    mutating func add(_ packet: consuming Packet, lane: Int, timeBase: Rational) throws(MediaError) {
        guard lanes.indices.contains(lane) else { return }
        // A packet without timestamps takes the time of the packet before it.
        let time = (packet.dts ?? packet.pts).map { MediaTime(ticks: $0, timeBase: timeBase) } ?? lanes[lane].lastTime
        lanes[lane].lastTime = time
        let place: Waiting.Place
        if bytesInMemory + packet.size > memoryLimit {
            place = .file(try spill.store(packet))
        } else {
            bytesInMemory += packet.size
            place = .memory(CompressedSample(packet))
        }
        lanes[lane].waiting.append(Waiting(place: place, time: time))
    }

    /// Marks an input as finished, so that it will have no more packets.
    mutating func finish(lane: Int) {
        if lanes.indices.contains(lane) { lanes[lane].isFinished = true }
    }

    /// Removes and returns the next packet to write; `nil` if it is not known yet or the queue is empty.
    mutating func next() throws(MediaError) -> (lane: Int, packet: CompressedSample)? {
        var first: (lane: Int, time: MediaTime)?
        for lane in lanes.indices {
            guard let waiting = lanes[lane].waiting.first else {
                if lanes[lane].isFinished { continue }
                return nil
            }
            if first.map({ waiting.time < $0.time }) ?? true { first = (lane, waiting.time) }
        }
        guard let lane = first?.lane, let waiting = lanes[lane].waiting.popFirst() else { return nil }
        switch waiting.place {
        case .memory(let sample):
            bytesInMemory -= sample.size
            return (lane, sample)
        case .file(let entry): return (lane, CompressedSample(try spill.load(entry)))
        }
    }

    /// Returns true if an input is finished and all of its packets were removed.
    func isDrained(lane: Int) -> Bool {
        lanes.indices.contains(lane) && lanes[lane].isFinished && lanes[lane].waiting.isEmpty
    }

    /// Removes all packets.
    mutating func removeAll() {
        lanes = []
        bytesInMemory = 0
    }
}
