import LibAV
import MediaBase

/// Stored samples as they are, with times counted from the session's start.
///
/// Where the session cuts into samples that others depend on, those before its start are written too and an edit list
/// keeps them from being shown; containers without edit lists begin with the first sample that can.
final class PassthroughWritingPipeline: EncodingPipeline, @unchecked Sendable {
    private let mediaType: MediaType
    /// As it was begun; from the first sample on with its start as this track counts from it.
    private(set) var session: SessionFacts
    private let hint: StoredHint
    private var timeBase = Rational.invalid
    /// Samples from before the session's start that the first one after it may need.
    private var early: [SampleBuffer] = []
    private var isPastStart = false
    private var hasBegun = false
    /// Whether pictures wait for the first one that says when it is decoded, from which those before are counted.
    private var waitsForDecodeTime = false
    /// Whether pictures wait for one that needs no other, because those before are not there.
    private var waitsForSync = false
    /// When that one is shown; pictures before it that come later need others too.
    private var firstSync: MediaTime?
    /// Pictures from behind the session's end; those are written of which one that is shown comes later and may need them.
    private var behindEnd: [SampleBuffer] = []
    /// The last sample so far, and what its packet says.
    private var last: (packet: CompressedSample, dts: Int64?)?
    private var firstDecodeTicks: Int64?
    private var usualDuration: Int64 = 0
    /// Of Opus whose times are from a coarse clock: where the next packet begins by the length of those before.
    private var nextOpus: MediaTime?
    /// Of a part of Opus: how many samples the file has before those that are heard, so that it begins to the sample.
    private var preSkip: Int?
    /// When a picture is stored, not before zero, that the source does not show.
    private var firstHidden: MediaTime?
    /// Of linear PCM: where the sound so far ends by the number of its samples.
    private var soundEnd: MediaTime?
    private(set) var presented: (start: MediaTime, end: MediaTime)?
    /// The time of the samples from which on there are any in the file; `nil` where there are none.
    private(set) var storedFrom: MediaTime?

    /// What is known of a track before its first sample.
    struct StoredHint: Sendable {
        var parameters: CodecParameters?
        var timescale: Int32 = 0
        var frameRate: Rational?
        var sampleAspectRatio: Rational?
        /// Where an edit list ends what is shown; `nil` for the last sample's end.
        var end: MediaTime?
        /// How long the source's samples are together; it tells how long the last one is, of which demuxers often guess.
        var mediaDuration: MediaTime?
    }

    init(mediaType: MediaType, session: SessionFacts, hint: StoredHint) {
        self.mediaType = mediaType
        self.session = session
        self.hint = hint
    }

    func append(_ buffer: SampleBuffer, to sink: any PacketSink) throws(MediaError) {
        guard buffer.storedSample != nil else {
            throw MediaError(.invalidArgument, "an input without settings takes stored samples; others need settings")
        }
        if !timeBase.isValid { settleClock(buffer) }
        var buffer = placedOpus(buffer)
        // Where nothing says what of the samples is heard, they are cut.
        if !session.fileType.keepsEdits, let form = PCMForm(buffer.formatDescription) {
            guard let cut = try form.cut(buffer, from: session.start, to: end) else { return }
            buffer = cut
        }
        if mediaType == .subtitle {
            guard let cut = cut(buffer) else { return }
            buffer = cut
        }
        let begins = time(of: buffer)
        guard begins.isNumeric else { throw MediaError(.invalidArgument, "a stored sample has no time") }
        if let decode = buffer.decodeTime, decode >= end { return }
        if buffer.presentationTime.isNumeric, buffer.presentationTime >= end {
            if mediaType == .video { if isPastStart { behindEnd.append(buffer) } else { early.append(buffer) } }
            return
        }
        if mediaType == .video, !buffer.presentationTime.isNumeric {
            throw MediaError(
                .unsupported, "the file does not say when all of its pictures are shown, which a copy needs; encode it")
        }
        if mediaType == .video { try refuseHidden(buffer) }
        for needed in behindEnd { try write(needed, decodedAt: needed.decodeTime, to: sink) }
        behindEnd = []
        guard !isPastStart else { return try write(buffer, decodedAt: buffer.decodeTime, to: sink) }
        let isBefore = begins < .zero && begins + buffer.duration <= .zero
        if begins < .zero, !waitsForDecodeTime {
            // Of sound the one before is enough to warm most decoders up; of pictures all since the last sync sample.
            if mediaType == .video {
                if buffer.isSync { early = [] }
            } else if early.count > 1, !isOpus(buffer) || time(of: early[1]) <= -PassthroughPipeline.opusPreRoll {
                early.removeFirst()
            }
            early.append(buffer)
            if isBefore { return }
        } else {
            early.append(buffer)
        }
        // Demuxers of Matroska tell decode times after some pictures only, and a muxer would invent other ones.
        waitsForDecodeTime =
            mediaType == .video && early.count < Self.maximumUntimed && early.allSatisfy { $0.decodeTime == nil }
        if !waitsForDecodeTime { try passStart(to: sink) }
    }

