public import MediaBase
public import Pictures
internal import TextLayout

/// A description of how several video tracks are combined into one: `AVMutableVideoComposition`.
///
/// ```swift
/// var layer = VideoComposition.Layer(track: first)
/// try layer.opacity.setRamp(from: 1, to: 0, timeRange: fade)
/// let instruction = VideoComposition.Instruction(timeRange: whole, layers: [layer, .init(track: second)])
/// let composition = VideoComposition(
///     renderSize: Dimensions(width: 1280, height: 720), frameDuration: MediaTime(value: 1, timescale: 30),
///     instructions: [instruction])
/// ```
///
/// Frames are blended in sRGB as it is coded (not in linear light), as in players and editing programs; HDR is first
/// converted to its range. Alpha is premultiplied, and values are rounded once at the end. The output is tagged as
/// BT.709.
public struct VideoComposition: Sendable {
    /// The size of the composited frames, before ``renderScale``.
    public var renderSize: Dimensions
    /// The factor by which everything is scaled; 1/2 makes a quick preview.
    public var renderScale = Rational.one
    /// The duration of each frame.
    public var frameDuration: MediaTime
    /// The instructions in order; together they cover the time from zero to the asset's end.
    public var instructions: [Instruction]
    /// The overlays above all layers, the rearmost first.
    public var overlays: [Overlay] = []
    /// A custom compositor; `nil` to draw the instructions' layers: `customVideoCompositorClass`.
    public var compositor: (any VideoCompositing)?
    /// Images that layers show as if they were the frames of tracks, by IDs that no track has.
    ///
    /// They are shown in all frames: `AVVideoCompositionCoreAnimationTool(additionalLayer:asTrackID:)`.
    public var imageTracks: [Int: Bitmap] = [:]

    /// Creates a composition from its size, frame duration and instructions.
    public init(renderSize: Dimensions, frameDuration: MediaTime, instructions: [Instruction] = []) {
        self.renderSize = renderSize
        self.frameDuration = frameDuration
        self.instructions = instructions
    }

    /// A description of the output during a time range: `AVMutableVideoCompositionInstruction`.
    public struct Instruction: Sendable {
        /// The time range in which the instruction applies.
        public var timeRange: MediaTimeRange
        /// The colour behind all layers.
        public var backgroundColor = Color.black
        /// The layers, the front one first.
        public var layers: [Layer]
        /// Data of your own for a custom compositor.
        public var userData: (any Sendable)?
        /// The IDs of the tracks whose frames a custom compositor needs; `nil`, the default, for all tracks.
        ///
        /// Without a custom compositor, the layers determine the tracks.
        public var requiredSourceTrackIDs: [Int]?
        /// The ID of a track whose frames are the output as they are, without being composited; `nil` for none.
        ///
        /// They are scaled to the output's size. Where the track has no frame, the frame is composited.
        public var passthroughTrackID: Int?

        /// Creates an instruction with a black background.
        public init(timeRange: MediaTimeRange, layers: [Layer] = []) {
            self.timeRange = timeRange
            self.layers = layers
        }
    }
}

extension VideoComposition {
    /// The placement and opacity of one track over time: `AVMutableVideoCompositionLayerInstruction`.
    ///
    /// Frames are placed at the size at which they are shown before the track's rotation: cropped to the clean aperture
    /// and with square pixels. The rotation itself applies only through a transform such as
    /// ``PictureTransform/upright(_:in:)``.
    public struct Layer: Sendable, Hashable {
        /// The ID of the track: ``AssetTrack/id``.
        public let trackID: Int
        /// The transform of the frames; the identity until it is set.
        ///
        /// A ramp changes each coefficient linearly.
        public var transform = Ramp(
            "transform", before: PictureTransform.identity,
            limits: Array(repeating: -.greatestFiniteMagnitude ... .greatestFiniteMagnitude, count: 6))
        /// The opacity: 0 is transparent, 1, until it is set, covers everything behind the layer.
        public var opacity = Ramp<Float>("opacity", before: 1, limits: [0...1])
        /// The part that is shown, in pixels of the frames before the transform; a very large rectangle until it is set.
        public var cropRectangle = Ramp(
            "crop rectangle", before: PictureRectangle.unlimited, limits: [-1e8...1e8, -1e8...1e8, 0...1e8, 0...1e8])

