import Bitstreams
import LibAV
import MediaBase

/// The stored samples of a composition's track: those of its segments one after the other, untouched but for their times.
///
/// What comes out can be decoded as one stream, or it is an error that names the segment: all segments are coded alike and
/// play as they are, and each can be decoded without what its neighbours leave out. Only the first may begin between sync
/// samples, and only the last may end before a picture that it needs: those samples come too, marked as not shown.
final class CompositionStored: SamplePipeline {
    private let start: CompositionStart
    private let track: Composition.Track
    private let index: Int
    private let range: OutputRange
    private var clips: ArraySlice<Composition.Segment>
    private var clip: (any StoredClip)?
    private var isAtFirst = true
    /// When the last sample is decoded.
    private var lastDecode: MediaTime?
    /// The smallest step between the times of two samples.
    private let tick: MediaTime

    /// - Throws: `unsupported` for segments that are coded differently or not played as they are, and for gaps behind pictures.
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

    /// The next sample, in decode order.
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
        if let form = PCMForm(source.track.formatDescriptions.first) { return try StoredPCM(request, form) }
        return try StoredSound(request)
    }

    /// Decode times rise from sample to sample, also where a segment's reach back to before its start.
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

/// What of a segment's stored samples is wanted.
struct StoredClipRequest {
    let segment: Composition.Segment
    let source: Composition.Source
    /// The composition's moments between which samples are shown.
    let shown: ClosedRange<MediaTime>
    /// Whether samples from before may come, which are not shown.
    let beginsAnywhere: Bool
    /// Whether samples from behind may come, and the last one may be cut.
    let endsAnywhere: Bool
    let track: Composition.Track
    let start: CompositionStart
    let trackIndex: Int

    /// The source's moments between which samples are shown.
    var from: MediaTime { segment.sourceTime(at: shown.lowerBound) }
    var to: MediaTime { segment.sourceTime(at: shown.upperBound) }

    /// The source's format, which was looked at when the output began.
    var format: FormatDescription? { source.track.formatDescriptions.first }

    /// Reads stored samples of the source.
    func open(from: MediaTime, to: MediaTime) throws(MediaError) -> ClipReader {
        try ClipReader(
            source, of: segment, range: MediaTimeRange(start: max(from, .zero), end: to), settings: .stored, for: start,
            trackIndex: trackIndex)
    }

    /// The error that says why it cannot be had.
    func failure(_ reason: String) -> MediaError { track.failure(of: segment, reason) }
}

/// The stored samples of one segment, at the composition's times.
protocol StoredClip: AnyObject {
    /// The next one, in decode order; `nil` at the end.
    func next() throws(MediaError) -> SampleBuffer?
}

extension Composition.Track {
    /// The error that a segment's samples cannot be had as they are stored.
    func failure(of segment: Composition.Segment, _ reason: String) -> MediaError {
        let number = (segments.firstIndex { $0.end > segment.start } ?? 0) + 1
        return MediaError(
            .unsupported,
            "segment \(number) of track \(id), at \(segment.start.seconds) s, cannot be taken as it is stored: \(reason)",
            path: segment.source?.asset.displayName)
    }
}

extension Composition.Segment {
    /// Why it cannot be stored in one track with another one; `nil` where it can.
    fileprivate func reasonAgainstStoring(after first: Composition.Segment) -> String? {
        guard let source, let other = first.source else { return nil }
        if stretch != nil { return "it plays at \(speed.doubleValue) times its speed" }
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
    /// In what samples are coded differently, in words; `nil` where one decoder takes both.
    fileprivate func difference(from other: FormatDescription) -> String? {
        if codec != other.codec { return "it is coded as \(codec), what comes before as \(other.codec)" }
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

/// The stored pictures of one segment.
final class StoredPictures: StoredClip {
    private let request: StoredClipRequest
    private let reader: ClipReader
    private let (from, to): (MediaTime, MediaTime)
    /// How far a time may be off because the source's clock cannot hold its pictures' times.
    private let slack: MediaTime
    private var hasBegun = false
    /// Pictures from behind the end, which are wanted only where a later one is shown before it.
    private var behind: [SampleBuffer] = []
    private var ready: ArraySlice<SampleBuffer> = []
    private var isAtEnd = false
    private var knowsDecodeTimes = false

    /// H.264 and HEVC hold back 16 pictures at most.
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
            if hasBegun || request.beginsAnywhere { behind.append(buffer) }
            return
        }
        if !hasBegun, !request.beginsAnywhere {
            if begins < from, ends <= from + slack { return }
            try checkStart(buffer, at: begins)
        }
        hasBegun = true
        for needed in behind {
            guard request.endsAnywhere else {
                throw request.failure(
                    "its last pictures need one that is shown behind its end, at \(needed.presentationTime.seconds) s of "
                        + "its source; end it where no later one is needed")
            }
            ready.append(placed(needed, isShown: false))
        }
        behind = []
        // What is not shown is decoded for the sake of others; of the rest, none needs what came before the start.
        if begins < from, ends <= from + slack {
            if request.beginsAnywhere { ready.append(placed(buffer, isShown: false)) }
        } else {
            ready.append(placed(buffer, isShown: true))
        }
    }

    /// Throws where a decoder could not begin with the segment's first picture.
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

    /// The picture at the composition's times.
    private func placed(_ buffer: SampleBuffer, isShown: Bool) -> SampleBuffer {
        let segment = request.segment
        let begins = buffer.presentationTime.isNumeric ? buffer.presentationTime : buffer.decodeTime ?? .zero
        var time = segment.time(ofSource: begins)
        var end = segment.time(ofSource: begins + buffer.duration)
        if isShown {
            // The picture that is on screen when the segment begins, begins with it; the last one ends with it.
            time = max(time, segment.start)
            if end > request.shown.upperBound - slack { end = request.shown.upperBound }
        }
        return SampleBuffer(
            buffer, ofTrack: request.trackIndex, presentationTime: time,
            decodeTime: buffer.decodeTime.map(segment.time(ofSource:)), duration: max(.zero, end - time),
            isShown: isShown)
    }

    /// Gives the first samples decode times, a frame earlier each than the first that has one: Matroska keeps none.
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
    /// Whether all pictures behind it can be decoded without what came before it; `nil` where that is not told here.
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
    /// How far the time of a picture may be off: a tick where frames are not a whole number of them, else nothing.
    fileprivate var clockSlack: MediaTime {
        guard naturalTimeScale > 0, let frame = pictureRate?.inverse,
            let ticks = frame.multiplied(by: Rational(Int64(naturalTimeScale))), ticks.den != 1, ticks > Rational(2)
        else { return .zero }
        return MediaTime(value: 1, timescale: naturalTimeScale)
    }
}
