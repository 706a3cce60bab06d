import LibAV
import MediaBase

/// Reads the stored audio packets of one segment.
final class StoredSound: StoredClip {
    private let request: StoredClipRequest
    private let reader: ClipReader
    private let (from, to): (MediaTime, MediaTime)
    /// The tolerance for a packet's time at the segment's boundaries.
    private let slack: MediaTime
    private var hasBegun = false

    /// The duration of the packets before the segment that warm up the decoder.
    private static let preRoll = MediaTime(value: 1, timescale: 10)

    init(_ request: StoredClipRequest) throws(MediaError) {
        self.request = request
        (from, to) = (request.from, request.to)
        let track = request.source.track
        let rate = Int32(clamping: max(1, request.format?.audio?.sampleRate ?? 1))
        slack = max(
            MediaTime(value: 1, timescale: rate), MediaTime(value: 1, timescale: max(1, track.naturalTimeScale)))
        reader = try request.open(from: request.beginsAnywhere ? from - Self.preRoll : from, to: to)
    }

    func next() throws(MediaError) -> SampleBuffer? {
        while let buffer = try reader.next() {
            let begins = buffer.presentationTime
            guard begins.isNumeric else { throw request.failure("its file does not say when samples sound") }
            let ends = begins + buffer.duration
            if begins >= to - slack { return nil }
            if ends <= from + slack, begins < from {
                // The decoder's first samples depend on the packets before them.
                guard request.beginsAnywhere else { continue }
                return placed(buffer, begins, ends, isShown: false)
            }
            if !hasBegun, !request.beginsAnywhere, begins < from - slack || begins > from + slack {
                throw request.failure(
                    "it begins inside a packet of \(buffer.duration.seconds) s of sound, "
                        + "\((from - begins).seconds) s from its start; cut between packets, or encode the sound")
            }
            if !request.endsAnywhere, ends > to + slack {
                throw request.failure(
                    "it ends inside a packet of \(buffer.duration.seconds) s of sound, "
                        + "\((ends - to).seconds) s from its end; cut between packets, or encode the sound")
            }
            defer { hasBegun = true }
            return placed(buffer, begins, min(ends, to), isShown: true)
        }
        return nil
    }

    private func placed(_ buffer: SampleBuffer, _ begins: MediaTime, _ ends: MediaTime, isShown: Bool) -> SampleBuffer {
        var time = request.segment.time(ofSource: begins)
        if !hasBegun, !request.beginsAnywhere { time = request.segment.start }
        return SampleBuffer(
            buffer, ofTrack: request.trackIndex, presentationTime: time, decodeTime: time,
            duration: max(.zero, request.segment.time(ofSource: ends) - time), isShown: isShown)
    }
}

/// Reads the linear PCM of one segment, cut to exactly the samples that decoding would return.
final class StoredPCM: StoredClip {
    private let request: StoredClipRequest
    private let form: PCMForm
    private let reader: ClipReader
    private var place: SampleClock
    /// The samples of the composition to deliver.
    private let samples: Range<Int64>
    /// The offset from the composition's sample numbers to the source's.
    private let offset: Int64

    init(_ request: StoredClipRequest, _ form: PCMForm) throws(MediaError) {
        self.request = request
        self.form = form
        let rate = form.rate
        let segment = request.segment
        let first = request.shown.lowerBound.sampleIndex(rate: rate, rounding: .up) ?? 0
        samples = first..<max(first, request.shown.upperBound.sampleIndex(rate: rate, rounding: .up) ?? first)
        offset = (segment.sourceStart - segment.start).sampleIndex(rate: rate, rounding: .halfAwayFromZero) ?? 0
        let timeBase = request.source.track.timeBase
        // With a clock too coarse for single samples, positions are exact only if counted from the start.
        let isCoarse = MediaTime(timeBase) > MediaTime(value: 1, timescale: rate)
        place = SampleClock(timeBase: timeBase, snapsToZero: isCoarse, codec: request.format?.codec ?? "")
        reader = try request.open(
            from: isCoarse ? .zero : MediaTime(value: samples.lowerBound + offset, timescale: rate),
            to: MediaTime(value: samples.upperBound + offset, timescale: rate))
    }

    func next() throws(MediaError) -> SampleBuffer? {
        while let buffer = try reader.next() {
            guard let stored = buffer.storedSample else { continue }
            let count = stored.size / form.frameBytes
            let time = buffer.presentationTime.isNumeric ? buffer.presentationTime : nil
            let begins = place.place(count: count, rate: Int(form.rate), time: time) - offset
            if begins >= samples.upperBound { return nil }
            let wanted = max(begins, samples.lowerBound)..<max(begins, min(begins + Int64(count), samples.upperBound))
            guard !wanted.isEmpty else { continue }
            let moment = MediaTime(value: wanted.lowerBound, timescale: form.rate)
            let duration = MediaTime(value: Int64(wanted.count), timescale: form.rate)
            var kept = stored
            if wanted.count != count {
                let bytes = stored.packet.prefix(Int(wanted.upperBound - begins) * form.frameBytes)
                    .dropFirst(Int(wanted.lowerBound - begins) * form.frameBytes)
                kept = CompressedSample(try Packet.copying(Array(bytes)))
            }
            return SampleBuffer(
                buffer, ofTrack: request.trackIndex, presentationTime: moment, decodeTime: moment, duration: duration,
                content: .stored(kept))
        }
        return nil
    }
}
