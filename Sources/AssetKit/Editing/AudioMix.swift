import LibAV
import MediaAnalysis
public import MediaBase
import Threading

/// The volumes of several tracks that are mixed: `AVMutableAudioMix`.
///
/// ```swift
/// var parameters = AudioMix.InputParameters(track: music)
/// try parameters.volume.setRamp(from: 1, to: 0.2, timeRange: speech)
/// output.audioMix = AudioMix([parameters])
/// ```
public struct AudioMix: Sendable, Hashable {
    /// The parameters of single tracks; tracks without parameters keep their volume.
    public var inputParameters: [InputParameters]

    /// Creates a mix from the parameters of single tracks.
    public init(_ inputParameters: [InputParameters] = []) { self.inputParameters = inputParameters }

    /// The volume of one track over time, and its algorithm: `AVMutableAudioMixInputParameters`.
    public struct InputParameters: Sendable, Hashable {
        /// The ID of the track: ``AssetTrack/id``.
        public let trackID: Int
        /// The volume, 0 or more, by which samples are multiplied; 1, which keeps them unchanged, until it is set.
        public var volume = Ramp<Float>("volume", before: 1, limits: [0...Double.greatestFiniteMagnitude])

        /// The algorithm for segments of the track that play faster or slower; `nil`, the default, for the output's.
        public var audioTimePitchAlgorithm: AudioTimePitchAlgorithm?

        /// Creates parameters for a track at volume 1.
        public init(track: AssetTrack) { self.init(trackID: track.id) }

        /// Creates parameters for a track by its ID, at volume 1.
        public init(trackID: Int) { self.trackID = trackID }
    }
}

/// The audio of several tracks mixed into one: `AVAssetReaderAudioMixOutput`.
///
/// ```swift
/// let output = try AudioMixOutput(tracks: asset.loadTracks(withMediaType: .audio))
/// output.audioMix = mix
/// try reader.add(output)
/// ```
///
/// The mix is one continuous run of samples from the start of the time range to the end of the longest track; a track
/// without audio is silent. The mix uses 32-bit floating point. Each track is converted to the rate and
/// channels of the mix, multiplied by its volume and added. The sum is limited to ±1 and never wraps.
/// Mutable state is under a lock or confined to one thread at a time.
public final class AudioMixOutput: ReaderOutput, @unchecked Sendable {
    private let outputs: [TrackOutput]
    /// The format of the mix.
    let format: FormatDescription
    private let form: CompositionSound.Form
    private let mix = Mutex(Settings())
    private let state = Confined(State())

    private struct Settings {
        var mix = AudioMix()
        var algorithm = AudioTimePitchAlgorithm.spectral
    }

    private struct State: ~Copyable {
        var place: Int64?
        var inputs: [Input] = []
        var ranges = JoinedRanges()
        /// Converts the mix to the requested format.
        var converter: SampleConverter?
    }

    /// The audio of one track that was read but not mixed yet.
    private struct Input {
        var sounds: [(place: Int64, sound: AudioBuffer)] = []
        var isOver = false
        /// The end of the audio that was read.
        var end: Int64 = .min
    }

    /// The number of samples that are mixed at once.
    private static let run: Int64 = 4096

