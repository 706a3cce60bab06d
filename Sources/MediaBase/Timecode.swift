/// A frame number, counted from 00:00:00:00, and the rate at which it is written as `HH:MM:SS:FF`.
///
/// A timecode is a label, not a time: at 29.97 frames per second, 01:00:00:00 is 3.6 seconds late. Drop-frame counting
/// skips numbers, never frames, to keep up. A negative timecode is written as a minus sign and the text of its
/// magnitude. Numbers continue past 24 hours; ``wrappedAt24Hours`` wraps around as a clock does.
///
/// Implements SMPTE ST 12-1 counting, and the `tmcd` sample of QuickTime.
public struct Timecode: Sendable, Hashable {
    /// The number of frames since 00:00:00:00.
    public let frameNumber: Int64

    /// The rate at which frames are counted.
    public let rate: Rate

    /// Creates the timecode of a frame number; every number is valid.
    public init(frameNumber: Int64, rate: Rate) {
        self.frameNumber = frameNumber
        self.rate = rate
    }

    /// The same timecode within a day: 24:00:00:00 becomes 00:00:00:00, and −1 the last frame of the day.
    public var wrappedAt24Hours: Timecode {
        let day = 144 * rate.framesPerTenMinutes
        let rest = frameNumber % day
        return Timecode(frameNumber: rest < 0 ? rest + day : rest, rate: rate)
    }

    /// Returns the timecode `count` frames later; `nil` beyond 64 bits.
    public func advanced(byFrames count: Int64) -> Timecode? {
        let (sum, overflow) = frameNumber.addingReportingOverflow(count)
        return overflow ? nil : Timecode(frameNumber: sum, rate: rate)
    }
}

extension Timecode {
    /// The exact time from frame 00:00:00:00 to this frame.
    public var time: MediaTime { rate.frameDuration.multiplied(by: frameNumber) }

    /// Returns the exact time from `start` to this frame; `nil` if the two rates differ.
    public func time(since start: Timecode) -> MediaTime? {
        guard rate == start.rate else { return nil }
        return time - start.time
    }

    /// Creates the timecode of the frame on screen at a time after 00:00:00:00.
    ///
    /// - Parameters:
    ///   - elapsed: The time; a negative time counts backwards.
    ///   - rate: The rate at which to count.
    ///   - rounding: The frame to use for a time between two frames; by default the earlier one, which is on screen.
    /// - Throws: `outOfRange` if the time is non-numeric or the frame number exceeds 64 bits.
    public init(
        elapsed: MediaTime, rate: Rate, rounding: RoundingRule = .down
    ) throws(MediaError) {
        let ticks = Int128(elapsed.value) * Int128(rate.frameDuration.timescale)
        let ticksPerFrame = UInt128(elapsed.timescale.magnitude) * UInt128(rate.frameDuration.value.magnitude)
        guard elapsed.isNumeric,
            let frames = WideFraction(ticks, over: ticksPerFrame).ticks(timescale: 1, rounding: rounding)
        else { throw MediaError(.outOfRange, "the time \(elapsed) has no timecode") }
        self.init(frameNumber: frames.value, rate: rate)
    }
}

extension Timecode {
    /// A timecode rate: the numbers per second, whether some are dropped, and the frame duration.
    public struct Rate: Sendable, Hashable {
        /// The number of frame numbers in a second of timecode, 1 to 1000: 30 at 29.97 frames per second.
        public let nominal: Int

        /// True if the first numbers of every minute except each tenth are skipped: two at 29.97, four at 59.94.
        public let isDropFrame: Bool

        /// The exact frame duration, such as 1001/30000.
        public let frameDuration: MediaTime

        /// Creates a rate.
        ///
        /// - Throws: `invalidArgument` if the nominal rate is not 1 to 1000 or the frame duration is not a positive
        ///   number. Also if drop-frame is requested for anything but 29.97 and 59.94: it requires 30 or 60 numbers
        ///   per second, and frames longer than 1/30 or 1/60 second.
        public init(nominal: Int, frameDuration: MediaTime, isDropFrame: Bool = false) throws(MediaError) {
            guard (1...1000).contains(nominal) else {
                throw MediaError(.invalidArgument, "timecode counts 1 to 1000 frames a second, not \(nominal)")
            }
            guard frameDuration.isNumeric, frameDuration > .zero else {
                throw MediaError(.invalidArgument, "a frame of timecode cannot last \(frameDuration) seconds")
            }
            guard !isDropFrame || Self.canDrop(nominal: nominal, frameDuration: frameDuration) else {
                throw MediaError(
                    .invalidArgument,
                    "drop-frame timecode (HH:MM:SS;FF) exists at 29.97 and 59.94 frames a second only; "
                        + "write HH:MM:SS:FF")
            }
            self.nominal = nominal
            self.isDropFrame = isDropFrame
            self.frameDuration = frameDuration
        }

