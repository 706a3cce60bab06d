internal import AssetKit
internal import Bitstreams
package import MediaBase

/// What is known of a track's pictures.
package struct VideoReport: Encodable, Sendable {
    /// The stored picture.
    package var encodedSize: Dimensions
    /// The stored picture with square pixels, in whole pixels.
    package var productionSize: Dimensions
    /// The clean aperture with square pixels, in whole pixels.
    package var cleanApertureSize: Dimensions
    /// The picture as it is shown: clean aperture, square pixels, turned, in whole pixels.
    package var displaySize: Dimensions
    /// Width of a pixel by its height.
    package var sampleAspectRatio: Rational?
    /// Width of the clean aperture by its height, before it is turned.
    package var displayAspectRatio: Rational?
    /// What the container wants to be seen; `nil` where that is all of the picture.
    package var cleanAperture: CleanApertureReport?
    /// The sizes that QuickTime keeps for the track.
    package var trackAperture: TrackApertureReport?
    /// The nine numbers of the display matrix, row by row.
    package var displayMatrix: [Double]?
    /// Degrees clockwise; `nil` where the file says nothing, or for another turn than by quarters.
    package var rotation: Int?
    /// Whether the picture is flipped left to right before it is turned.
    package var mirrored: Bool?
    /// How many frames there are a second.
    package var frameRate: FrameRateReport?
    /// The shortest time from one frame to the next; `nil` where unknown without reading all packets.
    package var minimumFrameDuration: MediaTime?
    /// The size in which Matroska wants the cropped pictures to be shown.
    package var containerDisplay: ContainerDisplay?
    /// `progressive`, `tt`, `bb`, `tb` or `bt`.
    package var fieldOrder: String?
    /// Who says what of fields.
    package var fields: FieldsReport?
    /// libavutil's name of how pixels are stored.
    package var pixelFormat: String?
    /// Significant bits of a component.
    package var bitDepth: Int?
    /// How many chroma samples there are for luma samples, such as `4:2:0`.
    package var chromaSubsampling: String?
    /// What the numbers of colours mean.
    package var color: ColorReport?
    /// The exponent of the transfer function, as QuickTime has it.
    package var gamma: Rational?
    /// What HDR metadata there is.
    package var hdr: HDRInfo?

    /// The report.
    ///
    /// - Parameter headers: What the coded pictures say of themselves.
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
        if let transform = track.displayTransform {
            displayMatrix = Self.numbers(of: transform.matrix)
            rotation = transform.isQuarterTurn ? transform.rotation : nil
            mirrored = transform.isQuarterTurn ? transform.isMirrored : nil
        }
        if !track.isAttachedPicture {
            frameRate = FrameRateReport(track)
            minimumFrameDuration = track.minimumFrameDuration?.ifNumeric
        }
        containerDisplay = track.containerDisplay
        fields = FieldsReport(container: track.containerFieldOrder, stream: headers?.fieldOrder)
        fieldOrder = fields?.order ?? video.fieldOrder
        pixelFormat = video.pixelFormat?.rawValue
        bitDepth = video.bitDepth ?? headers?.sequence?.bitDepth
        chromaSubsampling = headers?.sequence?.chroma?.rawValue ?? video.chromaSubsampling
        color = ColorReport(container: track.containerColor, headers: headers, effective: video.color)
        gamma = video.gamma
        hdr = HDRInfo(video.hdr, headers: headers)
    }

    /// The fixed-point numbers a b u, c d v, x y w of a matrix: 16.16, but the third of each row 2.30.
    private static func numbers(of matrix: [Int32]) -> [Double] {
        matrix.enumerated().map { place, number in Double(number) / (place % 3 == 2 ? 0x1p30 : 0x1p16) }
    }
}

/// How many frames a track has a second.
package struct FrameRateReport: Encodable, Sendable {
    /// What the container or the codec suggests.
    package var nominal: Rational?
    /// Averaged over the track.
    package var average: Rational?
    /// `constant` or `variable`.
    package var mode: String?
    /// Whether the rates are supposed by the first time stamps; `nil` where the container or the codec states them, or all
    /// packets were read.
    package var isEstimate: Bool?

    /// The rates of a track; `nil` where nothing is known.
    init?(_ track: AssetTrack) {
        nominal = track.nominalFrameRate
        average = track.averageFrameRate
        mode = track.hasConstantFrameRate.map { $0 ? "constant" : "variable" }
        if nominal == nil, average == nil, mode == nil { return nil }
        if track.isFrameRateEstimated { isEstimate = true }
    }
}
