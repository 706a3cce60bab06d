import ISOMedia
import LibAV
import MediaBase

/// The edits that complete a movie header written by libavformat: exact edit lists, apertures, and metadata.
struct MovieHeaderEdits {
    var movie: Movie
    var tracks: [Track]

    /// The properties of the movie as a whole.
    struct Movie {
        /// The creation time in ISO 8601; `nil` keeps the one in the file.
        var creationTime: String?
        /// The recording location in ISO 6709, and the language of that entry.
        var location: (place: String, language: String?)?
        /// All other metadata of the movie.
        var metadata: [MetadataEntry] = []
        /// Indicates whether the file is QuickTime rather than MPEG-4.
        var isQuickTime: Bool
    }

    /// The properties of a track.
    struct Track {
        /// The track's index in the movie.
        var index: Int
        /// The part of the presentation that the samples cover, up to +∞ if its end is not known yet; `nil` keeps the edit
        /// list in the file.
        var presented: (start: MediaTime, end: MediaTime)?
        /// The presentation time of the media's zero: the first sample's decode time.
        var mediaStart: MediaTime?
        var cleanAperture: CleanAperture?
        /// Indicates whether the file stores QuickTime's `tapt` box.
        var keepsTrackAperture: Bool
        var isEnabled: Bool
        /// The group of tracks of which one is used at a time; `nil` keeps the one in the file.
        var alternateGroup: Int?
        /// The ISO 639-2 code; `nil` keeps the one in the file.
        var language: String?
        /// The track's name; `nil` if it has none.
        var name: String?
        /// All other metadata of the track.
        var metadata: [MetadataEntry] = []
        /// The creation time in ISO 8601; `nil` keeps the one in the file.
        var creationTime: String?
        /// Dolby Vision's configuration record, which libavformat writes into MP4 only.
        var dolbyVision: HDRInfo.DolbyVisionConfiguration?
        /// Indicates whether the track is video and so has dimensions.
        var isVideo: Bool
        /// The boxes that describe text, timecode or data; `nil` keeps those in the file.
        var description: TrackDescription?
        /// The references to other tracks: the type of each, and the other track's index in the movie.
        var references: [(type: String, track: Int)] = []
    }

    /// Returns the movie's timescale, in which a tick of each track is a whole number of ticks, so that edits are
    /// exact.
    ///
    /// If that exceeds 32 bits, returns the finest track's timescale: a reader that rounds edits to the ticks of the
    /// other tracks still finds their exact times.
    static func timescale(of lanes: [MuxSession.Lane]) -> Int32 {
        // Subtitles need no finer times than the other tracks, and their clocks may count microseconds.
        let media = lanes.filter { $0.stream.map { $0.parameters.isAudio || $0.parameters.isVideo } ?? false }
        func scales(_ lanes: [MuxSession.Lane]) -> [Int32] {
            lanes.compactMap { $0.stream.flatMap { Int32(exactly: $0.timeBase.den) } }
        }
        let described = lanes.filter { $0.stream?.description != nil }
        let own = scales(media.isEmpty ? lanes : media)
        return MediaTime.commonTimescale(of: own + scales(described)) ?? MediaTime.commonTimescale(of: own)
            ?? own.max() ?? 48_000
    }

    /// Applies the edits to a movie header.
    func apply(to editor: inout MovieEditor) throws(MediaError) {
        for track in tracks { try apply(track, to: &editor) }
        for track in tracks {
            let references = track.references.compactMap { reference in
                editor.trackID(ofTrack: reference.track).map { (FourCC(stringLiteral: reference.type), [$0]) }
            }
            try editor.addReferences(references, track: track.index)
        }
        try editor.endTimecodesWithTheirMedia()
        if let date = movie.creationTime { try editor.setCreationTime(date, track: nil) }
        if let location = movie.location { editor.setLocation(location.place, language: location.language) }
        try editor.setMetadata(movie.metadata, track: nil, isQuickTime: movie.isQuickTime)
    }

    private func apply(_ track: Track, to editor: inout MovieEditor) throws(MediaError) {
        guard track.index < editor.trackCount else { return }
        try editor.setEnabled(track.isEnabled, track: track.index)
        if let group = track.alternateGroup {
            try editor.setAlternateGroup(Int16(clamping: group), track: track.index)
        }
        if let language = track.language { try editor.setLanguage(language.lowercased(), track: track.index) }
        if let name = track.name { try editor.setName(name, track: track.index) }
        try editor.setMetadata(track.metadata, track: track.index, isQuickTime: movie.isQuickTime)
        if let date = track.creationTime { try editor.setCreationTime(date, track: track.index) }
        try editor.setMediaDuration(track: track.index)
        if let description = track.description {
            try editor.setDescription(description, track: track.index, isQuickTime: movie.isQuickTime)
        }
        if track.isVideo {
            if let record = track.dolbyVision { try editor.addDolbyVision(record, track: track.index) }
            try editor.setAperture(
                track.cleanAperture, track: track.index, writesTrackAperture: track.keepsTrackAperture)
        }
        guard let (start, end) = track.presented, let mediaStart = track.mediaStart, start < end else { return }
        let mediaScale = try editor.mediaTimescale(ofTrack: track.index)
        func ticks(_ time: MediaTime, _ scale: Int32) -> Int64 {
            time.converted(toTimescale: scale).value
        }
        let from = ticks(start, editor.timescale)
        // An edit without a duration lasts until the end of all fragments (ISO/IEC 14496-12, 8.6.6).
        let to = end.isNumeric ? ticks(end, editor.timescale) : from
        var edits: [EditListEntry] = []
        if from > 0 { edits.append(EditListEntry(segmentDuration: UInt64(from), mediaTime: -1)) }
        edits.append(
            EditListEntry(
                segmentDuration: UInt64(max(0, to - max(0, from))),
                mediaTime: max(0, ticks(start - mediaStart, mediaScale))))
        try editor.setEdits(edits, track: track.index)
    }
}