        /// Creates the rate of a video; the nominal rate is the frame rate, rounded half away from zero.
        ///
        /// - Throws: `invalidArgument` as above, and if a ``MediaTime`` cannot represent the frame duration exactly.
        public init(frameRate: Rational, isDropFrame: Bool = false) throws(MediaError) {
            guard frameRate.isPositive, let nominal = frameRate.rounded(), let duration = frameRate.inverse,
                let timescale = Int32(exactly: duration.den)
            else { throw MediaError(.invalidArgument, "there is no timecode at \(frameRate) frames a second") }
            try self.init(
                nominal: Int(nominal), frameDuration: MediaTime(value: duration.num, timescale: timescale),
                isDropFrame: isDropFrame)
        }

        private static func canDrop(nominal: Int, frameDuration: MediaTime) -> Bool {
            (nominal == 30 || nominal == 60) && frameDuration > MediaTime(value: 1, timescale: Int32(nominal))
        }

        /// The number of frame numbers skipped at the start of a minute.
        var droppedPerMinute: Int64 { isDropFrame ? Int64(nominal / 15) : 0 }

        /// The number of actual frames in ten minutes of timecode.
        var framesPerTenMinutes: Int64 { Int64(nominal) * 600 - 9 * droppedPerMinute }
    }
}

extension Timecode {
    /// The parts of a timecode as written, independent of a frame rate.
    public struct Fields: Sendable, Hashable {
        /// The hours, zero or more; not limited to 23.
        public var hours: Int64
        /// The minutes, 0 to 59.
        public var minutes: Int
        /// The seconds, 0 to 59.
        public var seconds: Int
        /// The frames, from 0.
        public var frames: Int
        /// True if a `;` precedes the frames.
        public var isDropFrame: Bool
        /// True if the timecode has a minus sign.
        public var isNegative: Bool

        /// Creates the parts without validating them; a timecode created from them does that.
        public init(
            hours: Int64, minutes: Int, seconds: Int, frames: Int, isDropFrame: Bool = false, isNegative: Bool = false
        ) {
            self.hours = hours
            self.minutes = minutes
            self.seconds = seconds
            self.frames = frames
            self.isDropFrame = isDropFrame
            self.isNegative = isNegative
        }
    }

    /// The written parts: hours, minutes, seconds and frames, with dropped numbers skipped.
    public var fields: Fields {
        let magnitude = Int128(frameNumber.magnitude)
        let (tens, rest) = magnitude.quotientAndRemainder(dividingBy: Int128(rate.framesPerTenMinutes))
        let dropped = Int128(rate.droppedPerMinute)
        let (nominal, fullMinute) = (Int128(rate.nominal), Int128(rate.nominal) * 60)
        // The first of ten minutes has all its numbers.
        let minute = rest < fullMinute ? 0 : 1 + (rest - fullMinute) / (fullMinute - dropped)
        let number = magnitude + dropped * (9 * tens + minute)
        let seconds = number / nominal
        return Fields(
            hours: Int64(seconds / 3600), minutes: Int(seconds / 60 % 60), seconds: Int(seconds % 60),
            frames: Int(number % nominal), isDropFrame: rate.isDropFrame, isNegative: frameNumber < 0)
    }

    /// Creates the timecode with the given parts.
    ///
    /// - Throws: `invalidArgument` if a part is out of range, if drop-frame counting skips the number, or if only one
    ///   of the parts and the rate is drop-frame.
    public init(_ fields: Fields, rate: Rate) throws(MediaError) {
        guard fields.isDropFrame == rate.isDropFrame else {
            throw MediaError(
                .invalidArgument,
                rate.isDropFrame
                    ? "this timecode counts drop-frame; write HH:MM:SS;FF instead of \(fields)"
                    : "this timecode does not count drop-frame; write HH:MM:SS:FF instead of \(fields)")
        }
        guard fields.hours >= 0, (0..<60).contains(fields.minutes), (0..<60).contains(fields.seconds),
            (0..<rate.nominal).contains(fields.frames)
        else {
            throw MediaError(
                .invalidArgument,
                "there is no timecode \(fields): minutes and seconds end at 59, frames at \(rate.nominal - 1)")
        }
        guard fields.minutes % 10 == 0 || fields.seconds > 0 || fields.frames >= rate.droppedPerMinute else {
            throw MediaError(
                .invalidArgument,
                "drop-frame counting leaves out the number \(fields); the minute begins at frame "
                    + padded(UInt64(rate.droppedPerMinute.magnitude), to: 2))
        }
        let minutes = Int128(fields.hours) * 60 + Int128(fields.minutes)
        let number = (minutes * 60 + Int128(fields.seconds)) * Int128(rate.nominal) + Int128(fields.frames)
        let dropped = Int128(rate.droppedPerMinute) * (minutes - minutes / 10)
        guard let frames = Int64(exactly: fields.isNegative ? dropped - number : number - dropped) else {
            throw MediaError(.invalidArgument, "the timecode \(fields) is too large")
        }
        self.init(frameNumber: frames, rate: rate)
    }

