import Bitstreams
import LibAV
import MediaBase

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
    private static let mostHeldBack = 17

    init(_ request: StoredClipRequest) throws(MediaError) {
        self.request = request
        (from, to) = (request.from, request.to)
        let track = request.source.track
        slack = track.clockSlack
        let frame = track.pictureRate?.inverse.map { MediaTime($0) } ?? MediaTime(value: 1, timescale: 24)
        reader = try request.open(from: from, to: to + frame * Self.mostHeldBack)
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
            if let samples = try? SyncSamples(asset, track: request.source.track, asset.contents()).around(from) {
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
        guard known != nil || ready.count > Self.mostHeldBack else { return }
        knowsDecodeTimes = true
        guard let known, let time = ready[known].decodeTime else { return }
        for index in ready.startIndex..<known {
            let buffer = ready[index]
            ready[index] = SampleBuffer(buffer, decodeTime: time - buffer.duration * (known - index))
        }
    }
}

extension StoredSample {
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
