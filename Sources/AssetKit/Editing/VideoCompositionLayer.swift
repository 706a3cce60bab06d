public import MediaBase
public import Pictures

extension VideoComposition {
    /// The placement and opacity of one track over time: `AVMutableVideoCompositionLayerInstruction`.
    ///
    /// Frames are placed at the size at which they are shown before the track's rotation: cropped to the clean aperture
    /// and with square pixels. The rotation itself applies only through a transform such as
    /// ``PictureTransform/upright(_:in:)``.
    public struct Layer: Sendable, Hashable {
        /// The ID of the track: ``AssetTrack/id``.
        public let trackID: Int
        private var transforms = RampCurve(before: PictureTransform.identity)
        private var opacities = RampCurve<Float>(before: 1)
        private var crops = RampCurve(before: PictureRectangle.unlimited)

        /// Creates a layer that shows a track untransformed at the top left corner.
        public init(track: AssetTrack) { self.init(trackID: track.id) }

        /// Creates a layer for a track by its ID, untransformed at the top left corner.
        public init(trackID: Int) { self.trackID = trackID }

        /// Sets the transform from a time on, until the next time at which it is set.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for values that are not finite, and for a time
        ///   within a ramp.
        public mutating func setTransform(_ transform: PictureTransform, at time: MediaTime) throws(MediaError) {
            try Self.check(transform)
            try transforms.set(transform, at: time, what: "transform")
        }

        /// Ramps each coefficient of the transform linearly over a time range.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for values that are not finite, for an empty
        ///   range, and if another ramp or value lies within the range.
        public mutating func setTransformRamp(
            from start: PictureTransform, to end: PictureTransform, timeRange: MediaTimeRange
        ) throws(MediaError) {
            try Self.check(start)
            try Self.check(end)
            try transforms.setRamp(from: start, to: end, in: timeRange, what: "transform")
        }

        /// Sets the opacity from a time on: 0 is transparent, 1 covers everything behind the layer.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for values outside 0 to 1, and for a time within
        ///   a ramp.
        public mutating func setOpacity(_ opacity: Float, at time: MediaTime) throws(MediaError) {
            try Self.check(opacity)
            try opacities.set(opacity, at: time, what: "opacity")
        }

        /// Ramps the opacity linearly over a time range.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for values outside 0 to 1, for an empty range,
        ///   and if another ramp or value lies within the range.
        public mutating func setOpacityRamp(
            from start: Float, to end: Float, timeRange: MediaTimeRange
        ) throws(MediaError) {
            try Self.check(start)
            try Self.check(end)
            try opacities.setRamp(from: start, to: end, in: timeRange, what: "opacity")
        }

        /// Crops the frames from a time on, in pixels of the frames before the transform.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an invalid rectangle, and for a time within a
        ///   ramp.
        public mutating func setCropRectangle(_ rectangle: PictureRectangle, at time: MediaTime) throws(MediaError) {
            try Self.check(rectangle)
            try crops.set(rectangle, at: time, what: "crop rectangle")
        }

        /// Ramps the crop rectangle linearly over a time range.
        ///
        /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an invalid rectangle, for an empty range, and
        ///   if another ramp or value lies within the range.
        public mutating func setCropRectangleRamp(
            from start: PictureRectangle, to end: PictureRectangle, timeRange: MediaTimeRange
        ) throws(MediaError) {
            try Self.check(start)
            try Self.check(end)
            try crops.setRamp(from: start, to: end, in: timeRange, what: "crop rectangle")
        }

        /// Returns the transform at a time.
        public func transform(at time: MediaTime) -> PictureTransform { transforms.value(at: time) }
        /// Returns the opacity at a time.
        public func opacity(at time: MediaTime) -> Float { opacities.value(at: time) }
        /// Returns the crop rectangle at a time; a very large rectangle if none was set.
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

    /// An image above a composition, such as a watermark or a title: the use of `AVVideoCompositionCoreAnimationTool`.
    public struct Overlay: Sendable {
        /// The image, with straight alpha.
        public var image: Bitmap
        /// The position and size in the composition's frames; a width and height of 0 stand for the image's own size.
        public var place: PictureRectangle
        /// The time range in which the overlay is shown.
        public var timeRange = MediaTimeRange(start: .zero, duration: .positiveInfinity)
        /// The duration of the fade-in after the start.
        public var fadeIn = MediaTime.zero
        /// The duration of the fade-out before the end.
        public var fadeOut = MediaTime.zero
        /// The maximum opacity: 0 is transparent, 1 applies the image's own alpha.
        public var opacity: Float = 1

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

        /// Creates an overlay with a line of text in the built-in font, on a transparent background.
        ///
        /// - Parameters:
        ///   - title: The text in ASCII; other characters are shown as boxes.
        ///   - color: The colour of the letters.
        ///   - scale: The size of a font dot in pixels; letters are seven dots high.
        ///   - x: The left edge in the composition's frames.
        ///   - y: The upper edge in the composition's frames.
        public init(title: String, color: Color = .white, scale: Int, x: Double = 0, y: Double = 0) throws(MediaError) {
            let size = Canvas.textSize(title, scale: scale)
            var canvas = Canvas(try Bitmap(width: max(1, size.width), height: max(1, size.height)))
            canvas.drawText(title, x: 0, y: 0, scale: scale, color: color)
            self.init(image: canvas.bitmap, x: x, y: y)
        }

        /// Returns the opacity at a time, including fades.
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