    /// Throws for a picture that is shown after one that is not: no file says that of pictures between others.
    ///
    /// Fragments of MP4 that overlap have such pictures; before zero and from the end on edit lists hide them.
    private func refuseHidden(_ buffer: SampleBuffer) throws(MediaError) {
        let time = buffer.presentationTime
        if buffer.attachments.contains(.isNotShown) {
            guard buffer.storedSample?.packet.isDiscarded == true, time >= session.start else { return }
            firstHidden = min(firstHidden ?? time, time)
        } else if let firstHidden, time > firstHidden {
            throw MediaError(
                .unsupported,
                "the file does not show the picture of \(firstHidden.seconds) s, but later ones that may need it, which a "
                    + "copy cannot do; encode it")
        }
    }

    private func isOpus(_ buffer: SampleBuffer) -> Bool { buffer.formatDescription.codec == "opus" }

    /// From which time of the samples on nothing is written: the session's end, and where no edit list can say it, the end
    /// of what the source shows.
    private var end: MediaTime {
        session.fileType.keepsEdits ? session.end : min(session.end, hint.end ?? .positiveInfinity)
    }

    /// A subtitle as long as it is shown within the session; `nil` where it is not.
    private func cut(_ buffer: SampleBuffer) -> SampleBuffer? {
        let begins = max(buffer.presentationTime, session.start)
        let ends = min(buffer.presentationTime + buffer.duration, end)
        let isShown = begins < ends || buffer.presentationTime >= session.start
        guard begins.isNumeric, begins < end, isShown else { return nil }
        return SampleBuffer(
            buffer, ofTrack: buffer.trackIndex, presentationTime: begins, decodeTime: begins,
            duration: max(.zero, ends - begins), isShown: true)
    }

    /// Pictures without a decode time after which no more of them are waited for; 16 are reordered at most.
    private static let maximumUntimed = 64

    private func passStart(to sink: any PacketSink) throws(MediaError) {
        isPastStart = true
        defer { early = [] }
        if mediaType == .video, !session.fileType.isISO {
            if let first = early.lastIndex(where: { $0.isSync && isOnScreenAtStart($0) }) {
                firstSync = early[first].presentationTime
                early.removeFirst(first)
            } else {
                waitsForSync = early.contains { time(of: $0) < .zero }
            }
        }
        if let first = early.first, isOpus(first), !session.fileType.isISO, session.start > .zero {
            let skipped = (-time(of: first)).sampleIndex(rate: Self.opusRate, rounding: .halfAwayFromZero)
            preSkip = skipped.map { max(0, Int(clamping: $0)) }
        }
        for (sample, decode) in zip(early, Self.decodeTimes(of: early))
        where session.fileType.isISO || time(of: sample) >= .zero || isPriming(sample) || isOnScreenAtStart(sample) {
            try write(sample, decodedAt: decode, to: sink)
        }
    }

    /// Whether a picture began before the session's start and is shown there.
    private func isOnScreenAtStart(_ buffer: SampleBuffer) -> Bool {
        guard mediaType == .video, !buffer.attachments.contains(.isNotShown) else { return false }
        let begins = time(of: buffer)
        return begins < .zero && begins + buffer.duration > .zero
    }

    /// Whether a sample is the encoder's priming, of which Matroska and Ogg say by themselves that it is not heard.
    private func isPriming(_ sample: SampleBuffer) -> Bool {
        if preSkip != nil { return true }
        guard session.fileType.keepsLateStarts || session.fileType == .ogg, session.start == .zero,
            let rate = sample.formatDescription.audio?.sampleRate,
            let padding = (sample.codecParameters ?? hint.parameters)?.initialPadding, padding > 0
        else { return false }
        let start = MediaTime(value: Int64(padding), timescale: Int32(clamping: max(1, rate)))
        // Matroska's times are rounded to milliseconds.
        return time(of: sample) >= -start - MediaTime(value: 1, timescale: 1000)
    }

    /// When samples are decoded; those before the first that says so a frame earlier each.
    ///
    /// Matroska keeps no such times, and demuxers can tell them only after some pictures.
    private static func decodeTimes(of samples: [SampleBuffer]) -> [MediaTime?] {
        let first = samples.firstIndex { $0.decodeTime != nil } ?? 0
        return samples.enumerated().map { place, sample in
            guard place < first, let known = samples[first].decodeTime else { return sample.decodeTime }
            let frame = sample.duration > .zero ? sample.duration : MediaTime(value: 1, timescale: 1000)
            return known - frame * (first - place)
        }
    }

