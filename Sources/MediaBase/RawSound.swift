/// How sound without any header is stored, which only the one who names the file can say.
///
/// Written as `FORMAT:RATE[:CHANNELS]`, as in `s16le:44100:2`. Channels are interleaved.
public struct RawSound: Sendable, Hashable, CustomStringConvertible {
    /// How one sample is stored, by libavformat's name of the format.
    public enum Encoding: String, Sendable, Hashable, CaseIterable {
        /// Signed and unsigned whole numbers of 8 bits.
        case s8, u8
        /// Whole numbers of 16 bits, the low byte first or last.
        case s16le, s16be, u16le, u16be
        /// Whole numbers of 24 bits in three bytes.
        case s24le, s24be, u24le, u24be
        /// Whole numbers of 32 bits.
        case s32le, s32be, u32le, u32be
        /// IEEE 754 numbers of 32 bits.
        case f32le, f32be
        /// IEEE 754 numbers of 64 bits.
        case f64le, f64be
        /// ITU-T G.711, A-law and µ-law.
        case alaw, mulaw
    }

    /// How one sample is stored.
    public let encoding: Encoding
    /// Samples a second and channel.
    public let sampleRate: Int
    /// Interleaved channels.
    public let channels: Int

    /// What can be written, for messages.
    public static let forms =
        "FORMAT:RATE[:CHANNELS] such as s16le:44100:2; formats: "
        + Encoding.allCases.map(\.rawValue).joined(separator: " ")

    /// Reads `FORMAT:RATE[:CHANNELS]`; one channel where none are named, the low byte first where `s16` alone is.
    ///
    /// - Throws: ``MediaError`` `invalidArgument` for anything else, for a rate beyond 1…16777216 and for channels
    ///   beyond 1…512.
    public init(parsing text: String) throws(MediaError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { $0.lowercased() }
        guard (2...3).contains(parts.count),
            let encoding = Encoding(rawValue: parts[0]) ?? .init(rawValue: parts[0] + "le"),
            let rate = Self.number(parts[1]), (1...1 << 24).contains(rate),
            let channels = parts.count == 3 ? Self.number(parts[2]) : 1, (1...512).contains(channels)
        else {
            throw MediaError(.invalidArgument, "'\(text.prefix(40))' is no raw sound: write \(Self.forms)")
        }
        self.encoding = encoding
        sampleRate = rate
        self.channels = channels
    }

    private static func number(_ text: String) -> Int? {
        text.allSatisfy { $0.isASCII && $0.isNumber } ? Int(text) : nil
    }

    /// The form in which it is written.
    public var description: String { "\(encoding.rawValue):\(sampleRate):\(channels)" }
}
