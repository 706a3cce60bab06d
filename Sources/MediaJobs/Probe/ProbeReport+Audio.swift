internal import MediaBase

/// What is known of a track's sound.
package struct AudioReport: Encodable, Sendable {
    /// Samples a second and channel.
    package var sampleRate: Int?
    /// How many channels there are.
    package var channels: Int?
    /// Which loudspeakers the channels are for.
    package var channelLayout: String?
    /// libavutil's name of what the decoder yields; a `p` at the end means a plane for each channel.
    package var sampleFormat: String?
    /// Significant bits of a stored sample; `nil` for codecs that have none.
    package var bitsPerSample: Int?
    /// Samples before the first real one, that the presentation cuts.
    package var priming: Int?
    /// Samples after the last real one, that the presentation cuts.
    package var remainder: Int?

    /// The report.
    ///
    /// - Parameter speakers: Which loudspeakers the channels are for, where the format's layout does not say it.
    init(_ audio: AudioFormat, speakers: [String]?) {
        sampleRate = audio.sampleRate > 0 ? audio.sampleRate : nil
        channels = audio.channels > 0 ? audio.channels : nil
        // "6 channels" is how libavutil says that it does not know which.
        channelLayout = speakers?.joined(separator: "+") ?? audio.channelLayout.knownName
        sampleFormat = audio.sampleFormat.map { $0.rawValue + (audio.isPlanar ? "p" : "") }
        bitsPerSample = audio.bitsPerSample
        priming = audio.priming
        remainder = audio.remainder
    }
}
