/// A time as a person writes it, before it is known which file it is for.
///
/// ```swift
/// let half = try TimeExpression(parsing: "50%")
/// let time = try half.resolve(in: .init(timeRange: track.timeRange))
/// ```
///
/// Stands for the forms in ``TimeExpression/forms``, on all commands.
public enum TimeExpression: Sendable, Hashable {
    /// Seconds, a clock time or a fraction of a second: an exact time from zero.
    case time(MediaTime)
    /// A timecode: absolute where the file has a start timecode, else elapsed.
    case timecode(Timecode.Fields)
    /// The number of a frame, from 0 in presentation order.
    case frame(Int64)
    /// A part of the track's time range, from its start, as a ratio: 1/2 for `50%`.
    case percentage(Rational)
    /// The end of the track's time range.
    case end
}

extension TimeExpression {
    /// What a time needs to know of a file and its track.
    public struct Context: Sendable, Hashable {
        /// The part of the presentation that the track fills.
        public var timeRange: MediaTimeRange

        /// The frame rate by which elapsed timecodes count; `nil` where the track has none.
        public var frameRate: Rational?

        /// The timecode of the frame at ``timecodeOrigin``; `nil` where the file has no start timecode.
        public var startTimecode: Timecode?

        /// The presentation time of the start timecode, and of elapsed 00:00:00:00.
        public var timecodeOrigin: MediaTime

        /// The timescale of the track's timestamps, where they are known to be rounded to it.
        ///
        /// The time of a timecode is then rounded (half away from zero) as muxers round, so that it meets the frame:
        /// frame 2 at 29.97 begins in Matroska at 67 ms, not at 66.73. `nil` leaves the time exact.
        public var timestampScale: Int32?

        /// Makes a context.
        public init(
            timeRange: MediaTimeRange, frameRate: Rational? = nil, startTimecode: Timecode? = nil,
            timecodeOrigin: MediaTime = .zero, timestampScale: Int32? = nil
        ) {
            self.timeRange = timeRange
            self.frameRate = frameRate
            self.startTimecode = startTimecode
            self.timecodeOrigin = timecodeOrigin
            self.timestampScale = timestampScale
        }
    }

    /// The presentation time that this means in one file.
    ///
    /// Only that the time is a number is made sure, not that the track shows anything then: `-1` is a time, and it is
    /// for the command to say that it is out of range.
    ///
    /// - Parameters:
    ///   - context: What is known of the file.
    ///   - frameTime: Gives the presentation time of a frame by its number, 0 or more; asked for a frame number only.
    ///     It throws `outOfRange` where there are fewer frames.
    /// - Throws: `invalidArgument` where the track cannot have such a time (no frame rate, a number that drop-frame
    ///   counting leaves out, drop-frame text on a file that does not drop); `outOfRange` where the end is not known
    ///   or the result is no number; and what `frameTime` throws.
    public func resolve(
        in context: Context, frameTime: (Int64) throws(MediaError) -> MediaTime = Self.noFrames
    ) throws(MediaError) -> MediaTime {
        let time: MediaTime
        switch self {
        case .time(let exact): time = exact
        case .timecode(let fields): time = try Self.time(of: fields, in: context)
        case .frame(let number):
            guard number >= 0 else { throw MediaError(.outOfRange, "frame numbers begin at 0, not at \(number)") }
            time = try frameTime(number)
        case .percentage(let ratio): time = context.timeRange.start + context.timeRange.duration.multiplied(by: ratio)
        case .end: time = context.timeRange.end
        }
        guard time.isNumeric else {
            throw MediaError(.outOfRange, "the time cannot be told, as the length of the track is not known")
        }
        return time
    }

    /// Throws `invalidArgument` for every number: what a track without frames says to a frame number.
    public static func noFrames(_ number: Int64) throws(MediaError) -> MediaTime {
        throw MediaError(.invalidArgument, "frame \(number) means nothing here: the track has no numbered frames")
    }

    private static func time(of fields: Timecode.Fields, in context: Context) throws(MediaError) -> MediaTime {
        let elapsed: MediaTime
        if let start = context.startTimecode {
            let wanted = try Timecode(fields, rate: start.rate)
            let day = Timecode(frameNumber: 144 * start.rate.framesPerTenMinutes, rate: start.rate).time
            let sameDay = wanted.time - start.time
            // Behind midnight timecodes begin anew.
            let isNextDay = sameDay < .zero && context.timecodeOrigin + sameDay + day <= context.timeRange.end
            elapsed = isNextDay ? sameDay + day : sameDay
        } else if let frameRate = context.frameRate {
            let rate = try Timecode.Rate(frameRate: frameRate, isDropFrame: fields.isDropFrame)
            elapsed = try Timecode(fields, rate: rate).time
        } else {
            throw MediaError(
                .invalidArgument,
                "the timecode \(fields) means nothing here: the track has no frame rate; write seconds or HH:MM:SS.fff")
        }
        let time = context.timecodeOrigin + elapsed
        return context.timestampScale.map { time.converted(toTimescale: $0) } ?? time
    }
}
