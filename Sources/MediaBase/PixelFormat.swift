/// How the pixels of a picture are stored, by libavutil's name of it (`av_get_pix_fmt_name`).
public struct PixelFormat: RawRepresentable, Sendable, Hashable, Codable, CustomStringConvertible {
    /// libavutil's name, such as `yuv420p10le`.
    public let rawValue: String

    /// Makes a pixel format from libavutil's name; whether libavutil knows it is found out when it is used.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The raw value.
    public var description: String { rawValue }

    /// 8 bits each of red, green, blue and straight alpha, in this order in memory.
    public static let rgba = PixelFormat(rawValue: "rgba")
    /// 16 bits each of red, green, blue and straight alpha, in this order in memory, little-endian.
    public static let rgba64 = PixelFormat(rawValue: "rgba64le")
    /// 8 bits each of blue, green, red and straight alpha, in this order in memory.
    public static let bgra = PixelFormat(rawValue: "bgra")
    /// 8 bits each of straight alpha, red, green and blue, in this order in memory.
    public static let argb = PixelFormat(rawValue: "argb")
    /// 8 bits each of red, green and blue, in this order in memory.
    public static let rgb24 = PixelFormat(rawValue: "rgb24")
    /// 8-bit planar 4:2:0.
    public static let yuv420p = PixelFormat(rawValue: "yuv420p")
    /// 8-bit 4:2:0 with one plane of luma and one of interleaved chroma.
    public static let nv12 = PixelFormat(rawValue: "nv12")
    /// 10-bit planar 4:2:0, little-endian.
    public static let yuv420p10 = PixelFormat(rawValue: "yuv420p10le")
    /// 8 bits of luma alone.
    public static let gray = PixelFormat(rawValue: "gray")
}
