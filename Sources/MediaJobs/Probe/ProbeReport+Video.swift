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

/// What the numbers of colours mean, by all who say so.
package struct ColorReport: Encodable, Sendable {
    /// What the container says, apart from the coded pictures.
    package var container: ColorInfo?
    /// What the coded pictures' own headers say; for codecs whose headers are not read, libavformat's word where the
    /// container has none.
    package var stream: ColorInfo?
    /// What a decoder goes by, as libavformat works it out of both.
    package var effective: ColorInfo?
    /// Whether container and stream name something and disagree; `nil` unless both are known.
    package var conflict: Bool?

    /// The report; `nil` where nothing is known.
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
    /// Whether something is named on both sides and not alike.
    fileprivate func contradicts(_ other: ColorInfo) -> Bool {
        let pairs = [
            (primaries, other.primaries), (transfer, other.transfer), (matrix, other.matrix), (range, other.range),
            (chromaLocation, other.chromaLocation),
        ]
        return pairs.contains { mine, theirs in mine != nil && theirs != nil && mine != theirs }
    }
}

/// Who says what of the fields of frames.
package struct FieldsReport: Encodable, Sendable {
    /// What the container says: `progressive`, `tt` or `bb`.
    package var container: String?
    /// What the coded pictures' headers say: also `interlaced` where they do not tell the order.
    package var stream: String?
    /// Whether both name something and disagree; `nil` unless both are known.
    package var conflict: Bool?

    /// The report; `nil` where nothing is known.
    init?(container: String?, stream: String?) {
        guard container != nil || stream != nil else { return nil }
        self.container = container
        self.stream = stream
        guard let container, let stream else { return }
        let isLooser = stream == "interlaced" && container != "progressive"
        conflict = container != stream && !isLooser
    }

    /// The order by whoever tells it, the pictures before the container.
    var order: String? { stream == "interlaced" ? container == "progressive" ? nil : container : stream ?? container }
}

/// The part of a picture that the container wants to be seen.
package struct CleanApertureReport: Encodable, Sendable {
    /// Pixels across.
    package var width: Rational
    /// Pixels down.
    package var height: Rational
    /// From the picture's centre to the aperture's, to the right.
    package var horizontalOffset: Rational
    /// From the picture's centre to the aperture's, downwards.
    package var verticalOffset: Rational
    /// What it cuts out, exactly.
    package var rect: ExactRectangle
    /// The whole pixels of the picture in it.
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

/// The sizes that QuickTime keeps for a track (`tapt`).
package struct TrackApertureReport: Encodable, Sendable {
    /// Cropped to the clean aperture, square pixels.
    package var clean: Size?
    /// The whole picture with square pixels.
    package var production: Size?
    /// The whole picture in stored pixels.
    package var encoded: Size?

    /// A size in fractions of a pixel.
    package struct Size: Encodable, Sendable {
        /// Pixels across.
        package var width: Double
        /// Pixels down.
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
