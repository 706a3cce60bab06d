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
        package fileprivate(set) var shift: Int64
        /// The presentation time of the jump in ticks, on the clock before the first jump.
        package fileprivate(set) var ticks: Int64
        /// The position of each stream's last packet but one before the jump, by stream index.
        fileprivate(set) var tails: [Int: Int64] = [:]
    }

    /// The jumps, by position.
    package fileprivate(set) var all: [Jump] = []

    /// The number of ticks per second (ISO/IEC 13818-1, 2.4.2.2).
    package static let timescale: Int32 = 90_000
    /// The longest gap in ticks in which something is missing, 10 s; a clock that is further ahead has jumped.
    ///
    /// Streams are interleaved by less than this, and those of a recording do not end further apart.
    package static let longestGap: Int64 = 900_000
    /// The maximum number of jumps; later ones are not followed.
    fileprivate static let maximumCount = 10_000

    /// Creates a value for a clock that does not jump.
    package init() {}

    /// Returns the number of ticks to add to the times of a packet.
    func shift(at position: Int64) -> Int64 {
        let count = count(at: position)
        return count == 0 ? 0 : all[count - 1].shift
    }

    /// Returns the number of jumps at or before a position.
    fileprivate func count(at position: Int64) -> Int {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = low + (high - low) / 2
            if all[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns true if a packet is one of its stream's last two before a jump.
    ///
    /// The demuxer calls one of them damaged, because the counters of transport packets jump, too.
    func isLast(_ position: Int64, ofStream index: Int) -> Bool {
        let count = count(at: position)
        return count < all.count && all[count].tails[index].map { position >= $0 } ?? false
    }
}

/// Finds the jumps of a clock while the packets of a file are read from its start.
///
/// Times are in ticks of the system clock, 90,000 a second.
struct ClockFollower: Sendable {
    /// A packet, as far as its time is concerned.
    struct Timing {
        /// The decode time and the presentation time.
        var (decode, presentation): (Int64, Int64)
        /// The duration; 0 if unknown.
        var duration: Int64
        /// The byte position.
        var position: Int64
    }

    /// The jumps found so far; what follows one starts when all that precedes it has ended.
    private(set) var jumps = ClockJumps()
    /// The state of each stream, by index.
    private var streams: [Int: Stream] = [:]
    /// The end of the latest packet on the current clock, in decode time; `nil` before the first one.
    private var latest: Int64?
    /// The media before the first jump, and after each one.
    private var parts = [Part()]

    private struct Stream {
        /// The decode time of the last packet, and its position.
        var (last, position): (Int64, Int64)
    }

    /// The media from one jump to the next, at its stored times.
    private struct Part {
        /// The presentation of each stream and the positions of its last two packets, by stream index.
        var streams: [Int: (start: Int64, end: Int64, tail: Int64, last: Int64)] = [:]
        /// The number of packets.
        var count = 0

        mutating func add(_ packet: Timing, stream index: Int, duration: Int64) {
            count += 1
            let end = packet.presentation.addingClamped(duration)
            var known = streams[index] ?? (packet.presentation, end, packet.position, packet.position)
            (known.start, known.end) = (min(known.start, packet.presentation), max(known.end, end))
            if packet.position > known.last { (known.tail, known.last) = (known.last, packet.position) }
            streams[index] = known
        }

        /// Returns the shift with which no stream starts before it has ended in the part before, whose shift is known.
        func shift(after part: Part, shift: Int64) -> Int64? {
            let ends = part.streams.compactMap { index, before in
                streams[index].map { before.end.addingClamped(shift).subtractingClamped($0.start) }
            }
            return ends.max()
        }
    }

    /// A clock that runs backward by more ticks than this has jumped; less is jitter.
    private static let jitter: Int64 = 9_000
    /// The maximum number of packets of a part that are errors of the stored times rather than a part.
    private static let straying = 2

    /// Returns the number of ticks to add to the times of the next packet, by what was read so far.
    mutating func shift(of packet: Timing, stream index: Int) -> Int64 {
        var shift = jumps.shift(at: packet.position)
        let newest = jumps.all.last
        let isFirst =
            newest.map { jump in
                packet.position >= jump.position && streams[index].map { $0.position < jump.position } ?? true
            } ?? false
        if !continues(at: packet.decode.addingClamped(shift), stream: index, mayOverlap: isFirst) {
            if let newest, packet.position < newest.position, let latest,
                packet.decode.addingClamped(newest.shift).subtractingClamped(latest).magnitude < ClockJumps.longestGap
            {
                moveLast(to: packet.position)
                shift = newest.shift
            } else if jump(at: packet) {
                shift = jumps.shift(at: packet.position)
                latest = nil
            }
        }
        let duration = max(0, min(packet.duration, ClockJumps.longestGap))
        let place = packet.decode.addingClamped(shift)
        // A stream that is on another clock from its first packet on is none of those that are followed.
        guard
            streams[index] != nil
                || latest.map({ place.subtractingClamped($0).magnitude <= ClockJumps.longestGap }) ?? true
        else {
            return shift
        }
        streams[index] = Stream(last: place, position: packet.position)
        latest = max(latest ?? .min, place.addingClamped(duration))
        parts[jumps.count(at: packet.position)].add(packet, stream: index, duration: duration)
        return shift
    }

    /// Returns true if a decode time can follow those of the packets before.
    ///
    /// - Parameter mayOverlap: True for a stream's first packet after a jump, because streams do not end together.
    private func continues(at time: Int64, stream index: Int, mayOverlap: Bool) -> Bool {
        guard let latest, let stream = streams[index] else { return true }
        let most = mayOverlap ? ClockJumps.longestGap : Self.jitter
        return time.subtractingClamped(latest) <= ClockJumps.longestGap && stream.last.subtractingClamped(time) <= most
    }

    /// Adds a jump at a packet; returns false if there are too many, or if it is not behind the last one.
    private mutating func jump(at packet: Timing) -> Bool {
        guard jumps.all.count < ClockJumps.maximumCount,
            jumps.all.last.map({ $0.position < packet.position }) ?? true,
            let end = parts.last?.streams.values.map(\.end).max()
        else { return false }
        let ticks = end.addingClamped(jumps.all.last?.shift ?? 0)
        let shift = ticks.subtractingClamped(packet.presentation)
        jumps.all.append(ClockJumps.Jump(position: packet.position, shift: shift, ticks: ticks))
        parts.append(Part())
        return true
    }

    /// Moves the last jump forward to an earlier position.
    private mutating func moveLast(to position: Int64) {
        let count = jumps.all.count
        guard count > 0, count == 1 || jumps.all[count - 2].position < position else { return }
        jumps.all[count - 1].position = position
    }

    /// Returns the jumps with the shifts that follow from all packets: each part starts as soon as no stream overlaps.
    ///
    /// Single packets with other times are no jumps.
    func settled() -> ClockJumps {
        var settled = ClockJumps()
        var (before, shift) = (parts[0], Int64(0))
        var place = 1
        while place < parts.count {
            let part = parts[place]
            if part.count <= Self.straying, place + 1 < parts.count,
                let gap = parts[place + 1].shift(after: before, shift: 0),
                (-ClockJumps.longestGap...Self.jitter).contains(gap)
            {
                // The clock is back at once.
                for (index, later) in parts[place + 1].streams {
                    let known = before.streams[index] ?? later
                    before.streams[index] = (known.start, max(known.end, later.end), later.tail, later.last)
                }
                place += 2
                continue
            }
            var jump = jumps.all[place - 1]
            shift = part.shift(after: before, shift: shift) ?? jump.shift
            jump.shift = shift
            jump.ticks = part.streams.values.map { $0.start.addingClamped(shift) }.min() ?? jump.ticks
            jump.tails = before.streams.mapValues(\.tail)
            settled.all.append(jump)
            before = part
            place += 1
        }
        return settled
    }
}

extension InputFile {
    /// True for a transport or program stream whose programs cannot have clocks of their own.
    package var hasOneSystemClock: Bool { format.hasSystemClock && programs.count <= 1 }

    /// Makes ``readPacket()`` find the jumps of the clock, and correct the times after them.
    ///
    /// Call this method before reading any packet; the file must be read from its start.
    package func followClock() { if hasOneSystemClock { clockFollower = ClockFollower() } }

    /// The jumps of the clock that were found by following it to the end of the file; empty if it is not followed.
    package var foundJumps: ClockJumps { clockFollower?.settled() ?? ClockJumps() }

    /// Corrects the times of a packet after a jump of the clock.
    func correctClock(of packet: borrowing Packet) {
        guard let time = packet.dts ?? packet.pts, let stream = pointer(toStream: packet.streamIndex),
            stream.pointee.time_base.num == 1, stream.pointee.time_base.den == ClockJumps.timescale
        else { return }
        let index = packet.streamIndex
        // In program streams, some packets have no position.
        if let position = packet.position { clockPositions[index] = position }
        let position = clockPositions[index] ?? clockStart
        let kind = stream.pointee.codecpar.pointee.codec_type
        if kind == AVMEDIA_TYPE_VIDEO || kind == AVMEDIA_TYPE_AUDIO, clockFollower != nil {
            let timing = ClockFollower.Timing(
                decode: time, presentation: packet.pts ?? time, duration: packet.duration, position: position)
            packet.delay(by: clockFollower?.shift(of: timing, stream: index) ?? 0)
        } else {
            if packet.isCorrupt, clockJumps.isLast(position, ofStream: index) { packet.clearCorrupt() }
            packet.delay(by: (clockFollower?.jumps ?? clockJumps).shift(at: position))
        }
    }
}