    func finish(to sink: any PacketSink) throws(MediaError) {
        if waitsForDecodeTime, !isPastStart { try passStart(to: sink) }
        guard !waitsForSync else {
            throw MediaError(
                .outOfRange,
                "every picture in the range needs one before it, which this type of file cannot hide; copy to .mov or "
                    + ".mp4, or begin earlier")
        }
        if let (sample, dts) = last.take() {
            // Sound of a container that keeps no durations lasts as long as the codec's frames do.
            var duration = sample.packet.duration
            if duration == 0, usualDuration > 0, let pts = sample.packet.pts {
                duration = usualDuration
                let end = MediaTime(ticks: pts, timeBase: timeBase) + MediaTime(ticks: duration, timeBase: timeBase)
                let before = presented?.end ?? end
                presented?.end = max(before, end)
            }
            if !session.end.isNumeric, let dts, let first = firstDecodeTicks, let whole = hint.mediaDuration,
                case let (passed, overflow) = dts.subtractingReportingOverflow(first), !overflow,
                let ticks = whole.ticks(in: timeBase, rounding: .halfAwayFromZero), ticks > passed, passed >= 0
            {
                duration = ticks - passed
            }
            try sink.add(
                sample.packet.retimed(pts: sample.packet.pts, dts: sample.packet.dts, duration: duration))
        }
        guard let (start, end) = presented, let edited = hint.end, session.fileType.isISO else { return }
        let shown = max(edited - session.start, start)
        presented?.end = session.end.isNumeric ? min(end, shown) : shown
    }

    private func time(of buffer: SampleBuffer) -> MediaTime {
        (buffer.presentationTime.isNumeric ? buffer.presentationTime : buffer.decodeTime ?? .indefinite) - session.start
    }

    private func write(
        _ buffer: SampleBuffer, decodedAt decodeTime: MediaTime?, to sink: any PacketSink
    ) throws(MediaError) {
        if waitsForSync {
            guard buffer.isSync else { return }
            waitsForSync = false
            firstSync = buffer.presentationTime
        }
        if let firstSync, buffer.presentationTime.isNumeric, buffer.presentationTime < firstSync { return }
        if !hasBegun { try begin(buffer, to: sink) }
        guard let sample = buffer.storedSample else { return }
        let start = session.start
        func ticks(_ time: MediaTime?) -> Int64? { time?.ticks(in: timeBase, rounding: .halfAwayFromZero) }
        let begins = time(of: buffer)
        try fillHole(before: buffer, at: begins, to: sink)
        let ends = soundEnd ?? begins + buffer.duration - paddingInDuration(of: sample, buffer)
        // A decoder of Vorbis gives nothing for its first packet, so that players begin too late in it by as much.
        let isCut = session.start > .zero && begins < .zero && buffer.formatDescription.codec == "vorbis"
        if !buffer.attachments.contains(.isNotShown), begins >= .zero || ends > .zero, !isCut {
            let shown = max(begins, .zero)
            presented = (min(presented?.start ?? shown, shown), max(presented?.end ?? .zero, ends))
        }
        var presentation = buffer.presentationTime.isNumeric ? ticks(buffer.presentationTime - start) : nil
        // Readers differ on a picture that an edit list cuts in two: it begins where it is shown.
        if isOnScreenAtStart(buffer) { presentation = 0 }
        if begins.isNumeric { storedFrom = min(storedFrom ?? .positiveInfinity, begins + session.start) }
        let decode = ticks(decodeTime.map { $0 - start })
        if let (before, _) = last { try sink.add(before.packet.shared()) }
        last = (
            CompressedSample(
                try sample.packet.retimed(
                    pts: presentation, dts: decode, duration: ticks(buffer.duration) ?? 0, isKey: buffer.isSync)),
            decode
        )
        firstDecodeTicks = firstDecodeTicks ?? decode
    }

    /// Puts silence before linear PCM that begins later than the sound so far ends.
    ///
    /// Containers keep PCM as one run of samples: a hole would be closed, and all that follows be heard too early.
    private func fillHole(before buffer: SampleBuffer, at time: MediaTime, to sink: any PacketSink) throws(MediaError) {
        guard let form = PCMForm(buffer.formatDescription), let sample = buffer.storedSample else { return }
        let (rate, size) = (form.rate, form.frameBytes)
        // Files that know no times begin with the first sample that they have.
        var start = soundEnd ?? (session.fileType.keepsLateStarts ? time : min(time, .zero))
        // Less is the coarseness of a container's clock.
        if time - start > MediaTime(value: 1, timescale: 100) {
            var left = (time - start).sampleIndex(rate: rate, rounding: .halfAwayFromZero) ?? 0
            while left > 0 {
                let count = min(left, 8192)
                if let (before, _) = last.take() { try sink.add(before.packet.shared()) }
                let packet = try Packet.copying([UInt8](repeating: form.silence, count: Int(count) * size))
                let ticks = start.ticks(in: timeBase, rounding: .halfAwayFromZero)
                let length = MediaTime(value: count, timescale: rate)
                try sink.add(
                    packet.retimed(
                        pts: ticks, dts: ticks, duration: length.ticks(in: timeBase, rounding: .halfAwayFromZero) ?? 0,
                        isKey: true))
                start += length
                left -= count
            }
        }
        soundEnd = start + MediaTime(value: Int64(sample.size / size), timescale: rate)
    }

