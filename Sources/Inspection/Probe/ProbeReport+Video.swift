internal import AssetKit
internal import Bitstreams
internal import ContainerFacts
package import MediaBase

/// The video properties of a track.
package struct VideoReport: Encodable, Sendable {
    /// The size of the stored picture.
    package var encodedSize: Dimensions
    /// The size of the stored picture with square pixels, in whole pixels.
    package var productionSize: Dimensions
    /// The size of the clean aperture with square pixels, in whole pixels.
    package var cleanApertureSize: Dimensions
    /// The displayed size: the clean aperture with square pixels after rotation, in whole pixels.
    package var displaySize: Dimensions
    /// The ratio of a pixel's width to its height.
    package var sampleAspectRatio: Rational?
    /// The ratio of the clean aperture's width to its height, before rotation.
    package var displayAspectRatio: Rational?
    /// The visible part declared by the container; `nil` if that is the whole picture.
    package var cleanAperture: CleanApertureReport?
    /// The sizes that QuickTime stores for the track.
    package var trackAperture: TrackApertureReport?
    /// The nine numbers of the display matrix, row by row.
    package var displayMatrix: [Double]?
    /// The clockwise rotation in degrees; `nil` if the file declares none, or if it is not a multiple of 90.
    package var rotation: Int?
    /// True if the picture is flipped horizontally before the rotation.
    package var mirrored: Bool?
    /// The frame rate.
    package var frameRate: FrameRateReport?
    /// The shortest time from one frame to the next; `nil` if unknown without reading all packets.
    package var minimumFrameDuration: MediaTime?
    /// The display size of the cropped picture in a Matroska file.
    package var containerDisplay: ContainerDisplay?
    /// The field order: `progressive`, `tt`, `bb`, `tb` or `bt`.
    package var fieldOrder: FieldOrder?
    /// The field orders declared by the container and by the stream.
    package var fields: FieldsReport?
    /// The pixel format by its name in libavutil.
    package var pixelFormat: String?
    /// The number of significant bits of a component.
    package var bitDepth: Int?
    /// The chroma subsampling, such as `4:2:0`.
    package var chromaSubsampling: String?
    /// The colour properties.
    package var color: ColorReport?
    /// The exponent of the transfer function, as stored by QuickTime.
    package var gamma: Rational?
    /// The HDR metadata.
    package var hdr: HDRInfo?

    /// Makes the report of a video format.
    ///
    /// - Parameter headers: The headers of the coded pictures.
    init(_ video: VideoFormat, of track: AssetTrack, headers: PictureHeaders?) {
        encodedSize = video.encodedSize
        productionSize = video.presentationDimensions(usePixelAspectRatio: true)
        cleanApertureSize = video.presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true)
        displaySize = track.naturalSize ?? cleanApertureSize
        sampleAspectRatio = video.sampleAspectRatio
        let shape =
            video.cleanAperture.flatMap { $0.visibleRectangle.width.divided(by: $0.visibleRectangle.height) }
            ?? Rational(Int64(encodedSize.width), Int64(encodedSize.height))
        displayAspectRatio = sampleAspectRatio.flatMap { shape.multiplied(by: $0) }
        cleanAperture = video.cleanAperture.map { CleanApertureReport($0) }
        trackAperture = track.trackAperture.map { TrackApertureReport($0) }
        if let matrix = track.displayMatrix {
            let transform = PictureTransform(matrix: matrix)
            displayMatrix = Self.numbers(of: matrix)
            rotation = transform.isQuarterTurn ? transform.rotation : nil
            mirrored = transform.isQuarterTurn ? transform.isMirrored : nil
        }
        if !track.isAttachedPicture {
            frameRate = FrameRateReport(track)
            minimumFrameDuration = track.minimumFrameDuration?.ifNumeric
        }
        containerDisplay = track.containerDisplay
        fields = FieldsReport(container: track.containerFieldOrder, stream: headers?.sequence?.scan)
        fieldOrder = fields?.order ?? video.fieldOrder
        pixelFormat = video.pixelFormat?.rawValue
        bitDepth = video.bitDepth ?? headers?.sequence?.bitDepth
        chromaSubsampling = headers?.sequence?.chroma?.rawValue ?? video.chromaSubsampling
        color = ColorReport(container: track.containerColor, headers: headers, effective: video.color)
        gamma = video.gamma
        hdr = HDRInfo(video.hdr, headers: headers)
    }

    /// Converts the fixed-point numbers a b u, c d v, x y w of a matrix: 16.16, but 2.30 for the third of each row.
    private static func numbers(of matrix: [Int32]) -> [Double] {
        matrix.enumerated().map { place, number in Double(number) / (place % 3 == 2 ? 0x1p30 : 0x1p16) }
    }
}

