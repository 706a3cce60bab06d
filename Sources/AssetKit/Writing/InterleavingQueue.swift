import LibAV
import MediaBase
import Threading

/// The packets of all inputs that cannot be written yet, and which of them is next.
///
/// A packet may be written when every input that is not finished has one waiting: the one that is decoded first. So the
/// order in the file depends on the packets alone, not on when they came. Beyond ``memoryLimit`` their bytes wait in a
/// temporary file.
struct InterleavingQueue {
    private var lanes: [Lane] = []
    private var bytesInMemory = 0
    private let spill = PacketSwapFile()
    /// Bytes that wait in memory at most.
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

    /// Makes room for so many inputs.
    mutating func open(lanes count: Int) { lanes = Array(repeating: Lane(), count: count) }

    /// Adds a packet of an input, whose times are in units of `timeBase`.
    mutating func add(_ packet: consuming Packet, lane: Int, timeBase: Rational) throws(MediaError) {
        guard lanes.indices.contains(lane) else { return }
        // One without a decode time goes with the one before it.
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

    /// Says that an input will have no more packets.
    mutating func finish(lane: Int) {
        if lanes.indices.contains(lane) { lanes[lane].isFinished = true }
    }

    /// Takes the packet that is to be written next; `nil` where that is not known yet, or there is none.
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

    /// Lets go of everything.
    mutating func removeAll() {
        lanes = []
        bytesInMemory = 0
    }
}
