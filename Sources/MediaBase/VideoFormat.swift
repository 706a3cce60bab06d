/// What pictures a track carries.
public struct VideoFormat: Sendable, Hashable {
    /// The stored picture, before any cropping that the container asks for.
    public var encodedSize: Dimensions
    /// Width of a pixel by its height; `nil` where nothing says so (then 1).
    public var sampleAspectRatio: Rational?
    /// The part of the stored picture that the container wants to be seen; `nil` where that is all of it.
    public var cleanAperture: CleanAperture?
    /// How pixels are stored; `nil` where it is not known without decoding.
    public var pixelFormat: PixelFormat?
    /// Significant bits of a component.
    public var bitDepth: Int?
    /// The decoder's word on colours.
    public var color: ColorInfo
    /// `progressive`, `tt`, `bb`, `tb` or `bt` (stored order, then display order; top or bottom field first).
    public var fieldOrder: String?
    /// Static HDR metadata.
    public var hdr: HDRInfo?
    /// The exponent of the transfer function as QuickTime's `gama` says it; `nil` where it does not.
    public var gamma: Rational?
    /// Whether pictures depend on later ones, so that they are stored in another order than shown.
    public var reorders: Bool

    /// Makes a description from its parts.
    public init(
        encodedSize: Dimensions, sampleAspectRatio: Rational? = nil, cleanAperture: CleanAperture? = nil,
        pixelFormat: PixelFormat? = nil, bitDepth: Int? = nil, color: ColorInfo = ColorInfo(),
        fieldOrder: String? = nil, hdr: HDRInfo? = nil, reorders: Bool = false
    ) {
        self.encodedSize = encodedSize
        self.sampleAspectRatio = sampleAspectRatio
        self.cleanAperture = cleanAperture
        self.pixelFormat = pixelFormat
        self.bitDepth = bitDepth
        self.color = color
        self.fieldOrder = fieldOrder
        self.hdr = hdr
        self.reorders = reorders
    }

    /// The size in which the picture is meant to be shown, before any rotation, in whole pixels.
    ///
    /// The pixel aspect widens or narrows the picture and leaves its height, as
    /// `CMVideoFormatDescriptionGetPresentationDimensions` does. Both sides are rounded half up and are at least 1.
    ///
    /// - Parameters:
    ///   - usePixelAspectRatio: Whether pixels are made square.
    ///   - useCleanAperture: Whether the picture is cut to its clean aperture, as far as that lies inside.
    public func presentationDimensions(usePixelAspectRatio: Bool, useCleanAperture: Bool = false) -> Dimensions {
        var width = Rational(Int64(encodedSize.width))
        var height = Rational(Int64(encodedSize.height))
        if useCleanAperture, let visible = cleanAperture?.visibleRectangle {
            (width, height) = (visible.width, visible.height)
        }
        if usePixelAspectRatio, let ratio = sampleAspectRatio, ratio.isPositive {
            width = width.multiplied(by: ratio) ?? width
        }
        func whole(_ side: Rational) -> Int? { side.rounded().flatMap { Int32(exactly: $0) }.map { max(1, Int($0)) } }
        guard let columns = whole(width), let rows = whole(height) else { return encodedSize }
        return Dimensions(width: columns, height: rows)
    }
}
