extension Timecode {
    /// The parts of a timecode as written, not yet tied to a frame rate.
    public struct Fields: Sendable, Hashable {
        /// Hours, zero or more; not limited to 23.
        public var hours: Int64
        /// Minutes, 0 to 59.
        public var minutes: Int
        /// Seconds, 0 to 59.
        public var seconds: Int
        /// Frames, from 0.
        public var frames: Int
        /// Written with `;` before the frames.
        public var isDropFrame: Bool
        /// Written with a minus sign.
        public var isNegative: Bool

        /// Makes the parts as they are; the timecode that is made of them checks them.
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

    /// The parts of the text: hours, minutes, seconds and frames, where numbers left out are skipped.
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

    /// Makes the timecode with these parts.
    ///
    /// - Throws: `invalidArgument` where a part is out of its range, where the number is one that drop-frame counting
    ///   leaves out, and where one of parts and rate is drop-frame and the other is not.
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

    /// Reads `HH:MM:SS:FF`, or `HH:MM:SS;FF` at a drop-frame rate, with or without a minus sign before it.
    ///
    /// - Throws: `invalidArgument` where the text has another form, and as the parts do.
    public init(_ text: String, rate: Rate) throws(MediaError) {
        try self.init(Fields(parsing: text), rate: rate)
    }
}

extension Timecode.Fields {
    /// Reads `HH:MM:SS:FF` or `HH:MM:SS;FF`, with or without a minus sign before it.
    ///
    /// Hours have 1 to 12 digits, minutes and seconds 1 or 2, frames 1 to 3.
    ///
    /// - Throws: `invalidArgument` where the text has another form, or minutes or seconds are above 59.
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
    /// `HH:MM:SS:FF`, with `;` before the frames at a drop-frame rate.
    ///
    /// Hours take as many digits as they need, two at least; frames take three above 100 frames a second.
    public var description: String { fields.text(frameDigits: rate.nominal > 100 ? 3 : 2) }
}

extension Timecode.Fields: CustomStringConvertible {
    /// `HH:MM:SS:FF`, with `;` before the frames of drop-frame.
    public var description: String { text(frameDigits: 2) }

    func text(frameDigits: Int) -> String {
        let clock = [hours.magnitude, UInt64(minutes.magnitude), UInt64(seconds.magnitude)].map { padded($0, to: 2) }
        let frames = padded(UInt64(frames.magnitude), to: frameDigits)
        return (isNegative ? "-" : "") + clock.joined(separator: ":") + (isDropFrame ? ";" : ":") + frames
    }
}
