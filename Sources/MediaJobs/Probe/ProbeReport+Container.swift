internal import AssetKit
package import MediaBase

/// What a container says of itself as a whole.
package struct ContainerReport: Encodable, Sendable {
    /// The format's short name: the first of ``formatNames``.
    package var format: String
    /// All names of the family of formats that is read alike, such as `mov`, `mp4`, `m4a`.
    package var formatNames: [String]
    /// The first brand of an ISO or QuickTime file, with the blanks that fill it up to four characters.
    package var majorBrand: String?
    /// The version of the first brand.
    package var majorBrandVersion: Int?
    /// The other brands that the file claims to follow; `nil` for other formats.
    package var compatibleBrands: [String]?
    /// How long the presentation lasts.
    package var duration: MediaTime?
    /// Bits a second over all tracks.
    package var bitRate: Int64?
    /// Length in bytes; `nil` for a stream.
    package var sizeBytes: Int64?
    /// The earliest time stamp in the container's own clock.
    package var startTime: MediaTime?
    /// The first frame's timecode.
    package var startTimecode: String?
    /// Whether samples lie in fragments; `nil` for formats without such a thing.
    package var fragmented: Bool?
    /// Whether the index lies before the media; `nil` for formats without such a thing.
    package var indexFirst: Bool?

    init(_ container: ContainerInfo, duration: MediaTime) {
        formatNames = container.formatNames
        format = formatNames.first ?? container.format
        majorBrand = container.majorBrand
        majorBrandVersion = container.majorBrandVersion
        compatibleBrands = majorBrand == nil ? nil : container.compatibleBrands
        self.duration = duration.ifNumeric
        bitRate = container.bitRate
        sizeBytes = container.sizeBytes
        startTime = container.startTime?.ifNumeric
        startTimecode = container.startTimecode
        fragmented = container.isFragmented
        indexFirst = container.isIndexFirst
    }
}

/// A program of a transport stream.
package struct ProgramReport: Encodable, Sendable {
    /// The number that the program map gives it.
    package var number: Int
    /// The service's name.
    package var name: String?
    /// The indices of its tracks.
    package var trackIndices: [Int]
    /// The time stamp, in the program's own clock, from which the times of its tracks are counted.
    package var startTime: MediaTime?
    /// How long it lasts.
    package var duration: MediaTime?

    init(_ program: ContainerInfo.Program) {
        number = program.number
        name = program.name
        trackIndices = program.trackIndices
        startTime = program.startTime?.ifNumeric
        duration = program.duration?.ifNumeric
    }
}

/// A file or a picture that travels in the container.
package struct AttachmentReport: Encodable, Sendable {
    /// Which track it is.
    package var trackIndex: Int
    /// `picture` for cover art, `file` for all else.
    package var kind: String
    /// Its name.
    package var fileName: String?
    /// Its media type.
    package var mimeType: String?
    /// Its length.
    package var sizeBytes: Int

    /// The attachment that a track is; `nil` for a track of other kind.
    init?(_ track: AssetTrack) {
        func text(_ key: String) -> String? { track.metadata.first { $0.identifier == key }?.value.text }
        let format = track.formatDescriptions.first
        if let picture = track.attachedPicture {
            kind = "picture"
            sizeBytes = picture.count
        } else if track.mediaType == .attachment {
            kind = "file"
            sizeBytes = format?.extradata.count ?? 0
        } else {
            return nil
        }
        trackIndex = track.index
        fileName = text("filename")
        mimeType = text("mimetype") ?? format.flatMap { Self.pictureTypes[$0.codec] }
    }

    private static let pictureTypes = [
        "png": "image/png", "mjpeg": "image/jpeg", "gif": "image/gif", "bmp": "image/bmp", "webp": "image/webp",
        "tiff": "image/tiff",
    ]
}
