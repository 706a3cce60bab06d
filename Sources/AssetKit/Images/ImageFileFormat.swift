import LibAV
public import MediaBase
public import Pictures

/// A file format for still images.
public enum ImageFileFormat: String, Sendable, Hashable, CaseIterable {
    /// Portable Network Graphics: lossless, 8 bits, with alpha where the picture has any.
    case png
    /// JPEG with a JFIF header: lossy, without alpha.
    case jpeg
    /// WebP: lossy, with alpha where the picture has any.
    case webp

    /// The usual extension of a file's name, without a point: `png`, `jpg`, `webp`.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// The format that an extension stands for, without a point and in any case; `nil` for other extensions.
    public init?(fileExtension: String) {
        let name = fileExtension.lowercased()
        self.init(rawValue: name == "jpg" ? "jpeg" : name)
    }

    /// Whether something of the picture is lost, by how much a quality says.
    public var isLossy: Bool { self != .png }

    /// The most pixels that a side of an image may have.
    public var largestSide: Int {
        switch self {
        case .png: Int(Int32.max)
        case .jpeg: StillEncoder.Format.jpeg.largestSide
        case .webp: StillEncoder.Format.webp.largestSide
        }
    }
}

extension Bitmap {
    /// The picture as a file.
    ///
    /// The same picture always gives the same bytes. Where the format has no alpha, what is transparent shows
    /// `background`.
    ///
    /// - Parameters:
    ///   - format: The file's format.
    ///   - quality: 1 (smallest) to 100 (best). For JPEG it is libjpeg's scale, with chroma 4:4:4 from 90 on and 4:2:0
    ///     below; for WebP it is libwebp's; PNG has none.
    ///   - background: What is behind a picture that is not opaque, for JPEG.
    /// - Throws: ``MediaError/Code-swift.struct/limitExceeded`` for a picture larger than the format can hold,
    ///   ``MediaError/Code-swift.struct/unsupported`` where the build of FFmpeg lacks the encoder.
    public func encoded(
        as format: ImageFileFormat, quality: Int = 85, background: Color = .black
    ) throws(MediaError) -> [UInt8] {
        let size = Dimensions(width: width, height: height)
        switch format {
        case .png:
            return try PNGFile.encode(self)
        case .jpeg:
            let shown = isOpaque ? self : try centered(in: size, background: background)
            return try StillEncoder.encode(shown.bytes.span, dimensions: size, as: .jpeg, quality: quality)
        case .webp:
            return try StillEncoder.encode(bytes.span, dimensions: size, as: .webp, quality: quality)
        }
    }
}
