import LibAV
public import MediaBase
public import Pictures
import Threading

extension ImageGenerator {
    /// What became of one requested time.
    public enum ImageResult: Sendable {
        /// The image, with the time asked for and the time that it shows.
        case success(GeneratedImage)
        /// There is no image for that time, and why.
        case failure(requestedTime: MediaTime, error: MediaError)
        /// All pending requests were cancelled before its turn.
        case cancelled(requestedTime: MediaTime)

        /// The time that was asked for.
        public var requestedTime: MediaTime {
            switch self {
            case .success(let image): image.requestedTime
            case .failure(let time, _), .cancelled(let time): time
            }
        }
    }

    /// The images at several times, as an asynchronous sequence with one answer a time, in the order asked.
    ///
    /// Images are made as they are asked for, on a thread outside Swift's cooperative pool. Times in rising order cost
    /// one sweep over the file. After ``cancelAllImageGeneration()``, or when the iterating task is cancelled, every
    /// pending time is answered as cancelled.
    ///
    /// ```swift
    /// for await result in generator.images(for: times) {
    ///     if case .success(let image) = result { … }
    /// }
    /// ```
    public func images(for times: [MediaTime]) -> ImageSequence {
        ImageSequence(generator: self, times: times, born: currentGeneration)
    }

    /// The answers to ``ImageGenerator/images(for:)``.
    public struct ImageSequence: AsyncSequence, Sendable {
        let generator: ImageGenerator
        let times: [MediaTime]
        let born: Int

        /// Begins with the first time.
        public func makeAsyncIterator() -> Iterator { Iterator(sequence: self) }

        /// Makes one image at a time.
        public struct Iterator: AsyncIteratorProtocol {
            let sequence: ImageSequence
            private var position = 0

            init(sequence: ImageSequence) { self.sequence = sequence }

            /// The answer to the next time; `nil` after the last.
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

/// Which part of a stored picture images show, and whether its pixels are made square:
/// `AVAssetImageGenerator.ApertureMode`.
public enum ApertureMode: Sendable, Hashable {
    /// The clean aperture, its pixels made square; the whole picture where there is none.
    case cleanAperture
    /// The whole picture, its pixels made square.
    case productionAperture
    /// The whole picture, pixel by pixel.
    case encodedPixels
}

/// Turns a decoded picture into the bitmap that a person should see: part, shape, size and turn applied.
struct ImageRenderer: Sendable {
    /// The largest size that comes out, after the turn; a side of 0 sets no limit.
    var maximumSize = Dimensions(width: 0, height: 0)
    /// Whether the track's turn is applied.
    var appliesTransform = true
    /// Which part is shown, in which shape.
    var apertureMode = ApertureMode.cleanAperture
    /// What becomes of HDR.
    var dynamicRangePolicy = DynamicRangePolicy.forceSDR
    /// Whether fields are made one picture.
    var deinterlaces = false
    /// The track's turn.
    let transform: DisplayTransform
    /// What the container says of the pictures, which goes before their own word; `nil` where it says nothing.
    let format: VideoFormat?

    /// Converts, scales (once, from the decoder's pixels) and turns a picture.
    func render(_ picture: PixelBuffer) throws(MediaError) -> Bitmap {
        let picture = deinterlaces ? try picture.deinterlaced() : picture
        var format = VideoFormat(
            encodedSize: picture.dimensions,
            sampleAspectRatio: self.format?.sampleAspectRatio ?? picture.sampleAspectRatio)
        // The aperture holds for pictures of the size that it was made for.
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
    /// Portable Network Graphics: lossless, 8 bits, with alpha where the picture has any.
    case png
    /// JPEG with a JFIF header: lossy, without alpha.
    case jpeg
    /// WebP: lossy, with alpha where the picture has any.
    case webp

    /// The usual extension of a file's name, without a point: `png`, `jpg`, `webp`.
    public var fileExtension: String { self == .jpeg ? "jpg" : rawValue }

    /// The format that an extension stands for, without a point and in any case; `nil` for other extensions.
    public init?(fileExtension: String) {
        let name = fileExtension.lowercased()
        self.init(rawValue: name == "jpg" ? "jpeg" : name)
    }

    /// Whether something of the picture is lost, by how much a quality says.
    public var isLossy: Bool { self != .png }

    /// The most pixels that a side of an image may have.
    public var largestSide: Int {
        switch self {
        case .png: Int(Int32.max)
        case .jpeg: StillEncoder.Format.jpeg.largestSide
        case .webp: StillEncoder.Format.webp.largestSide
        }
    }
}

extension Bitmap {
    /// The picture as a file.
    ///
    /// The same picture always gives the same bytes. Where the format has no alpha, what is transparent shows
    /// `background`.
    ///
    /// - Parameters:
    ///   - format: The file's format.
    ///   - quality: 1 (smallest) to 100 (best). For JPEG it is libjpeg's scale, with chroma 4:4:4 from 90 on and 4:2:0
    ///     below; for WebP it is libwebp's; PNG has none.
    ///   - background: What is behind a picture that is not opaque, for JPEG.
    /// - Throws: ``MediaError/Code-swift.struct/limitExceeded`` for a picture larger than the format can hold,
    ///   ``MediaError/Code-swift.struct/unsupported`` where the build of FFmpeg lacks the encoder.
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
