import LibAV
public import MediaBase
public import Pictures
import Threading

extension ImageGenerator {
    /// The result for one requested time.
    public enum ImageResult: Sendable {
        /// The image, with the requested time and the time that it shows.
        case success(GeneratedImage)
        /// There is no image for the requested time, for the given reason.
        case failure(requestedTime: MediaTime, error: MediaError)
        /// All pending requests were cancelled before this one was processed.
        case cancelled(requestedTime: MediaTime)

        /// The requested time.
        public var requestedTime: MediaTime {
            switch self {
            case .success(let image): image.requestedTime
            case .failure(let time, _), .cancelled(let time): time
            }
        }
    }

    /// Returns an asynchronous sequence of the images at several times, with one result per time in the requested
    /// order.
    ///
    /// Each image is made when it is requested, on a thread outside Swift's cooperative pool. Times in ascending order
    /// require a single pass through the file. After ``cancelAllImageGeneration()``, or if the iterating task is
    /// cancelled, every pending time is reported as cancelled.
    ///
    /// ```swift
    /// for await result in generator.images(for: times) {
    ///     if case .success(let image) = result { … }
    /// }
    /// ```
    public func images(for times: [MediaTime]) -> ImageSequence {
        ImageSequence(generator: self, times: times, born: currentGeneration)
    }

    /// The results of ``ImageGenerator/images(for:)``.
    public struct ImageSequence: AsyncSequence, Sendable {
        let generator: ImageGenerator
        let times: [MediaTime]
        let born: Int

        /// Creates an iterator that starts with the first time.
        public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

        /// An iterator that makes one image at a time.
        public struct Iterator: AsyncIteratorProtocol {
            let sequence: ImageSequence
            private var position = 0

            init(sequence: ImageSequence) { self.sequence = sequence }

            /// Returns the result for the next time; `nil` after the last one.
            public mutating func next(isolation: isolated (any Actor)?) async -> ImageResult? {
                guard position < sequence.times.count else { return nil }
                let time = sequence.times[position]
                position += 1
                guard !Task.isCancelled else { return .cancelled(requestedTime: time) }
                let (generator, born, unwanted) = (sequence.generator, sequence.born, Cancellation())
                do throws(MediaError) {
                    return .success(
                        try await offload(onCancel: { unwanted.cancel() }) { () throws(MediaError) in
                            try generator.generateNow(at: time, born: born, unlessCancelled: unwanted)
                        })
                } catch {
                    return error.code == .cancelled
                        ? .cancelled(requestedTime: time) : .failure(requestedTime: time, error: error)
                }
            }
        }
    }
}

/// The part of a stored frame that images show, and the handling of non-square pixels:
/// `AVAssetImageGenerator.ApertureMode`.
public enum ApertureMode: Sendable, Hashable {
    /// The clean aperture, with pixels made square; the whole frame if it has no clean aperture.
    case cleanAperture
    /// The whole frame, with pixels made square.
    case productionAperture
    /// The whole frame, with pixels unchanged.
    case encodedPixels
}

/// Converts a decoded frame to the bitmap for display: crops, scales, reshapes and rotates it.
struct ImageRenderer: Sendable {
    /// The maximum size of the result, after rotation; a side of 0 sets no limit.
    var maximumSize = Dimensions(width: 0, height: 0)
    /// True to apply the track's rotation.
    var appliesTransform = true
    /// The part of the frame to show, and the shape of its pixels.
    var apertureMode = ApertureMode.cleanAperture
    /// The treatment of HDR.
    var dynamicRangePolicy = DynamicRangePolicy.forceSDR
    /// True to deinterlace frames that consist of two fields.
    var deinterlaces = false
    /// The transform of the track.
    let transform: PictureTransform
    /// The container's description of the frames, which takes precedence over their own; `nil` if there is none.
    let format: VideoFormat?

    /// Creates a renderer of a track's frames.
    ///
    /// - Parameter format: The container's description of the frames; `nil` if there is none.
    init(_ configuration: ImageGenerator.Configuration, of track: AssetTrack, format: VideoFormat?) {
        maximumSize = configuration.maximumSize
        appliesTransform = configuration.appliesPreferredTrackTransform
        apertureMode = configuration.apertureMode
        dynamicRangePolicy = configuration.dynamicRangePolicy
        deinterlaces = configuration.deinterlaces
        transform = track.preferredTransform
        self.format = format
    }

    /// Converts, scales (once, from the decoder's pixels) and rotates a frame.
    func render(_ picture: PixelBuffer) throws(MediaError) -> Bitmap {
        let picture = deinterlaces ? try picture.deinterlaced() : picture
        var format = VideoFormat(
            encodedSize: picture.dimensions,
            sampleAspectRatio: self.format?.sampleAspectRatio ?? picture.sampleAspectRatio)
        // The aperture is valid only for frames of the size for which it was defined.
        if let stated = self.format, stated.encodedSize == picture.dimensions, apertureMode == .cleanAperture {
            format.cleanAperture = stated.cleanAperture
        }
        let shown = format.presentationDimensions(
            usePixelAspectRatio: apertureMode != .encodedPixels, useCleanAperture: true)
        let turned = appliesTransform ? transform.apply(to: shown) : shown
        let fitted = turned.fitted(into: maximumSize)
        let stored = appliesTransform ? transform.apply(to: fitted) : fitted
        let bitmap = try picture.bitmap(
            part: format.cleanAperture?.pixelRect, dimensions: stored, dynamicRange: dynamicRangePolicy,
            hdr: self.format?.hdr)
        guard appliesTransform else { return bitmap }
        return bitmap.oriented(
            try Bitmap.Orientation(clockwiseDegrees: transform.rotation, isMirrored: transform.isMirrored))
    }
}

/// A file format for still images.
public enum ImageFileFormat: String, Sendable, Hashable, CaseIterable {
    /// Portable Network Graphics: lossless, 8 bits, with alpha if the picture has any.
    case png
    /// JPEG with a JFIF header: lossy, without alpha.
    case jpeg
    /// WebP: lossy, with alpha if the picture has any.
    case webp

    /// The usual file name extension, without a dot: `png`, `jpg`, `webp`.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// Selects the format for a file name extension, without a dot and in any case; `nil` for other extensions.
    public init?(fileExtension: String) {
        let name = fileExtension.lowercased()
        self.init(rawValue: name == "jpg" ? "jpeg" : name)
    }

    /// True if encoding loses detail, depending on the quality.
    public var isLossy: Bool { self != .png }

    /// The maximum number of pixels along a side of an image.
    public var largestSide: Int {
        switch self {
        case .png: Int(Int32.max)
        case .jpeg: StillEncoder.Format.jpeg.largestSide
        case .webp: StillEncoder.Format.webp.largestSide
        }
    }
}

extension Bitmap {
    /// Encodes the picture as a file.
    ///
    /// The same picture always results in the same bytes. If the format has no alpha, transparent areas show
    /// `background`.
    ///
    /// - Parameters:
    ///   - format: The format of the file.
    ///   - quality: 1 (smallest) to 100 (best). For JPEG it is on libjpeg's scale, with chroma 4:4:4 from 90 on and
    ///     4:2:0 below; for WebP it is on libwebp's. PNG ignores it.
    ///   - background: For JPEG, the colour behind a picture that is not opaque.
    /// - Throws: ``MediaError/Code-swift.struct/limitExceeded`` if the picture is larger than the format can hold,
    ///   ``MediaError/Code-swift.struct/unsupported`` if the build of FFmpeg lacks the encoder.
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
