/// The number of a frame, counted from 00:00:00:00, and the rate by which it is written as `HH:MM:SS:FF`.
///
/// A timecode is a name, not a time: at 29.97 frames a second 01:00:00:00 is 3.6 seconds late, and drop-frame counting
/// leaves out numbers, never frames, to keep up. Negative numbers are written with a minus sign before the text of
/// their magnitude. Numbers past 24 hours go on counting; ``wrappedAt24Hours`` starts again as a clock would.
///
/// Stands for SMPTE ST 12-1 counting, and the `tmcd` sample of QuickTime.
public struct Timecode: Sendable, Hashable {
    /// Frames since 00:00:00:00.
    public let frameNumber: Int64

    /// How frames are counted and how long one lasts.
    public let rate: Rate

    /// Makes the timecode of a frame number; every number has one.
    public init(frameNumber: Int64, rate: Rate) {
        self.frameNumber = frameNumber
        self.rate = rate
    }

    /// The same name within a day: 24:00:00:00 becomes 00:00:00:00, and −1 the last frame of the day.
    public var wrappedAt24Hours: Timecode {
        let day = 144 * rate.framesPerTenMinutes
        let rest = frameNumber % day
        return Timecode(frameNumber: rest < 0 ? rest + day : rest, rate: rate)
    }

    /// The timecode so many frames later; `nil` beyond 64 bits.
    public func advanced(byFrames count: Int64) -> Timecode? {
        let (sum, overflow) = frameNumber.addingReportingOverflow(count)
        return overflow ? nil : Timecode(frameNumber: sum, rate: rate)
    }
}

extension Timecode {
    /// The exact time from the frame 00:00:00:00 to this one.
    public var time: MediaTime { rate.frameDuration.multiplied(by: frameNumber) }

    /// The exact time from `start` to this frame; `nil` where the two count differently.
    public func time(since start: Timecode) -> MediaTime? {
        guard rate == start.rate else { return nil }
        return time - start.time
    }

    /// Makes the timecode of the frame on screen a time after 00:00:00:00.
    ///
    /// - Parameters:
    ///   - elapsed: The time; negative ones count backwards.
    ///   - rate: The rate to count by.
    ///   - rounding: Which frame a time between two frames means; by default the earlier, which is on screen.
    /// - Throws: `outOfRange` where the time is not a number or the frame number has more than 64 bits.
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
    /// How frames are counted: how many numbers a second has, whether some are left out, and how long a frame lasts.
    public struct Rate: Sendable, Hashable {
        /// The frame numbers in a second of timecode, 1 to 1000: 30 at 29.97 frames a second.
        public let nominal: Int

        /// True where the first numbers of every minute but each tenth are left out: two at 29.97, four at 59.94.
        public let isDropFrame: Bool

        /// The exact length of a frame, such as 1001/30000.
        public let frameDuration: MediaTime

        /// Makes a rate.
        ///
        /// - Throws: `invalidArgument` where the number is not 1 to 1000, the frame duration not a positive number, or
        ///   drop-frame is asked for at anything but 29.97 and 59.94: 30 or 60 numbers a second, and frames longer
        ///   than 1/30 or 1/60 second.
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

        /// Makes the rate of a video: the nominal number is the frame rate rounded, half away from zero.
        ///
        /// - Throws: `invalidArgument` as above, and where the frame duration does not fit a ``MediaTime`` exactly.
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

        /// The numbers left out at the start of a minute.
        var droppedPerMinute: Int64 { isDropFrame ? Int64(nominal / 15) : 0 }

        /// The frames that really pass in ten minutes of timecode.
        var framesPerTenMinutes: Int64 { Int64(nominal) * 600 - 9 * droppedPerMinute }
    }
}
