import LibAV
public import MediaBase
import Threading

/// What an input says of its track as a whole, apart from how its samples are coded.
struct TrackHeader: Sendable {
    /// ISO 639-2 code.
    var language: String?
    var name: String?
    var metadata: [MetadataItem] = []
    var transform: DisplayTransform = .identity
    var timecode: String?
    var isEnabled = true
    var dispositions: [String] = []
    var cleanAperture: CleanAperture?
    var hdr: HDRInfo?
    /// Dolby Vision's configuration record, of samples that are taken as they are.
    var dolbyVision: HDRInfo.DolbyVisionConfiguration?
    var creationTime: String?

    /// The stream that a file of a type is to have.
    func description(of stream: WrittenStream, in fileType: MediaFileType) -> MuxerFile.Stream {
        var description = MuxerFile.Stream(parameters: stream.parameters, timeBase: stream.timeBase)
        description.frameRate = stream.frameRate
        description.sampleAspectRatio = stream.sampleAspectRatio
        description.codecTag = stream.codecTag
        description.dispositions = dispositions
        description.hdr = hdr
        if transform != .identity { description.displayMatrix = transform.matrix }
        // The boxes of the rest are written afterwards, with their types.
        var entries = MetadataWriting.entries(
            fileType.isISO ? metadata.filter { MetadataWriting.headerKeys.contains($0.identifier) } : metadata)
        func set(_ key: String, _ value: String?) {
            guard let value else { return }
            entries.removeAll { $0.key == key }
            entries.append((key, value))
        }
        set("language", language)
        if !fileType.isISO { set("title", name) }
        set("timecode", timecode)
        set("creation_time", creationTime)
        // QuickTime keeps a name of each track's handler; libavformat's own says nothing.
        description.metadata = entries
        return description
    }

    /// The track's metadata with its name, without what only headers say.
    var ownItems: [MetadataItem] {
        let items = metadata.filter { !Self.fields.contains($0.identifier) }
        guard let name else { return items }
        return items.filter { $0.identifier != "title" }
            + [MetadataItem(keySpace: .common, identifier: "title", value: .text(name))]
    }

    private static let fields = MetadataWriting.headerKeys.union(["language", "creation_time", "timecode"])
}

/// Feeds a video input with pictures from a pool of its own: `AVAssetWriterInputPixelBufferAdaptor`.
public final class PixelBufferAdaptor: Sendable {
    /// The input that is fed.
    public let input: AssetWriterInput
    /// Where pictures for it come from.
    public let pixelBufferPool: PixelBufferPool

    /// An adaptor for an input that has none yet.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an input that encodes no pictures, has an adaptor,
    ///   or for an unknown pixel format.
    public init(input: AssetWriterInput, dimensions: Dimensions, pixelFormat: PixelFormat) throws(MediaError) {
        guard case .video = input.settings else {
            throw MediaError(.invalidArgument, "only an input that encodes pictures takes pixel buffers")
        }
        pixelBufferPool = try PixelBufferPool(dimensions: dimensions, pixelFormat: pixelFormat)
        self.input = input
        let isFree = input.state.withLock { state in
            defer { state.hasAdaptor = true }
            return !state.hasAdaptor
        }
        guard isFree else { throw MediaError(.invalidArgument, "the input has an adaptor already") }
    }

    /// Appends a picture that is on screen from a time on, until the next one's.
    ///
    /// Throws and waits as the synchronous `append` of ``AssetWriterInput`` does.
    public func append(_ picture: PixelBuffer, withPresentationTime time: MediaTime) throws(MediaError) {
        try input.append(SampleBuffer(picture: picture, presentationTime: time))
    }
}

/// Memory for pictures of one size and format, which is used again when nobody has them any more: `CVPixelBufferPool`.
///
/// It may be used from any thread.
public final class PixelBufferPool: Sendable {
    private let pool: FramePool

    /// A pool that has no memory yet.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` for an unknown pixel format,
    ///   ``MediaError/Code-swift.struct/limitExceeded`` for a picture that is too large.
    public init(dimensions: Dimensions, pixelFormat: PixelFormat) throws(MediaError) {
        pool = try FramePool(dimensions: dimensions, pixelFormat: pixelFormat)
    }

    /// The size of the pictures.
    public var dimensions: Dimensions { pool.dimensions }
    /// How their pixels are stored.
    public var pixelFormat: PixelFormat { pool.pixelFormat }

    /// Makes a picture.
    ///
    /// - Parameters:
    ///   - sampleAspectRatio: Width of a pixel by its height.
    ///   - color: How its numbers stand for colours.
    ///   - fill: Called once for each plane, from the first row to the last row's last pixel; a row begins `stride` bytes
    ///     after the one before. What it leaves is whatever lay there before.
    public func makePixelBuffer(
        sampleAspectRatio: Rational? = nil, color: ColorInfo = ColorInfo(),
        fill: (_ plane: Int, inout MutableRawSpan, _ stride: Int) -> Void
    ) throws(MediaError) -> PixelBuffer {
        PixelBuffer(try pool.picture(sampleAspectRatio: sampleAspectRatio, color: color, fill: fill))
    }
}
