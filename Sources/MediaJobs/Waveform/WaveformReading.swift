internal import AssetKit
internal import Inspection
internal import MediaBase

/// The measured audio of a track in a range.
struct MeasuredSound {
    var sampleRate: Int
    var channelLayout: ChannelLayout
    /// The time of the first sample.
    var start: MediaTime
    /// The number of samples in each channel.
    var frames: Int64
    /// The number of samples before time 0 that were left out; `nil` if reading started later.
    var cutBeforeZero: Int64?
    /// The number of samples of silence that replace a late start.
    var lateStart: Int64
    /// The number of samples of silence that replace holes.
    var holes: Int64
    var measured: WaveformMeter.Result
    var damage: DamageReport
}

/// Reads a track's audio in a range, in a ``Pass`` with one consumer, and measures it.
struct WaveformReading {
    let asset: Asset
    let track: AssetTrack
    let range: WaveformRange
    let request: WaveformMeter.Request
    let options: WaveformOptions

    /// Reads and measures the audio up to the end of the range.
    func measure(progress: ((Double, Double) -> Void)?) throws -> MeasuredSound {
        let audio = AudioMeasurement<WaveformMeter>(track, from: range.start, to: range.end, request)
        let pass = Pass(asset, from: range.start, threads: options.threads, isSerial: options.isSerial)
        pass.join(audio)
        try pass.run(until: range.end, progress: progress)
        if audio.meter == nil { try audio.begin(try formOfNothing()) }
        guard let form = audio.form, let meter = audio.takeMeter() else { throw track.errorOfNothing }
        let rate = Int32(clamping: form.sampleRate)
        let first = range.start.sampleIndex(rate: rate, rounding: .up) ?? 0
        return MeasuredSound(
            sampleRate: form.sampleRate, channelLayout: form.channelLayout,
            start: MediaTime(value: first, timescale: rate), frames: audio.frames,
            cutBeforeZero: range.start == .zero ? pass.samplesCutBeforeZero(of: track) : nil,
            lateStart: audio.lateStart, holes: audio.holes, measured: try meter.finish(), damage: pass.damage)
    }

    /// Returns the form that the header states of a track without samples.
    ///
    /// Throws if the header declares that the track has content.
    private func formOfNothing() throws(MediaError) -> AudioTrackForm {
        guard range.start == .zero else {
            let end = track.timeRange.end
            let known = end.isNumeric ? "; it ends at \(end.seconds) s" : ""
            throw MediaError(.outOfRange, "there is no audio after \(range.start.seconds) s\(known)")
        }
        guard let format = track.formatDescriptions.first?.audio, format.sampleRate > 0, format.channels > 0 else {
            throw MediaError(
                .damaged, "track \(track.index) has no audio, and its header states neither rate nor channels")
        }
        let isFragmented = try asset.loadNow(.container).isFragmented == true
        guard !track.statesContent(inFragments: isFragmented) else { throw track.errorOfNothing }
        return AudioTrackForm(
            sampleRate: format.sampleRate, channelLayout: format.channelLayout, sampleFormat: nil,
            statedBits: track.statedSampleBits)
    }
}