        /// Creates a layer that shows a track untransformed at the top left corner.
        public init(track: AssetTrack) { self.init(trackID: track.id) }

        /// Creates a layer for a track by its ID, untransformed at the top left corner.
        public init(trackID: Int) { self.trackID = trackID }
    }

    /// An image above a composition, such as a watermark or a title: the use of `AVVideoCompositionCoreAnimationTool`.
    public struct Overlay: Sendable {
        /// The image, with straight alpha.
        public var image: Bitmap
        /// The position and size in the composition's frames; a width and height of 0 stand for the image's own size.
        public var place: PictureRectangle
        /// The distance by which the overlay is moved from ``place``; none until it is set.
        ///
        /// Ramps of position, scale and opacity are independent of each other.
        public var offset = Ramp(
            "offset", before: PictureOffset.zero, limits: Array(repeating: -1e8...1e8, count: 2))
        /// The factor by which the overlay is scaled about its centre; 1 until it is set.
        public var scale = Ramp<Float>("scale", before: 1, limits: [0...1e4])
        /// The time range in which the overlay is shown.
        public var timeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        /// The duration of the fade-in after the start.
        public var fadeIn = MediaTime.zero
        /// The duration of the fade-out before the end.
        public var fadeOut = MediaTime.zero
        /// The opacity, apart from fades: 0 is transparent, 1, until it is set, applies the image's own alpha.
        public var opacity = Ramp<Float>("opacity", before: 1, limits: [0...1])
        /// The characters of a title that no installed font has, and in whose place the image has boxes.
        public private(set) var missingCharacters: Set<Unicode.Scalar> = []

        /// Creates an overlay in the image's own size.
        ///
        /// - Parameters:
        ///   - image: The image, with its transparency.
        ///   - x: The left edge in the composition's frames.
        ///   - y: The upper edge in the composition's frames.
        public init(image: Bitmap, x: Double = 0, y: Double = 0) {
            self.image = image
            place = PictureRectangle(x: x, y: y, width: 0, height: 0)
        }

        /// Creates an overlay with text on a transparent background.
        ///
        /// Letters of any script, in either direction, and emoji come from the fonts of the system: DejaVu Sans first,
        /// then whatever has the character.
        ///
        /// - Parameters:
        ///   - title: The text; line feeds end its lines. A text of thousands of characters is cut.
        ///   - size: The size of the font (its em) in pixels, 1…1024; capitals are about 0.73 as high.
        ///   - color: The colour of the letters; emoji have their own.
        ///   - maximumWidth: The width in pixels beyond which a line ends in an ellipsis; `nil` for none.
        ///   - x: The left edge of the text in the composition's frames.
        ///   - y: The upper edge of the first line, which has room for accents and marks.
        /// - Throws: ``MediaError`` `unsupported` if no font is installed, `invalidArgument` if the size is outside its
        ///   range, `limitExceeded` if the text is too large for a picture.
        public init(
            title: String, size: Double, color: Color = .white, maximumWidth: Int? = nil, x: Double = 0, y: Double = 0
        ) throws(MediaError) {
            guard TextStyle.sizes.contains(size) else {
                throw MediaError(.invalidArgument, "the text of a title is 1 to 1024 pixels high, not \(size)")
            }
            var style = TextStyle(size: size, color: color)
            if let maximumWidth { style.maximumWidth = maximumWidth }
            let text = try Bitmap.Text(title, style: style)
            self.init(image: text.picture, x: x + Double(text.x), y: y + Double(text.y))
            missingCharacters = text.missingCharacters
        }

        /// Returns the opacity at a time, including fades.
        func opacity(at time: MediaTime) -> Double {
            guard timeRange.contains(time) else { return 0 }
            var part = Double(opacity.value(at: time))
            if fadeIn > .zero { part *= min((time - timeRange.start).seconds / fadeIn.seconds, 1) }
            if fadeOut > .zero, timeRange.end.isNumeric {
                part *= min((timeRange.end - time).seconds / fadeOut.seconds, 1)
            }
            return part.isFinite ? max(part, 0) : 0
        }

