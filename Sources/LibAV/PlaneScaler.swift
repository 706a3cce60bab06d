import CFFmpeg
import CZimg
import MediaBase

/// Owner of a zimg filter graph, which scales pictures of luma and chroma planes.
///
/// The same step may change their depth and subsampling. It takes three quarters of libswscale's time, and its bytes
/// are the same on every processor. Scaling is bicubic (a = −0.6) over all contributing pixels. If bits are lost, a
/// fixed pattern dithers the rounding. Only one thread may use a scaler at a time.
struct PlaneScaler: ~Copyable {
    private let scaler: OpaquePointer?
    private let source: PlanarPicture
    private let target: PlanarPicture
    /// The memory of the results, which zimg can write.
    private let results: FramePool

    private static let isLoaded = czimg_load()

    /// Creates a scaler between two kinds of pictures.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/unsupported`` if the library is missing,
    ///   ``MediaError/Code-swift.struct/limitExceeded`` if the target is too large.
    init(from source: PlanarPicture, to target: PlanarPicture) throws(MediaError) {
        guard Self.isLoaded else {
            throw MediaError(
                .unsupported,
                "pictures cannot be scaled, because the zimg library is not installed: install it, such as Debian's "
                    + "libzimg2")
        }
        // Whatever throws comes first: a structure that is not copied is initialized as a whole.
        let results = try FramePool(dimensions: target.dimensions, pixelFormat: PixelFormat(target.format))
        self.source = source
        self.target = target
        self.results = results
        scaler = withUnsafePointer(to: source.layout) { source in
            withUnsafePointer(to: target.layout) { czimg_new(source, $0, 0, 0.6) }
        }
    }

    deinit { czimg_free(scaler) }

    /// Returns true if this is the scaler between two kinds of pictures.
    func scales(_ source: PlanarPicture, to target: PlanarPicture) -> Bool {
        self.source == source && self.target == target
    }

    /// Returns the frame in the other size, with its times and tags; `nil` if zimg cannot scale such pictures.
    func scale(_ frame: borrowing Frame) throws(MediaError) -> Frame? {
        guard let scaler else { return nil }
        let result = try results.picture()
        try AVStatus.check(
            av_frame_copy_props(result.pointer, frame.pointer), "av_frame_copy_props", doing: "scale a picture")
        let isDone =
            frame.isAligned ? scale(frame, scaler, into: result) : scale(try frame.copied(), scaler, into: result)
        guard isDone else { throw MediaError(.outOfResources, "a picture cannot be scaled") }
        return result
    }

    private func scale(_ frame: borrowing Frame, _ scaler: OpaquePointer, into result: borrowing Frame) -> Bool {
        let planes = UnsafeMutableRawPointer(frame.pointer.pointee.extended_data)
            .assumingMemoryBound(to: UnsafePointer<UInt8>?.self)
        return frame.withLinesizes { strides in
            result.withLinesizes { targetStrides in
                czimg_scale(scaler, planes, strides, result.pointer.pointee.extended_data, targetStrides)
            }
        }
    }
}

/// A kind of picture that zimg can scale: a plane each of luma, Cb and Cr with 8 to 16 bits.
struct PlanarPicture: Equatable {
    let format: AVPixelFormat
    let dimensions: Dimensions
    private let isFullRange: Bool
    private let chromaLocation: String?

    /// Creates a kind of picture; `nil` if the format is another one, or if chroma samples go beyond the edges.
    init?(_ format: AVPixelFormat, _ dimensions: Dimensions, isFullRange: Bool, chromaLocation: String?) {
        let others = AV_PIX_FMT_FLAG_ALPHA | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BE
        guard let descriptor = format.descriptor, !format.isRGB, format.has(AV_PIX_FMT_FLAG_PLANAR),
            !format.has(others),
            descriptor.nb_components == 3, av_pix_fmt_count_planes(format) == 3, descriptor.comp.0.shift == 0,
            (8...16).contains(format.bitDepth), descriptor.log2_chroma_w <= 2, descriptor.log2_chroma_h <= 2,
            dimensions.width > 0, dimensions.width.isMultiple(of: 1 << Int(descriptor.log2_chroma_w)),
            dimensions.height > 0, dimensions.height.isMultiple(of: 1 << Int(descriptor.log2_chroma_h))
        else { return nil }
        self.format = format
        self.dimensions = dimensions
        self.isFullRange = isFullRange
        self.chromaLocation = chromaLocation
    }

    fileprivate var layout: czimg_picture {
        let location: Int32 =
            switch chromaLocation {
            case "center": 1
            case "topleft": 2
            case "top": 3
            case "bottomleft": 4
            case "bottom": 5
            default: 0
            }
        let descriptor = format.descriptor
        return czimg_picture(
            width: UInt32(dimensions.width), height: UInt32(dimensions.height), bits: UInt32(format.bitDepth),
            subsample_w: UInt32(descriptor?.log2_chroma_w ?? 0), subsample_h: UInt32(descriptor?.log2_chroma_h ?? 0),
            is_full_range: isFullRange, chroma_location: location)
    }
}

extension Frame {
    /// True if zimg can read and write the planes where they are.
    fileprivate var isAligned: Bool {
        (0..<planeCount).allSatisfy {
            (Int(bitPattern: data($0)) | linesize($0)).isMultiple(of: Int(czimg_alignment))
        }
    }

    /// Returns a frame with the same pixels in memory of its own.
    fileprivate func copied() throws(MediaError) -> Frame {
        let copy = try FramePool(dimensions: dimensions, pixelFormat: pixelFormat).picture()
        try AVStatus.check(av_frame_copy(copy.pointer, pointer), "av_frame_copy", doing: "scale a picture")
        return copy
    }
}