/// The frame rate of a track.
package struct FrameRateReport: Encodable, Sendable {
    /// The rate declared by the container or the codec.
    package var nominal: Rational?
    /// The average over the track.
    package var average: Rational?
    /// The mode: `constant` or `variable`.
    package var mode: String?
    /// True if the rates are guessed from the first time stamps; `nil` if they are declared or all packets were read.
    package var isEstimate: Bool?

    /// Makes the report of a track's frame rate; returns `nil` if nothing is known.
    init?(_ track: AssetTrack) {
        nominal = track.nominalFrameRate
        average = track.averageFrameRate
        mode = track.hasConstantFrameRate.map { $0 ? "constant" : "variable" }
        if nominal == nil, average == nil, mode == nil { return nil }
        if track.isFrameRateEstimated { isEstimate = true }
    }
}

/// The colour properties declared by the container and by the stream.
package struct ColorReport: Encodable, Sendable {
    /// The properties declared by the container, apart from the coded pictures.
    package var container: ColorInfo?
    /// The properties declared by the headers of the coded pictures.
    ///
    /// For codecs whose headers are not read, they are libavformat's values, provided that the container declares none.
    package var stream: ColorInfo?
    /// The properties used for decoding, which libavformat derives from both.
    package var effective: ColorInfo?
    /// True if container and stream declare different values; `nil` unless both are known.
    package var conflict: Bool?

    /// Makes the report of a track's colours; returns `nil` if nothing is known.
    init?(container: ColorInfo?, headers: PictureHeaders?, effective: ColorInfo) {
        self.container = container
        stream = headers?.sequence == nil && container == nil ? effective : headers?.color
        if stream?.isUnknown == true { stream = nil }
        self.effective = effective.isUnknown ? container ?? stream : effective
        if self.effective == nil { return nil }
        if let container, let stream { conflict = container.contradicts(stream) }
    }
}

extension ColorInfo {
    /// Returns whether any property is declared on both sides with different values.
    fileprivate func contradicts(_ other: ColorInfo) -> Bool {
        let pairs = [
            (primaries, other.primaries), (transfer, other.transfer), (matrix, other.matrix), (range, other.range),
            (chromaLocation, other.chromaLocation),
        ]
        return pairs.contains { mine, theirs in mine != nil && theirs != nil && mine != theirs }
    }
}

/// The field orders declared by the container and by the stream.
package struct FieldsReport: Encodable, Sendable {
    /// The value declared by the container: `progressive`, `tt` or `bb`.
    package var container: FieldOrder?
    /// The value declared by the headers of the coded pictures; also `interlaced` if they do not state the order.
    package var stream: FieldOrder?
    /// True if container and stream declare different values; `nil` unless both are known.
    package var conflict: Bool?

    /// Makes the report of a track's fields; returns `nil` if nothing is known.
    init?(container: FieldOrder?, stream: FieldOrder?) {
        guard container != nil || stream != nil else { return nil }
        self.container = container
        self.stream = stream
        guard let container, let stream else { return }
        let isLooser = stream == .interlaced && container != .progressive
        conflict = container != stream && !isLooser
    }

    /// The declared field order; the stream takes precedence over the container.
    var order: FieldOrder? { stream == .interlaced ? container == .progressive ? nil : container : stream ?? container }
}

/// The part of a picture that is visible, as declared by the container.
package struct CleanApertureReport: Encodable, Sendable {
    /// The width in pixels.
    package var width: Rational
    /// The height in pixels.
    package var height: Rational
    /// The horizontal distance from the picture's centre to the aperture's, to the right.
    package var horizontalOffset: Rational
    /// The vertical distance from the picture's centre to the aperture's, downwards.
    package var verticalOffset: Rational
    /// The exact rectangle of the aperture.
    package var rect: ExactRectangle
    /// The rectangle of whole pixels inside the aperture.
    package var pixelRect: PixelRectangle

    init(_ aperture: CleanAperture) {
        width = aperture.width
        height = aperture.height
        horizontalOffset = aperture.horizontalOffset
        verticalOffset = aperture.verticalOffset
        rect = aperture.rectangle
        pixelRect = aperture.pixelRect
    }
}

/// The sizes that QuickTime stores for a track (`tapt`).
package struct TrackApertureReport: Encodable, Sendable {
    /// The size cropped to the clean aperture, in square pixels.
    package var clean: Size?
    /// The size of the whole picture in square pixels.
    package var production: Size?
    /// The size of the whole picture in stored pixels.
    package var encoded: Size?

    /// A size in fractions of a pixel.
    package struct Size: Encodable, Sendable {
        /// The width in pixels.
        package var width: Double
        /// The height in pixels.
        package var height: Double

        // 16.16 fixed point is exact in a Double.
        init(_ size: TrackAperture.Size) {
            width = size.width.doubleValue
            height = size.height.doubleValue
        }
    }

    init(_ aperture: TrackAperture) {
        clean = aperture.clean.map { Size($0) }
        production = aperture.production.map { Size($0) }
        encoded = aperture.encoded.map { Size($0) }
    }
}
