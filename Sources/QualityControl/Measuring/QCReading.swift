internal import AssetKit
internal import Inspection
internal import MediaAnalysis
internal import MediaBase
internal import SystemCalls
import Threading

/// Decodes all audio and video of a file once and measures it.
struct QCReading {
    let asset: Asset
    let request: QCRequest
    /// The number of decoding threads; 0 for one per core.
    let threads: Int

    /// Reads and measures the whole file.
    ///
    /// - Parameter progress: Called from time to time with the fraction done, 0…1, and the number of seconds processed.
    func measure(progress: ((Double, Double) -> Void)?) throws -> QCMeasurements {
        let tracks = try asset.loadNow(.tracks)
        let wanted = tracks.filter { track in
            switch track.mediaType {
            case .audio: request.needsSound
            case .video: request.needsPictures && !track.isAttachedPicture
            default: false
            }
        }
        let (pairs, notes) = pairs(in: wanted)
        if wanted.count == 1, wanted[0].mediaType == .audio, let plain = try RawPCMTrack(asset, track: wanted[0]),
            var result = try QCPlainReading(plain, wanted[0], self).measure(progress: progress)
        {
            result.notes = notes
            return result
        }
        var measurements = QCMeasurements(tracks: [], damage: DamageSummary(DamageReport()))
        var undecodable: [Int: MediaError] = [:]
        if !wanted.isEmpty { (measurements, undecodable) = try measure(wanted, pairs, progress: progress) }
        // Nothing was read if the file's header is cut off before it names a track.
        if wanted.isEmpty, request.checks.contains(.damage) { measurements.damage.truncated = try asset.isTruncated() }
        let empty = try emptyTracks(of: wanted, measurements.tracks, undecodable)
        measurements.emptyTracks = empty.isEmpty ? nil : empty.map(\.index)
        measurements.notes =
            notes
            + empty.map { track in
                guard let error = undecodable[track.index] else { return track.errorOfNothing.message }
                return "track \(track.index) (\(track.mediaType)) was not measured: \(error.message)"
            }
        return measurements
    }

    /// Returns the tracks of which nothing was decoded, except those that the container itself declares empty.
    private func emptyTracks(
        of wanted: [AssetTrack], _ measured: [QCMeasurements.Track], _ undecodable: [Int: MediaError]
    ) throws -> [AssetTrack] {
        let known = Set(measured.flatMap { [$0.trackIndex, $0.pairedTrackIndex].compactMap(\.self) })
        let isFragmented = try asset.loadNow(.container).isFragmented == true
        return wanted.filter {
            undecodable[$0.index] != nil
                || !known.contains($0.index) && !$0.isSaidToBeEmpty(inFragments: isFragmented)
        }
    }

    /// Returns the pairs of tracks in the file, and notes about the pairs that are not possible.
    private func pairs(in tracks: [AssetTrack]) -> (pairs: [(AssetTrack, AssetTrack)], notes: [String]) {
        var pairs: [(AssetTrack, AssetTrack)] = []
        var notes: [String] = []
        var taken: Set<Int> = []
        for pair in request.needsSound ? request.pairs : [] {
            guard let first = try? pair.first.track(of: .audio, in: tracks),
                let second = try? pair.second.track(of: .audio, in: tracks)
            else {
                notes.append("a pair of tracks that the policy names is not there")
                continue
            }
            let formats = [first, second].compactMap { $0.formatDescriptions.first?.audio }
            guard first.index != second.index, formats.count == 2, formats.allSatisfy({ $0.channels == 1 }),
                formats[0].sampleRate == formats[1].sampleRate, taken.isDisjoint(with: [first.index, second.index])
            else {
                notes.append(
                    "tracks \(first.index) and \(second.index) are not a pair: they must be two, of one channel each, at one "
                        + "rate, and in no other pair")
                continue
            }
            taken.formUnion([first.index, second.index])
            pairs.append((first, second))
        }
        return (pairs, notes)
    }