    /// Parses `HH:MM:SS:FF`, or `HH:MM:SS;FF` at a drop-frame rate, with an optional minus sign.
    ///
    /// - Throws: `invalidArgument` if the text has another form or its parts are invalid for the rate.
    public init(_ text: String, rate: Rate) throws(MediaError) {
        try self.init(Fields(parsing: text), rate: rate)
    }
}

extension Timecode.Fields {
    /// Parses `HH:MM:SS:FF` or `HH:MM:SS;FF`, with an optional minus sign.
    ///
    /// Hours have 1 to 12 digits, minutes and seconds 1 or 2, and frames 1 to 3.
    ///
    /// - Throws: `invalidArgument` if the text has another form, or minutes or seconds are above 59.
    public init(parsing text: String) throws(MediaError) {
        let bytes = Array(text.utf8)
        let isNegative = bytes.first == UInt8(ascii: "-")
        guard let fields = Timecode.Fields(digits: bytes.dropFirst(isNegative ? 1 : 0), isNegative: isNegative) else {
            throw MediaError(
                .invalidArgument,
                "\(quoted(text)) is not a timecode; write HH:MM:SS:FF, or HH:MM:SS;FF for drop-frame")
        }
        self = fields
    }

    init?(digits: ArraySlice<UInt8>, isNegative: Bool) {
        let (colon, semicolon) = (UInt8(ascii: ":"), UInt8(ascii: ";"))
        guard let last = digits.lastIndex(where: { $0 == colon || $0 == semicolon }) else { return nil }
        let clock = digits[..<last].split(separator: colon, omittingEmptySubsequences: false)
        guard clock.count == 3,
            let hours = decimalNumber(clock[0], digits: 12), let minutes = decimalNumber(clock[1], digits: 2),
            let seconds = decimalNumber(clock[2], digits: 2), minutes < 60, seconds < 60,
            let frames = decimalNumber(digits[(last + 1)...], digits: 3)
        else { return nil }
        self.init(
            hours: hours, minutes: Int(minutes), seconds: Int(seconds), frames: Int(frames),
            isDropFrame: digits[last] == semicolon, isNegative: isNegative)
    }
}

extension Timecode: CustomStringConvertible {
    /// The text `HH:MM:SS:FF`, with `;` before the frames at a drop-frame rate.
    ///
    /// Hours have at least two digits; frames have three above 100 frames per second.
    public var description: String { fields.text(frameDigits: rate.nominal > 100 ? 3 : 2) }
}

extension Timecode.Fields: CustomStringConvertible {
    /// The text `HH:MM:SS:FF`, with `;` before the frames for drop-frame.
    public var description: String { text(frameDigits: 2) }

    func text(frameDigits: Int) -> String {
        let clock = [hours.magnitude, UInt64(minutes.magnitude), UInt64(seconds.magnitude)].map { padded($0, to: 2) }
        let frames = padded(UInt64(frames.magnitude), to: frameDigits)
        return (isNegative ? "-" : "") + clock.joined(separator: ":") + (isDropFrame ? ";" : ":") + frames
    }
}

/// The timecode of a track's first frame, as stored in a QuickTime timecode track.
public struct TrackTimecode: Sendable, Hashable {
    /// The number of the first frame, and the way in which frames are counted.
    public let start: Timecode
    /// The reel or tape to which the counter belongs; `nil` if it is not named.
    public let source: String?
    /// The frames per second that the track states for display; cameras that write 29 for 29.97 mean 30.
    public let writtenFrameCount: Int

    /// Creates the timecode of a first frame.
    package init(start: Timecode, source: String?, writtenFrameCount: Int) {
        self.start = start
        self.source = source
        self.writtenFrameCount = writtenFrameCount
    }
}