    /// Settles in which ticks times are written: in those of the samples' own times, counted from the session's start.
    private func settleClock(_ first: SampleBuffer) {
        let times = [first.presentationTime, first.decodeTime ?? .zero, first.duration]
        let own =
            hint.timescale > 0
            ? hint.timescale
            : MediaTime.commonTimescale(of: times.map(\.timescale)) ?? times.map(\.timescale).max() ?? 1
        guard let rate = first.formatDescription.audio?.sampleRate, rate > 0 else {
            timeBase = Rational(1, Int64(session.begin(onGridOf: own)))
            return
        }
        session.begin(atSampleOf: Int32(clamping: rate))
        let scale = MediaTime.commonTimescale(of: [own, session.start.timescale]) ?? own
        timeBase = Rational(1, Int64(max(1, scale)))
    }

    private static let opusRate: Int32 = 48_000

    /// Times come from a clock that cannot name every sample of Opus: Matroska's.
    private var isClockCoarse: Bool { hint.timescale > 0 && hint.timescale < Self.opusRate }

    /// A packet of Opus at its exact time, where it comes with one of whole ticks of a coarse clock.
    ///
    /// Packets follow each other to the sample, and begin as long before zero as the codec's header says: the delay that
    /// Matroska takes from their times, and these themselves, are rounded.
    private func placedOpus(_ buffer: SampleBuffer) -> SampleBuffer {
        // All lengths from 5 ms on are whole milliseconds.
        guard isOpus(buffer), isClockCoarse, buffer.presentationTime.isNumeric,
            let length = buffer.duration.sampleIndex(rate: Self.opusRate), length > 0, length % 240 == 0,
            MediaTime(value: length, timescale: Self.opusRate) == buffer.duration
        else { return buffer }
        let tick = MediaTime(value: 1, timescale: hint.timescale)
        let padding = MediaTime(
            value: Int64((buffer.codecParameters ?? hint.parameters)?.initialPadding ?? 0), timescale: Self.opusRate)
        let first = (buffer.presentationTime + padding).sampleIndex(rate: Self.opusRate, rounding: .halfAwayFromZero)
        let number = first.flatMap { Rational($0, length).rounded() }
        let regular = number.map { buffer.duration.multiplied(by: $0) - padding }
        let exact = [nextOpus, regular].compactMap(\.self).first {
            ($0 - buffer.presentationTime).absoluteValue <= tick
        }
        let time = exact ?? buffer.presentationTime
        nextOpus = time + buffer.duration
        return SampleBuffer(
            buffer, ofTrack: buffer.trackIndex, presentationTime: time, decodeTime: buffer.decodeTime.map { _ in time },
            duration: buffer.duration, isShown: true)
    }

    /// The part of a packet's duration that is not heard: Matroska's counts the padding after the last sample too.
    private func paddingInDuration(of sample: CompressedSample, _ buffer: SampleBuffer) -> MediaTime {
        guard isClockCoarse, isOpus(buffer) else { return .zero }
        return MediaTime(value: Int64(sample.packet.paddingSamples), timescale: Self.opusRate)
    }

    private func begin(_ buffer: SampleBuffer, to sink: any PacketSink) throws(MediaError) {
        hasBegun = true
        var parameters: CodecParameters
        if let known = buffer.codecParameters ?? hint.parameters {
            parameters = known
        } else {
            parameters = try CodecParameters(buffer.formatDescription)
        }
        if session.start > .zero || session.end.isNumeric { try parameters = parameters.ofPart() }
        if let preSkip { try parameters = parameters.skipping(preSkip) }
        if parameters.isAudio, parameters.sampleRate > 0 {
            let frame = MediaTime(
                value: Int64(parameters.frameSize), timescale: Int32(clamping: parameters.sampleRate))
            usualDuration = frame.ticks(in: timeBase, rounding: .halfAwayFromZero) ?? 0
        }
        var stream = WrittenStream(parameters: parameters, timeBase: timeBase)
        stream.frameRate = hint.frameRate
        stream.sampleAspectRatio = hint.sampleAspectRatio ?? buffer.formatDescription.video?.sampleAspectRatio
        try sink.begin(stream)
    }
}