    /// Measures tracks, and returns the errors of those that cannot be decoded, by track index.
    ///
    /// - Throws: The first of those errors if nothing at all was measured.
    private func measure(
        _ tracks: [AssetTrack], _ pairs: [(AssetTrack, AssetTrack)], progress: ((Double, Double) -> Void)?
    ) throws(MediaError) -> (QCMeasurements, undecodable: [Int: MediaError]) {
        let reader = try AssetReader(asset: asset)
        reader.threadsPerOutput = threads
        reader.decodesSoundInSegments = tracks.allSatisfy { $0.mediaType == .audio }
        var outputs: [Int: TrackOutput] = [:]
        for track in tracks {
            let output =
                track.mediaType == .audio
                ? TrackOutput(track: track, audioSettings: AudioSettings())
                : TrackOutput(track: track, videoSettings: VideoSettings())
            output.passesOverUndecodable = true
            try reader.add(output)
            outputs[track.index] = output
        }
        var lanes: [any TrackMeasurer] = []
        for track in tracks {
            guard let output = outputs[track.index] else { continue }
            if let pair = pairs.first(where: { $0.0.index == track.index }), let second = outputs[pair.1.index] {
                lanes.append(QCPairLane(pair.0, pair.1, output, second, request))
            } else if track.mediaType == .video {
                lanes.append(QCPictureLane(track, output, request))
            } else if !pairs.contains(where: { $0.1.index == track.index }) {
                lanes.append(QCSoundLane(track, output, request))
            }
        }
        try reader.startReading()
        let end = tracks.map(\.timeRange.end).filter(\.isNumeric).map(\.seconds).max() ?? 0
        // Read the outputs in step, so that few packets queue up for the others.
        while let next = lanes.indices.filter({ !lanes[$0].isOver }).min(by: { lanes[$0].seconds < lanes[$1].seconds })
        {
            try lanes[next].step()
            progress?(end > 0 ? lanes[next].seconds / end : 0, lanes[next].seconds)
        }
        var measured: [QCMeasurements.Track] = []
        for index in lanes.indices {
            if let result = try lanes[index].finish() { measured.append(result) }
        }
        let undecodable = outputs.compactMapValues(\.undecodable)
        if measured.isEmpty, let first = undecodable.min(by: { $0.key < $1.key }) { throw first.value }
        return (QCMeasurements(tracks: measured, damage: DamageSummary(reader.damage)), undecodable)
    }

    /// Returns the form of a track's decoded audio.
    static func form(of sound: AudioBuffer, _ track: AssetTrack) -> QCSoundMeter.Form {
        let isFloating = sound.sampleFormat == .float32 || sound.sampleFormat == .float64
        let bits = track.formatDescriptions.first?.audio?.bitsPerSample
        return QCSoundMeter.Form(
            sampleRate: sound.sampleRate, layout: sound.channelLayout,
            significantBits: isFloating ? nil : bits ?? sound.sampleFormat.bytesPerSample * 8)
    }
}

/// Reads and measures one track, or several tracks that belong together.
protocol TrackMeasurer {
    /// The position reached, in seconds of the presentation.
    var seconds: Double { get }
    /// True if the end was reached.
    var isOver: Bool { get }
    /// Reads and measures the next part.
    mutating func step() throws(MediaError)
    /// Returns the measurements, or `nil` if nothing could be decoded.
    mutating func finish() throws(MediaError) -> QCMeasurements.Track?
}

/// Measures the video of a track.
struct QCPictureLane: TrackMeasurer {
    private(set) var seconds = 0.0
    private(set) var isOver = false
    private let track: AssetTrack
    private let output: TrackOutput
    private var meter: QCPictureMeter

    init(_ track: AssetTrack, _ output: TrackOutput, _ request: QCRequest) {
        self.track = track
        self.output = output
        meter = QCPictureMeter(request, timescale: max(1, track.naturalTimeScale))
    }

    mutating func step() throws(MediaError) {
        guard let sample = try output.nextSampleBuffer() else {
            isOver = true
            return
        }
        try meter.append(sample)
        if sample.presentationTime.isNumeric { seconds = sample.presentationTime.seconds }
    }