    /// Creates an output for audio tracks of one asset.
    ///
    /// - Parameters:
    ///   - tracks: The audio tracks.
    ///   - audioSettings: The format of the mix. Settings that are `nil` default to 32-bit floating point, interleaved,
    ///     and the highest sample rate and the most channels of all tracks.
    /// - Throws: ``MediaError/Code-swift.struct/invalidArgument`` without tracks, for tracks of another kind, and for
    ///   impossible settings.
    public init(tracks: [AssetTrack], audioSettings: AudioSettings? = nil) throws(MediaError) {
        guard !tracks.isEmpty, tracks.allSatisfy({ $0.mediaType == .audio }) else {
            throw MediaError(.invalidArgument, "a mix is made of audio tracks, at least one")
        }
        if let impossibility = audioSettings?.impossibility { throw MediaError(.invalidArgument, impossibility) }
        let formats = tracks.flatMap { $0.formatDescriptions.compactMap(\.audio) }
        let widest = formats.max { $0.channels < $1.channels }?.channelLayout
        let form = CompositionSound.Form(
            sampleFormat: audioSettings?.sampleFormat ?? .float32, isPlanar: audioSettings?.isPlanar ?? false,
            sampleRate: audioSettings?.sampleRate ?? formats.map(\.sampleRate).max() ?? 48000,
            channelLayout: audioSettings?.channelLayout ?? widest ?? .stereo)
        var inner = AudioSettings(
            sampleFormat: .float32, isPlanar: true, sampleRate: form.sampleRate, channelLayout: form.channelLayout)
        inner.resamplesFinely = true
        self.form = form
        format = form.formatDescription
        outputs = tracks.map { TrackOutput(track: $0, audioSettings: inner) }
    }

    /// The outputs of the single tracks, in the order of the tracks.
    public override var trackOutputs: [TrackOutput] { outputs }

    /// The volumes of the tracks, and their algorithms for other speeds; set them before reading starts.
    public var audioMix: AudioMix {
        get { mix.withLock { $0.mix } }
        set { change { $0.mix = newValue } }
    }

    /// The algorithm for segments of a composition that play faster or slower, in tracks for which ``audioMix`` has none;
    /// ``AudioTimePitchAlgorithm/spectral`` by default.
    ///
    /// Set it before reading starts; later it has no effect.
    public var audioTimePitchAlgorithm: AudioTimePitchAlgorithm {
        get { mix.withLock { $0.algorithm } }
        set { change { $0.algorithm = newValue } }
    }

    private func change(_ body: (inout Settings) -> Void) {
        mix.withLock { settings in
            body(&settings)
            for output in outputs {
                output.audioTimePitchAlgorithm =
                    settings.mix.parameters(of: output)?.audioTimePitchAlgorithm ?? settings.algorithm
            }
        }
    }

    /// Returns the next run of the mix; `nil` at the end.
    ///
    /// - Throws: The error of any of the tracks; the reader's status is then failed or cancelled.
    public override func nextSampleBuffer() throws(MediaError) -> SampleBuffer? {
        let audioMix = audioMix
        return try state.use { state throws(MediaError) in
            repeat {
                if let buffer = try next(&state, audioMix) { return buffer }
                (state.place, state.inputs) = (nil, [])
            } while try state.ranges.next(of: outputs)
            return nil
        }
    }

    /// Returns the next run of the mix in the current time range; `nil` at its end.
    private func next(
        _ state: inout State, _ audioMix: AudioMix
    ) throws(MediaError) -> SampleBuffer? {
        if state.inputs.isEmpty { state.inputs = outputs.map { _ in Input() } }
        let begins: Int64
        if let place = state.place {
            begins = place
        } else {
            let start = (state.ranges.current ?? outputs.first?.timeRange)?.start ?? .zero
            begins = max(start.sampleIndex(rate: form.rate, rounding: .up) ?? 0, 0)
            state.converter = try SampleConverter(
                to: form.sampleFormat, isPlanar: form.isPlanar, sampleRate: form.sampleRate,
                channelLayout: form.channelLayout)
        }
        for (index, output) in outputs.enumerated() {
            try Self.fill(&state.inputs[index], from: output, upTo: begins + Self.run, rate: form.rate)
        }
        // If all tracks end within the run, so does the mix.
        let isLast = state.inputs.allSatisfy(\.isOver)
        let last = isLast ? state.inputs.map(\.end).max() ?? begins : begins + Self.run
        let end = min(begins + Self.run, last)
        state.place = end
        guard end > begins else { return nil }
        let volumes = outputs.map(audioMix.parameters)
        let mixed = try mixed(state.inputs, volumes, begins..<end)
        for index in state.inputs.indices {
            state.inputs[index].sounds.removeAll { $0.place + Int64($0.sound.sampleCount) <= end }
        }
        guard let frame = try state.converter?.convert(mixed) else { return nil }
        let time = MediaTime(value: begins, timescale: form.rate)
        return AudioBuffer(frame, range: 0..<Int(end - begins)).map { sound in
            SampleBuffer(
                presentationTime: time, duration: MediaTime(value: end - begins, timescale: form.rate),
                formatDescription: format, content: .sound(sound))
        }
    }

