/// A time as a user writes it, before the file is known.
///
/// ```swift
/// let half = try TimeExpression(parsing: "50%")
/// let time = try half.resolve(in: .init(timeRange: track.timeRange))
/// ```
///
/// All commands accept the forms in ``TimeExpression/forms``.
public enum TimeExpression: Sendable, Hashable {
    /// Seconds, a clock time or a fraction of a second: an exact time from zero.
    case time(MediaTime)
    /// A timecode: absolute if the file has a start timecode, else elapsed.
    case timecode(Timecode.Fields)
    /// A frame number, counted from 0 in presentation order.
    case frame(Int64)
    /// A fraction of the track's time range, counted from its start: 1/2 for `50%`.
    case percentage(Rational)
    /// The end of the track's time range.
    case end
}

extension TimeExpression {
    /// The properties of a file and its track that a time depends on.
    public struct Context: Sendable, Hashable {
        /// The part of the presentation that the track covers.
        public var timeRange: MediaTimeRange

        /// The frame rate for elapsed timecodes; `nil` if the track has none.
        public var frameRate: Rational?

        /// The timecode of the frame at ``timecodeOrigin``; `nil` if the file has no start timecode.
        public var startTimecode: Timecode?

        /// The presentation time of the start timecode, and of elapsed 00:00:00:00.
        public var timecodeOrigin: MediaTime

        /// The timescale of the track's timestamps, if they are known to be rounded to it.
        ///
        /// The time of a timecode is then rounded half away from zero, as muxers do, to match the frame: frame 2 at
        /// 29.97 starts at 67 ms in Matroska, not at 66.73. If `nil`, the time remains exact.
        public var timestampScale: Int32?

        /// Creates a context.
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

    /// Returns the presentation time that the expression denotes in a file.
    ///
    /// The result is numeric, but the track need not show anything at that time: `-1` is a time, and the command must
    /// report that it is out of range.
    ///
    /// - Parameters:
    ///   - context: The properties of the file.
    ///   - frameTime: Returns the presentation time of a frame by its number, 0 or more; called only for a frame
    ///     number. It throws `outOfRange` if there are fewer frames.
    /// - Throws: `invalidArgument` if the track cannot have such a time: it has no frame rate, drop-frame counting
    ///   skips the number, or the text is drop-frame but the file is not. `outOfRange` if the end is unknown or the
    ///   result is non-numeric. Also the errors of `frameTime`.
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

    /// Throws `invalidArgument` for every frame number, as a track without frames does.
    public static func noFrames(_ number: Int64) throws(MediaError) -> MediaTime {
        throw MediaError(.invalidArgument, "frame \(number) means nothing here: the track has no numbered frames")
    }

