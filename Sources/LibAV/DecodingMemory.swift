internal import CFFmpeg
package import MediaBase
import SystemCalls

/// The memory that the pictures of a track take while they are decoded, and how many codec threads it suffices for.
///
/// Each codec thread holds the picture that it decodes, and each decoder those from which others are predicted. Large
/// pictures need so much of it that fewer threads have to do.
package struct DecodingMemory {
    /// The bytes of a decoded picture.
    package let pictureBytes: Int
    private let limits: MediaLimits

    /// The pictures that a decoder holds beside those of its threads.
    private static let keptPictures = 4
    /// The bytes that pictures may always take, so that the memory need not be looked up for them.
    private static let alwaysThere = 256 << 20

    /// Creates the value for pictures of a size; an unknown format counts as one of four bytes for each pixel.
    package init(_ size: Dimensions, _ format: PixelFormat?, limits: MediaLimits) {
        self.init(size, format?.native ?? AV_PIX_FMT_NONE, limits: limits)
    }

    init(_ size: Dimensions, _ format: AVPixelFormat, limits: MediaLimits) {
        let bytes = av_image_get_buffer_size(format, Int32(clamping: size.width), Int32(clamping: size.height), 1)
        let (pixels, overflow) = max(0, size.width).multipliedReportingOverflow(by: max(0, size.height))
        pictureBytes = bytes > 0 ? Int(bytes) : overflow || pixels > 1 << 40 ? 1 << 42 : pixels * 4
        self.limits = limits
    }

    /// Returns the number of threads for one decoder: `wanted`, or fewer, but at least one.
    package func threads(atMost wanted: Int) -> Int {
        max(1, min(wanted, pictures(atMost: wanted + Self.keptPictures) - Self.keptPictures))
    }

    /// Returns the number of decoders with one thread each: `wanted`, or fewer, but at least one.
    package func decoders(atMost wanted: Int) -> Int {
        let each = 1 + Self.keptPictures
        return max(1, min(wanted, pictures(atMost: wanted * each) / each))
    }

    /// Returns the number of pictures that half of the memory holds, or `wanted` if that is less.
    private func pictures(atMost wanted: Int) -> Int {
        guard pictureBytes > 0, wanted > Self.alwaysThere / pictureBytes else { return wanted }
        guard let memory = limits.memory ?? WorkMemory.bytes else { return wanted }
        return min(wanted, memory / 2 / pictureBytes)
    }
}
