import LibAV
public import MediaBase
import Threading

/// The properties of an input's track as a whole, apart from the coding of its samples.
struct TrackHeader: Sendable {
    /// The ISO 639-2 code.
    var language: String?
    var name: String?
    var metadata: [MetadataItem] = []
    var transform: DisplayTransform = .identity
    var timecode: String?
    var isEnabled = true
    var dispositions: [String] = []
    var cleanAperture: CleanAperture?
    var hdr: HDRInfo?
    /// Dolby Vision's configuration record, for stored samples that are copied.
    var dolbyVision: HDRInfo.DolbyVisionConfiguration?
    var creationTime: String?

    /// Returns the muxer's description of the stream for a type of file.
    func description(of stream: WrittenStream, in fileType: MediaFileType) -> MuxerFile.Stream {
        var description = MuxerFile.Stream(parameters: stream.parameters, timeBase: stream.timeBase)
        description.frameRate = stream.frameRate
        description.sampleAspectRatio = stream.sampleAspectRatio
        description.codecTag = stream.codecTag
        description.dispositions = dispositions
        description.hdr = hdr
        if transform != .identity { description.displayMatrix = transform.matrix }
        // Boxes for the rest are written afterwards, with their value types.
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
        // QuickTime keeps a name for each track's handler; libavformat's default carries no information.
        description.metadata = entries
        return description
    }

    /// The track's metadata including its name, without items that only headers store.
    var ownItems: [MetadataItem] {
        let items = metadata.filter { !Self.fields.contains($0.identifier) }
        guard let name else { return items }
        return items.filter { $0.identifier != "title" }
            + [MetadataItem(keySpace: .common, identifier: "title", value: .text(name))]
    }

    private static let fields = MetadataWriting.headerKeys.union(["language", "creation_time", "timecode"])
}

/// Feeds a video input with pixel buffers from its own pool: `AVAssetWriterInputPixelBufferAdaptor`.
public final class PixelBufferAdaptor: Sendable {
    /// The input to which pixel buffers are appended.
    public let input: AssetWriterInput
    /// The pool that provides pixel buffers for the input.
    public let pixelBufferPool: PixelBufferPool

    /// Creates an adaptor for an input that has none yet.
    ///
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` if the input does not encode video, if it already has
    ///   an adaptor, or if the pixel format is unknown.
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

    /// Appends a video frame that is shown from the given time until the next frame.
    ///
    /// Throws and blocks as the synchronous `append` of ``AssetWriterInput`` does.
    public func append(_ picture: PixelBuffer, withPresentationTime time: MediaTime) throws(MediaError) {
        try input.appendNow(SampleBuffer(picture: picture, presentationTime: time))
    }
}
