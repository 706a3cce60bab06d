/// How one PCM sample is stored: `AVSampleFormat` of libavutil without the planar twins.
///
/// Samples are in the machine's byte order. 24-bit sources arrive as ``int32``, left-justified.
public enum SampleFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// Unsigned 8 bits; silence is 128.
    case uint8 = "u8"
    /// Signed 16 bits.
    case int16 = "s16"
    /// Signed 32 bits.
    case int32 = "s32"
    /// Signed 64 bits.
    case int64 = "s64"
    /// 32-bit IEEE 754, full scale at ±1.
    case float32 = "flt"
    /// 64-bit IEEE 754, full scale at ±1.
    case float64 = "dbl"

    /// Bytes that one sample of one channel takes.
    public var bytesPerSample: Int {
        switch self {
        case .uint8: 1
        case .int16: 2
        case .int32, .float32: 4
        case .int64, .float64: 8
        }
    }
}

/// Which loudspeaker each channel is for.
public struct ChannelLayout: Sendable, Hashable, Codable, CustomStringConvertible {
    /// How many channels there are.
    public let channels: Int

    /// libavutil's description, such as `stereo`, `5.1(side)` or `2 channels` where the order is unknown.
    public let name: String

    /// Makes a layout from its number of channels and libavutil's description of it.
    ///
    /// The names that are understood are those of `av_channel_layout_from_string`.
    public init(channels: Int, name: String) {
        self.channels = channels
        self.name = name
    }

    /// One channel in the middle.
    public static let mono = ChannelLayout(channels: 1, name: "mono")
    /// Left and right.
    public static let stereo = ChannelLayout(channels: 2, name: "stereo")

    /// ``name`` where it says which channels there are; `nil` where it only counts them.
    public var knownName: String? { name.hasSuffix("channels") ? nil : name }

    /// ``name``.
    public var description: String { name }
}
