import Bitstreams
import LibAV
import MediaBase

/// Delivers the stored samples of a composition's segments in sequence, unchanged except for their times.
///
/// The output can be decoded as one stream; otherwise an error names the segment. All segments must have the same
/// coding and normal speed, and each must be decodable without the samples that its neighbours omit. Only the first
/// segment may start between sync samples, and only the last may end before a frame that it needs. Those additional
/// samples are delivered too, marked as not shown.
final class CompositionStored: SamplePipeline {
    private let start: CompositionStart
    private let track: Composition.Track
    private let index: Int
    private let range: OutputRange
    private var clips: ArraySlice<Composition.Segment>
    private var clip: (any StoredClip)?
    private var isAtFirst = true
    /// The decode time of the last sample.
    private var lastDecode: MediaTime?
    /// The smallest step between the times of two samples.
    private let tick: MediaTime

    /// - Throws: `unsupported` for segments with another coding or speed, and for gaps after video.
    init(
        _ start: CompositionStart, _ track: Composition.Track, index: Int, timescale: Int32, range: OutputRange
    ) throws(MediaError) {
        self.start = start
        self.track = track
        self.index = index
        self.range = range
        tick = MediaTime(value: 1, timescale: max(1, timescale))
        clips = range.isEmpty ? [] : track.clips(in: range)[...]
        while clips.last?.isEmpty == true { clips.removeLast() }
        let media = clips.filter { !$0.isEmpty }
        guard let first = media.first else { return }
        for clip in clips {
            if let reason = clip.reasonAgainstStoring(after: first) { throw track.failure(of: clip, reason) }
            if let reason = clip.source?.track.reasonAgainstCopying {
                throw track.failure(of: clip, "its source's track is \(reason)")
            }
            if clip.isEmpty, track.mediaType == .video, clip.start > first.start {
                throw track.failure(
                    of: clip, "it is a gap, in which the stored picture before it would stay; encode, or close the gap")
            }
        }
    }

    /// Returns the next sample, in decode order.
    func next(from packets: PacketQueue) throws(MediaError) -> SampleBuffer? {
        while let segment = clips.first {
            guard let source = segment.source else {
                clips.removeFirst()
                isAtFirst = false
                continue
            }
            if clip == nil { clip = try open(segment, source) }
            if let buffer = try clip?.next() { return try inOrder(buffer, of: segment) }
            clip = nil
            clips.removeFirst()
            isAtFirst = false
        }
        return nil
    }

    private func open(
        _ segment: Composition.Segment, _ source: Composition.Source
    ) throws(MediaError) -> any StoredClip {
        let request = StoredClipRequest(
            segment: segment, source: source,
            shown: max(range.start, segment.start)...min(range.end ?? segment.end, segment.end),
            beginsAnywhere: isAtFirst && segment.start <= range.start, endsAnywhere: clips.count == 1, track: track,
            start: start, trackIndex: index)
        if track.mediaType == .video { return try StoredPictures(request) }
        switch track.mediaType {
        case .subtitle, .data: return try StoredSparse(request)
        case .timecode: return try StoredTimecode(request)
        default: break
        }
        if let form = PCMForm(source.track.formatDescriptions.first) { return try StoredPCM(request, form) }
        return try StoredSound(request)
    }

    /// Makes decode times rise from sample to sample, even if a segment's decode times start before the segment.
    private func inOrder(_ buffer: SampleBuffer, of segment: Composition.Segment) throws(MediaError) -> SampleBuffer {
        guard let decode = buffer.decodeTime else { return buffer }
        defer { lastDecode = max(lastDecode ?? decode, decode) }
        guard let last = lastDecode, decode <= last else { return buffer }
        let moved = last + tick
        guard !buffer.presentationTime.isNumeric || moved <= buffer.presentationTime else {
            throw track.failure(
                of: segment, "its samples would have to be decoded before those of the segment before it")
        }
        lastDecode = moved
        return SampleBuffer(buffer, decodeTime: moved)
    }
}

/// The part of a segment's stored samples to read.
struct StoredClipRequest {
    let segment: Composition.Segment
    let source: Composition.Source
    /// The composition times between which samples are shown.
    let shown: ClosedRange<MediaTime>
    /// True if earlier samples, which are not shown, may be included.
    let beginsAnywhere: Bool
    /// True if later samples may be included, and the last shown sample may be cut.
    let endsAnywhere: Bool
    let track: Composition.Track
    let start: CompositionStart
    let trackIndex: Int

    /// The source times between which samples are shown.
    var from: MediaTime { segment.sourceTime(at: shown.lowerBound) }
    var to: MediaTime { segment.sourceTime(at: shown.upperBound) }

    /// The source's format, which was checked when the output started.
    var format: FormatDescription? { source.track.formatDescriptions.first }