        /// Indicates whether the overlay stays where it is, in one size.
        var isStill: Bool { offset.isUnset && scale.isUnset }

        /// Returns the position and size at a time.
        func place(at time: MediaTime) -> PictureRectangle {
            var place = place
            if place.width == 0, place.height == 0 {
                (place.width, place.height) = (Double(image.width), Double(image.height))
            }
            let (offset, scale) = (offset.value(at: time), Double(scale.value(at: time)))
            return PictureRectangle(
                x: place.x + offset.x + place.width * (1 - scale) / 2,
                y: place.y + offset.y + place.height * (1 - scale) / 2, width: place.width * scale,
                height: place.height * scale)
        }
    }
}

extension VideoComposition {
    /// The size of the output frames.
    public var outputSize: Dimensions {
        func scaled(_ side: Int) -> Int {
            let exact = Rational(Int64(clamping: side)).multiplied(by: renderScale)
            return exact?.rounded().flatMap { Int(exactly: $0) } ?? 0
        }
        return Dimensions(width: scaled(renderSize.width), height: scaled(renderSize.height))
    }

    /// Checks that frames can be made for all of an asset's duration.
    ///
    /// An instruction that extends past the end is used up to the end.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` with the time at which instructions overlap or leave
    ///   a gap, or with another invalid value.
    public func validate(duration: MediaTime) throws(MediaError) {
        let size = outputSize
        guard size.width > 0, size.height > 0, renderScale.isPositive else {
            throw MediaError(.invalidArgument, "frames of \(renderSize) scaled by \(renderScale) have no pixels")
        }
        guard size.width <= 1 << 15, size.height <= 1 << 15 else {
            throw MediaError(.limitExceeded, "frames of \(size) are too large; at most 32768 pixels a side")
        }
        guard frameDuration.isNumeric, frameDuration > .zero else {
            throw MediaError(.invalidArgument, "\(frameDuration) is not a frame duration; give one above zero")
        }
        var border = MediaTime.zero
        for instruction in instructions {
            let range = instruction.timeRange
            guard range.isValid, !range.isEmpty, range.start.isNumeric else {
                throw MediaError(.invalidArgument, "an instruction has the time range \(range), which is none")
            }
            guard border < duration || !duration.isNumeric else { break }
            guard range.start >= border else {
                throw MediaError(
                    .invalidArgument,
                    "two instructions overlap at \(range.start), which is \(Self.text(range.start)); each must begin where "
                        + "the one before ends")
            }
            guard range.start == border else {
                throw MediaError(
                    .invalidArgument,
                    "no instruction says what is shown at \(border), which is \(Self.text(border)); they must leave no gap"
                )
            }
            border = range.end
        }
        guard border >= duration else {
            throw MediaError(
                .invalidArgument,
                "no instruction says what is shown from \(border), which is \(Self.text(border)), to the end at \(duration)"
            )
        }
    }

    private static func text(_ time: MediaTime) -> String { "\(time.seconds) s" }

    /// Returns the end of the frames for some tracks, at most the asset's end; `nil` if a track's end is unknown.
    ///
    /// The end is that of the last track, or that of the last instruction if it starts only after the tracks.
    func end(of tracks: [AssetTrack], until duration: MediaTime) -> MediaTime? {
        let ends = tracks.map(\.timeRange.end)
        guard ends.allSatisfy(\.isNumeric), let end = ends.max() else { return nil }
        let last = instructions.last { $0.timeRange.start < duration }
        if let last, last.timeRange.start >= end { return min(last.timeRange.end, duration) }
        return withoutRounding(min(end, duration))
    }

    /// Removes a fraction of a frame from the end if it results only from headers that round up to milliseconds.
    private func withoutRounding(_ end: MediaTime) -> MediaTime {
        guard let frame = Rational(frameDuration), let count = Rational(end)?.divided(by: frame)?.rounded(.down)
        else { return end }
        let whole = frameDuration.multiplied(by: count)
        let rest = end - whole
        return count > 0 && rest <= MediaTime(value: 1, timescale: 1000) && rest + rest < frameDuration ? whole : end
    }

