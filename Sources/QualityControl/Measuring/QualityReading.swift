internal import AssetKit
package import Inspection
internal import MediaAnalysis
internal import MediaBase
internal import SystemCalls
import Threading

/// Decodes all audio and video of a file once and measures it.
struct QualityReading {
    let asset: Asset
    let request: MeasurementRequest
    /// The number of decoding threads; 0 for one per core.
    let threads: Int

    /// Reads and measures the whole file.
    ///
    /// - Parameter progress: Called from time to time with the fraction done, 0…1, and the number of seconds processed.
    func measure(progress: ((Double, Double) -> Void)?) throws -> Measurements {
        let tracks = try asset.loadNow(.tracks)
        let wanted = tracks.filter { track in
            switch track.mediaType {
            case .audio: request.needsSound
            case .video: request.needsPictures && !track.isAttachedPicture
            default: false
            }
        }
        let (pairs, notes) = pairs(in: wanted)
        var measurements = Measurements(tracks: [], damage: DamageSummary(DamageReport()))
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
        of wanted: [AssetTrack], _ measured: [Measurements.Track], _ undecodable: [Int: MediaError]
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
    ) throws(MediaError) -> (Measurements, undecodable: [Int: MediaError]) {
        let pass = Pass(asset, threads: threads)
        pass.passesOverUndecodable = true
        var meters: [any TrackMeasurer] = []
        for track in tracks {
            if let pair = pairs.first(where: { $0.0.index == track.index }) {
                meters.append(PairMeasurement(pair.0, pair.1, request, deadline: asset.deadline))
            } else if track.mediaType == .video {
                meters.append(VideoTrackMeasurement(track, request))
            } else if !pairs.contains(where: { $0.1.index == track.index }) {
                meters.append(AudioMeasurement<AudioQualityMeter>(track, request))
            }
        }
        for meter in meters { pass.join(meter) }
        try pass.run(progress: progress)
        var measured: [Measurements.Track] = []
        for meter in meters { if let result = try meter.finish() { measured.append(result) } }
        let undecodable = pass.undecodable
        if measured.isEmpty, let first = undecodable.min(by: { $0.key < $1.key }) { throw first.value }
        return (Measurements(tracks: measured, damage: DamageSummary(pass.damage)), undecodable)
    }
}

/// Measures one track, or several tracks that belong together.
protocol TrackMeasurer: PassConsumer {
    /// Returns the measurements, or `nil` if nothing could be decoded.
    func finish() throws(MediaError) -> Measurements.Track?
}

extension AudioMeasurement: TrackMeasurer where Meter == AudioQualityMeter {
    func finish() -> Measurements.Track? {
        guard var meter = takeMeter() else { return nil }
        return meter.finish(trackIndex: track.index, lateStart: lateStart)
    }
}

/// Measures the video of a track.
final class VideoTrackMeasurement: TrackMeasurer {
    private let track: AssetTrack
    private var meter: VideoMeter

    init(_ track: AssetTrack, _ request: MeasurementRequest) {
        self.track = track
        meter = VideoMeter(request, timescale: max(1, track.naturalTimeScale))
    }

    var inputs: [PassInput] { [PassInput(track, .video(VideoSettings()))] }

    func take(_ samples: DeliveredSamples<Never>, of track: AssetTrack) throws(MediaError) -> Bool {
        if case .samples(let sample) = samples { try meter.append(sample) }
        return true
    }

    func finish() -> Measurements.Track? { meter.finish(trackIndex: track.index) }
}

/// Measures two mono tracks as the two channels of one stereo signal.
final class PairMeasurement: TrackMeasurer {
    private let tracks: (first: AssetTrack, second: AssetTrack)
    private let request: MeasurementRequest
    private let deadline: ContinuousClock.Instant?
    private var audio = (first: PlanarAudio(), second: PlanarAudio())
    private var meter: AudioQualityMeter?

    /// The number of frames measured at once.
    private static let block = 4096

    init(_ first: AssetTrack, _ second: AssetTrack, _ request: MeasurementRequest, deadline: ContinuousClock.Instant?) {
        tracks = (first, second)
        self.request = request
        self.deadline = deadline
    }

    var inputs: [PassInput] { [tracks.first, tracks.second].map { PassInput($0, .audio(AudioSettings())) } }

    func take(_ samples: DeliveredSamples<Never>, of track: AssetTrack) throws(MediaError) -> Bool {
        guard case .samples(let sample) = samples else { return true }
        if track == tracks.first { try audio.first.append(sample) } else { try audio.second.append(sample) }
        while min(audio.first.count, audio.second.count) >= Self.block { try measure() }
        return true
    }

    /// Measures the next block of both; the shorter track is padded with silence.
    private func measure() throws(MediaError) {
        // A late start may last for days.
        if let late = MediaLimits.error(after: deadline) { throw late }
        var (left, right) = (audio.first.take(Self.block).first ?? [], audio.second.take(Self.block).first ?? [])
        guard let rate = audio.first.sampleRate ?? audio.second.sampleRate else { return }
        let count = max(left.count, right.count)
        left += repeatElement(0, count: count - left.count)
        right += repeatElement(0, count: count - right.count)
        if meter == nil {
            let form = AudioTrackForm(
                sampleRate: rate, channelLayout: .stereo, sampleFormat: nil, statedBits: tracks.first.statedSampleBits)
            meter = try AudioQualityMeter(request, form, startingAt: 0, of: 0)
        }
        meter?.append([left, right])
    }

