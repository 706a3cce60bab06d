internal import AssetKit
internal import MediaBase
internal import Threading

/// Compares a finished file with the record of what was written to it, and a proxy with its source as well.
///
/// The comparisons with the source are in an extension, in `ProxyChecks.swift`.
struct TranscodeChecks {
    /// The results so far.
    private(set) var checks: [TranscodeReport.Check] = []
    /// The plan of the file.
    let plan: TranscodePlan
    /// The finished file.
    let made: Asset
    /// The finished file's video and audio tracks.
    let found: [AssetTrack]
    /// The tracks that have anything in the range, in the order of the file; video and audio only.
    let written: [Written]
    /// The source's tracks that have nothing in the range; empty for a timeline.
    let unwritten: [AssetTrack]

    /// A track with anything in the range.
    struct Written {
        /// The input of the writer, with the settings that were used.
        let input: AssetWriterInput
        /// The source track; the first one if several are composited or mixed.
        let source: AssetTrack
        /// The record of the samples that were read.
        let seen: TranscodeRecord.Track

        /// True if samples were copied.
        var isStored: Bool { input.settings == .stored }
    }

    /// - Parameters:
    ///   - record: The record of the samples that were read.
    ///   - inputs: The writer's inputs, in the order of the plan's tracks.
    ///   - made: The finished file.
    /// - Throws: The errors of reading the header.
    init(
        _ plan: TranscodePlan, _ record: TranscodeRecord, inputs: [AssetWriterInput], made: Asset
    ) throws(MediaError) {
        self.plan = plan
        self.made = made
        found = try made.loadNow(.tracks).filter {
            [.video, .audio].contains($0.mediaType) && !$0.isAttachedPicture
        }
        written = zip(plan.tracks, inputs).enumerated().compactMap { number, pair in
            guard [.video, .audio].contains(pair.1.mediaType), let source = pair.0.sources.first,
                let seen = record[number], seen.shown > 0
            else { return nil }
            return Written(input: pair.1, source: source, seen: seen)
        }
        let missing = plan.tracks.indices.filter { !record.isShown($0) }
        unwritten = plan.timeline == nil ? missing.flatMap { plan.tracks[$0].sources } : []
    }

    /// The names of descriptive checks; a file that fails only these is still usable.
    private static let descriptions: Set<String> = [
        "channelLayout", "color", "hdr", "language", "name", "dates", "metadata", "chapters",
    ]

    /// The error if the file is not usable; `nil` otherwise.
    var failure: MediaError? {
        let failed = checks.filter { !$0.passed && !Self.descriptions.contains($0.name) }.map(\.failure)
        guard let first = failed.first else { return nil }
        let what = plan.request.isProxy ? "the proxy" : "the file"
        var error = MediaError(.verificationFailed, "\(what) was not kept, because \(first.text)")
        // The JSON of an export has no list of checks.
        if plan.request.isProxy { error.failedChecks = failed }
        return error
    }

    /// The failed checks that leave the file usable.
    var differences: [MediaError.FailedCheck] {
        checks.filter { !$0.passed && Self.descriptions.contains($0.name) }.map(\.failure)
    }

    /// Adds a check that two values are equal.
    mutating func compare<Value: Equatable>(
        _ name: String, _ wanted: Value, _ found: Value, of track: AssetTrack? = nil, text: (Value) -> String
    ) {
        record(name, wanted == found, text(wanted), text(found), of: track)
    }

    /// Adds the result of a check.
    mutating func record(_ name: String, _ passed: Bool, _ wanted: String, _ found: String, of track: AssetTrack?) {
        checks.append(
            TranscodeReport.Check(name: name, trackIndex: track?.index, passed: passed, wanted: wanted, found: found))
    }

    /// Runs all checks that apply to the file.
    ///
    /// - Parameter expected: The descriptions that the writer was given.
    /// - Throws: ``failure``; `damaged` if nothing at all could be decoded.
    mutating func run(_ expected: Descriptions) throws(MediaError) {
        let isMissing = plan.request.isProxy ? !written.contains { $0.input.mediaType == .video } : written.isEmpty
        guard !isMissing else { throw nothingDecoded }
        compare("tracks", written.map(\.input.mediaType), found.map(\.mediaType)) {
            $0.map(\.rawValue).joined(separator: " ")
        }
        if let failure { throw failure }
        if plan.request.isProxy {
            try compareWithSource(expected)
        } else {
            for (item, track) in zip(written, found) where !item.isStored && track.mediaType == .video {
                guard let count = track.sampleCount else { continue }
                compare("frameCount", Int64(item.seen.shown), count, of: item.source) { "\($0)" }
            }
        }
        if let failure { throw failure }
    }

