import ISOMedia
public import MediaBase

/// The timecode of a track's first frame, as a timecode track of QuickTime keeps it.
public struct TrackTimecode: Sendable, Hashable {
    /// The first frame's number, and how frames are counted.
    public let start: Timecode
    /// The reel or tape that the counter belongs to; `nil` where it is not named.
    public let source: String?
    /// Frames a second as the track says that people count them; cameras that write 29 for 29.97 mean 30.
    public let writtenFrameCount: Int

    /// The timecode of a `tmcd` track; `nil` for others, for plain counters, and where the numbers make no sense.
    ///
    /// The rate is what a frame's duration gives, rounded: the number of frames a second in the same box is 29 in
    /// files of some cameras whose counter is one of 30.
    init?(_ track: MovieTrack) {
        guard let entry = track.sampleEntries.first?.timecode, let counter = track.timecodeCounter,
            entry.flags & 8 == 0, entry.frameDuration > 0, let timescale = Int32(exactly: entry.timescale),
            timescale > 0,
            let nominal = Rational(Int64(timescale), Int64(entry.frameDuration)).rounded(),
            let rate = Self.rate(nominal, duration: entry.frameDuration, timescale, drops: entry.flags & 1 != 0)
        else { return nil }
        let number = entry.flags & 4 != 0 ? Int64(Int32(bitPattern: counter)) : Int64(counter)
        start = Timecode(frameNumber: number, rate: rate)
        source = entry.sourceName
        writtenFrameCount = Int(entry.numberOfFrames)
    }

    private static func rate(_ nominal: Int64, duration: UInt32, _ timescale: Int32, drops: Bool) -> Timecode.Rate? {
        guard let nominal = Int(exactly: nominal) else { return nil }
        let duration = MediaTime(value: Int64(duration), timescale: timescale)
        return try? Timecode.Rate(nominal: nominal, frameDuration: duration, isDropFrame: drops)
    }
}
