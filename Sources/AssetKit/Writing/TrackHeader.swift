import LibAV
import MediaBase

/// The properties of an input's track as a whole, apart from the coding of its samples.
struct TrackHeader: Sendable {
    /// The ISO 639-2 code.
    var language: String?
    var name: String?
    var metadata: [MetadataItem] = []
    var transform: PictureTransform = .identity
    var timecode: String?
    var isEnabled = true
    /// The group of tracks of which one is used at a time; `nil` for libavformat's choice, one group a media type.
    var alternateGroup: Int?
    var dispositions: [String] = []
    var cleanAperture: CleanAperture?
    var hdr: HDRInfo?
    /// Dolby Vision's configuration record, for stored samples that are copied.
    var dolbyVision: HDRInfo.DolbyVisionConfiguration?
    var creationTime: String?
    /// The references to other tracks: the type of each, and the lane of the other track.
    var references: [(type: String, lane: Int)] = []

    init() {}

    /// Takes over the properties of another track.
    init(of track: AssetTrack) {
        language = track.language
        name = track.metadata.first { $0.name == "title" }?.value.text
        creationTime = track.metadata.first { $0.name == "creation_time" }?.value.text
        metadata = track.metadata.filter { item in
            let key = item.name.lowercased()
            return !Self.ownKeys.contains(key) && !key.hasPrefix("_statistics")
        }
        transform = track.preferredTransform
        timecode = track.mediaType == .video ? track.startTimecode : nil
        isEnabled = track.isEnabled
        alternateGroup = track.alternateGroup
        dispositions = track.dispositions.filter { $0 != "attached_pic" && $0 != "timed_thumbnails" }
    }

    /// The keys that have a place of their own or belong to one file, and Matroska's statistics, which describe the
    /// stored bytes.
    private static let ownKeys: Set<String> = [
        "title", "timecode", "language", "creation_time", "encoder", "vendor_id", "bps", "duration",
        "number_of_frames", "number_of_bytes",
    ]

    /// Returns the muxer's description of the stream for a type of file.
    ///
    /// - Parameter hasTimecodeTrack: True if an input writes the timecode track, or the output has none.
    func description(
        of stream: WrittenStream, in fileType: MediaFileType, hasTimecodeTrack: Bool
    ) -> MuxerFile.Stream {
        var description = MuxerFile.Stream(parameters: stream.parameters, timeBase: stream.timeBase)
        description.frameRate = stream.frameRate
        description.sampleAspectRatio = stream.sampleAspectRatio
        description.codecTag = stream.codecTag
        description.dispositions = dispositions
        description.hdr = hdr
        if transform != .identity { description.displayMatrix = transform.matrix }
        // Boxes for the rest are written afterwards, with their value types.
        let items =
            fileType.isISO || fileType == .ogg
            ? metadata.filter { MetadataWriting.headerKeys.contains($0.name) } : metadata
        var entries = MetadataWriting.entries(items, in: fileType)
        func set(_ key: String, _ value: String?) {
            guard let value else { return }
            entries.removeAll { $0.key == key }
            entries.append((key, value))
        }
        set("language", language)
        if !fileType.isISO, fileType != .ogg { set("title", name) }
        if !hasTimecodeTrack { set("timecode", timecode) }
        set("creation_time", creationTime)
        // QuickTime keeps a name for each track's handler; libavformat's default carries no information.
        description.metadata = entries
        return description
    }

    /// The track's metadata including its name, without items that only headers store.
    var ownItems: [MetadataItem] {
        let items = metadata.filter { !Self.fields.contains($0.name) }
        guard let name else { return items }
        return items.filter { $0.name != "title" }
            + [MetadataItem(.commonIdentifierTitle, .text(name))]
    }

    private static let fields = MetadataWriting.headerKeys.union(["language", "creation_time", "timecode"])
}
