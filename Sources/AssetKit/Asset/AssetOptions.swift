public import MediaBase
public import Network

extension Asset {
    /// The options for opening an asset.
    public struct Options: Sendable, Hashable {
        /// True to read (not decode) all packets, so that durations, counts and random access are exact.
        ///
        /// AVFoundation calls this precise duration and timing. If false, the header is trusted. It is exact for MP4,
        /// QuickTime, Matroska with cues, WAV and FLAC, and an estimate for TS, PS, ADTS and raw streams.
        public var isPrecise = false
        /// True to let a playlist or a reference in the file open other files, but never the network or a device.
        public var allowsNestedFiles = false
        /// The audio format of a file that contains only samples; `nil` to recognise the format.
        public var rawSound: RawSound?
        /// The options for reading from the network, for URLs of `http`, `https` and `s3`.
        public var network = NetworkOptions()
        /// The limits on what the file may request, and the deadline for reading it.
        public var limits = MediaLimits()

        /// True to read a pipe to its end first, into an unnamed temporary file.
        ///
        /// The input can then be read more than once, and its length is known. MP4 and MP3 from a pipe are always read
        /// this way.
        package var spoolsPipe = false
        /// The record that is kept of what is read of the source.
        package var recording = Recording.none

        /// Creates options that trust the header and open only the named file.
        public init() {}
    }
}
