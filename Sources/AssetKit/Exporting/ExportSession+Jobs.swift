package import MediaBase
package import SystemPackage

extension ExportSession {
    /// The options of an export that only the commands above the library need.
    package struct JobOptions: Sendable {
        /// True if the time range is written as it is, because it was rounded before.
        package var isTimeRangeExact = false
        /// True to leave out audio tracks of which nothing can be decoded.
        package var passesOverUndecodableAudio = false
        /// The number of decoding threads for each track; 0 for the default.
        package var threads = 0
        /// Called with each buffer after it was appended and with the index of its track, on that track's thread.
        package var observer: (@Sendable (Int, SampleBuffer) -> Void)?
        /// Verifies the complete file before it gets its final name; an error removes it.
        package var verification: (@Sendable (Finished) throws(MediaError) -> Void)?

        /// Creates the options of an export without a job.
        package init() {}
    }

    /// A complete file before it has its final name.
    package struct Finished {
        /// The temporary path.
        package let path: FilePath
        /// The writer, with its inputs in the order of the tracks.
        package let writer: AssetWriter
        /// The parts of the source that could not be used.
        package let damage: DamageReport
        /// The errors of the tracks that were passed over, by ``AssetTrack/index``.
        package let undecodable: [Int: MediaError]
    }
}
