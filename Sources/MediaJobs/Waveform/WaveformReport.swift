package import MediaBase
internal import SystemPackage

/// What a waveform job measured and wrote; its JSON has the keys in this order.
package struct WaveformReport: Encodable, Sendable {
    /// The track that was read: ``AssetTrack/index``.
    package var trackIndex: Int
    /// The container's own number of it: ``AssetTrack/id``.
    package var trackID: Int
    /// Samples a second, as decoded; a header may say another rate.
    package var sampleRate: Int
    /// Which channels were decoded; `nil` where only their number is known.
    package var channelLayout: String?
    /// The range that was asked for; `nil` for all of the track.
    package var requested: RequestedRange?
    /// When the first sample sounds.
    package var start: MediaTime
    /// How long what was measured lasts, exact.
    package var duration: MediaTime
    /// Samples in each channel.
    package var samples: Int64
    /// Samples before time 0 that were left out (the encoder's priming, and what an edit list does not show); `nil`
    /// where reading began later.
    package var cutBeforeZero: Int64?
    /// Samples of silence that stand for a late start.
    package var lateStart: Int64
    /// Samples of silence that stand for holes.
    package var holes: Int64
    /// The outputs, in the order asked for.
    package var outputs: [Output]
    /// Each channel's loudness.
    package var channels: [Channel]
    /// What could not be used.
    package var damage: DamageSummary

    /// The loudness of one channel; full scale is 0 dB.
    package struct Channel: Encodable, Sendable {
        /// The largest magnitude; −∞ for silence, which JSON shows as `null`.
        package var peakDBFS: Double
        /// The root mean square over all samples; −∞ for silence, which JSON shows as `null`.
        package var rmsDBFS: Double
        /// Samples at full scale before the conversion to 16 bits.
        package var clippedSamples: Int64
    }
}
