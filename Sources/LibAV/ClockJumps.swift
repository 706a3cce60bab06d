import CFFmpeg
import MediaBase

/// The places at which the clock of a transport or program stream jumps, and the times that the media there has instead.
///
/// A clock jumps where recordings were joined byte by byte, where an encoder was started again, and at its highest value
/// (ISO/IEC 13818-1, 2.4.3.5). Media after a jump is presented as if it followed what precedes the jump, as players do.
package struct ClockJumps: Sendable, Equatable {
    /// A place at which the clock jumps.
    package struct Jump: Sendable, Equatable {
        /// The byte position of the first packet on the new clock.
        package fileprivate(set) var position: Int64
        /// The number of ticks to add to the times of that packet and all later ones.
        package let shift: Int64
        /// The presentation time of the jump in ticks, on the clock before the first jump.
        package let ticks: Int64
    }

    /// The jumps, by position.
    package private(set) var all: [Jump] = []

    /// The maximum number of jumps; later ones are not followed.
    private static let maximumCount = 100_000

    /// Creates a value for a clock that does not jump.
    package init() {}

    /// Returns the number of ticks to add to the times of a packet.
    func shift(at position: Int64) -> Int64 {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = low + (high - low) / 2
            if all[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? 0 : all[low - 1].shift
    }

    /// Adds a jump behind all others; returns false if there are too many, or if it is not behind them.
    fileprivate mutating func append(_ jump: Jump) -> Bool {
        guard all.count < Self.maximumCount, all.last.map({ $0.position < jump.position }) ?? true else { return false }
        all.append(jump)
        return true
    }

    /// Moves the last jump forward to an earlier position.
    fileprivate mutating func moveLast(to position: Int64) {
        guard let last = all.last, position < last.position, all.dropLast().last.map({ $0.position < position }) ?? true
        else { return }
        all[all.count - 1].position = position
    }
}

/// Finds the jumps of a clock while the packets of a file are read from its start.
///
/// Times are in ticks of the system clock, 90,000 a second.
struct ClockFollower: Sendable {
    /// The jumps found so far.
    private(set) var jumps = ClockJumps()
    /// The state of each stream, by index.
    private var streams: [Int: Stream] = [:]
    /// The end of the latest packet on the current clock; `nil` before the first one.
    private var latest: Int64?

    private struct Stream {
        /// The decode time of the last packet, its end, and its position.
        var (last, end, position): (Int64, Int64, Int64)
    }

    /// A clock that runs backward by more than this has jumped; less is jitter.
    private static let jitter: Int64 = 9_000
    /// The same for the first packet of a stream after a jump.
    private static let overlap: Int64 = 180_000
    /// The longest gap in which something is missing; a clock that is further ahead has jumped.
    ///
    /// Streams are interleaved by less than this.
    private static let reach: Int64 = 900_000

    /// Returns the number of ticks to add to the times of the next packet.
    ///
    /// - Parameters:
    ///   - index: The packet's stream.
    ///   - time: The decode time.
    ///   - delay: The time from decoding to presentation.
    ///   - duration: The duration; 0 if unknown.
    ///   - position: The byte position.
    mutating func shift(
        stream index: Int, time: Int64, delay: Int64 = 0, duration: Int64, position: Int64
    ) -> Int64 {
        var shift = jumps.shift(at: position)
        let newest = jumps.all.last
        let isFirst =
            newest.map { jump in
                position >= jump.position && streams[index].map { $0.position < jump.position } ?? true
            } ?? false
        if !continues(at: time &+ shift, stream: index, mayOverlap: isFirst) {
            if let newest, position < newest.position, let latest,
                abs((time &+ newest.shift).subtractingClamped(latest)) < Self.reach
            {
                jumps.moveLast(to: position)
                shift = newest.shift
            } else if let expected = streams[index]?.end ?? latest {
                let jump = ClockJumps.Jump(
                    position: position, shift: expected.subtractingClamped(time), ticks: expected &+ delay)
                if jumps.append(jump) {
                    shift = jump.shift
                    latest = nil
                }
            }
        }
        let place = time &+ shift
        let end = place &+ max(0, min(duration, Self.reach))
        streams[index] = Stream(last: place, end: end, position: position)
        latest = max(latest ?? end, end)
        return shift
    }

    /// Returns true if a decode time can follow those of the packets before.
    ///
    /// - Parameter mayOverlap: True for a stream's first packet after a jump, because streams do not end together.
    private func continues(at time: Int64, stream index: Int, mayOverlap: Bool) -> Bool {
        guard let latest else { return true }
        let ahead = time.subtractingClamped(latest)
        guard let stream = streams[index] else { return abs(ahead) <= Self.reach }
        return ahead <= Self.reach && stream.last.subtractingClamped(time) <= (mayOverlap ? Self.overlap : Self.jitter)
    }
}

extension InputFile {
    /// True if the file's clock can jump: that of a transport or program stream, unless each program has its own.
    package var mayJump: Bool { format.hasSystemClock && programs.count <= 1 }

    /// Makes ``readPacket()`` find the jumps of the clock, and correct the times after them.
    ///
    /// Call this method before reading any packet; the file must be read from its start.
    package func followClock() { if mayJump { clockFollower = ClockFollower() } }

    /// The jumps of the clock that were found by following it; empty if it is not followed.
    package var foundJumps: ClockJumps { clockFollower?.jumps ?? ClockJumps() }

    /// Corrects the times of a packet after a jump of the clock.
    func correctClock(of packet: borrowing Packet) {
        guard let time = packet.dts ?? packet.pts, let stream = pointer(toStream: packet.streamIndex),
            stream.pointee.time_base.num == 1, stream.pointee.time_base.den == 90_000
        else { return }
        let index = packet.streamIndex
        // In program streams, some packets have no position.
        if let position = packet.position { clockPositions[index] = position }
        let position = clockPositions[index] ?? clockStart
        let kind = stream.pointee.codecpar.pointee.codec_type
        let shift =
            kind == AVMEDIA_TYPE_VIDEO || kind == AVMEDIA_TYPE_AUDIO
            ? clockFollower?.shift(
                stream: index, time: time, delay: max(0, (packet.pts ?? time) &- time), duration: packet.duration,
                position: position) : nil
        packet.delay(by: shift ?? (clockFollower?.jumps ?? clockJumps).shift(at: position))
    }
}
