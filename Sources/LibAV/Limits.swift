/// What nothing may go beyond, whoever asks for it, checked before memory is taken.
///
/// `MediaLimits` has what can be set.
package enum Limits {
    /// Pixels in one picture: no more are possible in libav.
    package static let pixels = 1 << 28
    /// Channels of one track: what libavutil's layouts are made for.
    package static let channels = 512
    /// Samples a second; the highest rate in use is 768 kHz, the lowest of old formats 1 kHz.
    package static let sampleRate = 1 << 24
    /// Metadata items in one dictionary.
    package static let metadataItems = 10_000
    /// Bytes of one compressed sample that is made here.
    package static let packetBytes = 1 << 30
    /// Samples in each channel of one run of sound that is made here.
    package static let samplesInFrame = 1 << 24
}
