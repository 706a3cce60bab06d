package import AssetKit
package import MediaAnalysis
package import MediaBase
internal import SystemCalls
internal import Threading

/// The properties of a track's decoded audio.
package struct AudioTrackForm: Sendable, Hashable {
    /// The number of samples per second in each channel.
    package let sampleRate: Int
    /// The channel layout.
    package let channelLayout: ChannelLayout
    /// The storage format of a decoded sample; `nil` if nothing was decoded, or if samples have another form by now.
    package let sampleFormat: SampleFormat?
    /// The number of bits that the container or the codec states for a sample.
    package let statedBits: Int?

    /// Creates a form from its parts.
    package init(sampleRate: Int, channelLayout: ChannelLayout, sampleFormat: SampleFormat?, statedBits: Int?) {
        self.sampleRate = sampleRate
        self.channelLayout = channelLayout
        self.sampleFormat = sampleFormat
        self.statedBits = statedBits
    }

}

/// Measures the audio of one track, in order; the meters of consecutive parts can be joined.
package protocol AudioMeter: Sendable {
    /// The wanted measurements.
    associatedtype Request: Sendable
    /// The result of the meter's reducers.
    associatedtype Partial: Sendable = Never

    /// Creates a meter for a track, or for a part of it.
    ///
    /// - Parameters:
    ///   - frame: The number of audio frames before the part.
    ///   - frames: The least number of frames in all parts.
    init(_ request: Request, _ form: AudioTrackForm, startingAt frame: Int64, of frames: Int64) throws(MediaError)

    /// Returns true if audio of another form can be measured together with that so far.
    func accepts(_ form: AudioTrackForm) -> Bool
    /// Measures the first `frames` frames of a buffer.
    mutating func append(_ audio: AudioBuffer, frames: Int) throws(MediaError)
    /// Measures what a reducer has made of audio.
    mutating func append(_ audio: ReducedAudio<Partial>) throws(MediaError)
    /// Measures silence, in time that does not depend on its length.
    mutating func appendSilence(frames: Int64) throws(MediaError)
    /// Limits the memory of a meter of the whole track.
    mutating func makeRoom()

    /// Creates the meter's reducers; `nil` if there are none.
    static func makeReducer(_ request: Request, for track: AssetTrack) -> MakeAudioReducer<Partial>?

    /// Returns the parts in which PCM is measured in parallel.
    static func parts(of frames: Range<Int64>, _ track: RawPCMTrack, _ form: AudioTrackForm) -> RawPCMParts
    /// Measures frames of PCM.
    mutating func append(_ samples: RawPCMReader.Samples, frames: Int) throws(MediaError)
    /// Runs the PCM before a part through the filters.
    mutating func warmUp(_ samples: RawPCMReader.Samples, frames: Int)
    /// Completes a part.
    mutating func finishPart()
    /// Joins the meter of the part that follows.
    mutating func append(next part: Self) throws(MediaError)
}

extension AudioMeter {
    package mutating func makeRoom() {}
    package mutating func warmUp(_ samples: RawPCMReader.Samples, frames: Int) {}
    package mutating func finishPart() {}
}

extension AudioMeter where Partial == Never {
    package mutating func append(_ audio: ReducedAudio<Never>) {}
    package static func makeReducer(_ request: Request, for track: AssetTrack) -> MakeAudioReducer<Never>? { nil }
}

/// The parts in which PCM is measured in parallel.
package struct RawPCMParts {
    /// The frames of each part.
    package let ranges: [Range<Int64>]
    /// The number of frames before a part that prepare its filters.
    package var warmUp: Int64 = 0
    /// The number of frames that are read at once.
    package let blockFrames: Int
    /// See ``RawPCMReader/init(_:blockFrames:exactFrom:)``.
    package var exactFrom: Int16 = 0

    package init(ranges: [Range<Int64>], warmUp: Int64 = 0, blockFrames: Int, exactFrom: Int16 = 0) {
        self.ranges = ranges
        self.warmUp = warmUp
        self.blockFrames = blockFrames
        self.exactFrom = exactFrom
    }
}

extension AssetTrack {
    /// The number of bits that the container or the codec states for a sample.
    package var statedSampleBits: Int? { formatDescriptions.first?.audio?.bitsPerSample }
}

