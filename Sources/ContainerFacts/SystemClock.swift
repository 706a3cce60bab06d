package import LibAV
import MediaBase

/// The clock that a transport or program stream carries with its packets (`PCR` or `SCR`), sampled across a file.
///
/// ISO/IEC 13818-1, 2.4.3.5 and 2.5.3.4.
package enum SystemClock {
    /// The number of places at which the clock is read.
    private static let places = 64
    /// The number of bytes to search at each place; the clock is sent at least every 0.1 s (0.7 s in program streams).
    private static let bytesAtPlace = 1 << 18
    /// The number of bytes to read at once.
    private static let bytesAtOnce = 1 << 15
    /// The factor by which time may pass more quickly between two places than between most.
    private static let leeway: Int64 = 4

    /// Returns true if the clock of a file seems to jump, so that all its packets must be read to tell when they are
    /// shown.
    ///
    /// A jump that is shorter than the time from one place to the next may not be seen.
    package static func seemsToJump(in file: InputFile) -> Bool {
        guard file.hasOneSystemClock, file.isSeekable, let length = file.length, length > 0 else { return false }
        let starts = (0..<places).map { UInt64(length) / UInt64(places) * UInt64($0) }
        for start in starts { file.willRead(start..<start + UInt64(bytesAtOnce)) }
        var (steps, lastSteps): ([Int64], [Int64]) = ([], [])
        var last: [Int: Clock] = [:]
        for start in starts {
            if let clock = clock(in: file, from: start) { step(to: clock, from: &last, &steps) }
        }
        let tail = UInt64(max(0, length - Int64(bytesAtPlace)))
        for clock in clocks(in: file, at: tail, count: bytesAtPlace) { step(to: clock, from: &last, &lastSteps) }
        let usual = steps.sorted().dropFirst(steps.count / 2).first ?? 0
        return (steps + lastSteps).contains { $0 < 0 || $0 > max(ClockJumps.longestGap, leeway * usual) }
    }

    /// Adds the time from the last clock to the next one of the same stream, unless that was seen already.
    private static func step(to clock: Clock, from last: inout [Int: Clock], _ steps: inout [Int64]) {
        guard let before = last[clock.stream] else { return last[clock.stream] = clock }
        guard clock.position > before.position else { return }
        last[clock.stream] = clock
        // The clock has 33 bits, so that it starts again after 26.5 hours.
        let step = (clock.ticks - before.ticks) & ((1 << 33) - 1)
        steps.append(step < 1 << 32 ? step : step - 1 << 33)
    }

    /// A clock with the number of the stream that carries it, and where it is stored.
    package typealias Clock = (stream: Int, ticks: Int64, position: Int)

    /// Returns the first clock after a byte position.
    private static func clock(in file: InputFile, from start: UInt64) -> Clock? {
        for place in stride(from: start, to: start + UInt64(bytesAtPlace), by: bytesAtOnce) {
            if let found = clocks(in: file, at: place, count: bytesAtOnce, atMost: 1).first { return found }
        }
        return nil
    }

    /// Returns the first clocks in a range of a file; none if it cannot be read.
    private static func clocks(
        in file: InputFile, at start: UInt64, count: Int, atMost most: Int = .max
    ) -> [Clock] {
        let bytes = (try? file.bytes(at: start, count: count)) ?? []
        let found =
            file.format == .transportStream
            ? transportClocks(in: bytes, atMost: most) : programClocks(in: bytes, atMost: most)
        return found.map { ($0.stream, $0.ticks, Int(clamping: start) + $0.position) }
    }

    /// Returns the first program clock references of whole transport packets, of 188 bytes or with 4 or 16 more.
    package static func transportClocks(in bytes: [UInt8], atMost most: Int = .max) -> [Clock] {
        var found: [Clock] = []
        for size in [188, 192, 204] {
            let starts = 0..<min(size, max(0, bytes.count - 4 * size))
            guard let first = starts.first(where: { start in (0...4).allSatisfy { bytes[start + $0 * size] == 0x47 } })
            else { continue }
            for place in stride(from: first, to: bytes.count - 12, by: size) where found.count < most {
                // An adaptation field with the flag for the reference.
                guard bytes[place] == 0x47, bytes[place + 3] & 0x20 != 0, bytes[place + 4] >= 7,
                    bytes[place + 5] & 0x10 != 0
                else { continue }
                let base = bytes[place + 6..<place + 11].bigEndian >> 7
                found.append((Int(bytes[place + 1] & 0x1F) << 8 | Int(bytes[place + 2]), Int64(base), place))
            }
            break
        }
        return found
    }

    /// Returns the first system clock references of a program stream's pack headers.
    package static func programClocks(in bytes: [UInt8], atMost most: Int = .max) -> [Clock] {
        var found: [Clock] = []
        var place = 0
        while place + 10 < bytes.count, found.count < most {
            guard bytes[place] == 0, bytes[place + 1] == 0, bytes[place + 2] == 1, bytes[place + 3] == 0xBA else {
                place += 1
                continue
            }
            let head = bytes[place + 4..<place + 9].bigEndian
            // MPEG-2 has two bits and MPEG-1 four before the reference.
            switch bytes[place + 4] >> 4 {
            case 4...7: found.append((0, reference(head >> 3), place))
            case 2: found.append((0, reference(head >> 1), place))
            default: break
            }
            place += 4
        }
        return found
    }

    /// Returns a reference of 33 bits, without the marker bits after the first 3 and the next 15.
    private static func reference(_ bits: UInt64) -> Int64 {
        let (high, middle, low) = (bits >> 32 & 7, bits >> 16 & 0x7FFF, bits & 0x7FFF)
        return Int64(high << 30 | middle << 15 | low)
    }
}