    /// Returns true if frames of a track are needed while an instruction applies.
    func needs(_ trackID: Int, for instruction: Instruction) -> Bool {
        if instruction.passthroughTrackID == trackID { return true }
        guard compositor != nil else { return instruction.layers.contains { $0.trackID == trackID } }
        return instruction.requiredSourceTrackIDs?.contains(trackID) ?? true
    }

    /// Returns ``imageTracks`` as source frames.
    func imageSources() throws(MediaError) -> [Int: SourceFrame] {
        var sources: [Int: SourceFrame] = [:]
        for (id, image) in imageTracks { sources[id] = SourceFrame(picture: try PixelBuffer(image), format: nil) }
        return sources
    }

    /// Returns the instruction that applies at a time.
    func instruction(at time: MediaTime) -> Instruction? {
        var (low, high) = (0, instructions.count)
        while low < high {
            let middle = (low + high) / 2
            if instructions[middle].timeRange.end <= time { low = middle + 1 } else { high = middle }
        }
        return low < instructions.count && instructions[low].timeRange.contains(time) ? instructions[low] : nil
    }
}

// MARK: - Helpers

extension AssetTrack {
    /// Indicates whether the video is taller than wide when displayed upright.
    public var isPortrait: Bool { naturalSize.map { $0.height > $0.width } ?? false }
}

extension VideoComposition {
    /// Creates a composition that shows all of an asset's video tracks upright, in the size of the largest track.
    ///
    /// The first track is at the front. Each track is fitted into the centre of the frame.
    /// - Parameters:
    ///   - asset: The asset with the tracks, which may be a composition or a file.
    ///   - mixesOrientations: True to allow portrait tracks together with others.
    /// - Throws: ``MediaError/Code-swift.struct/noSuchTrack`` if there is no video,
    ///   ``MediaError/Code-swift.struct/invalidArgument`` if orientations differ and `mixesOrientations` is false.
    public init(propertiesOf asset: Asset, mixesOrientations: Bool = false) throws(MediaError) {
        let tracks = try asset.contents().tracks.filter { $0.mediaType == .video && !$0.isAttachedPicture }
        let size = try Self.renderSize(for: tracks, mixesOrientations: mixesOrientations)
        let rates = tracks.compactMap { $0.nominalFrameRate ?? $0.averageFrameRate }.filter(\.isPositive)
        let frame = rates.max()?.inverse.map { MediaTime($0) } ?? MediaTime(value: 1, timescale: 30)
        let end = try asset.contents().duration
        self.init(renderSize: size, frameDuration: frame)
        var layers: [Layer] = []
        for track in tracks {
            var layer = Layer(track: track)
            try layer.transform.set(.upright(track, in: size), at: .zero)
            layers.append(layer)
        }
        instructions = [Instruction(timeRange: MediaTimeRange(start: .zero, duration: end), layers: layers)]
    }

    /// Returns a size with even sides into which the upright frames of all tracks fit.
    ///
    /// - Throws: The errors of ``init(propertiesOf:mixesOrientations:)``.
    public static func renderSize(
        for tracks: [AssetTrack], mixesOrientations: Bool = false
    ) throws(MediaError) -> Dimensions {
        let sizes = tracks.compactMap(\.naturalSize)
        guard !sizes.isEmpty else { throw MediaError(.noSuchTrack, "there is no video track to show") }
        guard mixesOrientations || Set(tracks.map(\.isPortrait)).count == 1 else {
            throw MediaError(
                .invalidArgument, "some tracks are portrait and some landscape; allow that, or turn them by transforms")
        }
        func even(_ side: Int) -> Int { side + side % 2 }
        return Dimensions(
            width: even(sizes.map(\.width).max() ?? 0), height: even(sizes.map(\.height).max() ?? 0))
    }
}

extension PictureTransform {
    /// Returns a transform that shows a track upright in the centre of a frame, as large as fits.
    public static func upright(_ track: AssetTrack, in frame: Dimensions) -> PictureTransform {
        let stored = track.formatDescriptions.first?.video?
            .presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true)
        let size = stored ?? frame
        let turned = track.preferredTransform.apply(to: size)
        return track.preferredTransform.turning(size).concatenating(.fitting(turned, into: frame))
    }
}