/// Measures one track's audio in a range; late starts and holes are measured as silence.
package final class AudioMeasurement<Meter: AudioMeter>: PassConsumer {
    /// The track.
    package let track: AssetTrack
    private let request: Meter.Request
    private let start: MediaTime
    private let end: MediaTime?
    private let statedBits: Int?
    private var gaps: AudioGaps
    /// The number of frames in the range; `nil` for all up to the track's end.
    private var limit: Int64?

    /// The measurement; `nil` before the first audio.
    package private(set) var meter: Meter?
    /// The form of the first audio.
    package private(set) var form: AudioTrackForm?
    /// The number of frames measured.
    package private(set) var frames: Int64 = 0
    /// The number of frames of silence that replace a late start.
    package private(set) var lateStart: Int64 = 0
    /// The number of frames of silence that replace holes.
    package private(set) var holes: Int64 = 0

    /// - Parameters:
    ///   - start: The time from which audio is measured.
    ///   - end: The time at which measuring ends; `nil` for the track's end.
    package init(
        _ track: AssetTrack, from start: MediaTime = .zero, to end: MediaTime? = nil, _ request: Meter.Request
    ) {
        self.track = track
        self.request = request
        self.start = start
        self.end = end
        statedBits = track.statedSampleBits
        gaps = AudioGaps(from: start)
    }

    package var inputs: [PassInput] { [PassInput(track, .audio(AudioSettings()))] }
    package var makeReducer: MakeAudioReducer<Meter.Partial>? { Meter.makeReducer(request, for: track) }

    private var isFull: Bool { limit.map { frames >= $0 } ?? false }

    private func fitting(_ count: Int64) -> Int64 { limit.map { max(0, min(count, $0 - frames)) } ?? count }

    package func take(_ samples: DeliveredSamples<Meter.Partial>, of track: AssetTrack) throws(MediaError) -> Bool {
        switch samples {
        case .samples(let buffer):
            guard let audio = buffer.audioBuffer else { return true }
            try prepare(
                AudioTrackForm(
                    sampleRate: audio.sampleRate, channelLayout: audio.channelLayout, sampleFormat: audio.sampleFormat,
                    statedBits: statedBits), at: buffer.presentationTime, count: audio.sampleCount)
            try append(audio)
        case .reduced(let audio):
            try prepare(
                AudioTrackForm(
                    sampleRate: audio.sampleRate, channelLayout: audio.channelLayout, sampleFormat: audio.sampleFormat,
                    statedBits: statedBits), at: audio.presentationTime, count: audio.sampleCount)
            if fitting(Int64(audio.sampleCount)) == audio.sampleCount {
                try meter?.append(audio)
                frames += Int64(audio.sampleCount)
            } else {
                for buffer in try audio.decodedAgain() { try append(buffer) }
            }
        }
        meter?.makeRoom()
        return !isFull
    }

    /// Makes the meter at the first audio, and measures the silence before a run.
    private func prepare(_ form: AudioTrackForm, at time: MediaTime, count: Int) throws(MediaError) {
        try begin(form)
        if let known = self.form, form != known, meter?.accepts(form) == false {
            throw MediaError(
                .unsupported,
                "track \(track.index) changes from \(known.channelLayout) at \(known.sampleRate) Hz to \(form.channelLayout) "
                    + "at \(form.sampleRate) Hz; export it to one form first")
        }
        let silence = fitting(gaps.silence(before: time, count: count, rate: form.sampleRate))
        guard silence > 0 else { return }
        if frames == 0 { lateStart += silence } else { holes += silence }
        try meter?.appendSilence(frames: silence)
        frames += silence
    }

    private func append(_ audio: AudioBuffer) throws(MediaError) {
        let count = fitting(Int64(audio.sampleCount))
        guard count > 0 else { return }
        try meter?.append(audio, frames: Int(count))
        frames += count
    }

    /// Makes the meter if there is none; call it for a track without audio, too.
    package func begin(_ form: AudioTrackForm) throws(MediaError) {
        guard meter == nil else { return }
        self.form = form
        meter = try Meter(request, form, startingAt: 0, of: 0)
        let rate = Int32(clamping: form.sampleRate)
        let first = start.sampleIndex(rate: rate, rounding: .up) ?? 0
        limit = end?.sampleIndex(rate: rate, rounding: .up).map { $0.subtractingReportingOverflow(first).partialValue }
    }

    /// Takes out the meter, so that finishing it copies nothing.
    package func takeMeter() -> Meter? { meter.take() }

    package func readDirectly(_ asset: Asset, threads: Int, progress: (Double) -> Void) throws(MediaError) -> MediaTime?
    {
        guard track.formatDescriptions.first?.codec.hasPrefix("pcm_") == true,
            let raw = try RawPCMTrack(asset, track: track)
        else { return nil }
        let rate = Int32(clamping: raw.sampleRate)
        let first = start.sampleIndex(rate: rate, rounding: .up) ?? 0
        guard first < raw.frames else { return nil }
        let form = AudioTrackForm(
            sampleRate: raw.sampleRate, channelLayout: raw.channelLayout, sampleFormat: raw.sampleFormat,
            statedBits: statedBits)
        try begin(form)
        let end = limit.map { min(raw.frames, first + $0) } ?? raw.frames
        meter = try raw.measure(first..<end, request, form, threads: threads) { done in
            progress(Double(done) / Double(raw.sampleRate))
        }
        frames = end - first
        let next = MediaTime(value: raw.frames, timescale: rate)
        gaps = AudioGaps(from: next)
        return next
    }
}

