/// A moment or a length of time as an exact rational: a 64-bit value in ticks of 1/timescale second.
///
/// ```swift
/// let frame = MediaTime(value: 1001, timescale: 30000)
/// let ninth = frame.multiplied(by: 9)     // 9009/30000
/// ninth == MediaTime(value: 3003, timescale: 10000)   // true, and both hash alike
/// ```
///
/// Times that are not numbers have value and timescale 0 and say in ``flags`` what they are. Two times are equal when
/// they are the same moment, whatever their timescales and whether or not one ``hasBeenRounded``; all invalid times
/// are equal. The order is −∞ < numbers < indefinite < +∞ < invalid.
///
/// Stands for CMTime, without its epoch.
public struct MediaTime: Sendable {
    /// The number of ticks; 0 where the time is not a number.
    public let value: Int64

    /// The number of ticks a second; positive, but 0 where the time is not a number.
    public let timescale: Int32

    /// What kind of time this is, and whether it was rounded on the way.
    public let flags: Flags

    /// Makes the exact time of `value` ticks of 1/`timescale` second.
    ///
    /// A timescale that is not positive gives ``invalid``. Stands for CMTimeMake.
    public init(value: Int64, timescale: Int32) {
        self.init(value: value, timescale: timescale, hasBeenRounded: false)
    }

    init(value: Int64, timescale: Int32, hasBeenRounded: Bool) {
        guard timescale > 0 else {
            self = .invalid
            return
        }
        self.value = value
        self.timescale = timescale
        self.flags = hasBeenRounded ? [.valid, .hasBeenRounded] : .valid
    }

    private init(special flags: Flags) {
        self.value = 0
        self.timescale = 0
        self.flags = flags
    }
}

extension MediaTime {
    /// What kind of time a ``MediaTime`` is; CMTimeFlags with the same raw values.
    public struct Flags: OptionSet, Sendable, Hashable {
        /// The bits, as in CMTimeFlags.
        public let rawValue: UInt32

        /// Makes flags from their bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The time means something; without it the time is invalid, whatever else is set.
        public static let valid = Flags(rawValue: 1)
        /// The value is not exact: it, or one that it was computed from, was rounded.
        public static let hasBeenRounded = Flags(rawValue: 2)
        /// Later than every number.
        public static let positiveInfinity = Flags(rawValue: 4)
        /// Earlier than every number.
        public static let negativeInfinity = Flags(rawValue: 8)
        /// A time that is not known, such as the length of a live stream.
        public static let indefinite = Flags(rawValue: 16)
    }

    /// No time elapsed, in whole seconds (kCMTimeZero).
    public static let zero = MediaTime(value: 0, timescale: 1)
    /// No time at all, such as the result of a computation that makes no sense (kCMTimeInvalid).
    public static let invalid = MediaTime(special: [])
    /// A time that is not known (kCMTimeIndefinite).
    public static let indefinite = MediaTime(special: [.valid, .indefinite])
    /// Later than every number (kCMTimePositiveInfinity).
    public static let positiveInfinity = MediaTime(special: [.valid, .positiveInfinity])
    /// Earlier than every number (kCMTimeNegativeInfinity).
    public static let negativeInfinity = MediaTime(special: [.valid, .negativeInfinity])

    /// True unless this is ``invalid``; infinite and indefinite times are valid.
    public var isValid: Bool { flags.contains(.valid) }
    /// True for a number: valid, neither infinite nor indefinite.
    public var isNumeric: Bool { timescale > 0 }
    /// True for a time that is not known.
    public var isIndefinite: Bool { flags.contains(.indefinite) }
    /// True for +∞.
    public var isPositiveInfinity: Bool { flags.contains(.positiveInfinity) }
    /// True for −∞.
    public var isNegativeInfinity: Bool { flags.contains(.negativeInfinity) }
    /// True where the value, or one that it was computed from, was rounded.
    public var hasBeenRounded: Bool { flags.contains(.hasBeenRounded) }
}

extension MediaTime: Comparable {
    /// True for the same moment, in whatever timescales; also for two times that are alike not numbers.
    public static func == (left: MediaTime, right: MediaTime) -> Bool {
        guard left.isNumeric, right.isNumeric else { return left.rank == right.rank }
        return left.crossed(with: right) == right.crossed(with: left)
    }

    /// True where `left` is earlier, in the order −∞ < numbers < indefinite < +∞ < invalid (CMTimeCompare).
    public static func < (left: MediaTime, right: MediaTime) -> Bool {
        guard left.isNumeric, right.isNumeric else { return left.rank < right.rank }
        return left.crossed(with: right) < right.crossed(with: left)
    }

    private func crossed(with other: MediaTime) -> Int128 { Int128(value) * Int128(other.timescale) }

    /// The place of this kind of time in the order.
    private var rank: Int {
        if isNumeric { return 1 }
        if isNegativeInfinity { return 0 }
        if isIndefinite { return 2 }
        return isPositiveInfinity ? 3 : 4
    }
}

extension MediaTime: Hashable {
    /// Feeds the time in lowest terms, so that equal times hash alike.
    public func hash(into hasher: inout Hasher) {
        guard isNumeric else {
            hasher.combine(rank)
            return
        }
        let divisor = Int64(greatestCommonDivisor(value.magnitude, UInt64(timescale.magnitude)))
        hasher.combine(value / divisor)
        hasher.combine(Int64(timescale) / divisor)
    }
}
