import ISOMedia
package import LibAV
package import MediaBase

extension StreamInfo {
    /// Frames per second, as counted by timecodes: see ``MediaBase/Rational/pictureRate(nominal:average:fieldOrder:)``.
    var pictureRate: Rational? {
        Rational.pictureRate(nominal: nominalFrameRate, average: averageFrameRate, fieldOrder: format.video?.fieldOrder)
    }
}

extension Rational {
    /// Computes frames per second as counted by timecodes: the nominal rate, halved if this counts fields.
    package static func pictureRate(nominal: Rational?, average: Rational?, fieldOrder: String?) -> Rational? {
        guard let nominal, let average else { return nominal ?? average }
        let ratio = nominal.doubleValue / average.doubleValue
        let isInterlaced = fieldOrder.map { $0 != "progressive" } ?? false
        guard isInterlaced, ratio > 1.9, ratio < 2.1 else { return nominal }
        return nominal.divided(by: Rational(2))
    }
}

extension TrackTimecode {
    /// Reads the timecode of a `tmcd` track; `nil` for other tracks, for plain counters, and if the numbers are
    /// invalid.
    ///
    /// The rate is derived from the duration of a frame and rounded. The number of frames per second in the same box is
    /// 29 in files of some cameras whose counter runs at 30.
    init?(_ track: MovieTrack) {
        guard let entry = track.sampleEntries.first?.timecode, let counter = track.timecodeCounter,
            entry.flags & 8 == 0, entry.frameDuration > 0, let timescale = Int32(exactly: entry.timescale),
            timescale > 0,
            let nominal = Rational(Int64(timescale), Int64(entry.frameDuration)).rounded(),
            let rate = Self.rate(nominal, duration: entry.frameDuration, timescale, drops: entry.flags & 1 != 0)
        else { return nil }
        let number = entry.flags & 4 != 0 ? Int64(Int32(bitPattern: counter)) : Int64(counter)
        self.init(
            start: Timecode(frameNumber: number, rate: rate), source: entry.sourceName,
            writtenFrameCount: Int(entry.numberOfFrames))
    }

    private static func rate(_ nominal: Int64, duration: UInt32, _ timescale: Int32, drops: Bool) -> Timecode.Rate? {
        guard let nominal = Int(exactly: nominal) else { return nil }
        let duration = MediaTime(value: Int64(duration), timescale: timescale)
        return try? Timecode.Rate(nominal: nominal, frameDuration: duration, isDropFrame: drops)
    }
}

/// The `TIMECODE` tag of a Matroska track or file, which states the timecode of its first frame.
///
/// Matroska does not define the format of the text. It is used only if it is a valid timecode at the frame rate.
package enum MatroskaTimecode {
    /// libavformat's key for timecodes in other containers.
    private static let key = "timecode"

    /// Renames the timecode tags of a file and its tracks to the key used in other containers.
    package static func settle(_ entries: inout [(key: String, value: String)], _ streams: inout [StreamInfo]) {
        func rate(_ stream: StreamInfo) -> Rational? {
            stream.format.mediaType == .video && stream.attachedPicture == nil ? stream.pictureRate : nil
        }
        let fileRate = streams.lazy.compactMap(rate).first
        for place in streams.indices {
            streams[place].metadata = settled(streams[place].metadata, rate: rate(streams[place]))
        }
        entries = settled(entries, rate: fileRate)
    }

    /// Renames the tag to the key that timecodes have in other containers; returns the entries unchanged if it is not
    /// a timecode.
    ///
    /// - Parameter rate: The frame rate; `nil` if there are no frames or it is unknown.
    private static func settled(
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