extension RawPCMTrack {
    /// Measures frames block by block, in parallel.
    ///
    /// - Parameters:
    ///   - threads: The number of threads; 0 for one per core.
    ///   - progress: Receives the number of completed frames.
    fileprivate func measure<Meter: AudioMeter>(
        _ frames: Range<Int64>, _ request: Meter.Request, _ form: AudioTrackForm, threads: Int,
        progress: (Int64) -> Void
    ) throws(MediaError) -> Meter {
        let total = Int64(frames.count)
        var whole = try Meter(request, form, startingAt: 0, of: total)
        let parts = Meter.parts(of: frames, self, form)
        // Readers are used again, because the system would clear such large memory for each part.
        let idle = IdleReaders()
        try concurrentForEach(parts.ranges, workers: threads > 0 ? threads : availableProcessors()) {
            [self] range throws(MediaError) in
            var meter = try Meter(request, form, startingAt: range.lowerBound - frames.lowerBound, of: total)
            var reader =
                idle.readers.withLock { $0.popLast() }
                ?? RawPCMReader(self, blockFrames: parts.blockFrames, exactFrom: parts.exactFrom)
            var place = max(0, range.lowerBound - parts.warmUp)
            while place < range.upperBound {
                let isBefore = place < range.lowerBound
                let left = (isBefore ? range.lowerBound : range.upperBound) - place
                let count = Int(min(Int64(try reader.read(from: place)), left))
                if isBefore {
                    meter.warmUp(reader.samples, frames: count)
                } else {
                    try meter.append(reader.samples, frames: count)
                }
                place += Int64(count)
            }
            meter.finishPart()
            let done = reader
            idle.readers.withLock { $0.append(done) }
            return meter
        } deliver: { index, part throws(MediaError) in
            try whole.append(next: part)
            whole.makeRoom()
            progress(parts.ranges[index].upperBound - frames.lowerBound)
        }
        return whole
    }
}

/// The readers that no thread is using.
private final class IdleReaders: Sendable {
    let readers = Mutex<[RawPCMReader]>([])
}

/// Finds the silence between runs of a track's audio: a late start, and holes of more than a hundredth of a second.
package struct AudioGaps: Sendable {
    private let start: MediaTime
    private var next: Int64?

    /// - Parameter start: The time from which the track is read.
    package init(from start: MediaTime = .zero) { self.start = start }

    /// Indicates whether there was no run so far.
    package var isAtStart: Bool { next == nil }

    /// Returns the number of samples of silence in each channel before a run.
    package mutating func silence(before time: MediaTime, count: Int, rate: Int) -> Int64 {
        let rate = Int32(clamping: rate)
        let begins = time.sampleIndex(rate: rate, rounding: .halfAwayFromZero) ?? 0
        let expected = next ?? start.sampleIndex(rate: rate, rounding: .up) ?? 0
        let (after, overflow) = begins.addingReportingOverflow(Int64(count))
        next = overflow ? .max : after
        return max(0, begins.subtractingReportingOverflow(expected).partialValue)
    }
}

extension PlanarSamples {
    /// Copies a range of a buffer's frames; the buffer has the same number of channels.
    package mutating func fill(_ sound: AudioBuffer, _ range: Range<Int>) {
        switch sound.sampleFormat {
        case .uint8: fill(sound, range, UInt8.self, { $0.fill($1) }, { $0.fill($1, channel: $2) })
        case .int16: fill(sound, range, Int16.self, { $0.fill($1) }, { $0.fill($1, channel: $2) })
        case .int32: fill(sound, range, Int32.self, { $0.fill($1) }, { $0.fill($1, channel: $2) })
        case .int64: fill(sound, range, Int64.self, { $0.fill($1) }, { $0.fill($1, channel: $2) })
        case .float32: fill(sound, range, Float.self, { $0.fill($1) }, { $0.fill($1, channel: $2) })
        case .float64: fill(sound, range, Double.self, { $0.fill($1) }, { $0.fill($1, channel: $2) })
        }
    }

    private mutating func fill<Sample: BitwiseCopyable>(
        _ sound: AudioBuffer, _ range: Range<Int>, _ type: Sample.Type,
        _ all: (inout PlanarSamples, Span<Sample>) -> Void,
        _ one: (inout PlanarSamples, Span<Sample>, Int) -> Void
    ) {
        if sound.isPlanar {
            for channel in 0..<channels {
                sound.withSamples(of: type, plane: channel) { samples in
                    let end = min(range.upperBound, samples.count)
                    one(&self, samples.extracting(min(range.lowerBound, end)..<end), channel)
                }
            }
        } else {
            sound.withSamples(of: type) { samples in
                let end = min(range.upperBound * channels, samples.count)
                all(&self, samples.extracting(min(range.lowerBound * channels, end)..<end))
            }
        }
    }
}