    mutating func finish() -> QCMeasurements.Track? { meter.finish(trackIndex: track.index) }
}

/// Measures the audio of a track.
struct QCSoundLane: TrackMeasurer {
    private(set) var seconds = 0.0
    private(set) var isOver = false
    private let track: AssetTrack
    private let request: QCRequest
    private var sound: ContinuousSound
    private var meter: QCSoundMeter?
    private var silence: Int64 = 0

    init(_ track: AssetTrack, _ output: TrackOutput, _ request: QCRequest) {
        self.track = track
        self.request = request
        sound = ContinuousSound(output)
    }

    mutating func step() throws(MediaError) {
        switch try sound.nextPiece() {
        case nil: isOver = true
        // The form is unknown before the first samples, and consecutive silences are measured as one.
        case .silence(let frames): silence += frames
        case .sound(let buffer): try append(buffer)
        }
    }

    private mutating func append(_ buffer: AudioBuffer) throws(MediaError) {
        let form = QCReading.form(of: buffer, track)
        var meter: QCSoundMeter
        if let begun = self.meter.take() { meter = begun } else { meter = try QCSoundMeter(form, request) }
        guard meter.form == form else {
            throw MediaError(
                .unsupported,
                "track \(track.index) changes from \(meter.form.layout) at \(meter.form.sampleRate) Hz to \(form.layout) at "
                    + "\(form.sampleRate) Hz; export it to one form first")
        }
        meter.appendSilence(frames: silence)
        silence = 0
        meter.append(buffer)
        seconds = Double(meter.frames) / Double(max(1, form.sampleRate))
        self.meter = meter
    }

    mutating func finish() -> QCMeasurements.Track? {
        meter?.finish(trackIndex: track.index, lateStart: sound.lateStart)
    }
}

/// Measures two mono tracks as the two channels of one stereo signal.
struct QCPairLane: TrackMeasurer {
    private(set) var seconds = 0.0
    private(set) var isOver = false
    private let tracks: (AssetTrack, AssetTrack)
    private let request: QCRequest
    private var readers: (SoundPlaneReader, SoundPlaneReader)
    private var meter: QCSoundMeter?

    /// The number of frames read at once.
    private static let block = 4096

    init(
        _ first: AssetTrack, _ second: AssetTrack, _ output: TrackOutput, _ other: TrackOutput, _ request: QCRequest
    ) {
        tracks = (first, second)
        self.request = request
        readers = (SoundPlaneReader(output), SoundPlaneReader(other))
    }

    mutating func step() throws(MediaError) {
        var (left, right) = (try readers.0.read(Self.block).first ?? [], try readers.1.read(Self.block).first ?? [])
        guard let rate = readers.0.sampleRate ?? readers.1.sampleRate, !left.isEmpty || !right.isEmpty else {
            isOver = true
            return
        }
        // Pad the shorter track with silence.
        let count = max(left.count, right.count)
        left += repeatElement(0, count: count - left.count)
        right += repeatElement(0, count: count - right.count)
        var meter: QCSoundMeter
        if let begun = self.meter.take() {
            meter = begun
        } else {
            let bits = tracks.0.formatDescriptions.first?.audio?.bitsPerSample
            let form = QCSoundMeter.Form(sampleRate: rate, layout: .stereo, significantBits: bits)
            meter = try QCSoundMeter(form, request)
        }
        meter.append([left, right])
        seconds = Double(meter.frames) / Double(max(1, rate))
        self.meter = meter
    }

    mutating func finish() -> QCMeasurements.Track? {
        var result = meter?.finish(
            trackIndex: tracks.0.index, lateStart: min(readers.0.lateStart, readers.1.lateStart))
        result?.pairedTrackIndex = tracks.1.index
        return result
    }
}

/// Measures linear PCM directly from the file in parallel, and decodes what follows those samples in the usual way.
struct QCPlainReading {
    private let sound: RawPCMTrack
    private let track: AssetTrack
    private let reading: QCReading

