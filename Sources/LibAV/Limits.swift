/// How much a file may ask for, checked before memory is taken.
package enum Limits {
    /// Streams in one container: `max_streams` of libavformat.
    package static let streams = 1000
    /// Pixels in one picture: `max_pixels` of libavcodec.
    package static let pixels = 1 << 28
    /// Channels of one track.
    package static let channels = 512
    /// Samples a second; the highest rate in use is 768 kHz, the lowest of old formats 1 kHz.
    package static let sampleRate = 1 << 24
    /// Metadata items in one dictionary.
    package static let metadataItems = 10_000
    /// Compressed bytes that wait for an output which is not being read.
    package static let waitingBytes = 512 << 20
    /// Bytes of one compressed sample that is made here.
    package static let packetBytes = 1 << 30
    /// Samples in each channel of one run of sound that is made here.
    package static let samplesInFrame = 1 << 24
}