    func finish() throws(MediaError) -> Measurements.Track? {
        while max(audio.first.count, audio.second.count) > 0 { try measure() }
        guard var meter = meter.take() else { return nil }
        var result = meter.finish(
            trackIndex: tracks.first.index, lateStart: min(audio.first.lateStart, audio.second.lateStart))
        result.pairedTrackIndex = tracks.second.index
        return result
    }
}

/// The measurements to take: the checks, and each set of parameters of those that find runs.
package struct MeasurementRequest: Sendable, Hashable {
    /// The checks that find runs, with their parameters, unique and in the order of the requests.
    package private(set) var runs: [Run] = []
    /// True if audio must be decoded.
    package private(set) var needsSound = false
    /// True if video must be decoded.
    package private(set) var needsPictures = false
    /// True if all packets must be read, for the `scan` part of the probe report.
    package var needsScan = false
    /// The requested checks.
    package private(set) var checks: Set<Check> = []
    /// Pairs of mono tracks that are measured as one stereo track.
    package var pairs: [TrackPair] = []
    /// True if an outline of the audio is collected, for a drawing.
    package var drawsSound = false
    private var known: Set<Run> = []

    /// A check that finds runs, with its parameters.
    package struct Run: Sendable, Hashable {
        /// The check.
        package let check: Check
        /// The parameters of the check.
        package let parameters: RunParameters
    }

    /// Makes an empty request.
    package init() {}

    /// Adds a check.
    ///
    /// - Parameter parameters: The parameters of a check that finds runs; `nil` for its defaults.
    package mutating func add(_ check: Check, _ parameters: RunParameters? = nil) {
        checks.insert(check)
        switch check.subject {
        case .referenceAudio, .referenceVideo: break
        case .audio: needsSound = true
        case .video: needsPictures = true
        case .file: (needsSound, needsPictures) = (true, true)
        }
        guard let standard = check.run else { return }
        let run = Run(check: check, parameters: parameters ?? standard)
        if known.insert(run).inserted { runs.append(run) }
    }

    /// The requested checks, in the registry's order.
    var orderedChecks: [Check] {
        CheckRegistry.ids.compactMap { id in checks.first { $0.id == id } }
    }

    func parameters(of check: Check) -> [RunParameters] {
        runs.filter { $0.check == check }.map(\.parameters)
    }
}

/// Two mono tracks that hold the first and the second channel of one stereo signal.
package struct TrackPair: Sendable, Hashable {
    /// The selectors of the tracks.
    package let first, second: TrackSelector
}

/// Measures the video of one track, frame by frame in presentation order.
///
/// Times are counted in ticks of the track's time scale. The duration of a frame is known once the next one arrives.
struct VideoMeter {
    private let timescale: Int32
    private var measurements: [any VideoMeasurement] = []
    private var first: Int64?
    private var pending: (start: Int64, end: Int64)?
    private var previous: PixelBuffer?
    private var count: Int64 = 0
    private var size: Dimensions?
    private var lastSize: Dimensions?
    private var sizeChanges: Int64 = 0

    init(_ request: MeasurementRequest, timescale: Int32) {
        self.timescale = timescale
        var known: Set<String> = []
        for check in request.orderedChecks {
            guard let measurer = check.measurement, known.insert(measurer.sharedName ?? check.id).inserted else {
                continue
            }
            let parameters = request.parameters(of: check)
            measurements.append(
                measurer.make(.init(check: check.id, parameters: parameters, timescale: timescale)))
        }
    }

    /// Measures the next frame; samples without a decoded frame are ignored.
    mutating func append(_ sample: SampleBuffer) throws(MediaError) {
        guard let pixels = sample.pixelBuffer,
            let start = sample.presentationTime.sampleIndex(rate: timescale, rounding: .halfAwayFromZero)
        else { return }
        let end = sample.timeRange.end.sampleIndex(rate: timescale, rounding: .halfAwayFromZero) ?? start
        countPending(until: start)
        let frame = try VideoFrame(pixels, start: start, previous: previous)
        for index in measurements.indices { measurements[index].measure(frame) }
        previous = frame.pixels
        if let lastSize, lastSize != pixels.dimensions { sizeChanges += 1 }
        lastSize = pixels.dimensions
        size = size ?? lastSize
        if first == nil { first = start }
        count += 1
        pending = (start, max(start, end))
    }

    private mutating func countPending(until end: Int64) {
        guard let start = pending?.start else { return }
        let ticks = max(0, end.subtractingReportingOverflow(start).partialValue)
        for index in measurements.indices { measurements[index].count(ticks: ticks, from: start) }
    }

    /// Finishes the track; returns `nil` if there were no frames.
    mutating func finish(trackIndex: Int) -> Measurements.Track? {
        guard let first, let pending else { return nil }
        countPending(until: pending.end)
        let clock = VideoClock(timescale: timescale, first: first)
        var track = Measurements.Track(trackIndex: trackIndex, runs: [])
        track.pictures = Measurements.Pictures(
            count: count, start: clock.time(first), lastStart: clock.time(pending.start), end: clock.time(pending.end),
            size: size, sizeChanges: sizeChanges)
        for index in measurements.indices { measurements[index].finish(&track, clock) }
        return track
    }
}