    /// The number of 10 ms steps that a worker takes at once, followed by the number of frames that it reads at once.
    private static let partSteps: Int64 = 3000
    private static let blockFrames = 1 << 15
    /// The maximum number of parts, regardless of the duration.
    private static let maximumParts: Int64 = 1 << 16

    init(_ sound: RawPCMTrack, _ track: AssetTrack, _ reading: QCReading) {
        self.sound = sound
        self.track = track
        self.reading = reading
    }

    /// Measures the whole track; returns `nil` if the samples are not the expected PCM.
    func measure(progress: ((Double, Double) -> Void)?) throws -> QCMeasurements? {
        let start = MediaTime(value: sound.frames, timescale: Int32(clamping: sound.sampleRate))
        let reader = try AssetReader(asset: reading.asset)
        reader.timeRange = MediaTimeRange(start: start, duration: .positiveInfinity)
        let output = TrackOutput(track: track, audioSettings: AudioSettings())
        try reader.add(output)
        try reader.startReading()
        var rest = ContinuousSound(output, from: start)
        // Compare the expected format with the decoder's output.
        guard case .sound(let first) = try rest.nextPiece(), first.sampleFormat == sound.sampleFormat,
            !first.isPlanar, first.sampleRate == sound.sampleRate, first.channelLayout.channels == sound.channels
        else { return nil }
        let form = QCReading.form(of: first, track)
        var meter = try measureParts(form, progress: progress)
        meter.append(first)
        while let piece = try rest.nextPiece() {
            switch piece {
            case .silence(let frames): meter.appendSilence(frames: frames)
            case .sound(let buffer):
                guard QCReading.form(of: buffer, track) == form else { return nil }
                meter.append(buffer)
            }
        }
        return QCMeasurements(tracks: [meter.finish(trackIndex: track.index)], damage: DamageSummary(reader.damage))
    }

    private func measureParts(
        _ form: QCSoundMeter.Form, progress: ((Double, Double) -> Void)?
    ) throws -> QCSoundMeter {
        var whole = try QCSoundMeter(form, reading.request)
        let steps = sound.frames / Int64(max(1, sound.sampleRate / LoudnessSteps.perSecond)) + 1
        // Parts consist of whole ten-second stretches, which some measurements evaluate as a unit.
        let stretch = Int64(FlatTopDetector.stretchSeconds * LoudnessSteps.perSecond)
        let length = max(Self.partSteps, (steps / Self.maximumParts / stretch + 1) * stretch)
        let starts = Array(stride(from: Int64(0), through: steps, by: Int64.Stride(length))).filter {
            LoudnessSteps.start(of: $0, sampleRate: sound.sampleRate) < sound.frames
        }
        let workers = reading.threads > 0 ? reading.threads : availableProcessors()
        let (request, rate, frames) = (reading.request, Double(max(1, sound.sampleRate)), Double(sound.frames))
        try concurrentForEach(starts, workers: workers) { [sound] step in
            try Self.measurePart(sound, form, request, from: step, steps: length)
        } deliver: { _, part in
            whole.append(part)
            progress?(Double(whole.frames) / frames, Double(whole.frames) / rate)
        }
        return whole
    }

    private static func measurePart(
        _ sound: RawPCMTrack, _ form: QCSoundMeter.Form, _ request: QCRequest, from step: Int64, steps: Int64
    ) throws -> QCSoundMeter {
        let rate = sound.sampleRate
        let start = LoudnessSteps.start(of: step, sampleRate: rate)
        let end = min(sound.frames, LoudnessSteps.start(of: step + steps, sampleRate: rate))
        var meter = try QCSoundMeter(form, request, startingAt: step)
        var reader = PlainSoundReader(sound, blockFrames: blockFrames)
        var place = max(0, start - Int64(KWeighting.memorySeconds * Double(rate)))
        while place < end {
            let limit = place < start ? start : end
            let count = Int(min(Int64(try reader.read(from: place)), limit - place))
            if place < start {
                meter.warmUp(reader.samples, frames: count)
            } else {
                meter.append(reader.samples, frames: count)
            }
            place += Int64(count)
        }
        meter.finishPart()
        return meter
    }
}