    // MARK: Several time ranges

    /// Indicates whether further time ranges may be read, as ``TrackOutput/supportsRandomAccess``.
    public var supportsRandomAccess: Bool {
        get { outputs.supportRandomAccess }
        set { outputs.supportRandomAccess = newValue }
    }

    /// Makes the output deliver further time ranges, once it has returned `nil`: each is that part of the whole mix.
    ///
    /// The parameters and errors are those of ``TrackOutput/reset(forReadingTimeRanges:)``; each track's file is opened
    /// again for every range.
    public func reset(forReadingTimeRanges ranges: [MediaTimeRange]) throws(MediaError) {
        try state.use { state throws(MediaError) in try state.ranges.reset(ranges, of: outputs) }
    }

    /// Declares that no further time ranges follow, as ``TrackOutput/markConfigurationAsFinal()``.
    public func markConfigurationAsFinal() {
        try? state.use { state in state.ranges.markAsFinal(outputs) }
    }

    /// Reads a track until all of its audio before a position is available.
    private static func fill(
        _ input: inout Input, from output: TrackOutput, upTo end: Int64, rate: Int32
    ) throws(MediaError) {
        while !input.isOver, input.end < end {
            guard let buffer = try output.nextSampleBuffer() else {
                input.isOver = true
                return
            }
            guard let sound = buffer.audioBuffer,
                let place = buffer.presentationTime.sampleIndex(rate: rate, rounding: .halfAwayFromZero)
            else { continue }
            input.sounds.append((place, sound))
            input.end = max(input.end, place + Int64(sound.sampleCount))
        }
    }

    private func mixed(
        _ inputs: [Input], _ volumes: [AudioMix.InputParameters?], _ range: Range<Int64>
    ) throws(MediaError) -> Frame {
        try Frame.sound(
            range.count, format: .float32, isPlanar: true, sampleRate: form.sampleRate,
            channelLayout: form.channelLayout
        ) { plane, bytes in
            var sums = [Float](repeating: 0, count: range.count)
            for (input, volume) in zip(inputs, volumes) {
                for (place, sound) in input.sounds {
                    let part = (place..<place + Int64(sound.sampleCount)).clamped(to: range)
                    guard !part.isEmpty else { continue }
                    var from = Int(part.lowerBound - place)
                    var to = Int(part.lowerBound - range.lowerBound)
                    let runs =
                        volume?.volume.runs(over: part, rate: form.rate)
                        ?? [Ramp<Float>.Run(count: part.count, first: 1, step: 0)]
                    sound.withSamples(of: Float.self, plane: plane) { samples in
                        var sums = sums.mutableSpan
                        for run in runs where from + run.count <= samples.count {
                            SampleKernels.add(
                                samples.extracting(from..<from + run.count), gain: run.first, step: run.step,
                                to: &sums, at: to)
                            from += run.count
                            to += run.count
                        }
                    }
                }
            }
            SampleKernels.writeLimited(sums, into: &bytes)
        }
    }
}

extension AudioMix {
    /// The parameters of an output's track; `nil` if there are none.
    fileprivate func parameters(of output: TrackOutput) -> InputParameters? {
        inputParameters.last { $0.trackID == output.track.id }
    }
}

extension CompositionSound.Form {
    /// The description of audio in this format.
    var formatDescription: FormatDescription {
        FormatDescription(
            mediaType: .audio, codec: "pcm",
            audio: AudioFormat(
                sampleRate: sampleRate, channelLayout: channelLayout, sampleFormat: sampleFormat, isPlanar: isPlanar))
    }
}
