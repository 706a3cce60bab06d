import LibAV
import MediaBase

// Video properties of a source track that carry over when it is re-encoded.

extension VideoOutputSettings {
    /// Returns the settings with unset properties filled in from a source track.
    ///
    /// - Parameters:
    ///   - track: The source track.
    ///   - asset: The asset to read HDR metadata in the coded frames from; `nil` if the track has no stored frames.
    ///   - turn: The transform that is applied to frames before they are encoded; sizes are those after it.
    package func carrying(
        _ track: AssetTrack, of asset: Asset?, turnedBy turn: PictureTransform = .identity
    ) throws(MediaError) -> VideoOutputSettings {
        guard let stored = track.formatDescriptions.first?.video else { return self }
        let source = try stored.turned(by: turn)
        var settings = self
        let size = dimensions ?? source.encodedSize
        settings.dimensions = size
        guard let across = Rational(Int64(size.width)).divided(by: Rational(Int64(source.encodedSize.width))),
            let down = Rational(Int64(size.height)).divided(by: Rational(Int64(source.encodedSize.height))),
            across.isPositive, down.isPositive
        else { return self }
        if settings.pixelAspectRatio == nil {
            let ratio = source.sampleAspectRatio ?? .one
            settings.pixelAspectRatio = down.divided(by: across).flatMap { ratio.multiplied(by: $0) }
        }
        if settings.cleanAperture == nil, let aperture = source.cleanAperture {
            settings.cleanAperture = try aperture.scaled(across: across, down: down, in: size)
        }
        if settings.color == nil {
            var color = ColorInfo(container: track.containerColor, stream: source.color)
            if source.isRGB {
                (color.matrix, color.range) = color.codedAsLuma()
                color.chromaLocation = nil
            }
            settings.color = color.isUnknown ? nil : color
        }
        if hdr == nil {
            settings.hdr = source.hdr
            if settings.isHDR, let asset { settings.hdr = try asset.hdr(of: track) }
        }
        // Scaling mixes the fields of interlaced frames.
        let keepsFields = keepsFields(of: stored, turnedBy: turn)
        settings.fieldOrder =
            fieldOrder ?? (keepsFields || source.fieldOrder == nil ? source.fieldOrder : .progressive)
        settings.expectedFrameRate = expectedFrameRate ?? track.pictureRate
        return settings
    }

    /// Returns the reader's settings for a track: frames as decoded if the writer can convert them in parallel to
    /// decoding.
    func readerSettings(for track: AssetTrack, turnedBy turn: PictureTransform) -> VideoSettings {
        var settings = VideoSettings()
        settings.deinterlaces =
            (track.formatDescriptions.first?.video).map { !keepsFields(of: $0, turnedBy: turn) } ?? false
        settings.decodesBySlices = true
        guard turn != .identity, turn.isQuarterTurn else { return settings }
        (settings.pixelFormat, settings.dimensions) = (encodedPixelFormat, dimensions)
        settings.coding = lumaCoding
        settings.convertsFieldsApart = true
        settings.turn = turn
        return settings
    }

    /// The coding of luma and chroma for the encoder.
    var lumaCoding: LumaCoding { LumaCoding(matrix: codec.matrix, range: codec.range, fromRGB: color) }

    /// The colour tags of the encoded video; `nil` if it has none.
    package var writtenColor: ColorInfo? {
        guard var color else { return nil }
        if color.range != nil, let range = codec.range { color.range = range }
        if color.matrix != nil, let matrix = codec.matrix { color.matrix = matrix }
        return color
    }

    /// Indicates whether the encoded video has an alpha channel.
    package var keepsAlpha: Bool { encodedPixelFormat.hasAlpha }

    /// The significant bits of each component of the encoded video.
    package var encodedBitDepth: Int { encodedPixelFormat.bitDepth }

    /// Indicates whether the encoded video is tagged as PQ or HLG.
    private var isHDR: Bool { color?.transfer == "smpte2084" || color?.transfer == "arib-std-b67" }

    private func keepsFields(of source: VideoFormat, turnedBy turn: PictureTransform) -> Bool {
        codec.holdsFields && (dimensions?.height ?? source.encodedSize.height) == source.encodedSize.height
            && (turn.rotation == 0 || !turn.isQuarterTurn)
    }
}

extension VideoFormat {
    /// Returns the format of frames after they are flipped and rotated.
    package func turned(by turn: PictureTransform) throws(MediaError) -> VideoFormat {
        guard turn != .identity, turn.isQuarterTurn else { return self }
        var format = self
        format.encodedSize = turn.apply(to: encodedSize)
        let isAcross = turn.rotation == 90 || turn.rotation == 270
        if isAcross { format.sampleAspectRatio = sampleAspectRatio?.inverse }
        format.cleanAperture = try cleanAperture.map { aperture throws(MediaError) in
            let right = turn.isMirrored ? aperture.horizontalOffset.negated : aperture.horizontalOffset
            let down = aperture.verticalOffset
            let (newRight, newDown) =
                switch turn.rotation {
                case 90: (down.negated, right)
                case 180: (right.negated, down.negated)
                case 270: (down, right.negated)
                default: (right, down)
                }
            return try CleanAperture(
                width: isAcross ? aperture.height : aperture.width,
                height: isAcross ? aperture.width : aperture.height, horizontalOffset: newRight,
                verticalOffset: newDown, in: format.encodedSize)
        }
        return format
    }

    /// Indicates whether pixels have an alpha component.
    package var hasAlpha: Bool { pixelFormat?.hasAlpha ?? false }

    /// Indicates whether pixels are red, green and blue.
    var isRGB: Bool { color.matrix == "gbr" || pixelFormat?.isRGB ?? false }
}

extension Rational {
    fileprivate var negated: Rational { Rational.zero.subtracting(self) ?? self }
}

extension ColorInfo {
    /// Merges colour tags: those of the stream, and for each that it lacks that of the container.
    package init(container: ColorInfo?, stream: ColorInfo) {
        self.init(
            primaries: stream.primaries ?? container?.primaries, transfer: stream.transfer ?? container?.transfer,
            matrix: stream.matrix ?? container?.matrix, range: stream.range ?? container?.range,
            chromaLocation: stream.chromaLocation ?? container?.chromaLocation)
    }
}

extension CleanAperture {
    /// Returns the same part of the frame after scaling.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/damaged`` if no whole pixel is left.
    func scaled(across: Rational, down: Rational, in size: Dimensions) throws(MediaError) -> CleanAperture {
        guard let width = width.multiplied(by: across), let height = height.multiplied(by: down),
            let horizontal = horizontalOffset.multiplied(by: across),
            let vertical = verticalOffset.multiplied(by: down)
        else { throw MediaError(.damaged, "the clean aperture cannot be scaled exactly") }
        return try CleanAperture(
            width: width, height: height, horizontalOffset: horizontal, verticalOffset: vertical, in: size)
    }
}

extension VideoOutputSettings {
    /// Returns the settings with what they leave open taken from a source's format.
    func completed(from source: VideoFormat?) -> Self {
        var settings = self
        guard let source else { return settings }
        settings.dimensions = dimensions ?? source.encodedSize
        guard settings.dimensions == source.encodedSize else { return settings }
        settings.pixelAspectRatio = pixelAspectRatio ?? source.sampleAspectRatio
        settings.cleanAperture = cleanAperture ?? source.cleanAperture
        return settings
    }
}