    /// The error if nothing could be decoded.
    private var nothingDecoded: MediaError {
        guard plan.request.isProxy else { return MediaError(.damaged, "there is nothing to be decoded in this range") }
        return MediaError(
            .damaged,
            plan.requested == nil ? "not one picture can be decoded" : "no picture can be decoded in this range")
    }

    /// The descriptions of a file that its writer was given.
    struct Descriptions {
        /// The timecode of the first frame; `nil` if there is none.
        var startTimecode: String?
        /// The metadata of the file as a whole.
        var metadata: [MetadataItem] = []
        /// The chapters.
        var chapters: [Chapter] = []
    }
}

/// Records what is written to each track, to verify the finished file.
///
/// Each track reports on its own thread. Times are on the source's time line.
final class TranscodeRecord: Sendable {
    private let state = Mutex<[Int: Track]>([:])
    private let range: MediaTimeRange
    private let keepsTimes: Bool

    /// A summary of the buffers of one track.
    struct Track: Sendable {
        /// The presentation time of each video frame, if they are kept; empty for audio.
        var times: [MediaTime] = []
        /// The number of buffers shown within the range.
        var shown = 0
        /// The start time of the first buffer that is not marked as hidden; +∞ if there is none.
        var start = MediaTime.positiveInfinity
        /// The end time of the last buffer that is not marked as hidden.
        var end = MediaTime.negativeInfinity
        /// The start time of the first buffer, including hidden ones.
        var earliest = MediaTime.positiveInfinity
        /// The start time of the first shown buffer that starts in the range.
        var firstInside = MediaTime.positiveInfinity
        /// The end time of that buffer.
        var firstInsideEnd = MediaTime.positiveInfinity
        /// The sample rate of decoded audio in Hz; 0 for other tracks.
        var sampleRate = 0
        /// The channel layout of decoded audio.
        var channelLayout: ChannelLayout?
    }

    /// Creates an empty record.
    ///
    /// - Parameters:
    ///   - range: The part of the source that is shown.
    ///   - keepsTimes: True to keep the time of each video frame.
    init(range: MediaTimeRange, keepsTimes: Bool = false) {
        self.range = range
        self.keepsTimes = keepsTimes
    }

    /// Records a buffer of the track at an index of the output.
    func add(_ buffer: SampleBuffer, to track: Int) {
        let time = buffer.presentationTime
        guard time.isNumeric else { return }
        state.withLock { state in
            state[track, default: Track()].add(buffer, at: time, in: range, keepsTimes: keepsTimes)
        }
    }

    /// Returns the summary of the track at an index; `nil` if it received no buffers.
    subscript(track: Int) -> Track? { state.withLock { $0[track] } }

    /// Returns true if something of the track is shown within the range.
    func isShown(_ track: Int) -> Bool { (self[track]?.shown ?? 0) > 0 }
}

extension TranscodeRecord.Track {
    fileprivate mutating func add(
        _ buffer: SampleBuffer, at time: MediaTime, in range: MediaTimeRange, keepsTimes: Bool
    ) {
        earliest = min(earliest, time)
        guard !buffer.attachments.contains(.isNotShown) else { return }
        start = min(start, time)
        if buffer.duration.isNumeric { end = max(end, time + buffer.duration) }
        if keepsTimes { times.append(time) }
        if let sound = buffer.audioBuffer, sampleRate == 0 {
            (sampleRate, channelLayout) = (sound.sampleRate, sound.channelLayout)
        }
        let ending = buffer.duration.isNumeric ? time + buffer.duration : time
        guard time < range.end, time >= range.start || ending > range.start else { return }
        shown += 1
        if time >= range.start, time < firstInside { (firstInside, firstInsideEnd) = (time, ending) }
    }
}
