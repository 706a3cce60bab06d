public import MediaBase
public import Pictures

extension VideoComposition {
    /// How one track is shown, over time: `AVMutableVideoCompositionLayerInstruction`.
    ///
    /// Its pictures are placed in the size in which they are shown before the track's turn: clean aperture, pixels made
    /// square. The turn itself is not applied unless a transform says so: ``PictureTransform/upright(_:in:)``.
    public struct Layer: Sendable, Hashable {
        /// The track: ``AssetTrack/id``.
        public let trackID: Int
        private var transforms = RampCurve(before: PictureTransform.identity)
        private var opacities = RampCurve<Float>(before: 1)
        private var crops = RampCurve(before: PictureRectangle.unlimited)

        /// A track as it is, at the top left corner.
        public init(track: AssetTrack) { self.init(trackID: track.id) }

        /// The same by the track's number.
        public init(trackID: Int) { self.trackID = trackID }

        /// Places the pictures from a time on, up to the next time at which they are placed.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for what is no numbers, and within a ramp.
        public mutating func setTransform(_ transform: PictureTransform, at time: MediaTime) throws(MediaError) {
            try Self.check(transform)
            try transforms.set(transform, at: time, what: "transform")
        }

        /// Lets each number of the transform go evenly from one to another.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for what is no numbers, an empty range, and where another ramp or
        ///   value lies within it.
        public mutating func setTransformRamp(
            from start: PictureTransform, to end: PictureTransform, timeRange: MediaTimeRange
        ) throws(MediaError) {
            try Self.check(start)
            try Self.check(end)
            try transforms.setRamp(from: start, to: end, in: timeRange, what: "transform")
        }

        /// Sets from a time on how much of what lies behind is covered: 0 for nothing, 1 for all.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for what is not from 0 to 1, and within a ramp.
        public mutating func setOpacity(_ opacity: Float, at time: MediaTime) throws(MediaError) {
            try Self.check(opacity)
            try opacities.set(opacity, at: time, what: "opacity")
        }

        /// Lets the opacity go evenly from one value to another.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for what is not from 0 to 1, an empty range, and where another ramp or
        ///   value lies within it.
        public mutating func setOpacityRamp(
            from start: Float, to end: Float, timeRange: MediaTimeRange
        ) throws(MediaError) {
            try Self.check(start)
            try Self.check(end)
            try opacities.setRamp(from: start, to: end, in: timeRange, what: "opacity")
        }

        /// Shows from a time on only a part of the pictures, in their own pixels before the transform.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an impossible rectangle, and within a ramp.
        public mutating func setCropRectangle(_ rectangle: PictureRectangle, at time: MediaTime) throws(MediaError) {
            try Self.check(rectangle)
            try crops.set(rectangle, at: time, what: "crop rectangle")
        }

        /// Lets the part that is shown go evenly from one rectangle to another.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an impossible rectangle, an empty range, and where another ramp or
        ///   value lies within it.
        public mutating func setCropRectangleRamp(
            from start: PictureRectangle, to end: PictureRectangle, timeRange: MediaTimeRange
        ) throws(MediaError) {
            try Self.check(start)
            try Self.check(end)
            try crops.setRamp(from: start, to: end, in: timeRange, what: "crop rectangle")
        }

        /// Where the pictures are at a time.
        public func transform(at time: MediaTime) -> PictureTransform { transforms.value(at: time) }
        /// How much is covered at a time.
        public func opacity(at time: MediaTime) -> Float { opacities.value(at: time) }
        /// What part is shown at a time; a very large rectangle where none was set.
        public func cropRectangle(at time: MediaTime) -> PictureRectangle { crops.value(at: time) }

        private static func check(_ transform: PictureTransform) throws(MediaError) {
            guard transform.isFinite else {
                throw MediaError(.invalidArgument, "a transform has to consist of numbers")
            }
        }

        private static func check(_ opacity: Float) throws(MediaError) {
            guard opacity >= 0, opacity <= 1 else {
                throw MediaError(.invalidArgument, "an opacity of \(opacity) is not between 0 and 1")
            }
        }

        private static func check(_ rectangle: PictureRectangle) throws(MediaError) {
            guard [rectangle.x, rectangle.y, rectangle.width, rectangle.height].allSatisfy({ $0.magnitude < 1e8 }),
                rectangle.width >= 0, rectangle.height >= 0
            else { throw MediaError(.invalidArgument, "a crop rectangle has to have numbers and no negative size") }
        }
    }

    /// A picture that lies over a composition, such as a watermark or a title: `AVVideoCompositionCoreAnimationTool`'s use.
    public struct Overlay: Sendable {
        /// The picture, with straight alpha.
        public var image: Bitmap
        /// Where it lies in the composition's frames; its own size where width and height are 0.
        public var place: PictureRectangle
        /// When it is shown.
        public var timeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        /// How long it takes to appear from nothing after the start.
        public var fadeIn = MediaTime.zero
        /// How long it takes to go before the end.
        public var fadeOut = MediaTime.zero
        /// How much it covers at most: 0 for nothing, 1 for as much as its alpha says.
        public var opacity: Float = 1

        /// A picture in its own size.
        ///
        /// - Parameters:
        ///   - image: The picture, with its transparency.
        ///   - x: Its left edge in the composition's frames.
        ///   - y: Its upper edge.
        public init(image: Bitmap, x: Double = 0, y: Double = 0) {
            self.image = image
            place = PictureRectangle(x: x, y: y, width: 0, height: 0)
        }

        /// A line of text in the built-in font, on transparent ground.
        ///
        /// - Parameters:
        ///   - title: ASCII; other characters are shown as boxes.
        ///   - color: The letters' colour.
        ///   - scale: How many pixels a dot of the font has; letters are seven dots high.
        ///   - x: The text's left edge in the composition's frames.
        ///   - y: Its upper edge.
        public init(title: String, color: Color = .white, scale: Int, x: Double = 0, y: Double = 0) throws(MediaError) {
            let size = Canvas.textSize(title, scale: scale)
            var canvas = Canvas(try Bitmap(width: max(1, size.width), height: max(1, size.height)))
            canvas.drawText(title, x: 0, y: 0, scale: scale, color: color)
            self.init(image: canvas.bitmap, x: x, y: y)
        }

        /// How much it covers at a time.
        func opacity(at time: MediaTime) -> Double {
            guard timeRange.contains(time) else { return 0 }
            var part = Double(min(max(opacity, 0), 1))
            if fadeIn > .zero { part *= min((time - timeRange.start).seconds / fadeIn.seconds, 1) }
            if fadeOut > .zero, timeRange.end.isNumeric {
                part *= min((timeRange.end - time).seconds / fadeOut.seconds, 1)
            }
            return part.isFinite ? max(part, 0) : 0
        }
    }
}
