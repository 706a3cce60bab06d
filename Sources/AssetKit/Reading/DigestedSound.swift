import LibAV
import MediaBase

/// Makes functions that take from decoded sound what a consumer needs of it, on the thread that decodes.
///
/// Each thread gets a function of its own, which may keep scratch space. Where sound is decoded in segments, buffers then
/// carry what the function gave (``AudioBuffer/digest``) in place of samples, which saves the memory of a few seconds of
/// sound and the time to carry it from one thread to another; buffers at the edges, and all where sound is decoded in
/// one go, still carry samples.
package typealias SoundDigester = @Sendable () -> (AudioBuffer) -> any Sendable

/// What a frame of sound is, apart from its samples.
struct SoundForm: Sendable {
    /// Its time stamp in the stream's time base.
    let ticks: Int64?
    let sampleCount: Int
    let sampleRate: Int
    let channelLayout: ChannelLayout
    let format: SampleFormat
    let isPlanar: Bool
    let isCorrupt: Bool

    /// The form of a frame; `nil` where it holds no sound of a known format.
    init?(_ frame: borrowing Frame) {
        guard let (format, isPlanar) = frame.sampleFormat else { return nil }
        ticks = frame.pts
        sampleCount = frame.sampleCount
        sampleRate = frame.sampleRate
        channelLayout = frame.channelLayout
        self.format = format
        self.isPlanar = isPlanar
        isCorrupt = frame.isCorrupt
    }
}

/// What stands for a frame whose samples a digester has seen.
struct DigestedSound: Sendable {
    let form: SoundForm
    let value: any Sendable
    /// Where the frame can be had again.
    private let segment: SoundSegment
    private let setup: DecoderSetup
    private let place: Int

    /// - Parameter place: The frame's place among the segment's events.
    init(_ form: SoundForm, _ value: any Sendable, in segment: SoundSegment, _ setup: DecoderSetup, place: Int) {
        self.form = form
        self.value = value
        self.segment = segment
        self.setup = setup
        self.place = place
    }

    /// The frame itself, by decoding its segment again as far as that; `nil` where that gives something else.
    func frame() throws(MediaError) -> Frame? { try segment.frame(at: place, setup) }
}

/// What a ``SoundSource`` gives.
enum DecodedSound: ~Copyable {
    case frame(Frame)
    case digested(DigestedSound)
}