    /// Opens stored samples of the source for reading.
    func open(from: MediaTime, to: MediaTime) throws(MediaError) -> ClipReader {
        try ClipReader(
            source, of: segment, range: MediaTimeRange(start: max(from, .zero), end: to), settings: .stored, for: start,
            trackIndex: trackIndex)
    }

    /// Returns the error for a segment that cannot be delivered as stored.
    func failure(_ reason: String) -> MediaError { track.failure(of: segment, reason) }
}

/// The stored samples of one segment, at the composition's times.
protocol StoredClip: AnyObject {
    /// Returns the next sample, in decode order; `nil` at the end.
    func next() throws(MediaError) -> SampleBuffer?
}

extension Composition.Track {
    /// Returns the error for a segment whose samples cannot be delivered as stored.
    func failure(of segment: Composition.Segment, _ reason: String) -> MediaError {
        let number = (segments.firstIndex { $0.end > segment.start } ?? 0) + 1
        return MediaError(
            .unsupported,
            "segment \(number) of track \(id), at \(segment.start.seconds) s, cannot be taken as it is stored: \(reason)",
            path: segment.source?.asset.displayName)
    }
}

extension Composition.Segment {
    /// Returns the reason why the segment cannot be stored in one track with another; `nil` if it can.
    fileprivate func reasonAgainstStoring(after first: Composition.Segment) -> String? {
        guard let source, let other = first.source else { return nil }
        if stretch != nil, ![.subtitle, .data].contains(source.track.mediaType) {
            return "it plays at \(speed.doubleValue) times its speed"
        }
        guard let format = source.track.formatDescriptions.first, let known = other.track.formatDescriptions.first
        else {
            return "nothing is known of how it is coded"
        }
        guard source.track != other.track || source.asset !== other.asset else { return nil }
        if source.track.preferredTransform != other.track.preferredTransform { return "it is turned differently" }
        return format.difference(from: known)
    }
}

extension FormatDescription {
    /// Returns the difference in coding from another format, in words; `nil` if one decoder accepts both.
    fileprivate func difference(from other: FormatDescription) -> String? {
        if codec != other.codec { return "it is coded as \(codec), what comes before as \(other.codec)" }
        if mediaType == .data, codecTag != other.codecTag { return "its samples are of another kind" }
        if let mine = video, let theirs = other.video {
            if mine.encodedSize != theirs.encodedSize {
                return "its pictures are \(mine.encodedSize), those before \(theirs.encodedSize)"
            }
            if mine.sampleAspectRatio != theirs.sampleAspectRatio { return "its pixels have another shape" }
            if mine.pixelFormat != theirs.pixelFormat || mine.bitDepth != theirs.bitDepth {
                return "its pixels have another format"
            }
            if mine.color != theirs.color { return "its colours are coded differently" }
            if mine.fieldOrder != theirs.fieldOrder { return "its fields are in another order" }
        }
        if let mine = audio, let theirs = other.audio {
            if mine.sampleRate != theirs.sampleRate {
                return "its sound has \(mine.sampleRate) samples a second, what comes before \(theirs.sampleRate)"
            }
            if mine.channelLayout != theirs.channelLayout { return "its sound has other channels" }
            if mine.bitsPerSample != theirs.bitsPerSample || mine.sampleFormat != theirs.sampleFormat {
                return "its samples have another format"
            }
        }
        if extradata != other.extradata { return "its encoder was set differently, so its header is another one" }
        return nil
    }
}

/// Reads the stored video samples of one segment.
final class StoredPictures: StoredClip {
    private let request: StoredClipRequest
    private let reader: ClipReader
    private let (from, to): (MediaTime, MediaTime)
    /// The tolerance for times, if the source's clock cannot represent its frame times exactly.
    private let slack: MediaTime
    private var hasBegun = false
    /// Frames after the end, which are needed only if a later sample is shown before the end.
    private var late: [SampleBuffer] = []
    private var ready: ArraySlice<SampleBuffer> = []
    private var isAtEnd = false
    private var knowsDecodeTimes = false

    /// H.264 and HEVC reorder at most 16 frames.
    private static let maximumHeldBack = 17

    init(_ request: StoredClipRequest) throws(MediaError) {
        self.request = request
        (from, to) = (request.from, request.to)
        let track = request.source.track
        slack = track.clockSlack
        let frame = track.pictureRate?.inverse.map { MediaTime($0) } ?? MediaTime(value: 1, timescale: 24)
        reader = try request.open(from: from, to: to + frame * Self.maximumHeldBack)
    }

    func next() throws(MediaError) -> SampleBuffer? {
        while true {
            if knowsDecodeTimes || isAtEnd, let buffer = ready.popFirst() { return buffer }
            guard !isAtEnd else { return nil }
            guard let buffer = try reader.next() else {
                isAtEnd = true
                continue
            }
            try take(buffer)
            settleDecodeTimes()
        }
    }