    private static func time(of fields: Timecode.Fields, in context: Context) throws(MediaError) -> MediaTime {
        let elapsed: MediaTime
        if let start = context.startTimecode {
            let wanted = try Timecode(fields, rate: start.rate)
            let day = Timecode(frameNumber: 144 * start.rate.framesPerTenMinutes, rate: start.rate).time
            let sameDay = wanted.time - start.time
            // Timecodes start again at 0 after midnight.
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

extension TimeExpression {
    /// The accepted forms of a time, for help texts and error messages.
    public static let forms =
        "seconds (12.5 or 12.5s), [HH:]MM:SS[.fff], timecode HH:MM:SS:FF (HH:MM:SS;FF for drop-frame), "
        + "a frame number (250f), a percentage (50%), an exact fraction of a second (9009/30000) or end"

    /// Parses a time in one of the ``forms``.
    ///
    /// Decimals are parsed exactly, without floating point. If no 32-bit timescale can represent them, the result is
    /// the nearest time that any such timescale can represent, and ``MediaTime/hasBeenRounded`` is set. Decimals with
    /// the precision of a Double thus denote the same number, and a frame time printed by a script parses to that
    /// frame's time. Every form except `end` may have a minus sign. Whole seconds and hours have at most 12 digits,
    /// decimals at most 21; minutes without hours may exceed 59.
    ///
    /// - Throws: `invalidArgument`, listing the forms, for any other text.
    public init(parsing text: String) throws(MediaError) {
        guard let expression = Self.read(Array(text.utf8)) else {
            throw MediaError(.invalidArgument, "\(quoted(text)) is not a time; write \(Self.forms)")
        }
        self = expression
    }

    private static func read(_ bytes: [UInt8]) -> TimeExpression? {
        if bytes == Array("end".utf8) { return .end }
        let isNegative = bytes.first == UInt8(ascii: "-")
        let digits = bytes.dropFirst(isNegative ? 1 : 0)
        if digits.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") }) {
            return clock(digits, isNegative: isNegative)
                ?? Timecode.Fields(digits: digits, isNegative: isNegative).map { .timecode($0) }
        }
        if digits.contains(UInt8(ascii: "/")) { return fraction(digits, isNegative: isNegative) }
        switch digits.last {
        case UInt8(ascii: "f"):
            return decimalNumber(digits.dropLast(), digits: 19).map { .frame(isNegative ? -$0 : $0) }
        case UInt8(ascii: "%"): return percentage(digits.dropLast(), isNegative: isNegative)
        case UInt8(ascii: "s"): return seconds(digits.dropLast(), isNegative: isNegative)
        default: return seconds(digits, isNegative: isNegative)
        }
    }

    private static func seconds(_ digits: ArraySlice<UInt8>, isNegative: Bool) -> TimeExpression? {
        Decimal(digits).map { .time($0.time(plus: 0, isNegative: isNegative)) }
    }

    /// `[HH:]MM:SS[.fff]`.
    private static func clock(_ digits: ArraySlice<UInt8>, isNegative: Bool) -> TimeExpression? {
        let parts = digits.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let last = parts.last, last.first != UInt8(ascii: "."),
            last.prefix(while: { $0 != UInt8(ascii: ".") }).count <= 2,
            let seconds = Decimal(last), seconds.isBelow(60)
        else { return nil }
        let hours = parts.count == 3 ? decimalNumber(parts[0], digits: 12) : 0
        let minutes = decimalNumber(parts[parts.count - 2], digits: parts.count == 3 ? 2 : 12)
        guard let hours, let minutes, parts.count == 2 || minutes < 60 else { return nil }
        return .time(seconds.time(plus: hours * 3600 + minutes * 60, isNegative: isNegative))
    }

    private static func fraction(_ digits: ArraySlice<UInt8>, isNegative: Bool) -> TimeExpression? {
        let parts = digits.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, let num = decimalNumber(parts[0], digits: 19),
            let den = decimalNumber(parts[1], digits: 19), den > 0
        else { return nil }
        let value = isNegative ? -num : num
        if let timescale = Int32(exactly: den) { return .time(MediaTime(value: value, timescale: timescale)) }
        // A fraction documented as exact must not be rounded, so its lowest terms must fit.
        let time = MediaTime(Rational(value, den))
        return time.isNumeric && !time.hasBeenRounded ? .time(time) : nil
    }

    private static func percentage(_ digits: ArraySlice<UInt8>, isNegative: Bool) -> TimeExpression? {
        guard let decimal = Decimal(digits), let num = Int64(isNegative: isNegative, magnitude: decimal.mantissa),
            let den = Int64(isNegative: false, magnitude: decimal.unit * 100)
        else { return nil }
        return .percentage(Rational(num, den))
    }
}

/// A decimal number as written: 12.50 is 1250 over 100.
private struct Decimal {
    var mantissa: UInt128
    var unit: UInt128

    /// Parses digits with an optional point; digits must follow the point, but need not precede it.
    ///
    /// At most 12 digits before the point and 21 after: sums of 3600 such numbers stay below 128 bits.
    init?(_ text: ArraySlice<UInt8>) {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, whole.count <= 12 else { return nil }
        let decimals = parts.count > 1 ? parts[1] : []
        guard decimals.count <= 21, !(parts.count > 1 ? decimals : whole).isEmpty else { return nil }
        mantissa = 0
        unit = 1
        for digit in Array(whole) + Array(decimals) {
            guard isDigit(digit) else { return nil }
            mantissa = mantissa * 10 + UInt128(digit - UInt8(ascii: "0"))
        }
        for _ in decimals { unit *= 10 }
    }

    func isBelow(_ limit: UInt128) -> Bool { mantissa < limit * unit }

    /// Returns the time of this many seconds plus `whole`, in ticks of the last decimal if they fit.
    func time(plus whole: Int64, isNegative: Bool) -> MediaTime {
        let exact = WideFraction(
            isNegative: isNegative, numerator: UInt128(whole.magnitude) * unit + mantissa, denominator: unit)
        let time = MediaTime(exact, preferring: unit)
        return time.hasBeenRounded ? exact.nearestTime ?? time : time
    }
}

extension WideFraction {
    /// The nearest time that any 32-bit timescale can represent, marked as rounded; `nil` if its value exceeds 64
    /// bits.
    ///
    /// The numerator's 110 bits and the denominator's 70, the maximums of ``Decimal``, leave room for all products
    /// here.
    fileprivate var nearestTime: MediaTime? {
        let (whole, part) = numerator.quotientAndRemainder(dividingBy: denominator)
        let largest = UInt128(Int32.max)
        // Narrow two fractions around the fractional part as long as the denominators allow (Stern, Brocot).
        var (low, high): (Neighbour, Neighbour) = ((0, 1), (1, 1))
        /// The distances of the fractional part from both bounds, in units that shrink as their denominators grow.
        var above: UInt128 { part * low.den - denominator * low.num }
        var below: UInt128 { denominator * high.num - part * high.den }
        while above > 0, low.den + high.den <= largest {
            let up = min(above / below, (largest - low.den) / high.den)
            low = (low.num + up * high.num, low.den + up * high.den)
            guard above > 0, low.den + high.den <= largest else { break }
            let down = min((below - 1) / above, (largest - high.den) / low.den)
            high = (high.num + down * low.num, high.den + down * low.den)
        }
        let nearest = above * high.den <= below * low.den ? low : high
        let magnitude = UInt128(whole) * nearest.den + nearest.num
        guard let value = Int64(isNegative: isNegative, magnitude: magnitude), let scale = Int32(exactly: nearest.den)
        else { return nil }
        return MediaTime(value: value, timescale: scale, hasBeenRounded: true)
    }

    private typealias Neighbour = (num: UInt128, den: UInt128)
}

private func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

/// Parses a number of 1 to `digits` decimal digits and nothing else; `nil` beyond 64 bits.
func decimalNumber(_ text: ArraySlice<UInt8>, digits: Int) -> Int64? {
    guard (1...digits).contains(text.count) else { return nil }
    var number: Int64 = 0
    for byte in text {
        guard isDigit(byte) else { return nil }
        let (tens, tooLarge) = number.multipliedReportingOverflow(by: 10)
        let (sum, tooLargeSum) = tens.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
        guard !tooLarge, !tooLargeSum else { return nil }
        number = sum
    }
    return number
}

/// Returns user input in quotation marks, shortened for a message.
func quoted(_ text: String) -> String {
    text.unicodeScalars.count > 40 ? "\"\(String(text.unicodeScalars.prefix(40)))…\"" : "\"\(text)\""
}
