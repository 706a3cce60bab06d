import LibAV
import MediaBase

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