    private func take(_ buffer: SampleBuffer) throws(MediaError) {
        let begins = buffer.presentationTime.isNumeric ? buffer.presentationTime : buffer.decodeTime ?? .indefinite
        guard begins.isNumeric else { throw request.failure("its file does not say when pictures are shown") }
        let ends = begins + buffer.duration
        if begins >= to - slack {
            if hasBegun || request.beginsAnywhere { late.append(buffer) }
            return
        }
        if !hasBegun, !request.beginsAnywhere {
            if begins < from, ends <= from + slack { return }
            try checkStart(buffer, at: begins)
        }
        hasBegun = true
        for needed in late {
            guard request.endsAnywhere else {
                throw request.failure(
                    "its last pictures need one that is shown behind its end, at \(needed.presentationTime.seconds) s of "
                        + "its source; end it where no later one is needed")
            }
            ready.append(placed(needed, isShown: false))
        }
        late = []
        // Frames that are not shown are needed for decoding others; no other frame depends on samples before the start.
        if begins < from, ends <= from + slack {
            if request.beginsAnywhere { ready.append(placed(buffer, isShown: false)) }
        } else {
            ready.append(placed(buffer, isShown: true))
        }
    }

    /// Throws if a decoder could not start with the segment's first frame.
    private func checkStart(_ buffer: SampleBuffer, at begins: MediaTime) throws(MediaError) {
        guard buffer.isSync, begins <= from + slack else {
            var near = ""
            let asset = request.source.asset
            if let samples = try? KeyframeIndex(asset, track: request.source.track, asset.contents()).around(from) {
                near = samples.map(\.time).sorted().map { "\($0.seconds) s" }.joined(separator: " and ")
            }
            throw request.failure(
                "it begins at \(from.seconds) s of its source, between sync samples"
                    + (near.isEmpty ? "" : "; the nearest are at \(near)"))
        }
        guard buffer.storedSample?.needsNothingBefore(request.format) != false else {
            throw request.failure(
                "it begins with a picture after which others need pictures from before it (an open GOP)")
        }
    }

    /// Returns the sample with the composition's times.
    private func placed(_ buffer: SampleBuffer, isShown: Bool) -> SampleBuffer {
        let segment = request.segment
        let begins = buffer.presentationTime.isNumeric ? buffer.presentationTime : buffer.decodeTime ?? .zero
        var time = segment.time(ofSource: begins)
        var end = segment.time(ofSource: begins + buffer.duration)
        if isShown {
            // The frame on screen at the segment's start starts with the segment; the last one ends with it.
            time = max(time, segment.start)
            if end > request.shown.upperBound - slack { end = request.shown.upperBound }
        }
        return SampleBuffer(
            buffer, ofTrack: request.trackIndex, presentationTime: time,
            decodeTime: buffer.decodeTime.map(segment.time(ofSource:)), duration: max(.zero, end - time),
            isShown: isShown)
    }

    /// Derives missing decode times of the first samples, one frame apart, because Matroska stores none.
    private func settleDecodeTimes() {
        guard !knowsDecodeTimes else { return }
        let known = ready.firstIndex { $0.decodeTime != nil }
        guard known != nil || ready.count > Self.maximumHeldBack else { return }
        knowsDecodeTimes = true
        guard let known, let time = ready[known].decodeTime else { return }
        for index in ready.startIndex..<known {
            let buffer = ready[index]
            ready[index] = SampleBuffer(buffer, decodeTime: time - buffer.duration * (known - index))
        }
    }
}

extension CompressedSample {
    /// Returns true if all later frames can be decoded without earlier ones; `nil` for codecs that are not checked.
    fileprivate func needsNothingBefore(_ format: FormatDescription?) -> Bool? {
        guard let format, ["h264", "hevc"].contains(format.codec) else { return nil }
        let isHEVC = format.codec == "hevc"
        let bytes = packet.prefix(packet.size)
        let units =
            ParameterSets(format.extradata, isHEVC: isHEVC).lengthSize.map { NALUnits.inSample(bytes, lengthSize: $0) }
            ?? NALUnits.inByteStream(bytes)
        // ITU-T H.264, table 7-1: IDR pictures. ITU-T H.265, table 7-1: BLA and IDR pictures.
        return units.contains { unit in
            guard let first = unit.first else { return false }
            return isHEVC ? (16...20).contains(first >> 1 & 0x3F) : first & 0x1F == 5
        }
    }
}

extension AssetTrack {
    /// The tolerance for frame times: one tick if the frame duration is not a whole number of ticks, otherwise zero.
    fileprivate var clockSlack: MediaTime {
        guard naturalTimeScale > 0, let frame = pictureRate?.inverse,
            let ticks = frame.multiplied(by: Rational(Int64(naturalTimeScale))), ticks.den != 1, ticks > Rational(2)
        else { return .zero }
        return MediaTime(value: 1, timescale: naturalTimeScale)
    }
}
