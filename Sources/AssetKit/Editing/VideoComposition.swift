public import MediaBase
public import Pictures

/// How the pictures of several tracks become one: `AVMutableVideoComposition`.
///
/// ```swift
/// var layer = VideoComposition.Layer(track: first)
/// try layer.setOpacityRamp(from: 1, to: 0, timeRange: fade)
/// let instruction = VideoComposition.Instruction(timeRange: whole, layers: [layer, .init(track: second)])
/// let composition = VideoComposition(
///     renderSize: Dimensions(width: 1280, height: 720), frameDuration: MediaTime(value: 1, timescale: 30),
///     instructions: [instruction])
/// ```
///
/// Pictures are put together in sRGB as it is coded (not in linear light), as players and editing programs do; HDR is
/// brought into its range first. Alpha is premultiplied, and values are rounded once at the end. What comes out is tagged
/// as BT.709.
public struct VideoComposition: Sendable {
    /// The size of the frames that are made, before ``renderScale``.
    public var renderSize: Dimensions
    /// By how much all that is drawn is made larger or smaller; 1/2 makes a quick preview.
    public var renderScale = Rational.one
    /// How long each frame is shown.
    public var frameDuration: MediaTime
    /// What is shown when: together all of the time from zero to the asset's end, one after the other.
    public var instructions: [Instruction]
    /// Pictures that lie over everything, the first at the back.
    public var overlays: [Overlay] = []
    /// Who makes the pixels; `nil` for the instructions' own layers.
    public var compositor: (any VideoCompositor)?

    /// A composition.
    public init(renderSize: Dimensions, frameDuration: MediaTime, instructions: [Instruction] = []) {
        self.renderSize = renderSize
        self.frameDuration = frameDuration
        self.instructions = instructions
    }

    /// What is shown during some time: `AVMutableVideoCompositionInstruction`.
    public struct Instruction: Sendable {
        /// When it holds.
        public var timeRange: MediaTimeRange
        /// What is seen where no layer is.
        public var backgroundColor = Color.black
        /// The tracks that are shown, the first at the front.
        public var layers: [Layer]

        /// An instruction on black ground.
        public init(timeRange: MediaTimeRange, layers: [Layer] = []) {
            self.timeRange = timeRange
            self.layers = layers
        }
    }
}

extension VideoComposition {
    /// The size of the frames that come out.
    public var outputSize: Dimensions {
        func scaled(_ side: Int) -> Int {
            let exact = Rational(Int64(clamping: side)).multiplied(by: renderScale)
            return exact?.rounded().flatMap { Int(exactly: $0) } ?? 0
        }
        return Dimensions(width: scaled(renderSize.width), height: scaled(renderSize.height))
    }

    /// Checks that frames can be made for all of an asset's time.
    ///
    /// An instruction that goes on past the end is taken as far as the end.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` naming the time at which instructions overlap or leave a
    ///   gap, or what else makes no sense.
    public func validate(duration: MediaTime) throws(MediaError) {
        let size = outputSize
        guard size.width > 0, size.height > 0, renderScale.isPositive else {
            throw MediaError(.invalidArgument, "frames of \(renderSize) scaled by \(renderScale) have no pixels")
        }
        guard size.width <= 1 << 15, size.height <= 1 << 15 else {
            throw MediaError(.limitExceeded, "frames of \(size) are too large; at most 32768 pixels a side")
        }
        guard frameDuration.isNumeric, frameDuration > .zero else {
            throw MediaError(.invalidArgument, "\(frameDuration) is no duration of a frame; give one above zero")
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

    /// Where frames of some tracks end, at the asset's end at the latest: with the last of the tracks, or with the last
    /// instruction where that begins only then; `nil` where a track does not say where it ends.
    func end(of tracks: [AssetTrack], until duration: MediaTime) -> MediaTime? {
        let ends = tracks.map(\.timeRange.end)
        guard ends.allSatisfy(\.isNumeric), let end = ends.max() else { return nil }
        let last = instructions.last { $0.timeRange.start < duration }
        if let last, last.timeRange.start >= end { return min(last.timeRange.end, duration) }
        return withoutRounding(min(end, duration))
    }

    /// An end without the part of a frame that is there only because headers round up to milliseconds.
    private func withoutRounding(_ end: MediaTime) -> MediaTime {
        guard let frame = Rational(frameDuration), let count = Rational(end)?.divided(by: frame)?.rounded(.down)
        else { return end }
        let whole = frameDuration.multiplied(by: count)
        let rest = end - whole
        return count > 0 && rest <= MediaTime(value: 1, timescale: 1000) && rest + rest < frameDuration ? whole : end
    }

    /// The instruction that holds at a time.
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
    /// Whether its pictures are higher than wide when they are shown upright.
    public var isPortrait: Bool { naturalSize.map { $0.height > $0.width } ?? false }
}

extension VideoComposition {
    /// A composition that shows all of an asset's video tracks upright, the first at the front, in the size of the largest.
    ///
    /// Each is fitted into the middle.
    /// - Parameters:
    ///   - asset: Whose tracks; a composition's, or a file's.
    ///   - mixesOrientations: Whether tracks that are higher than wide go together with tracks that are not.
    /// - Throws: ``MediaError/Code-swift.struct/noSuchTrack`` without pictures,
    ///   ``MediaError/Code-swift.struct/invalidArgument`` where orientations differ and that was not allowed.
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
            try layer.setTransform(.upright(track, in: size), at: .zero)
            layers.append(layer)
        }
        instructions = [Instruction(timeRange: MediaTimeRange(start: .zero, duration: end), layers: layers)]
    }

    /// A size into which the upright pictures of all tracks fit, with even sides.
    ///
    /// - Throws: as ``init(propertiesOf:mixesOrientations:)``.
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
    /// Shows a track upright in the middle of a frame, as large as fits.
    public static func upright(_ track: AssetTrack, in frame: Dimensions) -> PictureTransform {
        let stored = track.formatDescriptions.first?.video?
            .presentationDimensions(usePixelAspectRatio: true, useCleanAperture: true)
        let size = stored ?? frame
        let turned = track.preferredTransform.apply(to: size)
        return PictureTransform(track.preferredTransform, of: size).concatenating(.fitting(turned, into: frame))
    }
}
