import LibAV
import MediaBase

/// The tag by which Matroska files tell the timecode of their first picture: `TIMECODE`, of a track or of the file.
///
/// Matroska gives its text no form; it counts where the pictures' rate has such a timecode.
enum MatroskaTimecode {
    /// libavformat's key for timecodes in other containers.
    private static let key = "timecode"

    /// Gives the tag the key that timecodes have in other containers; the entries as they are where it cannot be one.
    ///
    /// - Parameter rate: The pictures' rate; `nil` where there are none, or it is unknown.
    static func settled(
        _ entries: [(key: String, value: String)], rate: Rational?
    ) -> [(key: String, value: String)] {
        guard let rate, !entries.contains(where: { $0.key == key }),
            let place = entries.firstIndex(where: { $0.key.lowercased() == key }),
            let fields = try? Timecode.Fields(parsing: entries[place].value), !fields.isNegative,
            let counting = try? Timecode.Rate(frameRate: rate, isDropFrame: fields.isDropFrame),
            (try? Timecode(fields, rate: counting)) != nil
        else { return entries }
        var entries = entries
        entries[place].key = key
        return entries
    }
}

extension AssetContents {
    /// Gives the timecodes of a Matroska file and its tracks the key that they have in other containers.
    ///
    /// - Returns: The file's metadata.
    static func settleTimecodes(of streams: inout [StreamInfo], in file: InputFile) -> [(key: String, value: String)] {
        guard file.formatName.hasPrefix("matroska") else { return file.metadata }
        func rate(_ stream: StreamInfo) -> Rational? {
            stream.format.mediaType == .video && stream.attachedPicture == nil ? stream.pictureRate : nil
        }
        let fileRate = streams.lazy.compactMap(rate).first
        for place in streams.indices {
            streams[place].metadata = MatroskaTimecode.settled(streams[place].metadata, rate: rate(streams[place]))
        }
        return MatroskaTimecode.settled(file.metadata, rate: fileRate)
    }
}
